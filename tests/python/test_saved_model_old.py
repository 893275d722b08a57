"""SavedModels as older TensorFlows wrote them: slots of optimizers, metadata in other places (tests/golden/saved_model_old.py)."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "saved_model_old")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)
X = np.arange(12, dtype="float32").reshape(4, 3) / 10


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(os.path.join(GOLDEN, "models.zip")) as archive:
        archive.extractall(folder)
    return str(folder)


def contents(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {key: reader.get_tensor(key).tolist() for key in reader.get_variable_to_shape_map() if not key.startswith("_CHECKPOINTABLE")}


@pytest.mark.parametrize("name", sorted(VALUES))
def test_loads(models, name):
    model, wanted = tf.saved_model.load(os.path.join(models, name)), VALUES[name]
    np.testing.assert_allclose(model(X).numpy(), wanted["y"], rtol=1e-5, atol=1e-6)
    outputs = model.signatures["serving_default"].structured_outputs
    assert {key: [spec.shape.as_list(), spec.dtype.name, spec.name] for key, spec in outputs.items()} == wanted["specs"]
    assert all(isinstance(spec, tf.TensorSpec) for spec in outputs.values())


@pytest.mark.parametrize("name", [name for name in sorted(VALUES) if name.startswith("slots_")])
def test_slots_survive(models, name, tmp_path):
    """Loaded and saved again, every slot stands under its key with its value."""
    tf.saved_model.save(tf.saved_model.load(os.path.join(models, name)), str(tmp_path / "again"))
    assert contents(str(tmp_path / "again" / "variables" / "variables")) == VALUES[name]["variables"]


@pytest.mark.parametrize("name", ["inside", "custom", *(name for name in sorted(VALUES) if name.startswith("slots_"))])
def test_keras(models, name):
    model = tf.keras.models.load_model(os.path.join(models, name))
    np.testing.assert_allclose(model(X).numpy(), VALUES[name]["y"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.predict(X, verbose=0), VALUES[name]["y"], rtol=1e-5, atol=1e-6)
    if "layers" in VALUES[name]:
        assert [layer.name for layer in model.layers] == VALUES[name]["layers"]
    if "loaded" in VALUES[name]:
        model.fit(X, X[:, :2], epochs=3, verbose=0, shuffle=False)
        np.testing.assert_allclose(model(X).numpy(), VALUES[name]["loaded"], rtol=1e-5, atol=1e-6)


def test_unknown_layers_are_layers(models):
    model = tf.keras.models.load_model(os.path.join(models, "custom"))
    first, twice = model.layers
    np.testing.assert_allclose(twice(first(X)).numpy(), VALUES["custom"]["y"], rtol=1e-5, atol=1e-6)
    assert len(first.weights) == 2 and len(twice.weights) == 1 and len(model.weights) == 3
    assert model.get_layer("twice") is twice


def test_without_metadata(models, tmp_path):
    with pytest.raises(ValueError, match="lacks the Keras metadata file"):
        tf.keras.models.load_model(os.path.join(models, "bare"))
    module = tf.Module()
    module.v = tf.Variable(3.0)
    tf.saved_model.save(module, str(tmp_path))
    assert float(tf.keras.models.load_model(str(tmp_path)).v) == 3
