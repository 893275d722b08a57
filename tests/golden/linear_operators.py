"""What TensorFlow 2.15.1 gives for every method of every tf.linalg.LinearOperator: writes tests/golden/linear_operators/cases.json, replayed by
tests/python/test_linear_operators.py. Each entry is an operator, a use of it, and numbers (nested lists; a complex one is [real, imaginary]),
another plain value, or the class of the error."""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import golden

L = "tf.linalg.LinearOperator"
OPERATORS = [
    L + "FullMatrix([[4., 1.], [2., 3.]])",
    L + "FullMatrix([[4., 1.], [1., 3.]], is_self_adjoint=True, is_positive_definite=True)",
    L + "FullMatrix(np.float64([[1, 2, 3], [4, 5, 6]]))",
    L + "FullMatrix(np.complex64([[4, 1 + 2j], [2 - 1j, 3]]))",
    L + "FullMatrix([[[4., 1.], [2., 3.]], [[1., 2.], [0., 5.]]])",
    L + "LowerTriangular([[4., 9.], [2., -3.]])",
    L + "LowerTriangular(np.complex128([[4, 0], [2j, 3 + 1j]]), is_non_singular=True)",
    L + "Diag([1., 4.], is_positive_definite=True)",
    L + "Diag([1., -2.])",
    L + "Diag([0., 2.])",
    L + "Diag(np.complex64([1 + 1j, 2]))",
    L + "Diag([[1., 2.], [3., 4.], [5., 6.]])",
    L + "Identity(2)",
    L + "Identity(2, batch_shape=[3], dtype=tf.float64)",
    L + "ScaledIdentity(2, 3.)",
    L + "ScaledIdentity(2, [3., 4.])",
    L + "ScaledIdentity(2, np.complex128(1 + 2j))",
    L + "Zeros(2)",
    L + "Zeros(2, 3, is_square=False, is_self_adjoint=False)",
    L + "Householder([1., 2.])",
    L + "Householder([[1., 2.], [3., 1.]])",
    L + "Permutation([1, 0])",
    L + "Permutation([1, 2, 0], dtype=tf.float64)",
    L + "Toeplitz([1., 2., 3.], [1., 5., 6.])",
    L + "Toeplitz([[4., 2.], [5., 3.]], [[4., 7.], [5., 8.]])",
    L + "Tridiag([[1., 2., 0.], [4., 5., 6.], [0., 7., 8.]])",
    L + "Tridiag([[1., 2., 0.], [4., 5., 6.], [0., 7., 8.]], diagonals_format='sequence')",
    L + "Tridiag([[4., 1., 0.], [2., 5., 1.], [0., 3., 6.]], diagonals_format='matrix')",
    L + "Adjoint(" + L + "FullMatrix([[4., 1.], [2., 3.]]))",
    L + "Inversion(" + L + "FullMatrix([[4., 1.], [2., 3.]]))",
    L + "Composition([" + L + "Diag([1., 2.]), " + L + "FullMatrix([[4., 1.], [2., 3.]])])",
    L + "Composition([" + L + "Diag([[1., 2.], [3., 4.]]), " + L + "FullMatrix([[4., 1.], [2., 3.]]), " + L + "ScaledIdentity(2, 2.)])",
    L + "BlockDiag([" + L + "Diag([1., 2.]), " + L + "FullMatrix([[4., 1.], [2., 3.]])])",
    L + "BlockDiag([" + L + "FullMatrix([[2.]], is_positive_definite=True, is_self_adjoint=True), " + L + "Diag([3.], is_positive_definite=True)])",
    L + "Kronecker([" + L + "Diag([1., 2.]), " + L + "FullMatrix([[4., 1.], [2., 3.]])])",
    L + "LowRankUpdate(" + L + "Diag([1., 2.], is_positive_definite=True), [[1.], [3.]], diag_update=[2.], is_diag_update_positive=True)",
    L + "LowRankUpdate(" + L + "Diag(np.float64([1, 2]), is_positive_definite=True), np.float64([[1], [3]]))",
    L + "LowRankUpdate(" + L + "FullMatrix([[4., 1.], [2., 3.]]), [[1.], [3.]], v=[[2.], [1.]])",
]
USES = [
    "o.shape.as_list()", "o.batch_shape.as_list()", "o.tensor_rank", "o.dtype.name", "o.name", "o.is_square", "o.is_self_adjoint", "o.is_non_singular",
    "o.is_positive_definite", "int(o.domain_dimension)", "int(o.range_dimension)", "sorted(o.parameters)", "len(o.variables)",
    "o.shape_tensor()", "o.batch_shape_tensor()", "o.tensor_rank_tensor()", "o.domain_dimension_tensor()", "o.range_dimension_tensor()",
    "o.to_dense()", "o.diag_part()", "o.trace()", "o.determinant()", "o.log_abs_determinant()", "o.eigvals()", "o.cond()",
    "o.matmul(m)", "o.matmul(r, adjoint=True)", "o.matmul(tf.linalg.adjoint(m), adjoint_arg=True)", "o.matmul(r, True)", "o.matvec(m[..., 0])",
    "o.matvec(r[..., 0], adjoint=True)", "o.solve(r)", "o.solve(m, adjoint=True)", "o.solve(tf.linalg.adjoint(r), adjoint_arg=True)",
    "o.solvevec(r[..., 0])", "o.add_to_tensor(tf.ones(o.shape, o.dtype))", "o @ m", "o.adjoint().to_dense()", "o.H.matmul(r)", "o.inverse().to_dense()",
    "o.inverse().matmul(r)", "o.inverse().solve(m)", "o.inverse().determinant()", "o.cholesky().to_dense()", "(o @ o).to_dense()",
    "o.matmul(o, adjoint=True).to_dense()", "o.matmul(o, adjoint_arg=True).matmul(r)", "o.solve(o).to_dense()",
    "o.inverse().name", "o.adjoint().name", "o.assert_non_singular()", "o.assert_positive_definite()", "o.assert_self_adjoint()",
]
REFUSED = [
    L + "Diag([1., 2.], is_self_adjoint=False)", L + "Diag([1., 2.], is_square=False)", L + "LowerTriangular([[1.]], is_square=False)",
    L + "FullMatrix([[1.]], is_positive_definite=True, is_non_singular=False)", L + "FullMatrix([[1.]], is_non_singular=True, is_square=False)",
    L + "FullMatrix([[1.]], is_self_adjoint=True, is_square=False)", L + "Identity(2, is_self_adjoint=False)", L + "Identity(2, is_square=False)",
    L + "Identity(2, is_non_singular=False)", L + "Identity(2, is_positive_definite=False)", L + "Zeros(2, is_non_singular=True)",
    L + "Zeros(2, is_positive_definite=True)", L + "Zeros(2, is_self_adjoint=False)", L + "ScaledIdentity(2, 3., is_square=False)",
    L + "ScaledIdentity(2, 3., is_self_adjoint=False)", L + "Householder([1.], is_positive_definite=True)", L + "Householder([1.], is_self_adjoint=False)",
    L + "Householder([1.], is_square=False)", L + "Permutation([0], is_square=False)", L + "Permutation([0], is_non_singular=False)",
    L + "Permutation([0.])", L + "Permutation(0)", L + "Toeplitz([1.], [1.], is_square=False)", L + "Toeplitz(1., [1.])", L + "Tridiag([[1.]], 'other')",
    L + "Composition([])", L + "BlockDiag([])", L + "Kronecker([])", L + "Composition([" + L + "Diag([1.]), " + L + "Diag(np.float64([1]))])",
    L + "Inversion(" + L + "Zeros(2))", L + "Inversion(" + L + "Diag([1.]), is_non_singular=False)", L + "Identity(2.)", L + "Identity(-1)",
    L + "Identity(2, batch_shape=3)", L + "Identity(2, batch_shape=[-3])", L + "FullMatrix([1., 2.])", L + "FullMatrix([[1]])", L + "Diag(1.)",
    L + "Diag([1, 2])", L + "Householder(1.)", L + "LowerTriangular([1.])",
    L + "Composition([" + L + "Diag([1.]), " + L + "Zeros(2)], is_non_singular=False)",
]


