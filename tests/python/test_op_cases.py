"""Replay the op cases that real TensorFlow made (tests/golden/op_cases/*.json, see tests/golden/op_cases.py): values, shapes, dtypes, errors;
gradients against TensorFlow's and against finite differences. Every op of the table must have a case."""
import glob
import json
import math
import os
import re

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf
from thalweg import _core

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = []
for path in sorted(glob.glob(golden_file("op_cases", "*.json"))):
    family = os.path.basename(path)[:-5]
    with open(path) as f:
        CASES += [(family, i, c) for i, c in enumerate(json.load(f))]

# Ops that have no plain case: they need a variable, and test_state_ops.py lists each of them, or test_array_api.py or raw_cases.py calls them, or they
# need a function or nothing but an effect, and the tests of functions use them.
STATE, CALLS, RAW, TABLES, SIGNAL = "test_state_ops.py", "test_array_api.py", "raw_cases.py", "test_tables.py", "test_signal.py"
FUNCTIONS = {"ClusterSum",  # test_workers.py
             "Placeholder", "PlaceholderWithDefault", "NoOp", "PrintV2", "PyFunc", "EagerPyFunc", "FakeParam",
             "Print", "IteratorV2", "OneShotIterator", "IteratorToStringHandle", "IteratorFromStringHandleV2"}  # the last ones: test_v1_library.py
FILES = {"ReadFile", "WriteFile",  # test_strings.py
         "SummaryWriter", "CreateSummaryFileWriter", "FlushSummaryWriter", "CloseSummaryWriter", "WriteSummary", "WriteGraphSummary",
         "WriteRawProtoSummary", "WriteScalarSummary",  # test_summary.py
         "SaveV2", "RestoreV2",  # test_v1_train.py
         "MergeV2Checkpoints",  # test_saved_model_v1.py
         "LoadDataset", "SaveDatasetV2", "RebatchDatasetV2", "RaggedTensorToVariant", "RaggedTensorFromVariant"}  # test_chapters.py, test_data.py

# Ops of graphs that TensorFlow 1 wrote: test_v1_graphs.py runs them.
GRAPHS = {"TensorArrayV3", "TensorArrayGradV3", "TensorArrayWriteV3", "TensorArrayReadV3", "TensorArrayGatherV3", "TensorArrayScatterV3",
          "TensorArrayConcatV3", "TensorArraySplitV3", "TensorArraySizeV3", "TensorArrayCloseV3", "StackV2", "StackPushV2", "StackPopV2", "StackCloseV2",
          "ControlTrigger"}

DATA = "data_cases.py"  # lists the ops of datasets

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-12, "complex64": 2e-6, "complex128": 1e-12}


def number(v):
    if isinstance(v, str):
        return float(v)
    if isinstance(v, list):
        return complex(number(v[0]), number(v[1]))
    if isinstance(v, dict):
        return bytes.fromhex(v["bytes"])
    return v


def array(t):
    """The tensor of a case as a NumPy array; bfloat16 as float32."""
    values = [number(v) for v in t["values"]]
    if t["dtype"] == "string":
        out = np.empty(len(values), object)
        out[:] = values
        return out.reshape(t["shape"])
    kind = "float32" if t["dtype"] == "bfloat16" else t["dtype"]
    return np.array(values, kind).reshape(t["shape"])


def tensor(t):
    return tf.cast(tf.constant(array(t)), tf.bfloat16) if t["dtype"] == "bfloat16" else tf.constant(array(t), dtype=t["dtype"])


def attr(v):
    if isinstance(v, dict):
        if "type" in v:
            return tf.as_dtype(v["type"])
        if "shape" in v:
            return tf.TensorShape(v["shape"])
        return [attr(x) for x in v["list"]]
    return v


def back(t):
    """A tensor as an array that can be compared."""
    t = tf.convert_to_tensor(t)  # rows of a gather come as slices
    return tf.cast(t, tf.float32).numpy() if t.dtype == tf.bfloat16 else t.numpy()


def flatten(v):
    if v is None:
        return []
    if isinstance(v, (list, tuple)):
        return [x for i in v for x in flatten(i)]
    return [v]


def call(case, inputs):
    return flatten(getattr(tf.raw_ops, case["op"])(**inputs, **{k: attr(v) for k, v in case["attrs"].items()}))


def inputs_of(case):
    return {n: [tensor(t) for t in v] if isinstance(v, list) else tensor(v) for n, v in case["inputs"].items()}


def close(got, expected, dtype, tolerance):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    if dtype in TOLERANCE:
        limit = TOLERANCE[dtype] if tolerance is None else tolerance
        np.testing.assert_allclose(got, expected, rtol=limit, atol=limit, equal_nan=True)
    else:
        assert np.array_equal(got, expected), "got %r, expected %r" % (got, expected)


def weights(shape, k):
    n = int(np.prod(shape)) if shape else 1
    return (np.cos(np.arange(n) * 0.7 + k) * 0.5 + 1.0).reshape(shape)


@pytest.mark.parametrize("family,index,case", CASES, ids=["%s-%d-%s" % (f, i, c["op"]) for f, i, c in CASES])
def test_case(family, index, case):
    inputs = inputs_of(case)
    if "error" in case:
        kind = getattr(tf.errors, case["error"], None) or getattr(__builtins__, case["error"], None) or __builtins__[case["error"]]
        with pytest.raises(kind) as e:
            call(case, inputs)
        assert case["text"] in str(e.value)
        return
    outputs = call(case, inputs)
    assert len(outputs) == len(case["outputs"])
    for got, expected in zip(outputs, case["outputs"]):
        assert got.dtype.name == expected["dtype"]
        assert got.shape.as_list() == expected["shape"]
        if "values" in expected:
            close(back(got), array(expected), expected["dtype"], case.get("tolerance"))
    if "gradients" in case:
        check_gradients(case, inputs)


