"""What calls add to a graph that a program builds: TensorFlow's nodes, by name, op, inputs and seeds, and its random numbers."""
import json

import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

import v1_nodes

with open(golden_file("v1_nodes", "v1_nodes.json")) as f:
    EXPECTED = json.load(f)


def test_every_case_was_run_by_tensorflow():
    assert list(EXPECTED) == list(v1_nodes.cases(tf))


@pytest.mark.parametrize("name", EXPECTED)
def test_nodes(name):
    found = v1_nodes.nodes(tf, name)
    expected = EXPECTED[name]
    for mine, theirs in zip(found["nodes"], expected["nodes"]):
        assert mine == theirs
    assert len(found["nodes"]) == len(expected["nodes"])
    assert len(found["values"]) == len(expected["values"])
    for mine, theirs in zip(found["values"], expected["values"]):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-7)


with open(golden_file("v1_nodes", "v1_names.json")) as f:
    NAMES = json.load(f)


@pytest.mark.parametrize("name", v1_nodes.gradient_cases(tf))
def test_names_of_gradients(name):
    assert v1_nodes.names(tf, name) == NAMES[name]


@pytest.mark.parametrize("rate", [[[]], [.5], [[.5, .2]]])
def test_rates_of_dropout_are_scalars(rate):
    for name in ("rate", "keep_prob"):
        with pytest.raises(ValueError, match="must have rank 0"):
            tf.compat.v1.nn.dropout([1., 1., 1.], **{name: tf.constant(rate)})
