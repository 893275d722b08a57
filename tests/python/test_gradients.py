"""Gradients of every order, of every kind of call, against TensorFlow's (gradients.json, made by tests/golden/gradients.py) and against
finite differences."""
import json

import numpy as np
import pytest

import gradient_cases
from golden_files import golden_file
import thalweg as tf

with open(golden_file("gradients", "gradients.json")) as f:
    EXPECTED = json.load(f)


@pytest.mark.parametrize("name", sorted(gradient_cases.CASES))
def test_case(name):
    found, expected = gradient_cases.flat(gradient_cases.CASES[name](tf)), EXPECTED[name]
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        if not isinstance(b, dict):
            assert a == b
            continue
        assert a["shape"] == b["shape"]
        np.testing.assert_allclose(a["values"], b["values"], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("f", (gradient_cases.loop, gradient_cases.branch, gradient_cases.mixed), ids=lambda f: f.__name__)
def test_finite_differences(f):
    """Each derivative is the slope of the one before."""
    function = tf.function(lambda x: f(tf, x), autograph=False)
    step = 1e-3
    for order in range(3):
        low, here, high = (gradient_cases.derivatives(tf, function, tf.constant(0.7 + d), order + 1) for d in (-step, 0.0, step))
        slope = (float(high[order]) - float(low[order])) / (2 * step)
        assert abs(slope - float(here[order + 1])) < 2e-3 * max(1.0, abs(slope)) * 10 ** (order // 2)
