"""Graphs as TensorFlow 1 wrote them: imported, run in a session, equal to what TensorFlow computes (tests/golden/v1_graphs.py)."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

v1 = tf.compat.v1
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "v1_graphs")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)


def graph_def_of(name):
    with zipfile.ZipFile(os.path.join(GOLDEN, "graphs.zip")) as archive:
        return v1.GraphDef.FromString(archive.read(name + ".pb"))


def array(value):
    if value["dtype"] == "string":
        return np.array([v.encode() for v in value["values"]], object).reshape(value["shape"])
    return np.array([float("nan") if v == "nan" else v for v in value["values"]], value["dtype"]).reshape(value["shape"])


def check(found, wanted, what):
    wanted = array(wanted)
    found = np.asarray(found)
    assert found.shape == wanted.shape and (found.dtype == wanted.dtype or wanted.dtype == object), what
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6, err_msg=str(what))
    else:
        assert found.tolist() == wanted.tolist(), what


@pytest.mark.parametrize("prefix", ["", "imported"])
@pytest.mark.parametrize("name", sorted(VALUES))
def test_runs(name, prefix):
    start = prefix + "/" if prefix else ""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def_of(name), name=prefix)
    with v1.Session(graph=graph) as session:
        for i, step in enumerate(VALUES[name]):
            values = session.run([start + fetch for fetch in step["fetches"]], {start + key: value for key, value in step["feeds"].items()})
            for fetch, value, wanted in zip(step["fetches"], values, step["values"]):
                assert (value is None) == (wanted is None)
                if wanted is not None:
                    check(value, wanted, (name, i, fetch))


def with_bodies(factor):
    """A graph with a loop, branches and their derivatives."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x * factor), [tf.constant(0), tf.constant(1.0)])[1]
        y = tf.cond(x > 1, lambda: total + factor, lambda: total - factor)
        y = tf.switch_case(tf.cast(x, tf.int32), [lambda: y * 2, lambda: y * 3])
        tf.identity(y, name="y")
        tf.identity(tf.gradients(y, x)[0], name="g")
        return graph.as_graph_def()


def test_bodies_have_names_of_their_own():
    """Functions of one name in two graphs are one function: so both can be in one program, of TensorFlow too."""
    graphs = [with_bodies(factor) for factor in (1.0, 2.0)]
    assert with_bodies(1.0) == graphs[0]
    libraries = [{f.signature.name: f.SerializeToString() for f in graph.library.function} for graph in graphs]
    assert all(a == libraries[1].get(name, a) for name, a in libraries[0].items())
    assert {name for name in libraries[0] if name.startswith("while_body")} != {name for name in libraries[1] if name.startswith("while_body")}
    with tf.Graph().as_default():
        parts = [tf.import_graph_def(graph, return_elements=["x:0", "y:0", "g:0"], name="m%d" % i) for i, graph in enumerate(graphs)]
        with tf.compat.v1.Session() as session:
            got = session.run([part[1:] for part in parts], {part[0]: 1.5 for part in parts})
    assert [[float(value) for value in values] for values in got] == [[13.125, 20.25], [87.0, 162.0]]
def _graph_def(text_nodes, producer):
    """(name, op, inputs, attrs) as a GraphDef that a program of that time wrote."""
    made = v1.GraphDef()
    made.versions.producer = producer
    for name, op, inputs, attrs in text_nodes:
        node = made.node.add(name=name, op=op)
        node.input.extend(inputs)
        for key, (field, value) in attrs.items():
            setattr(node.attr[key], field, value)
    return made


FLOAT = ("type", 1)


def test_forms_that_tensorflow_has_dropped():
    """TopK and the Batch ops are older than TensorFlow 1.0; today's TensorFlow refuses to run them."""
    nodes = [("x", "Placeholder", [], {"dtype": FLOAT}), ("top", "TopK", ["x"], {"T": FLOAT, "k": ("i", 2), "sorted": ("b", True)}),
             ("inverse", "BatchMatrixInverse", ["x"], {"T": FLOAT, "adjoint": ("b", False)})]
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        tf.import_graph_def(_graph_def(nodes, 5), name="")
        values, places = session.run(["top:0", "top:1"], {"x:0": [[1.0, 3.0, 2.0]]})
        assert values.tolist() == [[3, 2]] and places.tolist() == [[1, 2]]
        assert session.run("inverse:0", {"x:0": [[2.0, 0.0], [0.0, 4.0]]}).tolist() == [[0.5, 0], [0, 0.25]]


@pytest.mark.parametrize("producer,fits", [(20, True), (23, True), (24, False), (1000, False)])
def test_placeholders_of_no_shape(producer, fits):
    """Until version 24 an empty shape meant any shape; from then on it is that of a scalar."""
    made = _graph_def([("x", "Placeholder", [], {"dtype": FLOAT}), ("y", "Neg", ["x"], {"T": FLOAT})], producer)
    made.node[0].attr["shape"].shape.SetInParent()
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        tf.import_graph_def(made, name="")
        assert graph.get_tensor_by_name("x:0").shape.rank == (None if fits else 0) and session.run("y:0", {"x:0": 2.0}) == -2
        if fits:
            assert session.run("y:0", {"x:0": [[1.0, 2.0]]}).tolist() == [[-1, -2]]
        else:
            with pytest.raises(ValueError, match="Cannot feed value of shape"):
                session.run("y:0", {"x:0": [[1.0, 2.0]]})
