"""Shapes that do not fit while a graph is made: the error's class and text are TensorFlow's (tests/golden/shape_errors.py)."""
import json

import pytest

import shape_error_cases
from golden_files import golden_file
import thalweg as tf

with open(golden_file("shape_errors", "shape_errors.json")) as _file:
    EXPECTED = json.load(_file)


@pytest.mark.parametrize("name,call,arguments", shape_error_cases.cases(tf), ids=lambda v: v if isinstance(v, str) else "")
def test_said(name, call, arguments):
    assert shape_error_cases.outcome(tf, call, arguments) == EXPECTED[name]


def test_names_of_the_node_and_its_inputs():
    """The name that the call was given, and the number that makes it free."""
    def call(x):
        tf.matmul(x, x, transpose_b=True, name="product")
        return tf.matmul(x, x, name="product")
    with pytest.raises(ValueError, match=r"\{\{node product_1\}\} = MatMul\[T=DT_FLOAT, transpose_a=false, transpose_b=false\]\(x, x\)"):
        tf.function(call).get_concrete_function(tf.TensorSpec([2, 3]))


def test_unknown_dimensions_are_left_open():
    f = tf.function(lambda a, b: a + b)
    f.get_concrete_function(tf.TensorSpec([None, 3]), tf.TensorSpec([4, 1]))
    f.get_concrete_function(tf.TensorSpec(None), tf.TensorSpec([4, 1]))
    with pytest.raises(ValueError, match=r"input shapes: \[\?,3\], \[2\]\."):
        f.get_concrete_function(tf.TensorSpec([None, 3]), tf.TensorSpec([2]))
