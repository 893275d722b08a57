"""tf.linalg.LinearOperator and the operators of TensorFlow: matrices that are known by their parts. A class gives what it knows better than
a dense matrix does (`_matmul`, `_solve`, `_diag_part`, …); everything else is computed of `_to_dense`. Loaded when one is first asked for."""
import thalweg as tf

linalg = tf.linalg


def _later(name):
    from thalweg import _linear_operators
    return getattr(_linear_operators, name)


def _adjoint(x, wanted=True):
    return linalg.adjoint(x) if wanted else x


def _conj(x):
    return tf.math.conj(x) if x.dtype.is_complex else x


def _tensor(x, dtype=None):
    return x if isinstance(x, (tf.Variable, tf.Tensor)) else tf.convert_to_tensor(x, dtype=dtype)


def _diag(x):
    return linalg.diag(x)


class LinearOperator(tf.Module):
    """A matrix, or a batch of matrices, that acts on others."""

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name=None, parameters=None):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._dtype = tf.as_dtype(dtype) if dtype is not None else None
        self._hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        self._graph_parents = list(graph_parents or [])
        self._parameters = dict(parameters or {})
        self._operator_name = name or type(self).__name__
        super().__init__(name="".join(c if c.isalnum() or c == "_" else "_" for c in self._operator_name))

    # ---- what is known
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._operator_name)
    parameters = property(lambda self: dict(self._parameters))
    graph_parents = property(lambda self: list(self._graph_parents))
    is_non_singular = property(lambda self: self._hints[0])
    is_self_adjoint = property(lambda self: self._hints[1])
    is_positive_definite = property(lambda self: self._hints[2])
    H = property(lambda self: self.adjoint())

    @property
    def is_square(self):
        """Whether it is; None: not known."""
        shape = self.shape
        if self._hints[3] is None and shape.rank is not None and shape[-1] is not None and shape[-2] is not None:
            return shape[-1] == shape[-2]
        return self._hints[3]

    @property
    def shape(self):
        """The shape of the matrices, with the batch's dimensions in front."""
        return self._shape()

    @property
    def batch_shape(self):
        """The shape without the last two dimensions."""
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        """How many dimensions the dense matrices have."""
        return self.shape.rank

    @property
    def domain_dimension(self):
        """The number of columns."""
        shape = self.shape
        return tf.compat.v1.Dimension(None if shape.rank is None else shape[-1])

    @property
    def range_dimension(self):
        """The number of rows."""
        shape = self.shape
        return tf.compat.v1.Dimension(None if shape.rank is None else shape[-2])

    def shape_tensor(self, name="shape_tensor"):
        """The shape as a tensor."""
        shape = self.shape
        return tf.constant(shape.as_list(), tf.int32) if shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The batch's shape as a tensor."""
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """The rank as a tensor."""
        return tf.size(self.shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """The number of columns as a tensor."""
        return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """The number of rows as a tensor."""
        return self.shape_tensor()[-2]

    # ---- what subclasses give
    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self):
        return tf.shape(self._to_dense())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return tf.matmul(self._dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return tf.squeeze(self._matmul(x[..., tf.newaxis], adjoint=adjoint), -1)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        dense, rhs = self._dense(), _adjoint(rhs, adjoint_arg)
        dense, rhs = _broadcast(dense, rhs)
        return linalg.solve(dense, rhs, adjoint=adjoint)

    def _to_dense(self):
        return self._matmul(tf.eye(self.domain_dimension_tensor(), batch_shape=self.batch_shape_tensor(), dtype=self.dtype))

    def _dense(self):
        return self._to_dense()

    def _diag_part(self):
        return linalg.diag_part(self._dense())

    def _trace(self):
        return tf.reduce_sum(self._diag_part(), -1)

    def _determinant(self):
        return linalg.det(self._dense())

    def _log_abs_determinant(self):
        return linalg.slogdet(self._dense())[1]

    def _eigvals(self):
        return linalg.eigvalsh(self._dense()) if self.is_self_adjoint else linalg.eigvals(self._dense())

    def _cond(self):
        values = linalg.svd(self._dense(), compute_uv=False)
        return tf.reduce_max(values, -1) / tf.reduce_min(values, -1)

    def _linop_adjoint(self):
        return _later("LinearOperatorAdjoint")(self)

    def _linop_inverse(self):
        return _later("LinearOperatorInversion")(self)

    def _linop_cholesky(self):
        return LinearOperatorLowerTriangular(linalg.cholesky(self._dense()), is_non_singular=True, is_self_adjoint=False, is_square=True)

    def _assert_non_singular(self):
        limit = {tf.float16: 9.8e-4, tf.float32: 1.2e-7, tf.complex64: 1.2e-7}.get(self.dtype, 2.3e-16)
        return tf.debugging.assert_less(tf.cast(self._cond(), tf.float64), tf.constant(1 / limit, tf.float64),
                                        message="Singular matrix up to precision epsilon.")

    def _assert_positive_definite(self):
        return _assert_definite(self._dense())

    def _assert_self_adjoint(self):
        dense = self._dense()
        return tf.debugging.assert_equal(dense, linalg.adjoint(dense), message="Matrix was not equal to its adjoint.")

    # ---- what users call
    def assert_non_singular(self, name="assert_non_singular"):
        """Raises an error if the matrix has no inverse."""
        return self._assert_non_singular()

    def assert_positive_definite(self, name="assert_positive_definite"):
        """Raises an error if a number x^H A x is not positive."""
        return self._assert_positive_definite()

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """Raises an error if the matrix is not its own adjoint."""
        return self._assert_self_adjoint()

    def to_dense(self, name="to_dense"):
        """The matrix itself."""
        return self._to_dense()

    def adjoint(self, name="adjoint"):
        """The operator of the adjoint matrix."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    def inverse(self, name="inverse"):
        """The operator of the inverse matrix."""
        if self.is_square is False:
            raise ValueError("Cannot get the Inverse: This operator represents a non-square matrix")
        if self.is_non_singular is False:
            raise ValueError("Cannot get the Inverse: This operator represents a singular matrix")
        return self._linop_inverse()

    def cholesky(self, name="cholesky"):
        """The operator of Cholesky's factor."""
        if self.is_positive_definite is False:
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite matrix.")
        if self.is_self_adjoint is False:
            raise ValueError("Cannot take the Cholesky decomposition: Not self-adjoint.")
        return self._linop_cholesky()

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with a matrix or an operator."""
        if isinstance(x, LinearOperator):
            left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
            if left.shape.rank is not None and right.shape.rank is not None and None not in (left.shape[-1], right.shape[-2]) \
                    and left.shape[-1] != right.shape[-2]:
                raise ValueError("Operators are incompatible. Expected `x` to have dimension %d but got %d." % (left.shape[-1], right.shape[-2]))
            return _product(left, right)
        return self._matmul(_tensor(x, self.dtype), adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """The product with a vector."""
        return self._matvec(_tensor(x, self.dtype), adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x with A x = rhs."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = self.adjoint() if adjoint else self, rhs.adjoint() if adjoint_arg else rhs
            return _product(left.inverse(), right)
        return self._solve(_tensor(rhs, self.dtype), adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x with A x = rhs, of vectors."""
        rhs = _tensor(rhs, self.dtype)
        return tf.squeeze(self.solve(rhs[..., tf.newaxis], adjoint=adjoint), -1)

    def diag_part(self, name="diag_part"):
        """The diagonal."""
        return self._diag_part()

    def trace(self, name="trace"):
        """The sum of the diagonal."""
        return self._trace()

    def determinant(self, name="det"):
        """The determinant."""
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithm of the absolute value of the determinant."""
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        return self._log_abs_determinant()

    def eigvals(self, name="eigvals"):
        """The eigenvalues of a self-adjoint operator."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def cond(self, name="cond"):
        """The greatest singular value, divided by the smallest."""
        return self._cond()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The sum with a dense matrix."""
        return self._to_dense() + _tensor(x, self.dtype)


def _assert_definite(dense):
    factor = linalg.cholesky(dense)
    return tf.debugging.assert_all_finite(tf.abs(factor), "Operator was not positive definite.")


def _broadcast(a, b):
    """Both with the batch dimensions of both."""
    if a.shape[:-2] == b.shape[:-2]:
        return a, b
    batch = tf.broadcast_dynamic_shape(tf.shape(a)[:-2], tf.shape(b)[:-2])
    return tuple(tf.broadcast_to(x, tf.concat([batch, tf.shape(x)[-2:]], 0)) for x in (a, b))


def _product(left, right):
    """Of operators: of two of a kind where that is one of the kind again."""
    if isinstance(left, LinearOperatorIdentity) and type(left) is LinearOperatorIdentity:
        return right
    if type(right) is LinearOperatorIdentity:
        return left
    if type(left) is LinearOperatorDiag and type(right) is LinearOperatorDiag:
        return LinearOperatorDiag(left.diag * right.diag, is_square=True)
    return _later("LinearOperatorComposition")([left, right])


class _OfParts(LinearOperator):
    """Keeps its arguments as parameters."""

    def _begin(self, dtype, hints, name, /, **parameters):
        non_singular, self_adjoint, definite, square = hints
        parameters.update(is_non_singular=non_singular, is_self_adjoint=self_adjoint, is_positive_definite=definite, is_square=square, name=name)
        super().__init__(dtype, None, non_singular, self_adjoint, definite, square, name, parameters)


class LinearOperatorFullMatrix(_OfParts):
    """A dense matrix."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorFullMatrix"):
        self._matrix = _tensor(matrix)
        self._begin(self._matrix.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, is_square), name, matrix=matrix)

    matrix = property(lambda self: self._matrix)

    def _shape(self):
        return self._matrix.shape

    def _to_dense(self):
        return tf.convert_to_tensor(self._matrix)

    def _linop_adjoint(self):
        return LinearOperatorFullMatrix(linalg.adjoint(self._matrix), *self._hints)


