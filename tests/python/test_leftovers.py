"""What killed saves leave, `.NAME.thalweg-…`, is taken away by the next save of the same name; what a living process writes is not."""
import fcntl
import os

import pytest

import thalweg as tf


def model():
    return tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])


WRITERS = {
    "m.h5": lambda path: model().save(path), "m.keras": lambda path: model().save(path), "w.h5": lambda path: model().save_weights(path),
    "x.weights.h5": lambda path: model().save_weights(path), "text": lambda path: tf.io.write_file(path, b"text"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRITERS)
def test_leftovers(name, tmp_path):
    dead, other, living = [".%s.thalweg-%s" % pair for pair in ((name, "0123abcd"), ("other", "0123abcd"), (name, "abcd0123"))]
    for left in (dead, other, living):
        (tmp_path / left).write_bytes(b"torn")
    with open(tmp_path / living, "r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        WRITERS[name](str(tmp_path / name))
        assert sorted(os.listdir(tmp_path)) == sorted([name, other, living])
