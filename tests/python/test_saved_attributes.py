"""Keras models out of SavedModels of TensorFlow's (tests/golden/saved_attributes.py) and of ours: functions, tables and variables that hang on a model
which is rebuilt of its config; layers of unknown classes that take several arguments."""
import zipfile

import numpy as np
import pytest
import saved_attribute_cases as cases
from golden_files import golden_file
import thalweg as tf


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    with zipfile.ZipFile(golden_file("saved_attributes", "models.zip")) as archive:
        archive.extractall(str(place))
    return place


def check(model):
    assert np.array_equal(model(cases.X), [[3, 3], [12, 12]]) and np.array_equal(model.plus(cases.X), [[4, 4], [13, 13]])
    assert model.look(tf.constant(["b", "c"])).numpy().tolist() == [2, -1]
    assert model.number.numpy() == 5 and model.times(tf.constant(3.)).numpy() == 15
    assert np.array_equal(model.inner.half(cases.X), [[1.5, 1.5], [6, 6]])
    assert len(model.variables) == 3 and not hasattr(model, "nothing")


@pytest.mark.parametrize("origin", ["TensorFlow", "own"])
@pytest.mark.parametrize("kind", cases.HUNG)
def test_hung_on_a_model(kind, origin, folder, tmp_path):
    path = str(folder / kind)
    if origin == "own":
        path = str(tmp_path / "own")
        cases.hung(tf, kind).save(path, save_format="tf")
    model = tf.keras.models.load_model(path, compile=False)
    assert type(model).__name__ == kind.capitalize()
    check(model)
    model.save(str(tmp_path / "again"), save_format="tf")
    check(tf.keras.models.load_model(str(tmp_path / "again"), compile=False))
    kernel = model.layers[-1].kernel  # the functions work on the model's own variables
    kernel.assign(kernel * 2)
    model.number.assign(7.)
    assert np.array_equal(model.plus(cases.X), [[7, 7], [25, 25]]) and model.times(tf.constant(1.)).numpy() == 7
    assert np.array_equal(model.inner.half(cases.X), [[3, 3], [12, 12]])


EXPECTED = {"list": [[2, 2], [11, 11]], "tuple": [[2, 2], [11, 11]], "dict": [[2, 2], [11, 11]], "keyword": [[5, 5], [23, 23]], "both": [[5, 5], [23, 23]],
            "number": [[8, 8], [35, 35]]}


@pytest.mark.parametrize("kind", cases.CALLS)
def test_unknown_layer_of_several_arguments(kind, folder, tmp_path):
    model = tf.keras.models.load_model(str(folder / ("several_" + kind)), compile=False)
    layer = model.get_layer("several")
    assert [one.name for one in model.layers] == ["u", "v", "several"] and len(layer.weights) == 2
    for given in (lambda a: a, tf.constant, lambda a: a.astype(np.float64)):
        arguments, named = cases.CALLS[kind](given(cases.X), given(cases.V))
        assert np.array_equal(layer(*arguments, **named), EXPECTED[kind])
    assert np.array_equal(model([cases.X, cases.V]), EXPECTED[kind]) and np.array_equal(model.predict([cases.X, cases.V], verbose=0), EXPECTED[kind])
    assert np.array_equal(model([cases.X[:1], cases.V[:1]]), EXPECTED[kind][:1])
    arguments, named = cases.CALLS[kind](tf.constant(cases.X), tf.constant(cases.V))
    assert np.array_equal(tf.function(lambda: layer(*arguments, training=True, **named))(), EXPECTED[kind])
    others = {"dict": "list", "list": "both", "tuple": "dict", "keyword": "list", "both": "number", "number": "keyword"}
    arguments, named = cases.CALLS[others[kind]](tf.constant(cases.X), tf.constant(cases.V))
    with pytest.raises((ValueError, TypeError)):
        layer(*arguments, **named)
    model.save(str(tmp_path / "again"), save_format="tf")
    again = tf.keras.models.load_model(str(tmp_path / "again"), compile=False)
    assert np.array_equal(again([cases.X, cases.V]), EXPECTED[kind])
