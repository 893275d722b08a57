"""Op cases of SparseBincount, RaggedBincount, Bucketize and UniqueWithCounts: tests/golden/op_cases/bins.json. Run under TensorFlow."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("bins")
BAD = "InvalidArgumentError"


def i64(*values):
    return np.array(values, np.int64)


NONE = np.array([], np.float32)
for t in (np.int32, np.int64):
    values, size = np.array([1, 1, 7, 0], t), np.array(5, t)
    matrix = dict(indices=i64([0, 0], [0, 2], [3, 1], [3, 2]), values=values, dense_shape=i64(4, 3), size=size)
    rows = dict(splits=i64(0, 2, 2, 4), values=values, size=size)
    for weights in [np.array([], w) for w in (np.int32, np.int64, np.float32, np.float64)] + [
            np.array([1, 2, 3, 4], w) for w in (np.int32, np.int64, np.float32, np.float64)]:
        c.add("SparseBincount", **matrix, weights=weights)
        c.add("RaggedBincount", **rows, weights=weights)
    c.add("SparseBincount", **matrix, weights=NONE, binary_output=True)
    c.add("RaggedBincount", **rows, weights=NONE, binary_output=True)
c.add("RaggedBincount", splits=i64(0, 2, 3), values=i64(1, 1, 4), size=np.int64(5), weights=np.float32([1, 2, 3]), binary_output=True)
c.add("SparseBincount", indices=i64([0], [2]), values=i64(1, 1), dense_shape=i64(4), size=np.int64(3), weights=NONE)
c.add("SparseBincount", indices=i64([0, 0, 0], [1, 2, 1]), values=i64(1, 1), dense_shape=i64(2, 3, 2), size=np.int64(3), weights=NONE)
c.add("SparseBincount", indices=np.zeros((0, 2), np.int64), values=i64(), dense_shape=i64(2, 3), size=np.int64(3), weights=NONE)
c.add("RaggedBincount", splits=i64(0, 0, 0), values=i64(), size=np.int64(2), weights=NONE)
VECTOR = dict(indices=i64([0], [2]), values=i64(1, 1), dense_shape=i64(4))
c.error("SparseBincount", **VECTOR, size=np.int64(-5), weights=NONE, code=BAD, text="size (-5) must be non-negative")
c.error("SparseBincount", **VECTOR, size=np.int64(5), weights=np.float32([1]), code=BAD, text="Input indices and weights must have the same size.")
c.error("SparseBincount", indices=i64([0, 0], [9, 2]), values=i64(1, 1), dense_shape=i64(4, 3), size=np.int64(5), weights=NONE, code=BAD,
        text="out of bounds")
c.error("RaggedBincount", splits=i64(0, 2, 3), values=i64(1, 1, -7), size=np.int64(5), weights=NONE, code=BAD, text="Input must be non-negative")
c.error("RaggedBincount", splits=i64(0, 2, 3), values=i64(1, 1, 7), size=np.int64(-5), weights=NONE, code=BAD, text="size (-5) must be non-negative")
c.error("RaggedBincount", splits=i64(0, 2, 2), values=i64(1, 1, 7), size=np.int64(5), weights=NONE, code=BAD,
        text="plits must end with the number of values")
c.error("RaggedBincount", splits=i64(1, 2, 3), values=i64(1, 1, 7), size=np.int64(5), weights=NONE, code=BAD, text="plits must ")

for t in (np.int32, np.int64, np.float32, np.float64):
    c.add("Bucketize", input=np.array([[-3, 0, 1], [2, 2, 9]], t), boundaries=[0.0, 1.0, 2.0, 2.0])
    c.add("Bucketize", input=np.array([-3, 9], t), boundaries=[])
c.add("Bucketize", input=np.float64([0.1, 0.1000000001, 0.2]), boundaries=[0.1, 0.2])
c.add("Bucketize", input=np.float32([0.1, 0.2, np.inf, -np.inf, np.nan]), boundaries=[0.1, 0.2])
c.error("Bucketize", input=np.float32([1]), boundaries=[3.0, 2.0], code=BAD, text="Expected sorted boundaries")

for x in [np.array([3, 1, 3, 0, 1]).astype(t) for t in (np.int32, np.int64, np.float32, np.float64, np.uint8)] + [tf.constant([b"a", b"b", b"a"])]:
    for out in (tf.int32, tf.int64):
        c.add("UniqueWithCounts", x=x, out_idx=out)
c.add("UniqueWithCounts", x=np.array([], np.float32))
c.error("UniqueWithCounts", x=np.zeros((2, 3), np.float32), code=BAD, text="unique expects a 1D vector.")
c.write()
