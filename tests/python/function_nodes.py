"""Functions whose graphs have TensorFlow's nodes: names, ops and inputs. tests/golden/function_nodes.py runs them under TensorFlow and writes
function_nodes.json; test_function_nodes.py runs them here. Each case gives a function and the specs of its arguments."""


def op_cases(tf):
    """Calls of one value [None, 4] (or of another spec), each in a function of its own."""
    def scoped(x):
        with tf.name_scope("outer"):
            y = tf.exp(x)
            with tf.name_scope("inner"):
                y = y + 1.
        with tf.name_scope("outer"):
            return y * x
    return {
        "arithmetic": lambda x: (x + 1., 1 - x, x * x, x / 2., x ** 2, -x, x > 0., x @ tf.ones([4, 2]), abs(x), x // 2., x % 2.),
        "functions": lambda x: (tf.add(x, 1.), tf.subtract(x, x), tf.multiply(x, 2.), tf.pow(x, 2.), tf.square(x), tf.sqrt(x), tf.exp(x), tf.negative(x)),
        "reductions": lambda x: (tf.reduce_sum(x), tf.reduce_mean(x, axis=1), tf.reduce_max(x, axis=0), tf.reduce_mean(x, -1, keepdims=True)),
        "arrays": lambda x: (tf.stack([x, x]), tf.concat([x, x], 0), tf.split(x, 2, 1), tf.tile(x, [1, 2]), tf.expand_dims(x, 1), x[0], x[:, 1:],
                             tf.transpose(x), tf.reshape(x, [-1]), tf.gather(x, [0]), tf.pad(x, [[0, 0], [1, 1]])),
        "shapes": lambda x: (tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x)[0]),
        "likes": lambda x: (tf.zeros_like(x), tf.ones_like(x), tf.zeros([2, 3]), tf.ones([2]), tf.fill([2, 3], 1.), tf.zeros(tf.shape(x))),
        "random": lambda x: (tf.random.normal([2, 3]), tf.random.uniform([2, 3], -1., 1.), tf.random.normal(tf.shape(x)), tf.random.truncated_normal([2])),
        "dropout": lambda x: tf.nn.dropout(x, .5),
        "activations": lambda x: (tf.nn.relu(x), tf.nn.sigmoid(x), tf.nn.tanh(x), tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.elu(x)),
        "normalized": lambda x: (tf.nn.l2_normalize(x, 1), tf.norm(x), tf.nn.moments(x, [0]), tf.math.reduce_std(x)),
        "where": lambda x: (tf.where(x > 0., x, -x), tf.clip_by_value(x, 0., 1.), tf.one_hot(tf.argmax(x, 1), 4)),
        "products": lambda x: (tf.matmul(x, x, transpose_b=True), tf.einsum("ij,kj->ik", x, x), tf.tensordot(x, tf.ones([4, 3]), 1)),
        "scopes": scoped,
        "named": lambda x: (tf.add(x, 1., name="mine"), tf.identity(x, name="mine"), tf.reduce_sum(x, name="total")),
        "accuracy": lambda x: tf.reduce_mean(tf.cast(tf.equal(tf.argmax(x, 1), tf.argmax(x, 1)), tf.float32)),
        "entropy": lambda x: (tf.nn.softmax_cross_entropy_with_logits(x, x), tf.nn.sigmoid_cross_entropy_with_logits(x, x),
                              tf.nn.sparse_softmax_cross_entropy_with_logits(tf.argmax(x, 1), x)),
        "initializers": lambda x: (tf.keras.initializers.GlorotUniform(seed=1)([2, 3]), tf.keras.initializers.Orthogonal(seed=1)([2, 3]),
                                   tf.keras.initializers.Identity()([2, 3]), tf.keras.initializers.Constant(2.)([2]), tf.keras.initializers.Ones()([2])),
    }


