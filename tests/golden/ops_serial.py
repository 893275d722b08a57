"""Op cases of sparse tensors read from strings: writes tests/golden/op_cases/serial.json. See op_cases.py."""
import tensorflow as tf

from op_cases import Cases

c = Cases("serial")
BAD = "InvalidArgumentError"
sparse = tf.SparseTensor([[0, 0], [0, 3], [2, 1]], tf.constant([1.5, 2, 3]), [3, 4])
rows = tf.raw_ops.SerializeManySparse(sparse_indices=sparse.indices, sparse_values=sparse.values, sparse_shape=sparse.dense_shape)
c.add("DeserializeManySparse", serialized_sparse=rows, dtype=tf.float32)
c.add("DeserializeManySparse", serialized_sparse=rows[:1], dtype=tf.float32)
c.error("DeserializeManySparse", BAD, "", serialized_sparse=rows, dtype=tf.int32)

c.write()
