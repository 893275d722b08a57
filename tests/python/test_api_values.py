"""Functions called as users call them, against TensorFlow's results (api_values.json, made by tests/golden/api_values.py)."""
import importlib.util
import json
import os

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("api_values", os.path.join(HERE, "..", "golden", "api_values.py"))
_golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_golden)
with open(golden_file("api_values", "api_values.json")) as file:
    CASES = json.load(file)
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}


def array(t):
    values = [complex(float(v[0]), float(v[1])) if isinstance(v, list) else v for v in t["values"]]
    if t["dtype"] in ("string", "object"):
        return values
    kind = "float32" if t["dtype"] == "bfloat16" else t["dtype"]
    return np.array([float(v) if isinstance(v, str) else v for v in values], kind)


@pytest.mark.parametrize("family,expression,expected", CASES, ids=["%s-%s" % (c[0], c[1][:80]) for c in CASES])
def test_value(family, expression, expected):
    got = _golden.answer(expression, tf)
    if "error" in expected:
        assert got.get("error", got) == expected["error"], got
        return
    assert "value" in got, got
    assert len(got["value"]) == len(expected["value"])
    for mine, theirs in zip(got["value"], expected["value"]):
        if "plain" in theirs:
            assert mine == theirs
            continue
        assert (mine["dtype"], mine["shape"]) == (theirs["dtype"], theirs["shape"])
        limit = TOLERANCE.get(theirs["dtype"])
        if limit is None:
            assert mine["values"] == theirs["values"]
        else:
            np.testing.assert_allclose(array(mine), array(theirs), rtol=limit, atol=limit, equal_nan=True)


def test_every_expression_is_there():
    assert [c[:2] for c in CASES] == [list(e) for e in _golden.expressions()]
