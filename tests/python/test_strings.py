"""tf.strings and tf.io give what they give in TensorFlow (tests/golden/strings.py); files are written and read back."""
import os

import pytest

import replay
import thalweg as tf

test_expression = replay.test_of("strings")


def test_files(tmp_path):
    name = str(tmp_path / "new" / "folder" / "a.bin")
    tf.io.write_file(name, b"a\0b\xff")
    assert tf.io.read_file(name).numpy() == b"a\0b\xff"
    tf.io.write_file(name, "")
    assert tf.io.read_file(name).numpy() == b""
    tf.raw_ops.WriteFile(filename=str(tmp_path / "new" / "folder" / ".b"), contents="x")
    assert tf.raw_ops.ReadFile(filename=str(tmp_path / "new" / "folder" / ".b")).numpy() == b"x"
    assert sorted(os.listdir(os.path.dirname(name))) == [".b", "a.bin"]
    found = tf.io.matching_files([str(tmp_path / "new" / "*" / "*.bin"), str(tmp_path / "no*" / "x")])
    assert [os.path.basename(n) for n in found.numpy()] == [b"a.bin"]


def test_file_errors(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        tf.io.read_file(str(tmp_path / "none"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.io.write_file(str(tmp_path), "a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero byte"):
        tf.io.read_file(b"a\0b")
