"""Keras where features meet: masks, weights, structures, states. Results are TensorFlow's (tests/golden/tables.py)."""
import importlib
import json
import os

import pytest
import table
import thalweg as tf

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULES = ["mask_loss_cases"]
EXPECTED = {module: json.load(open(os.path.join(FOLDER, module + ".json"))) for module in MODULES}
CASES = {module: importlib.import_module(module).cases(tf) for module in MODULES}


@pytest.mark.parametrize("module,name", [(module, name) for module in MODULES for name in EXPECTED[module]])
def test_case(module, name):
    got, expected = table.run(CASES[module][name]), EXPECTED[module][name]
    assert table.same(got, expected), "got %s, expected %s" % (got, expected)
