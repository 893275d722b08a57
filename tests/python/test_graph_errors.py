"""Errors of calls of traced functions say which node failed and where in the program that was made. The form is TensorFlow 2.15.1's:

    Graph execution error:

    Detected at node GatherV2 defined at (most recent call last):
      File "program.py", line 5, in <module>

      File "program.py", line 3, in f

    indices = 10 is not in [0, 3)
         [[{{node GatherV2}}]] [Op:__inference_f_8]
"""
import re

import pytest

import thalweg as tf


def told(function, *arguments):
    """The error's class, the node, the lines of this file, the text of the operation, the node again, the function."""
    with pytest.raises(Exception) as caught:
        function(*arguments)
    text = str(caught.value)
    form = re.fullmatch(r"Graph execution error:\n\nDetected at node (\S+) defined at \(most recent call last\):\n((?:  File [^\n]*\n\n)+)"
                        r"(.*)\n\t \[\[\{\{node (\S+)\}\}\]\] \[Op:__inference_([a-z<>]+)_\w+\]", text, re.S)
    assert form, text
    lines = [(int(n), name) for file, n, name in re.findall(r'File "([^"]*)", line (\d+), in (\S+)', form[2]) if file == __file__]
    assert form[1] == form[4]
    return type(caught.value), form[1], lines[-2:], form[3], form[5]


def here():
    import sys
    return sys._getframe(1).f_lineno


def test_the_node_and_its_place():
    @tf.function
    def f(x):
        return tf.gather([1, 2, 3], x)
    line = here() - 1
    error, node, lines, text, name = told(f, tf.constant(10))
    assert (error, node, text, name) == (tf.errors.InvalidArgumentError, "GatherV2", "indices = 10 is not in [0, 3)", "f")
    assert lines[-1] == (line, "f")


def test_inside_of_another_function():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def inner(x):
        return tf.reshape(x, [3])
    at = here() - 1

    @tf.function
    def outer(x):
        return inner(x[:2]) + 1.0
    error, node, lines, text, name = told(outer, tf.constant([1.0, 2.0, 3.0, 4.0]))
    assert error is tf.errors.InvalidArgumentError and node.endswith("/Reshape") and name == "outer"
    assert lines == [(here() - 3, "outer"), (at, "inner")]
    assert text == "Input to reshape is a tensor with 2 values, but the requested shape has 3"


def test_in_a_loop_and_in_a_branch():
    @tf.function
    def f(x):
        for i in tf.range(3):
            if i > 0:
                x = tf.gather(x, [i + 2, 0, 1])
        return x
    error, node, lines, text, name = told(f, tf.constant([1, 2, 3]))
    assert error is tf.errors.InvalidArgumentError and node.endswith("GatherV2") and node.startswith("while")
    assert lines[-1] == (here() - 4, "f") and text == "indices[0] = 3 is not in [0, 3)"


def test_under_a_tape_and_fused():
    @tf.function
    def f(a, b):
        return tf.nn.relu(tf.matmul(a, b) + 1.0)
    f.get_concrete_function(tf.TensorSpec(None), tf.TensorSpec(None))
    g = f.get_concrete_function(tf.TensorSpec([None, None]), tf.TensorSpec([None, None]))
    a = tf.ones([2, 3])
    for watched in (False, True):
        with tf.GradientTape() as tape:
            if watched:
                tape.watch(a)
            error, node, lines, text, _ = told(g, a, a)
        assert (error, node) == (tf.errors.InvalidArgumentError, "MatMul") and lines[-1] == (here() - 9, "f")
        assert text == "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"


@pytest.mark.parametrize("raised,expected", [
    (ValueError, "InvalidArgumentError"), (TypeError, "InvalidArgumentError"), (UnicodeError, "InvalidArgumentError"), (StopIteration, "OutOfRangeError"),
    (MemoryError, "ResourceExhaustedError"), (NotImplementedError, "UnimplementedError"), (KeyError, "UnknownError"), (RuntimeError, "UnknownError"),
])
def test_what_python_functions_raise(raised, expected):
    """Classes by TensorFlow's rule; the text tells the exception and where it was raised. numpy_function raises as it is outside of graphs."""
    def bad(x):
        raise raised("mine")
    at = here() - 1
    error, node, _, text, _ = told(tf.function(lambda x: tf.py_function(bad, [x], tf.float32)), tf.constant(1.0))
    assert error is getattr(tf.errors, expected) and node == "EagerPyFunc"
    assert text.startswith("%s: %s\nTraceback (most recent call last):\n" % (raised.__name__, raised("mine"))) and "line %d, in bad" % at in text
    assert told(tf.function(lambda x: tf.numpy_function(bad, [x], tf.float32)), tf.constant(1.0))[0] is error
    with pytest.raises(error, match="in bad") as caught:
        tf.py_function(bad, [1.0], tf.float32)
    assert isinstance(caught.value.__cause__, raised)
    with pytest.raises(raised):
        tf.numpy_function(bad, [1.0], tf.float32)


def test_interrupts_are_no_errors():
    def stop(x):
        raise KeyboardInterrupt
    for f in (lambda x: tf.py_function(stop, [x], tf.float32), tf.function(lambda x: tf.py_function(stop, [x], tf.float32))):
        with pytest.raises(KeyboardInterrupt):
            f(tf.constant(1.0))


def test_tensors_of_ended_traces_say_where_they_are_from():
    kept = []

    @tf.function
    def f(x):
        kept.append(x + 1)
        return x
    f(tf.constant(1))
    with pytest.raises(TypeError, match=r"(?s)is out of scope and cannot be used here.*was defined here:\n.*line %d, in f" % (here() - 3)):
        kept[0] + 1

    @tf.function
    def g(n):
        values = []
        for i in tf.range(n):
            values.append(i)
        return values
    with pytest.raises(ValueError, match="is out of scope and cannot be used here"):
        g(tf.constant(3))


def test_inputs_by_the_names_of_their_specs():
    f = tf.function(lambda x, y: x - y).get_concrete_function(tf.TensorSpec([], name="left"), tf.TensorSpec([], name="right"))
    assert float(f(right=tf.constant(1.0), left=tf.constant(5.0))) == 4.0 and float(f(tf.constant(5.0), right=tf.constant(2.0))) == 3.0