def scalar(outputs):
    terms = [tf.reduce_sum(o * tf.cast(tf.constant(weights(o.shape.as_list(), k)), o.dtype)) for k, o in enumerate(outputs)
             if o.dtype.is_floating or o.dtype.is_complex]
    total = terms[0]
    if len({t.dtype.name for t in terms}) == 1:
        for t in terms[1:]:
            total = total + t
    return total


def check_gradients(case, inputs):
    flat = flatten(list(inputs.values()))
    with tf.GradientTape() as tape:
        tape.watch([t for t in flat if t.dtype.is_floating or t.dtype.is_complex])
        total = scalar(call(case, inputs))
    got = tape.gradient(total, flat)
    for g, expected in zip(got, case["gradients"]):
        if expected is None:
            assert g is None
        else:
            assert g is not None and g.dtype.name == expected["dtype"] and g.shape.as_list() == expected["shape"]
            limit = case.get("tolerance") or {"float16": 5e-3, "bfloat16": 4e-2}.get(expected["dtype"], 2e-5)
            np.testing.assert_allclose(back(g), array(expected), rtol=limit, atol=limit, equal_nan=True)
    finite_differences(case, inputs, flat, got)


def finite_differences(case, inputs, flat, gradients):
    """Central differences in float64, for cases whose inputs are all double."""
    if not all(t.dtype.name == "float64" for t, g in zip(flat, gradients) if g is not None):
        return
    step = 1e-6
    for position, (t, g) in enumerate(zip(flat, gradients)):
        if g is None or t.dtype.name != "float64":
            continue
        base, g = t.numpy(), back(g).reshape(-1)
        for k in range(min(base.size, 12)):
            sums = []
            for sign in (1, -1):
                moved = base.copy().reshape(-1)
                moved[k] += sign * step
                count, changed = 0, {}
                for n, v in inputs.items():
                    many = v if isinstance(v, list) else [v]
                    many = [tf.constant(moved.reshape(base.shape)) if count + j == position else x for j, x in enumerate(many)]
                    count += len(many)
                    changed[n] = many if isinstance(v, list) else many[0]
                sums.append(float(scalar(call(case, changed))))
            numeric = (sums[0] - sums[1]) / (2 * step)
            if math.isfinite(numeric) and math.isfinite(g[k]):
                assert abs(numeric - g[k]) <= 1e-4 * max(1.0, abs(numeric)), "input %d element %d: %g by differences, %g by the tape" % (
                    position, k, numeric, g[k])


def test_every_op_has_a_case():
    with open(os.path.join(HERE, STATE)) as f:
        state = f.read()
    with open(os.path.join(HERE, CALLS)) as f:
        calls = f.read()
    for name in (RAW, TABLES, SIGNAL, "nn_cases.py", "queue_cases.py", "reader_cases.py"):
        with open(os.path.join(HERE, name)) as f:
            calls += f.read()
    with open(os.path.join(HERE, DATA)) as f:
        state += f.read()
    for name in (__file__, os.path.join(HERE, "test_surface.py"), golden_file("surface", "data.txt")):
        with open(name) as f:
            calls += f.read()
    have = {c["op"] for _, _, c in CASES if "error" not in c}
    missing = [n for n in _core.op_names() if n not in have and n not in FUNCTIONS | FILES | GRAPHS and '"%s"' % n not in state and not re.search(r"raw_ops\.%s\b" % n, calls)]
    assert not missing, "ops without a case: " + ", ".join(missing)


def test_gradient_of_a_whole_sequence():
    """BlockLSTMGradV2 against the derivatives of the steps written out (TensorFlow 2.15's values for x and h_prev are not these)."""
    rng = np.random.RandomState(2)
    steps, batch, size, units = 4, 3, 2, 5
    x, cell, hidden, weights, bias = (tf.constant(rng.uniform(-1, 1, shape), tf.float32) for shape in (
        (steps, batch, size), (batch, units), (batch, units), (size + units, 4 * units), (4 * units,)))
    by_cells, by_hidden = (tf.constant(rng.uniform(-1, 1, (steps, batch, units)), tf.float32) for _ in range(2))
    with tf.GradientTape() as tape:
        tape.watch([x, cell, hidden, weights, bias])
        total, c, h = 0.0, cell, hidden
        for t in range(steps):
            i, f, g, o = tf.split(tf.concat([x[t], h], 1) @ weights + bias, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            total += tf.reduce_sum(c * by_cells[t]) + tf.reduce_sum(h * by_hidden[t])
    expected = tape.gradient(total, [x, cell, hidden, weights, bias])
    none = tf.zeros([units])
    given = dict(seq_len_max=tf.constant(steps, tf.int64), x=x, cs_prev=cell, h_prev=hidden, w=weights, wci=none, wcf=none, wco=none, b=bias)
    made = tf.raw_ops.BlockLSTMV2(**given)
    assert np.allclose(made.h[-1], h, atol=1e-6) and np.allclose(made.cs[-1], c, atol=1e-6)
    got = tf.raw_ops.BlockLSTMGradV2(**given, **made._asdict(), cs_grad=by_cells, h_grad=by_hidden, use_peephole=False)
    for name, value in zip(("x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "b_grad"), expected):
        np.testing.assert_allclose(getattr(got, name), value, atol=1e-5, err_msg=name)
