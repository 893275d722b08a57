"""A setting that is changed after its object was made acts as in TensorFlow (tests/golden/settings.py), or is refused by an error: every class of Keras with every
argument of its constructor, set before the first use and after it. Classes of the program use the names as they like."""
import gzip
import json
import os

import numpy as np
import pytest

import setting_cases as cases
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "settings", "settings.json.gz")
with gzip.open(GOLDEN) as file:
    ROWS = json.load(file)
CASES = {key: (outcome, case) for key, outcome, case, _, _ in cases.every_case(tf)}

# What TensorFlow changes and thalweg refuses (docs/differences.md).
REFUSED = {"optimizers": ["use_ema"], "layers.Resizing": ["interpolation"], "layers.Normalization": ["mean", "variance"], "metrics.AUC": ["num_labels", "num_thresholds", "multi_label", "label_weights"],
           "metrics": ["thresholds", "num_classes"]}
# What is not compared.
LEFT_OUT = {
    "layers.AlphaDropout": ["noise_shape", "rate", "seed"],  # TensorFlow's fails with that noise_shape
    "layers.UpSampling2D": ["data_format"],  # with an interpolation TensorFlow keeps the old one
    "layers.BatchNormalization": ["axis"], "layers.LayerNormalization": ["axis"],  # TensorFlow's attribute is a list, which a number breaks
    # the channels first, which TensorFlow's ops refuse without oneDNN
    **{"layers." + name: ["data_format"] for name in ("AveragePooling2D", "MaxPooling2D", "DepthwiseConv1D", "SeparableConv1D", "SeparableConv2D", "Conv1DTranspose")},
    "layers.Conv1D": ["padding", "strides", "data_format"], "layers.Conv2D": ["strides", "data_format"],  # with groups TensorFlow traces a function, which keeps them
    "layers.GRUCell": ["units"], "layers.LSTMCell": ["units"],  # of a built cell TensorFlow's are no longer of one size
    # states of a first call with random weights; states have no activity regularizer here, whatever the constructor was told
    "layers.LSTM": ["stateful", "return_state"], "layers.GRU": ["stateful", "return_state"], "layers.SimpleRNN": ["stateful", "return_state"],
    "layers.MultiHeadAttention": ["activity_regularizer"],  # the layers inside get it when they are built
    "losses.BinaryFocalCrossentropy": ["alpha", "gamma", "apply_class_balancing"], "losses.CategoricalFocalCrossentropy": ["alpha", "gamma"],  # the config tells what is not used
    "metrics.AUC": ["curve", "summation_method"],  # TensorFlow's attributes are members of an enumeration
    "metrics.FBetaScore": ["average"],  # of another one TensorFlow keeps what followed from the first
    "initializers.VarianceScaling": ["mode"], "optimizers.Ftrl": ["learning_rate_power"],  # the new values are none that constructors take
}
NOT_SUPPORTED = ("NotImplementedError", "UnimplementedError")


def listed(table, key, argument):
    name = key.split("-")[0]
    return argument in table.get(name, ()) or argument in table.get(name.split(".")[0], ())


def close(got, want):
    if isinstance(want, dict) and isinstance(got, dict):  # objects that cases share may be built already
        got, want = ({name: one for name, one in whole.items() if name != "build_config"} for whole in (got, want))
        return set(got) == set(want) and all(close(got[name], want[name]) for name in want)
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(got) == len(want) and all(close(a, b) for a, b in zip(got, want))
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return bool(np.isclose(got, want, rtol=2e-4, atol=2e-5))
    return got == want


def differences(key, argument, want, same, own, random):
    """What thalweg does otherwise: a list of texts. Numbers that are random are others than TensorFlow's; they change where TensorFlow's do."""
    outcome, case = CASES[key]
    got = outcome(tf, case, argument, cases.value(tf, argument, want["new"]))
    if want["set"] is not None:
        return [] if got["set"] == want["set"] else ["set: %s, expected %s" % (got["set"], want["set"])]
    fails = isinstance(want["before"], str) or isinstance(want["after"], str)
    if got["set"] is not None:
        return [] if fails or (got["set"] in NOT_SUPPORTED and listed(REFUSED, key, argument)) else ["set: " + got["set"]]
    out = []
    if close(own["config"], same["config"]) and not close(got["config"], want["config"]):
        out = ["config: %s, expected %s" % (got["config"], want["config"])]
    for part in ("before", "after"):
        if isinstance(want[part], str):
            if not isinstance(got[part], str):
                out.append("%s: no error, expected %s" % (part, want[part]))
        elif not random and close(own[part], same[part]):
            if not close(got[part], want[part]):
                out.append("%s: %s, expected %s" % (part, got[part], want[part]))
        elif isinstance(got[part], str):
            out.append("%s: %s" % (part, got[part]))
    return out


