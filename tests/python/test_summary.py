"""tf.summary writes the events that TensorFlow writes (tests/golden/summary.py), and reads TensorFlow's; steps, conditions, closing, traces, files
that were damaged."""
import os
import re

import pytest
import summary_program
import test_profile
import thalweg as tf
from event_files import events, only

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "summary", "events.tfevents")


def test_events(tmp_path):
    summary_program.write(tf, str(tmp_path))
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.%d\.\d+\.v2" % os.getpid(), os.path.basename(only(tmp_path)))
    got, expected = events(only(tmp_path)), events(GOLDEN)
    for one, other in zip(got, expected):
        assert one.SerializeToString() == other.SerializeToString(), (one, other)
    assert len(got) == len(expected) > 20


def test_steps_and_errors(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path, max_queue=2, filename_suffix=".own")
    assert os.path.getsize(only(tmp_path)) == 78 and only(tmp_path).endswith(".own")
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step"):
            tf.summary.scalar("a", 1.0)
        with pytest.raises(ValueError, match=r"Expected scalar shape, saw shape: \(2,\)\."):
            tf.summary.scalar("a", [1.0, 2.0], step=1)
        with pytest.raises(ValueError, match=r"Tensor  must have rank 4.  Received rank 3, shape \(2, 2, 3\)"):
            tf.summary.image("a", tf.zeros([2, 2, 3]), step=1)
        with pytest.raises(ValueError, match="must have rank 3"):
            tf.summary.audio("a", tf.zeros([2, 2]), 8000, step=1)
        tf.summary.scalar("a", 1.0, step=1)
        assert len(events(only(tmp_path))) == 1
        tf.summary.scalar("a", 2.0, step=2)
        assert len(events(only(tmp_path))) == 3  # the queue was full
        tf.summary.scalar("a", 3.0, step=3)
    assert len(events(only(tmp_path))) == 4  # flushed at the end of the block
    writer.set_as_default(step=8)
    tf.summary.scalar("b", 1.0)
    tf.summary.flush()
    assert events(only(tmp_path))[-1].step == 8
    writer.close()
    writer.close()
    writer.flush()
    assert not tf.summary.scalar("c", 1.0)
    tf.summary.experimental.set_step(None)
    tf.summary._set_default(None)
    for use in (writer.as_default, writer.set_as_default):
        with pytest.raises(RuntimeError, match="is already closed"):
            use()
    with pytest.raises(ValueError, match="Argument `logdir` cannot be None"):
        tf.summary.create_file_writer(None)
    with tf.summary.create_noop_writer().as_default():
        assert not tf.summary.scalar("d", 1.0, step=0)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.summary.create_file_writer("/dev/null/x")
    with pytest.raises(TypeError):
        tf.summary.experimental.set_step("x")


def test_two_writers(tmp_path):
    first, second = (tf.summary.create_file_writer(str(tmp_path / name)) for name in ("a", "b"))
    with first.as_default():
        tf.summary.scalar("x", 1.0, step=1)
        with second.as_default():
            tf.summary.scalar("y", 1.0, step=1)
        tf.summary.scalar("z", 1.0, step=2)
    assert [e.summary.value[0].tag for e in events(only(tmp_path / "a"))[1:]] == ["x", "z"]
    assert [e.summary.value[0].tag for e in events(only(tmp_path / "b"))[1:]] == ["y"]


def test_graphs_and_traces(tmp_path):
    @tf.function
    def twice(x):
        return x * 2 + 1
    writer = tf.summary.create_file_writer(str(tmp_path / "log"))
    with pytest.raises(ValueError, match="Must enable trace before export through tf.summary.trace_on."):
        tf.summary.trace_export("t", step=0)
    with writer.as_default():
        tf.summary.trace_on(graph=True, profiler=True)
        twice(tf.constant(1.0))
        with pytest.raises(ValueError, match="Argument `profiler_outdir` is not specified."):
            tf.summary.trace_export("t", step=0)
        tf.summary.trace_export("model", step=3, profiler_outdir=str(tmp_path / "out"))
        tf.summary.graph(twice.get_concrete_function(tf.constant(1.0)).graph)
        tf.summary.trace_on(graph=True)
        tf.summary.trace_off()
        with pytest.raises(ValueError):
            tf.summary.graph(5)
    trace, graph = events(only(tmp_path / "log"))[1:]
    value = trace.summary.value[0]
    assert trace.step == 3 and value.tag == "model" and value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    found = tf.compat.v1.RunMetadata.FromString(value.tensor.string_val[0])
    assert {n.op for n in found.partition_graphs[0].node} >= {"Mul", "AddV2"}
    assert {n.op for n in tf.compat.v1.GraphDef.FromString(graph.graph_def).node} >= {"Mul", "AddV2"}
    path, space = test_profile.profile(tmp_path / "out")
    assert re.search(r"plugins/profile/\d{4}(_\d\d){5}/[^/]+\.xplane\.pb$", path)
    assert [plane.name for plane in space.planes] == ["/host:CPU"] and len(space.hostnames) == 1


def test_contrib(tmp_path):
    writer = tf.contrib.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf.contrib.summary.scalar("not recorded", 1.0, step=1)
        with tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", 1.5, step=2)
    assert [e.summary.value[0].tag for e in events(only(tmp_path))[1:]] == ["loss"]


def test_raw_ops(tmp_path):
    writer = tf.raw_ops.SummaryWriter(shared_name="raw")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.raw_ops.WriteScalarSummary(writer=writer, step=tf.constant(1, tf.int64), tag="a", value=2.0)
    tf.raw_ops.CreateSummaryFileWriter(writer=writer, logdir=str(tmp_path), max_queue=10, flush_millis=1000, filename_suffix=".raw")
    tf.raw_ops.WriteScalarSummary(writer=writer, step=tf.constant(1, tf.int64), tag="a", value=2.0)
    summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="b", simple_value=3.0)])
    tf.raw_ops.WriteRawProtoSummary(writer=writer, step=tf.constant(2, tf.int64), tensor=summary.SerializeToString())
    tf.raw_ops.WriteGraphSummary(writer=writer, step=tf.constant(3, tf.int64), tensor=b"")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.WriteGraphSummary(writer=writer, step=tf.constant(3, tf.int64), tensor=b"\x0a\x05")
    tf.raw_ops.FlushSummaryWriter(writer=writer)
    got = events(only(tmp_path))[1:]
    assert [e.step for e in got] == [1, 2, 3] and [e.summary.value[0].simple_value for e in got[:2]] == [2.0, 3.0]
    tf.raw_ops.CloseSummaryWriter(writer=writer)


def test_damage(tmp_path):
    with open(GOLDEN, "rb") as file:
        data = file.read()
    whole = len(events(GOLDEN))
    path = str(tmp_path / "events")
    for k in range(0, len(data), 211):
        for bad in (data[:k], data[:k] + bytes([data[k] ^ 4]) + data[k + 1:]):
            with open(path, "wb") as file:
                file.write(bad)
            try:
                assert len(events(path)) < whole
            except tf.errors.DataLossError:
                pass
