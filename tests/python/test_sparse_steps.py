"""Steps by gradients of gathered rows give TensorFlow's bits (tests/golden/sparse_steps.py)."""
import json
import os

import pytest

import sparse_steps_cases as cases
import thalweg as tf

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sparse_steps.json")) as f:
    EXPECTED = json.load(f)


@pytest.mark.parametrize("key", EXPECTED)
def test_steps(key):
    name, how = key.split()
    assert cases.run(tf, name, how == "traced") == EXPECTED[key]
