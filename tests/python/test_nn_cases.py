"""Calls of tf.nn and its kin against what TensorFlow gave (tests/golden/nn_cases.py): values and gradients eagerly, traced, and traced with unknown shapes."""
import builtins
import json

import numpy as np
import pytest

import nn_cases
import thalweg as tf
from golden_files import golden_file

with open(golden_file("nn_cases", "nn_cases.json")) as f:
    EXPECTED = json.load(f)
LIMIT = {"float32": 2e-5, "float16": 2e-3, "float64": 1e-9}


def close(got, expected):
    assert list(got.shape) == expected["shape"] and got.dtype.name == expected["dtype"]
    if got.dtype == object:
        assert [v.decode() for v in got.reshape(-1)] == expected["values"]
        return
    wanted = np.array([float(v) if isinstance(v, str) else v for v in expected["values"]], got.dtype).reshape(got.shape)
    limit = LIMIT.get(got.dtype.name, 0)
    np.testing.assert_allclose(got, wanted, rtol=limit, atol=limit * max(1, np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(initial=0)))


def test_all_are_compared():
    assert set(EXPECTED) == set(nn_cases.CASES)


@pytest.mark.parametrize("how", ["eager", "traced", "unknown"])
@pytest.mark.parametrize("text", nn_cases.CASES)
def test_case(text, how):
    if (how == "unknown" and text.startswith("known ")) or (how != "eager" and text.startswith("eager ")):
        return
    inputs, expected = nn_cases.CASES[text], EXPECTED[text]
    if "error" in expected:
        kind = getattr(tf.errors, expected["error"], None) or getattr(builtins, expected["error"])
        with pytest.raises(kind if how == "eager" else (kind, ValueError)):
            nn_cases.run(tf, text, inputs, how)
        return
    outputs, gradients = nn_cases.run(tf, text, inputs, how)
    assert len(outputs) == len(expected["outputs"]) and len(gradients) == len(expected["gradients"])
    for got, wanted in zip(outputs + gradients, expected["outputs"] + expected["gradients"]):
        close(got, wanted)
