"""Feature columns and DenseFeatures give what TensorFlow gives (tests/golden/features.py): values, names, configs, specs, errors, files."""
import json
import re

import numpy as np
import pytest

from golden_files import golden_file
import feature_cases
import thalweg as tf

with open(golden_file("features", "features.json")) as f:
    EXPECTED = json.load(f)
CASES, ERRORS = EXPECTED["cases"], EXPECTED["errors"]
NAMES = [name for name in CASES if name not in ("several", "drawn", "model")]


def plain(value):
    """Tuples as lists."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key not in ("initializer", "trainable")}
    return [plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def test_every_case_was_run_by_tensorflow():
    assert NAMES == list(feature_cases.columns(tf)) and list(ERRORS) == list(feature_cases.errors(tf))


@pytest.mark.parametrize("name", NAMES)
def test_column(name):
    expected, column = CASES[name], feature_cases.columns(tf)[name]
    assert feature_cases.described(column) == expected["about"]
    layer, given = tf.keras.layers.DenseFeatures(column), feature_cases.features(tf)
    assert layer(given).dtype == tf.float32
    np.testing.assert_allclose(layer(given), expected["value"], rtol=1e-6)
    np.testing.assert_allclose(tf.function(layer)(given), expected["value"], rtol=1e-6)
    assert [w.name.split("/", 1)[1] for w in layer.weights] == [n.split("/", 1)[1] for n, _ in expected["weights"]]
    assert [w.trainable for w in layer.weights] == [t for _, t in expected["weights"]]
    assert list(layer.compute_output_shape((3, 1))) == expected["shape"]
    assert column == feature_cases.columns(tf)[name] or "embedding" in name or "normalized" in name
    if expected["config"] is not None:
        assert plain(layer.get_config()["feature_columns"]) == plain(expected["config"])
        again = tf.keras.layers.DenseFeatures.from_config(layer.get_config())
        again(given)
        again.set_weights(layer.get_weights())
        np.testing.assert_array_equal(again(given), layer(given))
        np.testing.assert_allclose(tf.keras.layers.DenseFeatures(expected["config"])(given).shape, np.shape(expected["value"]))


def test_several_columns():
    every, expected = feature_cases.columns(tf), CASES["several"]
    layer = tf.keras.layers.DenseFeatures([every[name] for name in expected["names"]])
    np.testing.assert_allclose(layer(feature_cases.features(tf)), expected["value"], rtol=1e-6)


def test_first_weights():
    """The usual initializer draws what TensorFlow draws."""
    fc = tf.feature_column
    tf.random.set_seed(1)
    layer = tf.keras.layers.DenseFeatures(fc.embedding_column(fc.categorical_column_with_hash_bucket("word", 10), 3))
    np.testing.assert_allclose(layer(feature_cases.features(tf)), CASES["drawn"]["value"], rtol=1e-6)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    found, expected = feature_cases.failure(feature_cases.errors(tf)[name]), ERRORS[name]
    assert found is not None and found[0] == expected[0]
    if not any(word in expected[1] for word in ("Given: [", "_list ['")):  # lists are shown as tuples
        assert found[1] == expected[1].replace("Given: 3.0", "Given: tf.Tensor(3.0, shape=(), dtype=float32)")


def sequential():
    every = feature_cases.columns(tf)
    return tf.keras.Sequential([tf.keras.layers.DenseFeatures([every["embedding"], every["list"], every["numeric"]]),
                                tf.keras.layers.Dense(1, kernel_initializer="ones")])


def few(*names):
    return {key: value for key, value in feature_cases.features(tf).items() if key in names}


def test_model():
    """A Sequential of columns learns from a dataset of dicts, as in TensorFlow."""
    model, given, expected = sequential(), few("words", "word", "age"), CASES["model"]
    model.compile("sgd", "mse")
    history = model.fit(tf.data.Dataset.from_tensors((given, tf.constant([[1.], [2.], [3.]]))), epochs=2, verbose=0)
    np.testing.assert_allclose(history.history["loss"], expected["loss"], rtol=1e-5)
    np.testing.assert_allclose(model(given), expected["predicted"], rtol=1e-5)
    assert [re.sub(r"_\d+/", "/", w.name.split("/", 1)[-1]) for w in model.weights] == [re.sub(r"_\d+/", "/", name) for name in expected["names"]]


def test_model_of_tensorflow():
    loaded = tf.saved_model.load(golden_file("features", "model"))
    np.testing.assert_allclose(sorted(np.ravel(v).tolist() for v in loaded.variables if v.shape.rank == 2)[0], np.ravel(loaded.variables[0]))


def test_saved_model(tmp_path):
    fc = tf.feature_column
    columns = [fc.numeric_column("age"), fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["fixed", "normal"], num_oov_buckets=1)),
               fc.embedding_column(fc.crossed_column(["word", "id"], 10), 2)]
    model, given = tf.keras.Sequential([tf.keras.layers.DenseFeatures(columns), tf.keras.layers.Dense(2)]), few("age", "word", "id")
    y = model(given)
    model.compile("sgd", "mse")
    model.fit(given, tf.zeros((3, 2)), verbose=0)
    y = model(given)
    model.save(str(tmp_path / "model"))
    np.testing.assert_allclose(tf.keras.models.load_model(str(tmp_path / "model"))(given), y, rtol=1e-6)
    served = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    np.testing.assert_allclose(list(served(**given).values())[0], y, rtol=1e-6)


def test_functional(tmp_path):
    fc = tf.feature_column
    inputs = {"age": tf.keras.Input((1,), name="age"), "word": tf.keras.Input((1,), name="word", dtype=tf.string)}
    layer = tf.keras.layers.DenseFeatures([fc.bucketized_column(fc.numeric_column("age"), [18., 25.]),
                                           fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["fixed", "normal"]))])
    model, given = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(layer(inputs))), few("age", "word")
    assert layer.output_shape == (None, 5)
    y = model(given)
    for name in ("m.keras", "m.h5", "m"):
        model.save(str(tmp_path / name))
        np.testing.assert_allclose(tf.keras.models.load_model(str(tmp_path / name))(given), y, rtol=1e-6)


def test_parsing():
    fc = tf.feature_column
    columns = [fc.numeric_column("age", default_value=3.), fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["a", "b"]))]
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b", b"a"]))
    example = tf.train.Example(features=tf.train.Features(feature={"word": feature})).SerializeToString()
    parsed = tf.io.parse_example([example], fc.make_parse_example_spec(columns))
    np.testing.assert_array_equal(tf.keras.layers.DenseFeatures(columns)(parsed), [[3., 1., 1.]])


def test_in_a_session():
    fc, v1 = tf.compat.v1.feature_column, tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"])
        made = fc.input_layer({"age": tf.constant([[1.], [2.]]), "word": tf.constant([["b"], ["c"]])}, [fc.numeric_column("age"), fc.indicator_column(word)])
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        np.testing.assert_array_equal(session.run(made), [[1., 0., 1.], [2., 0., 0.]])


def test_not_supported():
    with pytest.raises(tf.errors.UnimplementedError, match="cols_to_output_tensors"):
        tf.keras.layers.DenseFeatures(tf.feature_column.numeric_column("a"))({"a": tf.constant([1.])}, cols_to_output_tensors={1: 2})
