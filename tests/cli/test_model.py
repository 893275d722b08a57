"""thalweg model: showing, running, measuring, converting and comparing models in every format."""
import json
import os

import numpy as np
import pytest

import thalweg as tf
from test_command import ROOT, thalweg


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu", input_shape=(2,)), tf.keras.layers.Dense(1)])
    paths = [str(folder / name) for name in ("saved", "m.keras", "m.h5")]
    for path in paths:
        model.save(path)
    x = np.array([[1., 2.], [3., -4.]], np.float32)
    return paths, x, model(x).numpy()


def test_show(models):
    paths, _, _ = models
    code, out, err = thalweg("model", "show", paths[0])
    assert (code, err) == (0, "")
    assert "  serving_default\n    input  dense_input: float32 (None, 2)\n    output dense_1: float32 (None, 1)\n" in out and "MatMul" in out
    facts = json.loads(thalweg("model", "show", paths[0], "--json")[1])
    assert facts["tags"] == ["serve"] and {"op": "Relu", "count": 1}["op"] in [op["op"] for op in facts["ops"]]
    assert [v["bytes"] for v in facts["variables"] if v["shape"] == [2, 3]] == [24]
    for path in paths[1:]:
        assert "dense (Dense)" in thalweg("model", "show", path)[1]
        assert json.loads(thalweg("model", "show", path, "--json")[1])["class_name"] == "Sequential"
    assert thalweg("model", "show", "/nope.keras")[0] == 1


def test_show_of_files_that_tensorflow_wrote():
    path = os.path.join(ROOT, "tests", "golden", "saved_model", "module")
    facts = json.loads(thalweg("model", "show", path, "--json")[1])
    assert facts["tensorflow"].startswith("2.") and facts["signatures"]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_run(models, which, tmp_path):
    paths, x, expected = models
    code, out, err = thalweg("model", "run", paths[which], json.dumps(x.tolist()), "--json")
    assert (code, err) == (0, "")
    assert np.allclose(list(json.loads(out).values())[0], expected, atol=1e-6)
    np.save(tmp_path / "x.npy", x.astype(np.float64))
    assert thalweg("model", "run", paths[which], "dense_input=" + str(tmp_path / "x.npy"), "--output", str(tmp_path / "out")) == (0, "", "")
    assert np.allclose(np.load(next((tmp_path / "out").iterdir())), expected, atol=1e-6)
    assert "shape=(4, 1)" in thalweg("model", "run", paths[which], "zeros", "--batch", "4")[1]


@pytest.mark.parametrize("arguments,code,words", [
    ([], 2, "the input 'dense_input' is missing"),
    (["zeros", "ones"], 2, "is given twice"),
    (["[[1, 2], [3]]"], 1, "non-rectangular"),
    (['[["a", "b"]]'], 1, "float32 is expected, got string"),
    (["[[1, 2"], 1, ""),
    (["[[1, 2, 3]]"], 1, ""),
    (["zeros", "--signature", "other"], 1, "serving_default"),
])
def test_run_wrongly(models, arguments, code, words):
    found, out, err = thalweg("model", "run", models[0][0], *arguments)
    assert (found, out) == (code, "") and words in err


def test_bench(models):
    for path in models[0]:
        found = json.loads(thalweg("model", "bench", path, "--batch", "2", "--seconds", "0.05", "--json")[1])
        assert found["calls"] >= 3 and found["batch"] == 2 and 0 < found["min_ms"] <= found["median_ms"] <= found["p99_ms"]


def test_convert_and_diff(models, tmp_path):
    paths, x, expected = models
    for start in paths:
        for name in ("x.keras", "x.h5", "x"):
            out = str(tmp_path / name)
            assert thalweg("model", "convert", start, out)[:2] == (0, "")
            assert thalweg("model", "diff", start, out) == (0, "", "")
            assert np.allclose(tf.keras.models.load_model(out)(x), expected, atol=1e-6)
    other = tf.keras.models.load_model(paths[1])
    other.layers[1].bias.assign_add([.25])
    other.save(str(tmp_path / "other.h5"))
    code, out, err = thalweg("model", "diff", paths[0], str(tmp_path / "other.h5"))
    assert code == 1 and out.endswith("values differ by up to 0.25\n") and out.count("\n") == 1
