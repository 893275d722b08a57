"""Estimators give what TensorFlow's give (tests/golden/estimators.py), and say what they can't do."""
import json

import numpy as np
import pytest

from golden_files import golden_file
import estimator_cases
import thalweg as tf

with open(golden_file("estimators", "estimators.json")) as f:
    EXPECTED = json.load(f)


def alike(found, expected):
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected)
        for key in expected:
            alike(found[key], expected[key])
    elif isinstance(expected, list) and any(isinstance(inner, (list, dict, str)) for inner in expected):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected):
            alike(mine, theirs)
    elif isinstance(expected, str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", EXPECTED)
def test_case(name):
    alike(json.loads(json.dumps(estimator_cases.CASES[name](tf))), EXPECTED[name])


@pytest.mark.parametrize("make", [lambda c: tf.estimator.DNNRegressor([8], c, optimizer=lambda: tf.compat.v1.train.AdamOptimizer(.05)),
                                  lambda c: tf.estimator.DNNLinearCombinedRegressor(dnn_feature_columns=c, dnn_hidden_units=[8], linear_feature_columns=c)])
def test_networks_learn(make):
    columns = [c for c in estimator_cases.columns(tf) if hasattr(c, "variable_shape")]
    estimator = make(columns)
    estimator.train(estimator_cases.arrays(tf, estimator_cases.Y, None), steps=5)
    before = estimator.evaluate(estimator_cases.arrays(tf, estimator_cases.Y))["loss"]
    estimator.train(estimator_cases.arrays(tf, estimator_cases.Y, None), steps=100)
    assert estimator.evaluate(estimator_cases.arrays(tf, estimator_cases.Y))["loss"] < before


def test_classifier_with_words():
    columns = [c for c in estimator_cases.columns(tf) if hasattr(c, "variable_shape")]
    estimator = tf.estimator.DNNClassifier([4], columns, n_classes=3, label_vocabulary=["a", "b", "c"])
    estimator.train(estimator_cases.arrays(tf, estimator_cases.WORDS, None), steps=3)
    assert next(estimator.predict(estimator_cases.arrays(tf, None)))["classes"][0] in (b"a", b"b", b"c")


def test_keras_model(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="out")])
    model.compile(tf.keras.optimizers.SGD(.1), "mse", metrics=["mae"])
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))

    def data():
        return tf.data.Dataset.from_tensor_slices((estimator_cases.X, estimator_cases.Y)).batch(4).repeat(3)
    first = estimator.evaluate(data)
    estimator.train(data, steps=7)
    found = estimator.evaluate(data)
    assert found["global_step"] == 7 and found["loss"] < first["loss"] and "mae" in found
    assert set(next(estimator.predict(data))) == {"out"} and estimator.latest_checkpoint().endswith("model.ckpt-7")


@pytest.mark.parametrize("call, kind, words", [
    (lambda e: e.EstimatorSpec("train", loss=None), ValueError, "Missing loss."),
    (lambda e: e.EstimatorSpec("train", loss=tf.constant(1.)), ValueError, "Missing train_op."),
    (lambda e: e.EstimatorSpec("infer"), ValueError, "Missing predictions."),
    (lambda e: e.Estimator(None), ValueError, "model_fn must be provided"),
    (lambda e: e.Estimator(lambda labels: None), ValueError, "must include features argument"),
    (lambda e: e.Estimator(lambda features: None).evaluate(lambda: 1), ValueError, "Could not find trained model"),
    (lambda e: e.Estimator(lambda features: None).train(lambda: 1, steps=1, max_steps=2), ValueError, "Can not provide both"),
    (lambda e: e.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=2), ValueError, "cannot be both set"),
    (lambda e: e.LinearClassifier([], n_classes=1), ValueError, "n_classes must be > 1"),
    (lambda e: tf.compat.v1.estimator.inputs.numpy_input_fn({"x": estimator_cases.X}), ValueError, "shuffle must be provided"),
])
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call(tf.estimator)