def plain(value):
    if value is None or isinstance(value, (bool, int, str, list)):
        return {"plain": value}
    array = np.asarray(value)
    numbers = np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array
    return {"dtype": array.dtype.name, "shape": list(array.shape), "numbers": [float("%.7g" % n) if np.isfinite(n) else str(n) for n in numbers.reshape(-1)]}


def cases():
    for text in OPERATORS:
        for use in USES:
            try:
                o = eval(text)
                shape = o.shape.as_list()
                number = np.dtype(o.dtype.name).type
                m = tf.constant((np.arange(shape[-1] * 2).reshape(shape[-1], 2) + 1).astype(number))
                r = tf.constant((np.arange(shape[-2] * 2).reshape(shape[-2], 2) * 3 - 2).astype(number))
                yield [text, use, plain(eval(use, {"o": o, "m": m, "r": r, "tf": tf}))]
            except Exception as error:
                broken = isinstance(error, RecursionError) or (use == "o.assert_non_singular()" and o.dtype.is_complex)  # in TensorFlow itself
                if not broken:
                    yield [text, use, {"error": type(error).__name__}]
    for text in REFUSED:
        try:
            eval(text)
            yield [text, "o.name", {"plain": eval(text).name}]
        except Exception as error:
            yield [text, "o.name", {"error": type(error).__name__}]


with open(golden.path(__file__, "cases.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases()) + "\n]\n")
