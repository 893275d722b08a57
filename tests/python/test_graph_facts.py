"""What concrete functions tell of their graphs, names of bodies and branches in files, and sounds, texts and pictures that are read back."""
import glob
import os

import numpy as np
import pytest

import thalweg as tf

v1 = tf.compat.v1


def test_facts_of_a_graph():
    w = tf.Variable(2.0, name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def f(x):
        return {"out": tf.nn.relu(tf.matmul(x, tf.ones([2, 2])) * w)}
    concrete = f.get_concrete_function()
    graph = concrete.graph
    assert graph is concrete.graph and graph == concrete.outputs[0].graph and concrete.outputs[0].graph == graph and graph.name == "f"
    assert [t.name for t in graph.inputs] == ["x:0", "mul/ReadVariableOp/resource:0"] and [t.name for t in graph.outputs] == ["Identity:0"]
    assert graph.structured_outputs["out"].name == "Identity:0" and graph.output_shapes == [tf.TensorShape([None, 2])]
    assert graph.structured_input_signature == ((tf.TensorSpec([None, 2], tf.float32, name="x"),), {})
    assert [(outside.dtype, inside.name) for outside, inside in graph.captures] == [(tf.resource, "mul/ReadVariableOp/resource:0")]
    assert graph.internal_captures[0].name == graph.captures[0][1].name and len(graph.external_captures) == 1
    assert [v.name for v in graph.variables] == ["w:0"] and graph.trainable_variables[0] is w
    assert graph.building_function and not graph.finalized and graph.seed is None and graph.version == len(graph.get_operations())
    assert graph.as_graph_element("MatMul:0").name == "MatMul:0" and graph.as_graph_element("MatMul").type == "MatMul" and graph.get_collection("variables") == []
    with pytest.raises(ValueError, match="Can not convert a Operation into a Tensor"):
        graph.as_graph_element("MatMul", allow_operation=False)
    with pytest.raises(KeyError):
        graph.as_graph_element("nothing:0")
    assert len(graph.as_graph_def().node) == len(graph.get_operations()) and graph.graph_def_versions.producer > 0


def _library(by):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            if tf.reduce_sum(x) > 1:
                x = x * by
            else:
                x = x + by
        return tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: x * by])
    graph = f.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph.as_graph_def()
    return {function.signature.name: function.SerializeToString() for function in graph.library.function}, graph


def test_names_of_bodies_and_branches():
    (two, graph), (three, _), (again, _) = _library(2.0), _library(3.0), _library(2.0)
    assert len(two) == 6 and not set(two) & set(three) - {name for name in two if two[name] == three.get(name)}  # equal names are equal functions
    assert two == again
    assert any(name.startswith("while_body_") for name in two) and any(name.startswith("cond_true_") for name in two)
    with tf.Graph().as_default() as both, v1.Session(graph=both) as session:
        feeds = {}
        for name, definition in (("a", graph), ("b", _library(3.0)[1])):
            tf.import_graph_def(definition, name=name)
            place = next(op for op in both.get_operations() if op.type == "Placeholder" and op.name.startswith(name))
            feeds[place.outputs[0]] = [2.0, 0.0]
        found = session.run(["a/Identity:0", "b/Identity:0"], feeds)
    assert found[0].tolist() == [32, 0] and found[1].tolist() == [162, 0]


def test_arrays_as_arguments():
    @tf.function
    def read(array):
        return array.read(1)
    assert float(read(tf.TensorArray(tf.float32, 2).unstack([1.0, 5.0]))) == 5


