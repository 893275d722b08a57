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
