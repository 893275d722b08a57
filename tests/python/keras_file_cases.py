"""Models that are saved as .keras files; by tests/golden/keras_file.py under TensorFlow, and by test_keras_file.py."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses, metrics, models

X = np.arange(12., dtype="float32").reshape(4, 3) / 7


def own_loss(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)


@tf.keras.utils.register_keras_serializable("tests")
class Block(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.parts = [layers.Dense(units), layers.Dense(units, activation="tanh")]

    def build(self, input_shape):
        self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        inputs = inputs * self.scale
        for part in self.parts:
            inputs = part(inputs)
        return inputs

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def sequential():
    model = models.Sequential([layers.Dense(4, activation="relu", input_shape=(3,)), layers.BatchNormalization(), layers.Dense(2)])
    model.compile("nadam", losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    return model, np.array([0, 1, 0, 1])


def functional():
    given = layers.Input((3,))
    shared = layers.Dense(2, name="shared")
    hidden = shared(given)
    again = shared(hidden[:, :1] * tf.ones((1, 3)))
    both = layers.Bidirectional(layers.GRU(2))(layers.RepeatVector(2)(again))
    model = models.Model(given, [models.Sequential([layers.Dense(1)])(both), again])
    model.compile(tf.keras.optimizers.Adam(0.01), ["mse", own_loss], [["mae"], [metrics.MeanSquaredError()]], [1.0, 2.0])
    return model, [np.ones((4, 1)), np.ones((4, 2))]


def own_layer():
    model = models.Sequential([Block(2, input_shape=(3,)), layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    return model, np.ones((4, 1))


CASES = {"sequential": sequential, "functional": functional, "own_layer": own_layer}


def load(path):
    return tf.keras.models.load_model(path, custom_objects={"own_loss": own_loss})


def say(model, labels):
    """What a model that was loaded gives, and gives when it is trained on."""
    said = [[np.asarray(v).round(5).tolist() for v in tf.nest.flatten(model.predict(X, verbose=0))],
            [round(v, 5) for v in model.evaluate(X, labels, verbose=0, return_dict=True).values()], int(model.optimizer.iterations)]
    model.fit(X, labels, epochs=2, shuffle=False, verbose=0)
    return said + [[np.asarray(v).round(4).tolist() for v in tf.nest.flatten(model.predict(X, verbose=0))], int(model.optimizer.iterations)]
