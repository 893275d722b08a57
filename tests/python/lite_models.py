"""Models and functions for tf.lite, made alike by TensorFlow and by thalweg: weights follow from their place."""
import numpy as np


def numbered(model):
    """The model, its weights a fixed wave."""
    model.set_weights([(np.abs if i % 7 == 6 else np.asarray)(np.sin(np.arange(w.size) * 0.7 + i).reshape(w.shape) * 0.5 + ("variance" in v.name) * 1.0)
                       .astype(w.dtype) for i, (v, w) in enumerate(zip(model.weights, model.get_weights()))])
    return model


def wave(shape, dtype="float32", shift=0.0):
    """An input of that shape."""
    count = int(np.prod(shape))
    if dtype.startswith("int"):
        return (np.arange(count) * 3 % 7).reshape(shape).astype(dtype)
    if dtype == "bool":
        return (np.arange(count) % 3 == 0).reshape(shape)
    return np.sin(np.arange(count) * 0.37 + shift).reshape(shape).astype(dtype)


def models(tf):
    """NAME -> a function that makes the model; its inputs are waves of batch 2."""
    layers, keras = tf.keras.layers, tf.keras

    def mlp():
        return keras.Sequential([layers.Dense(6, "relu", input_shape=(4,)), layers.Dense(5, "sigmoid"), layers.Dense(3, "softmax")])

    def cnn():
        return keras.Sequential([layers.Conv2D(4, 3, padding="same", use_bias=False, input_shape=(8, 8, 3)), layers.BatchNormalization(), layers.ReLU(6.0),
                                 layers.DepthwiseConv2D(3, depth_multiplier=2), layers.BatchNormalization(), layers.Activation("relu"),
                                 layers.MaxPooling2D(), layers.Conv2D(3, (1, 2), dilation_rate=(1, 2), activation="tanh"), layers.AveragePooling2D((2, 1), padding="same"),
                                 layers.Flatten(), layers.Dropout(0.5), layers.Dense(3)])

    def lstm():
        return keras.Sequential([layers.LSTM(4, batch_input_shape=(2, 5, 3), return_sequences=True), layers.LSTM(3), layers.Dense(2)])

    def bidirectional():
        return keras.Sequential([layers.Bidirectional(layers.LSTM(3), batch_input_shape=(2, 4, 2))])

    def gru():
        return keras.Sequential([layers.GRU(3, batch_input_shape=(2, 4, 2)), layers.Dense(2)])

    def text():
        return keras.Sequential([layers.Embedding(8, 4, input_length=6), layers.Conv1D(3, 3, activation="relu"), layers.GlobalMaxPooling1D(), layers.Dense(1)])

    def functional():
        a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
        x, y = layers.Dense(3, "relu")(a), layers.Dense(3)(b)
        joined = layers.Concatenate()([x, y, layers.Multiply()([x, y])])
        return keras.Model([a, b], [layers.Dense(2, name="first")(joined), layers.Add(name="second")([layers.Subtract()([x, y]), layers.Maximum()([x, b])])])

    def block():
        x = image = keras.Input((8, 8, 4))
        x = layers.Conv2D(8, 1, use_bias=False)(x)
        x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
        x = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
        x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
        x = layers.BatchNormalization()(layers.Conv2D(4, 1, use_bias=False)(x))
        x = layers.Add()([image, x])
        x = layers.DepthwiseConv2D(3, strides=2)(layers.ZeroPadding2D(((0, 1), (0, 1)))(x))
        return keras.Model(image, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)))

    def upwards():
        return keras.Sequential([layers.Conv2DTranspose(3, 3, strides=2, padding="same", input_shape=(4, 4, 2)), layers.UpSampling2D(2),
                                 layers.UpSampling2D(2, interpolation="bilinear"), layers.Cropping2D(2), layers.Conv2DTranspose(2, 2, padding="valid", activation="relu")])

    def activations():
        x = keras.Input((5,))
        made = [layers.Activation(name)(x) for name in ("elu", "selu", "swish", "gelu", "softplus", "hard_sigmoid", "exponential", "tanh")]
        made += [layers.LeakyReLU(0.2)(x), layers.PReLU()(x), layers.ReLU(3.0)(x), layers.Softmax()(x), layers.ELU()(x)]
        return keras.Model(x, layers.Concatenate()(made))

    def attention():
        x = keras.Input((4, 6))
        y = layers.MultiHeadAttention(2, 3)(x, x)
        y = layers.LayerNormalization()(layers.Add()([x, y]))
        return keras.Model(x, layers.Dense(2)(layers.GlobalAveragePooling1D()(y)))

    def shapes():
        x = keras.Input((4, 6))
        y = layers.Permute((2, 1))(layers.Reshape((6, 4))(x))
        y = layers.RepeatVector(2)(layers.Flatten()(y))
        z = layers.TimeDistributed(layers.Dense(3))(y)
        return keras.Model(x, [z, layers.Dot(axes=(1, 1))([x, x]), layers.Average()([x, x]), layers.Rescaling(0.5, 1.0)(x)])

    def separable():
        return keras.Sequential([layers.SeparableConv2D(4, 3, input_shape=(6, 6, 2), activation="relu"), layers.GlobalMaxPooling2D(), layers.UnitNormalization()])

    return {f.__name__: f for f in (mlp, cnn, lstm, bidirectional, gru, text, functional, block, upwards, activations, attention, shapes, separable)}


