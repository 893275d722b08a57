"""tensorflow.python.ops.linalg.sparse.sparse: matrices of compressed rows. Products are C's (src/api/sparse/sparse_product.c)."""
import thalweg as tf


def _checked(matrix):
    if matrix.shape.rank not in (2, 3):
        raise ValueError("CSRSparseMatrix: a matrix or a batch of them is expected, got rank %s" % matrix.shape.rank)
    return matrix


class CSRSparseMatrix:
    """A sparse matrix or a batch of them, of a dense or a sparse tensor; with indices, only those entries of a dense one."""

    def __init__(self, value, indices=None, name=None):
        del name
        if isinstance(value, CSRSparseMatrix):
            value = value.to_sparse_tensor()
        if not isinstance(value, tf.SparseTensor):
            value = tf.convert_to_tensor(value)
            if indices is None:
                value = tf.sparse.from_dense(value)
            else:
                indices = tf.cast(indices, tf.int64)
                value = tf.SparseTensor(indices, tf.gather_nd(value, indices), tf.shape(value, out_type=tf.int64))
        self._sparse = _checked(tf.sparse.reorder(value))

    shape = property(lambda self: self._sparse.shape)
    dtype = property(lambda self: self._sparse.dtype)

    def get_shape(self):
        """The shape."""
        return self.shape

    def to_sparse_tensor(self):
        """The entries as a SparseTensor."""
        return self._sparse

    def to_dense(self):
        """The entries and zeros as a tensor."""
        return tf.sparse.to_dense(self._sparse)

    def conj(self):
        """The conjugates."""
        return CSRSparseMatrix(self._sparse.with_values(tf.math.conj(self._sparse.values)))

    def hermitian_transpose(self):
        """The conjugates with rows and columns exchanged."""
        return CSRSparseMatrix(tf.sparse.transpose(self.conj()._sparse, [1, 0] if self.shape.rank == 2 else [0, 2, 1]))

    def __matmul__(self, other):
        return matmul(self, other)


def dense_shape_and_type(matrix):
    """The shape as a tensor, and the dtype."""
    return matrix.to_sparse_tensor().dense_shape, matrix.dtype


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, name=None):
    """The product; sparse if both are, else dense."""
    del name
    if not isinstance(a, CSRSparseMatrix) and not isinstance(b, CSRSparseMatrix):
        return tf.linalg.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)
    made = tf.sparse._matmul(*(x._sparse if isinstance(x, CSRSparseMatrix) else x for x in (a, b)), transpose_a, transpose_b, adjoint_a, adjoint_b)
    return CSRSparseMatrix(made) if isinstance(made, tf.SparseTensor) else made
