"""Calls of tf.matmul, tf.nn, keras.activations and tf.random against what TensorFlow gave (tests/golden/api_nn.py), in order: random functions
depend on those before them."""
import json

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

with open(golden_file("api_nn", "api_nn.json")) as f:
    CASES = json.load(f)
TOLERANCE = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-12, "complex64": 2e-6}


def array(v):
    data = [complex(*x) for x in v["tensor"]] if v["dtype"].startswith("complex") else v["tensor"]
    return np.array(data, "float32" if v["dtype"] == "bfloat16" else v["dtype"]).reshape(v["shape"])


def value(v):
    if isinstance(v, dict):
        return tf.constant(array(v), dtype=v["dtype"]) if "tensor" in v else tf.as_dtype(v["dtype"])
    return v


def close(got, expected, tolerance):
    assert got.dtype.name == expected["dtype"] and got.shape.as_list() == expected["shape"]
    limit = TOLERANCE.get(expected["dtype"], 0) if tolerance is None else tolerance
    np.testing.assert_allclose(got.numpy(), array(expected), rtol=limit, atol=limit)


def replay(case):
    function = tf
    for part in case["path"].split("."):
        function = getattr(function, part)
    args, kwargs = [value(a) for a in case["args"]], {k: value(v) for k, v in case["kwargs"].items()}
    if "error" in case:
        kind = getattr(tf.errors, case["error"], None) or {"ValueError": ValueError, "TypeError": TypeError}[case["error"]]
        with pytest.raises(kind) as e:
            function(*args, **kwargs)
        assert case["text"] in str(e.value)
        return
    with tf.GradientTape() as tape:
        watched = [a for a in args + list(kwargs.values()) if tf.is_tensor(a) and a.dtype.is_floating]
        tape.watch(watched)
        result = function(*args, **kwargs)
        if "gradient" in case:
            weights = np.arange(1, int(np.prod(result.shape.as_list())) + 1).reshape(result.shape.as_list())
            total = tf.reduce_sum(result * tf.constant(weights, dtype=result.dtype))
    if case["result"] is None:
        assert result is None
    else:
        close(result, case["result"], case.get("tolerance"))
    if "gradient" in case:
        close(tape.gradient(total, watched[0]), case["gradient"], max(case.get("tolerance") or 0, 1e-5))


def seeds():
    tf.random.set_seed(5)
    tf.random.uniform([2], seed=11)


def functions():
    traced = tf.function(lambda: tf.random.uniform([2], seed=11))
    traced(), traced()


@pytest.mark.parametrize("before", [lambda: None, seeds, functions, lambda: tf.random.uniform([2], seed=11), lambda: tf.keras.utils.set_random_seed(3)])
def test_calls(before):
    """Whatever was called before: without a seed everything is as in a new process."""
    before()
    tf.random.set_seed(None)
    problems = []
    for number, case in enumerate(CASES):
        try:
            replay(case)
        except BaseException as e:
            problems.append("%d %s(%s, %s): %s: %s" % (number, case["path"], str(case["args"])[:60], case["kwargs"] if len(str(case["kwargs"])) < 80 else "…",
                                                  type(e).__name__, " ".join(str(e).split())[:300]))
    assert not problems, "\n" + "\n".join(problems)
