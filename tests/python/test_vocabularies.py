"""Vocabularies that layers learnt, in files: those that TensorFlow wrote, and what HDF5 says."""
import json
import zipfile

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

EXPECTED = json.load(open(golden_file("vocabularies", "expected.json")))


def lookup_of(model):
    return model.layers[-1]


@pytest.mark.parametrize("name,file", [(name, name + ".keras") for name in EXPECTED] + [("text", "text")])
def test_file_of_tensorflow(name, file):
    expected = EXPECTED[name]
    model = tf.keras.models.load_model(golden_file("vocabularies", file))
    x = tf.constant(expected["x"], tf.int64 if name == "numbers" else tf.string)
    np.testing.assert_allclose(model(x), expected["y"], rtol=1e-6)
    assert [str(w) for w in lookup_of(model).get_vocabulary()] == expected["vocabulary"]


def test_functions_of_tensorflow():
    loaded = tf.saved_model.load(golden_file("vocabularies", "text"))
    np.testing.assert_allclose(loaded(tf.constant(EXPECTED["text"]["x"])), EXPECTED["text"]["y"], rtol=1e-6)


@pytest.mark.parametrize("name", EXPECTED)
def test_archive(name, tmp_path):
    """The archive has the members that TensorFlow's has, and the same vocabulary."""
    theirs = golden_file("vocabularies", name + ".keras")
    tf.keras.models.load_model(theirs).save(str(tmp_path / "m.keras"))
    with zipfile.ZipFile(theirs) as a, zipfile.ZipFile(str(tmp_path / "m.keras")) as b:
        texts = [n for n in a.namelist() if n.endswith(".txt")]
        assert sorted(a.namelist()) == sorted(b.namelist()) and texts
        assert all(a.read(n) == b.read(n) for n in texts)


def test_hdf5_refuses(tmp_path):
    layer = tf.keras.layers.StringLookup()
    layer.adapt(["a", "b"])
    x = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(x, layer(x))
    with pytest.raises(NotImplementedError, match="not supported in h5"):
        model.save_weights(str(tmp_path / "w.h5"))


def test_training_on_texts():
    """Raw texts in, a model of embeddings behind a vectorization, which is part of the model that is saved."""
    texts = np.array(["good film", "bad film", "very good", "very bad", "good, good!", "bad..."] * 4)
    labels = np.array([1, 0, 1, 0, 1, 0] * 4, np.float32)
    vectorize = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=3)
    vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(5))
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), vectorize, tf.keras.layers.Embedding(20, 4), tf.keras.layers.GlobalAveragePooling1D(),
                                 tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile(tf.keras.optimizers.Adam(0.1), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(texts[:, None], labels, epochs=12, verbose=0)
    assert history.history["accuracy"][-1] == 1.0
    mapped = tf.data.Dataset.from_tensor_slices(texts).map(vectorize).batch(4)
    assert next(iter(mapped)).shape == (4, 3)


LAYERS = {"StringLookup": ("a", tf.string), "TextVectorization": ("a", tf.string), "IntegerLookup": (1, tf.int64)}


@pytest.mark.parametrize("name", LAYERS)
def test_no_vocabulary_is_an_error(name):
    """Eagerly, in functions, datasets and models: nothing is looked up in a table that has not learnt yet."""
    word, dtype = LAYERS[name]
    x = tf.constant([[word]], dtype)
    make = getattr(tf.keras.layers, name)
    layer = make()
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype=dtype), layer])
    calls = [lambda: layer(x), lambda: tf.function(layer)(x), lambda: list(tf.data.Dataset.from_tensors(x).map(layer)),
             lambda: model.predict(x, verbose=0)]
    for call in calls:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            call()
    layer.adapt(x)
    for call in calls[:3]:
        call()
    assert tf.keras.Sequential([tf.keras.Input((1,), dtype=dtype), layer]).predict(x, verbose=0).shape == (1, 1)


@pytest.mark.parametrize("name", ["StringLookup", "TextVectorization"])
def test_encodings(name):
    make = getattr(tf.keras.layers, name)
    for encoding in ("utf-8", "UTF8"):
        assert make(vocabulary=["é"], encoding=encoding).get_vocabulary()[-1] == "é"
    with pytest.raises(tf.errors.UnimplementedError, match="latin-1"):
        make(encoding="latin-1")


@pytest.mark.parametrize("make", [lambda k, s, b: k.Normalization(mean=s, variance=s)(tf.ones((2, 1))), lambda k, s, b: k.Normalization(mean=s),
                                  lambda k, s, b: k.RandomBrightness(s), lambda k, s, b: k.RandomBrightness(.5, s),
                                  lambda k, s, b: k.Discretization(b)])
def test_settings_are_no_symbolic_tensors(make):
    def body(s, b):
        with pytest.raises((ValueError, TypeError)):
            make(tf.keras.layers, s, b)
        return tf.constant(1)
    tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec([], tf.string), tf.TensorSpec([2], tf.bool))


def test_damaged_vocabularies(tmp_path):
    """Every byte of a vocabulary that a .keras file has is under its checksum."""
    layer = tf.keras.layers.StringLookup()
    layer.adapt(["one", "two", "two"])
    path = tmp_path / "m.keras"
    tf.keras.Sequential([tf.keras.Input((1,), dtype=tf.string), layer]).save(str(path))
    whole = path.read_bytes()
    at = whole.index(b"two\none")
    for i in range(at, at + 7):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1:])
        with pytest.raises((tf.errors.DataLossError, ValueError, OSError), match="vocabulary|checksum"):
            tf.keras.models.load_model(str(path))
    path.write_bytes(whole)
    assert tf.keras.models.load_model(str(path)).layers[-1].get_vocabulary() == ["[UNK]", "two", "one"]
