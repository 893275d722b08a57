"""Work that is large enough to be shared by threads, one line for each: its name and a checksum of all bits of its results. Run with THALWEG_NUM_THREADS set."""
import zlib

import numpy as np

import thalweg as tf

NUMBERS = np.random.default_rng(0).standard_normal(3300000, np.float32)


def data(*shape, seed=0):
    return tf.constant(np.resize(NUMBERS[seed * 1001:], shape))


def flat(values):
    return [v for value in values for v in flat(value)] if isinstance(values, (list, tuple)) else [values]


def case(name, function, *arguments):
    bits = 0
    for value in flat(function(*arguments)):
        bits = zlib.crc32(np.ascontiguousarray(value).tobytes(), bits)
    print(name, "%08x" % bits, sep="\t", flush=True)


def with_gradients(function):
    """The function's result and its gradients by all arguments."""
    def both(*arguments):
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            result = function(*arguments)
        return [result] + tape.gradient(result, list(arguments), output_gradients=tf.cos(result))
    return both


def convolutions():
    for shape, filters, strides, padding in [((8, 56, 56, 32), (3, 3, 32, 32), 1, "SAME"), ((50, 28, 28, 1), (5, 5, 1, 32), 1, "SAME"),
                                             ((1, 112, 112, 16), (3, 3, 16, 24), 1, "SAME"), ((3, 61, 61, 15), (1, 1, 15, 64), 2, "SAME"),
                                             ((17, 14, 14, 96), (3, 3, 96, 50), 2, "VALID"), ((16, 14, 14, 64), (1, 1, 64, 128), 1, "SAME"),
                                             ((5, 40, 33, 7), (7, 5, 7, 13), 1, "VALID"), ((4, 7, 7, 256), (3, 3, 256, 256), 1, "SAME")]:
        case("conv2d %s %s %d" % (shape, filters, strides), with_gradients(lambda x, w, s=strides, p=padding: tf.nn.conv2d(x, w, s, p)),
             data(*shape), data(*filters, seed=1))
    for shape, filters, stride in [((16, 56, 56, 32), (3, 3, 32, 1), 1), ((1, 112, 112, 48), (5, 5, 48, 1), 2), ((8, 30, 30, 30), (3, 3, 30, 2), 1)]:
        case("depthwise %s %s %d" % (shape, filters, stride),
             with_gradients(lambda x, w, s=stride: tf.nn.depthwise_conv2d(x, w, [1, s, s, 1], "SAME")), data(*shape), data(*filters, seed=1))
    case("grouped conv2d", with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME")), data(8, 28, 28, 64), data(3, 3, 16, 64, seed=1))
    case("dilated conv2d", with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2)), data(8, 28, 28, 32), data(3, 3, 32, 32, seed=1))
    case("conv1d", with_gradients(lambda x, w: tf.nn.conv1d(x, w, 1, "SAME")), data(8, 900, 24), data(5, 24, 32, seed=1))
    case("conv2d_transpose", with_gradients(lambda x, w: tf.nn.conv2d_transpose(x, w, [8, 56, 56, 24], 2)), data(8, 28, 28, 32), data(3, 3, 24, 32, seed=1))
    case("double conv2d", with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME")), tf.cast(data(4, 28, 28, 16), tf.float64),
         tf.cast(data(3, 3, 16, 16, seed=1), tf.float64))
    case("double depthwise", with_gradients(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")), tf.cast(data(8, 28, 28, 16), tf.float64),
         tf.cast(data(3, 3, 16, 1, seed=1), tf.float64))


def pools_and_norms():
    image = data(16, 40, 40, 24)
    for name in ("max", "avg"):
        for window, stride in ((2, 2), (3, 2), (3, 1)):
            case("%s_pool %d %d" % (name, window, stride),
                 with_gradients(lambda x, f=getattr(tf.nn, name + "_pool2d"), w=window, s=stride: f(x, w, s, "SAME")), image)
    case("batch norm", with_gradients(lambda x, s, o: tf.raw_ops.FusedBatchNormV3(x=x, scale=s, offset=o, mean=[], variance=[])[0]), image,
         data(24), data(24, seed=1))
    case("layer norm", with_gradients(lambda x: tf.keras.layers.LayerNormalization()(x)), data(3000, 200))
    case("moments", lambda x: tf.nn.moments(x, [0, 1, 2]), image)
    case("bias", with_gradients(lambda x, b: tf.nn.bias_add(x, b)), image, data(24))
    case("l2 normalize", with_gradients(lambda x: tf.math.l2_normalize(x, 1)), data(700, 600))


def products():
    for m, n, k in [(300, 200, 5000), (50, 100, 784), (784, 100, 50), (2100, 1030, 1030), (1024, 1024, 300), (3, 4000, 3000), (64, 10, 20000), (257, 129, 2049),
                    (5000, 7, 700), (4, 4, 500000), (1, 3000, 3000), (9, 9, 9000)]:
        case("matmul %d %d %d" % (m, n, k), tf.matmul, data(m, k), data(k, n, seed=1))
        case("matmul %d %d %d turned" % (m, n, k), lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True), data(k, m), data(n, k, seed=1))
    case("batch matmul", with_gradients(tf.matmul), data(40, 60, 70), data(40, 70, 80, seed=1))
    case("double matmul", tf.matmul, tf.cast(data(300, 400), tf.float64), tf.cast(data(400, 500), tf.float64))
    case("complex matmul", tf.matmul, tf.complex(data(200, 300), data(200, 300, seed=1)), tf.complex(data(300, 100), data(300, 100, seed=1)))
    case("half matmul", tf.matmul, tf.cast(data(300, 400), tf.float16), tf.cast(data(400, 500), tf.float16))
    case("einsum", lambda a, b: tf.einsum("bij,bkj->bik", a, b), data(30, 80, 90), data(30, 70, 90, seed=1))
    case("tensordot", lambda a, b: tf.tensordot(a, b, [[1, 2], [0, 1]]), data(80, 90, 40), data(90, 40, 60, seed=1))
    case("dense", lambda x: tf.keras.layers.Dense(300, "relu", kernel_initializer="ones")(x), data(500, 400))
    case("sparse matmul", lambda b: tf.sparse.sparse_dense_matmul(
        tf.sparse.from_dense(np.where(np.random.default_rng(2).random((900, 800)) > 0.9, 1.1, 0).astype(np.float32)), b), data(800, 60))


