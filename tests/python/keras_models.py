"""Models that TensorFlow (tests/golden/keras_configs.py) and the tests make alike."""


def dense(tf):
    L = tf.keras.layers
    return tf.keras.Sequential([L.InputLayer((4,)), L.Dense(3, "relu", kernel_constraint=tf.keras.constraints.MaxNorm(2.5)),
                                L.BatchNormalization(), L.Dropout(0.5), L.Dense(1)])


def unbuilt(tf):
    L = tf.keras.layers
    return tf.keras.Sequential([L.Conv2D(3, 3, activation="relu"), L.Flatten(), L.Dense(2, kernel_initializer="he_normal")])


def built(tf):
    model = unbuilt(tf)
    model.build((None, 8, 8, 1))
    return model


def first_shape(tf):
    L = tf.keras.layers
    return tf.keras.Sequential([L.Conv2D(4, (3, 2), strides=2, padding="same", input_shape=(8, 8, 3)), L.MaxPooling2D(2), L.Flatten(),
                                L.Dense(5, use_bias=False), L.Reshape((5, 1)), L.Softmax()], name="shaped")


def embedding(tf):
    L = tf.keras.layers
    return tf.keras.Sequential([L.Embedding(10, 4, input_length=5), L.Flatten(), L.Dense(1, tf.nn.sigmoid)])


def activations(tf):
    L = tf.keras.layers
    return tf.keras.Sequential([L.Dense(4, input_dim=3), L.ReLU(), L.Dense(4), L.LeakyReLU(0.25), L.Dense(2, "tanh")])


SEQUENTIAL = {f.__name__: f for f in (dense, unbuilt, built, first_shape, embedding, activations)}


# ---- functional models ----

def branches(tf):
    L = tf.keras.layers
    i = tf.keras.Input((4,))
    x, y = L.Dense(8)(i), L.Dense(8, "relu", name="b")(i)
    z = L.Add()([x, y])
    return tf.keras.Model(i, L.Dense(2)(L.Concatenate()([z, x])), name="branches")


def operators(tf):
    i = tf.keras.Input((4,))
    w = tf.nn.relu(i + 1.0)[:, :3]
    w = -(2.0 * w)
    w = tf.concat([w, w], axis=1) - tf.reduce_mean(w, axis=1, keepdims=True)
    return tf.keras.Model(i, tf.reshape(w, (-1, 3, 2)))


def several(tf):
    L = tf.keras.layers
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((3,), name="b")
    shared = L.Dense(4, name="shared")
    h = L.Multiply()([shared(a), shared(b)])
    return tf.keras.Model([a, b], {"one": L.Dense(1, name="one")(h), "two": L.Dot(1)([h, shared(a)])})


def nested(tf):
    L = tf.keras.layers
    inner = tf.keras.Sequential([tf.keras.Input((3,)), L.Dense(2, name="q")], name="inner")
    i = tf.keras.Input((3,), name="i")
    middle = tf.keras.Model(i, inner(i), name="middle")
    j = tf.keras.Input((3,))
    return tf.keras.Model(j, [middle(j), inner(j)])


def residual(tf):
    L = tf.keras.layers
    i = tf.keras.Input((8, 8, 2))
    x = L.Conv2D(2, 3, padding="same", activation="relu")(i)
    x = L.BatchNormalization()(x)
    x = L.add([x, i])
    x = L.average([L.maximum([x, i]), L.minimum([x, i]), L.subtract([x, i])])
    return tf.keras.Model(i, L.Dense(3)(L.Flatten()(x)))


def chain(tf):
    L = tf.keras.layers
    i = tf.keras.Input((6,), batch_size=2)
    return tf.keras.Model(i, L.Dense(2, use_bias=False)(L.Dropout(0.5)(L.Dense(1000)(i))))


FUNCTIONAL = {f.__name__: f for f in (branches, operators, several, nested, residual, chain)}
SUMMARIES = [{}, {"expand_nested": True, "show_trainable": True}, {"line_length": 120}, {"positions": [0.3, 0.5, 0.6, 1.0]}]


def lines(model, arguments):
    out = []
    model.summary(print_fn=lambda line, *rest: out.append(line), **arguments)
    return out


def inputs(model, numpy):
    """Data for a model's inputs, the same everywhere."""
    made = [numpy.sin(numpy.arange(2 * numpy.prod(s[1:]), dtype="float32").reshape([2] + list(s[1:]))).astype("float32")
            for s in ([tuple(t.shape) for t in model.inputs])]
    return made if len(made) > 1 else made[0]


def set_weights(model, numpy):
    model.set_weights([numpy.cos(numpy.arange(w.size, dtype="float32").reshape(w.shape)).astype("float32") for w in model.get_weights()])
