"""Gradients that users define act after loading: out of TensorFlow's SavedModels (tests/golden/custom_gradients.py), out of ours, and after a second
round; where they are lost, who asks for them gets an error."""
import json
import os
import re
import shutil
import zipfile

import numpy as np
import pytest
import saved_gradient_cases as cases
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "custom_gradients")
with open(os.path.join(GOLDEN, "answers.json")) as _file:
    ANSWERS = json.load(_file)
MODEL, MORE = cases.module(tf)
LIVE = {name: cases.answer(tf, MODEL if name in cases.NAMES else MORE, name) for name in cases.NAMES + cases.MORE}


def check(got, name):
    """As TensorFlow answered; where it fails, as before saving. A second derivative that is not there may be 0."""
    assert "error" not in got, got
    for key, value in {**LIVE[name], **ANSWERS[name]}.items():
        if key != "error":
            np.testing.assert_allclose(0 if got[key] is None else got[key], 0 if value is None else value, rtol=1e-5, err_msg="%s %s" % (name, key))


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(os.path.join(GOLDEN, "models.zip")) as archive:
        archive.extractall(folder)
    return str(folder)


def save_one(name, path, **options):
    one, source = tf.Module(), MODEL if name in cases.NAMES else MORE
    one.v, one.w = MODEL.v, MODEL.w
    setattr(one, name, getattr(source, name))
    tf.saved_model.save(one, path, options=tf.saved_model.SaveOptions(**options))


@pytest.mark.parametrize("name", cases.NAMES + cases.MORE)
def test_before_saving(name):
    check(LIVE[name], name)


@pytest.mark.parametrize("name", cases.NAMES)
def test_of_tensorflow(golden, name):
    loaded = tf.saved_model.load(os.path.join(golden, "functions"))
    got = cases.answer(tf, loaded, name)
    if name == "recomputed":  # its second derivative is not in the file
        assert got.pop("error") == "LookupError"
        got["h"] = LIVE[name]["h"]
    check(got, name)


def test_of_tensorflow_saved_again(golden, tmp_path):
    tf.saved_model.save(tf.saved_model.load(os.path.join(golden, "functions")), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for name in cases.NAMES:
        if name != "recomputed":
            check(cases.answer(tf, loaded, name), name)


@pytest.mark.parametrize("name", cases.NAMES + cases.MORE)
def test_round_trips(name, tmp_path):
    """Saved, loaded, saved before anything was derived and again afterwards."""
    save_one(name, str(tmp_path / "a"))
    first = tf.saved_model.load(str(tmp_path / "a"))
    tf.saved_model.save(first, str(tmp_path / "b"))
    check(cases.answer(tf, first, name), name)
    tf.saved_model.save(first, str(tmp_path / "c"))
    for folder in "bc":
        check(cases.answer(tf, tf.saved_model.load(str(tmp_path / folder)), name), name)


def test_two_files_in_one(tmp_path):
    """Two files may give two gradients one op type: in a third they are told apart."""
    for name, factor in (("a", 3.0), ("b", 7.0)):
        one = tf.Module()

        def build(factor):
            @tf.custom_gradient
            def f(x):
                return x * 1.0, lambda dy: dy * factor
            return f
        one.f = tf.function(build(factor), input_signature=[tf.TensorSpec([], tf.float32)])
        tf.saved_model.save(one, str(tmp_path / name))
    both = tf.Module()
    both.a, both.b = (tf.saved_model.load(str(tmp_path / name)) for name in "ab")
    tf.saved_model.save(both, str(tmp_path / "both"))
    loaded, x = tf.saved_model.load(str(tmp_path / "both")), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = [loaded.a.f(x), loaded.b.f(x)]
    assert float(tape.gradient(y, x)) == 10.0


@pytest.mark.parametrize("name", ["plain", "loop"])
def test_lost(golden, tmp_path, name):
    """Not saved: the value is there, the gradient is an error, also after another round."""
    save_one(name, str(tmp_path / "ours"), experimental_custom_gradients=False)
    first = [tf.saved_model.load(os.path.join(golden, "unsaved")), tf.saved_model.load(str(tmp_path / "ours"))]
    for i, loaded in enumerate(first):
        tf.saved_model.save(loaded, str(tmp_path / str(i)))
    for loaded in first + [tf.saved_model.load(str(tmp_path / str(i))) for i in range(2)]:
        x = tf.constant(cases.SCALAR)
        assert float(getattr(loaded, name)(x)) == ANSWERS[name]["y"]
        with pytest.raises(LookupError, match="CustomGradient-[0-9]+.*experimental_custom_gradients"), tf.GradientTape() as tape:
            tape.watch(x)
            tape.gradient(getattr(loaded, name)(x), x)


def test_graph_without_gradients():
    """A GraphDef says that the gradient is not the op's, and not which it is."""
    graph = MODEL.plain.get_concrete_function().graph.as_graph_def()
    assert [n.attr["_gradient_op_type"].s[:15] for n in graph.node if n.op == "IdentityN"] == [b"CustomGradient-"]
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [])
        y, = tf.compat.v1.import_graph_def(graph, input_map={"x:0": x}, return_elements=["Identity:0"])
        with pytest.raises(LookupError, match="No gradient defined for operation"):
            tf.gradients(y, x)


