"""Op cases of the ops on sparse and ragged tensors: writes tests/golden/op_cases/sparse.json and ragged.json. See op_cases.py."""
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


c = Known("sparse")
BAD = "InvalidArgumentError"
f32, f64 = np.float32, np.float64


def i64(*v):
    return np.array(v, np.int64)


def i32(*v):
    return np.array(v, np.int32)


A = dict(indices=i64([0, 1], [0, 3], [2, 0]), shape=i64(3, 4))
B = dict(indices=i64([0, 0], [0, 3], [1, 1]), shape=i64(3, 4))
UNORDERED = i64([2, 3], [0, 1], [0, 0])
V = f64([1.5, -2, 3])
W = f64([10, 2, 30])
DENSE = np.arange(12, dtype=f64).reshape(3, 4) * 0.5 + 1
WORDS = np.array([b"a", b"", b"ccc"], object)
KINDS = [np.float16, f32, f64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.complex64, np.complex128]
E2 = np.zeros((0, 2), np.int64)

# ---- with ordinary tensors ----
for t in KINDS + [np.bool_]:
    c.add("SparseToDense", sparse_indices=A["indices"], output_shape=A["shape"], sparse_values=np.array([1, 0, 3]).astype(t), default_value=t(0))
c.add("SparseToDense", sparse_indices=A["indices"], output_shape=A["shape"], sparse_values=WORDS, default_value=b"none")
c.add("SparseToDense", sparse_indices=A["indices"], output_shape=A["shape"], sparse_values=V, default_value=f64(7), gradient=True)
c.add("SparseToDense", sparse_indices=i32(1, 3), output_shape=i32(5), sparse_values=f32([1, 2]), default_value=f32(-1))
c.add("SparseToDense", sparse_indices=np.int32(2), output_shape=i32(5), sparse_values=f32(1), default_value=f32(-1))
c.add("SparseToDense", sparse_indices=UNORDERED, output_shape=A["shape"], sparse_values=V, default_value=f64(0), validate_indices=False)
c.add("SparseToDense", sparse_indices=E2, output_shape=i64(2, 2), sparse_values=f32([]), default_value=f32(4))
c.error("SparseToDense", sparse_indices=UNORDERED, output_shape=A["shape"], sparse_values=V, default_value=f64(0), code=BAD,
        text="indices[1] = [0,1] is out of order. Many sparse ops require sorted indices.")
c.error("SparseToDense", sparse_indices=i64([0, 1], [0, 1]), output_shape=A["shape"], sparse_values=f32([1, 2]), default_value=f32(0), code=BAD,
        text="indices[1] = [0,1] is repeated")
c.error("SparseToDense", sparse_indices=i64([0, 1], [5, 1]), output_shape=A["shape"], sparse_values=f32([1, 2]), default_value=f32(0), code=BAD,
        text="indices[1] = [5,1] is out of bounds: need 0 <= index < [3,4]")
for t in KINDS:
    c.add("SparseTensorDenseAdd", a_indices=A["indices"], a_values=np.array([1, 2, 3]).astype(t), a_shape=A["shape"], b=DENSE.astype(t))
c.add("SparseTensorDenseAdd", a_indices=A["indices"], a_values=V, a_shape=A["shape"], b=DENSE, gradient=True)
c.error("SparseTensorDenseAdd", a_indices=A["indices"], a_values=V, a_shape=A["shape"], b=DENSE[:2], code=BAD)
for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
    for t in (f32, f64, np.int32, np.int64):
        c.add(op, sp_indices=A["indices"], sp_values=np.array([4, -2, 3]).astype(t), sp_shape=A["shape"], dense=DENSE.astype(t))
    for dense in (DENSE, DENSE[:1], DENSE[:, :1], DENSE[0], f64(3)):
        c.add(op, sp_indices=A["indices"], sp_values=V, sp_shape=A["shape"], dense=dense, gradient=op != "SparseDenseCwiseAdd" and dense.ndim > 0)
    c.error(op, sp_indices=A["indices"], sp_values=V, sp_shape=A["shape"], dense=DENSE[:2], code=BAD)
