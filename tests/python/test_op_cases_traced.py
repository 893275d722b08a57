"""Replay the op cases traced: with complete shapes, with unknown dimensions and with unknown ranks. Values, dtypes and gradients (of a traced
call under an eager tape, and of a tape inside the function) equal the eager ones, which test_op_cases.py compares with TensorFlow's."""
import numpy as np
import pytest

import thalweg as tf
from thalweg import _core

from test_op_cases import CASES, array, back, call, close, flatten, inputs_of, weights

IDS = ["%s-%d-%s" % (f, i, c["op"]) for f, i, c in CASES]


# Gradients of these need shapes or axes that are not known in the relaxed modes, and say so.
SAY_SO = {"Prod", "Qr", "MatrixSolveLs", "GatherV2", "Tile"}


# A window that is greater than the picture gives nothing when it runs; graphs refuse it, as TensorFlow's do.
WINDOWS = {"Conv2D", "MaxPool", "AvgPool", "AvgPoolGrad"}


def refused(case, error):
    return case["op"] in WINDOWS and "Negative dimension size caused by subtracting" in str(error)


def pack(inputs, flat):
    """The flat list in the structure of the inputs."""
    out, at = {}, 0
    for n, v in inputs.items():
        if isinstance(v, list):
            out[n], at = list(flat[at:at + len(v)]), at + len(v)
        else:
            out[n], at = flat[at], at + 1
    return out


def is_real(t):
    return t.dtype.is_floating or t.dtype.is_complex


def total_of(outputs, factors):
    """The weighted sum; the weights are arguments, since a traced output's shape may be unknown."""
    terms = [tf.reduce_sum(o * w) for o, w in zip([o for o in outputs if is_real(o)], factors)]
    total = terms[0]
    if len({t.dtype.name for t in terms}) == 1:
        for t in terms[1:]:
            total = total + t
    return total


def compare_gradients(case, got, limit_of):
    for g, expected in zip(got, case["gradients"]):
        if expected is None:
            continue
        assert g is not None and g.dtype.name == expected["dtype"] and g.shape.as_list() == expected["shape"]
        limit = case.get("tolerance") or limit_of.get(expected["dtype"], 2e-5)
        np.testing.assert_allclose(back(g), array(expected), rtol=limit, atol=limit, equal_nan=True)


@pytest.mark.parametrize("relax", [0, 1, 2, 3], ids=["complete", "dimensions", "ranks", "values"])
@pytest.mark.parametrize("family,index,case", CASES, ids=IDS)
def test_traced(family, index, case, relax):
    try:
        replay(case, relax)
    except tf.errors.UnimplementedError as e:
        if not (relax and case["op"] in SAY_SO and ("known while tracing" in str(e) or "at most 8 are supported" in str(e))):
            raise
    except ValueError as e:
        if not refused(case, e):
            raise


def replay(case, relax):
    inputs = inputs_of(case)
    flat = flatten(list(inputs.values()))
    # 0: integers and strings are constants of the function; 1, 2: arguments of unknown dimensions or ranks, integers too; 3: the same
    # with complete shapes, so that only the values are unknown
    chosen = [is_real(t) or relax > 0 for t in flat]
    arguments = [t for t, c in zip(flat, chosen) if c]
    level = 0 if relax == 3 else relax

    def whole(given):
        given = iter(given)
        return pack(inputs, [next(given) if c else t for t, c in zip(flat, chosen)])

    def run(*given):
        return call(case, whole(given))

    if "error" in case:
        with pytest.raises(Exception):
            _core._trace_and_call(run, arguments, level)
        return
    outputs = _core._trace_and_call(run, arguments, level)
    assert len(outputs) == len(case["outputs"])
    for got, expected in zip(outputs, case["outputs"]):
        assert got.dtype.name == expected["dtype"]
        assert got.shape.as_list() == expected["shape"]
        if "values" in expected:
            close(back(got), array(expected), expected["dtype"], case.get("tolerance"))
    if "gradients" not in case:
        return
    factors = [tf.cast(tf.constant(weights(o.shape.as_list(), k)), o.dtype) for k, o in enumerate(outputs) if is_real(o)]
    real = [t for t in flat if is_real(t)]
    limits = {"float16": 5e-3, "bfloat16": 4e-2}

    # the traced call under an eager tape
    with tf.GradientTape() as tape:
        tape.watch(real)
        total = total_of(_core._trace_and_call(run, arguments, level), factors)
    compare_gradients(case, tape.gradient(total, flat), limits)

    # a tape inside the function
    absent = []

    def inside(*given):
        structure = whole(given[:len(arguments)])
        values = flatten(list(structure.values()))
        with tf.GradientTape() as tape:
            tape.watch([t for t in values if is_real(t)])
            total = total_of(call(case, structure), given[len(arguments):])
        gradients = tape.gradient(total, values)
        absent[:] = [g is None for g in gradients]
        return [g for g in gradients if g is not None]

    present = iter(_core._trace_and_call(inside, arguments + factors, level))
    compare_gradients(case, [None if a else next(present) for a in absent], limits)
