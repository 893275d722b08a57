"""Python functions and printing from graphs."""
import subprocess
import sys
import gc
import os

import numpy as np
import pytest

import thalweg as tf


def test_py_function():
    seen = []

    def double(x):
        seen.append(type(x).__name__)
        return x * 2.0

    @tf.function(autograph=False)
    def f(x):
        y = tf.py_function(double, [x], tf.float32)
        return y + 1.0
    assert f(tf.constant(2.0)).numpy() == 5 and f(tf.constant(3.0)).numpy() == 7
    assert len(seen) == 2 and seen[0].endswith("EagerTensor")
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(double, [x], tf.float32)
    assert tape.gradient(y, x).numpy() == 2
    assert [t.numpy() for t in tf.py_function(lambda a, b: (a + b, a - b), [5, 3], [tf.int32, tf.int32])] == [8, 2]


def test_numpy_function():
    @tf.function(autograph=False)
    def f(x):
        return tf.numpy_function(lambda a: np.sort(a), [x], tf.float32)
    assert f(tf.constant([3.0, 1.0, 2.0])).numpy().tolist() == [1, 2, 3]


def test_effects_keep_their_order_and_errors_come_out():
    seen = []
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def f(fail):
        for i in range(3):
            tf.py_function(lambda value, i=i: seen.append((i, float(value))), [v.read_value()], [])
            v.assign_add(1.0)
        if fail:
            tf.py_function(lambda: {}["missing"], [], [])
    f(False)
    assert seen == [(0, 1.0), (1, 2.0), (2, 3.0)]
    with pytest.raises(tf.errors.UnknownError, match="KeyError: 'missing'"):
        f(True)
    assert v.numpy() == 7 and tf.executing_eagerly()


def test_forks_after_functions_are_gone():
    """A lock that a fork takes is none of an object that may be gone."""
    for i in range(200):
        @tf.function(autograph=False)
        def f(x, i=i):
            return tf.py_function(lambda a: a * i, [x], tf.float32)
        with tf.GradientTape() as tape:
            x = tf.constant(2.0)
            tape.watch(x)
            y = f(x)
        assert float(tape.gradient(y, x)) == i
        del f, tape, y
    gc.collect()
    rest = [bytearray(b"x" * size) for size in range(16, 2000, 8)]
    child = os.fork()
    if child == 0:
        os._exit(0 if float(tf.constant(1.0) + 1.0) == 2.0 and rest else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_print_op(tmp_path):
    path = tmp_path / "out.txt"

    @tf.function(autograph=False)
    def f(x):
        tf.raw_ops.PrintV2(input=x, output_stream="file://%s" % path, end="!\n")
    f(tf.constant("a"))
    f(tf.constant("b"))
    assert path.read_text() == "a!\nb!\n"
    code = "import thalweg as tf\ntf.raw_ops.PrintV2(input=tf.constant('x'))\ntf.raw_ops.PrintV2(input=tf.constant('y'), output_stream='stdout')"
    folder = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=folder))
    assert (run.stdout, run.stderr) == ("y\n", "x\n")
