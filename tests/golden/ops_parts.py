"""Op cases of sets, partitions, old forms of array ops, counting and layouts: tests/golden/op_cases/parts.json. Run under TensorFlow."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("parts")
f, BAD = np.float32, "InvalidArgumentError"
M = f([[1, 2, 3], [4, 5, 6]])

# ---- old forms
c.add("Concat", concat_dim=np.int32(1), values=[M, f([[7], [8]])], gradient=True)
c.add("Concat", concat_dim=np.int32(-1), values=[tf.constant(["a", "b"]), tf.constant(["c"])])
c.error("Concat", concat_dim=np.int32(0), values=[M, f([[7], [8]])], code=BAD)
for t in (np.int32, np.int64):
    c.add("Gather", params=M, indices=np.array([[1], [0]], t), gradient=True)
    c.add("InTopK", predictions=M, targets=np.array([2, 0], t), k=2)
c.error("Gather", params=M, indices=np.int32([2]), code=BAD, text="is not in [0, 2)")
c.add("Reverse", tensor=M, dims=np.array([True, False]), gradient=True)
c.add("Reverse", tensor=np.float64(M), dims=np.array([True, True]), gradient=True)
c.add("Reverse", tensor=tf.constant(["a", "b"]), dims=np.array([True]))
c.error("Reverse", tensor=M, dims=np.array([True]), code=BAD)
c.add("ParallelDynamicStitch", indices=[np.int32([0, 2]), np.int32([1])], data=[M, f([[7, 8, 9]])], gradient=True)
c.add("BiasAddV1", value=M, bias=f([1, 2, 3]), gradient=True)
c.add("ScatterNdNonAliasingAdd", input=f([1, 2, 3]), indices=np.int32([[0], [0]]), updates=f([1, 2]), gradient=True)
for z in (M, np.complex64([[1 + 2j, 3j], [4, -1j]])):
    c.add("ConjugateTranspose", x=z, perm=np.int32([1, 0]), gradient=True)
c.add("ConjugateTranspose", x=np.arange(6).reshape(1, 2, 3), perm=np.int64([2, 0, 1]))
c.add("GuaranteeConst", input=M)
c.add("Copy", input=M, tensor_name="x")
c.add("CopyHost", input=M)
c.add("DeepCopy", x=M)

# ---- partitions
for parts in (np.int32([0, 1]), np.int32([[0, 2, 1], [2, 2, 0]])):
    c.add("DynamicPartition", data=M, partitions=parts, num_partitions=3, gradient=True)
c.add("DynamicPartition", data=np.float64(M), partitions=np.int32([1, 1]), num_partitions=2, gradient=True)
c.add("DynamicPartition", data=tf.constant(["a", "b", "c"]), partitions=np.int32([1, 0, 1]), num_partitions=2)
c.add("DynamicPartition", data=f(5), partitions=np.int32(1), num_partitions=2)
c.error("DynamicPartition", data=M, partitions=np.int32([0, 3]), num_partitions=3, code=BAD, text="is not in [0, 3)")
c.error("DynamicPartition", data=M, partitions=np.int32([0, 1, 1]), num_partitions=3, code=BAD, text="data.shape must start with partitions.shape")
c.add("ParallelConcat", values=[f([[1, 2]]), f([[3, 4]])], shape=tf.TensorShape([2, 2]))
c.add("Empty", shape=np.int32([2, 0, 3]), dtype=tf.int32, init=True)
c.add("Empty", shape=np.int32([2]), dtype=tf.float32, init=True)
for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
    for d in (np.float32, np.int64):
        c.add(op, x=M.astype(d), i=np.int32([1, 3]), v=np.array([[1, 1, 1], [2, 2, 2]], d))
    c.error(op, x=M, i=np.int32([0]), v=f([[1, 1]]), code=BAD)
    c.error(op, x=M, i=np.int32([[0]]), v=f([[1, 1, 1]]), code=BAD, text="i must be a vector")

# ---- scattering
for op in ("TensorScatterMax", "TensorScatterMin"):
    for d in (np.float32, np.float64, np.int32):
        c.add(op, tensor=np.array([1, 5, 3], d), indices=np.int32([[0], [1], [1]]), updates=np.array([2, 4, 7], d), gradient=d != np.int32)
    c.add(op, tensor=M, indices=np.int64([[1]]), updates=f([[5, 4, 6]]), gradient=True)
    c.error(op, tensor=M, indices=np.int32([[2]]), updates=f([[5, 4, 6]]), code=BAD)
S = dict(begin=np.int32([0, 1]), end=np.int32([2, 3]), strides=np.int32([1, 1]))
c.add("TensorStridedSliceUpdate", input=M, value=f([[9, 8], [7, 6]]), gradient=True, **S)
c.add("TensorStridedSliceUpdate", input=np.float64(M), value=np.float64([[9, 8], [7, 6]]), gradient=True, **S)
c.add("TensorStridedSliceUpdate", input=M, value=f([9, 8]), shrink_axis_mask=1, **S)

# ---- counting
for d in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64):
    c.add("PopulationCount", x=np.array([0, 1, 3, 127], d))
c.add("PopulationCount", x=np.int32([-1, -2]))
for d in (np.float32, np.float64, np.int32, np.int64):
    c.add("HistogramFixedWidth", values=np.array([-1, 0, 1, 2, 5, 9], d), value_range=np.array([0, 5], d), nbins=np.int32(5))
c.add("HistogramFixedWidth", values=f([0.1, 0.2, 0.3, 0.7]), value_range=f([0, 1]), nbins=np.int32(10), dtype=tf.int64)
c.error("HistogramFixedWidth", values=M, value_range=f([1, 0]), nbins=np.int32(3), code=BAD, text="value_range should satisfy value_range[0] < value_range[1]")
c.error("HistogramFixedWidth", values=M, value_range=f([0, 1]), nbins=np.int32(0), code=BAD, text="nbins should be a positive number, but got '0'")
for d in (np.float32, np.float64, np.int32, np.uint8, np.int64):
    c.add("NthElement", input=np.array([[3, 1, 2], [9, 8, 8]], d), n=np.int32(1), gradient=d == np.float32)
    c.add("NthElement", input=np.array([[3, 1, 2], [9, 7, 8]], d), n=np.int32(0), reverse=True, gradient=d == np.float64)
c.error("NthElement", input=M, n=np.int32(3), code=BAD, text="Input must have last dimension > n = 3")
c.error("NthElement", input=M, n=np.int32(-1), code=BAD)
for t in (np.int32, np.int64):
    c.add("UnravelIndex", indices=np.array([5, 1, 0], t), dims=np.array([2, 3], t))
    c.add("UnravelIndex", indices=np.array(7, t), dims=np.array([2, 2, 2], t))
c.error("UnravelIndex", indices=np.int32([6]), dims=np.int32([2, 3]), code=BAD, text="index is out of bound as with dims")
for d, kw in ((np.float32, {}), (np.float64, {}), (np.float32, {"exclusive": True}), (np.float64, {"reverse": True}), (np.float64, {"reverse": True, "exclusive": True})):
    c.add("CumulativeLogsumexp", x=np.array([[1, 2, -3], [0.5, 100, 4]], d), axis=np.int32(1), tolerance=1e-5 if d == np.float32 else None,
          gradient=not kw.get("exclusive"), **kw)
c.add("CumulativeLogsumexp", x=M, axis=np.int64(-2), tolerance=1e-5)
c.error("CumulativeLogsumexp", x=M, axis=np.int32(2), code=BAD, text="Expected scan axis in the range [-2, 2), but got 2")

# ---- rows that differ
for d in (np.float32, np.int64):
    c.add("ListDiff", x=np.array([1, 2, 3, 4, 2, 5], d), y=np.array([2, 4], d))
c.add("ListDiff", x=tf.constant(["a", "b", ""]), y=tf.constant(["b"]), out_idx=tf.int64)
c.error("ListDiff", x=M, y=M, code=BAD, text="x should be a 1D vector.")
R = np.int32([[1, 0, 1], [2, 2, 2], [1, 0, 1]])
for op in ("UniqueV2", "UniqueWithCountsV2"):
    c.add(op, x=R, axis=np.int64([0]))
    c.add(op, x=R, axis=np.int32([1]), out_idx=tf.int64)
    c.add(op, x=np.float32([3, 1, 3]), axis=np.int64([]))
    c.add(op, x=tf.constant([["a", "b"], ["a", "b"]]), axis=np.int64([0]))
    c.error(op, x=R, axis=np.int64([2]), code=BAD)
    c.error(op, x=R, axis=np.int64([]), code=BAD, text="unique expects a 1D vector.")
I = np.int64
H = dict(hypothesis_indices=I([[0, 0], [1, 0], [1, 1], [3, 0]]), hypothesis_shape=I([4, 2]), truth_indices=I([[0, 0], [0, 1], [1, 0], [2, 0]]), truth_shape=I([3, 2]))
for normalize in (True, False):
    c.add("EditDistance", hypothesis_values=tf.constant(["a", "b", "c", "x"]), truth_values=tf.constant(["a", "b", "c", "y"]), normalize=normalize, **H)
    c.add("EditDistance", hypothesis_values=I([1, 2, 3, 4]), truth_values=I([1, 2, 3, 4]), normalize=normalize, **H)

# ---- sets
for d in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16):
    c.add("DenseToDenseSetOperation", set1=np.array([[3, 1, 3], [2, 2, 5]], d), set2=np.array([[1, 4], [2, 5]], d), set_operation="union")
A, B = tf.constant([["b", "a", "b"], ["", "z", "zz"]]), tf.constant([["a", "c"], ["z", "q"]])
for how in ("a-b", "b-a", "intersection", "union", "UNION"):
    c.add("DenseToDenseSetOperation", set1=A, set2=B, set_operation=how)
    c.add("DenseToSparseSetOperation", set1=A, set2_indices=I([[0, 0], [0, 3], [1, 1]]), set2_values=tf.constant(["a", "q", "z"]), set2_shape=I([2, 4]), set_operation=how)
    c.add("SparseToSparseSetOperation", set1_indices=I([[0, 0, 1], [1, 1, 0], [1, 1, 2]]), set1_values=np.int32([5, 7, 7]), set1_shape=I([2, 2, 3]),
          set2_indices=I([[0, 0, 0], [0, 0, 1], [1, 0, 0]]), set2_values=np.int32([5, 6, 7]), set2_shape=I([2, 2, 2]), set_operation=how)
c.add("DenseToDenseSetOperation", set1=np.zeros((2, 2, 0), np.int32), set2=np.zeros((2, 2, 1), np.int32), set_operation="intersection")
c.error("DenseToDenseSetOperation", set1=A, set2=B, set_operation="xor", code=BAD)
c.error("DenseToDenseSetOperation", set1=A, set2=tf.constant([["a"]]), set_operation="union", code=BAD)
c.add("SetSize", set_indices=I([[0, 0], [0, 1], [2, 0]]), set_values=np.int32([5, 5, 6]), set_shape=I([3, 2]))
c.add("SetSize", set_indices=I([[0, 0, 0], [0, 0, 1], [1, 1, 0]]), set_values=tf.constant(["a", "b", "c"]), set_shape=I([2, 2, 2]))

# ---- layouts, truth, fingerprints
c.add("DataFormatDimMap", x=np.int32([0, 1, 2, 3, -1, -4]))
c.add("DataFormatDimMap", x=np.int64([[0, 1], [4, 3]]), src_format="NDHWC", dst_format="NCDHW")
c.add("DataFormatVecPermute", x=np.int32([1, 2, 3, 4]))
c.add("DataFormatVecPermute", x=np.int32([[1, 2], [3, 4], [5, 6], [7, 8]]), src_format="NCHW", dst_format="NHWC")
c.add("DataFormatVecPermute", x=np.int64([1, 2]), src_format="NHWC", dst_format="NCHW")
c.add("DataFormatVecPermute", x=np.int64([1, 2]), src_format="HWNC", dst_format="WHCN")
for v in (f(0), f(2.5), np.int32([0]), np.int32([]), np.int64(0), tf.constant(""), tf.constant("a"), np.bool_(True)):
    c.add("ToBool", input=v)
c.add("Fingerprint", data=tf.constant(["a", "bc", ""]), method=tf.constant("farmhash64"))
c.add("Fingerprint", data=tf.constant([["a", "bc"], ["", "x" * 100]]), method=tf.constant("farmhash64"))
c.add("Fingerprint", data=M, method=tf.constant("farmhash64"))
c.add("Fingerprint", data=np.arange(24).reshape(2, 3, 4), method=tf.constant("farmhash64"))
c.error("Fingerprint", data=M, method=tf.constant("md5"), code=BAD)
c.add("Timestamp", values=False)

# ---- sparse segments, ragged rows
for op in ("Sum", "Mean", "SqrtN"):
    for t in (np.int32, np.int64):
        c.add("SparseSegment%sGradV2" % op, grad=f([[1, 2], [3, 4]]), indices=np.array([3, 0, 3], t), segment_ids=np.int32([0, 0, 1]), dense_output_dim0=np.int32(5))
c.add("RaggedFillEmptyRows", value_rowids=I([0, 2, 2]), values=f([1, 2, 3]), nrows=I(4), default_value=f(7), gradient=True)
c.add("RaggedFillEmptyRows", value_rowids=I([]), values=tf.constant([], tf.string), nrows=I(2), default_value=tf.constant("x"))
c.add("RaggedFillEmptyRowsGrad", reverse_index_map=I([0, 2]), grad_values=f([1, 2, 3, 4]))
c.write()
