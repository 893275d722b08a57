"""TensorFlow 1's training: programs and what they give under TensorFlow (v1_train.json, made by tests/golden/v1train_values.py); event files."""
import glob
import json
import os
import threading

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf



class _V1:
    """tf.compat.v1, which is filled when it is first asked for something; not while tests are collected."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(tf.compat.v1, name)


v1 = _V1()
with open(golden_file("v1train_values", "v1_train.json")) as f:
    CASES = json.load(f)


def run(fetches):
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(fetches)


def error(function):
    try:
        function()
    except Exception as e:
        return [type(e).__name__, str(e)[:60]]
    return None


def check(got, expected, where):
    if isinstance(expected, dict) and set(expected) == {"array", "dtype"}:
        got = np.asarray(got)
        assert str(got.dtype) == expected["dtype"], where
        limit = 2e-6 if got.dtype != np.float64 else 1e-7
        np.testing.assert_allclose(got, np.array(expected["array"], got.dtype), rtol=limit, atol=limit, err_msg=where)
    elif isinstance(expected, dict):
        assert set(got) == set(expected), where
        for key in expected:
            check(got[key], expected[key], where + "." + key)
    elif isinstance(expected, list):
        assert len(got) == len(expected), "%s: %r, expected %r" % (where, got, expected)
        for i, (g, e) in enumerate(zip(got, expected)):
            check(g, e, "%s[%d]" % (where, i))
    else:
        assert got == expected, where


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_program(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "files"
    folder.mkdir()
    with v1.Graph().as_default():
        space = {"tf": tf, "v1": v1, "np": np, "os": os, "tmp": str(folder), "run": run, "error": error}
        exec(case["code"], space)
        check(space["result"], case["result"], "result")


def test_saver_eagerly(tmp_path):
    w, b = tf.Variable([1.0, 2.0], name="w"), tf.Variable(3, name="b")
    saver = v1.train.Saver([w, b])
    path = saver.save(None, str(tmp_path / "m"), global_step=4)
    assert path == str(tmp_path / "m-4") and tf.train.list_variables(path) == [("b", []), ("w", [2])]
    assert not (tmp_path / "m-4.meta").exists()
    w.assign([5.0, 6.0])
    saver.restore(None, path)
    assert w.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError):
        v1.train.Saver()
    with pytest.raises(tf.errors.NotFoundError):
        v1.train.Saver({"other": w}).restore(None, path)


@pytest.mark.parametrize("name, args", [("GradientDescentOptimizer", [0.1]), ("AdamOptimizer", [0.1]), ("MomentumOptimizer", [0.1, 0.9])])
def test_optimizers_eagerly_and_in_functions(name, args):
    def train(traced):
        w = tf.Variable([1.0, 2.0], name="w")
        step = tf.Variable(0, dtype=tf.int64)
        optimizer = getattr(v1.train, name)(*args)

        def one():
            optimizer.minimize(lambda: tf.reduce_sum(w * w), global_step=step, var_list=[w])
        call = tf.function(one) if traced else one
        for _ in range(3):
            call()
        assert int(step) == 3
        return w.numpy()

    with v1.Graph().as_default(), v1.Session() as sess:
        w = tf.Variable([1.0, 2.0], name="w")
        op = getattr(v1.train, name)(*args).minimize(tf.reduce_sum(w * w))
        sess.run(v1.global_variables_initializer())
        for _ in range(3):
            sess.run(op)
        expected = sess.run(w)
    np.testing.assert_allclose(train(False), expected, rtol=1e-6)
    np.testing.assert_allclose(train(True), expected, rtol=1e-6)


def events(folder):
    files = sorted(glob.glob(os.path.join(folder, "events.out.tfevents.*")))
    return [[e for e in v1.train.summary_iterator(f)] for f in files]


def test_file_writer(tmp_path):
    folder = str(tmp_path / "log")
    with v1.Graph().as_default() as graph:
        tf.add(v1.placeholder(tf.float32, [None], name="x"), 1.0, name="y")
        with v1.summary.FileWriter(folder, graph, filename_suffix=".mine") as writer:
            summary = v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=0.5)])
            writer.add_summary(summary, 3)
            writer.add_summary(summary.SerializeToString(), 4)
            writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 5)
            writer.add_run_metadata(v1.RunMetadata(), "step1", 6)
            with pytest.raises(ValueError):
                writer.add_run_metadata(v1.RunMetadata(), "step1")
            writer.add_event(v1.Event(wall_time=1.0, step=2))
            assert writer.get_logdir() == folder
        with pytest.warns(UserWarning, match="closed FileWriter"):
            writer.add_summary(summary, 9)
        writer.reopen()
        writer.add_graph(graph, 7)
        writer.close()
        with pytest.raises(TypeError):
            writer.add_graph("x")
    first, second = events(folder)
    assert first[0].file_version == second[0].file_version == "brain.Event:2"
    whats = [e.WhichOneof("what") for e in first]
    assert whats == ["file_version", "graph_def", "meta_graph_def", "summary", "summary", "session_log", "tagged_run_metadata", None]
    assert [e.step for e in first] == [0, 0, 0, 3, 4, 5, 6, 2]
    assert first[3].summary.value[0].simple_value == 0.5
    assert [n.name for n in v1.GraphDef.FromString(first[1].graph_def).node] == ["x", "y/y", "y"]
    assert second[1].step == 7
    with pytest.raises(RuntimeError):
        v1.summary.FileWriter(folder)


def test_file_writer_from_threads(tmp_path):
    with v1.Graph().as_default():
        writer = v1.summary.FileWriter(str(tmp_path))

        def add(thread):
            for i in range(100):
                writer.add_summary(v1.Summary(value=[v1.Summary.Value(tag="t%d" % thread, simple_value=i)]), i)
        threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        writer.close()
    (found,) = events(str(tmp_path))
    assert len(found) == 401
    for n in range(4):
        own = [e.step for e in found if e.WhichOneof("what") == "summary" and e.summary.value[0].tag == "t%d" % n]
        assert own == list(range(100))


def test_summary_iterator_of_tensorflows_file():
    found = list(v1.train.summary_iterator(golden_file("v1train_events", "events.tfevents")))
    assert [e.WhichOneof("what") for e in found] == ["file_version", "graph_def", "meta_graph_def", "summary", "summary", "session_log"]
    assert [e.summary.value[0].simple_value for e in found[3:5]] == [0.5, -2.0]


def test_save_and_restore_ops(tmp_path):
    prefix = str(tmp_path / "x")
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["b", "a"], shape_and_slices=["", ""], tensors=[tf.constant([1.0, 2.0]), tf.constant(["t"])])
    a, b = tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["a", "b"], shape_and_slices=["", ""], dtypes=[tf.string, tf.float32])
    assert a.numpy().tolist() == [b"t"] and b.numpy().tolist() == [1.0, 2.0]
    for names, dtypes, kind in ((["c"], [tf.float32], tf.errors.NotFoundError), (["b"], [tf.int32], tf.errors.InvalidArgumentError),
                                (["b", "a"], [tf.float32], tf.errors.InvalidArgumentError)):
        with pytest.raises(kind):
            tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names), dtypes=dtypes)
    assert tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["b"], shape_and_slices=["2 0,1"], dtypes=[tf.float32])[0].numpy() == [1]
    with pytest.raises(tf.errors.NotFoundError):
        tf.raw_ops.RestoreV2(prefix=prefix + "y", tensor_names=["b"], shape_and_slices=[""], dtypes=[tf.float32])