@pytest.mark.parametrize("key", [key for key in ROWS if key != "callbacks"])
def test_as_tensorflow(key):
    row = ROWS[key]
    outcome, case = CASES[key]
    own = outcome(tf, case, "_no_such_setting", None)
    wrong = {}
    for argument, want in row.items():
        if argument in ("same", "random") or listed(LEFT_OUT, key, argument):
            continue
        # what an initializer makes that has no seed is random, whatever the rest is
        random = argument.endswith("_initializer") and not isinstance(want.get("before", ""), str) and want["before"][0] != row["same"]["before"][0]
        found = differences(key, argument, want, row["same"], own, random or row["random"])
        if found:
            wrong[argument] = found
    assert not wrong, wrong


@pytest.mark.parametrize("number", range(len(cases.CALLBACKS)))
def test_callbacks(number):
    np.testing.assert_allclose(cases.callback_outcome(tf, *cases.CALLBACKS[number]), ROWS["callbacks"][number], rtol=1e-5)


def test_classes_of_the_program():
    class Own(tf.keras.layers.Dropout):
        def __init__(self, rate):
            super().__init__(0.5)
            self.rate = rate

    class Other(tf.keras.layers.Dense):
        def __init__(self):
            self.activation = "before"
            super().__init__(2, activation="relu")
            self.units = [1, 2]

    x = np.ones((1, 1000), np.float32)
    assert np.sum(Own(0.0)(x, training=True) == 0) == 0 and Own(0.25).rate == 0.25
    assert Other().units == [1, 2] and Other().activation is tf.keras.activations.relu


def test_traces_keep_what_they_saw():
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    traced = tf.function(lambda x: layer(x, training=True))
    x = tf.ones((1, 1000))
    assert np.sum(traced(x) == 0) > 0
    layer.rate = 0
    assert np.sum(traced(x) == 0) > 0 and np.sum(layer(x, training=True) == 0) == 0
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile("sgd", "mse")
    assert model.predict(x[:, :2], verbose=0) == 2
    model.layers[0].activation = tf.math.negative
    assert model.predict(x[:, :2], verbose=0) == 2 and model(x[:, :2]) == -2
    model.compile("sgd", "mse")
    assert model.predict(x[:, :2], verbose=0) == -2


def test_a_wrong_value_changes_nothing():
    layer = tf.keras.layers.Dense(3)
    for name, value in (("units", -1), ("units", "many"), ("kernel_initializer", "no_such"), ("activation", "no_such")):
        with pytest.raises((ValueError, TypeError)):
            setattr(layer, name, value)
    assert layer.units == 3 and layer(np.ones((1, 2), np.float32)).shape == (1, 3)
    with pytest.raises(NotImplementedError, match="a variable"):
        tf.keras.layers.Dropout(0.5).rate = tf.Variable(0.5)


def test_cells_have_the_settings():
    layer = tf.keras.layers.LSTM(2)
    with pytest.raises(AttributeError, match="Can't set the attribute"):
        layer.dropout = 0.5
    layer.cell.dropout = 0.5
    assert layer.dropout == 0.5 and layer.get_config()["dropout"] == 0.5
    layer.cell = None
    with pytest.raises(ValueError, match="no layer"):
        layer(np.ones((1, 2, 3), np.float32))
    both = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2))
    both.forward_layer = tf.keras.layers.LSTM(3)
    assert both(np.ones((1, 2, 3), np.float32)).shape == (1, 5)


def test_files_of_callbacks(tmp_path):
    saver = tf.keras.callbacks.ModelCheckpoint(str(tmp_path / "a.h5"), save_freq=1)
    saver.filepath, saver.save_freq = str(tmp_path / "b.h5"), "epoch"
    with pytest.raises((ValueError, TypeError)):
        saver.save_freq = "sometimes"
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0, callbacks=[saver])
    assert [p.name for p in tmp_path.iterdir()] == ["b.h5"]