def inputs_of(model, batch=2):
    """Waves for the model's inputs, in order."""
    return [wave((batch,) + tuple(x.shape[1:]), "int32" if len(model.layers) and type(model.layers[0]).__name__ == "Embedding" else "float32", i)
            for i, x in enumerate(model.inputs)]


def functions(tf):
    """NAME -> (function, specs as (shape, dtype)); the inputs are waves."""
    f32 = "float32"
    one, two, flat = [((2, 3), f32)], [((2, 3), f32)] * 2, [((6,), f32)]
    image = [((1, 4, 4, 2), f32)]
    whole = [((2, 3), "int32")] * 2
    cases = {}

    def case(name, specs, function):
        cases[name] = function, specs

    for name in ("abs", "ceil", "cos", "exp", "floor", "round", "sin", "square", "tanh", "sigmoid", "negative", "sign"):
        case(name, one, getattr(tf.math, name))
    case("zeros_like", one, lambda x: tf.zeros_like(x) + x)
    for name in ("elu", "relu", "relu6", "softmax", "log_softmax", "leaky_relu", "gelu", "silu", "softplus"):
        case(name, one, getattr(tf.nn, name))
    for name in ("sqrt", "log"):
        case(name, one, lambda x, f=getattr(tf.math, name): f(x * x + 1.0))
    case("rsqrt", one, lambda x: tf.math.rsqrt(x * x + 1.0))
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum"):
        case(name, two, getattr(tf, name))
    case("squared_difference", two, tf.math.squared_difference)
    case("floordiv", two, lambda x, y: tf.math.floordiv(x, tf.abs(y) + 0.3))
    case("floormod", two, lambda x, y: tf.math.floormod(x, y * 0.3 + 2.0))
    case("pow", two, lambda x, y: tf.pow(tf.abs(x) + 0.5, y))
    case("atan2", two, tf.atan2)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        case(name, two, getattr(tf, name))
    case("add_int", whole, tf.add)
    case("floordiv_int", whole, lambda x, y: tf.math.floordiv(x - 3, y + 1))
    case("floormod_int", whole, lambda x, y: tf.math.floormod(x - 3, y + 2))
    case("logical", [((2, 3), "bool")] * 2, lambda x, y: tf.logical_or(tf.logical_and(x, y), tf.logical_not(x)))
    case("add_broadcast", [((2, 3), f32), ((3,), f32)], lambda x, y: tf.nn.relu(x + y))
    case("add_n", two, lambda x, y: tf.add_n([x, y, x]))
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"):
        case(name, one, lambda x, f=getattr(tf, name): f(x, axis=1))
        case(name + "_keep", image, lambda x, f=getattr(tf, name): f(x, axis=[1, 2], keepdims=True))
    case("reduce_any", [((2, 3), "bool")], lambda x: tf.reduce_any(x, 1))
    case("reduce_all", [((2, 3), "bool")], lambda x: tf.reduce_all(x, 1))
    case("reshape", one, lambda x: tf.reshape(x, [3, -1]))
    case("transpose", image, lambda x: tf.transpose(x, [0, 3, 1, 2]))
    case("concat", two, lambda x, y: tf.concat([x, y, x], 1))
    case("pad", image, lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 1], [0, 0]]))
    case("pad_value", one, lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=1.5))
    case("mirror_pad", one, lambda x: tf.pad(x, [[1, 1], [2, 1]], "REFLECT"))
    case("symmetric_pad", one, lambda x: tf.pad(x, [[1, 1], [2, 1]], "SYMMETRIC"))
    case("strided_slice", [((4, 5, 6), f32)], lambda x: x[1:, ::-2, 3])
    case("strided_slice_axes", [((4, 5, 6), f32)], lambda x: x[..., tf.newaxis, 1:4:2])
    case("slice", one, lambda x: tf.slice(x, [0, 1], [-1, 2]))
    case("split", flat, lambda x: tf.split(x, 3))
    case("split_v", flat, lambda x: tf.split(x, [1, 2, 3]))
    case("stack", two, lambda x, y: tf.stack([x, y], 1))
    case("unstack", one, lambda x: tf.unstack(x, axis=1))
    case("gather", [((4, 3), f32), ((2,), "int32")], lambda x, i: tf.gather(x, tf.minimum(i, 3)))
    case("gather_axis", [((2, 4), f32), ((2, 2), "int32")], lambda x, i: tf.gather(x, tf.minimum(i, 3), axis=1, batch_dims=1))
    case("gather_nd", [((4, 3), f32)], lambda x: tf.gather_nd(x, [[0, 1], [3, 2]]))
    case("scatter_nd", [((2,), f32)], lambda x: tf.scatter_nd([[1], [3]], x, [5]))
    case("tile", one, lambda x: tf.tile(x, [2, 1]))
    case("broadcast_to", [((3,), f32)], lambda x: tf.broadcast_to(x, [2, 3]))
    case("expand_dims", one, lambda x: tf.expand_dims(x, 1))
    case("squeeze", [((1, 3, 1), f32)], lambda x: tf.squeeze(x, [0]))
    case("cast", one, lambda x: tf.cast(tf.cast(x * 5.0, tf.int32), tf.float32))
    case("cast_bool", one, lambda x: tf.cast(x > 0.0, tf.float32))
    case("select", two, lambda x, y: tf.where(x > y, x, y))
    case("select_broadcast", [((2, 3), f32), ((3,), f32)], lambda x, y: tf.where(x > 0.0, x, y))
    case("where", one, lambda x: tf.where(x > 0.0))
    case("argmax", one, lambda x: tf.argmax(x, 1))
    case("argmin", one, lambda x: tf.argmin(x, 0, tf.int32))
    case("top_k", one, lambda x: tuple(tf.math.top_k(x, 2)))
    case("one_hot", [((3,), "int32")], lambda x: tf.one_hot(x, 5))
    case("cumsum", one, lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True))
    case("reverse", one, lambda x: tf.reverse(x, [1]))
    case("shape", [((None, 3), f32)], tf.shape)
    case("fill", [((None, 3), f32)], lambda x: tf.fill([tf.shape(x)[0], 2], 1.5) * x[:, :2])
    case("range", [((None, 3), f32)], lambda x: tf.range(tf.shape(x)[0]))
    case("rank_free", [((None, 4), f32)], lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 2]))
    case("matmul", two, lambda x, y: tf.matmul(x, y, transpose_b=True))
    case("matmul_constant", one, lambda x: tf.matmul(x, tf.constant(wave((3, 2)))) + [0.5, -0.5])
    case("batch_matmul", [((2, 2, 3), f32), ((2, 3, 2), f32)], tf.matmul)
    case("batch_matmul_adjoint", [((2, 2, 3), f32), ((2, 2, 3), f32)], lambda x, y: tf.matmul(x, y, transpose_b=True))
    case("einsum", [((2, 3, 4), f32), ((4, 2), f32)], lambda x, y: tf.einsum("abc,cd->abd", x, y))
    case("conv", image, lambda x: tf.nn.relu(tf.nn.conv2d(x, wave((3, 2, 2, 3)), [1, 2, 1, 1], "SAME") + [0.1, 0.2, 0.3]))
    case("conv_groups", image, lambda x: tf.nn.conv2d(x, wave((3, 3, 1, 4)), 1, "VALID"))
    case("conv_transpose", image, lambda x: tf.nn.conv2d_transpose(x, wave((3, 3, 3, 2)), [1, 8, 8, 3], 2, "SAME"))
    case("conv3d", [((1, 3, 4, 4, 2), f32)], lambda x: tf.nn.conv3d(x, wave((2, 2, 2, 2, 3)), [1] * 5, "VALID"))
    case("max_pool", image, lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"))
    case("avg_pool", image, lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"))
    case("lrn", image, lambda x: tf.nn.local_response_normalization(x, 1, 1.0, 0.5, 0.75))
    case("l2_normalize", one, lambda x: tf.nn.l2_normalize(x, 1))
    case("space_to_depth", image, lambda x: tf.nn.space_to_depth(x, 2))
    case("depth_to_space", [((1, 2, 2, 4), f32)], lambda x: tf.nn.depth_to_space(x, 2))
    case("space_to_batch", image, lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]))
    case("resize_bilinear", image, lambda x: tf.image.resize(x, [7, 5]))
    case("resize_nearest", image, lambda x: tf.image.resize(x, [7, 5], "nearest"))
    case("resize_corners", image, lambda x: tf.compat.v1.image.resize_bilinear(x, [7, 5], align_corners=True))
    case("segment_sum", [((4, 2), f32)], lambda x: tf.math.segment_sum(x, [0, 0, 1, 2]))
    case("reverse_sequence", [((2, 4), f32)], lambda x: tf.reverse_sequence(x, [2, 3], 1, 0))
    case("while", one, lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 1.5 + 0.25), [tf.constant(0), x])[1])
    case("if", one, lambda x: tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0))
    case("two_dtypes", [((3,), f32), ((3,), "int64")], lambda x, y: {"product": x * tf.cast(y, tf.float32), "sum": y + 1})
    return cases
