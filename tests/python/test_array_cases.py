"""TensorArrays and loops over rows do what they do in TensorFlow 2.15.1: values and errors of the programs of array_cases.py, nodes of those of array_nodes.py."""
import json

import pytest

import array_cases
import array_nodes
from golden_files import golden_file
import thalweg as tf
from control_values import outcome
from test_control_cases import judge

with open(golden_file("array_cases", "array_cases.json")) as _file:
    EXPECTED = json.load(_file)

# What a list holds is known only when it runs; places that nobody wrote are zeros.
OWN = {
    "eager expression array(tf, 0).concat()": tf.errors.InvalidArgumentError,
    "graph expression array(tf).unstack([1.0, 2.0, 3.0]).concat()": tf.errors.InvalidArgumentError,
    "graph expression array(tf, 1).split(tf.range(3), [3]).read(0)": tf.errors.InvalidArgumentError,
    "graph expression array(tf, 2).split(1.0, [1, 2]).read(1)": ValueError,
    "graph expression array(tf, 2).split([1.0, 2.0, 3.0], 3).read(0)": ValueError,
    "graph expression array(tf, dynamic_size=True).scatter([4, 0], numbers(tf)[:2]).stack()": None,
}
# Of these only the class is compared: the text lists what TensorFlow's own machinery calls things.
CLASS_ONLY = ("write(1, [1.0, 2.0]).stack()", "TensorArray(tf.float32, [1, 2])", "TensorArray(tf.float32, 1.5)")

CASES = {mode + " " + name: (case, mode) for mode, cases in (("eager", array_cases.EAGER), ("graph", array_cases.GRAPH)) for name, case in cases.items()}


def test_all_are_compared():
    assert set(CASES) == set(EXPECTED["cases"]) and set(array_nodes.PROGRAMS) == set(EXPECTED["nodes"])


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    judge(name, outcome(tf, *CASES[name]), EXPECTED["cases"][name], OWN, CLASS_ONLY)


@pytest.mark.parametrize("name", array_nodes.PROGRAMS)
def test_nodes_of_graphs(name):
    assert array_nodes.in_graph(tf, name) == EXPECTED["nodes"][name]["graph"]


def have_scopes():
    """Whether graphs of functions have name scopes."""
    @tf.function(autograph=False)
    def f(x):
        with tf.name_scope("inside"):
            return x * 2.0
    return "inside/mul" in [o.name for o in f.get_concrete_function(tf.TensorSpec([])).graph.get_operations()]


@pytest.mark.skipif(not have_scopes(), reason="graphs of functions have no name scopes")
@pytest.mark.parametrize("name", array_nodes.PROGRAMS)
def test_nodes_of_functions(name):
    """All but what holds effects together at a function's end, and who follows that."""
    def plain(rows):
        return [row[:3] for row in rows if row[1] != "NoOp"]
    assert plain(array_nodes.in_function(tf, name)) == plain(EXPECTED["nodes"][name]["function"])
