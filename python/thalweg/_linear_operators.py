"""The operators of tf.linalg that are made of other operators, or of vectors; see _linear_operator.py, which has the others."""
import thalweg as tf
from thalweg._linear_operator import (LinearOperator, LinearOperatorDiag, LinearOperatorFullMatrix, LinearOperatorIdentity,
                                      LinearOperatorLowerTriangular, LinearOperatorScaledIdentity, LinearOperatorZeros, _adjoint, _OfParts, _tensor)

linalg = tf.linalg


# ---- of other operators

def _all(values):
    return True if all(v is True for v in values) else None


class LinearOperatorAdjoint(_OfParts):
    """The adjoint of an operator."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        own = operator._hints
        hints = [h if g is None else g for g, h in zip((is_non_singular, is_self_adjoint, is_positive_definite, is_square), own)]
        self._operator = operator
        self._begin(operator.dtype, hints, name or operator.name + "_adjoint", operator=operator)

    operator = property(lambda self: self._operator)

    def _shape(self):
        shape = self._operator.shape
        return shape if shape.rank is None else shape[:-2].concatenate([shape[-1], shape[-2]])

    def _to_dense(self):
        return linalg.adjoint(self._operator.to_dense())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _linop_adjoint(self):
        return self._operator


class LinearOperatorInversion(_OfParts):
    """The inverse of an operator."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("operator and supplied hints must have `is_non_singular=True` or `None`")
        own = operator._hints
        hints = [h if g is None else g for g, h in zip((True, is_self_adjoint, is_positive_definite, is_square), own)]
        self._operator = operator
        self._begin(operator.dtype, hints, name or operator.name + "_inv", operator=operator)

    operator = property(lambda self: self._operator)

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self._operator.log_abs_determinant()

    def _linop_inverse(self):
        return self._operator