def gradient_cases(tf):
    """Gradients by a tape inside of the function."""
    n = tf.nn
    return {
        "exp": tf.exp, "log": tf.math.log, "sin": tf.sin, "cos": tf.cos, "tan": tf.tan, "tanh": tf.tanh, "sigmoid": tf.sigmoid, "sqrt": tf.sqrt, "rsqrt": tf.math.rsqrt,
        "square": tf.square, "abs": tf.abs, "neg": lambda x: -x, "reciprocal": tf.math.reciprocal, "log1p": tf.math.log1p, "expm1": tf.math.expm1,
        "erf": tf.math.erf, "asin": tf.asin, "acos": tf.acos, "atan": tf.atan, "sinh": tf.sinh, "cosh": tf.cosh, "asinh": tf.asinh, "acosh": tf.acosh,
        "atanh": tf.atanh, "sign": tf.sign, "lgamma": tf.math.lgamma,
        "add": lambda x: x + tf.ones([4]), "sub": lambda x: 1. - x, "mul": lambda x: x * x, "div": lambda x: x / (x + 1.), "pow": lambda x: x ** 2,
        "pow of tensors": lambda x: tf.pow(x, x), "maximum": lambda x: tf.maximum(x, 0.5), "minimum": lambda x: tf.minimum(x, 0.5),
        "squared difference": lambda x: tf.math.squared_difference(x, 1.), "floormod": lambda x: tf.math.floormod(x, 2.), "divide no nan": lambda x: tf.math.divide_no_nan(x, x),
        "atan2": lambda x: tf.atan2(x, x + 1.), "xlogy": lambda x: tf.math.xlogy(x, x),
        "sum": tf.reduce_sum, "sum of an axis": lambda x: tf.reduce_sum(x, 0), "mean": tf.reduce_mean, "mean of an axis": lambda x: tf.reduce_mean(x, 1),
        "max": tf.reduce_max, "max of an axis": lambda x: tf.reduce_max(x, 1), "prod": lambda x: tf.reduce_prod(x, 1), "logsumexp": lambda x: tf.reduce_logsumexp(x, 1),
        "cumsum": lambda x: tf.cumsum(x, 1), "cumprod": lambda x: tf.math.cumprod(x, 1),
        "matmul": lambda x: tf.matmul(x, tf.ones([4, 3])), "matmul transposed": lambda x: tf.matmul(x, x, transpose_b=True),
        "batch matmul": lambda x: tf.matmul(x[None], x[None], transpose_a=True), "einsum": lambda x: tf.einsum("ij,kj->ik", x, x), "tensordot": lambda x: tf.tensordot(x, tf.ones([4, 2]), 1),
        "reshape": lambda x: tf.reshape(x, [-1]), "transpose": tf.transpose, "expand": lambda x: tf.expand_dims(x, 1), "squeeze": lambda x: tf.squeeze(x[None], 0),
        "concat": lambda x: tf.concat([x, 2 * x], 1), "stack": lambda x: tf.stack([x, x]), "unstack": lambda x: tf.unstack(x, axis=1)[0], "split": lambda x: tf.split(x, 2, 1)[1],
        "slice": lambda x: tf.slice(x, [0, 1], [-1, 2]), "strided slice": lambda x: x[:, 1:3], "gather": lambda x: tf.gather(x, [0, 1]), "gather of columns": lambda x: tf.gather(x, [0, 1], axis=1),
        "gather_nd": lambda x: tf.gather_nd(x, [[0, 1]]), "tile": lambda x: tf.tile(x, [1, 2]), "pad": lambda x: tf.pad(x, [[0, 0], [1, 1]]), "reverse": lambda x: tf.reverse(x, [1]),
        "broadcast": lambda x: tf.broadcast_to(x, [3, 1, 4]) if x.shape[0] == 1 else tf.broadcast_to(x[:1], [3, 4]), "where": lambda x: tf.where(x > 0., x, 2 * x),
        "clip": lambda x: tf.clip_by_value(x, 0., 1.), "cast": lambda x: tf.cast(x, tf.float64), "identity": tf.identity, "stop": lambda x: x * tf.stop_gradient(x),
        "zeros_like": lambda x: x * tf.zeros_like(x), "add_n": lambda x: tf.add_n([x, x, x]), "top_k": lambda x: tf.math.top_k(x, 2)[0], "sort": lambda x: tf.sort(x),
        "relu": n.relu, "relu6": n.relu6, "elu": n.elu, "selu": n.selu, "softplus": n.softplus, "softsign": n.softsign, "leaky_relu": n.leaky_relu, "gelu": n.gelu, "swish": n.swish,
        "softmax": n.softmax, "log_softmax": n.log_softmax, "l2_loss": n.l2_loss, "l2_normalize": lambda x: n.l2_normalize(x, 1), "norm": tf.norm,
        "bias_add": lambda x: n.bias_add(x, tf.ones([4])), "dropout": lambda x: n.dropout(x, .5),
        "softmax entropy": lambda x: n.softmax_cross_entropy_with_logits(tf.stop_gradient(x), x), "softmax entropy of labels": lambda x: n.softmax_cross_entropy_with_logits(x, x),
        "sigmoid entropy": lambda x: n.sigmoid_cross_entropy_with_logits(x, x),
        "sparse entropy": lambda x: n.sparse_softmax_cross_entropy_with_logits(tf.argmax(x, 1), x),
        "conv2d": lambda x: n.conv2d(x[:, :, None, None], tf.ones([2, 1, 1, 3]), 1, "SAME"), "max_pool": lambda x: n.max_pool2d(x[:, :, None, None], 2, 2, "SAME"),
        "avg_pool": lambda x: n.avg_pool2d(x[:, :, None, None], 2, 2, "SAME"), "depthwise": lambda x: n.depthwise_conv2d(x[:, :, None, None], tf.ones([2, 1, 1, 3]), [1, 1, 1, 1], "SAME"),
        "chain": lambda x: tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, tf.ones([4, 3])) + 1.) - 2.)),
        "two ways": lambda x: tf.exp(x) + tf.sin(x) + x,
        "std": lambda x: tf.math.reduce_std(x, 0), "variance": lambda x: tf.math.reduce_variance(x), "moments": lambda x: n.moments(x, [0])[1],
        "segment": lambda x: tf.math.segment_sum(x, [0, 0]), "unsorted segment": lambda x: tf.math.unsorted_segment_sum(x, [0, 1], 2),
        "det": lambda x: tf.linalg.det(tf.matmul(x, x, transpose_a=True)), "inverse": lambda x: tf.linalg.inv(tf.matmul(x, x, transpose_a=True)),
        "cholesky": lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_a=True)), "trace": tf.linalg.trace, "diag": lambda x: tf.linalg.diag(x), "diag_part": lambda x: tf.linalg.diag_part(x),
        "band_part": lambda x: tf.linalg.band_part(x, 1, 0), "complex": lambda x: tf.abs(tf.complex(x, x)),
    }


