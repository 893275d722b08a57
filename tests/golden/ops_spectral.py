"""Op cases of Eig, functions of matrices and matrices of few diagonals: tests/golden/op_cases/spectral.json. Run under TensorFlow.

The order of eigenvalues and the phases of eigenvectors are free: matrices here are triangular, and vectors are compared in test_array_api.py by their
absolute values."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("spectral")
BAD = "InvalidArgumentError"
rng = np.random.RandomState(5)
for d, out in ((np.float32, tf.complex64), (np.float64, tf.complex128), (np.complex64, tf.complex64), (np.complex128, tf.complex128)):
    c.add("Eig", input=np.array([[2, 1], [0, 5]], d), compute_v=False, Tout=out, tolerance=1e-5)
    c.cases[-1]["outputs"][1].pop("values")  # of vectors that nobody asked for: memory as it was
    c.add("Eig", input=np.array([[[3.5]], [[-2]]], d), Tout=out)
c.add("Eig", input=np.zeros((2, 0, 0), np.float32), compute_v=False, Tout=tf.complex64, values=False)
c.error("Eig", input=np.float32([[1, 2, 3]]), Tout=tf.complex64, code=BAD)
S = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.1, 0.4, 2]])
for d in (np.float32, np.float64, np.complex64, np.complex128):
    wide = d in (np.float64, np.complex128)
    c.add("MatrixSquareRoot", input=S.astype(d), tolerance=1e-9 if wide else 1e-4)
    c.add("MatrixSquareRoot", input=np.stack([S, S.T @ S]).astype(d), tolerance=1e-9 if wide else 1e-3)
c.add("MatrixSquareRoot", input=np.float64([[4, 1], [0, 9]]), gradient=True, tolerance=1e-6)
c.add("MatrixSquareRoot", input=np.float64([[[4, 1], [0.5, 9]], [[2, 0.1], [0.3, 1]]]), gradient=True, tolerance=1e-6)
NAN, INF = float("nan"), float("inf")
WITHOUT = ([[-1, 0], [0, 2]], [[4, 1, 0], [0, -1, 2], [0, 0, 3]], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]])  # matrices without a real root
for d in (np.float32, np.float64):
    for m in WITHOUT + ([[NAN, 1], [0, 1]], [[INF, 0], [0, 1]], [[0, 0], [0, 0]]):
        c.add("MatrixSquareRoot", input=np.array(m, d))
c.add("MatrixSquareRoot", input=np.float32([[[4, 0], [0, 9]], [[-1, 0], [0, 2]], [[NAN, 0], [0, 1]]]))
for m in WITHOUT + ([[NAN, 1], [0, 1]], [[0, 1], [0, 0]], [[0, 0], [0, 0]]):
    c.add("MatrixSquareRoot", input=np.complex128(m), tolerance=1e-9)
c.error("Eig", input=np.float32([[NAN, 1], [0, 1]]), Tout=tf.complex64, code=BAD, text="Eigen decomposition was not successful. The input might not be valid.")
c.error("MatrixSquareRoot", input=np.float32([[1, 2, 3]]), code=BAD)
for d in (np.complex64, np.complex128):
    for m in (S, S + 1j * S.T, [[1, 5], [0, 1]], [[2.5]]):
        m = np.array(m, d)
        c.add("MatrixLogarithm", input=m, tolerance=1e-9 if d == np.complex128 else 2e-4)
c.add("MatrixLogarithm", input=np.complex64([[NAN, 1], [0, 1]]))
c.add("MatrixLogarithm", input=np.complex128([[[INF, 0], [0, 1]], [[1, 0], [0, 1]]]))
c.error("MatrixLogarithm", input=np.complex64([[1, 2, 3]]), code=BAD)
for d in (np.float32, np.float64, np.complex64, np.complex128):
    def some(*shape):
        x = rng.uniform(-1, 1, shape)
        return (x + 1j * rng.uniform(-1, 1, shape) if d in (np.complex64, np.complex128) else x).astype(d)
    wide, real = d in (np.float64, np.complex128), d in (np.float32, np.float64)
    limit = 1e-8 if wide else 2e-4
    c.add("TridiagonalMatMul", superdiag=some(1, 4), maindiag=some(1, 4), subdiag=some(1, 4), rhs=some(4, 3), gradient=real, tolerance=limit)
    c.add("TridiagonalMatMul", superdiag=some(2, 1, 3), maindiag=some(2, 1, 3), subdiag=some(2, 1, 3), rhs=some(2, 3, 2), tolerance=limit)
    c.add("TridiagonalSolve", diagonals=some(3, 4) + np.array([[0], [3], [0]], d), rhs=some(4, 3), gradient=real, tolerance=limit)
    c.add("TridiagonalSolve", diagonals=some(3, 4), rhs=some(4, 2), tolerance=100 * limit)
    c.add("TridiagonalSolve", diagonals=some(2, 3, 3) + np.array([[0], [3], [0]], d), rhs=some(2, 3, 1), partial_pivoting=False, tolerance=limit)
    for lower in (True, False):
        for adjoint in (True, False):
            c.add("BandedTriangularSolve", matrix=some(3, 4) + np.array(2, d), rhs=some(4, 2), lower=lower, adjoint=adjoint, tolerance=limit)
    if real:
        lower = np.tril(some(3, 3)) + 2 * np.eye(3, dtype=d)
        c.add("CholeskyGrad", l=lower, grad=some(3, 3), tolerance=limit)
        c.add("CholeskyGrad", l=np.stack([lower, lower + np.eye(3, dtype=d)]), grad=some(2, 3, 3), tolerance=limit)
for pivots in (True, False):
    c.add("TridiagonalSolve", diagonals=np.float32([[1, 0], [1, 1], [0, 1]]), rhs=np.float32([[1], [2]]), partial_pivoting=pivots)
c.error("TridiagonalMatMul", superdiag=np.float32([[1, 2]]), maindiag=np.float32([[1, 2]]), subdiag=np.float32([[1, 2, 3]]), rhs=np.float32([[1], [2]]), code=BAD)
c.write()