class LinearOperatorComposition(_OfParts):
    """The product of operators."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if not operators:
            raise ValueError("Expected a non-empty list of operators.")
        self._operators = list(operators)
        if any(o.dtype != operators[0].dtype for o in operators):
            raise TypeError("Expected all operators to have the same dtype.")
        non_singular = _all([o.is_non_singular for o in operators]) if is_non_singular is None else is_non_singular
        square = _all([o.is_square for o in operators]) if is_square is None else is_square
        self._begin(operators[0].dtype, (non_singular, is_self_adjoint, is_positive_definite, square),
                    name or "_o_".join(o.name for o in operators), operators=operators)

    operators = property(lambda self: self._operators)

    def _shape(self):
        batch = self._operators[0].batch_shape
        for o in self._operators[1:]:
            batch = tf.broadcast_static_shape(batch, o.batch_shape)
        return batch.concatenate([self._operators[0].shape[-2], self._operators[-1].shape[-1]])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        order = self._operators if adjoint else self._operators[::-1]
        x = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for o in order[1:]:
            x = o.matmul(x, adjoint=adjoint)
        return x

    def _to_dense(self):
        dense = self._operators[-1].to_dense()
        for o in self._operators[-2::-1]:
            dense = o.matmul(dense)
        return dense

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        order = self._operators[::-1] if adjoint else self._operators
        rhs = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for o in order[1:]:
            rhs = o.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self):
        values = [o.determinant() for o in self._operators]
        return tf.math.reduce_prod(tf.stack(values), 0) if len({str(v.shape) for v in values}) == 1 else linalg.det(self._to_dense())

    def _log_abs_determinant(self):
        return sum((o.log_abs_determinant() for o in self._operators[1:]), self._operators[0].log_abs_determinant())

    def _linop_adjoint(self):
        return LinearOperatorComposition([o.adjoint() for o in self._operators[::-1]], is_non_singular=self.is_non_singular, is_square=self._hints[3])

    def _linop_inverse(self):
        return LinearOperatorComposition([o.inverse() for o in self._operators[::-1]], is_non_singular=True, is_square=True)


class LinearOperatorBlockDiag(_OfParts):
    """Operators along the diagonal."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=True, name=None):
        if not operators:
            raise ValueError("Expected a list of at least one operator.")
        self._operators = list(operators)
        hints = [_all([getattr(o, k) for o in operators]) if g is None else g for g, k in zip(
            (is_non_singular, is_self_adjoint, is_positive_definite), ("is_non_singular", "is_self_adjoint", "is_positive_definite"))]
        self._begin(operators[0].dtype, (*hints, is_square), name or "_ds_".join(o.name for o in operators), operators=operators)

    operators = property(lambda self: self._operators)

    def _shape(self):
        batch = self._operators[0].batch_shape
        for o in self._operators[1:]:
            batch = tf.broadcast_static_shape(batch, o.batch_shape)
        return batch.concatenate([sum(o.shape[-2] for o in self._operators), sum(o.shape[-1] for o in self._operators)])

    def _to_dense(self):
        rows, before, total = [], 0, self.shape[-1]
        batch = self.batch_shape.as_list()
        for o in self._operators:
            part = tf.broadcast_to(o.to_dense(), batch + o.shape.as_list()[-2:])
            pads = [[0, 0]] * len(batch) + [[0, 0], [before, total - before - o.shape[-1]]]
            rows.append(tf.pad(part, pads))
            before += o.shape[-1]
        return tf.concat(rows, -2)

    def _parts(self, x, method, adjoint):
        x = [x] if len(self._operators) == 1 else tf.split(x, [o.shape[-2 if adjoint else -1] for o in self._operators], -2)
        return tf.concat([getattr(o, method)(p, adjoint=adjoint) for o, p in zip(self._operators, x)], -2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._parts(_adjoint(x, adjoint_arg), "matmul", adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._parts(_adjoint(rhs, adjoint_arg), "solve", adjoint)

    def _linop_inverse(self):
        return LinearOperatorBlockDiag([o.inverse() for o in self._operators], True, self.is_self_adjoint, self.is_positive_definite, True)

    def _linop_adjoint(self):
        return LinearOperatorBlockDiag([o.adjoint() for o in self._operators], *self._hints)

    def _linop_cholesky(self):
        return LinearOperatorBlockDiag([o.cholesky() for o in self._operators], True, None, None, True)


class LinearOperatorKronecker(_OfParts):
    """The Kronecker product of operators."""

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name=None):
        if not operators:
            raise ValueError("Expected a list of >=1 operators.")
        self._operators = list(operators)
        hints = [_all([getattr(o, k) for o in operators]) if g is None else g for g, k in zip(
            (is_non_singular, is_self_adjoint, is_positive_definite, is_square),
            ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"))]
        self._begin(operators[0].dtype, hints, name or "_x_".join(o.name for o in operators), operators=operators)

    operators = property(lambda self: self._operators)

    def _shape(self):
        rows = columns = 1
        batch = tf.TensorShape([])
        for o in self._operators:
            rows, columns, batch = rows * o.shape[-2], columns * o.shape[-1], tf.broadcast_static_shape(batch, o.batch_shape)
        return batch.concatenate([rows, columns])

    def _to_dense(self):
        dense = self._operators[0].to_dense()
        for o in self._operators[1:]:
            other = o.to_dense()
            product = dense[..., :, tf.newaxis, :, tf.newaxis] * other[..., tf.newaxis, :, tf.newaxis, :]
            sizes = product.shape.as_list()
            dense = tf.reshape(product, sizes[:-4] + [sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])
        return dense


class LinearOperatorLowRankUpdate(_OfParts):
    """L + U D V^H, of an operator and three thin matrices."""

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        self._base, self._u = base_operator, _tensor(u)
        self._v = self._u if v is None else _tensor(v)
        self._update = None if diag_update is None else _tensor(diag_update)
        positive = is_diag_update_positive or diag_update is None
        if v is None and positive and base_operator.is_positive_definite and is_positive_definite is None:
            is_positive_definite = True
        if v is None and base_operator.is_self_adjoint and is_self_adjoint is None and not self._u.dtype.is_complex:
            is_self_adjoint = True
        self._begin(base_operator.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, is_square), name, base_operator=base_operator,
                    u=u, diag_update=diag_update, v=v, is_diag_update_positive=is_diag_update_positive)

    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._update)

    @property
    def diag_operator(self):
        """D as an operator."""
        return LinearOperatorIdentity(self._u.shape[-1], dtype=self.dtype) if self._update is None else LinearOperatorDiag(self._update)

    def _shape(self):
        return tf.broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2]).concatenate(self._base.shape[-2:])

    def _to_dense(self):
        scaled = self._u if self._update is None else self._u * self._update[..., tf.newaxis, :]
        return self._base.to_dense() + tf.matmul(scaled, self._v, adjoint_b=True)


