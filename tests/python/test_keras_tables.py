"""Keras and datasets where features meet: masks, weights, structures, states, errors, random numbers. Results are TensorFlow's (tests/golden/tables.py)."""
import importlib
import json

import numpy as np
import pytest
import table
from golden_files import golden_file
import thalweg as tf

MODULES = ["application_cases", "weight_cases", "mask_loss_cases", "mask_layer_cases", "model_cases", "saved_state_cases", "optimizer_cases", "data_error_cases",
           "session_keras_cases", "own_metric_cases", "metric_cases", "meeting_cases", "width_cases", "random_cases", "trainer_cases", "text_cases",
           "preprocessing_cases", "image_layer_cases", "loading_cases", "directory_cases", "utils_cases", "policy_cases", "call_cases", "traced_slice_cases",
           "backend_cases"]
EXPECTED = {module: json.load(open(golden_file("tables", module + ".json"))) for module in MODULES}
CASES = {module: importlib.import_module(module).cases(tf) for module in MODULES}


@pytest.mark.parametrize("module,name", [(module, name) for module in MODULES for name in EXPECTED[module]])
def test_case(module, name):
    got, expected = table.run(CASES[module][name]), EXPECTED[module][name]
    rtol, atol = (2e-2 if "float16" in name else 2e-4), 2e-5  # 16 bits: sums are rounded in another order
    if module == "policy_cases" and "float64" not in name:  # ... through several layers, and their gradients
        rtol, atol = (1e-1, 3e-2) if "bfloat16" in name else (2e-2, 5e-3)
    assert table.same(got, expected, rtol, atol), "got %s, expected %s" % (got, expected)


def cells(kind):
    k = tf.keras.layers
    made = {"one": lambda: k.LSTMCell(3, dropout=.5, recurrent_dropout=.5),
            "list": lambda: [k.LSTMCell(3, dropout=.5), k.GRUCell(3, recurrent_dropout=.5, dropout=.5)],
            "stacked": lambda: k.StackedRNNCells([k.SimpleRNNCell(3, dropout=.5), k.LSTMCell(3, dropout=.5)])}
    return made[kind]()


@pytest.mark.parametrize("steps", [3, None])
@pytest.mark.parametrize("kind", ["one", "list", "stacked"])
def test_dropout_of_cells_is_renewed(kind, steps):
    """Every sequence has masks of its own, whatever its batch; also in loops over sequences of unknown length."""
    layer = tf.keras.layers.RNN(cells(kind), return_sequences=True)
    call = lambda x: layer(x, training=True)
    if steps is None:
        call = tf.function(call, input_signature=[tf.TensorSpec([None, None, 4])])
    first, second, third = call(tf.ones([8, 3, 4])), call(tf.ones([1, 3, 4])), call(tf.ones([8, 3, 4]))
    assert first.shape == (8, 3, 3) and second.shape == (1, 3, 3)
    assert not np.allclose(first, third)


def test_sequence_of_unknown_shapes_builds_the_model():
    """A generator's batches have no known sizes: a model without weights is built by the first one."""
    x, y = np.ones((8, 5), np.float32), np.ones((8, 1), np.float32)
    for model in (tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)]), ):
        model.compile("sgd", "mse")
        history = model.fit(((x[i:i + 2], y[i:i + 2]) for i in range(0, 8, 2)), verbose=0)
        assert [list(w.shape) for w in model.weights] == [[5, 3], [3], [3, 1], [1]] and len(history.history["loss"]) == 1


def test_added_layers_come_back():
    """A model's own losses and metrics of Keras tensors are in its config."""
    x = tf.keras.Input((3,))
    h = tf.keras.layers.Dense(2)(x)
    model = tf.keras.Model(x, tf.keras.layers.Dense(1)(h))
    model.add_loss(tf.reduce_mean(h))
    model.add_metric(tf.reduce_max(h), name="largest")
    again = tf.keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    for one in (model, again):
        one.compile("sgd", "mse")
    data = np.ones((4, 3), np.float32), np.ones((4, 1), np.float32)
    assert again.evaluate(*data, verbose=0, return_dict=True) == model.evaluate(*data, verbose=0, return_dict=True)
    assert set(again.metrics_names) == {"loss", "largest"}


def test_one_layer_twice():
    """A Sequential model refuses a layer that it has (docs/differences.md); a functional one calls it twice."""
    one = tf.keras.layers.Dense(3, kernel_initializer="ones")
    for make in (lambda: tf.keras.Sequential([one, one]), lambda: tf.keras.Sequential([tf.keras.Input((3,)), one, tf.keras.layers.Flatten(), one])):
        with pytest.raises(ValueError, match="stands in the model already"):
            make()
    x = tf.keras.Input((3,))
    assert np.array_equal(tf.keras.Model(x, one(one(x)))(np.ones((1, 3))), [[9, 9, 9]])


def test_weights_as_an_argument():
    """Layers take their first weights when they are built, and refuse other numbers of them."""
    table = np.arange(40, dtype=np.float32).reshape(10, 4)
    model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4, weights=[table], input_length=5, trainable=False),
                                 tf.keras.layers.Conv1D(2, 2, kernel_initializer="ones"), tf.keras.layers.GlobalMaxPooling1D()])
    assert model.output_shape == (None, 2) and np.array_equal(model.layers[0].get_weights()[0], table)
    loose = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4, weights=[table]), tf.keras.layers.Conv1D(2, 2, kernel_initializer="ones")])
    assert np.array_equal(loose(np.array([[1, 2, 3]])), [[[60, 60], [92, 92]]])
    dense = tf.keras.layers.Dense(2, weights=[np.ones((3, 2)), np.zeros(2)])
    assert np.array_equal(dense(np.ones((1, 3))), [[3, 3]]) and "weights" not in dense.get_config()
    lstm = tf.keras.layers.LSTM(1, weights=[np.ones((2, 4)), np.ones((1, 4)), np.zeros(4)])
    lstm(np.ones((1, 2, 2)))
    assert [w.tolist() for w in lstm.get_weights()] == [[[1] * 4] * 2, [[1] * 4], [0] * 4]
    with pytest.raises(ValueError):
        tf.keras.layers.Dense(2, weights=[np.ones((3, 2))])(np.ones((1, 3)))


LAYERS = ["Softmax()", "ReLU()", "LeakyReLU()", "ELU()", "PReLU()", "Dense(2)", "Flatten()", "Dropout(.5)", "Activation('relu')", "BatchNormalization()", "Add()", "Conv1D(2, 2)",
          "Conv2D(2, 2)", "MaxPool2D()", "Embedding(2, 2)", "LSTM(2)", "LayerNormalization()", "Masking()", "Reshape((3,))", "RepeatVector(2)", "Permute((1,))",
          "MultiHeadAttention(1, 2)", "Bidirectional(L.LSTM(2))", "TimeDistributed(L.Dense(2))"]


@pytest.mark.parametrize("make", LAYERS)
def test_inputs_that_are_no_tensors(make):
    """An error says what is wrong; Keras itself speaks of attributes that are missing. Elementwise layers take structures."""
    for value in ({"a": tf.ones([2, 3]), "b": tf.ones([2, 3])}, None, "text", object()):
        try:
            eval("L." + make, {"L": tf.keras.layers})(value)
        except (TypeError, ValueError, tf.errors.InvalidArgumentError) as error:
            assert len(str(error)) > 30, (make, value, error)
        else:
            assert isinstance(value, dict), (make, value)
