"""Op cases of linear algebra: tests/golden/op_cases/linalg.json. Run under TensorFlow. Vectors that are unique up to a sign only are compared by
tests/python/test_linalg.py instead."""
import numpy as np

import tensorflow as tf
from op_cases import Cases

c = Cases("linalg")
r = np.random.RandomState(3)


def matrix(dtype, *shape):
    x = np.round(r.uniform(-2, 2, shape), 2)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.round(r.uniform(-2, 2, shape), 2)
    return x.astype(dtype)


def definite(dtype, *shape):
    a = matrix(dtype, *shape)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])).astype(dtype)


ALL = (np.float32, np.float64, np.complex64, np.complex128)
LOOSE = {np.dtype(np.float32): 2e-4, np.dtype(np.complex64): 2e-4, np.dtype(np.float64): 1e-10, np.dtype(np.complex128): 1e-10}
for d in ALL:
    t = LOOSE[np.dtype(d)]
    c.add("MatrixDeterminant", input=matrix(d, 2, 3, 3), tolerance=t, gradient=True)
    c.add("LogMatrixDeterminant", input=matrix(d, 3, 3), tolerance=t, gradient=np.dtype(d).kind != "c")
    c.add("MatrixInverse", input=matrix(d, 2, 3, 3), tolerance=t * 10, gradient=True)
    c.add("MatrixInverse", input=matrix(d, 4, 4), adjoint=True, tolerance=t * 10, gradient=True)
    c.add("MatrixSolve", matrix=matrix(d, 2, 3, 3), rhs=matrix(d, 2, 3, 2), tolerance=t * 10, gradient=True)
    c.add("MatrixSolve", matrix=matrix(d, 3, 3), rhs=matrix(d, 3, 1), adjoint=True, tolerance=t * 10, gradient=True)
    for lower in (True, False):
        for adjoint in (True, False):
            m = matrix(d, 3, 3) + 3 * np.eye(3).astype(d)
            c.add("MatrixTriangularSolve", matrix=m, rhs=matrix(d, 3, 2), lower=lower, adjoint=adjoint, tolerance=t, gradient=True)
    c.add("MatrixTriangularSolve", matrix=matrix(d, 2, 2) + 3 * np.eye(2).astype(d), rhs=matrix(d, 3, 2, 1), tolerance=t, gradient=True)
    c.add("MatrixTriangularSolve", matrix=matrix(d, 2, 1, 2, 2) + 3 * np.eye(2).astype(d), rhs=matrix(d, 3, 2, 1), tolerance=t, gradient=True)
    c.add("Cholesky", input=definite(d, 2, 3, 3), tolerance=t)
    c.add("Lu", input=matrix(d, 2, 4, 4), tolerance=t)
    for shape in ((3, 3), (2, 4, 2), (2, 4)):
        c.add("Qr", input=matrix(d, *shape), tolerance=t, gradient=True)
    c.add("Qr", input=matrix(d, 4, 2), full_matrices=True, tolerance=t)
    for full in (False, True):
        c.add("Svd", input=matrix(d, 4, 3), full_matrices=full, values=False)
    for shape in ((4, 2), (2, 4), (3, 3)):
        c.add("MatrixSolveLs", matrix=matrix(d, *shape), rhs=matrix(d, shape[0], 2), l2_regularizer=np.float64(0.1), tolerance=t * 10, gradient=d == np.float64)
        c.add("MatrixSolveLs", matrix=matrix(d, *shape), rhs=matrix(d, shape[0], 2), l2_regularizer=np.float64(0), fast=False, tolerance=t * 10)
c.add("Cholesky", input=definite(np.float64, 3, 3), tolerance=1e-9)
c.add("MatrixSolveLs", matrix=np.float64([[1, 2], [2, 4], [3, 6]]), rhs=np.float64([[1], [2], [4]]), l2_regularizer=np.float64(0), fast=False)
c.add("SelfAdjointEigV2", input=np.float64([[2, 9], [1, 3]]), note="only the lower triangle counts")
c.add("SelfAdjointEigV2", input=np.float64([[2, 0], [0, 2]]))
c.add("SelfAdjointEigV2", input=definite(np.float64, 2, 4, 4), tolerance=1e-9)
c.add("MatrixDeterminant", input=np.zeros((2, 2)))
c.add("MatrixDeterminant", input=np.zeros((0, 0)))
c.add("MatrixDeterminant", input=np.zeros((0, 2, 2), np.float32))
c.add("LogMatrixDeterminant", input=np.zeros((2, 2)))
c.add("MatrixInverse", input=np.zeros((0, 0)))
c.add("MatrixSolve", matrix=np.zeros((0, 0)), rhs=np.zeros((0, 2)))
c.add("Cholesky", input=np.zeros((0, 0)))
c.add("Qr", input=np.zeros((2, 3)))
c.add("Qr", input=np.float64([[np.nan, 1], [2, 3]]))
for special in (np.nan, np.inf):
    for d in (np.float32, np.float64):
        c.add("Qr", input=np.array([[special, 1], [0, 1]], d))
        c.add("LogMatrixDeterminant", input=np.array([[special, 0], [0, 1]], d))
        c.add("Cholesky", input=np.array([[4, 0, 0], [special, 1, 0], [0, 0, 1]], d))
        c.add("Cholesky", input=np.array([[4, 0, 0], [0, special, 0], [0, 0, 1]], d))
