"""Every op case that has a lowering, compiled by the plug-in: values and gradients are those that TensorFlow gave."""
import numpy as np
import pytest

import thalweg as tf
from test_op_cases import CASES, array, back, call, flatten, inputs_of, weights
from test_op_cases_traced import is_real, pack

# A function of one op is compiled for every case: such ops have their lowering left out of the plan, or run on the host for a reason.
LIMITS = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 2e-5, "float64": 1e-9, "complex64": 2e-5, "complex128": 1e-9}
LOWERED = tf.config.experimental._lowered_ops()
CHOSEN = [(f, i, c) for f, i, c in CASES if c["op"] in LOWERED and "error" not in c and not any(o["dtype"] == "string" for o in c["outputs"])]
compiled = {}


def close(got, expected, dtype, case):
    assert got.shape == expected.shape
    if dtype in LIMITS:
        limit = max(LIMITS[dtype], case.get("tolerance") or 0)
        np.testing.assert_allclose(got, expected, rtol=limit, atol=limit, equal_nan=True)
    else:
        assert np.array_equal(got, expected), "got %r, expected %r" % (got, expected)


@pytest.mark.parametrize("family,index,case", CHOSEN, ids=["%s-%d-%s" % (f, i, c["op"]) for f, i, c in CHOSEN])
def test_case(family, index, case):
    inputs = inputs_of(case)
    flat = flatten(list(inputs.values()))
    chosen = [is_real(t) for t in flat]
    arguments = [t for t, c in zip(flat, chosen) if c]

    @tf.function(jit_compile=True)
    def run(*given):
        given = iter(given)
        return call(case, pack(inputs, [next(given) if c else t for t, c in zip(flat, chosen)]))

    try:
        outputs = run(*arguments)
    except ValueError as e:  # a window that is greater than the image: graphs refuse it
        assert "Negative dimension size caused by subtracting" in str(e)
        return
    compiled.setdefault(case["op"], []).append("compiled" in run.plan(*arguments))
    for got, expected in zip(outputs, case["outputs"]):
        assert got.dtype.name == expected["dtype"] and got.shape.as_list() == expected["shape"]
        if "values" in expected:
            close(back(got), array(expected), expected["dtype"], case)
    if "gradients" in case:
        check_gradients(case, run, flat, chosen, arguments)


def check_gradients(case, run, flat, chosen, arguments):
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        outputs = [o for o in run(*arguments)]
        terms = [tf.reduce_sum(o * tf.cast(tf.constant(weights(o.shape.as_list(), k)), o.dtype)) for k, o in enumerate(outputs) if is_real(o)]
        total = terms[0]
        if len({t.dtype.name for t in terms}) == 1:
            for t in terms[1:]:
                total = total + t
    try:
        got = tape.gradient(total, arguments)
    except ValueError as e:
        assert "Negative dimension size caused by subtracting" in str(e)
        return
    expected = [g for g, c in zip(case["gradients"], chosen) if c]
    for g, e in zip(got, expected):
        if e is not None:
            assert g is not None and g.dtype.name == e["dtype"] and g.shape.as_list() == e["shape"]
            close(back(g), array(e), e["dtype"], dict(case, tolerance=max(case.get("tolerance") or 0, 2e-5)))


def test_ops_are_compiled():
    """Each op has a case in which the plug-in really ran it (those whose constants were computed before count as such)."""
    never = sorted(op for op, seen in compiled.items() if not any(seen))
    print("lowered ops: %d, with cases: %d, never compiled: %s" % (len(LOWERED), len(compiled), never))
    assert not [op for op in never if op not in FOLDED]


# Without an argument that is a real number nothing is left to run; these are told apart from ops that could not be lowered.
FOLDED = {"Range", "Fill", "ZerosLike", "OnesLike", "LogicalAnd", "LogicalOr", "LogicalNot", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert", "All", "Any", "Identity",
          "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "OneHot", "LeftShift", "RightShift", "PopulationCount", "LowerBound", "UpperBound", "TruncateDiv",
          "Rank", "Shape", "ShapeN", "Size"}
# Random numbers are tried in test_programs.py; Unique, whose shape is not known, with the models.
FOLDED |= {op for op in LOWERED if op.startswith("StatelessRandom")} | {"Unique"}
