"""A SavedModel of TensorFlow 1 (tests/golden/saved_model_v1.py): its signatures, variables and gradients, and its graph in a session."""
import json
import os
import zipfile

import numpy as np
import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "saved_model_v1")
with open(os.path.join(GOLDEN, "values.json")) as _file:
    VALUES = json.load(_file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("model")
    with zipfile.ZipFile(os.path.join(GOLDEN, "model.zip")) as archive:
        archive.extractall(made)
    return str(made)


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
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        meta = v1.saved_model.loader.load(session, ["serve"], folder)
        names = meta.signature_def["serving_default"].outputs
        found = session.run([names["y"].name, names["z"].name], {"x:0": VALUES["x"]})
        np.testing.assert_allclose(found[0], VALUES["y"], rtol=1e-5)
        np.testing.assert_allclose(found[1], VALUES["z"], rtol=1e-5)
        np.testing.assert_allclose(session.run(names["z"].name, {"x:0": VALUES["x"], "training:0": True}), 2 * np.float32(VALUES["y"]), rtol=1e-5)