def keras_cases(tf):
    """Layers, losses, metrics and optimizers inside of functions. The objects are made before."""
    k, layers = tf.keras, tf.keras.layers

    def layer(made, shape=(2, 4), training=None):
        made.build(shape)
        return lambda x: made(x, training=training) if training is not None else made(x)

    def loss(made):
        return lambda x: made(x, x * 2.)

    def sparse(made):
        return lambda x: made(tf.argmax(x, 1), x)

    def metric(made, labels=False):
        def update(x):
            made.update_state(tf.argmax(x, 1) if labels else x, x)
            return made.result()
        return update

    def model(made):
        made(tf.ones([2, 4]))
        return lambda x: made(x)

    def step(optimizer):
        dense = layers.Dense(3, name="dense", kernel_initializer="ones")
        dense.build((2, 4))
        optimizer.build(dense.trainable_variables)

        def train(x):
            with tf.GradientTape() as tape:
                value = tf.reduce_mean(tf.square(dense(x)))
            gradients = tape.gradient(value, dense.trainable_variables)
            optimizer.apply_gradients(zip(gradients, dense.trainable_variables))
            return value
        return train

    def dense(name, **more):
        return layers.Dense(3, name=name, kernel_initializer="ones", **more)

    o, losses, metrics = k.optimizers, k.losses, k.metrics
    functional_input = k.Input([4], name="in")
    return {
        "dense": layer(dense("dense", activation="relu")), "dense twice": (lambda d: lambda x: (d(x), d(x)))(layer(dense("dense"))),
        "dense without bias": layer(dense("dense", use_bias=False)), "dense of three": layer(dense("dense"), (2, 2, 4)),
        "softmax": layer(dense("dense", activation="softmax")),
        "conv2d": (lambda c: lambda x: c(tf.reshape(x, [-1, 2, 2, 1])))(layer(layers.Conv2D(3, 2, padding="same", activation="relu", name="conv"), (None, 2, 2, 1))),
        "max pooling": lambda x: layers.MaxPool2D(name="pool")(tf.reshape(x, [-1, 2, 2, 1])), "flatten": lambda x: layers.Flatten(name="flatten")(x[:, :, None]),
        "dropout": layer(layers.Dropout(.5, name="dropout"), training=True), "no dropout": layer(layers.Dropout(.5, name="dropout"), training=False),
        "batch normalization": layer(layers.BatchNormalization(name="norm"), training=False),
        "batch normalization in training": layer(layers.BatchNormalization(name="norm"), training=True),
        "layer normalization": layer(layers.LayerNormalization(name="norm")), "embedding": (lambda e: lambda x: e(tf.argmax(x, 1)))(layer(layers.Embedding(10, 4, name="embedding"), (None,))),
        "activation": lambda x: layers.Activation("tanh", name="act")(x), "relu layer": lambda x: layers.ReLU(name="relu")(x), "add layer": lambda x: layers.Add(name="sum")([x, x]),
        "concatenate": lambda x: layers.Concatenate(name="both")([x, x]), "reshape": lambda x: layers.Reshape([2, 2], name="reshape")(x), "rescaling": lambda x: layers.Rescaling(.5, name="r")(x),
        "global pooling": lambda x: layers.GlobalAveragePooling1D(name="pool")(x[:, :, None]),
        "sequential": model(k.Sequential([dense("a", activation="relu"), dense("b")], name="seq")),
        "functional": model(k.Model(functional_input, dense("b")(dense("a", activation="relu")(functional_input)), name="net")),
        "mse": loss(losses.MeanSquaredError()), "mae": loss(losses.MeanAbsoluteError()), "huber": loss(losses.Huber()), "crossentropy": loss(losses.CategoricalCrossentropy()),
        "crossentropy of logits": loss(losses.CategoricalCrossentropy(from_logits=True)), "binary": loss(losses.BinaryCrossentropy()), "binary of logits": loss(losses.BinaryCrossentropy(from_logits=True)),
        "sparse": sparse(losses.SparseCategoricalCrossentropy()), "sparse of logits": sparse(losses.SparseCategoricalCrossentropy(from_logits=True)),
        "hinge": loss(losses.Hinge()), "kl": loss(losses.KLDivergence()), "poisson": loss(losses.Poisson()), "cosine": loss(losses.CosineSimilarity()), "log cosh": loss(losses.LogCosh()),
        "mse function": lambda x: losses.mean_squared_error(x, 2. * x), "mse summed": loss(losses.MeanSquaredError(reduction="sum")),
        "metric mean": (lambda m: lambda x: m(x))(metrics.Mean(name="mean")), "metric sum": (lambda m: lambda x: m(x))(metrics.Sum(name="sum")),
        "metric accuracy": metric(metrics.SparseCategoricalAccuracy(), True), "metric categorical": metric(metrics.CategoricalAccuracy()), "metric binary": metric(metrics.BinaryAccuracy()),
        "metric mse": metric(metrics.MeanSquaredError()), "metric rmse": metric(metrics.RootMeanSquaredError()), "metric entropy": metric(metrics.CategoricalCrossentropy()),
        "sgd": step(o.SGD(.1)), "momentum": step(o.SGD(.1, momentum=.9)), "adam": step(o.Adam(.1)), "rmsprop": step(o.RMSprop(.1)), "adagrad": step(o.Adagrad(.1)),
    }


