"""Make op cases with real TensorFlow 2.15.1: the inputs, attrs and expected outputs that tests/python/test_op_cases.py replays.

A family's generator (ops_<family>.py beside this file) says
    c = Cases("math")
    c.add("MatMul", a=np.float32([[1, 2]]), b=np.float32([[3], [4]]), transpose_a=False, gradient=True)
    c.error("AddV2", x=np.float32([1, 2]), y=np.float32([1, 2, 3]), code="InvalidArgumentError", text="Incompatible shapes")
    c.write()
and is run by hand: python tests/golden/ops_math.py. Its output, tests/golden/op_cases/<family>.json, is committed.
"""
import inspect
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

import golden


def number(v):
    """A number that JSON can hold and that reads back exactly."""
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (bytes, str)):
        return {"bytes": (v if isinstance(v, bytes) else v.encode()).hex()}
    if isinstance(v, (complex, np.complexfloating)):
        return [number(v.real), number(v.imag)]
    if isinstance(v, (int, np.integer)):
        return int(v)
    f = float(str(v)) if isinstance(v, (np.float16, np.float32)) else float(v)  # the shortest text that reads back
    if f != f:
        return "nan"
    if f in (float("inf"), float("-inf")):
        return "inf" if f > 0 else "-inf"
    return f


def tensor(t):
    t = tf.convert_to_tensor(t)
    if t.dtype == tf.bfloat16:
        values = tf.cast(t, tf.float32).numpy()
    else:
        values = t.numpy()
    return {"dtype": t.dtype.name, "shape": t.shape.as_list(), "values": [number(v) for v in np.asarray(values).reshape(-1)]}


def attr(v):
    if isinstance(v, tf.DType):
        return {"type": v.name}
    if isinstance(v, tf.TensorShape):
        return {"shape": None if v.rank is None else v.as_list()}
    if isinstance(v, (list, tuple)):
        return {"list": [attr(x) for x in v]}
    if isinstance(v, bytes):
        return v.decode()
    return v


def weights(t, k):
    """Fixed weights that make a scalar of an output."""
    n = int(np.prod(t.shape.as_list())) if t.shape.rank else 1
    w = np.cos(np.arange(n) * 0.7 + k) * 0.5 + 1.0
    return tf.cast(tf.reshape(tf.constant(w), t.shape), t.dtype)


RENAMED = {("Select", "t"): "x", ("Select", "e"): "y", ("Where", "input"): "condition"}


class Cases:
    def __init__(self, family):
        self.family, self.cases = family, []

    def _split(self, op, arguments):
        definition = op_def_registry.get(op)
        if definition is None:
            sys.exit("TensorFlow has no op " + op)
        names = [a.name for a in definition.input_arg]
        inputs = {}
        for n in names:
            v = arguments.pop(n)
            inputs[n] = [tf.convert_to_tensor(x) for x in v] if isinstance(v, list) else tf.convert_to_tensor(v)
        return inputs, arguments

    def _call(self, op, inputs, attrs):
        """tf.raw_ops gives some arguments the name "axis" that the op's own definition calls otherwise; some have names of their own."""
        call = getattr(tf.raw_ops, op)
        names = inspect.signature(call).parameters
        inputs = {RENAMED.get((op, n), n): v for n, v in inputs.items()}
        renamed = {"axis" if n not in names and "axis" in names else n: v for n, v in {**inputs, **attrs}.items()}
        return call(**renamed)

    def add(self, op, tolerance=None, gradient=False, note=None, values=True, **arguments):
        """values=False: only shapes and dtypes of the outputs are compared."""
        if not isinstance(values, bool):  # some ops have an input of that name
            arguments["values"], values = values, True
        inputs, attrs = self._split(op, dict(arguments))
        flat = [t for v in inputs.values() for t in (v if isinstance(v, list) else [v])]
        described = {n: [tensor(t) for t in v] if isinstance(v, list) else tensor(v) for n, v in inputs.items()}  # Inplace… change theirs
        with tf.GradientTape() as tape:
            tape.watch([t for t in flat if t.dtype.is_floating or t.dtype.is_complex])
            outputs = self._call(op, inputs, attrs)
            listed = list(outputs) if isinstance(outputs, (list, tuple)) else [] if outputs is None or isinstance(outputs, tf.Operation) else [outputs]
            flat_outputs = [t for o in listed for t in (o if isinstance(o, (list, tuple)) else [o])]
            if gradient:
                terms = [tf.reduce_sum(o * weights(o, k)) for k, o in enumerate(flat_outputs) if o.dtype.is_floating or o.dtype.is_complex]
                total = tf.add_n(terms) if len({t.dtype for t in terms}) == 1 else terms[0]
        case = {"op": op, "inputs": described,
                "attrs": {k: attr(v) for k, v in attrs.items()},
                "outputs": [tensor(t) if values else {"dtype": t.dtype.name, "shape": t.shape.as_list()} for t in flat_outputs]}
        if tolerance is not None:
            case["tolerance"] = tolerance
        if note:
            case["note"] = note
        if gradient:
            grads = tape.gradient(total, flat)
            case["gradients"] = [None if g is None else tensor(tf.convert_to_tensor(g)) for g in grads]
        self.cases.append(case)

    def error(self, op, code, text="", note=None, **arguments):
        inputs, attrs = self._split(op, dict(arguments))
        try:
            self._call(op, inputs, attrs)
        except Exception as e:
            if type(e).__name__ != code or text not in str(e):
                sys.exit("%s: TensorFlow raised %s: %s" % (op, type(e).__name__, e))
        else:
            sys.exit("%s: TensorFlow raised nothing" % op)
        case = {"op": op, "inputs": {n: [tensor(t) for t in v] if isinstance(v, list) else tensor(v) for n, v in inputs.items()},
                "attrs": {k: attr(v) for k, v in attrs.items()}, "error": code, "text": text}
        if note:
            case["note"] = note
        self.cases.append(case)

    def write(self):
        path = golden.path(__file__, self.family + ".json")
        with open(path, "w") as f:
            f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in self.cases) + "\n]\n")
        print("%s: %d cases, %d ops, %d bytes" % (path, len(self.cases), len({c["op"] for c in self.cases}), os.path.getsize(path)))
