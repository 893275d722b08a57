"""Replays of what Python expressions gave in TensorFlow (tests/golden/expressions.py): values by their text, exceptions by class and text."""
import importlib.util
import json
import os

import pytest

import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("expressions", os.path.join(HERE, "..", "golden", "expressions.py"))
_golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_golden)


def test_of(name):
    """The test of the expressions in NAME.json."""
    with open(os.path.join(HERE, name + ".json")) as file:
        cases = json.load(file)

    @pytest.mark.parametrize("case", cases, ids=[c["expression"][:60] for c in cases])
    def test_expression(case):
        got = _golden.answer(case["expression"], tf)
        if "value" in case:
            assert got.get("value", got) == case["value"]
        else:
            assert got.get("error", got) == case["error"]
            assert got["text"] == case["text"]
    return test_expression
