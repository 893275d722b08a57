"""Op cases of the reductions and scans: writes tests/golden/op_cases/reduce.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("reduce")
rng = np.random.RandomState(7)
f32 = np.float32


def i32(*v):
    return np.array(v, np.int32)


x24 = np.round(rng.randn(2, 3, 4), 3)
FLOATS = [np.float16, np.float32, np.float64]
INTS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]

for op in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"):
    ordered = op in ("Max", "Min")
    for t in FLOATS:
        c.add(op, input=x24.astype(t), reduction_indices=i32(1), gradient=t == np.float64)
    c.add(op, input=tf.cast(x24[0], tf.bfloat16), reduction_indices=i32(0))
    for t in INTS:
        c.add(op, input=np.array([[1, 2, 3], [4, 5, 6]], t), reduction_indices=i32(0))
    if not ordered:
        for t in (np.complex64, np.complex128):
            c.add(op, input=(x24[0] + 1j * x24[1]).astype(t), reduction_indices=i32(0), tolerance=1e-5)
    for axes in (i32(), i32(0), i32(-1), i32(0, 2), i32(1, 2), i32(0, 1), i32(0, 1, 2), np.int32(2), np.int64(-3), np.array([2, 0], np.int64)):
        for keep in (False, True):
            c.add(op, input=x24, reduction_indices=axes, keep_dims=keep, gradient=op != "Prod" or axes.dtype == np.int32, tolerance=1e-9)
    c.add(op, input=np.float64(3.5), reduction_indices=i32(), gradient=True)
    c.add(op, input=f32(2.5), reduction_indices=i32())
    for shape, axes in (((0,), i32(0)), ((2, 0), i32(1)), ((0, 2), i32(0)), ((2, 0, 3), i32(1)), ((2, 0), i32(0))):
        c.add(op, input=np.zeros(shape, f32), reduction_indices=axes)
    c.add(op, input=np.zeros((0,), np.int32), reduction_indices=i32(0))
    c.add(op, input=np.round(rng.randn(2, 3, 1, 2, 2), 2), reduction_indices=i32(0, 3), gradient=True, tolerance=1e-9)
    c.add(op, input=np.round(rng.randn(2, 2, 2, 3, 2), 2), reduction_indices=i32(1, 3), gradient=True, tolerance=1e-9)
    c.error(op, input=f32([[1, 2]]), reduction_indices=i32(2), code="InvalidArgumentError", text="Invalid reduction dimension (2 for input with 2 dimension(s)")
    c.error(op, input=f32([[1, 2]]), reduction_indices=i32(-3), code="InvalidArgumentError", text="Invalid reduction dimension (-3")
    c.error(op, input=f32([[1, 2]]), reduction_indices=i32(0, -2), code="InvalidArgumentError", text="duplicate dimension: 0")
# long rows and columns: blocks, lanes, tails
for shape, axes in (((3, 70), i32(1)), ((70, 3), i32(0)), ((257, 2), i32(0)), ((2, 130), i32(0)), ((131,), i32(0))):
    for op in ("Sum", "Mean", "Max", "Min"):
        c.add(op, input=np.round(rng.randn(*shape), 1).astype(f32), reduction_indices=axes, tolerance=1e-5)
for op in ("Max", "Min"):
    c.add(op, input=f32([1, np.nan, 3]), reduction_indices=i32(0))
    c.add(op, input=f32([[np.inf, -np.inf, 1], [np.nan, 2, 1]]), reduction_indices=i32(1))
    c.add(op, input=f32([[1, 3, 3, 2], [5, 5, 5, 1]]), reduction_indices=i32(1), gradient=True, note="ties share")
c.add("Prod", input=np.array([[2., 0, 3], [0, 0, 4]]), reduction_indices=i32(1), gradient=True, note="zeros")
c.add("Sum", input=np.array([100, 100, 100], np.int8), reduction_indices=i32(0))
c.add("Mean", input=np.array([100, 100, 100], np.int8), reduction_indices=i32(0))
c.add("Mean", input=np.array([-1, -2], np.int32), reduction_indices=i32(0))
for op in ("Any", "All"):
    b = np.array([[True, False, True], [True, True, True], [False, False, False]])
    for axes in (i32(0), i32(1), i32(0, 1), i32(), np.array([-1], np.int64)):
        for keep in (False, True):
            c.add(op, input=b, reduction_indices=axes, keep_dims=keep)
    c.add(op, input=np.zeros((0, 2), bool), reduction_indices=i32(0))
    c.add(op, input=np.bool_(True), reduction_indices=i32())
    c.error(op, input=b, reduction_indices=i32(3), code="InvalidArgumentError", text="Invalid reduction dimension")

for op in ("Cumsum", "Cumprod"):
    for exclusive in (False, True):
        for reverse in (False, True):
            for axis in (0, 1, -1):
                c.add(op, x=x24, axis=np.int32(axis), exclusive=exclusive, reverse=reverse, gradient=True, tolerance=1e-9)
    for t in FLOATS + INTS:
        c.add(op, x=np.array([1, 2, 3], t), axis=np.int64(0))
    c.add(op, x=tf.cast([1., 2., 3.], tf.bfloat16), axis=np.int32(0))
    for t in (np.complex64, np.complex128):
        c.add(op, x=np.array([1 + 2j, 3 - 1j], t), axis=np.int32(0))
    c.add(op, x=np.zeros((0, 2), f32), axis=np.int32(0))
    c.error(op, x=f32([1]), axis=np.int32(1), code="InvalidArgumentError", text="Expected scan axis in the range [-1, 1), but got 1")
    c.error(op, x=f32([1]), axis=i32(0, 0), code="InvalidArgumentError", text="axis must be a scalar")

for op in ("ArgMax", "ArgMin"):
    for t in FLOATS + INTS:
        c.add(op, input=np.array([[3, 1, 3], [2, 5, 0]], t), dimension=np.int32(1))
    c.add(op, input=tf.cast([[3., 1., 3.]], tf.bfloat16), dimension=np.int32(1))
    c.add(op, input=np.array([[False, True, True]]), dimension=np.int32(1))
    for axis in (0, 1, 2, -1):
        c.add(op, input=x24, dimension=np.int32(axis), output_type=tf.int32)
    c.add(op, input=f32([1, np.nan, 2]), dimension=np.int64(0))
    c.add(op, input=f32([np.nan, 1, 2]), dimension=np.int32(0))
    c.add(op, input=np.zeros((2, 0, 3), f32), dimension=np.int32(0))
    c.error(op, input=f32([1]), dimension=np.int32(1), code="InvalidArgumentError", text="Expected dimension in the range [-1, 1), but got 1")
    c.error(op, input=np.zeros((0, 2), f32), dimension=np.int32(0), code="InvalidArgumentError", text="Reduction axis 0 is empty in shape [0,2]")
c.add("ArgMax", input=f32([1, 5, 2]), dimension=np.int32(0), output_type=tf.uint16)

for t in FLOATS + INTS:
    c.add("TopKV2", input=np.array([[3, 1, 3, 2], [0, 5, 4, 9]], t), k=np.int32(2))
c.add("TopKV2", input=tf.cast([3., 1., 2.], tf.bfloat16), k=np.int32(2))
c.add("TopKV2", input=x24, k=np.int32(4), gradient=True)
c.add("TopKV2", input=x24, k=np.int32(0))
c.add("TopKV2", input=f32([2, 2, 2, 1, 2]), k=np.int32(3))
c.add("TopKV2", input=f32([1, 3, 2]), k=np.int64(2), index_type=tf.int64)
c.error("TopKV2", input=f32([1, 2]), k=np.int32(3), code="InvalidArgumentError", text="input must have at least k columns. Had 2, needed 3")
c.error("TopKV2", input=f32([1, 2]), k=np.int32(-1), code="InvalidArgumentError", text="Need k >= 0, got -1")
c.error("TopKV2", input=f32(1), k=np.int32(0), code="InvalidArgumentError", text="input must be >= 1-D")
p = f32([[0.1, 0.5, 0.4], [0.6, 0.2, 0.6], [np.nan, 0.1, 0.2], [0.3, np.inf, 0.1]])
for k in (0, 1, 2, 3):
    for t in (np.int32, np.int64):
        c.add("InTopKV2", predictions=p, targets=np.array([2, 0, 1, 2], t), k=t(k))
c.add("InTopKV2", predictions=p, targets=i32(5, -1, 0, 1), k=np.int32(2))
c.error("InTopKV2", predictions=p, targets=i32(0), k=np.int32(1), code="InvalidArgumentError", text="First dimension of predictions 4 must match length of targets 1")
for t in (np.int32, np.int64, np.float32, np.float64):
    c.add("Bincount", arr=i32(1, 3, 1, 7), size=np.int32(5), weights=np.array([], t))
    c.add("Bincount", arr=i32(1, 3, 1, 7), size=np.int32(5), weights=np.array([1, 2, 3, 4], t))
    for binary in (False, True):
        c.add("DenseBincount", input=np.array([1, 3, 1, 7], np.int64), size=np.int64(5), weights=np.array([], t), binary_output=binary)
    c.add("DenseBincount", input=np.array([[1, 3, 1], [0, 0, 9]], np.int32), size=np.int32(4), weights=np.array([[1, 2, 3], [4, 5, 6]], t))
c.add("DenseBincount", input=np.array([[1, 3, 1], [0, 0, 9]], np.int32), size=np.int32(4), weights=np.array([], f32), binary_output=True)
c.error("Bincount", arr=i32(-1), size=np.int32(2), weights=np.array([], f32), code="InvalidArgumentError", text="Input arr must be non-negative!")
c.error("DenseBincount", input=i32(-1), size=np.int32(2), weights=np.array([], f32), code="InvalidArgumentError", text="Input arr must be non-negative!")
c.write()
