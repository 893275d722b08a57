"""The programs of control_cases.py, debugging_cases.py, function_cases.py and raw_cases.py give what they give in TensorFlow 2.15.1: values, or errors of the same class whose texts
begin alike (up to names of nodes and descriptions of tensors)."""
import json
import re

import numpy as np
import pytest

import control_cases
import debugging_cases
import function_cases
import raw_cases
from golden_files import golden_file
import thalweg as tf
from control_values import outcome

with open(golden_file("control", "control.json")) as _file:
    EXPECTED = json.load(_file)

# Errors that in TensorFlow come from somewhere else by accident, or only when the graph runs: here a class and text of their own.
OWN = {
    "graph cond_structure": TypeError, "graph cond_count": TypeError, "graph switch_structure": TypeError,
    "eager case_empty": ValueError, "graph case_empty": ValueError, "eager case_not_bool": TypeError, "eager case_not_callable": TypeError,
    "eager map_not_callable": TypeError, "graph map_not_callable": TypeError, "eager scan_not_callable": TypeError,
    "graph scan_not_callable": TypeError, "eager fold_not_callable": TypeError, "graph fold_not_callable": TypeError,
    "eager scan_scalar": ValueError, "graph scan_scalar": ValueError, "eager fold_scalar": ValueError, "graph fold_scalar": ValueError,
    "graph while_cond_number": TypeError, "graph while_cond_vector": TypeError, "eager while_single": None,
    "graph cond_number": None, "graph while_wrong_invariant": ValueError,
}
# Of these only the class is compared: the text lists what TensorFlow's own machinery calls things.
CLASS_ONLY = ("check_numerics(i", "map_dtype", "assert_rank(x, 1.5)", "assert_near(x, x + 0.1, atol", "assert_near_bad", "array_negative",
              "assert_shapes({'a': 3})", "case_not_exclusive", "array_dtype", "concrete_missing", "assert_rank_in(x, (0, 1))", "('N',))])")

NAMES = sorted(EXPECTED)
CASES = {mode + " " + name: (case, mode) for module in (control_cases, debugging_cases, function_cases, raw_cases)
         for mode, cases in (("eager", module.EAGER), ("graph", module.GRAPH)) for name, case in cases.items()}


def close(got, expected):
    if isinstance(expected, dict) and "dtype" in expected:
        assert got["dtype"] == expected["dtype"] and got["shape"] == expected["shape"]
        if expected["dtype"] == "string":
            assert got["values"] == expected["values"]
        else:
            np.testing.assert_allclose(got["values"], expected["values"], rtol=1e-6)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            close(got[key], expected[key])
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for g, e in zip(got, expected):
            close(g, e)
    else:
        assert got == expected


def words(text):
    """A text up to what describes tensors and structures; names of nodes left out."""
    text = text.split("\n\nFirst structure")[0].split("\n\ntrue_fn output")[0].split("\n\nbranches[0] output")[0]
    text = re.sub(r"[\w/]+:\d+", "…", text)
    return re.sub(r"\s+", " ", re.sub(r"type=EagerTensor|type=SymbolicTensor|'EagerTensor'|'SymbolicTensor'|'Tensor'", "…", text)).strip()


def judge(name, got, expected, own, class_only):
    """The outcome of a case against TensorFlow's."""
    if name in own:
        assert got.get("error") == (own[name].__name__ if own[name] else None), got
    elif "error" in expected:
        assert got.get("error") == expected["error"], got
        if not any(part in name for part in class_only):
            assert words(got["text"]) == words(expected["text"])
    else:
        assert "value" in got, got
        close(got["value"], expected["value"])


@pytest.mark.parametrize("name", NAMES)
def test_case(name):
    judge(name, outcome(tf, *CASES[name]), EXPECTED[name], OWN, CLASS_ONLY)


def test_all_are_compared():
    assert set(CASES) == set(EXPECTED)
