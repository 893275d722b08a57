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
    return 1e-3 if name in ("old_rmsprop.h5", "old_rmsprop_centered.h5") else 2e-5  # docs/differences.md: epsilon


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
    np.testing.assert_allclose(train(tf.keras.models.load_model(path)), VALUES[name], rtol=tolerance(name), atol=1e-6)
