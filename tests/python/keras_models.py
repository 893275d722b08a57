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