@pytest.mark.parametrize("damage", ["function", "type", "output", "bound", "kind"])
def test_damaged(golden, tmp_path, damage):
    """Names that lead nowhere: loads and computes, and says so when the gradient is asked for."""
    shutil.copytree(os.path.join(golden, "functions"), str(tmp_path / "m"))
    path = str(tmp_path / "m" / "saved_model.pb")
    with open(path, "rb") as file:
        data = file.read()
    name = re.search(rb"__inference_internal_grad_fn_\d+", data).group()
    kind = re.search(rb"CustomGradient-\d+", data).group()
    old, new = {"function": (name, b"x" * len(name)), "type": (kind, b"y" * len(kind)), "output": (b"mul:0", b"mul:7"),
                "bound": (b"mul:0", b"nul:0"), "kind": (b"", b"")}[damage]
    with open(path, "wb") as file:
        if damage == "function":  # in one place only: what is registered is not what is there
            place = data.rindex(b"\n" + bytes([len(name)]) + name + b"\x12") + 2
            file.write(data[:place] + new + data[place + len(name):])
        elif damage == "kind":  # captured tensors are nothing that is known
            file.write(re.sub(rb"b(.\n\x05mul:0\x12)", rb"r\1", data, flags=re.S))
        elif damage == "type":
            place = data.rindex(old)
            file.write(data[:place] + new + data[place + len(old):])
        else:
            file.write(data.replace(old, new))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    results = [cases.answer(tf, loaded, n) for n in cases.NAMES]
    assert [r.get("error") for r in results].count("LookupError") > 1
    for name, got in zip(cases.NAMES, results):
        if "error" not in got:
            check(got, name)


def keras_calls(path):
    loaded, model = tf.saved_model.load(path), tf.keras.models.load_model(path)
    return [loaded, lambda x: loaded.signatures["serving_default"](x)["dense_1"], model]


def test_keras(golden, tmp_path):
    """A layer that reverses gradients, of a class that the program does not know."""
    cases.keras_model(tf).save(str(tmp_path / "ours"))
    calls = keras_calls(os.path.join(golden, "keras"))
    tf.keras.models.load_model(str(tmp_path / "ours")).save(str(tmp_path / "again"))
    ours, again = tf.saved_model.load(str(tmp_path / "ours")), tf.saved_model.load(str(tmp_path / "again"))
    for call in calls + [ours, tf.keras.models.load_model(str(tmp_path / "ours")), again]:
        got = cases.keras_answer(tf, call)
        np.testing.assert_allclose(got["y"], ANSWERS["keras"]["y"], rtol=1e-5)
        np.testing.assert_allclose(got["g"], ANSWERS["keras"]["g"], rtol=1e-5)
