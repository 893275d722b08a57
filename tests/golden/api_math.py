"""Make tests/golden/api_math/api_math.json: calls of TensorFlow 2.15.1's functions with their results, and their signatures, for test_api_math.py."""
import inspect
import json
import os
import sys

import numpy as np
import tensorflow as tf

from op_cases import tensor
import golden

NAMES = """add subtract multiply divide truediv pow maximum minimum abs negative sign square sqrt exp sin cos tan asin acos atan atan2 sinh cosh asinh acosh
atanh tanh sigmoid floor round less less_equal greater greater_equal equal not_equal logical_and logical_or logical_not cast where clip_by_value
clip_by_norm clip_by_global_norm add_n identity identity_n stop_gradient complex realdiv truncatediv truncatemod scalar_mul
math.add math.subtract math.multiply math.divide math.truediv math.floordiv math.mod math.floormod math.pow math.maximum math.minimum math.abs
math.negative math.sign math.square math.sqrt math.rsqrt math.exp math.expm1 math.log math.log1p math.sin math.cos math.tan math.asin math.acos math.atan
math.atan2 math.sinh math.cosh math.asinh math.acosh math.atanh math.tanh math.sigmoid math.erf math.erfc math.lgamma math.digamma math.reciprocal
math.reciprocal_no_nan math.floor math.ceil math.round math.rint math.is_nan math.is_inf math.is_finite math.less math.less_equal math.greater
math.greater_equal math.equal math.not_equal math.logical_and math.logical_or math.logical_not math.logical_xor math.divide_no_nan math.multiply_no_nan
math.squared_difference math.xdivy math.xlogy math.xlog1py math.add_n math.accumulate_n math.real math.imag math.conj math.angle math.nextafter
math.scalar_mul nn.sigmoid nn.tanh bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.invert bitwise.left_shift bitwise.right_shift
debugging.check_numerics linalg.global_norm dtypes.cast dtypes.complex math.l2_normalize nn.l2_normalize linalg.l2_normalize
math.zero_fraction nn.zero_fraction linalg.trace linalg.adjoint math.is_non_decreasing math.is_strictly_increasing math.polyval math.unsorted_segment_mean
math.unsorted_segment_sqrt_n nn.crelu nn.weighted_cross_entropy_with_logits nn.log_poisson_loss nn.scale_regularization_loss
nn.compute_average_loss""".split()


def find(name):
    out = tf
    for part in name.split("."):
        out = getattr(out, part)
    return out


calls = []


def plain(v):
    if isinstance(v, tf.DType):
        return {"dtype": v.name}
    if isinstance(v, np.ndarray) or isinstance(v, np.generic):
        return {"tensor": tensor(v)}
    if isinstance(v, complex):
        return {"complex": [v.real, v.imag]}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def flat(v):
    return [t for x in v for t in flat(x)] if isinstance(v, (list, tuple)) else [v]


def call(path, *args, **kwargs):
    out = {"name": path, "args": [plain(a) for a in args], "kwargs": {k: plain(v) for k, v in kwargs.items()}}
    try:
        out["results"] = [tensor(t) for t in flat(find(path)(*args, **kwargs))]
    except Exception as e:
        out["error"] = [c.__name__ for c in type(e).__mro__ if c.__name__ in ("TypeError", "ValueError", "OpError")][:1] + [type(e).__name__]
    calls.append(out)


f = np.float32([1.5, -2.5, 0.25])
i = np.int32([7, -7, 3])
for name in ("add", "subtract", "multiply", "divide", "truediv", "maximum", "minimum", "math.floordiv", "math.mod", "less", "equal", "not_equal",
             "math.squared_difference", "pow"):
    call(name, f, f)
    call(name, f, 2)
    call(name, 2.0, f)
    call(name, i, 2)
    call(name, [1, 2], [3, 4])
    call(name, x=f, y=f, name="named")
    call(name, np.float64([1, 2]), 3)
    call(name, f, i)
for d in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.float16, np.float32, np.float64):
    call("divide", np.array([7, 2], d), np.array([2, 2], d))
    call("truediv", np.array([7, 2], d), 2)
