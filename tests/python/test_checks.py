"""The programs of checks_cases.py give what they give in TensorFlow 2.15.1: values, and errors with their whole texts."""
import json

import numpy as np
import pytest

import checks_cases
from golden_files import golden_file
import thalweg as tf
from checks_values import outcome

with open(golden_file("checks", "checks.json")) as _file:
    EXPECTED = json.load(_file)


def same(got, expected):
    if isinstance(expected, dict) and "dtype" in expected and isinstance(got, dict) and "dtype" in got:
        if expected["dtype"].startswith(("float", "bfloat")):
            floats = [[float(v) for v in side["values"]] for side in (got, expected)]
            return got["dtype"] == expected["dtype"] and got["shape"] == expected["shape"] and np.allclose(floats[0], floats[1], 1e-5, 1e-6, equal_nan=True)
        return got == expected
    if isinstance(expected, dict):
        return isinstance(got, dict) and sorted(got) == sorted(expected) and all(same(got[k], expected[k]) for k in expected)
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(same(a, b) for a, b in zip(got, expected))
    return got == expected


@pytest.mark.parametrize("name", sorted(checks_cases.CASES))
def test_case(name):
    got = json.loads(json.dumps(outcome(tf, checks_cases.CASES[name])))
    assert same(got, EXPECTED[name]), "got %s\nexpected %s" % (json.dumps(got, indent=1), json.dumps(EXPECTED[name], indent=1))
