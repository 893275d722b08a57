"""Profiles (tf.profiler.experimental, the TensorBoard callback) as TensorFlow's xplane.pb, shapes in graphs, embeddings for the projector."""
import os

import numpy as np
import pytest
import thalweg as tf
from event_files import events, only
from thalweg import _messages


def profile(folder):
    """The only profile below a folder: its path, and what it holds."""
    path, = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".xplane.pb")]
    with open(path, "rb") as file:
        return path, _messages.XSpace.FromString(file.read())


def ran(space):
    """[(name, display name, stats, thread, start, end)] of all events."""
    plane, = space.planes
    out = []
    for line in plane.lines:
        for event in line.events:
            meta = plane.event_metadata[event.metadata_id]
            stats = {plane.stat_metadata[s.metadata_id].name: getattr(s, s.WhichOneof("value")) for s in event.stats}
            out.append((meta.name, meta.display_name, stats, line.name, event.offset_ps, event.offset_ps + event.duration_ps))
    return out


def shapes_of(nodes):
    return {n.name: [[d.size for d in shape.dim] for shape in n.attr["_output_shapes"].list.shape] for n in nodes if "_output_shapes" in n.attr}


def test_profiles_name_each_op(tmp_path):
    @tf.function
    def f(x):
        return tf.nn.relu(tf.matmul(x, x) + 1.0)
    x = tf.ones([8, 8])
    f(x)
    tf.exp(x)  # before: not in it
    tf.profiler.experimental.start(str(tmp_path))
    for step in range(2):
        with tf.profiler.experimental.Trace("train", step_num=step, word="a b"):
            f(x)
            tf.sqrt(x)
    for _ in tf.data.Dataset.range(5).batch(2):
        pass
    tf.profiler.experimental.stop()
    tf.sin(x)
    events = ran(profile(tmp_path)[1])
    count = {}
    for name, *_ in events:
        count[name] = count.get(name, 0) + 1
    assert count["Sqrt:Sqrt"] == 2 and count["train"] == 2 and count["Iterator::Batch"] == 4 and count["Iterator::Range"] == 6
    ops = " ".join(display for _, display, *_ in events).split()
    assert ops.count("MatMul") == 2 and ops.count("Relu") == 2 and "Exp" not in ops and "Sin" not in ops
    steps = [event for event in events if event[0] == "train"]
    assert [event[2] for event in steps] == [{"step_num": 0, "word": "a b"}, {"step_num": 1, "word": "a b"}]
    for _, _, _, thread, start, end in [event for event in events if event[0] == "Sqrt:Sqrt"]:
        assert any(s[3] == thread and s[4] <= start and end <= s[5] for s in steps)
    assert all(0 <= start <= end for *_, start, end in events)
    memory = [stats for name, _, stats, *_ in events if name == "MemoryAllocation"]
    assert memory and all(stats["peak_bytes_in_use"] >= stats["bytes_allocated"] > 1e6 for stats in memory)


def test_shapes_of_nodes():
    """As TensorFlow 2.15 writes this graph."""
    @tf.function
    def inner(x):
        return tf.nn.relu(x) + 1

    @tf.function
    def model(x, w):
        return tf.split(inner(tf.matmul(x, w)), 2, axis=1)
    graph = model.get_concrete_function(tf.TensorSpec([None, 3]), tf.TensorSpec([3, 4])).graph
    assert not any("_output_shapes" in n.attr for n in graph.as_graph_def().node)
    made = graph.as_graph_def(add_shapes=True)
    assert shapes_of(made.node) == {"x": [[-1, 3]], "w": [[3, 4]], "MatMul": [[-1, 4]], "PartitionedCall": [[-1, 4]], "split/split_dim": [[]],
                                    "split": [[-1, 2], [-1, 2]], "Identity": [[-1, 2]], "Identity_1": [[-1, 2]]}
    function, = made.library.function
    assert shapes_of(function.node_def) == {"Relu": [[-1, 4]], "add/y": [[]], "add": [[-1, 4]], "Identity": [[-1, 4]]}
    assert [[d.size for d in shape.dim] for shape in function.attr["_input_shapes"].list.shape] == [[-1, 4]]
    with tf.Graph().as_default() as old:
        tf.nn.relu(tf.compat.v1.placeholder(tf.float32, [None, 3], name="x"))
        tf.no_op()
    assert shapes_of(old.as_graph_def(add_shapes=True).node) == {"x": [[-1, 3]], "Relu": [[-1, 3]]}  # NoOp has no outputs
    with tf.Graph().as_default() as again:
        tf.import_graph_def(old.as_graph_def(add_shapes=True), name="")
    assert again.as_graph_def() == old.as_graph_def()


BATCHES = [(0, None), (2, 2), (1, 1), ("2,4", 4), ((2, 4), 4), ([3, 5], 5), ((0, 2), None), (100, None), ((6, 100), 8)]


@pytest.mark.parametrize("batches, last", BATCHES, ids=str)
def test_profiles_of_batches(tmp_path, batches, last):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.fit(np.zeros((64, 3)), np.zeros((64, 4)), batch_size=8, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(tmp_path, profile_batch=batches)])
    traces = [(e.step, v.tag) for e in events(only(tmp_path / "train")) for v in e.summary.value if v.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"]
    assert traces == ([(last, "batch_%d" % last)] if last else [])
    if last:
        found = ran(profile(tmp_path)[1])
        first = batches[0] if isinstance(batches, (tuple, list)) else int(str(batches)[0])
        assert sum("MatMul" in name and "gradient" not in name for name, *_ in found) >= last - first + 1
        assert [stats["step_num"] for name, _, stats, *_ in found if name == "train"] == list(range(first, last - (last < 8))) # of whole batches


@pytest.mark.parametrize("batches", ["3", (4, 2), -1, 1.5, (1, 2, 3), None], ids=str)
def test_refused_batches(batches):
    with pytest.raises(ValueError, match="profile_batch must be a non-negative integer or 2-tuple of positive integers"):
        tf.keras.callbacks.TensorBoard(profile_batch=batches)


def test_embeddings(tmp_path):
    def fit(folder, **options):
        model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 3, input_length=2, name="words"), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.zeros((8, 2)), np.zeros((8, 1)), epochs=3, verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(folder, **options)])
        return model
    model = fit(tmp_path / "a", embeddings_freq=2, embeddings_metadata={"words": "names.tsv"})
    key = "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
    assert (tmp_path / "a" / "projector_config.pbtxt").read_text() == 'embeddings {\n  tensor_name: "%s"\n  metadata_path: "names.tsv"\n}\n' % key
    newest = tf.train.latest_checkpoint(str(tmp_path / "a" / "train"))
    assert newest.endswith("keras_embedding.ckpt-2") and not (tmp_path / "a" / "train" / "keras_embedding.ckpt-1.index").exists()
    np.testing.assert_array_equal(tf.train.load_variable(newest, key), model.layers[0].embeddings)
    fit(tmp_path / "b", embeddings_freq=1, embeddings_metadata="all.tsv")
    assert "all.tsv" in (tmp_path / "b" / "projector_config.pbtxt").read_text()
    with pytest.raises(ValueError, match="Unrecognized `Embedding` layer names"):
        fit(tmp_path / "c", embeddings_freq=1, embeddings_metadata={"none": "names.tsv"})
    fit(tmp_path / "d", embeddings_metadata={"words": "names.tsv"})
    assert not (tmp_path / "d" / "projector_config.pbtxt").exists()
