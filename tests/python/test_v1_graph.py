"""tf.compat.v1: graphs and sessions do what TensorFlow does. The programs run in a process of their own: graph mode is for good."""
import json
import os
import subprocess
import sys

import pytest
from golden_files import golden_file
import thalweg as tf

import printed
import v1_programs

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = """
import json, sys
sys.path.insert(0, %r)
import thalweg as tf
import v1_programs
tf.compat.v1.disable_eager_execution()
program = [p for p in v1_programs.PROGRAMS if p.__name__ == sys.argv[1]][0]
json.dump(v1_programs.run(program, tf), sys.stdout)
""" % HERE


def in_graph_mode(source, *arguments):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    done = subprocess.run([sys.executable, "-c", source, *arguments], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("program", [p.__name__ for p in v1_programs.PROGRAMS])
def test_program(program):
    with open(golden_file("v1_programs", "v1_programs.json")) as f:
        expected = json.load(f)[program]
    found = json.loads(in_graph_mode(RUN, program))
    printed.check(found, expected)


def test_what_run_refuses_is_not_run():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", [], initializer=v1.zeros_initializer())
        more = v.assign_add(1.)
        session.run(v1.global_variables_initializer())
        for options in (v1.RunOptions(timeout_in_ms=5), v1.RunOptions(output_partition_graphs=True)):
            with pytest.raises(NotImplementedError, match="the option"):
                session.run(more, options=options)
        assert session.run(v) == 0
        assert session.run(more, options=v1.RunOptions(), run_metadata=v1.RunMetadata()) == 1


def test_random_numbers_go_on_whatever_is_fetched():
    """As in TensorFlow: one stream per operation and session, not per set of fetches."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        a, b = tf.random.uniform([2], seed=2), tf.random.uniform([2], seed=3)
        with v1.Session() as session:
            alone = [session.run(a).tolist() for _ in range(3)]
        with v1.Session() as session:
            mixed = [session.run([a, b])[0].tolist(), session.run(a).tolist(), session.run((b, a))[1].tolist()]
    assert mixed == alone and alone[0] != alone[1]


def test_summaries_without_a_name():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="At least one of name"):
            tf.compat.v1.summary.scalar(None, 1.)
        assert tf.compat.v1.summary.histogram(None, [1.]).name == "HistogramSummary:0"
