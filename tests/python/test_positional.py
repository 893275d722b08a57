"""Calls by position mean what they mean in TensorFlow: positional_cases.py against tests/golden/positional.py."""
import json

import numpy as np
import pytest

import positional_cases as cases
import thalweg as tf
from golden_files import golden_file

with open(golden_file("positional", "positional.json"), encoding="utf-8") as _file:
    EXPECTED = json.load(_file)


@pytest.mark.parametrize("name, function", cases.CASES, ids=[name for name, _ in cases.CASES])
def test_a_call_gives_what_tensorflow_gives(name, function):
    expected, found = EXPECTED[name], cases.outcome(tf, function)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for a, b in zip(expected, found):
            numbers = isinstance(a, (list, float)) and isinstance(b, (list, float))
            assert np.allclose(a, b, atol=2e-5) if numbers else a == b
    else:
        assert found == expected
