"""tf.nest, tf.TensorSpec, tf.io.gfile, tf.config and other names give what they give in TensorFlow (tests/golden/names.py); files are written and read."""
import importlib.util
import json
import os
import pickle

import pytest

import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("expressions", os.path.join(HERE, "..", "golden", "expressions.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)

with open(os.path.join(HERE, "names.json")) as f:
    CASES = json.load(f)


@pytest.mark.parametrize("case", CASES, ids=[c["expression"][:60] for c in CASES])
def test_expression(case):
    got = golden.answer(case["expression"], tf)
    if "value" in case:
        assert got.get("value", got) == case["value"]
    else:
        assert got.get("error", got) == case["error"]
        assert got["text"] == case["text"]


def test_a_structure_that_holds_itself_is_an_error():
    a = []
    a.append(a)
    for f in (tf.nest.flatten, lambda s: tf.nest.pack_sequence_as(s, [1]), lambda s: tf.nest.assert_same_structure(s, s)):
        with pytest.raises(ValueError, match="holds itself"):
            f(a)


def test_spec_is_a_signature_and_is_pickled():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        return x * 2
    assert double(tf.constant([1., 2.])).numpy().tolist() == [2., 4.]
    spec = tf.TensorSpec([None, 2], tf.int32, "a")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.value_type is tf.Tensor


def test_files(tmp_path):
    gfile = tf.io.gfile
    folder = str(tmp_path / "a" / "b")
    gfile.makedirs(folder)
    name = gfile.join(folder, "x.txt")
    with gfile.GFile(name, "w") as f:
        f.write("h\u00e9llo\n")
        f.write("two")
    with gfile.GFile(name) as f:
        assert f.readline() == "h\u00e9llo\n"
        assert f.tell() == 7
        assert f.readlines() == ["two"]
        f.seek(0)
        assert list(f) == ["h\u00e9llo\n", "two"]
        assert f.size() == 10
        for seek, kind in ((11, tf.errors.OutOfRangeError), (-1, tf.errors.InvalidArgumentError)):
            with pytest.raises(kind):
                f.seek(seek)
        with pytest.raises(tf.errors.InvalidArgumentError, match="whence"):
            f.seek(0, 7)
    with gfile.GFile(name, "ab") as f:
        f.write(b"!")
    assert gfile.GFile(name, "rb").read() == "h\u00e9llo\ntwo!".encode()
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        gfile.GFile(gfile.join(folder, "z"), "w").write(3)
    gfile.remove(gfile.join(folder, "z"))
    other = gfile.join(folder, "y.txt")
    gfile.copy(name, other)
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        gfile.copy(name, other)
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        gfile.rename(name, other)
    gfile.copy(name, name, overwrite=True)
    assert gfile.stat(name).length == 11 and not gfile.stat(name).is_directory
    gfile.rename(name, other, overwrite=True)
    assert sorted(gfile.listdir(folder)) == ["y.txt"]
    assert gfile.glob([other, gfile.join(folder, "*")]) == [other, other]
    assert [w[2] for w in gfile.walk(folder)] == [["y.txt"]]
    with pytest.raises(tf.errors.FailedPreconditionError):
        gfile.remove(folder)
    gfile.rmtree(str(tmp_path / "a"))
    assert not gfile.exists(folder) and not gfile.isdir(folder)


def test_a_file_that_is_never_written_is_not_made(tmp_path):
    name = str(tmp_path / "x")
    with tf.io.gfile.GFile(name, "w"):
        pass
    assert not tf.io.gfile.exists(name)


def test_threads_are_set():
    threading = tf.config.threading
    threading.set_intra_op_parallelism_threads(1)
    threading.set_inter_op_parallelism_threads(3)
    assert threading.get_intra_op_parallelism_threads() == 1 and threading.get_inter_op_parallelism_threads() == 3
    assert float(tf.reduce_sum(tf.ones([1000, 1000]))) == 1e6
    threading.set_intra_op_parallelism_threads(0)
    threading.set_inter_op_parallelism_threads(0)
    assert threading.get_intra_op_parallelism_threads() == 0
    assert float(tf.reduce_sum(tf.ones([1000, 1000]))) == 1e6
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_threads is -1"):
        threading.set_intra_op_parallelism_threads(-1)


def test_operations_run_under_any_device():
    for name in ("/CPU:0", "/GPU:0", None):
        with tf.device(name):
            assert int(tf.add(1, 2)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"):
        with tf.device("/job:other"):
            pass


def test_defaults_that_cannot_be_changed():
    backend = tf.keras.backend
    with pytest.raises(tf.errors.UnimplementedError, match="only float32"):
        backend.set_floatx("float64")
    with pytest.raises(tf.errors.UnimplementedError, match="only channels_last"):
        backend.set_image_data_format("channels_first")
    for call in (backend.set_floatx, backend.set_image_data_format):
        with pytest.raises(ValueError, match="Unknown"):
            call("int32")