class LinearOperatorHouseholder(_OfParts):
    """A reflection: 1 - 2 v v^H / |v|^2."""

    def __init__(self, reflection_axis, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorHouseholder"):
        if is_positive_definite:
            raise ValueError("A Householder operator is not positive definite.")
        self._axis = _tensor(reflection_axis)
        self._begin(self._axis.dtype, (True, True, False, True), name, reflection_axis=reflection_axis)

    reflection_axis = property(lambda self: self._axis)

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x, v = _adjoint(x, adjoint_arg), linalg.l2_normalize(self._axis, -1)[..., tf.newaxis]
        return x - 2.0 * v * tf.matmul(v, x, adjoint_a=True)

    def _to_dense(self):
        v = linalg.l2_normalize(self._axis, -1)[..., tf.newaxis]
        return tf.eye(self._axis.shape[-1], dtype=self.dtype) - 2.0 * tf.matmul(v, v, adjoint_b=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return -tf.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)

    def _linop_inverse(self):
        return self


class LinearOperatorPermutation(_OfParts):
    """A permutation of rows: row i of the product is row perm[i]."""

    def __init__(self, perm, dtype=tf.float32, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorPermutation"):
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always non-singular and square.")
        self._perm = _tensor(perm)
        self._begin(dtype, (True, is_self_adjoint, is_positive_definite, True), name, perm=perm, dtype=dtype)

    perm = property(lambda self: self._perm)

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _to_dense(self):
        return tf.one_hot(self._perm, self._perm.shape[-1], dtype=self.dtype)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)


class LinearOperatorToeplitz(_OfParts):
    """A matrix whose diagonals are constant, given by its first column and row."""

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorToeplitz"):
        self._col, self._row = _tensor(col), _tensor(row)
        self._begin(self._row.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, True if is_square is None else is_square), name, col=col, row=row)

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _shape(self):
        n = self._row.shape[-1]
        return tf.broadcast_static_shape(self._row.shape, self._col.shape)[:-1].concatenate([n, n])

    def _to_dense(self):
        n = self._row.shape[-1]
        whole = tf.concat([tf.reverse(self._col, [-1]), self._row[..., 1:]], -1)  # the diagonals, from below
        places = tf.range(n)[tf.newaxis, :] - tf.range(n)[:, tf.newaxis] + n - 1
        return tf.gather(whole, places, axis=-1)


class LinearOperatorTridiag(_OfParts):
    """A matrix of three diagonals."""

    def __init__(self, diagonals, diagonals_format="compact", is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorTridiag"):
        if diagonals_format not in ("matrix", "sequence", "compact"):
            raise ValueError("Expected `diagonals_format` to be one of matrix, compact, sequence got : %s" % diagonals_format)
        self._format = diagonals_format
        self._diagonals = [_tensor(d) for d in diagonals] if diagonals_format == "sequence" else _tensor(diagonals)
        first = self._diagonals[1] if diagonals_format == "sequence" else self._diagonals
        self._begin(first.dtype, (is_non_singular, is_self_adjoint, is_positive_definite, True if is_square is None else is_square), name,
                    diagonals=diagonals, diagonals_format=diagonals_format)

    diagonals = property(lambda self: self._diagonals)
    diagonals_format = property(lambda self: self._format)

    def _shape(self):
        if self._format == "matrix":
            return self._diagonals.shape
        if self._format == "compact":
            return self._diagonals.shape[:-2].concatenate([self._diagonals.shape[-1]] * 2)
        return self._diagonals[1].shape.concatenate(self._diagonals[1].shape[-1:])

    def _to_dense(self):
        if self._format == "matrix":
            return tf.convert_to_tensor(self._diagonals)
        n, eye = self.shape[-1], tf.eye(self.shape[-1], batch_shape=self.batch_shape.as_list(), dtype=self.dtype)
        return linalg.tridiagonal_matmul(self._diagonals, eye, diagonals_format=self._format) if n else eye

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if adjoint:
            return super()._solve(rhs, adjoint, adjoint_arg)
        return linalg.tridiagonal_solve(self._diagonals, rhs, diagonals_format=self._format, transpose_rhs=adjoint_arg, conjugate_rhs=adjoint_arg)


OPERATORS = {c.__name__: c for c in list(globals().values()) if isinstance(c, type) and issubclass(c, LinearOperator) and not c.__name__.startswith("_")}
for _made in OPERATORS.values():
    _made.__module__ = "tensorflow.linalg"
