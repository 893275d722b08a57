"""Functions whose arguments have unknown dimensions or ranks while they are traced: values and gradients are those of eager calls."""
import json

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

import image_shape_cases

RNG = np.random.RandomState(5)
X = RNG.randn(3, 4, 5).astype(np.float32)
Y = RNG.randn(5, 4, 3).astype(np.float32)
IMAGES = RNG.randn(2, 3, 4, 5).astype(np.float32)
PLACES = RNG.randint(0, 3, (2, 2))


def case(name, function, *arguments):
    return pytest.param(function, arguments, id=name)


CASES = [
    *[case("gather %d" % axis, lambda x, i, axis=axis: tf.gather(x, i, axis=axis), X, PLACES) for axis in (0, 1, 2, -1, -2)],
    case("gather batch", lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), X, RNG.randint(0, 4, (3, 6))),
    case("gather batch, later axis", lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), X, RNG.randint(0, 5, (3, 6))),
    case("gather of rows of rows", lambda x, i: tf.gather(x, i, axis=2, batch_dims=2), X, RNG.randint(0, 5, (3, 4, 2))),
    case("top_k", lambda x: tf.math.top_k(x, 2)[0], X),
    case("sort", tf.sort, X),
    case("sort of columns", lambda x: tf.sort(x, axis=1, direction="DESCENDING"), X),
    *[case("prod %s" % (axis,), lambda x, axis=axis: tf.reduce_prod(x, axis), X) for axis in (None, 0, [0, 2], -1)],
    case("repeat", lambda x: tf.repeat(x, 3, axis=1), X),
    case("repeat, each its own number", lambda x, n: tf.repeat(x, n, axis=1), X, np.array([1, 0, 2, 1])),
    case("repeat of all", lambda x: tf.repeat(x, 2), X),
    case("matmul of a batch", lambda a, b: tf.matmul(a, b, transpose_b=True), X, X),
    case("softmax", tf.nn.softmax, X),
    *[case("softmax %d" % axis, lambda x, axis=axis: tf.nn.softmax(x, axis), X) for axis in (0, 1, 2, -1, -2, -3)],
    case("log_softmax", lambda x: tf.nn.log_softmax(x, 1), X),
    case("operator @", lambda a, b: a @ b, X, X.transpose(0, 2, 1)),
    case("operator @ of matrices", lambda a, b: a @ b, X[0], X[0].T),
    *[case("tensordot %s" % (axes,), lambda a, b, axes=axes: tf.tensordot(a, b, axes), X, Y) for axes in (1, [[1], [1]], [[2, 0], [0, 2]], [[-1, -2], [0, -2]])],
    case("tensordot of nothing", lambda a, b: tf.tensordot(a, b, 0), X[0, 0], X[0]),
    case("tensordot of all", lambda a, b: tf.tensordot(a, b, 3), X, X),
    case("matrix_transpose", tf.linalg.matrix_transpose, X),
    case("adjoint", tf.linalg.adjoint, X),
    case("flip_left_right", tf.image.flip_left_right, X),
    case("flip_up_down", tf.image.flip_up_down, IMAGES),
    case("image transpose", tf.image.transpose, IMAGES),
    *[case("rot90 %d" % k, lambda x, k=k: tf.image.rot90(x, k), IMAGES) for k in (1, 2, 3)],
    case("rot90 of one", tf.image.rot90, X),
    case("crop or pad", lambda x: tf.image.resize_with_crop_or_pad(x, 2, 7), X),
    case("resize with pad", lambda x: tf.image.resize_with_pad(x, 5, 6), X),
    case("pad to a box", lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 6, 7), X),
    case("crop to a box", lambda x: tf.image.crop_to_bounding_box(x, 1, 1, 2, 3), X),
    case("standardization", tf.image.per_image_standardization, IMAGES),
    case("grayscale", lambda x: tf.image.rgb_to_grayscale(x[..., :3]), IMAGES),
    case("colours of gray", lambda x: tf.image.grayscale_to_rgb(x[..., :1]), IMAGES),
    case("keras softmax", tf.keras.activations.softmax, X),
    case("entropy", lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, x), X, RNG.randint(0, 5, (3, 4))),
    case("entropy of distributions", lambda x, p: tf.nn.softmax_cross_entropy_with_logits(p, x), X, np.abs(X) / np.abs(X).sum(-1, keepdims=True)),
    case("entropy along an axis", lambda x, p: tf.nn.softmax_cross_entropy_with_logits(p, x, axis=1), X, np.abs(X) / np.abs(X).sum(1, keepdims=True)),
    case("entropy along an axis from the end", lambda x, p: tf.nn.softmax_cross_entropy_with_logits(p, x, axis=-2), X,
         np.abs(X) / np.abs(X).sum(-2, keepdims=True)),
    case("sigmoid entropy", lambda x, p: tf.nn.sigmoid_cross_entropy_with_logits(p, x), X, np.abs(X)),
]


