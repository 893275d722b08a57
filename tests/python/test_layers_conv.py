"""Layers and functions of convolution, pooling and normalization against what TensorFlow gave (tests/golden/layers_conv.py): values, gradients,
weights' names and first values, configs, shapes, errors; and a model that learns and reads TensorFlow's checkpoint."""
import json
import os
import re
import shutil

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
L = tf.keras.layers
with open(golden_file("layers_conv", "layers_conv.json")) as f:
    DATA = json.load(f)


def values(*shape):
    return (np.round(np.sin(np.arange(np.prod(shape)) * 0.7 + 0.3) * 2, 2) + np.arange(np.prod(shape)) % 5 / 10).astype(np.float32).reshape(shape)


INPUTS = {"image": values(2, 6, 5, 3), "volume": values(1, 4, 5, 4, 2), "sequence": values(2, 7, 3), "matrix": values(6, 3), "indices": np.array([[1, 2, 4], [0, 0, 3]])}
NAMES = {"tf": tf, "L": L, "np": np, "values": values, "x": INPUTS["image"], "s": INPUTS["sequence"], "w": values(3, 2, 3, 4) / 2}


def close(got, expected, limit=2e-5):
    got = np.asarray(got)
    assert list(got.shape) == expected["shape"] and got.dtype.name == expected["dtype"]
    limit = 2e-3 if got.dtype == np.float16 else limit
    np.testing.assert_allclose(got, np.array(expected["values"]).reshape(expected["shape"]), rtol=limit, atol=limit)


def plain(v):
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items() if k != "name"}
    return [plain(x) for x in v] if isinstance(v, (list, tuple)) else v


@pytest.mark.parametrize("case", DATA["layers"], ids=lambda c: "%s-%s-%s" % (c["make"], c["input"], c["training"]))
def test_layer(case):
    tf.keras.utils.set_random_seed(5)
    made = eval(case["make"], NAMES)
    x = tf.constant(INPUTS[case["input"]])
    call = (lambda: made(x)) if case["training"] is None else (lambda: made(x, training=case["training"]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call()
        loss = tf.reduce_sum(tf.cast(y, tf.float64) ** 2)
    sources = ([x] if x.dtype.is_floating else []) + made.trainable_weights
    gradients = tape.gradient(loss, sources)
    close(y, case["outputs"][0])
    close(call(), case["outputs"][1])
    assert [(w.name.split("/")[-1], w.trainable) for w in made.weights] == [(w["name"], w["trainable"]) for w in case["weights"]]
    for w, expected in zip(made.weights, case["weights"]):
        close(w.numpy(), expected, 2e-6)
    for g, expected in zip(gradients, case["gradients"], strict=True):
        close(tf.convert_to_tensor(g), expected, 2e-3)
    assert plain(made.get_config()) == case["config"]
    assert list(made.compute_output_shape([None] + list(INPUTS[case["input"]].shape[1:]))) == case["output_shape"]
    again = plain(type(made).from_config(made.get_config()).get_config())
    if isinstance(made, tf.keras.layers.BatchNormalization):
        again["axis"] = case["config"]["axis"]  # becomes a list when it is built
    assert again == case["config"]


@pytest.mark.parametrize("case", DATA["calls"], ids=lambda c: c["call"])
def test_call(case):
    result = eval(case["call"], NAMES)
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    for got, expected in zip(results, case["result"], strict=True):
        close(got, expected)


@pytest.mark.parametrize("case", DATA["errors"], ids=lambda c: c["call"])
def test_error(case):
    kind = getattr(tf.errors, case["error"], None) or {"ValueError": ValueError, "TypeError": TypeError}[case["error"]]
    with pytest.raises(kind) as e:
        eval(case["call"], NAMES)
    numbered = re.compile(r"_\d+\b")  # how many layers there were before
    assert numbered.sub("", case["text"].split(" allowed values")[0]) in numbered.sub("", str(e.value))


@pytest.mark.parametrize("case", DATA["first"], ids=lambda c: c["make"])
def test_channels_first(case):
    made, rest = eval(case["make"], NAMES), tuple(case["shape"][1:])
    assert list(made.compute_output_shape((None,) + rest)) == case["output_shape"]
    made.build((None,) + rest)
    assert [[w.name.split("/")[-1], list(w.shape)] for w in made.weights] == case["weights"]
    assert plain(made.get_config()) == case["config"]
    if "values" in case:
        assert list(made(tf.keras.Input(rest)).shape) == case["symbolic"]
        made.set_weights([values(*w.shape) for w in made.weights])
        close(made(values(*case["shape"])), case["values"])


def small_model():
    tf.keras.utils.set_random_seed(9)
    return tf.keras.Sequential([L.Conv2D(4, 3, activation="relu", input_shape=(6, 5, 3)), L.BatchNormalization(momentum=0.8), L.MaxPool2D(), L.Dropout(0.3, seed=3),
                                L.Flatten(), L.Dense(5)])


def test_training_and_checkpoint(tmp_path):
    model, optimizer = small_model(), tf.keras.optimizers.Adam(0.01)
    tf.keras.utils.set_random_seed(9)
    assert [v.name.split("/")[-1] for v in model.weights] == [n.split("/")[-1] for n in DATA["training"]["names"]]
    x, y = INPUTS["image"], np.array([1, 4])
    for expected in DATA["training"]["losses"]:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True), from_logits=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        assert abs(float(loss) - expected) <= 1e-4 * max(1, abs(expected))
    close(model(x), DATA["training"]["prediction"], 1e-4)
    for name in os.listdir(os.path.join(HERE, "..", "golden", "layers_conv")):
        shutil.copy(os.path.join(HERE, "..", "golden", "layers_conv", name), tmp_path)
    other = small_model()
    status = tf.train.Checkpoint(model=other, optimizer=tf.keras.optimizers.Adam(0.01)).read(str(tmp_path / "model"))
    status.assert_existing_objects_matched()
    close(other(x), DATA["training"]["prediction"])
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "own"))
    third = small_model()
    tf.train.Checkpoint(model=third).read(path).assert_consumed()
    np.testing.assert_array_equal(third(x).numpy(), model(x).numpy())
    names = {n for n, _ in tf.train.list_variables(path)}
    assert {"model/layer_with_weights-1/%s/.ATTRIBUTES/VARIABLE_VALUE" % n for n in ("gamma", "beta", "moving_mean", "moving_variance")} <= names
