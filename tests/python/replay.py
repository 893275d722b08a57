"""Replays of what Python expressions gave in TensorFlow (tests/golden/expressions.py): values by their text, exceptions by class and text."""
import importlib.util
import json
import os

import pytest

import printed
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "..", "golden", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_golden = _load("expressions")


def test_of(name, own_setup=False):
    """The test of the expressions in NAME.json. own_setup: what they need besides is SETUP of tests/golden/NAME.py."""
    setup = _load(name).SETUP if own_setup else ""
    with open(golden_file(name, name + ".json")) as file:
        cases = json.load(file)

    @pytest.mark.parametrize("case", cases, ids=[c["expression"][:60] for c in cases])
    def test_expression(case):
        got = _golden.answer(case["expression"], tf, setup)
        if "value" in case:
            printed.check(got.get("value", got), case["value"])
        else:
            assert got.get("error", got) == case["error"]
            assert got["text"] == case["text"]
    return test_expression