def state_cases(tf):
    v, w = tf.Variable([1., 2., 3., 4.], name="v"), tf.Variable(2., name="w")
    helper = tf.function(lambda x: x * v, input_signature=[tf.TensorSpec([None, 4])])

    def gradient(f, sources):
        def run(x):
            with tf.GradientTape() as tape:
                y = f(x)
            return tape.gradient(y, sources)
        return run

    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.exp(x) * x
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    def branches(x):
        return tf.cond(tf.reduce_sum(x) > 0., lambda: x * 2., lambda: x - 1.)

    def loop(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]

    def watched(f):
        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)
        return run
    return {
        "reads": lambda x: (x * v, x + w, v + v, v.read_value(), w.value()), "assigns": lambda x: (v.assign(x[0]), v.assign_add(x[0]), w.assign_sub(1.)),
        "gradient of variables": gradient(lambda x: tf.reduce_sum(x * v * w), [v, w]), "gradient twice used": gradient(lambda x: tf.reduce_sum(x * v + v), [v]),
        "second gradient": second, "call": lambda x: helper(x) + 1., "gradient of a call": gradient(lambda x: tf.reduce_sum(helper(x)), [v]),
        "cond": branches, "while": loop, "gradient of cond": watched(branches), "gradient of while": watched(loop),
        "tf.gradients": lambda x: tf.gradients(tf.exp(x) * 2., x), "clip by norm": gradient(lambda x: tf.reduce_sum(tf.clip_by_norm(x * v, 1.)), [v]),
        "global norm": lambda x: tf.clip_by_global_norm([x, x * 2.], 1.)[0],
    }


def _gradient(tf, f):
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)
    return run


def cases(tf):
    """name -> a function of a tensor [None, 4] or [2, 4]"""
    found = {"op: " + name: f for name, f in op_cases(tf).items()}
    found.update({"gradient: " + name: _gradient(tf, f) for name, f in gradient_cases(tf).items()})
    found.update({"keras: " + name: f for name, f in keras_cases(tf).items()})
    found.update({"state: " + name: f for name, f in state_cases(tf).items()})
    return found