def reductions():
    for shape, axis in [((3000000,), None), ((3000, 1000), 0), ((3000, 1000), 1), ((40, 500, 60), 1), ((40, 500, 60), (0, 2)), ((7, 300000), 1), ((300000, 7), 0),
                        ((100, 100, 100), None), ((16, 40, 40, 64), (0, 1, 2))]:
        for name in ("sum", "mean", "prod", "max", "logsumexp", "variance", "euclidean_norm"):
            if name == "prod":
                x = 1 + data(*shape) / 3000
            else:
                x = data(*shape)
            case("reduce_%s %s %s" % (name, shape, axis), lambda x, f=getattr(tf.math, "reduce_" + name), a=axis: f(x, axis=a), x)
    case("double sum", lambda x: tf.reduce_sum(x), tf.cast(data(2000000), tf.float64))
    case("half sum", lambda x: tf.reduce_sum(x), tf.cast(data(2000000), tf.float16))
    case("cumsum", lambda x: tf.cumsum(x, 1), data(300, 4000))
    case("l2_loss", tf.nn.l2_loss, data(3000000))
    case("global_norm", lambda x: tf.linalg.global_norm([x, x * 2]), data(2000000))
    ids = tf.constant(np.sort(np.random.default_rng(3).integers(0, 50, 200000)).astype(np.int32))
    for name in ("sum", "mean", "max", "prod"):
        case("segment_" + name, lambda x, f=getattr(tf.math, "segment_" + name): f(x, ids), 1 + data(200000, 6) / 1000)
        case("unsorted_segment_" + name, lambda x, f=getattr(tf.math, "unsorted_segment_" + name): f(x, ids[::-1], 50), 1 + data(200000, 6) / 1000)
    case("bincount", lambda w: tf.math.bincount(ids, weights=w), data(200000))
    case("gather gradient", lambda x: tf.convert_to_tensor(with_gradients(lambda y: tf.gather(y, ids))(x)[1]), data(50, 20))
    case("scatter_nd", lambda u: tf.scatter_nd(ids[:, None], u, [50, 6]), data(200000, 6))
    case("broadcast gradient", with_gradients(lambda x, y: x * y), data(3000, 500), data(500, seed=1))