call("add", np.array([b"a"], object), np.array([b"b"], object))
call("abs", np.complex64([3 + 4j]))
call("abs", i)
call("round", i)
call("round", np.float32([0.5, 1.5, -2.5]))
call("math.real", f)
call("math.real", np.complex64([1 + 2j]))
call("math.imag", np.complex128([1 + 2j]))
call("math.imag", f)
call("math.conj", f)
call("math.conj", np.complex64([1 + 2j]))
call("math.angle", f)
call("math.angle", np.complex64([1 + 2j]))
call("complex", f, f)
call("complex", np.float64([1]), np.float64([2]))
call("complex", i, i)
call("math.reciprocal_no_nan", np.float32([0, 2]))
call("math.logical_xor", [True, False, True], [True, True, False])
call("logical_not", [True, False])
call("cast", f, tf.int32)
call("cast", f, "float64")
call("cast", f, tf.float32)
call("cast", 1.7, tf.int32)
call("cast", x=[1, 2], dtype=tf.bool)
call("where", [True, False, True])
call("where", np.float32([[0, 1], [2, 0]]))
call("where", [True, False], [1, 2], [3, 4])
call("where", [True, False], 1.0, 0.0)
call("where", condition=[[True], [False]], x=f, y=0.0)
call("where", [True], [1])
call("clip_by_value", f, -1, 1)
call("clip_by_value", f, clip_value_min=-1.0, clip_value_max=1.0)
call("clip_by_value", i, 0, 5)
call("clip_by_value", f, np.float32([[1], [2]]), 3.0)
call("clip_by_norm", f, 2.0)
call("clip_by_norm", np.float32([[3, 4], [0.3, 0.4]]), 1.0, axes=[1])
call("clip_by_norm", np.float32([0, 0]), 1.0)
call("clip_by_norm", np.float64([[3, 4]]), 1.0, axes=-1)
call("clip_by_global_norm", [f, np.float32([[2, 2]])], 2.0)
call("clip_by_global_norm", [f, f], 100.0)
call("clip_by_global_norm", [f], 1.0, use_norm=np.float32(10))
call("clip_by_global_norm", [np.float32([np.inf])], 1.0)
call("linalg.global_norm", [f, np.float32([[2, 2]])])
call("add_n", [f, f, f])
call("add_n", [f])
call("add_n", [])
call("math.accumulate_n", [f, f])
call("math.accumulate_n", [f, f], shape=[3])
call("identity", f)
call("identity", [1, 2])
call("identity_n", [f, i])
call("stop_gradient", f)
call("scalar_mul", 2.0, f)
call("scalar_mul", 3, i)
call("debugging.check_numerics", f, "fine")
call("debugging.check_numerics", np.float32([np.nan]), message="bad")
call("bitwise.left_shift", i, 1)
call("bitwise.invert", i)
call("atan2", f, np.float32([1, 1, -1]))
call("nn.sigmoid", f)
call("nn.tanh", f)
call("math.xlogy", f, np.float32([1, 2, 3]))
call("math.divide_no_nan", f, np.float32([1, 0, 2]))
call("sqrt", i)
call("exp", "text")

m = np.float32([[1, -2, 0], [0, 0.5, 3]])
for axis in (None, 0, 1, [0, 1]):
    call("math.l2_normalize", m, axis)
    call("math.count_nonzero", m, axis, keepdims=True)
call("nn.l2_normalize", np.float64([0, 0]), epsilon=0.25)
call("math.count_nonzero", i, dtype=tf.int32)
call("math.count_nonzero", ["", "a", "b"])
call("math.zero_fraction", m)
call("math.zero_fraction", np.int64([0]))
call("nn.zero_fraction", np.float64([]))
call("linalg.trace", np.float32([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]))
call("linalg.trace", m)
call("linalg.adjoint", np.complex64([[1 + 2j, 3], [4, 5j]]))
call("linalg.adjoint", m)
call("linalg.normalize", m)
call("linalg.normalize", m, ord=1, axis=1)
call("linalg.normalize", m, ord=np.inf, axis=0)
for x in ([], [1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 3.0], [3.0, 1.0], [[1.0, 2.0], [3.0, 4.0]]):
    call("math.is_non_decreasing", np.float32(x))
    call("math.is_strictly_increasing", np.float32(x))
call("math.polyval", [1.0, 2.0, 3.0], f)
call("math.polyval", [f, f], 2.0)
call("math.polyval", [], f)
call("math.unsorted_segment_mean", m, [1, 1], 3)
call("math.unsorted_segment_mean", f, [0, 2, 0], 3)
call("math.unsorted_segment_sqrt_n", m, [1, 1], 2)
call("math.unsorted_segment_sqrt_n", f, [-1, 0, 0], 2)
call("nn.crelu", m)
call("nn.crelu", m, axis=0)
call("nn.weighted_cross_entropy_with_logits", np.float32([1, 0, 1]), f, 2.0)
call("nn.weighted_cross_entropy_with_logits", np.float32([1, 0]), f, 2.0)
call("nn.log_poisson_loss", np.float32([0.5, 3, 0]), f)
call("nn.log_poisson_loss", np.float32([0.5, 3, 2]), f, compute_full_loss=True)
call("nn.scale_regularization_loss", f)
call("nn.compute_average_loss", f)
call("nn.compute_average_loss", m, sample_weight=np.float32([[1], [2]]), global_batch_size=4)
call("nn.compute_average_loss", 1.0)

signatures = {}
for n in NAMES:
    parameters = inspect.signature(find(n)).parameters.values()
    signatures[n] = [[p.name, None if p.default is p.empty else repr(p.default)] for p in parameters]
path = golden.path(__file__, "api_math.json")
with open(path, "w") as out:
    json.dump({"signatures": signatures, "calls": calls}, out, separators=(",", ":"))
    out.write("\n")
print("%s: %d calls, %d bytes" % (path, len(calls), os.path.getsize(path)))