for t in (f32, f64, np.int32, np.complex64, np.complex128):
    values, b = (np.array([1, -2, 3]) * (1 + (1j if np.issubdtype(t, np.complexfloating) else 0))).astype(t), DENSE.astype(t)
    if np.issubdtype(t, np.complexfloating):
        b = b * t(1 - 2j)
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            right = b if adjoint_a != adjoint_b else b.T
            c.add("SparseTensorDenseMatMul", a_indices=A["indices"], a_values=values, a_shape=A["shape"], b=right,
                  adjoint_a=adjoint_a, adjoint_b=adjoint_b, gradient=t in (f32, f64, np.complex128))
c.error("SparseTensorDenseMatMul", a_indices=A["indices"], a_values=V, a_shape=A["shape"], b=DENSE, code=BAD,
        text="Cannot multiply A and B because inner dimension does not match: 4 vs. 3.")

# ---- order ----
for v in (V, f32([1, 2, 3]), np.int32([1, 2, 3]), WORDS):
    c.add("SparseReorder", input_indices=UNORDERED, input_values=v, input_shape=A["shape"], gradient=v.dtype == f64)
c.add("SparseReorder", input_indices=E2, input_values=f32([]), input_shape=A["shape"])
for shape in (i64(2, 6), i64(-1, 3), i64(12), i64(1, 2, 2, 3)):
    c.add("SparseReshape", input_indices=A["indices"], input_shape=A["shape"], new_shape=shape)
c.error("SparseReshape", input_indices=A["indices"], input_shape=A["shape"], new_shape=i64(5, -1), code=BAD, text="requires a multiple of 5")
c.error("SparseReshape", input_indices=A["indices"], input_shape=A["shape"], new_shape=i64(-1, -1), code=BAD)
c.error("SparseReshape", input_indices=A["indices"], input_shape=A["shape"], new_shape=i64(5, 2), code=BAD)
for start, size in ((i64(0, 1), i64(2, 2)), (i64(0, 0), i64(9, 9)), (i64(1, 1), i64(1, 1)), (i64(0, 0), i64(3, 2))):
    c.add("SparseSlice", indices=A["indices"], values=V, shape=A["shape"], start=start, size=size, gradient=True)
c.add("SparseSlice", indices=A["indices"], values=WORDS, shape=A["shape"], start=i64(0, 0), size=i64(1, 4))
c.add("SparseSliceGrad", backprop_val_grad=f64([5, 6]), input_indices=A["indices"], input_start=i64(0, 0), output_indices=A["indices"][:2])
for axis in (0, 1, -1, -2):
    c.add("SparseConcat", indices=[A["indices"], B["indices"]], values=[V, W], shapes=[A["shape"], B["shape"]], concat_dim=axis)
c.add("SparseConcat", indices=[A["indices"], E2, B["indices"]], values=[WORDS, np.array([], object), WORDS], shapes=[A["shape"], i64(3, 1), B["shape"]],
      concat_dim=1)
c.error("SparseConcat", indices=[A["indices"], B["indices"]], values=[V, W], shapes=[A["shape"], i64(3, 5)], concat_dim=0, code=BAD,
        text="Input shapes must match: expected 4 for dimension 1 but got 5 at position 1")
for axis, pieces in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3)):
    c.add("SparseSplit", split_dim=np.int64(axis), indices=A["indices"], values=V, shape=A["shape"], num_split=pieces)
c.error("SparseSplit", split_dim=np.int64(0), indices=A["indices"], values=V, shape=A["shape"], num_split=4, code=BAD)

