"""The graphs of functions: TensorFlow's nodes, by name, op and inputs."""
import json

import pytest
from golden_files import golden_file
import thalweg as tf

import function_nodes

with open(golden_file("function_nodes", "function_nodes.json")) as f:
    EXPECTED = json.load(f)
CASES = function_nodes.cases(tf)


def test_every_case_was_run_by_tensorflow():
    assert list(EXPECTED) == [name for name in function_nodes.names(tf) if name not in function_nodes.different()]
    assert not set(function_nodes.different()) - set(function_nodes.names(tf))


@pytest.mark.parametrize("name", EXPECTED)
def test_nodes(name):
    case, rows = function_nodes.split(name)
    found = function_nodes.nodes(tf, CASES[case], rows)
    for mine, theirs in zip(found, EXPECTED[name]):
        assert mine == theirs
    assert len(found) == len(EXPECTED[name])


@pytest.mark.parametrize("name", function_nodes.different())
def test_graphs_that_differ(name):
    """They are made, and have no node without a name or with an empty one."""
    case, rows = function_nodes.split(name)
    found = function_nodes.nodes(tf, CASES[case], rows)
    assert found and all(row[0] for row in found) and len({row[0] for row in found}) == len(found)
