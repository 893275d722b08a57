"""Replay tests/golden/ops_state/state.json (made by tests/golden/ops_state.py): ops on variables, the variables' values before and after."""
import json

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf
from test_op_cases import array, attr, back, close, flatten, tensor

with open(golden_file("ops_state", "state.json")) as f:
    CASES = json.load(f)

# Every op on variables; test_op_cases.py looks for the names here.
OPS = ["VarHandleOp", "ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "VarIsInitializedOp", "VariableShape",
       "DestroyResourceOp", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv", "ResourceScatterMin",
       "ResourceScatterMax", "ResourceScatterUpdate", "ResourceApplyGradientDescent", "ResourceApplyMomentum", "ResourceApplyKerasMomentum",
       "ResourceApplyAdam", "ResourceApplyAdaMax", "ResourceApplyAdagradV2", "ResourceApplyAdadelta", "ResourceApplyRMSProp",
       "ResourceApplyCenteredRMSProp", "ResourceApplyAdagrad", "ResourceApplyFtrl", "ResourceApplyFtrlV2", "ResourceSparseApplyMomentum",
       "ResourceSparseApplyKerasMomentum", "ResourceSparseApplyAdagrad", "ResourceSparseApplyAdagradV2", "ResourceSparseApplyAdadelta",
       "ResourceSparseApplyRMSProp", "ResourceSparseApplyCenteredRMSProp", "ResourceSparseApplyFtrl", "ResourceSparseApplyFtrlV2",
       "ResourceStridedSliceAssign", "ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub",
       "ResourceScatterNdMax", "ResourceScatterNdMin", "ResourceCountUpTo", "RngReadAndSkip", "RngSkip", "StatefulUniform", "StatefulUniformFullInt",
       "StatefulUniformInt", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "DisableCopyOnRead", "ResourceApplyProximalGradientDescent",
       "ResourceApplyProximalAdagrad", "ResourceApplyAdagradDA", "ResourceApplyAddSign", "ResourceApplyPowerSign", "ResourceApplyAdamWithAmsgrad",
       "ResourceSparseApplyProximalGradientDescent", "ResourceSparseApplyProximalAdagrad", "ResourceSparseApplyAdagradDA"]


def run(case, variables):
    inputs = {n: tensor(t) for n, t in case["inputs"].items()}
    attrs = {k: attr(v) for k, v in case["attrs"].items()}
    return flatten(getattr(tf.raw_ops, case["op"])(**{n: v.handle for n, v in variables.items()}, **inputs, **attrs))


@pytest.mark.parametrize("case", CASES, ids=["%d-%s" % (i, c["op"]) for i, c in enumerate(CASES)])
def test_case(case):
    variables = {n: tf.Variable(tensor(t)) for n, t in case["variables"].items()}
    if "error" in case:
        before = {n: np.copy(back(v.read_value())) for n, v in variables.items()}
        with pytest.raises(getattr(tf.errors, case["error"])) as e:
            run(case, variables)
        assert case["text"] in str(e.value)
        for n, v in variables.items():
            assert np.array_equal(before[n], back(v.read_value()))
        return
    outputs = run(case, variables)
    assert len(outputs) == len(case["outputs"])
    for got, expected in zip(outputs, case["outputs"]):
        assert got.dtype.name == expected["dtype"] and got.shape.as_list() == expected["shape"]
        close(back(got), array(expected), expected["dtype"], None)
    for n, expected in case.get("after", {}).items():
        close(back(variables[n].read_value()), array(expected), expected["dtype"], case.get("tolerance"))


def test_every_op_has_a_case():
    assert set(OPS) - {"VarHandleOp"} == {c["op"] for c in CASES}


def test_a_handle_without_a_value():
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=tf.TensorShape([2]), shared_name="state_ops")
    assert not tf.raw_ops.VarIsInitializedOp(resource=handle).numpy()
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=np.float32([1, 2]))
    tf.raw_ops.AssignVariableOp(resource=handle, value=np.float32([1, 2]))
    assert tf.raw_ops.VarIsInitializedOp(resource=handle).numpy()
    tf.raw_ops.DestroyResourceOp(resource=handle)
    assert not tf.raw_ops.VarIsInitializedOp(resource=handle).numpy()


def test_values_read_before_a_change_stay():
    v = tf.Variable(np.float32([1, 2, 3]))
    before = v.read_value()
    tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=np.float32([1, 1, 1]))
    tf.raw_ops.ResourceScatterUpdate(resource=v.handle, indices=np.int32([0]), updates=np.float32([9]))
    assert before.numpy().tolist() == [1, 2, 3]
    assert v.read_value().numpy().tolist() == [9, 3, 4]


def test_the_same_variable_twice_is_an_error():
    v = tf.Variable(np.float32([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.ResourceApplyMomentum(var=v.handle, accum=v.handle, lr=np.float32(1), grad=np.float32([1, 1]), momentum=np.float32(1))


def test_binomial():
    """Not among the cases: TensorFlow's kernel forgets the new state of a variable whose memory is shared with a constant."""
    state = tf.Variable([7, 0, 0], dtype=tf.int64)
    call = getattr(tf.raw_ops, "StatefulRandomBinomial")
    values = call(resource=state.handle, algorithm=tf.constant(1, tf.int64), shape=[5], counts=10.0, probs=0.3, dtype=tf.int32)
    assert values.numpy().tolist() == [2, 1, 4, 3, 1] and state.numpy().tolist() == [102407, 0, 0]