# ---- two of them ----
for t in KINDS:
    real = {np.complex64: f32, np.complex128: f64}.get(t, t)
    c.add("SparseAdd", a_indices=A["indices"], a_values=np.array([1, 2, 3]).astype(t), a_shape=A["shape"], b_indices=B["indices"],
          b_values=np.array([4, 5, 6]).astype(t), b_shape=B["shape"], thresh=real(0))
for limit in (0, 2, 4):
    c.add("SparseAdd", a_indices=A["indices"], a_values=V, a_shape=A["shape"], b_indices=B["indices"], b_values=W, b_shape=B["shape"], thresh=f64(limit),
          gradient=True)
c.add("SparseAddGrad", backprop_val_grad=f64([5, 6]), a_indices=A["indices"], b_indices=B["indices"], sum_indices=i64([0, 1], [1, 1]))
c.error("SparseAdd", a_indices=A["indices"], a_values=V, a_shape=A["shape"], b_indices=B["indices"], b_values=W, b_shape=i64(3, 5), thresh=f64(0), code=BAD)
for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
    for t in (f32, f64, np.int32, np.int64):
        c.add(op, a_indices=A["indices"], a_values=np.array([1, -2, 3]).astype(t), a_shape=A["shape"], b_indices=B["indices"],
              b_values=np.array([4, -5, -6]).astype(t), b_shape=B["shape"])

# ---- reductions ----
CUBE = dict(input_indices=i64([0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 0, 1]), input_shape=i64(2, 2, 3))
for op in ("SparseReduceSum", "SparseReduceMax"):
    for sparse in ("", "Sparse"):
        for axes in (i32(0), i32(1), i32(2), i32(-1), i32(0, 2), i32(0, 1, 2)):
            for keep in (False, True):
                c.add(op + sparse, **CUBE, input_values=f64([1, -2, 3, 4]), reduction_axes=axes, keep_dims=keep,
                      gradient=op == "SparseReduceSum" and not sparse)
        c.add(op + sparse, **CUBE, input_values=i32(1, -2, 3, 4), reduction_axes=i32(1))
c.error("SparseReduceSum", **CUBE, input_values=f64([1, -2, 3, 4]), reduction_axes=i32(3), code=BAD)
for t in (f32, f64):
    c.add("SparseSoftmax", sp_indices=CUBE["input_indices"], sp_values=t([1, -2, 3, 4]), sp_shape=CUBE["input_shape"], gradient=True)
c.error("SparseSoftmax", sp_indices=i64([0], [1]), sp_values=f32([1, 2]), sp_shape=i64(3), code=BAD)

# ---- rows ----
c.add("SparseFillEmptyRows", indices=A["indices"], values=V, dense_shape=i64(5, 4), default_value=f64(-1), gradient=True)
c.add("SparseFillEmptyRows", indices=UNORDERED, values=f32([1, 2, 3]), dense_shape=A["shape"], default_value=f32(-1))
c.add("SparseFillEmptyRows", indices=E2, values=np.array([], object), dense_shape=i64(2, 2), default_value=b"x")
c.add("SparseFillEmptyRowsGrad", reverse_index_map=i64(1, 2), grad_values=f64([1, 2, 3, 4]))
c.error("SparseFillEmptyRows", indices=A["indices"], values=V, dense_shape=i64(2, 4), default_value=f64(-1), code=BAD)
for name in ("Sum", "Mean", "SqrtN"):
    for t in (f32, f64):
        c.add("SparseSegment" + name, data=DENSE.astype(t), indices=i32(0, 2, 1, 0), segment_ids=i32(0, 0, 2, 2), gradient=True)
        c.add("SparseSegment%sWithNumSegments" % name, data=DENSE.astype(t), indices=i64(0, 2), segment_ids=i64(1, 1), num_segments=np.int32(4), gradient=True)
    c.add("SparseSegment" + name, data=DENSE, indices=i32(), segment_ids=i32())
    c.add("SparseSegment%sGrad" % name, grad=DENSE, indices=i32(0, 3, 3), segment_ids=i32(0, 0, 2), output_dim0=np.int32(5))
    c.error("SparseSegment" + name, data=DENSE, indices=i32(0, 3), segment_ids=i32(0, 0), code=BAD, text="out of range [0, 3)")
    c.error("SparseSegment" + name, data=DENSE, indices=i32(0, 2), segment_ids=i32(1, 0), code=BAD, text="segment ids are not increasing")