def test_texts_and_sounds_are_read_back(tmp_path):
    sound = np.sin(np.linspace(0, 100, 800)).reshape(1, 400, 2).astype("float32")
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=3):
        tf.summary.text("text", "hello **world**")
        tf.summary.text("table", [["a", "b"], ["c", "d"]])
        tf.summary.audio("sound", sound, sample_rate=8000)
    writer.flush()
    found = {}
    for event in v1.train.summary_iterator(glob.glob(str(tmp_path / "*"))[0]):
        for value in event.summary.value:
            assert event.step == 3
            found[value.tag] = (value.metadata.plugin_data.plugin_name, tf.make_ndarray(value.tensor))
    assert found["text"][0] == "text" and found["text"][1].shape == () and found["text"][1].item() == b"hello **world**"
    assert found["table"][1].tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert found["sound"][0] == "audio" and found["sound"][1].shape == (1, 2) and found["sound"][1][0, 1] == b""
    decoded = tf.audio.decode_wav(found["sound"][1][0, 0])
    assert int(decoded.sample_rate) == 8000 and np.abs(decoded.audio.numpy() - sound[0]).max() < 1e-4
    assert tf.audio.encode_wav(decoded.audio, 8000).numpy() == found["sound"][1][0, 0]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pictures_of_16_bits(channels):
    pixels = (np.arange(20 * channels).reshape(4, 5, channels) * 700 + 3).astype("uint16")
    for given in (pixels, tf.constant(pixels)):
        encoded = tf.io.encode_png(given)
        assert encoded.numpy() == tf.raw_ops.EncodePng(image=tf.constant(pixels)).numpy()
        assert tf.io.decode_png(encoded, dtype=tf.uint16).numpy().tolist() == pixels.tolist() == tf.io.decode_image(encoded, dtype=tf.uint16).numpy().tolist()
        assert tf.io.decode_png(encoded).numpy().tolist() == (pixels >> 8).tolist()
    assert tf.io.decode_png(tf.io.encode_png([[[1], [255]]])).numpy().ravel().tolist() == [1, 255]  # numbers in lists are pixels of 8 bits
    for refused in ([[[1], [256]]], np.float32([[[1]]])):
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
            tf.io.encode_png(refused)


def test_checkpoints_in_graphs_without_a_default_session(tmp_path):
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        checkpoint, session = v1.train.Checkpoint(v=v), v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
        with pytest.raises(tf.errors.OpError):  # Keras's session has no value for it: never its first one without a word
            checkpoint.save(str(tmp_path / "none"))
        path = checkpoint.save(str(tmp_path / "ckpt"), session=session)
        assert os.path.exists(path + ".index") and not glob.glob(str(tmp_path / "none*"))
        session.run(v.assign([7.0, 8.0]))
        other = v1.Session(graph=graph)
        checkpoint.restore(path).assert_consumed().run_restore_ops(session=other)
        assert session.run(v).tolist() == [7, 8] and other.run(v).tolist() == [1, 2]
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "kept"), 2)
        with other.as_default():
            manager.save()
        assert checkpoint.write(str(tmp_path / "written"), session=session) == str(tmp_path / "written")
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=[0.0, 0.0])
        status = tf.train.Checkpoint(v=v).restore(manager.latest_checkpoint)  # no session is needed to find what is there
        with v1.Session(graph=graph) as session:
            status.initialize_or_restore(session)
            assert session.run(v).tolist() == [1, 2]
    v1.keras.backend.clear_session()


def test_graphs_of_functions_are_graphs():
    seen = []

    @tf.function
    def body(x):
        with x.graph.as_default() as graph:
            y = tf.constant(2.0) * x
        seen.append((isinstance(x.graph, tf.Graph), graph == x.graph, y.graph == x.graph, x.graph))
        return y
    assert body(tf.constant(3.0)).numpy() == 6
    concrete = body.get_concrete_function(tf.constant(1.0))
    assert seen[0][:3] == (True, True, True)
    assert isinstance(concrete.graph, tf.Graph) and type(concrete.graph).__name__ == "FuncGraph" and concrete.graph == seen[0][3]
    for graph in (concrete.graph, seen[0][3]):
        with pytest.raises(NotImplementedError, match="only while it is traced"):
            with graph.as_default():
                pass
    assert not isinstance(concrete, tf.Graph) and isinstance(tf.Graph(), tf.Graph)


@pytest.mark.parametrize("name", ["train_one_step", "f", "_", "step_2", "__inference_x"])
def test_a_graph_is_named_as_its_function(name):
    def body(x):
        return x
    body.__name__ = name
    graph = tf.function(body).get_concrete_function(tf.constant(1)).graph
    assert graph.name == name and str(graph).startswith("FuncGraph(name=%s, id=" % name)
