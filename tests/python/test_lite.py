"""tf.lite's interpreter: files that TensorFlow wrote run here with its results (golden data: tests/golden/lite.py), and what it says of tensors is the
same."""
import json
import os

import lite_models
import numpy as np
import pytest
import thalweg as tf
from golden_files import golden_file

EXPECTED = json.load(open(golden_file("lite", "expected.json")))
FILES = [name for name in EXPECTED if name != "signatures"]
# Where TensorFlow rounds the inputs of quantized weights to 8 bits as well, results differ by that.
LOOSE = {"mlp_dynamic": 0.02, "cnn_dynamic": 0.05, "lstm_dynamic": 0.02, "text_dynamic": 0.05}


def interpreter_of(name):
    return tf.lite.Interpreter(model_path=golden_file("lite", name + ".tflite"))


def detail(d):
    q = d["quantization_parameters"]
    return {"name": d["name"], "index": int(d["index"]), "shape": d["shape"].tolist(), "shape_signature": d["shape_signature"].tolist(),
            "dtype": np.dtype(d["dtype"]).name, "quantization": list(d["quantization"]),
            "quantization_parameters": [q["scales"].tolist(), q["zero_points"].tolist(), int(q["quantized_dimension"])]}


@pytest.mark.parametrize("name", FILES)
def test_results(name):
    want, interpreter = EXPECTED[name], interpreter_of(name)
    feeds = [np.array(x, d["dtype"]) for x, d in zip(want["feeds"], want["inputs"])]
    for d, x in zip(interpreter.get_input_details(), feeds):
        interpreter.resize_tensor_input(d["index"], x.shape)
    interpreter.allocate_tensors()
    for results in want["results"]:  # what variables keep counts in the second run
        for d, x in zip(interpreter.get_input_details(), feeds):
            interpreter.set_tensor(d["index"], x)
        interpreter.invoke()
        for d, value in zip(interpreter.get_output_details(), results):
            got = interpreter.get_tensor(d["index"])
            assert got.dtype == d["dtype"] and got.shape == np.shape(value) == tuple(d["shape"])
            assert np.allclose(got, value, rtol=1e-4, atol=LOOSE.get(name, 1e-5)), (d["name"], got, value)


@pytest.mark.parametrize("name", FILES)
def test_details(name):
    want, interpreter = EXPECTED[name], interpreter_of(name)
    assert interpreter.get_signature_list() == want["signatures"]
    assert [detail(d) for d in interpreter.get_input_details()] == want["inputs"]
    interpreter.allocate_tensors()
    assert [d["name"] for d in interpreter.get_tensor_details()] == want["tensors"][:len(interpreter.get_tensor_details())]
    for mine, theirs in zip(interpreter.get_output_details(), want["outputs"]):
        mine = detail(mine)
        if len(theirs["shape"]) != len(mine["shape"]):  # of a size that only a run tells
            mine["shape"] = theirs["shape"]
        assert mine == theirs


def test_signatures():
    want, interpreter = EXPECTED["signatures"], interpreter_of("signatures")
    assert interpreter.get_signature_list() == want["signatures"]
    add, mix = interpreter.get_signature_runner("add"), interpreter.get_signature_runner("mix")
    for row in want["add"]:  # the variable keeps its value
        assert np.allclose(add(x=lite_models.wave((3,)))["total"], row)
    got = mix(a=lite_models.wave((4, 2)), b=lite_models.wave((2,)))
    assert sorted(got) == sorted(want["mix"])
    for key, value in want["mix"].items():
        assert np.allclose(got[key], value)
    assert [{k: detail(d) for k, d in mix.get_input_details().items()}, {k: detail(d) for k, d in mix.get_output_details().items()}] == want["details"]
    with pytest.raises(ValueError, match="Invalid signature_key provided."):
        interpreter.get_signature_runner("none")
    with pytest.raises(ValueError, match="None is only allowed"):
        interpreter.get_signature_runner()
    with pytest.raises(ValueError, match="expected 2 vs provided 1"):
        mix(a=np.zeros((1, 2), np.float32))
    with pytest.raises(ValueError, match=r"Invalid Input name \(c\)"):
        mix(a=np.zeros((1, 2), np.float32), c=np.zeros(2, np.float32))


