"""Optimizers come out of files with their state, former ones too: training goes on with TensorFlow's numbers (tests/golden/optimizers_saved.py)."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "optimizers_saved")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)
X = np.arange(12, dtype="float32").reshape(4, 3) / 10


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(os.path.join(GOLDEN, "models.zip")) as archive:
        archive.extractall(folder)
    return str(folder)


def tolerance(name):
    return 1e-3 if name in ("old_rmsprop.tf", "old_rmsprop_centered.tf") else 2e-5


def train(model):
    model.fit(X, X[:, ::-1], epochs=3, verbose=0, shuffle=False)
    return model(X).numpy()


@pytest.mark.parametrize("name", sorted(VALUES))
def test_goes_on(models, name, capfd):
    model = tf.keras.models.load_model(os.path.join(models, name))
    assert int(model.optimizer.iterations) == 3
    np.testing.assert_allclose(train(model), VALUES[name], rtol=tolerance(name), atol=1e-6)
    assert "freshly initialized" not in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore:You are saving")
@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", sorted(name for name in VALUES if name.endswith("h5")))
def test_saved_again(models, name, ending, tmp_path):
    """What was loaded, saved here and loaded again still trains the same way."""
    path = str(tmp_path / ("model." + ending))
    tf.keras.models.load_model(os.path.join(models, name)).save(path)
    if ending == "keras" and name.startswith("old_"):  # Keras leaves out the state of legacy optimizers there
        assert int(tf.keras.models.load_model(path).optimizer.iterations) == 0
        return
    np.testing.assert_allclose(train(tf.keras.models.load_model(path)), VALUES[name], rtol=tolerance(name), atol=1e-6)


@pytest.mark.filterwarnings("ignore:You are saving")
def test_former_nadam_is_told_as_such(models, tmp_path):
    """TensorFlow takes a config for its former class if `is_legacy_optimizer` is missing, and its weights in the former order."""
    model = tf.keras.models.load_model(os.path.join(models, "old_nadam.h5"))
    assert list(model.optimizer.get_config()) == ["name", "learning_rate", "decay", "beta_1", "beta_2", "epsilon"]
    model.save(str(tmp_path / "m.keras"))
    with zipfile.ZipFile(str(tmp_path / "m.keras")) as archive:
        entry = json.loads(archive.read("config.json"))["compile_config"]["optimizer"]
    assert (entry["module"], entry["class_name"]) == ("keras.optimizers.legacy", "Nadam")
    model.save(str(tmp_path / "m.h5"))
    bytes_of_file = (tmp_path / "m.h5").read_bytes()
    assert b'"class_name": "Nadam"' in bytes_of_file and b"Custom>Nadam" not in bytes_of_file
    names = [b"Nadam/iter:0", b"Nadam/momentum_cache:0", b"Nadam/a/kernel/m:0", b"Nadam/b/kernel/m:0", b"Nadam/b/bias/m:0", b"Nadam/c/kernel/m:0",
             b"Nadam/a/kernel/v:0"]
    places = [bytes_of_file.find(name) for name in names]
    assert -1 not in places and places == sorted(places)


# What TensorFlow calls the node of an optimizer in the object graph: it looks for slot variables only in nodes of these names, and refuses a SavedModel that has some elsewhere.
@pytest.mark.parametrize("make,identifier", [(lambda: tf.keras.optimizers.legacy.Adam(0.1), b"optimizer"), (lambda: tf.keras.optimizers.Adam(0.1), b"experimentalOptimizer"),
                                             (lambda: tf.keras.optimizers.legacy.SGD(0.1, momentum=0.5), b"optimizer")])
def test_node_of_a_saved_model(tmp_path, make, identifier):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(make(), "mse")
    model.fit([[1.0, 2.0]], [[1.0]], verbose=0)
    model.save(tmp_path / "m", save_format="tf")
    with open(tmp_path / "m" / "saved_model.pb", "rb") as f:
        text = f.read()
    assert bytes([10, len(identifier)]) + identifier in text  # field 1 of a SavedUserObject
    assert tf.saved_model.load(str(tmp_path / "m")) is not None and tf.keras.models.load_model(tmp_path / "m").predict([[1.0, 2.0]], verbose=0).shape == (1, 1)
