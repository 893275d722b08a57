"""Models for `thalweg serve` and what their signatures answer: tests/golden/serve/MODEL/VERSION and cases.json."""
import base64
import json
import os
import shutil
import sys

import numpy as np
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serve")


class Half(tf.Module):
    def __init__(self, add):
        super().__init__()
        self.add = tf.Variable(float(add))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def predict(self, x):
        return {"y": 0.5 * x + self.add}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def regress(self, inputs):
        parsed = tf.io.parse_example(inputs, {"x": tf.io.FixedLenFeature([1], tf.float32)})
        return {"outputs": 0.5 * parsed["x"] + self.add}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def classify(self, inputs):
        parsed = tf.io.parse_example(inputs, {"x": tf.io.FixedLenFeature([1], tf.float32), "n": tf.io.FixedLenFeature([2], tf.int64, [1, 2]),
                                              "s": tf.io.VarLenFeature(tf.string)})
        words = tf.sparse.to_dense(parsed["s"], "none")
        rows = tf.shape(inputs)[0]
        label = tf.strings.join([tf.fill([rows], "w"), tf.cond(tf.shape(words)[1] > 0, lambda: words[:, 0], lambda: tf.fill([rows], ""))])
        return {"classes": tf.stack([label, tf.fill([rows], "other")], 1),
                "scores": tf.concat([parsed["x"], tf.cast(tf.reduce_sum(parsed["n"], 1, keepdims=True), tf.float32)], 1)}


class Kinds(tf.Module):
    """Every dtype that JSON can say, several inputs and outputs, scalars."""
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="a"), tf.TensorSpec([None], tf.string, name="s")])
    def pair(self, a, s):
        return {"sum": tf.reduce_sum(a, 1), "twice": a * 2, "text": tf.strings.join([s, "!"]), "raw_bytes": tf.strings.join([s, b"\xff\x00"])}

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32, name="x")])
    def any(self, x):
        return {"y": 1.0 / x, "top": tf.reduce_max(x)}

    @tf.function(input_signature=[tf.TensorSpec(None, t, name=t.name) for t in
                                  (tf.bool, tf.int8, tf.uint8, tf.int16, tf.int32, tf.uint32, tf.int64, tf.uint64, tf.float64)])
    def numbers(self, *values):
        return {"o_" + v.dtype.name: tf.identity(v) for v in values}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def image_bytes(self, x):
        return {"image_bytes": tf.strings.as_string(x)}


def models():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for version, add in ((1, 2), (2, 3)):
        module = Half(add)
        tf.saved_model.save(module, os.path.join(FOLDER, "half", str(version)), {
            "serving_default": module.predict, "regress": module.regress, "classify": module.classify})
    kinds = Kinds()
    tf.saved_model.save(kinds, os.path.join(FOLDER, "kinds", "7"), {
        "serving_default": kinds.pair, "any": kinds.any, "numbers": kinds.numbers, "image": kinds.image_bytes})
    for root, _, names in os.walk(FOLDER):
        for name in names:
            if name == "fingerprint.pb":
                os.remove(os.path.join(root, name))


def value(tensor, name):
    """A tensor as Serving's JSON has it, of which Python's json makes the same."""
    def one(v):
        if isinstance(v, list):
            return [one(part) for part in v]
        if isinstance(v, bytes):
            return {"b64": base64.b64encode(v).decode()} if name.endswith("_bytes") else v.decode()
        return v
    return one(tensor.numpy().tolist())


def example(features):
    made = {}
    for key, values in features.items():
        values = values if isinstance(values, list) else [values]
        if isinstance(values[0], str):
            made[key] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.encode() for v in values]))
        elif isinstance(values[0], float):
            made[key] = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        else:
            made[key] = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def tensors(function, request):
    """The inputs of a request, made by TensorFlow."""
    def plain(v):
        if isinstance(v, dict) and set(v) == {"b64"}:
            return base64.b64decode(v["b64"])
        return [plain(part) for part in v] if isinstance(v, list) else v
    specs = function.structured_input_signature[1]
    if "examples" in request:
        context = request.get("context", {})
        return {"inputs": tf.constant([example({**context, **one}) for one in request["examples"]])}
    given = request.get("inputs", request.get("instances"))
    if "instances" in request and isinstance(given[0], dict) and set(given[0]) != {"b64"}:
        given = {name: [row[name] for row in given] for name in given[0]}
    if not isinstance(given, dict) or set(given) == {"b64"}:
        given = {next(iter(specs)): given}
    return {name: tf.constant(plain(v), specs[name].dtype) for name, v in given.items()}


