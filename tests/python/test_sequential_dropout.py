"""Dropout inside Sequential models keeps the elements that TensorFlow keeps (sequential_dropout.json, made by tests/golden/sequential_dropout.py)."""
import json
import os
import sys

import pytest
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import sequential_dropout  # noqa: E402

with open(golden_file("sequential_dropout", "sequential_dropout.json")) as file:
    ROWS = json.load(file)


@pytest.mark.parametrize("model, traced, first, expected", ROWS)
def test_kept(model, traced, first, expected):
    assert sequential_dropout.kept(tf, model, traced, first) == expected
