"""Files of weights of models whose attributes are layers, lists of them and metrics: TensorFlow's are read, and ours have the same names (golden data:
tests/golden/weight_files.py)."""
import json

import numpy as np
import pytest
import thalweg as tf
import weight_models
from golden_files import golden_file

EXPECTED = json.load(open(golden_file("weight_files", "expected.json")))
MODELS = weight_models.models(tf)


def parts(name):
    return name.split(".", 1)


@pytest.mark.parametrize("name", EXPECTED)
def test_tensorflows(name):
    model = MODELS[parts(name)[0]]()
    model.load_weights(golden_file("weight_files", name))
    weights, predicted = EXPECTED[name]
    got = model.get_weights()
    assert len(got) == len(weights)
    for one, other in zip(got, weights):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)
    assert np.allclose(model.predict(weight_models.X, verbose=0), predicted, rtol=1e-4)


@pytest.mark.parametrize("name", EXPECTED)
def test_ours(name, tmp_path):
    path = str(tmp_path / ("x." + parts(name)[1]))
    weight_models.numbered(MODELS[parts(name)[0]]()).save_weights(path)
    if name.endswith(".weights.h5"):  # in the others names of layers are numbered by the process
        ours, theirs = (tf.keras.saving._h5_list(p)[0] for p in (path, golden_file("weight_files", name)))
        assert {n: tuple(s) for n, s in ours.items()} == {n: tuple(s) for n, s in theirs.items()}
        for array in ours:
            if not array.startswith(("optimizer", "metrics")):  # what training made of random weights
                assert np.allclose(tf.keras.saving._h5_read(path, array), tf.keras.saving._h5_read(golden_file("weight_files", name), array)), array
    model = MODELS[parts(name)[0]]()
    model.load_weights(path)
    for one, other in zip(model.get_weights(), EXPECTED[name][0]):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)