def answer(method, request, outputs):
    if method == "regress":
        return {"results": [row[0] for row in outputs["outputs"].numpy().tolist()]}
    if method == "classify":
        return {"results": [[[label.decode(), score] for label, score in zip(*row)]
                            for row in zip(outputs["classes"].numpy().tolist(), outputs["scores"].numpy().tolist())]}
    made = {name: value(tensor, name) for name, tensor in outputs.items()}
    if "inputs" in request:
        return {"outputs": made if len(made) > 1 else next(iter(made.values()))}
    rows = [dict(zip(made, row)) for row in zip(*made.values())]
    return {"predictions": rows if len(made) > 1 else next(iter(made.values()))}


INF = float("inf")
NUMBERS = {"bool": [True, False], "int8": [-128, 127], "uint8": [0, 255], "int16": [-32768, 5], "int32": [2147483647], "uint32": 4294967295,
           "int64": [-9223372036854775808, 9007199254740993], "uint64": [18446744073709551615], "float64": [0.1, 1e300, -2.5e-300]}
CASES = [
    ("half", "predict", {"instances": [1.0, 2.0, 5.0]}),
    ("half", "predict", {"instances": [{"x": 1}, {"x": -3.5e-2}]}),
    ("half", "predict", {"inputs": [1.0, 2.0, 5.0]}),
    ("half", "predict", {"inputs": {"x": [0.1, 1e30, 1234567.0, 123456789.5, 3e-45]}, "signature_name": "serving_default"}),
    ("half", "predict", {"instances": [float("nan"), INF, -INF]}),
    ("half/versions/1", "predict", {"instances": [1.0]}),
    ("half/versions/2", "predict", {"instances": [1.0]}),
    ("half", "regress", {"signature_name": "regress", "examples": [{"x": 1.0}, {"x": [2.5]}]}),
    ("half", "regress", {"signature_name": "regress", "context": {"x": 4.0}, "examples": [{}, {}]}),
    ("half", "classify", {"signature_name": "classify", "examples": [{"x": 1.0, "n": [3, 4], "s": ["a", "b"]}, {"x": 0.25, "n": [5, 6], "s": "ä"}]}),
    ("half", "classify", {"signature_name": "classify", "context": {"s": "shared"}, "examples": [{"x": 1.5}]}),
    ("kinds", "predict", {"instances": [{"a": [1, 2], "s": "one"}, {"s": {"b64": base64.b64encode(b"t\x01wo").decode()}, "a": [3.5, -4]}]}),
    ("kinds", "predict", {"inputs": {"a": [[1, 2], [3, 4]], "s": ["\u00fc \"quoted\"\n", ""]}}),
    ("kinds", "predict", {"signature_name": "any", "inputs": 4.0}),
    ("kinds", "predict", {"signature_name": "any", "inputs": [[1.0, 0.0], [-2.0, 8.0]]}),
    ("kinds", "predict", {"signature_name": "numbers", "inputs": NUMBERS}),
    ("kinds", "predict", {"signature_name": "image", "instances": [[1.0, 2.0, 3.0]]}),
]


def main():
    models()
    cases = []
    for path, method, request in CASES:
        name, _, version = path.partition("/versions/")
        version = version or sorted(os.listdir(os.path.join(FOLDER, name)))[-1]
        model = tf.saved_model.load(os.path.join(FOLDER, name, version))
        function = model.signatures[request.get("signature_name", "serving_default")]
        cases.append({"path": "/v1/models/%s:%s" % (path, method), "request": request, "answer": answer(method, request, function(**tensors(function, request)))})
    with open(os.path.join(FOLDER, "cases.json"), "w") as file:
        json.dump(cases, file, indent=1, ensure_ascii=True)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
