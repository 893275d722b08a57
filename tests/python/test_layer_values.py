"""Recurrent layers, attention, padding, normalization …: values, gradients, configs and names as TensorFlow's (tests/golden/layer_values.py)."""
import json

import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

import layer_cases

EXPECTED = json.load(open(golden_file("layer_values", "layer_values.json")))


def same(got, expected):
    assert (got is None) == (expected is None)
    if got is not None:
        assert got["shape"] == expected["shape"]
        np.testing.assert_allclose(got["values"], expected["values"], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", list(EXPECTED))
def test_layer(name):
    got, expected = layer_cases.run(tf, name), EXPECTED[name]
    assert len(got["outputs"]) == len(expected["outputs"])
    for a, b in zip(got["outputs"], expected["outputs"]):
        same(a, b)
    assert got["names"] == expected["names"]
    assert got["losses"] == expected["losses"]
    np.testing.assert_allclose(got["loss"], expected["loss"], rtol=2e-4, atol=2e-5)
    assert len(got["gradients"]) == len(expected["gradients"])
    for a, b in zip(got["gradients"], expected["gradients"]):
        same(a, b)
    assert got["config"] == expected["config"]
    assert got.get("output_shape") == expected.get("output_shape")


@pytest.mark.parametrize("name", [n for n in EXPECTED if "stateful" not in n])
def test_traced(name):
    """The same in a function, with a batch and a length that are not known."""
    make, shape, extra = layer_cases.cases(tf)[name]
    layer = make()
    count = extra.get("inputs", extra.get("split", 1))
    inputs = [tf.constant(layer_cases.fill(shape, i)) for i in range(count)]
    spread = "split" in extra

    def apply(*x):
        return layer_cases.flat(layer(*x, **extra.get("call", {})) if spread else layer(list(x) if count > 1 else x[0], **extra.get("call", {})))

    wanted = apply(*inputs)
    recurrent = len(shape) == 3 and "unroll" not in name and "relu" not in name and not extra.get("call") and count == 1
    loose = any(part in name for part in ("lstm", "gru", "simple", "rnn", "bidirectional")) and recurrent
    specs = [tf.TensorSpec([None, None, shape[2]] if loose and "time_major" not in name else [None] + list(shape[1:]), tf.float32)] * count
    traced = tf.function(apply, input_signature=specs)
    for a, b in zip(traced(*inputs), wanted):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
