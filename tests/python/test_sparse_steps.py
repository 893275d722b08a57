"""Steps by gradients of gathered rows give TensorFlow's bits (tests/golden/sparse_steps.py)."""
import json

import pytest

import sparse_steps_cases as cases
from golden_files import golden_file
import thalweg as tf

with open(golden_file("sparse_steps", "sparse_steps.json")) as f:
    EXPECTED = json.load(f)


@pytest.mark.parametrize("key", EXPECTED)
def test_steps(key):
    name, how = key.split()
    assert cases.run(tf, name, how == "traced") == EXPECTED[key]
