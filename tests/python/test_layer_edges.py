"""Layers at their edges (layer_edge_cases.py) give what TensorFlow gave (tests/golden/layer_edges.py)."""
import json

import numpy as np
import pytest

import layer_edge_cases as cases
from golden_files import golden_file
import thalweg as tf

with open(golden_file("layer_edges", "layer_edges.json")) as file:
    GOLDEN = json.load(file)
CASES = cases.cases(tf)


def check(own, golden, path):
    if isinstance(golden, dict):
        assert isinstance(own, dict) and set(own) == set(golden), path
        for key in golden:
            check(own[key], golden[key], path + "/" + key)
    elif isinstance(golden, list):
        assert isinstance(own, list) and len(own) == len(golden), (path, own, golden)
        for i, item in enumerate(golden):
            check(own[i], item, path + "/%d" % i)
    elif isinstance(golden, float):
        assert np.isclose(own, golden, rtol=2e-5, atol=2e-6), (path, own, golden)
    else:
        assert own == golden, (path, own, golden)


def test_every_case_is_there():
    assert set(CASES) == set(GOLDEN)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_case(name):
    tf.keras.backend.clear_session()
    if isinstance(GOLDEN[name], dict) and "error" in GOLDEN[name]:
        with pytest.raises(Exception) as error:
            CASES[name]()
        assert type(error.value).__name__ == GOLDEN[name]["error"] and GOLDEN[name]["text"] in str(error.value)
        return
    check(json.loads(json.dumps(cases.told(CASES[name]()))), GOLDEN[name], name)