c.add("SparseSegmentSum", data=np.arange(6, dtype=np.int32).reshape(3, 2), indices=i32(0, 2), segment_ids=i32(0, 0))
# ---- counts and combinations ----
for t in (np.int32, np.int64):
    for weights in (np.int32([]), f32([]), f32([.5, 1, 2, 3]), f64([.5, 1, 2, 3]), i64(1, 2, 3, 4)):
        for more in ({}, {"minlength": 9}, {"maxlength": 2}, {"binary_output": True}):
            attrs = {"binary_output": False, **more}
            c.add("DenseCountSparseOutput", values=np.array([1, 1, 3, 0], t), weights=weights, **attrs)
            c.add("RaggedCountSparseOutput", splits=i64(0, 2, 2, 4), values=np.array([1, 1, 3, 0], t), weights=weights, **attrs)
            c.add("SparseCountSparseOutput", indices=i64([0, 0], [0, 2], [1, 1], [3, 0]), values=np.array([1, 1, 3, 0], t), dense_shape=i64(4, 3),
                  weights=weights, **attrs)
c.add("DenseCountSparseOutput", values=i32([1, 1, 3], [0, 0, 2]), weights=f32([]), binary_output=False)
c.error("DenseCountSparseOutput", values=i32(-1), weights=f32([]), binary_output=False, code=BAD, text="Input values must all be non-negative")
PAIRS = dict(indices=[i64([0, 0], [1, 0], [1, 1]), i64([0, 0], [1, 0], [1, 1])], values=[WORDS, i64(1, 2, 3)], shapes=[i64(2, 2), i64(2, 2)])
TEXTS = {**PAIRS, "values": [WORDS, np.array([b"d", b"e", b"f"], object)]}
for dense in ([], [np.array([[b"x"], [b"y"]], object)]):
    c.add("SparseCrossV2", **PAIRS, dense_inputs=dense, sep=b"-")
    c.add("SparseCrossV2", **PAIRS, dense_inputs=[i64([5, 6], [7, 8])] + dense, sep=b"")
    for buckets in (0, 100):
        c.add("SparseCross", **TEXTS, dense_inputs=dense, hashed_output=True, num_buckets=buckets, hash_key=77, out_type=tf.int64, internal_type=tf.string)
c.add("SparseCross", **TEXTS, dense_inputs=[], hashed_output=False, num_buckets=0, hash_key=0, out_type=tf.string, internal_type=tf.string)
for name in ("Max", "Min", "Prod"):
    op = "UnsortedSegment" + name
    for t in KINDS if name == "Prod" else KINDS[:-2]:
        c.add(op, data=np.array([[3, 1], [2, 5], [4, 0]]).astype(t), segment_ids=i32(0, 2, 0), num_segments=np.int32(4))
    rows = f64([[3, 1], [2, 5], [4, 0], [4, 0], [7, 0]])
    c.add(op, data=rows, segment_ids=i64(0, 2, 0, 2, -1), num_segments=np.int64(4), gradient=True)
    c.add(op, data=rows, segment_ids=i32([0, 1], [1, 1], [2, -1], [2, 0], [0, 0]), num_segments=np.int32(3), gradient=True)
    c.error(op, data=rows, segment_ids=i64(0, 2, 0, 2, 4), num_segments=np.int64(4), code=BAD, text="segment_ids[4] = 4 is out of range [0, 4)")
c.write()

# ---- ragged ----
c = Known("ragged")
SPLITS = i64(0, 2, 3, 3, 6)
OUTER = i64(0, 2, 2, 4)
VALUES = np.arange(6, dtype=f64) + 1
ROWS = np.arange(12, dtype=f64).reshape(6, 2)