def names(tf):
    """The names of all cases with the number of rows that their argument has: known or not."""
    return [f"{name} [{rows}]" for rows in (2, None) for name in cases(tf)]


def split(name):
    case, rows = name[:-1].rsplit(" [", 1)
    return case, None if rows == "None" else int(rows)


# What has other nodes here than in TensorFlow; the values are the same. Gradients, losses and updates are composed by rules of their own, some of
# which the planner runs in one pass.
DIFFERENT = {
    "Gradients": [
        "gradient: tan", "gradient: square", "gradient: erf", "gradient: asin", "gradient: acos", "gradient: atan", "gradient: atanh",
        "gradient: sign [2]", "gradient: add", "gradient: sub", "gradient: div", "gradient: pow", "gradient: pow of tensors",
        "gradient: maximum", "gradient: minimum", "gradient: squared difference", "gradient: floormod", "gradient: divide no nan",
        "gradient: atan2", "gradient: xlogy", "gradient: sum", "gradient: sum of an axis", "gradient: mean", "gradient: mean of an axis",
        "gradient: max", "gradient: max of an axis", "gradient: prod", "gradient: logsumexp", "gradient: cumsum", "gradient: cumprod",
        "gradient: batch matmul", "gradient: einsum", "gradient: tensordot", "gradient: reshape [2]", "gradient: transpose",
        "gradient: expand [2]", "gradient: squeeze [2]", "gradient: concat", "gradient: unstack", "gradient: split", "gradient: slice",
        "gradient: strided slice [2]", "gradient: gather", "gradient: gather of columns", "gradient: gather_nd", "gradient: tile",
        "gradient: pad", "gradient: reverse", "gradient: broadcast", "gradient: where", "gradient: clip", "gradient: stop",
        "gradient: zeros_like", "gradient: top_k", "gradient: sort", "gradient: softplus", "gradient: gelu", "gradient: swish",
        "gradient: l2_normalize", "gradient: norm", "gradient: bias_add", "gradient: dropout", "gradient: softmax entropy",
        "gradient: softmax entropy of labels", "gradient: sigmoid entropy", "gradient: sparse entropy", "gradient: conv2d",
        "gradient: max_pool [2]", "gradient: avg_pool [2]", "gradient: depthwise", "gradient: chain", "gradient: two ways", "gradient: std",
        "gradient: variance", "gradient: moments", "gradient: segment", "gradient: unsorted segment", "gradient: det", "gradient: inverse",
        "gradient: cholesky", "gradient: trace", "gradient: diag", "gradient: diag_part", "gradient: band_part", "gradient: complex",
        "gradient: mul [None]", "gradient: matmul [None]", "gradient: matmul transposed [None]",
    ],
    "Calls": [
        "op: arithmetic", "op: products", "op: entropy",
    ],
    "Layers, losses, metrics and optimizers": [
        "keras: flatten", "keras: no dropout", "keras: batch normalization", "keras: batch normalization in training",
        "keras: layer normalization", "keras: embedding", "keras: reshape", "keras: rescaling", "keras: mse", "keras: mae", "keras: huber",
        "keras: crossentropy", "keras: crossentropy of logits", "keras: binary", "keras: binary of logits", "keras: sparse",
        "keras: sparse of logits", "keras: hinge", "keras: kl", "keras: poisson", "keras: cosine", "keras: log cosh", "keras: mse summed",
        "keras: metric mean", "keras: metric sum", "keras: metric accuracy", "keras: metric categorical", "keras: metric binary",
        "keras: metric mse", "keras: metric rmse", "keras: metric entropy", "keras: sgd", "keras: momentum", "keras: adam", "keras: rmsprop",
        "keras: adagrad",
    ],
    "State, branches and loops": [
        "state: reads", "state: assigns", "state: gradient of variables", "state: gradient twice used", "state: second gradient", "state: call",
        "state: gradient of a call", "state: cond", "state: gradient of cond", "state: gradient of while", "state: tf.gradients",
        "state: clip by norm", "state: global norm",
    ],
}


def different():
    found = []
    for names_of_kind in DIFFERENT.values():
        for name in names_of_kind:
            found += [name] if name.endswith("]") else [name + " [2]", name + " [None]"]
    return found


def nodes(tf, function, rows):
    """The nodes of the function's graph: name, op and inputs, in no order."""
    graph = tf.function(function).get_concrete_function(tf.TensorSpec([rows, 4], name="x")).graph
    return sorted([o.name, o.type, [i.name for i in o.inputs]] for o in graph.get_operations())
