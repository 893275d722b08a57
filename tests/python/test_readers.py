"""Readers, first values from checkpoints and critical sections give what TensorFlow's give (tests/golden/readers.py)."""
import json
import threading
import time

import pytest

from golden_files import golden_file
import reader_cases
import thalweg as tf

with open(golden_file("readers", "readers.json")) as file:
    CASES = json.load(file)


@pytest.mark.parametrize("kind,case,expected", CASES, ids=["%s-%s" % tuple(c[:2]) for c in CASES])
def test_case(kind, case, expected, tmp_path):
    assert json.loads(json.dumps(reader_cases.run(tf, str(tmp_path), kind, case))) == expected


def test_every_case_is_there():
    assert [c[:2] for c in CASES] == reader_cases.cases()


def test_readers_need_a_graph():
    with pytest.raises(RuntimeError, match="Readers are not supported when eager execution is enabled"):
        tf.compat.v1.TextLineReader()


def test_sections_keep_threads_apart():
    """Functions that were traced, in several threads: each reads, waits and writes without another one between."""
    section, total = tf.CriticalSection(), tf.Variable(0)

    @tf.function
    def step():
        def body():
            before = tf.py_function(lambda x: time.sleep(.002) or x, [total.read_value()], tf.int32)
            return total.assign(tf.ensure_shape(before, []) + 1)
        return section.execute(body)
    step()
    threads = [threading.Thread(target=lambda: [step() for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert total.numpy() == 41


def test_a_failure_frees_the_section():
    section = tf.CriticalSection()
    step = tf.function(lambda x: section.execute(lambda: tf.debugging.check_numerics(x, "no number") + 1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(float("nan")))
    assert step(tf.constant(1.0)).numpy() == 2