def outcome(function, arguments):
    arguments = [tf.constant(a) for a in arguments]
    with tf.GradientTape() as tape:
        tape.watch(arguments[0])
        result = function(*arguments)
        total = tf.reduce_sum(result * result)
    return result.numpy(), tf.convert_to_tensor(tape.gradient(total, arguments[0])).numpy()


# Axes that are counted from the end, or given at all, need the rank.
NEED_RANK = {"gather -1", "gather -2", "prod None", "prod 0", "prod [0, 2]", "prod -1"}


@pytest.mark.parametrize("rank", [True, False], ids=["dimensions", "ranks"])
@pytest.mark.parametrize("function,arguments", CASES)
def test_as_eagerly(function, arguments, rank, request):
    signature = [tf.TensorSpec([None] * np.ndim(a) if rank else None, a.dtype) for a in arguments]
    traced = tf.function(function, input_signature=signature)
    if not rank and request.node.callspec.id.rpartition("-")[0] in NEED_RANK:
        with pytest.raises((ValueError, tf.errors.UnimplementedError), match="not known while tracing|<unknown>"):
            outcome(traced, arguments)
        return
    got = outcome(traced, arguments)
    for mine, theirs in zip(got, outcome(function, arguments)):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("function", [tf.linalg.matrix_rank, tf.linalg.pinv, lambda x: tf.linalg.matrix_rank(x, tol=2.), lambda x: tf.linalg.pinv(x, rcond=0.3),
                                      lambda x: tf.linalg.svd(x, compute_uv=False)])
@pytest.mark.parametrize("shape", [None, [None, None], [None, 5], [4, None]])
def test_factors_of_matrices(function, shape):
    traced = tf.function(function, input_signature=[tf.TensorSpec(shape)])
    np.testing.assert_allclose(traced(X[0]), function(X[0]), rtol=2e-5, atol=2e-5)
    if shape is None:
        np.testing.assert_allclose(traced(X), function(X), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("call", [lambda x: tf.nn.softmax(x, 3), lambda x: tf.nn.softmax(x, -4), lambda x: tf.tensordot(x, x, [[3], [0]]),
                                  lambda x: tf.tensordot(x, x, [[0, 0], [0, 1]])])
def test_axes_that_are_not_there(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(call, input_signature=[tf.TensorSpec(None)])(X)


def test_a_sequence_of_labels():
    """[batch, time, classes] with a batch that is not known."""
    loss = tf.function(lambda y, x: tf.keras.losses.sparse_categorical_crossentropy(y, x, from_logits=True),
                       input_signature=[tf.TensorSpec([None, 4], tf.int32), tf.TensorSpec([None, 4, 5])])
    labels = RNG.randint(0, 5, (3, 4)).astype(np.int32)
    expected = tf.keras.losses.sparse_categorical_crossentropy(labels, X, from_logits=True)
    np.testing.assert_allclose(loss(labels, X), expected, rtol=1e-5)


def test_equality_of_shapes_that_may_not_fit():
    f = tf.function(lambda t: (t == [1.0, 2.0, 3.0], t != [1.0, 2.0, 3.0]), input_signature=[tf.TensorSpec([None])])
    assert [v.numpy().tolist() for v in f(tf.constant([1.0, 0.0, 3.0]))] == [[True, False, True], [False, True, False]]
    assert [v.numpy().tolist() for v in f(tf.constant([1.0, 2.0]))] == [False, True]


def test_static_shapes_of_pictures():
    with open(golden_file("image_shapes", "image_shapes.json")) as file:
        expected = json.load(file)
    found = image_shape_cases.run(tf)
    assert [(f, e) for f, e in zip(found, expected) if f != e] == [] and len(found) == len(expected)
