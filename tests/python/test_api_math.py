"""tf.add, tf.math.log, tf.cast …: signatures and results as TensorFlow's (api_math.json, made by tests/golden/api_math.py)."""
import builtins
import inspect
import json

import pytest

from golden_files import golden_file
import thalweg as tf
from test_op_cases import array, back, close, flatten, tensor

with open(golden_file("api_math", "api_math.json")) as f:
    DATA = json.load(f)


def find(name):
    out = tf
    for part in name.split("."):
        out = getattr(out, part)
    return out


def value(v):
    if isinstance(v, dict):
        if "dtype" in v:
            return tf.as_dtype(v["dtype"])
        return array(v["tensor"]) if "tensor" in v else complex(*v["complex"])
    return [value(x) for x in v] if isinstance(v, list) else v


@pytest.mark.parametrize("name", sorted(DATA["signatures"]))
def test_signature(name):
    parameters = inspect.signature(find(name)).parameters.values()
    ours = [[p.name, None if p.default is p.empty else repr(p.default)] for p in parameters]
    assert ours == DATA["signatures"][name]


@pytest.mark.parametrize("call", DATA["calls"], ids=["%d-%s" % (i, c["name"]) for i, c in enumerate(DATA["calls"])])
def test_call(call):
    args, kwargs = [value(a) for a in call["args"]], {k: value(v) for k, v in call["kwargs"].items()}
    if "error" in call:
        kind = call["error"][-1]
        with pytest.raises(getattr(tf.errors, kind, None) or getattr(builtins, kind)):
            find(call["name"])(*args, **kwargs)
        return
    results = flatten(find(call["name"])(*args, **kwargs))
    assert len(results) == len(call["results"])
    for got, expected in zip(results, call["results"]):
        assert got.dtype.name == expected["dtype"] and got.shape.as_list() == expected["shape"]
        close(back(got), array(expected), expected["dtype"], None)


def test_gradients_go_through():
    x = tf.identity(tensor({"dtype": "float32", "shape": [2], "values": [3.0, 4.0]}))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.clip_by_norm(x, 1.0)
    g = tape.gradient(y, x)
    close(g.numpy(), [0.032, -0.024], "float32", 1e-5)


def test_all_of_nothing_is_true():
    whole = tf.reduce_all(tf.constant([], tf.bool)).numpy()
    rows = tf.reduce_all(tf.zeros([3, 0], tf.bool), axis=1).numpy()
    assert whole.view("uint8") == 1 and rows.view("uint8").tolist() == [1, 1, 1]
