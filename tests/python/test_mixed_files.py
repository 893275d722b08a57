"""Models with mixed precision in every format: TensorFlow's are read, ours come back (golden data: tests/golden/mixed_files.py)."""
import json

import mixed_model
import numpy as np
import pytest
import thalweg as tf
from golden_files import golden_file

EXPECTED = json.load(open(golden_file("mixed_files", "expected.json")))


def loaded(name, path):
    if name not in ("only.weights.h5", "values"):
        return tf.keras.models.load_model(path)
    model = mixed_model.made(tf)
    mixed_model.fit(model)
    model.load_weights(path)
    return model


def check(model, name, expected=EXPECTED, near=2e-3):
    optimizer = model.optimizer
    assert [layer.dtype_policy.name for layer in model.layers] == ["mixed_float16", "mixed_float16", "float32"]
    assert type(optimizer).__name__ == "LossScaleOptimizerV3" and float(optimizer.loss_scale) == 64 and type(optimizer.inner_optimizer).__name__ == "Adam"
    assert [w.dtype.name for w in model.weights] == ["float32"] * 8
    assert np.allclose(model.predict(mixed_model.X, verbose=0), expected["predictions"], atol=near)
    if name != "saved_model":  # which does not keep the optimizer's state, in TensorFlow too
        assert int(optimizer.iterations) == 2
        assert np.allclose(mixed_model.fit(model), expected["losses"], rtol=near)


@pytest.mark.parametrize("name", mixed_model.FILES)
def test_tensorflows(name):
    check(loaded(name, golden_file("mixed_files", name)), name)


@pytest.mark.parametrize("name", mixed_model.FILES)
def test_ours(name, tmp_path):
    path = str(tmp_path / name)
    model = mixed_model.trained(tf)
    mixed_model.save(model, path)
    expected = {"predictions": model.predict(mixed_model.X, verbose=0), "losses": mixed_model.fit(model)}
    check(loaded(name, path), name, expected, 1e-5)


def test_state_of_the_scale_is_in_checkpoints(tmp_path):
    model = mixed_model.trained(tf)
    path = tf.train.Checkpoint(o=model.optimizer).save(str(tmp_path / "c"))
    names = {name for name, _ in tf.train.list_variables(path)}
    assert {"o/loss_scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE", "o/loss_scale/good_steps/.ATTRIBUTES/VARIABLE_VALUE",
            "o/_iterations/.ATTRIBUTES/VARIABLE_VALUE", "o/_variables/1/.ATTRIBUTES/VARIABLE_VALUE"} <= names
    other = mixed_model.made(tf)
    mixed_model.fit(other)
    tf.train.Checkpoint(o=other.optimizer).restore(path).expect_partial()
    assert int(other.optimizer.dynamic_counter) == int(model.optimizer.dynamic_counter) == 2