def padded(values, splits, shape=np.int64(-1), default=None, **more):
    default = values.dtype.type(0) if default is None else default
    c.add("RaggedTensorToTensor", shape=shape, values=values, default_value=default, row_partition_tensors=splits,
          row_partition_types=["ROW_SPLITS"] * len(splits), **more)


for v in (VALUES, VALUES.astype(f32), VALUES.astype(np.int32), VALUES > 3):
    padded(v, [SPLITS], gradient=v.dtype == f64)
padded(np.array([b"a", b"", b"c", b"d", b"e", b"f"], object), [SPLITS], default=b"-")
padded(VALUES, [OUTER, SPLITS], default=f64(9), gradient=True)
padded(ROWS, [SPLITS], default=f64(9), gradient=True)
padded(ROWS, [SPLITS], default=f64([8, 9]))
for shape in (i64(-1, 5), i64(2, 2), i64(6, -1), i32(4, 1)):
    padded(VALUES, [SPLITS], shape=shape, gradient=True)
c.add("RaggedTensorToTensor", shape=np.int64(-1), values=VALUES, default_value=f64(0), row_partition_tensors=[np.int64(4), i64(0, 0, 1, 3, 3, 3)],
      row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"], gradient=True)
c.error("RaggedTensorToTensor", shape=i64(1, 2, 3), values=VALUES, default_value=f64(0), row_partition_tensors=[SPLITS], row_partition_types=["ROW_SPLITS"],
        code=BAD)
c.add("RaggedTensorToSparse", rt_nested_splits=[SPLITS], rt_dense_values=VALUES, gradient=True)
c.add("RaggedTensorToSparse", rt_nested_splits=[OUTER, SPLITS], rt_dense_values=VALUES, gradient=True)
c.add("RaggedTensorToSparse", rt_nested_splits=[SPLITS], rt_dense_values=ROWS)
c.add("RaggedTensorToSparse", rt_nested_splits=[SPLITS.astype(np.int32)], rt_dense_values=np.array(list(b"abcdef"), "S1").astype(object))
c.error("RaggedTensorToSparse", rt_nested_splits=[i64(0, 2, 1, 6)], rt_dense_values=VALUES, code=BAD)
for indices in (i32(0, 3), i64(3, 3, 1, 2), i32([0, 1], [3, 3]), i32()):
    c.add("RaggedGather", params_nested_splits=[SPLITS], params_dense_values=VALUES, indices=indices, OUTPUT_RAGGED_RANK=indices.ndim, gradient=True)
c.add("RaggedGather", params_nested_splits=[OUTER, SPLITS], params_dense_values=VALUES, indices=i32(2, 0), OUTPUT_RAGGED_RANK=2, gradient=True)
c.add("RaggedGather", params_nested_splits=[SPLITS.astype(np.int32)], params_dense_values=ROWS, indices=i32(3, 0), OUTPUT_RAGGED_RANK=1)
c.error("RaggedGather", params_nested_splits=[SPLITS], params_dense_values=VALUES, indices=i32(0, 4), OUTPUT_RAGGED_RANK=1, code=BAD, text="is not in [0, 4)")
for t in (np.int32, np.int64, f32, f64):
    c.add("RaggedRange", starts=np.array([0, 5, 8, 3]).astype(t), limits=np.array([3, 7, 5, 3]).astype(t), deltas=np.array([1, 2, -1, 1]).astype(t))
c.add("RaggedRange", starts=np.int32(0), limits=i32(3, 0, 5), deltas=np.int32(2), Tsplits=tf.int32)
c.add("RaggedRange", starts=f32(0), limits=f32(1), deltas=f32(0.3))
c.error("RaggedRange", starts=np.int32(0), limits=i32(3), deltas=np.int32(0), code=BAD, text="Requires delta != 0")
c.write()
