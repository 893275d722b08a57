""".keras files: those of TensorFlow (tests/golden/keras_file.py) are loaded, and what is saved here comes back the same."""
import json
import os
import sys
import zipfile

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def cases():
    names = {"tensorflow": tf, "tensorflow.keras": tf.keras}
    sys.modules.update(names)
    sys.path.insert(0, HERE)
    import keras_file_cases
    for name in names:
        del sys.modules[name]
    return keras_file_cases


def close(mine, theirs):
    if isinstance(theirs, list):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs):
            close(a, b)
    else:
        assert abs(mine - theirs) <= 2e-4, (mine, theirs)


@pytest.mark.parametrize("name", ["sequential", "functional", "own_layer"])
def test_of_tensorflow(cases, name):
    with open(golden_file("keras_file", "keras_file.json"), encoding="utf-8") as f:
        expected = json.load(f)[name]
    labels = cases.CASES[name]()[1]
    close(cases.say(cases.load(golden_file("keras_file", "keras_file_%s.keras" % name)), labels), expected)


@pytest.mark.parametrize("name", ["sequential", "functional", "own_layer"])
def test_there_and_back(cases, name, tmp_path):
    model, labels = cases.CASES[name]()
    model.fit(cases.X, labels, epochs=2, verbose=0)
    path = str(tmp_path / "model.keras")
    model.save(path)
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None and z.namelist() == ["metadata.json", "config.json", "model.weights.h5"]
        mine = json.loads(z.read("config.json"))
    with zipfile.ZipFile(golden_file("keras_file", "keras_file_%s.keras" % name)) as z:
        assert mine.keys() == json.loads(z.read("config.json")).keys()
    loaded = cases.load(path)
    assert loaded.optimizer.iterations.numpy() == 2
    count = 3 if name == "sequential" else 5  # Nadam has a product that stands in no file, as in TensorFlow
    assert cases.say(loaded, labels)[:count] == cases.say(model, labels)[:count]


def test_not_compiled(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build((None, 3))
    path = str(tmp_path / "model.keras")
    model.save(path)
    loaded = tf.keras.models.load_model(path)
    assert loaded.optimizer is None
    assert all(np.array_equal(a, b) for a, b in zip(loaded.get_weights(), model.get_weights()))
    assert tf.keras.models.load_model(path, compile=False).built


def test_damaged(cases, tmp_path):
    with open(golden_file("keras_file", "keras_file_sequential.keras"), "rb") as f:
        whole = f.read()
    path = str(tmp_path / "model.keras")
    for end in range(5, len(whole), 997):
        with open(path, "wb") as f:
            f.write(whole[:end])
        with pytest.raises(Exception):
            cases.load(path)
    for place in range(0, len(whole), 211):
        with open(path, "wb") as f:
            f.write(whole[:place] + bytes([whole[place] ^ 0x5a]) + whole[place + 1:])
        try:
            cases.load(path)
        except Exception:  # an error is fine, anything else is not
            pass
