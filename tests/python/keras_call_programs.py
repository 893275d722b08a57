"""Programs that call layers and models in ways of their own: each prints what is to be the same here and under TensorFlow (tests/golden/keras_programs.py)."""
import numpy as np

from function_programs import attempt
from keras_optimizer_programs import show

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def zeros_of(value):
    """How many elements a dropout took, as yes or no."""
    return bool(np.any(np.asarray(value) == 0))


@program
def symbolic_training_of_layers(tf):
    x = np.arange(1, 13, dtype="float32").reshape(4, 3)
    batch = tf.keras.layers.BatchNormalization(momentum=0.5)
    drop = tf.keras.layers.Dropout(0.5)
    dense = tf.keras.layers.Dense(2, kernel_initializer="ones", activity_regularizer="l2")
    batch.build((None, 3))

    @tf.function
    def call(x, training):
        return batch(x, training=training), drop(x, training=training), dense(x)
    for training in (True, False, True):
        a, b, c = call(x, tf.constant(training))
        print(training, zeros_of(b))
        show(a, c, batch.moving_mean, batch.moving_variance)


@program
def symbolic_training_of_models(tf):
    x = np.arange(1, 13, dtype="float32").reshape(4, 3)

    def layers():
        return [tf.keras.layers.Dense(3, kernel_initializer="identity"), tf.keras.layers.BatchNormalization(momentum=0.5), tf.keras.layers.Dropout(0.9)]
    inputs = tf.keras.Input((3,))
    value = inputs
    for layer in layers():
        value = layer(value)
    sequential, functional = tf.keras.Sequential(layers()), tf.keras.Model(inputs, value)

    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = layers()

        def call(self, x, training=None):
            for part in self.parts[:-1]:
                x = part(x)
            return self.parts[-1](x, training=training)
    own = Own()
    for model in (sequential, functional, own):
        model(x)

        @tf.function
        def call(x, training):
            return model(x, training=training)
        for training in (False, True, False):
            value = call(x, tf.constant(training))
            print(training, zeros_of(value))
            if not training:
                show(value)
        show(*model.get_weights()[4:])


@program
def variables_as_training(tf):
    x = np.ones((8, 8), "float32")
    flag = tf.Variable(False)
    drop = tf.keras.layers.Dropout(0.9)
    batch = tf.keras.layers.BatchNormalization(momentum=0.5)
    batch.build((None, 8))

    @tf.function
    def call(x):
        return drop(x, training=flag)
    for value in (False, True, False):
        flag.assign(value)
        print(zeros_of(call(x)), zeros_of(drop(x, training=flag)))
    show(batch(x, training=tf.constant(False))[0], batch(x, training=np.bool_(True))[0], batch(x, training=1)[0])


@program
def gradients_with_symbolic_training(tf):
    x = tf.constant(np.arange(1, 13, dtype="float32").reshape(4, 3))
    batch = tf.keras.layers.BatchNormalization()
    batch.build((None, 3))

    @tf.function
    def gradient(training):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(batch(x, training=training) ** 3)
        return tape.gradient(loss, [x, batch.gamma])
    for training in (True, False):
        show(*gradient(tf.constant(training)))


@program
def masks_with_symbolic_training(tf):
    ids = np.array([[1, 2, 0], [3, 0, 0]])
    embedding = tf.keras.layers.Embedding(5, 2, mask_zero=True, embeddings_initializer="ones")
    drop = tf.keras.layers.Dropout(0.0)
    rnn = tf.keras.layers.SimpleRNN(2, kernel_initializer="ones", recurrent_initializer="ones", return_sequences=False)

    @tf.function
    def call(ids, training):
        return rnn(drop(embedding(ids), training=training), training=training)
    embedding(ids), rnn(np.zeros((1, 3, 2), "float32"))
    for training in (True, False):
        show(call(ids, tf.constant(training)))


@program
def output_shapes_of_models(tf):
    k, L = tf.keras, tf.keras.layers
    model = k.Sequential([L.Dense(3, input_shape=(2,)), L.Dense(1)])
    print(model.compute_output_shape((5, 2)), model.compute_output_shape((None, 2)), model.output_shape, model.input_shape)
    images = k.Sequential([L.Conv2D(3, 3, input_shape=(None, None, 1)), L.Flatten()])
    print(images.compute_output_shape((5, 8, 8, 1)), images.output_shape, images.input_shape)
    inputs = k.Input((None, 4))
    functional = k.Model(inputs, L.LSTM(3, return_sequences=True)(inputs))
    print(functional.compute_output_shape((5, 7, 4)), functional.output_shape)
    nested = k.Sequential([functional, k.Sequential([L.Dense(2, input_shape=(None, 3))])])
    print(nested.compute_output_shape((5, 7, 4)))


@program
def losses_behind_activations(tf):
    """Keras computes losses from what an activation was made of, whatever from_logits says."""
    k = tf.keras
    x = np.random.RandomState(0).rand(8, 4).astype("float32")
    y = np.eye(3, dtype="float32")[np.arange(8) % 3]
    kernel = np.random.RandomState(1).randn(4, 3).astype("float32")
    for last in ("softmax", "sigmoid", None):
        for logits in (True, False):
            for name in ("CategoricalFocalCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "BinaryFocalCrossentropy",
                         "BinaryCrossentropy"):
                if not last and not logits:
                    continue  # logarithms of clipped numbers: TensorFlow's own answers differ between eager and traced
                for eager in (True, False):
                    model = k.Sequential([k.layers.Dense(3, activation=last, use_bias=False, input_shape=(4,))])
                    model.set_weights([kernel])
                    model.compile("sgd", getattr(k.losses, name)(from_logits=logits), run_eagerly=eager)
                    labels = y.argmax(-1) if name.startswith("Sparse") else y
                    history = model.fit(x, labels, epochs=2, batch_size=8, verbose=0, shuffle=False).history["loss"]
                    print(last, logits, name, eager, *["%.5f" % loss for loss in history])
