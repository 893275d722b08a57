"""tf.compat.v1.saved_model: models that the builder writes are read again, here by sessions and functions; signatures and their checks."""
import numpy as np
import pytest

import thalweg as tf

v1 = tf.compat.v1
s = v1.saved_model


def graph():
    """x, y = x w + 1 with a variable."""
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    w = v1.get_variable("w", initializer=tf.constant([[2.], [3.]]))
    return x, tf.add(tf.matmul(x, w), 1., name="y")


def check(path):
    served = tf.saved_model.load(path, tags=["serve"]).signatures["serving_default"]
    np.testing.assert_allclose(served(x=tf.constant([[1., 1.]]))["y"], [[6.]])
    with tf.Graph().as_default(), v1.Session() as session:
        meta = s.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        x, y = (s.get_tensor_from_tensor_info(info) for info in (signature.inputs["x"], signature.outputs["y"]))
        np.testing.assert_allclose(session.run(y, {x: [[0., 1.]]}), [[4.]])
        assert s.is_valid_signature(signature)
    assert s.loader.maybe_saved_model_directory(path)


def test_simple_save(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = graph()
        session.run(v1.global_variables_initializer())
        s.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y})
    check(str(tmp_path / "m"))


@pytest.mark.parametrize("as_text", [False, True])
def test_builder(tmp_path, as_text):
    path = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = graph()
        session.run(v1.global_variables_initializer())
        builder = s.builder.SavedModelBuilder(path)
        signature = s.signature_def_utils.build_signature_def({"x": s.utils.build_tensor_info(x)}, {"y": s.utils.build_tensor_info(y)},
                                                              s.signature_constants.PREDICT_METHOD_NAME)
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["other"])
        builder.add_meta_graph_and_variables(session, [s.tag_constants.SERVING], {s.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature})
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(session, ["more"])
        builder.add_meta_graph(["other"])
        assert builder.save(as_text).decode().endswith("saved_model.pbtxt" if as_text else "saved_model.pb")
    if not as_text:
        check(path)
    with pytest.raises(AssertionError, match="already exists"):
        s.Builder(path)


def test_table_and_main_op(tmp_path):
    """What is to be run first fills tables."""
    with tf.Graph().as_default(), v1.Session() as session:
        word = v1.placeholder(tf.string, [None], name="word")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        found = tf.identity(table.lookup(word), name="found")
        v1.get_variable("v", [])
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        builder = s.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": s.predict_signature_def({"word": word}, {"found": found})},
                                             main_op=v1.tables_initializer())
        builder.save()
    served = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    assert served(word=tf.constant(["b", "z"]))["found"].numpy().tolist() == [2, -1]


def test_signatures():
    with tf.Graph().as_default():
        examples, scores = v1.placeholder(tf.string, [None]), v1.placeholder(tf.float32, [None, 1])
        for made, good in ((s.classification_signature_def(examples, None, scores), True), (s.regression_signature_def(examples, scores), True),
                           (s.build_signature_def(method_name="other"), False)):
            assert s.is_valid_signature(made) is good
        for call, words in ((lambda: s.predict_signature_def({}, {"a": scores}), "inputs cannot be None or empty"),
                            (lambda: s.regression_signature_def(scores, scores), "must be of type string"),
                            (lambda: s.classification_signature_def(examples, None, None), "cannot both be None")):
            with pytest.raises(ValueError, match=words):
                call()
    with pytest.raises(RuntimeError, match="not supported in eager execution"):
        s.build_tensor_info(tf.constant(1))
