"""Op cases of the array ops: writes tests/golden/op_cases/array.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases



class Known(Cases):
    """Leaves out dtypes that TensorFlow itself has no CPU kernel for."""

    def add(self, op, **arguments):
        try:
            super().add(op, **arguments)
        except (tf.errors.NotFoundError, tf.errors.UnimplementedError):
            pass


c = Known("array")
f32, f64 = np.float32, np.float64
BAD = "InvalidArgumentError"
FLOATS = [np.float16, np.float32, np.float64]
INTS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
PLAIN = FLOATS + INTS + [np.complex64, np.complex128, np.bool_]


def i32(*v):
    return np.array(v, np.int32)


def i64(*v):
    return np.array(v, np.int64)


def count(*shape, dtype=f64):
    return (np.arange(int(np.prod(shape))).reshape(shape) * 0.5 + 1).astype(dtype)


def words(*shape):
    n = int(np.prod(shape))
    out = np.empty(n, object)
    out[:] = [b"word%d" % i if i % 3 else b"" for i in range(n)]
    return tf.constant(out.reshape(shape), tf.string)


def bf16(x):
    return tf.cast(x, tf.bfloat16)


def kinds(*shape):
    """The same tensor in every dtype class."""
    base = np.arange(int(np.prod(shape))).reshape(shape) % 100
    return [base.astype(t) for t in PLAIN] + [bf16(base), words(*shape)]


x23, x234 = count(2, 3), count(2, 3, 4)

# ---- shapes ----
for x in (f32(1), f32([1, 2]), count(2, 0, 3), x234, words(2)):
    c.add("Shape", input=x)
    c.add("Shape", input=x, out_type=tf.int64)
    c.add("Size", input=x)
    c.add("Size", input=x, out_type=tf.int64)
    c.add("Rank", input=x)
c.add("ShapeN", input=[f32([1, 2]), f32(1), count(2, 3, dtype=f32)])
c.add("ShapeN", input=[i32(1)], out_type=tf.int64)
for x in kinds(2, 3):
    c.add("Reshape", tensor=x, shape=i32(3, 2))
for shape in (i32(6), i32(-1), i32(3, -1), i64(1, 2, 1, 3), i32(2, -1, 1)):
    c.add("Reshape", tensor=x23, shape=shape, gradient=True)
c.add("Reshape", tensor=f64(3), shape=i32(), gradient=True)
c.add("Reshape", tensor=f64(3), shape=i32(1, 1))
c.add("Reshape", tensor=x23, shape=np.int32(-1))
c.add("Reshape", tensor=count(0, 3), shape=i32(-1, 0))
c.add("Reshape", tensor=count(0, 3), shape=i32(3, -1))
c.error("Reshape", tensor=x23, shape=i32(2, 4), code=BAD, text="Input to reshape is a tensor with 6 values, but the requested shape has 8")
c.error("Reshape", tensor=x23, shape=i32(-1, 4), code=BAD, text="but the requested shape requires a multiple of 4")
c.error("Reshape", tensor=x23, shape=i32(-1, -1), code=BAD, text="Only one input size may be -1, not both 0 and 1")
c.error("Reshape", tensor=x23, shape=i32(-2, 3), code=BAD, text="Size 0 must be non-negative, not -2")
c.error("Reshape", tensor=x23, shape=np.int32([[2, 3]]), code=BAD, text="sizes input must be 1-D, not [1,2]")
for axis in (0, 1, 2, -1, -3):
    c.add("ExpandDims", input=x23, dim=np.int32(axis), gradient=True)
c.add("ExpandDims", input=words(2), dim=np.int64(1))
c.add("ExpandDims", input=f32(1), dim=i32(0))
c.error("ExpandDims", input=x23, dim=np.int32(3), code=BAD, text="Tried to expand dim index 3 for tensor with 2 dimensions.")
c.error("ExpandDims", input=x23, dim=i32(1, 2), code=BAD, text="'dim' must be a tensor with a single value")
c.add("Squeeze", input=count(1, 2, 1, 3), gradient=True)
for dims in ([0], [2], [-2], [0, 2], []):
    c.add("Squeeze", input=count(1, 2, 1, 3), squeeze_dims=dims, gradient=True)
c.add("Squeeze", input=words(1, 2))
c.error("Squeeze", input=x23, squeeze_dims=[0], code=BAD, text="Can not squeeze dim[0], expected a dimension of 1, got 2")
c.error("Squeeze", input=x23, squeeze_dims=[2], code=BAD, text="Tried to squeeze dim index 2 for tensor with 2 dimensions.")

# ---- making ----
for x in kinds(1):
    c.add("Fill", dims=i32(2, 2), value=tf.reshape(x, []))
for t in PLAIN:
    c.add("OnesLike", x=np.zeros((2, 2), t))
    c.add("ZerosLike", x=np.ones((2, 2), t))
c.add("OnesLike", x=bf16([2., 3.]))
c.add("ZerosLike", x=bf16([2., 3.]))
c.add("ZerosLike", x=words(3))
c.add("Fill", dims=i64(2, 0, 3), value=f32(2))
c.add("Fill", dims=i32(), value=f64(2), gradient=True)
c.add("Fill", dims=i64(3, 2), value=f64(2), gradient=True)
c.error("Fill", dims=i32(-1, 2), value=f32(1), code=BAD, text="Dimension -1 must be >= 0")
c.error("Fill", dims=i32(2**31 - 1, 2**31 - 1, 2**31 - 1), value=f32(1), code=BAD, text="would have more than 2**63 - 1 elements")
for t in (np.int8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float16, f32, f64):
    c.add("Range", start=t(2), limit=t(11), delta=t(3))
c.add("Range", start=bf16(0.), limit=bf16(2.), delta=bf16(0.5))
c.add("Range", start=np.int32(5), limit=np.int32(-4), delta=np.int32(-2))
c.add("Range", start=np.int32(5), limit=np.int32(5), delta=np.int32(1))
c.add("Range", start=f32(0), limit=f32(1), delta=f32(0.1))
c.add("Range", start=f32(0), limit=f32(20), delta=f32(0.3))
c.add("Range", start=f64(1), limit=f64(0), delta=f64(-0.1))
c.error("Range", start=np.int32(0), limit=np.int32(5), delta=np.int32(0), code=BAD, text="Requires delta != 0: 0")
c.error("Range", start=np.int32(5), limit=np.int32(0), delta=np.int32(1), code=BAD, text="Requires start <= limit when delta > 0: 5/0")
c.error("Range", start=np.int32(0), limit=np.int32(5), delta=np.int32(-1), code=BAD, text="Requires start >= limit when delta < 0: 0/5")
c.error("Range", start=f32(0), limit=f32(1e30), delta=f32(1), code=BAD, text="Requires ((limit - start) / delta) <= 9223372036854775807")
c.error("Range", start=f32(0), limit=f32(np.nan), delta=f32(1), code=BAD, text="Requires start <= limit when delta > 0: 0/nan")
for t in FLOATS:
    c.add("LinSpace", start=t(1), stop=t(2), num=np.int32(5))
c.add("LinSpace", start=bf16(0.), stop=bf16(1.), num=np.int32(3))
c.add("LinSpace", start=f32(3), stop=f32(-1), num=np.int64(7))
c.add("LinSpace", start=f32(3), stop=f32(-1), num=np.int32(1))
c.error("LinSpace", start=f32(0), stop=f32(1), num=np.int32(0), code=BAD, text="Requires num > 0: 0")
c.error("LinSpace", start=f32([0]), stop=f32(1), num=np.int32(2), code=BAD, text="start must be a scalar, not shape [1]")

# ---- order ----
for x in kinds(2, 3):
    c.add("Transpose", x=x, perm=i32(1, 0))
for perm in (i32(0, 1, 2), i32(2, 1, 0), i32(1, 0, 2), i64(0, 2, 1), i32(1, 2, 0), i32(2, 0, 1)):
    c.add("Transpose", x=x234, perm=perm, gradient=True)
c.add("Transpose", x=count(2, 1, 2, 3), perm=i32(3, 1, 0, 2), gradient=True)
c.add("Transpose", x=count(35, 3, dtype=f32), perm=i32(1, 0))
c.add("Transpose", x=f32(1), perm=i32())
c.add("Transpose", x=count(0, 3), perm=i32(1, 0))
c.error("Transpose", x=x23, perm=i32(0), code=BAD, text="transpose expects a vector of size 2. But input(1) is a vector of size 1")
c.error("Transpose", x=x23, perm=i32(0, 0), code=BAD, text="1 is missing from")
c.error("Transpose", x=x23, perm=i32(0, 2), code=BAD, text="2 is out of range [0 .. 2)")
c.add("InvertPermutation", x=i32(2, 0, 1))
c.add("InvertPermutation", x=i64(3, 1, 0, 2))
c.add("InvertPermutation", x=i32())
c.error("InvertPermutation", x=i32(0, 0), code=BAD, text="0 is duplicated in the input.")
c.error("InvertPermutation", x=i32(0, 2), code=BAD, text="2 is not between 0 and 2")
for x in kinds(2, 3):
    c.add("ReverseV2", tensor=x, axis=i32(1))
for axis in (i32(0), i32(0, 2), i64(-1), i32(), i32(0, 1, 2)):
    c.add("ReverseV2", tensor=x234, axis=axis, gradient=True)
c.error("ReverseV2", tensor=x23, axis=i32(2), code=BAD, text="'axis'[0] = 2 is out of valid range [0, 1")
c.error("ReverseV2", tensor=x23, axis=i32(0, -2), code=BAD, text="axis 0 specified more than once.")
for x in kinds(2, 3):
    c.add("ReverseSequence", input=x, seq_lengths=i64(2, 3), seq_dim=1)
for lengths, axes in ((i32(0, 3), (1, 0)), (i64(1, 2, 0), (0, 1)), (i64(4, 2), (2, 0)), (i32(2, 1, 0, 2), (0, 2)), (i64(1, 3, 2, 0), (1, 2))):
    c.add("ReverseSequence", input=x234, seq_lengths=lengths, seq_dim=axes[0], batch_dim=axes[1], gradient=True)
c.add("ReverseSequence", input=count(0, 4), seq_lengths=i32(), seq_dim=1)
for lengths, axes, text in ((i32(1), (1, 0), "Length of seq_lengths != input.dims(0), (1 vs. 2)"), (i32(1, 5), (1, 0), "seq_lens(1) > input.dims(1)"),
                            (i32(1, -1), (1, 0), "seq_lens(1) < 0"), (i32(1, 1), (0, 0), "batch_dim == seq_dim == 0"),
                            (i32(1, 1), (2, 0), "seq_dim must be < input rank ( 2 vs. 2)"), (i32(1, 1), (0, 2), "batch_dim must be < input rank ( 2 vs. 2)"),
                            (i32(1, 1), (-1, 0), "Invalid seq_dim -1"), (i32(1, 1), (1, -1), "Invalid batch_dim -1"),
                            (i32(1, 1)[None], (1, 0), "seq_lengths must be 1-dim, not 2")):
    c.error("ReverseSequence", input=x23, seq_lengths=lengths, seq_dim=axes[0], batch_dim=axes[1], code=BAD, text=text)
for x in kinds(2, 3):
    c.add("Roll", input=x, shift=i32(1, -1), axis=i32(0, 1))
for shift in (-4, 0, 1, 5):
    c.add("Roll", input=x234, shift=np.int32(shift), axis=np.int32(-1), gradient=True)
c.add("EnsureShape", input=x23, shape=tf.TensorShape([2, 3]), gradient=True)
c.add("LowerBound", sorted_inputs=i32(1, 3, 3, 7)[None], values=i32(0, 3, 9)[None])
c.add("UpperBound", sorted_inputs=i32(1, 3, 3, 7)[None], values=i32(0, 3, 9)[None], out_type=tf.int64)

# ---- joining ----
for x in kinds(2, 2):
    c.add("ConcatV2", values=[x, x], axis=np.int32(0))
    c.add("Pack", values=[x, x], axis=1)
for axis in (0, 1, 2, -1):
    c.add("ConcatV2", values=[x234, x234 * 2, x234 + 1], axis=np.int64(axis), gradient=True)
for axis in (0, 1, 2, 3, -1, -4):
    c.add("Pack", values=[x234, x234 * 2], axis=axis, gradient=axis in (0, 3))
c.add("ConcatV2", values=[count(2, 0), x23, count(2, 1)], axis=np.int32(1), gradient=True)
c.add("ConcatV2", values=[count(0, 2), count(0, 2)], axis=np.int32(0))
c.add("Pack", values=[f64(1), f64(2)], gradient=True)
c.add("Pack", values=[f32([])])
c.error("ConcatV2", values=[x23, count(2, 2)], axis=np.int32(0), code=BAD, text="Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [2,2]")
c.error("ConcatV2", values=[x23, x23], axis=np.int32(2), code=BAD, text="Expected concatenating dimensions in the range [-2, 2), but got 2")
c.error("ConcatV2", values=[x23, count(3)], axis=np.int32(0), code=BAD, text="Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [3]")
c.error("ConcatV2", values=[np.int32(1), np.int32(2)], axis=np.int32(0), code=BAD, text="Can't concatenate scalars (use tf.stack instead)")
c.error("Pack", values=[x23, count(3)], code=BAD, text="Shapes of all inputs must match: values[0].shape = [2,3] != values[1].shape = [3]")
c.error("Pack", values=[x23, x23], axis=4, code=BAD, text="axis = 4 not in [-3, 3)")
c.add("ConcatOffset", concat_dim=np.int32(1), shape=[i32(2, 2, 7), i32(2, 3, 7), i32(2, 9, 7)])
c.add("ConcatOffset", concat_dim=np.int32(-1), shape=[i64(2, 2), i64(2, 3)])
c.error("ConcatOffset", concat_dim=np.int32(0), shape=[i32(2, 3), i32(2, 4)], code=BAD, text="All dimensions except 0 must match.")
for x in kinds(2, 2):
    c.add("Unpack", value=x, num=2)
    c.add("Split", split_dim=np.int32(1), value=x, num_split=2)
for axis in (0, 1, 2, -1):
    n = x234.shape[axis]
    c.add("Unpack", value=x234, num=n, axis=axis, gradient=True)
    c.add("Split", split_dim=np.int32(axis), value=x234, num_split=n, gradient=True)
c.add("Unpack", value=count(0, 2), num=0)
c.add("Split", split_dim=np.int32(1), value=count(2, 4), num_split=2, gradient=True)
c.add("Split", split_dim=np.int32(0), value=count(2, 4), num_split=1, gradient=True)
for sizes, t in (([1, 2], np.int32), ([0, 3], np.int64), ([-1, 1], np.int64), ([2, -1], np.int8)):
    c.add("SplitV", value=x23, size_splits=np.array(sizes, t), split_dim=np.int32(1), num_split=2, gradient=True)
c.add("SplitV", value=words(3), size_splits=i64(1, 2), split_dim=np.int32(0), num_split=2)
c.error("Unpack", value=x23, num=3, code=BAD, text="Input shape axis 0 must equal 3, got shape [2,3]")
c.error("Unpack", value=x23, num=2, axis=2, code=BAD, text="axis = 2 not in [-2, 2)")
c.error("Split", split_dim=np.int32(1), value=x23, num_split=2, code=BAD, text="Number of ways to split should evenly divide the split dimension, but got split_dim 1 (size = 3) and num_split 2")
c.error("Split", split_dim=np.int32(2), value=x23, num_split=2, code=BAD, text="-input rank(-2) <= split_dim < input rank (2), but got 2")
for sizes, text in (([1, 1], "Determined shape must either match input shape along split_dim exactly"), ([-1, -1], "There can only be one -1 in the input."),
                    ([1, 1, 1], "size of the split_tensor must be 1-D and have the same elements as outputs got 1 -D and 3 elements"), ([5, -1], "Determined shape must either match")):
    c.error("SplitV", value=x23, size_splits=i64(*sizes), split_dim=np.int32(1), num_split=2, code=BAD, text=text)

# ---- slices ----
for x in kinds(3, 3):
    c.add("Slice", input=x, begin=i32(1, 0), size=i32(2, 2))
    c.add("StridedSlice", input=x, begin=i32(0, 2), end=i32(3, 0), strides=i32(2, -1))
for begin, size in (((0, 0, 0), (2, 3, 4)), ((1, 0, 0), (1, 3, 4)), ((0, 1, 2), (2, 1, 2)), ((1, 1, 1), (-1, -1, -1)), ((2, 0, 0), (0, 3, 4)), ((0, 3, 0), (1, -1, 2))):
    c.add("Slice", input=x234, begin=i32(*begin), size=i32(*size), gradient=True)
    c.add("Slice", input=x234, begin=i64(*begin), size=i64(*size))
c.add("Slice", input=f32(1), begin=i32(), size=i32())
c.error("Slice", input=x23, begin=i32(0, 2), size=i32(1, 2), code=BAD, text="Expected size[1] in [0, 1], but got 2")
c.error("Slice", input=x23, begin=i32(3, 0), size=i32(1, 2), code=BAD, text="Expected begin[0] in [0, 2], but got 3")
c.error("Slice", input=x23, begin=i32(0), size=i32(1), code=BAD, text="Expected begin and size arguments to be 1-D tensors of size 2, but got shapes [1] and [1] instead.")
c.error("Slice", input=x23, begin=i32(0, 0), size=i32(-2, 1), code=BAD, text="Expected size[0] in [0, 2], but got -2")
c.error("Slice", input=x23, begin=i32(0, -1), size=i32(1, 1), code=BAD, text="Expected begin[1] in [0, 3], but got -1")
SPECS = [((0,), (1,), (1,), {}), ((1,), (2,), (1,), dict(shrink_axis_mask=1)), ((-1,), (0,), (1,), dict(shrink_axis_mask=1)),
         ((0, 1), (2, 3), (1, 1), {}), ((0, 0), (2, 3), (1, 2), {}), ((0, 2), (2, 0), (1, -1), {}), ((0, 0), (0, 0), (1, -1), dict(begin_mask=3, end_mask=3)),
         ((0, 0, 1), (0, 0, 3), (1, 1, 1), dict(ellipsis_mask=1)), ((0, 0), (0, 1), (1, 1), dict(ellipsis_mask=1, shrink_axis_mask=2)),
         ((1, 0), (2, 0), (1, 1), dict(ellipsis_mask=2, shrink_axis_mask=1)), ((0, 0, 0), (0, 2, 0), (1, 1, 1), dict(new_axis_mask=1, begin_mask=4, end_mask=4)),
         ((0, 0, 0, 1), (0, 0, 0, 2), (1, 1, 1, 1), dict(new_axis_mask=5, ellipsis_mask=2, shrink_axis_mask=8)),
         ((0, 0), (0, 0), (1, 1), dict(ellipsis_mask=1, new_axis_mask=2)), ((5, -9), (9, 9), (1, 1), {}), ((1, 1, 3), (0, 3, -9), (-1, 1, -2), {}),
         ((0,), (0,), (1,), dict(begin_mask=1, end_mask=1)), ((), (), (), {}), ((1, 1), (2, 9), (1, 3), dict(shrink_axis_mask=1, begin_mask=1)),
         ((0, 0, 0), (1, 1, 1), (1, 1, 1), dict(shrink_axis_mask=7))]
for begin, end, strides, masks in SPECS:
    for i in (i32, i64):
        c.add("StridedSlice", input=x234, begin=i(*begin), end=i(*end), strides=i(*strides), gradient=i is i32, **masks)
    y = tf.raw_ops.StridedSlice(input=x234, begin=i32(*begin), end=i32(*end), strides=i32(*strides), **masks)
    c.add("StridedSliceGrad", shape=i32(2, 3, 4), begin=i32(*begin), end=i32(*end), strides=i32(*strides), dy=y.numpy(), gradient=True, **masks)
c.add("StridedSlice", input=x234, begin=np.int16([1]), end=np.int16([2]), strides=np.int16([1]))
c.error("StridedSlice", input=x23, begin=i32(5), end=i32(6), strides=i32(1), shrink_axis_mask=1, code=BAD, text="slice index 5 of dimension 0 out of bounds.")
c.error("StridedSlice", input=x23, begin=i32(0, 0, 0), end=i32(1, 1, 1), strides=i32(1, 1, 1), code=BAD, text="Index out of range using input dim 2; input has only 2 dims")
c.error("StridedSlice", input=x23, begin=i32(0), end=i32(1), strides=i32(0), code=BAD, text="strides[0] must be non-zero")
c.error("StridedSlice", input=x23, begin=i32(0), end=i32(1, 2), strides=i32(1), code=BAD, text="Expected begin, end, and strides to be 1D equal size tensors, but got shapes [1], [2], and [1] instead.")
c.error("StridedSlice", input=x23, begin=i32(0, 0), end=i32(1, 2), strides=i32(1, 1), ellipsis_mask=3, code=BAD, text="Multiple ellipses in slice spec not allowed")
c.error("StridedSlice", input=x23, begin=i32(0), end=i32(1), strides=i32(-1), shrink_axis_mask=1, code=BAD, text="only stride 1 allowed on non-range indexing.")
c.error("StridedSliceGrad", shape=i32(2, 3), begin=i32(0), end=i32(1), strides=i32(1), dy=count(2, 3), code=BAD, text="shape of dy was [2,3] instead of [1,3]")

# ---- picking ----
for x in kinds(3, 2):
    c.add("GatherV2", params=x, indices=i32(2, 0), axis=np.int32(0))
    c.add("GatherNd", params=x, indices=np.int32([[2, 1], [0, 0]]))
for indices in (i32(1, 0, 1), np.int32(1), np.int64([[0, 1], [1, 1]]), np.int16([1]), i32()):
    for axis in (0, 1, -1):
        c.add("GatherV2", params=x234, indices=indices, axis=np.int32(axis), gradient=True)
c.add("GatherV2", params=x234, indices=np.int32([[0, 2], [1, 1]]), axis=np.int32(1), batch_dims=1, gradient=True)
c.add("GatherV2", params=x234, indices=np.int32([[0, 3, 1], [1, 1, 2]]), axis=np.int64(2), batch_dims=1, gradient=True)
c.add("GatherV2", params=x234, indices=np.int32([[0, 3, 1], [1, 1, 2]]), axis=np.int32(2), batch_dims=2, gradient=True)
c.add("GatherV2", params=x234, indices=np.int64([[0], [1]]), axis=np.int32(-1), batch_dims=-1)
c.error("GatherV2", params=x23, indices=i32(0, 5), axis=np.int32(0), code=BAD, text="indices[1] = 5 is not in [0, 2)")
c.error("GatherV2", params=x23, indices=np.int32([[0], [7]]), axis=np.int32(1), code=BAD, text="indices[1,0] = 7 is not in [0, 3)")
c.error("GatherV2", params=x23, indices=i32(-1), axis=np.int32(0), code=BAD, text="indices[0] = -1 is not in [0, 2)")
c.error("GatherV2", params=np.int32(1), indices=i32(0), axis=np.int32(0), code=BAD, text="params must be at least 1 dimensional")
c.error("GatherV2", params=x23, indices=i32(0), axis=np.int32(2), code=BAD, text="Shape must be at least rank 3 but is rank 2")
c.error("GatherV2", params=x23, indices=np.int32([[0], [0], [0]]), axis=np.int32(1), batch_dims=1, code=BAD, text="params.shape[0]: 2 should be equal to indices.shape[0]: 3")
c.error("GatherV2", params=x23, indices=i32(0), axis=np.int32(1), batch_dims=2, code=BAD, text="Expected batch_dims in the range [-1, 1], but got 2")
c.error("GatherV2", params=x23, indices=np.int32([[0]]), axis=np.int32(0), batch_dims=1, code=BAD, text="batch_dims (1) must be less than or equal to axis (0).")
for indices in (np.int32([[0], [1], [0]]), np.int64([[0, 2], [1, 1]]), np.int32([[[0, 1, 2]], [[1, 2, 3]]]), np.int32([1]), np.int32([[]]), np.zeros((0, 2), np.int32)):
    c.add("GatherNd", params=x234, indices=indices, gradient=indices.size > 0 and indices.ndim > 1)
c.error("GatherNd", params=x23, indices=np.int32([[0, 5]]), code=BAD, text="indices[0] = [0, 5] does not index into param shape [2,3]")
c.error("GatherNd", params=x23, indices=np.int32([[0, 5, 1]]), code=BAD, text="index innermost dimension length must be <= params rank; saw: 3 vs. 2")
c.error("GatherNd", params=x23, indices=np.int32(0), code=BAD, text="indices must be at least a vector")
for x in kinds(2):
    c.add("OneHot", indices=i32(1, 0), depth=np.int32(2), on_value=tf.reshape(x[1:2], []), off_value=tf.reshape(x[:1], []))
for indices in (np.uint8([1, 0]), np.int8([1, -1]), np.int64([[0, 5], [2, 1]]), np.int32(1)):
    for axis in (-1, 0):
        c.add("OneHot", indices=indices, depth=np.int32(3), on_value=f32(5), off_value=f32(-1), axis=axis)
c.add("OneHot", indices=np.int64([[0, 5], [2, 1]]), depth=np.int32(3), on_value=f32(5), off_value=f32(-1), axis=1)
c.add("OneHot", indices=i32(0, 1), depth=np.int32(0), on_value=f32(1), off_value=f32(0))
c.error("OneHot", indices=i32(1), depth=np.int32(-1), on_value=f32(1), off_value=f32(0), code=BAD, text="depth must be non-negative, got: -1")
c.error("OneHot", indices=i32(1), depth=np.int32(2), on_value=f32(1), off_value=f32(0), axis=3, code=BAD, text="Expected axis to be -1 or between [0, 2).  But received: 3")
c.error("OneHot", indices=i32(1), depth=i32(2), on_value=f32(1), off_value=f32(0), code=BAD, text="depth must be a scalar, but got: [1]")

# ---- repeating ----
for x in [k for k in kinds(2, 2)]:
    if x.dtype not in (np.uint16, np.uint32, np.uint64):
        c.add("Tile", input=x, multiples=i32(1, 2))
for multiples in (i32(2, 1, 1), i32(1, 2, 3), i64(2, 3, 2), i32(1, 1, 1), i32(0, 1, 2)):
    c.add("Tile", input=x234, multiples=multiples, gradient=True)
c.add("Tile", input=f32(1), multiples=i32())
c.add("Tile", input=count(2, 1, 1, 2, 1), multiples=i32(1, 2, 1, 2, 3), gradient=True)
c.error("Tile", input=x23, multiples=i32(1), code=BAD, text="Expected multiples argument to be a vector of length 2 but got length 1")
c.error("Tile", input=x23, multiples=i32(1, -1), code=BAD, text="Expected multiples[1] >= 0, but got -1")
for x in kinds(2, 1):
    c.add("BroadcastTo", input=x, shape=i32(2, 2, 2))
for x, shape in ((f64(3), i32(2, 2)), (count(3), i64(2, 3)), (count(2, 1, 4), i32(2, 3, 4)), (count(1, 3, 1), i32(2, 2, 3, 2)), (x23, i32(2, 3)), (count(1), i32(0)), (f64(1), i32())):
    c.add("BroadcastTo", input=x, shape=shape, gradient=True)
c.error("BroadcastTo", input=x23, shape=i32(2, 2), code=BAD, text="Incompatible shapes: [2,3] vs. [2,2]")
c.error("BroadcastTo", input=x23, shape=i32(3), code=BAD, text="Rank of input (2) must be no greater than rank of output shape (1).")
c.error("BroadcastTo", input=x23, shape=i32(-1, 2, 3), code=BAD, text="Dimension -1 must be >= 0")
c.add("BroadcastArgs", s0=i32(2, 1), s1=i32(4, 1, 3))
c.add("BroadcastArgs", s0=i64(), s1=i64(2))
c.error("BroadcastArgs", s0=i32(2, 3), s1=i32(2), code=BAD, text="Incompatible shapes: [2,3] vs. [2]")
for x in kinds(2, 2):
    c.add("Pad", input=x, paddings=np.int32([[1, 0], [0, 2]]))
    c.add("PadV2", input=x, paddings=np.int32([[1, 0], [0, 2]]), constant_values=tf.reshape(x[1:2, :1], []))
    if x.dtype not in (tf.string, np.float16) and not (isinstance(x, np.ndarray) and x.dtype in (np.uint16, np.uint32, np.uint64)):
        c.add("MirrorPad", input=x, paddings=np.int32([[1, 0], [0, 1]]), mode="REFLECT")
for p in ([[0, 0], [0, 0]], [[1, 2], [3, 0]], [[0, 1], [2, 2]]):
    c.add("Pad", input=x23, paddings=np.int32(p), gradient=True)
    c.add("PadV2", input=x23, paddings=np.int64(p), constant_values=f64(7), gradient=True)
for p, mode in (([[1, 1], [2, 2]], "REFLECT"), ([[2, 1], [3, 0]], "SYMMETRIC"), ([[0, 0], [1, 2]], "REFLECT"), ([[1, 2], [3, 3]], "SYMMETRIC")):
    c.add("MirrorPad", input=x23, paddings=np.int32(p), mode=mode, gradient=True)
    y = tf.raw_ops.MirrorPad(input=x23, paddings=np.int32(p), mode=mode)
    c.add("MirrorPadGrad", input=y.numpy(), paddings=np.int32(p), mode=mode, gradient=True)
c.add("Pad", input=f32(1), paddings=np.zeros((0, 2), np.int32))
c.add("Pad", input=count(0, 2), paddings=np.int32([[1, 0], [0, 1]]))
c.error("Pad", input=x23, paddings=np.int32([[1, 1]]), code=BAD, text="The first dimension of paddings must be the rank of inputs[1,2] [2,3]")
c.error("Pad", input=x23, paddings=np.int32([[1, -1], [0, 0]]), code=BAD, text="Paddings must be non-negative: 1 -1")
c.error("Pad", input=x23, paddings=np.int32([[1], [0]]), code=BAD, text="paddings must be a matrix with 2 columns: [2,1]")
c.error("MirrorPad", input=x23, paddings=np.int32([[2, 2], [0, 0]]), mode="REFLECT", code=BAD, text="paddings must be less than the dimension size: 2, 2 not less than 2")

# ---- putting ----
for x in kinds(2, 2):
    if x.dtype not in (np.int16, np.uint16, np.int8, np.uint32, np.uint64):
        c.add("ScatterNd", indices=np.int32([[2], [0]]), updates=x, shape=i32(3, 2))
        c.add("TensorScatterUpdate", tensor=x, indices=np.int32([[1]]), updates=x[:1])
for indices, updates, shape in ((np.int32([[1], [1], [0]]), count(3, 2), i32(2, 2)), (np.int64([[0, 1], [1, 0]]), count(2), i64(2, 2)), (np.int32([[[0], [1]]]), count(1, 2, 3), i32(3, 3)),
                                (np.zeros((0, 1), np.int32), count(0, 2), i32(2, 2))):
    c.add("ScatterNd", indices=indices, updates=updates, shape=shape, gradient=True)
for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"):
    c.add(op, tensor=count(3, 2), indices=np.int32([[2], [0]]), updates=count(2, 2) * 10, gradient=True)
    c.add(op, tensor=count(3, 2), indices=np.int64([[2, 1], [0, 0]]), updates=f64([7, 8]), gradient=True)
    if op != "TensorScatterUpdate":
        for t in (np.float16, f32, np.int32, np.int64, np.complex64):
            c.add(op, tensor=np.array([1, 2, 3], t), indices=np.int32([[1], [1]]), updates=np.array([5, 6], t))
    c.error(op, tensor=f32([1, 2]), indices=np.int32([[5]]), updates=f32([1]), code=BAD, text="indices[0] = [5] does not index into shape [2]")
c.error("TensorScatterUpdate", tensor=f32([1, 2]), indices=np.int32([[1]]), updates=f32([[1]]), code=BAD, text="Inner dimensions of output shape must match inner dimensions of updates shape.")
c.error("ScatterNd", indices=np.int32([[5]]), updates=f32([1]), shape=i32(3), code=BAD, text="indices[0] = [5] does not index into shape [3]")
c.error("ScatterNd", indices=np.int32([[1]]), updates=f32([1, 2]), shape=i32(3), code=BAD, text="Dimensions [0,1) of indices[shape=[1,1]] must match dimensions [0,1) of updates[shape=[2]]")
for x in kinds(3, 2):
    if x.dtype not in (tf.string, np.bool_):
        c.add("UnsortedSegmentSum", data=x, segment_ids=i32(1, 0, 1), num_segments=np.int32(3))
        c.add("SegmentSum", data=x, segment_ids=i32(0, 0, 2))
for ids in (i32(1, 0), i64(0, -1), np.int32([[0, 1, 1], [2, -1, 0]])):
    c.add("UnsortedSegmentSum", data=x234, segment_ids=ids, num_segments=np.int64(3), gradient=True)
c.add("SegmentSum", data=x234, segment_ids=i64(1, 1), gradient=True)
c.add("SegmentSum", data=count(0, 2), segment_ids=i32())
c.error("UnsortedSegmentSum", data=x23, segment_ids=i32(0, 5), num_segments=np.int32(2), code=BAD, text="segment_ids[1] = 5 is out of range [0, 2)")
c.error("UnsortedSegmentSum", data=x23, segment_ids=i32(0), num_segments=np.int32(2), code=BAD, text="data.shape = [2,3] does not start with segment_ids.shape = [1]")
c.error("UnsortedSegmentSum", data=x23, segment_ids=i32(0, 1), num_segments=np.int32(-2), code=BAD, text="Input num_segments == -2 must not be negative.")
c.error("SegmentSum", data=x23, segment_ids=i32(1, 0), code=BAD, text="segment ids are not increasing")
c.error("SegmentSum", data=x23, segment_ids=i32(0), code=BAD, text="segment_ids should be the same size as dimension 0 of input.")
c.error("SegmentSum", data=x23, segment_ids=i32(-1, 0), code=BAD, text="Segment id -1 out of range")
for x in kinds(2, 2):
    c.add("DynamicStitch", indices=[i32(2, 0), np.int32(1)], data=[x, x[0]])
c.add("DynamicStitch", indices=[i32(2, 0), np.int32([[1, 3]])], data=[x23, count(1, 2, 3)], gradient=True)
c.error("DynamicStitch", indices=[i32(0, -1)], data=[x23], code=BAD, text="indices[1] is out of range")
c.error("DynamicStitch", indices=[i32(0, 1, 2)], data=[x23], code=BAD, text="data[0].shape = [2,3] does not start with indices[0].shape = [3]")

# ---- the rest ----
for x in [np.array([3, 1, 3, 0, 1]).astype(t) for t in FLOATS + INTS + [np.bool_]] + [bf16([3., 1., 3.]), tf.constant([b"a", b"b", b"a"])]:
    c.add("Unique", x=x)
c.add("Unique", x=f32([0.0, -0.0, 1]), out_idx=tf.int64)
c.add("Unique", x=f32([]))
c.error("Unique", x=x23, code=BAD, text="unique expects a 1D vector.")
for t, to in ((f32, tf.int32), (f64, tf.int32), (np.uint8, tf.int8), (np.int16, tf.float16), (np.complex64, tf.float32)):
    c.add("Bitcast", input=np.array([[1, 2]], t), type=to)
c.add("Bitcast", input=np.int32([[1, 2]]), type=tf.int64)
c.add("Bitcast", input=np.int32([[1, 2]]), type=tf.bfloat16)
c.error("Bitcast", input=f32([1, 2, 3]), type=tf.float64, code=BAD, text="Cannot bitcast from 1 to 2")
for t in FLOATS + [np.int32, np.int64, np.complex64, np.complex128]:
    c.add("Diag", diagonal=np.array([1, 2, 3], t))
    c.add("DiagPart", input=np.arange(9).reshape(3, 3).astype(t))
    c.add("MatrixBandPart", input=np.arange(1, 13).reshape(3, 4).astype(t), num_lower=np.int64(1), num_upper=np.int64(0))
c.add("Diag", diagonal=x23, gradient=True)
c.add("DiagPart", input=count(2, 3, 2, 3), gradient=True)
c.error("Diag", diagonal=f32(1), code=BAD, text="Input must be at least rank 1, got 0")
c.error("DiagPart", input=x23, code=BAD, text="Invalid shape [2,3]: dimensions 0 and 1 do not match.")
for low, high in ((0, 0), (-1, 0), (0, -1), (1, 2), (-1, -1), (3, 4)):
    c.add("MatrixBandPart", input=count(2, 3, 4), num_lower=np.int32(low), num_upper=np.int32(high), gradient=True)
c.add("MatrixBandPart", input=count(0, 3, dtype=f32), num_lower=np.int64(0), num_upper=np.int64(0))
c.error("MatrixBandPart", input=x23, num_lower=np.int32(5), num_upper=np.int32(0), code=BAD, text="num_lower must be negative or less or equal to number of rows (2) got: 5")
for k in (np.int32(0), np.int32(1), np.int32(-2), i32(-1, 1), i32(0, 2), i32(-1, -1)):
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        c.add("MatrixDiagPartV3", input=count(2, 3, 4), k=k, padding_value=f64(9), align=align, gradient=True)
        d = tf.raw_ops.MatrixDiagPartV3(input=count(2, 3, 4), k=k, padding_value=f64(9), align=align).numpy()
        c.add("MatrixDiagV3", diagonal=d, k=k, num_rows=np.int32(3), num_cols=np.int32(4), padding_value=f64(0), align=align, gradient=True)
for t in (np.float16, f32, np.int8, np.int32, np.complex64, np.bool_):
    c.add("MatrixDiagV3", diagonal=np.array([1, 2, 3], t), k=np.int32(0), num_rows=np.int32(-1), num_cols=np.int32(-1), padding_value=t(0))
    c.add("MatrixDiagPartV3", input=np.array([[1, 2], [3, 4]], t), k=np.int32(0), padding_value=t(0))
c.add("MatrixDiagV3", diagonal=x23, k=np.int32(1), num_rows=np.int32(-1), num_cols=np.int32(-1), padding_value=f64(5), gradient=True)
c.add("MatrixDiagV3", diagonal=x23, k=np.int32(0), num_rows=np.int32(5), num_cols=np.int32(-1), padding_value=f64(5))
c.add("MatrixDiagV3", diagonal=x23, k=np.int32(0), num_rows=np.int32(-1), num_cols=np.int32(4), padding_value=f64(5))
c.write()