def losses_and_functions():
    logits = data(20000, 100)
    labels = tf.constant(np.random.default_rng(4).integers(0, 100, 20000))
    case("softmax", with_gradients(tf.nn.softmax), logits)
    case("softmax along 0", with_gradients(lambda x: tf.nn.softmax(x, 0)), logits)
    case("log_softmax", with_gradients(tf.nn.log_softmax), logits)
    case("sparse entropy", with_gradients(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x)), logits)
    case("entropy", with_gradients(lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 100), x)), logits)
    case("sigmoid entropy", with_gradients(lambda x: tf.nn.sigmoid_cross_entropy_with_logits(tf.one_hot(labels, 100), x)), logits)
    for name in ("exp", "tanh", "sigmoid", "log1p", "sin", "erf", "sqrt", "rsqrt", "lgamma", "digamma", "asinh"):
        case(name, lambda x, f=getattr(tf.math, name): f(x), tf.abs(data(1000003)) + 0.1)
    for name in ("relu", "gelu", "selu", "elu", "softplus", "swish"):
        case(name, with_gradients(getattr(tf.nn, name)), data(700001))
    case("pow", tf.pow, tf.abs(data(500001)) + 0.1, data(500001, seed=1))
    case("top_k", lambda x: tf.math.top_k(x, 10), logits)
    case("sort", lambda x: tf.sort(x, 0), logits)
    case("resize", with_gradients(lambda x: tf.image.resize(x, [90, 70])), data(8, 50, 50, 6))
    case("cholesky", lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + tf.eye(60)), data(30, 60, 60))
    case("inverse", tf.linalg.inv, data(30, 60, 60))
    case("solve", tf.linalg.solve, data(30, 60, 60), data(30, 60, 3, seed=1))
    case("svd", lambda x: tf.linalg.svd(x, compute_uv=False), data(10, 40, 30))
    case("stateless normal", lambda: tf.random.stateless_normal([1000003], [1, 2]))
    case("stateless truncated", lambda: tf.random.stateless_truncated_normal([500003], [1, 2]))

    def stateful():
        tf.random.set_seed(5)
        return [tf.random.normal([300001]), tf.random.uniform([300001]), tf.random.truncated_normal([300001]), tf.random.gamma([30000], 0.7),
                tf.random.shuffle(tf.range(100000)), tf.nn.dropout(tf.ones([300001]), 0.3)]
    case("stateful random", stateful)


def trained(optimizer, layers, x, y, loss):
    def run():
        tf.random.set_seed(1)
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential(layers())
        model.compile(optimizer(), loss)
        history = model.fit(x, y, epochs=1, batch_size=64, verbose=0, shuffle=False)
        return [tf.constant(history.history["loss"])] + list(model.get_weights())
    return run


def training():
    k = tf.keras
    x, y = data(256, 20, 20, 3).numpy(), np.random.default_rng(6).integers(0, 10, 256)
    images = lambda: [k.layers.Conv2D(16, 3, activation="relu"), k.layers.BatchNormalization(), k.layers.DepthwiseConv2D(3), k.layers.MaxPooling2D(),
                      k.layers.Conv2D(32, 1, strides=2), k.layers.Flatten(), k.layers.Dropout(0.2), k.layers.Dense(600, "relu"), k.layers.Dense(10)]
    sequence = data(128, 30, 40).numpy()
    for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Nadam", "Ftrl"):
        make = getattr(k.optimizers, name)
        case("fit " + name, trained(make, images, x, y, k.losses.SparseCategoricalCrossentropy(from_logits=True)))
    for name in ("LSTM", "GRU", "SimpleRNN"):
        layer = getattr(k.layers, name)
        case("fit " + name, trained(k.optimizers.Adam, lambda l=layer: [l(96, return_sequences=True, input_shape=(30, 40)), l(64), k.layers.Dense(1)], sequence, y[:128], "mse"))
    case("fit attention", trained(k.optimizers.Adam, lambda: [k.layers.Embedding(500, 64), k.layers.Bidirectional(k.layers.LSTM(48)), k.layers.Dense(1)],
                                  np.random.default_rng(7).integers(0, 500, (128, 30)), y[:128], "mse"))


if __name__ == "__main__":
    for group in (convolutions, pools_and_norms, products, reductions, losses_and_functions, training):
        group()
