"""`constants` of RNN: tensors that its cell, of the program's own class, gets in each step; where states and constants stand in configs; numbers are TensorFlow 2.15.1's."""
import numpy as np
import pytest
import thalweg as tf

keras = tf.keras
layers = keras.layers
X = np.arange(12, dtype="float32").reshape(2, 3, 2) / 10
C = np.array([[0.1, 0.2], [0.3, 0.4]], "float32")
LAST = [[0.4169, 0.6154], [0.8379, 0.8840]]
WITH_STATE = [[0.5457, 0.7401], [0.8756, 0.9058]]


class Cell(layers.Layer):
    def __init__(self, units, **more):
        super().__init__(**more)
        self.units = self.state_size = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="ones", name="kernel")
        self.built = True

    def call(self, x, states, constants=None):
        assert isinstance(constants, (list, tuple)) and len(constants) == 1
        h = tf.tanh(tf.matmul(x, self.kernel) * 0.1 + states[0] + constants[0])
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@pytest.mark.parametrize("given", [lambda c: [c], lambda c: c], ids=["list", "tensor"])
def test_calls(given):
    layer = layers.RNN(Cell(2))
    np.testing.assert_allclose(layer(X, constants=given(tf.constant(C))), LAST, atol=1e-4)
    np.testing.assert_allclose(layer(X, initial_state=[2 * C], constants=given(tf.constant(C))), WITH_STATE, atol=1e-4)
    traced = tf.function(lambda x, c: layer(x, constants=given(c)), input_signature=[tf.TensorSpec([None, None, 2]), tf.TensorSpec([None, 2])])
    np.testing.assert_allclose(traced(X, C), LAST, atol=1e-4)  # a loop


def test_bidirectional():
    layer = layers.Bidirectional(layers.RNN(Cell(2)))
    np.testing.assert_allclose(layer(X, constants=[tf.constant(C)]), [[0.4169, 0.6154, 0.4099, 0.6025], [0.8379, 0.8840, 0.8227, 0.8706]], atol=1e-4)


def test_gradient():
    layer, c = layers.RNN(Cell(2)), tf.constant(C)
    found, differences = tf.test.compute_gradient(lambda c: layer(X, constants=[c]), [c])
    np.testing.assert_allclose(found, differences, atol=2e-3)
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("length", [3, None])
def test_model_trains(length):
    x, c = keras.Input((length, 2)), keras.Input((2,))
    model = keras.Model([x, c], layers.RNN(Cell(2))(x, constants=c))
    np.testing.assert_allclose(model.predict([X, C], verbose=0), LAST, atol=1e-4)
    model.compile("sgd", "mse")
    np.testing.assert_allclose(model.fit([X, C], np.ones((2, 2)), epochs=2, verbose=0).history["loss"], [0.13192, 0.13191], atol=1e-5)


@pytest.mark.parametrize("kind", ["keras", "h5"])
@pytest.mark.filterwarnings("ignore:You are saving")
def test_files(kind, tmp_path):
    x, s, c = keras.Input((3, 2)), keras.Input((2,)), keras.Input((2,))
    model = keras.Model([x, s, c], layers.RNN(Cell(2))(x, initial_state=[s], constants=[c]))
    path = str(tmp_path / ("model." + kind))
    model.save(path)
    loaded = keras.models.load_model(path, custom_objects={"Cell": Cell})
    np.testing.assert_allclose(loaded.predict([X, 2 * C, C], verbose=0), WITH_STATE, atol=1e-4)


@pytest.mark.parametrize("make", [lambda: layers.SimpleRNN(2), lambda: layers.RNN(layers.LSTMCell(2)), lambda: layers.GRU(2)])
def test_cells_of_the_library_take_none(make):
    with pytest.raises(ValueError, match="RNN cell .* does not support constants"):
        make()(X, constants=[tf.constant(C)])


def test_cells_one_above_the_other():
    """Those that take constants get them."""
    layer, below, above = layers.RNN([layers.SimpleRNNCell(2), Cell(2)]), layers.SimpleRNN(2, return_sequences=True), layers.RNN(Cell(2))
    found = layer(X, constants=[tf.constant(C)])
    below(X)
    below.set_weights(layer.cell.cells[0].get_weights())
    np.testing.assert_allclose(found, above(below(X), constants=[tf.constant(C)]), atol=1e-6)
    both = layers.RNN([Cell(2), Cell(2)])(X, constants=tf.constant(C))
    np.testing.assert_allclose(both, layers.RNN(Cell(2))(layers.RNN(Cell(2), return_sequences=True)(X, constants=tf.constant(C)), constants=tf.constant(C)), atol=1e-6)


NODES = [
    (lambda x, h, c: layers.LSTM(2)(x, initial_state=[h, c]), [["x", 0, 0, {}], ["h", 0, 0, {}], ["c", 0, 0, {}]], None),
    (lambda x, h, c: layers.GRU(2)(x, initial_state=h), [["x", 0, 0, {}], ["h", 0, 0, {}]], None),
    (lambda x, h, c: layers.Bidirectional(layers.GRU(2))(x, initial_state=[h, c]), [["x", 0, 0, {}], ["h", 0, 0, {}], ["c", 0, 0, {}]], None),
    (lambda x, h, c: layers.RNN(Cell(2))(x, constants=c), [["x", 0, 0, {}], ["c", 0, 0, {}]], 1),
    (lambda x, h, c: layers.RNN(Cell(2))(x, initial_state=h, constants=c), [["x", 0, 0, {}], ["h", 0, 0, {}], ["c", 0, 0, {}]], 1),
    (lambda x, h, c: layers.Bidirectional(layers.RNN(Cell(2)))(x, constants=[c]), [["x", 0, 0, {}], ["c", 0, 0, {}]], 1),
    (lambda x, h, c: layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])(x, initial_state=[[h, c], h]), [["x", 0, 0, {}], [["h", 0, 0, {}], ["c", 0, 0, {}]], ["h", 0, 0, {}]], None),
]


@pytest.mark.parametrize("call, node, constants", NODES)
@pytest.mark.filterwarnings("ignore:You are saving")
def test_states_and_constants_are_inputs(call, node, constants, tmp_path):
    x, h, c = keras.Input((3, 2), name="x"), keras.Input((2,), name="h"), keras.Input((2,), name="c")
    model = keras.Model([x, h, c], call(x, h, c))
    entry = next(e for e in model.get_config()["layers"] if e["class_name"] != "InputLayer")
    assert entry["inbound_nodes"] == [node]
    assert entry["config"].get("num_constants") == constants
    expected = model.predict([X, 2 * C, C], verbose=0)
    again = keras.Model.from_config(model.get_config(), custom_objects={"Cell": Cell})
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict([X, 2 * C, C], verbose=0), expected, atol=1e-6)
    for form in ("model.keras", "model.h5"):
        model.save(tmp_path / form)
        loaded = keras.models.load_model(tmp_path / form, custom_objects={"Cell": Cell})
        np.testing.assert_allclose(loaded.predict([X, 2 * C, C], verbose=0), expected, atol=1e-6)
