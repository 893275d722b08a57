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