class LinearOperatorLowerTriangular(_OfParts):
    """The lower triangle of a dense matrix."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = _tensor(tril)
        self._begin(self._tril.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, True), name, tril=tril)

    tril = property(lambda self: self._tril)

    def _shape(self):
        return self._tril.shape

    def _to_dense(self):
        return linalg.band_part(self._tril, -1, 0)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        dense, rhs = _broadcast(self._to_dense(), _adjoint(rhs, adjoint_arg))
        return linalg.triangular_solve(dense, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self):
        return linalg.diag_part(self._tril)

    def _determinant(self):
        return tf.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        return tf.reduce_sum(tf.math.log(tf.abs(self._diag_part())), -1)

    def _eigvals(self):
        return self._diag_part()


class _Diagonal(_OfParts):
    """What all diagonal matrices share: `diag` is the diagonal."""

    def _to_dense(self):
        return _diag(self.diag)

    def _factor(self, adjoint):
        return _conj(self.diag)[..., tf.newaxis] if adjoint else self.diag[..., tf.newaxis]

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._factor(adjoint) * _adjoint(x, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return _adjoint(rhs, adjoint_arg) / self._factor(adjoint)

    def _diag_part(self):
        return tf.convert_to_tensor(self.diag)

    def _determinant(self):
        return tf.reduce_prod(self.diag, -1)

    def _log_abs_determinant(self):
        return tf.cast(tf.reduce_sum(tf.math.log(tf.abs(self.diag)), -1), self.dtype)

    def _eigvals(self):
        return tf.convert_to_tensor(self.diag)

    def _cond(self):
        sizes = tf.abs(self.diag)
        return tf.cast(tf.reduce_max(sizes, -1) / tf.reduce_min(sizes, -1), self.dtype)

    def _assert_non_singular(self):
        return tf.debugging.assert_none_equal(tf.reduce_min(tf.abs(self.diag)), tf.zeros([], tf.abs(self.diag).dtype),
                                              message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return tf.debugging.assert_positive(tf.math.real(self.diag), message="Operator is not positive definite: diagonal is not positive.")


class LinearOperatorDiag(_Diagonal):
    """A diagonal matrix."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorDiag"):
        self._diag = _tensor(diag)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        self._begin(self._diag.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, True), name, diag=diag)

    diag = property(lambda self: self._diag)

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _linop_inverse(self):
        return LinearOperatorDiag(1.0 / self.diag, True, self.is_self_adjoint, self.is_positive_definite)

    def _linop_cholesky(self):
        return LinearOperatorDiag(tf.sqrt(self.diag), is_square=True)

    def _linop_adjoint(self):
        return LinearOperatorDiag(_conj(tf.convert_to_tensor(self.diag)), *self._hints)


