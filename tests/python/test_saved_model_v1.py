"""SavedModels and MetaGraphDefs of TensorFlow 1 (tests/golden/saved_model_v1.py): signatures, variables, gradients, tables with assets, sessions, parts of graphs
as functions, and Savers."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "saved_model_v1")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)


v1 = tf.compat.v1


def _unpacked(made, name):
    with zipfile.ZipFile(os.path.join(GOLDEN, name + ".zip")) as archive:
        archive.extractall(made)
    return str(made)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return _unpacked(tmp_path_factory.mktemp("model"), "model")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return _unpacked(tmp_path_factory.mktemp("tables"), "tables")


@pytest.fixture(scope="module")
def meta(tmp_path_factory):
    return os.path.join(_unpacked(tmp_path_factory.mktemp("meta"), "meta"), "ckpt-1")


def test_load(folder):
    model = tf.saved_model.load(folder)
    signature = model.signatures["serving_default"]
    assert signature.structured_outputs == {name: tf.TensorSpec([None, 2, 2, 2], tf.float32, name=name) for name in "yz"}
    assert signature.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2, 2, 4], tf.float32, name="x")})
    assert [(v.name, v.trainable) for v in model.variables] == [("w:0", True), ("scale:0", False)] and float(model.variables[1]) == 3
    with tf.GradientTape() as tape:
        found = signature(x=tf.constant(VALUES["x"]))
        total = tf.reduce_sum(found["z"])
    for name in "yz":
        np.testing.assert_allclose(found[name].numpy(), VALUES[name], rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(total, model.variables[0]).numpy(), VALUES["gradient"], rtol=1e-5)
    model.variables[1].assign(6.0)
    np.testing.assert_allclose(signature(tf.constant(VALUES["x"]))["y"].numpy(), 2 * np.float32(VALUES["y"]), rtol=1e-5)


def test_session(folder):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        meta = v1.saved_model.loader.load(session, ["serve"], folder)
        names = meta.signature_def["serving_default"].outputs
        found = session.run([names["y"].name, names["z"].name], {"x:0": VALUES["x"]})
        np.testing.assert_allclose(found[0], VALUES["y"], rtol=1e-5)
        np.testing.assert_allclose(found[1], VALUES["z"], rtol=1e-5)
        np.testing.assert_allclose(session.run(names["z"].name, {"x:0": VALUES["x"], "training:0": True}), 2 * np.float32(VALUES["y"]), rtol=1e-5)


def test_collections_of_a_session(folder):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.saved_model.loader.load(session, ["serve"], folder, import_scope="deep")
        assert [v.name for v in v1.global_variables()] == ["deep/w:0", "deep/scale:0"] and [v.name for v in v1.trainable_variables()] == ["deep/w:0"]
        assert session.run(v1.global_variables()[1]) == 3
        session.run(v1.assign(v1.global_variables()[1], 6.0))
        np.testing.assert_allclose(session.run("deep/mul:0", {"deep/x:0": VALUES["x"]}), 2 * np.float32(VALUES["y"]), rtol=1e-5)
        gradient = tf.gradients(tf.reduce_sum(graph.get_tensor_by_name("deep/cond/Merge:0")), v1.trainable_variables()[0])[0]
        assert session.run(gradient, {"deep/x:0": VALUES["x"]}).shape == (1, 1, 4, 2)


def test_parts_of_a_loaded_graph(folder):
    model = tf.saved_model.load(folder)
    x = tf.constant(VALUES["x"])
    for feeds, fetches in (("x:0", "mul:0"), (model.graph.get_tensor_by_name("x:0"), model.graph.get_tensor_by_name("mul:0"))):
        np.testing.assert_allclose(model.prune(feeds, fetches)(x).numpy(), VALUES["y"], rtol=1e-5)
    both = model.prune(["x:0", "training:0"], {"y": "mul:0", "z": ["cond/Merge:0"]})
    found = both(x, tf.constant(True))
    np.testing.assert_allclose(found["z"][0].numpy(), 2 * np.float32(VALUES["y"]), rtol=1e-5)
    model.variables[1].assign(1.5)
    np.testing.assert_allclose(both(x, tf.constant(False))["y"].numpy(), np.float32(VALUES["y"]) / 2, rtol=1e-5)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(both(x, tf.constant(False))["y"])
    assert tape.gradient(total, model.variables[0]) is not None


def _plain(value):
    return [v.decode() if isinstance(v, bytes) else v for v in np.asarray(value).ravel().tolist()]


def test_tables(tables):
    examples = [bytes.fromhex(e) for e in VALUES["tables"]["examples"]]
    wanted = VALUES["tables"]["outputs"]
    found = tf.saved_model.load(tables).signatures["serving_default"](examples=tf.constant(examples))
    assert {name: _plain(value) for name, value in found.items()} == wanted
    for scope in (None, "inside"):
        with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
            outputs = v1.saved_model.loader.load(session, ["serve"], tables, import_scope=scope).signature_def["serving_default"].outputs
            start = scope + "/" if scope else ""
            found = session.run({name: start + outputs[name].name for name in wanted}, {start + "examples:0": examples})
            assert {name: _plain(value) for name, value in found.items()} == wanted


def test_a_table_that_nobody_filled(tables):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        signature = v1.saved_model.loader.load(session, ["serve"], tables).signature_def["serving_default"]
    with v1.Session(graph=graph) as session, pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
        session.run(signature.outputs["known"].name, {"examples:0": [bytes.fromhex(VALUES["tables"]["examples"][0])]})


@pytest.mark.parametrize("scope", [None, "again"])
def test_meta_graph(meta, scope, tmp_path):
    values, start = VALUES["meta"], scope + "/" if scope else ""
    feeds = {start + name + ":0": values[name] for name in ("x", "labels")}
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        saver = v1.train.import_meta_graph(meta + ".meta", import_scope=scope)
        saver.restore(session, meta)
        assert [v.name for v in v1.global_variables()] == [start + name for name in values["variables"]]
        assert [v.name for v in v1.trainable_variables()] == [start + name for name in values["trainable"]]
        assert v1.get_collection("result")[0].name == start + "y:0" and v1.get_collection("width") == [4]
        for wanted, found in zip(values["first"], session.run([start + "loss:0", start + "y:0"], feeds)):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
        session.run(v1.get_collection("train_op")[0], feeds)
        for wanted, found in zip(values["second"], session.run([start + "loss:0", start + "y:0", v1.train.get_global_step(graph)], feeds)):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
        path = saver.save(session, str(tmp_path / "new"), global_step=2)
        assert saver.last_checkpoints == [path] and v1.train.latest_checkpoint(str(tmp_path)) == path
        assert sorted(os.listdir(tmp_path)) == ["checkpoint", "new-2.data-00000-of-00001", "new-2.index", "new-2.meta"]
        session.run(v1.global_variables_initializer())
        saver.restore(session, path)
        np.testing.assert_allclose(session.run(start + "loss:0", feeds), values["second"][0], rtol=1e-5)


def test_meta_graph_of_a_file_that_is_none(tmp_path):
    with tf.Graph().as_default():
        with pytest.raises(OSError, match="does not exist"):
            v1.train.import_meta_graph(str(tmp_path / "nothing.meta"))
        (tmp_path / "bad.meta").write_bytes(b"\xff\xff\xff")
        with pytest.raises(OSError, match="Cannot parse file"):
            v1.train.import_meta_graph(str(tmp_path / "bad.meta"))


@pytest.mark.parametrize("sharded", [False, True])
def test_savers_write_and_read(sharded, tmp_path):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        saver = v1.train.Saver(sharded=sharded)
        session.run(v1.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "ckpt"))
        assert saver.as_saver_def().sharded is sharded and saver.as_saver_def().save_tensor_name == ("save/Identity:0" if sharded else "save/control_dependency:0")
        assert {"ckpt.data-00000-of-00001", "ckpt.index", "ckpt.meta", "checkpoint"} == set(os.listdir(tmp_path))
        session.run(v.assign([5.0, 6.0]))
        saver.restore(session, path)
        assert session.run(v).tolist() == [1, 2]
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.train.import_meta_graph(path + ".meta").restore(session, path)
        assert session.run("v:0" if sharded is None else v1.global_variables()[0]).tolist() == [1, 2]


def test_checkpoints_are_merged(tmp_path):
    for i in range(3):
        tf.raw_ops.SaveV2(prefix=str(tmp_path / "parts" / ("part-%d" % i)), tensor_names=["t%d" % i], shape_and_slices=[""], tensors=[tf.constant([i, 2 * i])])
    parts = [str(tmp_path / "parts" / ("part-%d" % i)) for i in range(3)]
    missing = parts + [str(tmp_path / "parts" / "part-3")]
    with pytest.raises(tf.errors.NotFoundError):
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=missing, destination_prefix=str(tmp_path / "all"))
    assert sorted(os.listdir(tmp_path)) == ["parts"]
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=missing, destination_prefix=str(tmp_path / "all"), allow_missing_files=True)
    assert sorted(os.listdir(tmp_path)) == ["all.data-00000-of-00001", "all.index"]
    reader = tf.train.load_checkpoint(str(tmp_path / "all"))
    assert {name: reader.get_tensor(name).tolist() for name in reader.get_variable_to_shape_map()} == {"t%d" % i: [i, 2 * i] for i in range(3)}


def test_wrapped_functions():
    made = []

    def body(x, y):
        made.append(v1.get_variable("v", initializer=[1.0, 2.0]))
        return {"sum": x + y * made[0], "op": v1.assign_add(made[0], [10.0, 10.0], name="add").op}

    wrapped = v1.wrap_function(body, [tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.float32)])
    found = wrapped(tf.constant([1.0, 1.0]), tf.constant(2.0))
    assert found["op"] is None and len(made) == 1 and [v.name for v in wrapped.variables] == ["v:0"]
    twice = wrapped.prune(wrapped.inputs[:0], "v/Read/ReadVariableOp:0")
    assert twice().numpy().tolist() == [11, 12] and wrapped.variables[0].numpy().tolist() == [11, 12]
    wrapped.variables[0].assign([0.0, 1.0])
    assert twice().numpy().tolist() == [0, 1]


def test_wrapped_graph_def(folder):
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        v1.saved_model.loader.load(session, ["serve"], folder)
        frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["mul"])
    wrapped = v1.wrap_function(lambda: tf.import_graph_def(frozen, name="here"), [])
    function = wrapped.prune(wrapped.graph.get_tensor_by_name("here/x:0"), wrapped.graph.get_tensor_by_name("here/mul:0"))
    np.testing.assert_allclose(function(tf.constant(VALUES["x"])).numpy(), VALUES["y"], rtol=1e-5)
    assert function.inputs[0].shape.as_list() == [None, 2, 2, 4] and function.structured_outputs.shape.as_list() == [None, 2, 2, 2]
