"""tensorflow.python.ops.linalg.sparse.sparse: matrices of compressed rows, and their products, composed of ops."""
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
        return CSRSparseMatrix(_transposed(self.conj()._sparse))

    def __matmul__(self, other):
        return matmul(self, other)


def dense_shape_and_type(matrix):
    """The shape as a tensor, and the dtype."""
    return matrix.to_sparse_tensor().dense_shape, matrix.dtype


def _transposed(sparse):
    order = [1, 0] if sparse.shape.rank == 2 else [0, 2, 1]
    return tf.sparse.transpose(sparse, order)


def _flat(sparse):
    """The matrices of a batch as one whose blocks stand along the diagonal; and the sizes."""
    shape = sparse.dense_shape
    if sparse.shape.rank == 2:
        return sparse.indices[:, 0], sparse.indices[:, 1], shape[0], shape[1]
    batch, row, column = tf.unstack(sparse.indices, num=3, axis=1)
    return batch * shape[1] + row, batch * shape[2] + column, shape[0] * shape[1], shape[0] * shape[2]


def _times_dense(sparse, dense):
    """Sparse times dense."""
    if sparse.shape.rank == 2:
        return tf.sparse.sparse_dense_matmul(sparse, dense)
    row, column, rows, columns = _flat(sparse)
    flat = tf.SparseTensor(tf.stack([row, column], axis=1), sparse.values, tf.stack([rows, columns]))
    width = tf.shape(dense, out_type=tf.int64)[2]
    return tf.reshape(tf.sparse.sparse_dense_matmul(flat, tf.reshape(dense, tf.stack([columns, width]))), tf.stack([sparse.dense_shape[0], sparse.dense_shape[1], width]))


def _times_sparse(a, b):
    """Sparse times sparse: each entry of a meets the row of b that its column names; products of one place are added."""
    row, column, _, _ = _flat(a)
    inner, _, inner_rows, _ = _flat(b)
    counts = tf.math.bincount(tf.cast(inner, tf.int32), minlength=tf.cast(inner_rows, tf.int32), dtype=tf.int64)
    begins = tf.cumsum(counts, exclusive=True)
    times = tf.gather(counts, column)
    which = tf.repeat(tf.range(tf.shape(times, out_type=tf.int64)[0]), times)
    within = tf.range(tf.shape(which, out_type=tf.int64)[0]) - tf.gather(tf.cumsum(times, exclusive=True), which)
    other = tf.gather(begins, tf.gather(column, which)) + within
    width = b.dense_shape[-1]
    place = tf.gather(row, which) * width + tf.gather(b.indices[:, -1], other)
    places, number = tf.unique(place, out_idx=tf.int64)
    values = tf.math.unsorted_segment_sum(tf.gather(a.values, which) * tf.gather(b.values, other), number, tf.shape(places, out_type=tf.int64)[0])
    shape = tf.concat([a.dense_shape[:-1], [width]], axis=0)
    if a.shape.rank == 2:
        indices = tf.stack([places // width, places % width], axis=1)
    else:
        indices = tf.stack([places // (width * shape[1]), places // width % shape[1], places % width], axis=1)
    return tf.sparse.reorder(tf.SparseTensor(indices, values, shape))


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, name=None):
    """The product; sparse if both are, else dense."""
    del name
    if not isinstance(a, CSRSparseMatrix) and not isinstance(b, CSRSparseMatrix):
        return tf.linalg.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)

    def prepared(x, transpose, adjoint):
        if isinstance(x, CSRSparseMatrix):
            x = x.conj().to_sparse_tensor() if adjoint else x.to_sparse_tensor()
            return _transposed(x) if transpose or adjoint else x
        x = tf.convert_to_tensor(x)
        return tf.linalg.matrix_transpose(x, conjugate=adjoint) if transpose or adjoint else x
    a, b = prepared(a, transpose_a, adjoint_a), prepared(b, transpose_b, adjoint_b)
    if a.shape.rank != b.shape.rank:
        raise ValueError("matmul: the operands have ranks %s and %s" % (a.shape.rank, b.shape.rank))
    a.shape[-1:].assert_is_compatible_with(b.shape[-2:-1])
    if isinstance(a, tf.SparseTensor) and isinstance(b, tf.SparseTensor):
        return CSRSparseMatrix(_times_sparse(a, b))
    if isinstance(a, tf.SparseTensor):
        return _times_dense(a, b)
    return tf.linalg.matrix_transpose(_times_dense(_transposed(b), tf.linalg.matrix_transpose(a)))