class LinearOperatorIdentity(_Diagonal):
    """An identity matrix."""

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):
        if False in (is_self_adjoint, is_non_singular, is_positive_definite, is_square):
            raise ValueError("An identity operator is always self-adjoint, non-singular, positive definite and square.")
        self._rows, self._batch = num_rows, batch_shape
        self._begin(dtype or tf.float32, (True, True, True, True), name, num_rows=num_rows, batch_shape=batch_shape, dtype=dtype)

    @property
    def diag(self):
        """Ones."""
        return tf.ones(self.shape_tensor()[:-1], self.dtype)

    def _shape(self):
        rows, batch = tf.get_static_value(self._rows), [] if self._batch is None else tf.get_static_value(self._batch)
        rows = None if rows is None else int(rows)
        return tf.TensorShape(None) if batch is None else tf.TensorShape([int(d) for d in batch] + [rows, rows])

    def _shape_tensor(self):
        batch = tf.constant([], tf.int32) if self._batch is None else tf.cast(self._batch, tf.int32)
        return tf.concat([batch, tf.fill([2], tf.cast(self._rows, tf.int32))], 0)

    def _linop_inverse(self):
        return self

    def _linop_cholesky(self):
        return self


class LinearOperatorScaledIdentity(_Diagonal):
    """A multiple of an identity matrix."""

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True,
                 assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        self._rows, self._multiplier = num_rows, _tensor(multiplier)
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._begin(self._multiplier.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, True), name, num_rows=num_rows,
                    multiplier=multiplier)

    multiplier = property(lambda self: self._multiplier)

    @property
    def diag(self):
        """The multiplier, for each row."""
        return self._multiplier[..., tf.newaxis] * tf.ones([self._rows], self.dtype)

    def _shape(self):
        rows = tf.get_static_value(self._rows)
        rows = None if rows is None else int(rows)
        return self._multiplier.shape.concatenate([rows, rows])

    def _linop_inverse(self):
        return LinearOperatorScaledIdentity(self._rows, 1.0 / self._multiplier, True, self.is_self_adjoint, self.is_positive_definite)

    def _linop_cholesky(self):
        return LinearOperatorScaledIdentity(self._rows, tf.sqrt(self._multiplier))

    def _linop_adjoint(self):
        return LinearOperatorScaledIdentity(self._rows, _conj(self._multiplier), *self._hints[:3])


class LinearOperatorZeros(_OfParts):
    """A matrix of zeros."""

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False, is_self_adjoint=True,
                 is_positive_definite=False, is_square=True, assert_proper_shapes=False, name="LinearOperatorZeros"):
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is neither non-singular nor positive definite.")
        self._sizes = [int(d) for d in (batch_shape if batch_shape is not None else [])] + [int(num_rows), int(num_rows if num_columns is None else num_columns)]
        self._begin(dtype or tf.float32, (False, is_self_adjoint, False, is_square), name, num_rows=num_rows, num_columns=num_columns,
                    batch_shape=batch_shape, dtype=dtype)

    def _shape(self):
        return tf.TensorShape(self._sizes)

    def _to_dense(self):
        return tf.zeros(self._sizes, self.dtype)

    def _determinant(self):
        return tf.zeros(self._sizes[:-2], self.dtype)
