"""Make tests/golden/ops_state/state.json: ops that change or ask variables, by TensorFlow 2.15.1. tests/python/test_state_ops.py replays it.

A case has the variables' values before and after the op, its other inputs and attrs, and its outputs or error."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

from op_cases import attr, tensor
import golden

cases = []
rng = np.random.RandomState(3)


def values(shape, dtype, low=-2.0, high=2.0):
    kind = tf.as_dtype(dtype)
    x = np.round(rng.uniform(low, high, shape), 2)
    if kind.is_complex:
        x = x + 1j * np.round(rng.uniform(low, high, shape), 2)
    if kind.is_unsigned:
        x = np.abs(x)
    return tf.cast(tf.constant(np.round(x * 4) if kind.is_integer else x), kind)


def case(op, variables, inputs=None, attrs=None, error=None, text="", tolerance=None):
    variables = {n: tf.convert_to_tensor(v) for n, v in variables.items()}
    inputs = {n: tf.convert_to_tensor(v) for n, v in (inputs or {}).items()}
    held = {n: tf.Variable(v) for n, v in variables.items()}
    out = {"op": op, "variables": {n: tensor(v) for n, v in variables.items()}, "inputs": {n: tensor(v) for n, v in inputs.items()},
           "attrs": {k: attr(v) for k, v in (attrs or {}).items()}}
    try:
        result = getattr(tf.raw_ops, op)(**{n: v.handle for n, v in held.items()}, **inputs, **(attrs or {}))
    except Exception as e:
        if "No OpKernel was registered" in str(e):  # a dtype that TensorFlow has no kernel for
            return
        if type(e).__name__ != error or text not in str(e):
            sys.exit("%s: TensorFlow raised %s: %s" % (op, type(e).__name__, e))
        out["error"], out["text"] = error, text
    else:
        if error:
            sys.exit("%s: TensorFlow raised nothing" % op)
        out["outputs"] = [] if result is None or isinstance(result, tf.Operation) else [tensor(result)]
        if op != "DestroyResourceOp":
            out["after"] = {n: tensor(v.read_value()) for n, v in held.items()}
    if tolerance:
        out["tolerance"] = tolerance
    cases.append(out)


REAL = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
BAD = "InvalidArgumentError"

for op in ("AssignAddVariableOp", "AssignSubVariableOp"):
    for d in REAL + [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.complex64, tf.complex128]:
        case(op, {"resource": values((2, 3), d)}, {"value": values((2, 3), d)})
    case(op, {"resource": values((), tf.float32)}, {"value": values((), tf.float32)})
    case(op, {"resource": values((0, 2), tf.float32)}, {"value": values((0, 2), tf.float32)})
    for shape in ((1,), (), (3,)):
        case(op, {"resource": values((2,), tf.float32)}, {"value": values(shape, tf.float32)}, error=BAD, text="shapes must be equal")
for d in (tf.float32, tf.int32, tf.bool):
    case("AssignVariableOp", {"resource": tf.cast(values((2,), tf.float32), d)}, {"value": tf.cast(values((2,), tf.float32), d)})
    case("ReadVariableOp", {"resource": tf.cast(values((2, 2), tf.float32), d)}, attrs={"dtype": d})
case("VarIsInitializedOp", {"resource": values((2,), tf.float32)})
for t in (tf.int32, tf.int64):
    case("VariableShape", {"input": values((2, 0, 3), tf.float32)}, attrs={"out_type": t})
    case("VariableShape", {"input": values((), tf.float32)}, attrs={"out_type": t})
case("DestroyResourceOp", {"resource": values((2,), tf.float32)})
case("DisableCopyOnRead", {"resource": values((2,), tf.float32)})

# ---- rows
for op in ("Add", "Sub", "Mul", "Div", "Min", "Max", "Update"):
    op = "ResourceScatter" + op
    for d in (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64):
        if op == "ResourceScatterDiv" and d.is_integer:
            continue
        for t in (tf.int32, tf.int64):
            case(op, {"resource": values((4, 2), d)}, {"indices": tf.constant([3, 0, 3], t), "updates": values((3, 2), d, 0.5, 2)})
    case(op, {"resource": values((4,), tf.float32)}, {"indices": [[1], [2]], "updates": values((2, 1), tf.float32, 0.5, 2)})
    case(op, {"resource": values((4, 2), tf.float32)}, {"indices": [1, 2], "updates": np.float32(1.5)})
    case(op, {"resource": values((4, 2), tf.float32)}, {"indices": np.int32(2), "updates": values((2,), tf.float32, 0.5, 2)})
    case(op, {"resource": values((4, 2), tf.float32)}, {"indices": np.zeros((0,), np.int32), "updates": np.zeros((0, 2), np.float32)})
    for index in (4, -1):
        case(op, {"resource": values((4,), tf.float32)}, {"indices": [index], "updates": np.float32([1])}, error=BAD, text="is not in [0, 4)")
case("ResourceScatterUpdate", {"resource": tf.constant([b"a", b"b"])}, {"indices": [1], "updates": tf.constant([b"text"])})
case("ResourceScatterUpdate", {"resource": tf.constant([True, False])}, {"indices": [1, 0], "updates": tf.constant([True, False])})

# ---- optimizers: (op, slots, numbers, flags)
STEPS = [("GradientDescent", [], {"alpha": 0.1}, [{}]),
         ("Momentum", ["accum"], {"lr": 0.1, "momentum": 0.9}, [{"use_nesterov": False}, {"use_nesterov": True}]),
         ("KerasMomentum", ["accum"], {"lr": 0.1, "momentum": 0.9}, [{"use_nesterov": False}, {"use_nesterov": True}]),
         ("Adam", ["m", "v"], {"beta1_power": 0.81, "beta2_power": 0.998, "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7},
          [{"use_nesterov": False}, {"use_nesterov": True}]),
         ("AdaMax", ["m", "v"], {"beta1_power": 0.81, "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7}, [{}]),
         ("AdagradV2", ["accum"], {"lr": 0.1, "epsilon": 1e-7}, [{"update_slots": True}, {"update_slots": False}]),
         ("Adagrad", ["accum"], {"lr": 0.1}, [{"update_slots": True}, {"update_slots": False}]),
         ("Ftrl", ["accum", "linear"], {"lr": 0.1, "l1": 0.1, "l2": 0.2, "lr_power": -0.5},
          [{"multiply_linear_by_lr": False}, {"multiply_linear_by_lr": True}]),
         ("Ftrl", ["accum", "linear"], {"lr": 0.1, "l1": 2.0, "l2": 0.2, "lr_power": -0.7}, [{"multiply_linear_by_lr": False}]),
         ("FtrlV2", ["accum", "linear"], {"lr": 0.1, "l1": 0.1, "l2": 0.2, "l2_shrinkage": 0.3, "lr_power": -0.5},
          [{"multiply_linear_by_lr": False}, {"multiply_linear_by_lr": True}]),
         ("Adadelta", ["accum", "accum_update"], {"lr": 0.1, "rho": 0.95, "epsilon": 1e-7}, [{}]),
         ("RMSProp", ["ms", "mom"], {"lr": 0.01, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-7}, [{}]),
         ("CenteredRMSProp", ["mg", "ms", "mom"], {"lr": 0.01, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-7}, [{}]),
         ("ProximalGradientDescent", [], {"alpha": 0.1, "l1": 0.0, "l2": 0.2}, [{}]), ("ProximalGradientDescent", [], {"alpha": 0.1, "l1": 3.0, "l2": 0.2}, [{}]),
         ("ProximalAdagrad", ["accum"], {"lr": 0.1, "l1": 0.0, "l2": 0.2}, [{}]), ("ProximalAdagrad", ["accum"], {"lr": 0.1, "l1": 3.0, "l2": 0.2}, [{}]),
         ("AdagradDA", ["gradient_accumulator", "gradient_squared_accumulator"], {"lr": 0.1, "l1": 0.0, "l2": 0.2, "global_step": 3}, [{}]),
         ("AdagradDA", ["gradient_accumulator", "gradient_squared_accumulator"], {"lr": 0.1, "l1": 0.3, "l2": 0.2, "global_step": 3}, [{}]),
         ("AddSign", ["m"], {"lr": 0.1, "alpha": 1.5, "sign_decay": 0.9, "beta": 0.8}, [{}]),
         ("PowerSign", ["m"], {"lr": 0.1, "logbase": 1.2, "sign_decay": 0.9, "beta": 0.8}, [{}]),
         ("AdamWithAmsgrad", ["m", "v", "vhat"], {"beta1_power": 0.81, "beta2_power": 0.998, "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7}, [{}])]
for name, slots, numbers, flags in STEPS:
    op = "ResourceApply" + name
    grad = "delta" if name.endswith("GradientDescent") else "grad"

    def step(d, shape, attrs, tolerance=None, grad_shape=None, slot_shape=None, number_shape=(), **expected):
        variables = {"var": values(shape, d)}
        for s in slots:  # the centered one needs ms > mg^2
            low, high = (0.0, 0.3) if s == "mg" else (0.5, 2.0)
            variables[s] = values(slot_shape if slot_shape is not None else shape, d, low, high)
        inputs = {n: tf.cast(tf.fill(number_shape, v), tf.int64 if n == "global_step" else d) for n, v in numbers.items()}
        inputs[grad] = values(grad_shape if grad_shape is not None else shape, d)
        case(op, variables, inputs, attrs, tolerance=tolerance, **expected)

    for f in flags:
        for d in REAL:
            step(d, (2, 3), f, tolerance=(6e-2 if "Ftrl" in name else 2e-2) if d.size == 2 else 2e-6 if d == tf.float32 else 1e-12)
        step(tf.float32, (), f, 2e-6)
        step(tf.float32, (0,), f)
        step(tf.float32, (37,), f, 2e-6)
    step(tf.float32, (2,), flags[0], grad_shape=(3,), error=BAD, text="do not have the same shape")
    step(tf.float32, (2,), flags[0], number_shape=(1,), error=BAD, text="scalar" if "Proximal" in name else "is not a scalar")
    if slots:
        step(tf.float32, (2,), flags[0], slot_shape=(3,), error=BAD, text="do not have the same shape")

# ---- the same on some rows
for name, slots, numbers, flags in STEPS:
    if name in ("GradientDescent", "Adam", "AdaMax", "AddSign", "PowerSign", "AdamWithAmsgrad"):
        continue
    op = "ResourceSparseApply" + name

    def rows(d, shape, attrs, indices, kind=tf.int32, tolerance=None, grad_shape=None, **expected):
        variables = {"var": values(shape, d)}
        for s in slots:
            low, high = (0.0, 0.3) if s == "mg" else (0.5, 2.0)
            variables[s] = values(shape, d, low, high)
        inputs = {n: tf.cast(v, tf.int64 if n == "global_step" else d) for n, v in numbers.items()}
        inputs["grad"] = values(grad_shape if grad_shape is not None else (len(indices),) + shape[1:], d)
        inputs["indices"] = tf.constant(indices, kind)
        case(op, variables, inputs, attrs, tolerance=tolerance, **expected)

    for f in flags:
        for d in (tf.float32, tf.float64):
            rows(d, (4, 3), f, [2, 0], tolerance=3e-6 if d == tf.float32 else 1e-12)
        rows(tf.float32, (4,), f, [3, 1], tf.int64, tolerance=3e-6)
        rows(tf.float32, (4, 2), f, [])
    range_text = "is not in [0, 4)" if name == "KerasMomentum" else "" if "Proximal" in name or name == "AdagradDA" else "out of range"
    rows(tf.float32, (4, 2), flags[0], [4], error=BAD, text=range_text)
    rows(tf.float32, (4, 2), flags[0], [-1], error=BAD, text=range_text)
    rows(tf.float32, (4, 2), flags[0], [1], grad_shape=(2, 2), error=BAD, text="grad must be the same size as indices in the first dimension")

# ---- slices: (shape, begin, end, strides, masks, shape of the value)
SLICES = [((4,), [1], [3], [1], {}, (2,)), ((4,), [1], [3], [1], {}, ()), ((4,), [-1], [0], [1], {"shrink_axis_mask": 1}, ()),
          ((4, 3), [0], [0], [-1], {"begin_mask": 1, "end_mask": 1}, (4, 3)), ((4, 3), [0, 1], [0, 2], [2, 1], {"end_mask": 1}, (2, 1)),
          ((2, 3, 4), [0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}, (2, 3)),
          ((2, 3, 4), [0, 1, 0], [0, 2, 2], [1, 1, 1], {"new_axis_mask": 1, "shrink_axis_mask": 2}, (1, 2, 4)), ((4,), [2], [2], [1], {}, (0,))]
for shape, begin, end, strides, masks, given in SLICES:
    for d, t in ((tf.float32, tf.int32), (tf.int64, tf.int64), (tf.float16, tf.int32)):
        case("ResourceStridedSliceAssign", {"ref": values(shape, d)}, {"begin": tf.constant(begin, t), "end": tf.constant(end, t),
             "strides": tf.constant(strides, t), "value": values(given, d)}, masks)
case("ResourceStridedSliceAssign", {"ref": values((3,), tf.float32)}, {"begin": [0], "end": [2], "strides": [1], "value": values((3,), tf.float32)},
     error=BAD, text="Cannot broadcast input shape [3] into final shape [2]")

# ---- parts by index, counting: (shape of the variable, indices, shape of the updates)
ND = [((4,), [[1], [3]], (2,)), ((3, 2), [[0], [2]], (2, 2)), ((3, 2), [[0, 1], [2, 0], [0, 1]], (3,)), ((2, 2, 2), [[[1]], [[0]]], (2, 1, 2, 2)),
      ((3,), np.zeros([0, 1], np.int32), (0,)), ((2, 3), [1], (1, 3))]
for op in ("Update", "Add", "Sub", "Max", "Min"):
    op = "ResourceScatterNd" + op
    for d in REAL + [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint32, tf.uint64, tf.complex64, tf.complex128]:
        case(op, {"ref": values((3, 2), d)}, {"indices": [[0, 1], [2, 0]], "updates": values((2,), d)})
    for shape, indices, given in ND:
        case(op, {"ref": values(shape, tf.float32)}, {"indices": tf.constant(indices, tf.int32), "updates": values(given, tf.float32)})
        case(op, {"ref": values(shape, tf.float32)}, {"indices": tf.constant(indices, tf.int64), "updates": values(given, tf.float32)}, {"use_locking": False})
    case(op, {"ref": values((3, 2), tf.float32)}, {"indices": [[0], [5]], "updates": values((2, 2), tf.float32)}, error=BAD,
         text="indices[1] = [5] does not index into shape [3,2]")
    case(op, {"ref": values((3, 2), tf.float32)}, {"indices": [[0]], "updates": values((2,), tf.float32)}, error=BAD,
         text="Dimensions [0,1) of indices[shape=[1,1]] = 1 must match dimensions [0,1) of updates[shape=[2]] = 2")
    case(op, {"ref": values((3, 2), tf.float32)}, {"indices": [[0, 0, 0]], "updates": values((1,), tf.float32)}, error=BAD,
         text="Dimensions [3,2) of input[shape=[3,2]] must match dimensions [3,1) of updates[shape=[1]]")
case("ResourceScatterNdUpdate", {"ref": tf.constant([b"a", b"b"])}, {"indices": [[1]], "updates": tf.constant([b"text"])})
case("ResourceScatterNdUpdate", {"ref": tf.constant([True, False])}, {"indices": [[1], [0]], "updates": tf.constant([True, False])})
for d in (tf.int32, tf.int64):
    case("ResourceCountUpTo", {"resource": tf.constant(2, d)}, {}, {"limit": 3, "T": d})
    case("ResourceCountUpTo", {"resource": tf.constant(3, d)}, {}, {"limit": 3, "T": d}, error="OutOfRangeError", text="Reached limit of 3")
case("ResourceCountUpTo", {"resource": tf.constant([1, 2])}, {}, {"limit": 3, "T": tf.int32}, error=BAD, text="input is not a scalar: [2]")

# ---- streams of random numbers
STATE = [7, 2**40, -3]
for op, dtypes in (("StatefulUniform", REAL), ("StatefulStandardNormalV2", REAL), ("StatefulTruncatedNormal", REAL),
                   ("StatefulUniformFullInt", [tf.int32, tf.int64, tf.uint32, tf.uint64])):
    for d in dtypes:
        case(op, {"resource": tf.constant(STATE, tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": tf.constant([3, 3], tf.int64)}, {"dtype": d})
    case(op, {"resource": tf.constant([-1, -1, 5], tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": tf.constant([5])})
    case(op, {"resource": tf.constant(STATE + [9], tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": tf.constant([], tf.int32)})
    case(op, {"resource": tf.constant(STATE, tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": tf.constant([0])})
    for state, algorithm, code, text in ((STATE, 2, "UnimplementedError", "Non-XLA devices don't support the ThreeFry algorithm."),
                                         (STATE, 7, BAD, "Unsupported algorithm id: 7"),
                                         ([1, 2], 1, BAD, "For the Philox algorithm, the size of state must be at least 3; got 2"),
                                         ([[1, 2, 3]], 1, BAD, "RNG state must have one and only one dimension, not 2")):
        case(op, {"resource": tf.constant(state, tf.int64)}, {"algorithm": tf.constant(algorithm, tf.int64), "shape": [3]}, error=code, text=text)
    case(op, {"resource": tf.constant(STATE[:1] * 3)}, {"algorithm": tf.constant(1, tf.int64), "shape": [3]}, error=BAD,
         text="dtype of RNG state variable must be int64, not int32")
for d in (tf.int32, tf.int64):
    case("StatefulUniformInt", {"resource": tf.constant(STATE, tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": [7],
         "minval": tf.constant(-3, d), "maxval": tf.constant(50, d)})
case("StatefulUniformInt", {"resource": tf.constant(STATE, tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "shape": [7], "minval": 5, "maxval": 7})
for state in (STATE, [-1, 5, 3], [-1, -1, 3]):
    case("RngReadAndSkip", {"resource": tf.constant(state, tf.int64)}, {"alg": 1, "delta": tf.constant(5, tf.uint64)})
    case("RngSkip", {"resource": tf.constant(state, tf.int64)}, {"algorithm": tf.constant(1, tf.int64), "delta": tf.constant(5, tf.int64)})
case("RngReadAndSkip", {"resource": tf.constant(STATE, tf.int64)}, {"alg": 2, "delta": tf.constant(5, tf.uint64)}, error="UnimplementedError",
     text="Non-XLA devices don't support the ThreeFry algorithm.")
case("RngReadAndSkip", {"resource": tf.constant(STATE, tf.int64)}, {"alg": 7, "delta": tf.constant(5, tf.uint64)}, error=BAD, text="Unsupported algorithm id: 7")

path = golden.path(__file__, "state.json")
with open(path, "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print("%s: %d cases, %d bytes" % (path, len(cases), os.path.getsize(path)))
