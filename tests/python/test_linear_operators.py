"""tf.linalg.LinearOperator: every method of every operator against TensorFlow's results (tests/golden/linear_operators.py), variables as parts,
operators in functions, and classes of a program."""
import itertools
import json

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

with open(golden_file("linear_operators", "cases.json")) as f:
    CASES = [(text, list(cases)) for text, cases in itertools.groupby(json.load(f), lambda case: case[0])]


def check(value, expected):
    if "plain" in expected:
        assert value == expected["plain"]
        return
    array = np.asarray(value)
    assert array.dtype.name == expected["dtype"] and list(array.shape) == expected["shape"]
    numbers = np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array
    np.testing.assert_allclose(numbers.reshape(-1).astype(float), [float(n) for n in expected["numbers"]], rtol=2e-5, atol=2e-5)


def used(text, use):
    o = eval(text)
    if use == "o.name":
        return o.name
    rows, columns = o.shape.as_list()[-2:]
    number = np.dtype(o.dtype.name).type
    m = tf.constant((np.arange(columns * 2).reshape(columns, 2) + 1).astype(number))
    r = tf.constant((np.arange(rows * 2).reshape(rows, 2) * 3 - 2).astype(number))
    return eval(use, {"o": o, "m": m, "r": r, "tf": tf})


@pytest.mark.parametrize("text,cases", CASES, ids=[text.replace("tf.linalg.LinearOperator", "") for text, _ in CASES])
def test_operator(text, cases):
    bad = []
    for _, use, expected in cases:
        try:
            if "error" in expected:
                kind = getattr(tf.errors, expected["error"], None) or getattr(__import__("builtins"), expected["error"])
                with pytest.raises(kind):
                    used(text, use)
            else:
                check(used(text, use), expected)
        except (Exception, pytest.fail.Exception) as error:
            bad.append("%s: %s: %s" % (use, type(error).__name__, str(error).strip().splitlines()[:4]))
    assert not bad, "\n".join(bad)


def test_a_variable_is_read_when_it_is_needed():
    v = tf.Variable([1.0, 2.0])
    o = tf.linalg.LinearOperatorDiag(v)
    assert o.diag is v and [x is v for x in o.trainable_variables] == [True] and isinstance(o, tf.Module)
    v.assign([3.0, 4.0])
    assert o.trace().numpy() == 7
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(o.inverse().matvec([1.0, 1.0]))
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), [-1 / 9, -1 / 16], rtol=1e-6)
    joined = tf.linalg.LinearOperatorComposition([o, tf.linalg.LinearOperatorFullMatrix(tf.Variable([[1.0, 0.0], [0.0, 1.0]]))])
    assert len(joined.variables) == 2


def test_shapes_that_are_not_known_yet():
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, None])])
    def f(matrix, x):
        o = tf.linalg.LinearOperatorFullMatrix(matrix)
        assert o.shape.as_list() == [None, None] and o.is_square is None
        return o.solve(o.matmul(x)), o.domain_dimension_tensor(), tf.linalg.LinearOperatorIdentity(tf.shape(x)[0]).matmul(x), o.inverse().to_dense()
    solved, size, same, inverse = f(tf.constant([[4.0, 1.0], [2.0, 3.0]]), tf.constant([[1.0], [2.0]]))
    np.testing.assert_allclose(solved.numpy(), [[1], [2]], rtol=1e-6)
    assert size.numpy() == 2 and same.numpy().tolist() == [[1], [2]]
    np.testing.assert_allclose(inverse.numpy(), [[0.3, -0.1], [-0.2, 0.4]], rtol=1e-5)


class Twice(tf.linalg.LinearOperator):
    """Knows how to multiply, and nothing else."""

    def __init__(self, size):
        self.size = size
        super().__init__(tf.float32, is_square=True, name="Twice", parameters={"size": size})

    def _shape(self):
        return tf.TensorShape([self.size, self.size])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)


class Halving(Twice):
    def _linop_inverse(self):
        return Twice(self.size)

    def _determinant(self):
        return tf.constant(-1.0)


def test_a_class_of_a_program():
    o = Twice(2)
    assert o.to_dense().numpy().tolist() == [[2, 0], [0, 2]] and o.determinant().numpy() == 4 and o.trace().numpy() == 4
    assert o.matvec([1.0, 2.0]).numpy().tolist() == [2, 4] and o.solvevec([2.0, 4.0]).numpy().tolist() == [1, 2]
    assert (o @ o).matvec([1.0, 2.0]).numpy().tolist() == [4, 8] and o.parameters == {"size": 2} and o.name == "Twice"
    assert Halving(3).determinant().numpy() == -1 and type(Halving(3).inverse()) is Twice
    blocks = tf.linalg.LinearOperatorBlockDiag([o, tf.linalg.LinearOperatorDiag([5.0])])
    assert blocks.diag_part().numpy().tolist() == [2, 2, 5]
    with pytest.raises(NotImplementedError):
        tf.linalg.LinearOperator(tf.float32).to_dense()


@pytest.mark.parametrize("wrong", [
    lambda o: o.matmul([[1.0]]), lambda o: o.matmul("x"), lambda o: o.matmul(None), lambda o: o.matmul(tf.linalg.LinearOperatorDiag([1.0, 2.0, 3.0])),
    lambda o: o.solve([[1.0]]), lambda o: tf.linalg.LinearOperatorComposition([o, None]), lambda o: tf.linalg.LinearOperatorAdjoint(None),
    lambda o: tf.linalg.LinearOperatorLowRankUpdate(o, None), lambda o: tf.linalg.LinearOperatorDiag(None), lambda o: tf.linalg.LinearOperatorIdentity(None),
    lambda o: tf.linalg.LinearOperatorTridiag([1.0], "sequence"), lambda o: tf.linalg.LinearOperatorFullMatrix("text"),
])
def test_wrong_arguments_are_errors(wrong):
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        wrong(tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [2.0, 3.0]]))