ERRORS = {
    "invoke": (RuntimeError, "Invoke called on model that is not ready.", lambda i: i.invoke()),
    "get": (ValueError, "Tensor data is null. Run allocate_tensors() first", lambda i: i.get_tensor(0)),
    "set": (ValueError, "Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first",
            lambda i: i.set_tensor(0, np.zeros((1, 4), np.float32))),
    "dtype": (ValueError, "Cannot set tensor: Got value of type FLOAT64 but expected type FLOAT32 for input 0, name: serving_default_dense_input:0 ",
              lambda i: (i.allocate_tensors(), i.set_tensor(0, np.zeros((1, 4))))),
    "dimension": (ValueError, "Cannot set tensor: Dimension mismatch. Got 2 but expected 1 for dimension 0 of input 0.",
                  lambda i: (i.allocate_tensors(), i.set_tensor(0, np.zeros((2, 4), np.float32)))),
    "rank": (ValueError, "Cannot set tensor: Dimension mismatch. Got 1 but expected 2 for input 0.",
             lambda i: (i.allocate_tensors(), i.set_tensor(0, np.zeros(4, np.float32)))),
    "strict": (RuntimeError, "Attempting to resize dimension 1 of tensor 0 with value 4 to 5. ResizeInputTensorStrict only allows mutating unknown "
               "dimensions identified by -1.", lambda i: i.resize_tensor_input(0, [2, 5], strict=True)),
    "index": (ValueError, "Invalid tensor index 99 exceeds max tensor index", lambda i: i.get_tensor(99)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    kind, text, act = ERRORS[name]
    with pytest.raises(kind) as caught:
        act(interpreter_of("mlp"))
    assert text in str(caught.value)


MADE = {
    "nothing": (dict(), "`model_path` or `model_content` must be specified."),
    "no file": (dict(model_path="/nope"), "Could not open '/nope'."),
    "no model": (dict(model_content=b"no model at all"), "no TFLite file"),
    "threads": (dict(model_content=b"x", num_threads=0), "num_threads should >= 1"),
    "threads' type": (dict(model_content=b"x", num_threads="2"), "type of num_threads should be int"),
    "delegates": (dict(model_content=b"x", experimental_delegates=["x"]), "delegates are not supported"),
}


@pytest.mark.parametrize("name", MADE)
def test_errors_when_made(name):
    arguments, text = MADE[name]
    with pytest.raises(ValueError) as caught:
        tf.lite.Interpreter(**arguments)
    assert text in str(caught.value)


def test_views():
    """interpreter.tensor() gives an array that stands for the tensor."""
    interpreter = interpreter_of("mlp")
    interpreter.allocate_tensors()
    index, out = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    given, result = interpreter.tensor(index), interpreter.tensor(out)
    x = lite_models.wave((1, 4))
    given()[:] = x
    kept = result()
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(index), x)
    assert np.array_equal(result(), interpreter.get_tensor(out)) and kept is result() and abs(result().sum() - 1) < 1e-6
    other = interpreter_of("mlp")
    other.allocate_tensors()
    other.set_tensor(index, x)
    other.invoke()
    assert np.array_equal(other.get_tensor(out), result())


def test_values_on_the_way():
    interpreter = interpreter_of("mlp")
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, lite_models.wave((1, 4)))
    interpreter.invoke()
    values = {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_tensor_details()}
    hidden = [v for n, v in values.items() if "Relu" in n]
    assert len(hidden) == 1 and hidden[0].shape == (1, 6) and (hidden[0] >= 0).all() and hidden[0].any()


def test_variables_are_reset():
    want, interpreter = EXPECTED["lstm"], interpreter_of("lstm")
    interpreter.allocate_tensors()
    for _ in range(2):
        interpreter.reset_all_variables()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.array(want["feeds"][0], np.float32))
        interpreter.invoke()
        assert np.allclose(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), want["results"][0][0], atol=1e-5)


@pytest.mark.parametrize("name", ["mlp", "cnn", "lstm", "gru", "signatures", "cnn_dynamic"])
def test_damaged_files(name):
    """Truncated and changed files are refused or run; nothing else happens."""
    data, random = open(golden_file("lite", name + ".tflite"), "rb").read(), np.random.default_rng(7)
    for trial in range(120):
        damaged = bytearray(data)
        if trial % 3 == 0:
            damaged = damaged[:int(random.integers(1, len(data)))]
        else:
            for place in random.integers(0, min(len(data), 4000), 1 + trial % 4):
                damaged[place] ^= 1 << int(random.integers(8))
        try:
            interpreter = tf.lite.Interpreter(model_content=bytes(damaged))
            interpreter.allocate_tensors()
            interpreter.invoke()
        except (ValueError, RuntimeError, MemoryError, tf.errors.ResourceExhaustedError):
            pass


def test_names():
    import thalweg.lite as lite
    from thalweg import lite as other
    assert lite is other is tf.lite and lite.Interpreter is tf.lite.Interpreter
    assert [e.name for e in tf.lite.experimental.OpResolverType] == ["AUTO", "BUILTIN", "BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"]
    with pytest.raises(ValueError, match="Failed to load delegate from lib.so"):
        tf.lite.experimental.load_delegate("lib.so")


def test_a_file_that_is_written_over(tmp_path):
    """A model does not depend on its file once it is made."""
    path = str(tmp_path / "m.tflite")
    with open(golden_file("lite", "mlp.tflite"), "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    interpreter = tf.lite.Interpreter(path)
    os.truncate(path, 10)
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).shape == (1, 3)
