"""Cells and recurrent layers of the program's own classes in Bidirectional, which makes two layers of one; numbers and names are TensorFlow 2.15.1's."""
import numpy as np
import pytest
import thalweg as tf

keras = tf.keras
layers = keras.layers
X = np.arange(12, dtype="float32").reshape(2, 3, 2) / 10


class Cell(layers.Layer):
    def __init__(self, units, **more):
        super().__init__(**more)
        self.units = self.state_size = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="kernel")
        self.built = True

    def call(self, x, states):
        h = tf.tanh(tf.matmul(x, self.kernel) * 0.1 + states[0])
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class NoConfig(layers.Layer):
    def __init__(self, units, **more):
        super().__init__(**more)
        self.units = self.state_size = units

    build, call = Cell.build, Cell.call


class Around(layers.RNN):
    """Its config has the cell's dict."""

    def call(self, x, **more):
        return super().call(x, **more)


class Whole(layers.RNN):
    """It makes its cell itself; from_config takes no custom objects."""

    def __init__(self, units, **more):
        super().__init__(Cell(units), **more)
        self.units = units

    def get_config(self):
        config = super().get_config()
        del config["cell"]
        return {**config, "units": self.units}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Lstm(layers.LSTM):
    pass


BOTH = [[0.1488, 0.1488, 0.1478, 0.1478], [0.4626, 0.4626, 0.4543, 0.4543]]
CUSTOM = {"Cell": Cell, "NoConfig": NoConfig, "Around": Around, "Whole": Whole, "Lstm": Lstm}
MADE = {
    "cell": (lambda: layers.RNN(Cell(2)), BOTH, "RNN", "Cell"),
    "no config": (lambda: layers.RNN(NoConfig(2)), BOTH, "RNN", "NoConfig"),
    "two cells": (lambda: layers.RNN([Cell(2), Cell(3)]), [[0.0437] * 3 + [0.0751] * 3, [0.1745] * 3 + [0.2010] * 3], "RNN", "StackedRNNCells"),
    "own RNN": (lambda: Around(Cell(2)), BOTH, "Around", "Cell"),
    "own RNN with its cell": (lambda: Whole(2), BOTH, "Whole", "Cell"),
    "own LSTM": (lambda: Lstm(2, kernel_initializer="ones", recurrent_initializer="ones"), [[0.6115, 0.6115, 0.7339, 0.7339], [0.9665, 0.9665, 0.9485, 0.9485]],
                 "Lstm", "LSTMCell"),
}


@pytest.mark.parametrize("name", MADE)
def test_bidirectional(name):
    make, values, kind, cell = MADE[name]
    layer = layers.Bidirectional(make())
    np.testing.assert_allclose(layer(X), values, atol=1e-4)
    np.testing.assert_allclose(tf.function(layer)(X), values, atol=1e-4)
    for one in (layer.forward_layer, layer.backward_layer):
        assert (type(one).__name__, type(one.cell).__name__) == (kind, cell)
    assert (layer.forward_layer.go_backwards, layer.backward_layer.go_backwards) == (False, True)


@pytest.mark.parametrize("kind", ["keras", "h5"])
@pytest.mark.parametrize("name", MADE)
@pytest.mark.filterwarnings("ignore:You are saving")
def test_files(name, kind, tmp_path):
    make, _, outer, cell = MADE[name]
    model = keras.Sequential([keras.Input((3, 2)), layers.Bidirectional(make())])
    for weight in model.weights:
        weight.assign(tf.random.stateless_normal(weight.shape, seed=[1, len(weight.name)]))
    path = str(tmp_path / ("model." + kind))
    model.save(path)
    loaded = keras.models.load_model(path, custom_objects=CUSTOM)
    np.testing.assert_allclose(loaded(X), model(X), atol=1e-6)
    for one in (loaded.layers[0].forward_layer, loaded.layers[0].backward_layer):
        assert (type(one).__name__, type(one.cell).__name__) == (outer, cell)
    with pytest.raises(ValueError, match="Unknown layer: '%s'" % (outer if outer != "RNN" else "NoConfig" if cell == "NoConfig" else "Cell")):
        keras.models.load_model(path)


def test_names_and_training():
    layer = layers.Bidirectional(layers.RNN(Cell(2), name="rnn", return_sequences=True, return_state=True), merge_mode="sum", name="both")
    outputs = layer(X)
    np.testing.assert_allclose(outputs[0][:, :, 0], [[0.1578, 0.1988, 0.2386], [0.5835, 0.6507, 0.6696]], atol=1e-4)
    np.testing.assert_allclose([state[0, 0] for state in outputs[1:]], [0.1488, 0.1478], atol=1e-4)
    cell = layer.layer.cell.name
    assert [w.name for w in layer.weights] == ["both/%s_rnn/%s/kernel:0" % (way, cell) for way in ("forward", "backward")]
    model = keras.Sequential([keras.Input((3, 2)), layers.Bidirectional(layers.RNN(Cell(2)))])
    model.compile("sgd", "mse")
    losses = model.fit(X, np.ones((2, 4), "float32"), epochs=2, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, [0.50935, 0.50922], atol=1e-5)


def test_parts_that_are_read_and_replaced():
    several = layers.RNN([Cell(2), Cell(3)])
    assert type(several.cell).__name__ == "StackedRNNCells" and len(several.cell.cells) == 2
    single = layers.RNN(Cell(2))
    single.cell = Cell(3)
    assert (single(X).shape, single.cell.units) == ((2, 3), 3)
    both = layers.Bidirectional(layers.LSTM(2))
    both.backward_layer = layers.LSTM(2, go_backwards=True, name="other")
    assert (both(X).shape, both.backward_layer.name) == ((2, 4), "other")
