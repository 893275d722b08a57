"""What tf.compat.v1 holds besides sessions does what it does in TensorFlow, in programs of its manner."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

import v1_library

with open(golden_file("v1_library", "v1_library.json")) as f:
    EXPECTED = json.load(f)


def equal(mine, theirs):
    if isinstance(theirs, list):
        assert isinstance(mine, list) and len(mine) == len(theirs), (mine, theirs)
        for a, b in zip(mine, theirs):
            equal(a, b)
    elif isinstance(theirs, float):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)
    else:
        assert mine == theirs


@pytest.mark.parametrize("name", EXPECTED)
def test_program(name):
    equal(v1_library.run(tf, name), EXPECTED[name])


FLAGS = """
import tensorflow.compat.v1 as v1
v1.flags.DEFINE_string("name", "x", "a text")
v1.flags.DEFINE_integer("num", 3, "a number", lower_bound=1)
v1.flags.DEFINE_bool("deb", False, "a switch")
v1.flags.DEFINE_list("li", "a,b", "a list")
v1.flags.DEFINE_enum("en", "p", ["p", "q"], "a choice")
F = v1.app.flags.FLAGS
def main(argv):
    print(argv[1:], F.name, F.num, F.deb, F.li, F.en)
    return 3
v1.app.run(main)
"""


def test_flags():
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "thalweg", "-c", FLAGS, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    done = run("--name=abc", "--num", "7", "--deb", "pos", "--li=c")
    assert (done.stdout, done.returncode) == ("['pos'] abc 7 True ['c'] p\n", 3), done.stderr
    assert run("--nodeb").stdout == "[] x 3 False ['a', 'b'] p\n"
    for wrong in ("--num=x", "--num=0", "--en=z"):
        done = run(wrong)
        assert done.returncode == 1 and "flag " + wrong.split("=")[0] in done.stderr


def test_what_is_left_out_says_so():
    v1 = tf.compat.v1
    for made in (lambda: v1.train.Supervisor(), lambda: v1.layers.batch_normalization(tf.ones([1, 2]), renorm=True),
                 lambda: v1.train.MonitoredTrainingSession(is_chief=False), lambda: v1.summary.image("a", tf.zeros([1, 2, 2, 1]))):
        with pytest.raises(NotImplementedError):
            made()
    with pytest.raises(AttributeError):
        v1.no_such_name


def test_print(capfd):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = tf.constant([1., 2., 3., 4.])
        printed = v1.Print(x, [x, tf.constant([["a", "b"]]), 3], "hello ", first_n=2)
        gradient, = v1.gradients(printed * 2., x)
        with v1.Session() as session:
            for _ in range(3):
                assert session.run([printed, gradient])[1].tolist() == [2., 2., 2., 2.]
    assert capfd.readouterr().err == "hello [1 2 3...][[a b]][3]\n" * 2


def test_averages_follow_eager_variables():
    v = tf.Variable([1., 2.], name="v")
    average = tf.compat.v1.train.ExponentialMovingAverage(.9)
    assert average.average(v) is None and average.apply([v]) is None
    v.assign([3., 4.])
    average.apply([v])
    np.testing.assert_allclose(average.average(v).numpy(), [1.2, 2.2], rtol=1e-6)
    assert average.average_name(v) == "v/ExponentialMovingAverage"
