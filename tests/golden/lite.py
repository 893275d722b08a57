#!/usr/bin/env python3
"""Makes tests/golden/lite/: NAME.tflite of the models and functions of tests/python/lite_models.py as TensorFlow converts them, and expected.json: per file
what its interpreter says of the tensors, the inputs' names, and what comes out for waves."""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden  # noqa: E402
import lite_models  # noqa: E402

expected = {}


def detail(d):
    """A tensor's details as JSON has them."""
    q = d["quantization_parameters"]
    return {"name": d["name"], "index": int(d["index"]), "shape": d["shape"].tolist(), "shape_signature": d["shape_signature"].tolist(),
            "dtype": np.dtype(d["dtype"]).name, "quantization": list(d["quantization"]),
            "quantization_parameters": [q["scales"].tolist(), q["zero_points"].tolist(), int(q["quantized_dimension"])]}


def in_order(details, feeds):
    """The feeds in the order of the file's inputs, by their shapes."""
    left, found = list(feeds), []
    for d in details:
        place = next(i for i, x in enumerate(left) if tuple(x.shape[1:]) == tuple(d["shape"][1:]))
        found.append(left.pop(place))
    return found


def run(interpreter, feeds):
    for d, x in zip(interpreter.get_input_details(), feeds):
        interpreter.resize_tensor_input(d["index"], x.shape)
    interpreter.allocate_tensors()
    results = []
    for _ in range(2):  # state stays
        for d, x in zip(interpreter.get_input_details(), feeds):
            interpreter.set_tensor(d["index"], x.astype(d["dtype"]))
        interpreter.invoke()
        results.append([interpreter.get_tensor(d["index"]).tolist() for d in interpreter.get_output_details()])
    return results


def record(name, content, feeds):
    """Writes the file and what TensorFlow says of it."""
    with open(golden.path(__file__, name + ".tflite"), "wb") as file:
        file.write(content)
    interpreter = tf.lite.Interpreter(model_content=content)
    signatures = interpreter.get_signature_list()
    before = [detail(d) for d in interpreter.get_input_details()]
    interpreter.allocate_tensors()
    answer = {"signatures": signatures, "inputs": before, "outputs": [detail(d) for d in interpreter.get_output_details()],
              "tensors": [d["name"] for d in interpreter.get_tensor_details()]}
    feeds = in_order(interpreter.get_input_details(), feeds)
    answer["feeds"] = [x.tolist() for x in feeds]
    answer["results"] = run(interpreter, feeds)
    expected[name] = answer
    print(name, len(content), flush=True)


def main():
    functions = lite_models.functions(tf)
    for name, make in lite_models.models(tf).items():
        model = lite_models.numbered(make())
        feeds = lite_models.inputs_of(model)
        for kind in ("", "_dynamic", "_float16"):
            if kind and (name not in ("mlp", "cnn", "lstm", "text") or (name, kind) == ("lstm", "_float16")):  # that one never ends in TensorFlow
                continue
            converter = tf.lite.TFLiteConverter.from_keras_model(model)
            if kind:
                converter.optimizations = [tf.lite.Optimize.DEFAULT]
            if kind == "_float16":
                converter.target_spec.supported_types = [tf.float16]
            record(name + kind, converter.convert(), feeds)
    for name, (function, specs) in functions.items():
        try:
            f = tf.function(function).get_concrete_function(*[tf.TensorSpec(s, d) for s, d in specs])
            content = tf.lite.TFLiteConverter.from_concrete_functions([f], tf.Module()).convert()
        except Exception as e:  # pylint: disable=broad-except
            print(name, "is not converted:", str(e)[:200], flush=True)
            continue
        record("op_" + name, content, [lite_models.wave(tuple(2 if n is None else n for n in s), d, i) for i, (s, d) in enumerate(specs)])

    class Two(tf.Module):
        """Two signatures and a variable that counts."""

        def __init__(self):
            super().__init__()
            self.total = tf.Variable(tf.zeros([3]))

        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32, name="x")])
        def add(self, x):
            return {"total": self.total.assign_add(x)}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="a"), tf.TensorSpec([2], tf.float32, name="b")])
        def mix(self, a, b):
            return {"sum": a + b, "product": a * b}

    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        module = Two()
        tf.saved_model.save(module, folder, signatures={"add": module.add, "mix": module.mix})
        content = tf.lite.TFLiteConverter.from_saved_model(folder).convert()
    with open(golden.path(__file__, "signatures.tflite"), "wb") as file:
        file.write(content)
    interpreter = tf.lite.Interpreter(model_content=content)
    add, mix = interpreter.get_signature_runner("add"), interpreter.get_signature_runner("mix")
    x, a, b = lite_models.wave((3,)), lite_models.wave((4, 2)), lite_models.wave((2,))
    rows = [add(x=x)["total"].tolist() for _ in range(2)]
    mixed = {k: v.tolist() for k, v in mix(a=a, b=b).items()}
    expected["signatures"] = {"signatures": interpreter.get_signature_list(), "add": rows, "mix": mixed,
                              "details": [{k: detail(d) for k, d in mix.get_input_details().items()}, {k: detail(d) for k, d in mix.get_output_details().items()}]}
    with open(golden.path(__file__, "expected.json"), "w") as file:
        json.dump(expected, file)


main()
