"""tf.strings and tf.io give what they give in TensorFlow (tests/golden/strings.py); files are written and read back."""
import importlib.util
import json
import os

import pytest

import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("expressions", os.path.join(HERE, "..", "golden", "expressions.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

with open(os.path.join(HERE, "strings.json")) as f:
    CASES = json.load(f)


@pytest.mark.parametrize("case", CASES, ids=[c["expression"][:60] for c in CASES])
def test_expression(case):
    got = golden.answer(case["expression"], tf)
    if "value" in case:
        assert got.get("value", got) == case["value"]
    else:
        assert got.get("error", got) == case["error"]
        assert got["text"] == case["text"]


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