c.add("MatrixSolveLs", matrix=np.float32([[np.nan, 1], [0, 1]]), rhs=np.float32([[1], [1]]), l2_regularizer=np.float64(0), fast=False)
c.add("MatrixSolveLs", matrix=np.float32([[np.nan, 1], [0, 1]]), rhs=np.float32([[1], [1]]), l2_regularizer=np.float64(0))
c.add("Svd", input=np.zeros((2, 3)))
c.add("Svd", input=np.float64([[np.nan, 1], [2, 3]]))
c.add("MatrixTriangularSolve", matrix=np.zeros((2, 2)), rhs=np.zeros((2, 1)))
c.add("Cross", a=np.float32([[1, 2, 3], [4, 5, 6]]), b=np.float32([[3, 1, 2], [-1, 0, 2]]), gradient=True)
c.add("Cross", a=np.float64([1, 2, 3]), b=np.float64([3, 1, 2]), gradient=True)
for d in (np.int8, np.int32, np.int64, np.uint8, np.float16):
    c.add("Cross", a=np.array([1, 2, 3], d), b=np.array([3, 1, 2], d))
x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
c.add("MatrixSetDiagV3", input=x, diagonal=-np.ones((2, 3)), k=np.int32(0), gradient=True)
c.add("MatrixSetDiagV3", input=x, diagonal=-np.ones((2, 2)), k=np.int32(-1), gradient=True)
for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
    c.add("MatrixSetDiagV3", input=x, diagonal=-np.arange(18.0).reshape(2, 3, 3), k=np.int32([-1, 1]), align=align, gradient=True)
c.add("MatrixSetDiagV3", input=np.int32([[1, 2], [3, 4]]), diagonal=np.int32([7, 8]), k=np.int32(0))
for t in (np.float64, np.float32, np.int32, np.complex64):  # the older forms
    square = np.arange(12).reshape(1, 3, 4).astype(t)
    differs = dict(gradient=t is np.float64)
    c.add("MatrixDiag", diagonal=square[0], **differs)
    c.add("MatrixDiagPart", input=square, **differs)
    c.add("MatrixSetDiag", input=square, diagonal=-np.ones((1, 3), t), **differs)
    for k in (np.int32(0), np.int32(1), np.int32([-1, 1])):
        part = tf.raw_ops.MatrixDiagPartV2(input=square, k=k, padding_value=t(7)).numpy()
        c.add("MatrixDiagPartV2", input=square, k=k, padding_value=t(7), **differs)
        c.add("MatrixDiagV2", diagonal=part, k=k, num_rows=np.int32(3), num_cols=np.int32(4), padding_value=t(2), **differs)
        c.add("MatrixSetDiagV2", input=square, diagonal=part, k=k, **differs)
bad = dict(code="InvalidArgumentError")
for op, inputs in (("MatrixDiag", dict(diagonal=np.float64(1))), ("MatrixDiagPart", dict(input=np.ones(2)))):
    c.error(op, **inputs, **bad)
c.error("MatrixInverse", input=np.zeros((2, 2)), text="Input is not invertible.", **bad)
c.error("MatrixSolve", matrix=np.zeros((2, 2)), rhs=np.ones((2, 1)), text="Input matrix is not invertible.", **bad)
c.error("Lu", input=np.zeros((2, 2)), text="Input is not invertible.", **bad)
c.error("SelfAdjointEigV2", input=np.float64([[np.nan, 1], [1, 2]]), text="Self-adjoint eigen decomposition was not successful.", **bad)
for op in ("MatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "Cholesky", "SelfAdjointEigV2", "Lu"):
    c.error(op, input=np.zeros((2, 3)), text="Input matrix must be square.", **bad)
for op in ("MatrixDeterminant", "MatrixInverse", "Cholesky", "SelfAdjointEigV2", "Qr", "Svd"):
    c.error(op, input=np.zeros((3,)), text="must have rank >= 2, got 1", **bad)
c.error("MatrixSolve", matrix=np.eye(2), rhs=np.ones((3, 1)), text="Input matrix and rhs are incompatible.", **bad)
c.error("MatrixSolve", matrix=np.eye(2)[None], rhs=np.ones((2, 1)), text="All input tensors must have the same rank.", **bad)
c.error("MatrixTriangularSolve", matrix=np.ones((2, 3)), rhs=np.ones((2, 1)), text="must be square", **bad)
c.error("MatrixTriangularSolve", matrix=np.eye(2), rhs=np.ones((3, 1)), text="In[0] mismatch In[1] shape: 2 vs. 3: [2,2] [3,1]", **bad)
c.error("Cross", a=np.float32([1, 2]), b=np.float32([1, 2]), code="FailedPreconditionError", text="Cross-products are only defined for 3-element vectors.")
c.error("MatrixSetDiagV3", input=x, diagonal=np.ones((2, 2)), k=np.int32(0), **bad)
c.write()
