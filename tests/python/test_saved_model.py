"""SavedModels: those that TensorFlow wrote are loaded and compute what they did there (tests/golden/saved_model.py); ours survive a round trip."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "saved_model")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(os.path.join(GOLDEN, "models.zip")) as archive:
        archive.extractall(folder)
    return str(folder)


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.numpy().tolist()


def test_module():
    module, x = tf.saved_model.load(os.path.join(GOLDEN, "module")), tf.constant(VALUES["module"]["x"])
    steps = int(module.steps)
    assert plain(module(x)) == VALUES["module"]["y"]
    assert int(module.steps) == steps + 1
    signature = module.signatures["serving_default"]
    assert plain(signature(x=x)) == {"output_0": VALUES["module"]["y"]}
    assert signature.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], tf.float32, name="x")})
    assert module.w.trainable and not module.steps.trainable
    assert module(np.float32([[1, 1]])).shape == (1, 2)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        module(tf.constant(["text"]))
    with pytest.raises(TypeError):
        module(x, x)


def test_training_goes_on():
    module, x = tf.saved_model.load(os.path.join(GOLDEN, "module")), tf.constant(VALUES["module"]["x"])
    losses = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(module(x) ** 2)
        losses.append(float(loss))
        for variable, gradient in zip([module.w, module.b], tape.gradient(loss, [module.w, module.b])):
            variable.assign_sub(0.01 * gradient)
    assert losses[0] > losses[1] > losses[2]


def test_structures(models):
    module, expected = tf.saved_model.load(os.path.join(models, "nested")), VALUES["nested"]
    data = {"a": tf.constant([1.0, 2.0]), "b": [tf.constant(3.0), tf.constant(4.0)]}
    assert plain(module.combine(data)) == expected["plain"]
    assert plain(module.combine(data, 3)) == plain(module.combine(data, factor=3)) == expected["three"]
    assert plain(module.combine(data, offset=tf.constant([1.0, 1.0]))) == expected["offset"]
    assert [plain(module.count(tf.constant(n))) for n in (2, 10, 20)] == expected["count"]
    assert plain(module.plus(tf.constant(1.0), tf.constant(2.0), z=tf.constant(3.0))) == expected["plus"]
    assert plain(module.parts) == [1.0, [2.0, 3.0]] and plain(module.pair) == [6.0, 7.0]
    assert float(module.by_name["first"]) == 4 and float(module.by_name["second"].inner) == 5
    assert module.same is module.by_name["second"]

    @tf.function
    def outer(x):
        return module.combine({"a": x, "b": [x[0], x[1]]})["sum"] * 2
    assert plain(outer(tf.constant([1.0, 2.0]))) == [6.0, 10.0]


@pytest.mark.parametrize("name", ["mlp", "cnn", "text", "lstm", "net"])
def test_keras_models(models, name):
    model, x, y = tf.saved_model.load(os.path.join(models, name)), tf.constant(VALUES[name]["x"]), np.float32(VALUES[name]["y"])
    np.testing.assert_allclose(model(x).numpy(), y, rtol=1e-5, atol=1e-6)
    results = model.signatures["serving_default"](x)
    assert len(results) == 1
    np.testing.assert_allclose(list(results.values())[0].numpy(), y, rtol=1e-5, atol=1e-6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x, training=True))
    assert all(g is not None for g in tape.gradient(loss, model.trainable_variables))


def test_what_is_not_there(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        tf.saved_model.load(str(tmp_path))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    assert tf.saved_model.contains_saved_model(os.path.join(GOLDEN, "module"))
    with pytest.raises(RuntimeError, match="MetaGraphDef associated with tags 'train' could not be found"):
        tf.saved_model.load(os.path.join(GOLDEN, "module"), tags="train")
    assert plain(tf.saved_model.load(os.path.join(GOLDEN, "module"), tags=["serve"]).b) == [0.5, -0.5]
