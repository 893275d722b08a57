"""Tensors, variables, random generators, ragged tensors and strings give what they give in TensorFlow (tests/golden/basics.py)."""
import importlib.util
import json
import os

import pytest

import printed
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("expressions", os.path.join(HERE, "..", "golden", "expressions.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

with open(golden_file("basics", "basics.json")) as f:
    CASES = json.load(f)


@pytest.mark.parametrize("case", CASES, ids=["%s-%s" % (c["group"], c["expression"][:60]) for c in CASES])
def test_expression(case):
    got = golden.answer(case["expression"], tf)
    if "value" in case:
        printed.check(got.get("value", got), case["value"])
    else:
        assert got.get("error", got) == case["error"]
        assert got["text"] == case["text"]
