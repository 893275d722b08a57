"""Replay the op cases inside the body of a while loop that runs once: values and gradients equal the eager ones, which test_op_cases.py compares
with TensorFlow's. The inputs come into the body as loop variables or as captures."""
import pytest

import thalweg as tf
from thalweg import _core

from test_op_cases import CASES, array, back, call, close, flatten, inputs_of, weights
from test_op_cases_traced import IDS, compare_gradients, is_real, pack, refused, total_of

@pytest.mark.parametrize("captured", [False, True], ids=["variables", "captures"])
@pytest.mark.parametrize("family,index,case", CASES, ids=IDS)
def test_in_while(family, index, case, captured):
    try:
        replay(case, captured)
    except ValueError as e:
        if not refused(case, e):
            raise


def replay(case, captured):
    inputs = inputs_of(case)
    flat = flatten(list(inputs.values()))
    chosen = [is_real(t) for t in flat]
    arguments = [t for t, c in zip(flat, chosen) if c]

    def whole(given):
        given = iter(given)
        return pack(inputs, [next(given) if c else t for t, c in zip(flat, chosen)])

    def run(given):
        results = call(case, whole(given))
        return [tf.convert_to_tensor(r) for r in (results if isinstance(results, (list, tuple)) else [results])]

    def loop(*given):
        """The results of one iteration; they begin as what an iteration outside gives, times zero where that makes sense."""
        start = [tf.zeros_like(o) if o.dtype != tf.string else o for o in run(arguments)]
        if captured:
            def body(i, *old):
                return [i + 1] + run(given)
            return tf.while_loop(lambda i, *old: i < 1, body, [tf.constant(0)] + start, shape_invariants=[tf.TensorShape([])] + [
                tf.TensorShape(None)] * len(start))[1:]

        def step(i, *values):
            return [i + 1] + list(values[:len(given)]) + run(values[:len(given)])
        return tf.while_loop(lambda i, *values: i < 1, step, [tf.constant(0)] + list(given) + start, shape_invariants=[tf.TensorShape([])] + [
            t.shape for t in given] + [tf.TensorShape(None)] * len(start))[1 + len(given):]

    if "error" in case:
        with pytest.raises(Exception):
            _core._trace_and_call(lambda *given: loop(*given), arguments)
        return
    outputs = _core._trace_and_call(lambda *given: loop(*given), arguments)
    assert len(outputs) == len(case["outputs"])
    for got, expected in zip(outputs, case["outputs"]):
        assert got.dtype.name == expected["dtype"] and got.shape.as_list() == expected["shape"]
        if "values" in expected:
            close(back(got), array(expected), expected["dtype"], case.get("tolerance"))
    if "gradients" not in case:
        return
    factors = [tf.cast(tf.constant(weights(o.shape.as_list(), k)), o.dtype) for k, o in enumerate(outputs) if is_real(o)]
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        total = total_of(_core._trace_and_call(lambda *given: loop(*given), arguments), factors)
    gradients = [None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(total, flat)]
    compare_gradients(case, gradients, {"float16": 5e-3, "bfloat16": 4e-2})
