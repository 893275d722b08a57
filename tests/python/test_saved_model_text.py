"""A SavedModel as text, saved_model.pbtxt, that TensorFlow wrote (tests/golden/saved_model_text.py); and such files that are damaged."""
import os
import zipfile

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

GOLDEN = golden_file("saved_model_text", "saved_model_text.zip")


@pytest.fixture
def model(tmp_path):
    zipfile.ZipFile(GOLDEN).extractall(tmp_path)
    return str(tmp_path)


def test_values(model):
    loaded = tf.saved_model.load(model)
    for call in (loaded.f, loaded.signatures["serving_default"]):
        out = call(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
        assert out["total"].numpy().tolist() == [16, 36] and out["bytes"].numpy() == bytes(range(256))
        assert np.isnan(out["odd"].numpy()[0]) and out["odd"].numpy()[1:].tolist() == [np.float32(1e-30), -2.5]
        assert call(tf.constant([[-1.0, -2.0]]))["total"].numpy().tolist() == [-1, np.inf]
    assert tf.saved_model.contains_saved_model(model)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(loaded.f(tf.constant([[1.0, 2.0]]))["total"])
    assert tape.gradient(y, loaded.w).numpy().tolist() == [[1, 2], [1, 2]]


def test_sessions(model):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.loader.load(session, ["serve"], model)
        signature = meta.signature_def["serving_default"]
        total = session.run(signature.outputs["total"].name, {signature.inputs["x"].name: [[1.0, 2.0]]})
    assert total.tolist() == [5, 11]


def test_the_same_in_other_forms(model):
    """Braces and angles, lists, separators and comments."""
    path = os.path.join(model, "saved_model.pbtxt")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write("# a comment\n" + text.replace(" {\n", ": <\n").replace("}\n", "> ;\n").replace('tags: "serve"', "tags: ['ser' \"ve\"],"))
    assert tf.saved_model.load(model).f(tf.constant([[1.0, 2.0]]))["total"].numpy().tolist() == [5, 11]


@pytest.mark.parametrize("text, wrong", [
    ("meta_graphs { nothing: 1 }", "line 1: a name that the message does not have"), ("meta_graphs {\n graph_def {", "line 2: the text ends inside of a message"),
    ("saved_model_schema_version: x", "a whole number is expected"), ("saved_model_schema_version 1", ": is expected"),
    ('meta_graphs { meta_info_def { tags: "serve } }', "a string without an end"), ('meta_graphs { meta_info_def { tags: "\\q" } }', "an escape that there is not"),
    ("meta_graphs { meta_info_def { stripped_default_attrs: maybe } }", "true or false is expected"),
    ('meta_graphs { graph_def { node { attr { key: "T" value { type: DT_NOTHING } } } } }', "a name that its enum does not have"),
    ("meta_graphs { meta_info_def { any_info { [type.googleapis.com/x.Y] { } } } }", "a message that is not known"), ("}", "a name is expected"),
    ("meta_graphs { graph_def { library { function { node_def " + "{ attr { value { func { attr { value { list { func " * 60, "nested too deep"),
])
def test_errors(model, text, wrong):
    with open(os.path.join(model, "saved_model.pbtxt"), "w") as file:
        file.write(text)
    with pytest.raises(tf.errors.DataLossError) as error:
        tf.saved_model.load(model)
    assert wrong in str(error.value) and "saved_model.pbtxt: line " in str(error.value)


def test_damage(model):
    path = os.path.join(model, "saved_model.pbtxt")
    with open(path, "rb") as file:
        whole = file.read()
    for at in range(0, len(whole), len(whole) // 150):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1:]):
            with open(path, "wb") as file:
                file.write(damaged)
            try:
                tf.saved_model.load(model)
            except Exception:
                pass
