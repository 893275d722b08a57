"""crop_to_bounding_box and pad_to_bounding_box with tensors as offsets and sizes; shapes and messages are TensorFlow 2.15.1's."""
import itertools

import numpy as np
import pytest
import thalweg as tf

X = np.arange(40, dtype="float32").reshape(2, 4, 5, 1)
BOXES = {"crop_to_bounding_box": (1, 2, 2, 3), "pad_to_bounding_box": (1, 2, 6, 8)}


def box_of(name, x):
    """By NumPy."""
    if name == "crop_to_bounding_box":
        return x[..., 1:3, 2:5, :]
    return np.pad(x, [(0, 0)] * (x.ndim - 3) + [(1, 1), (2, 1), (0, 0)])


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
@pytest.mark.parametrize("x", [X, X[0]], ids=["batch", "single"])
@pytest.mark.parametrize("name", BOXES)
def test_values(name, x, dtype):
    function, box = getattr(tf.image, name), BOXES[name]
    for which in itertools.product((False, True), repeat=4):
        mixed = [tf.constant(n, dtype) if tensor else n for n, tensor in zip(box, which)]
        np.testing.assert_array_equal(function(x, *mixed), box_of(name, x))

        @tf.function
        def traced(x, *tensors):
            rest = iter(tensors)
            return function(x, *[next(rest) if tensor else n for n, tensor in zip(box, which)])  # noqa: B023

        given = [m for m, tensor in zip(mixed, which) if tensor]
        np.testing.assert_array_equal(traced(x, *given), box_of(name, x))
        sides = [None if tensor else n for n, tensor in zip(box, which)][2:]
        assert traced.get_concrete_function(tf.constant(x), *given).output_shapes.as_list() == [*x.shape[:-3], *sides, 1]


@pytest.mark.parametrize("name", BOXES)
def test_unknown_sides_and_gradient(name):
    function, box = getattr(tf.image, name), BOXES[name]
    traced = tf.function(lambda x, n: function(x, n, 2, *box[2:]), input_signature=[tf.TensorSpec([None, None, None, 1]), tf.TensorSpec([], tf.int32)])
    assert traced.get_concrete_function().output_shapes.as_list() == [None, *box[2:], 1]
    np.testing.assert_array_equal(traced(X, 1), box_of(name, X))
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be"):
        traced(X, 3)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(function(x, *map(tf.constant, box)) * 2.0)
    inside = np.zeros_like(X)
    inside[:, 1:3, 2:5] = 2
    np.testing.assert_array_equal(tape.gradient(total, x), inside if name[0] == "c" else np.full_like(X, 2))


@pytest.mark.parametrize("name, box, words", [
    ("crop", (-1, 0, 2, 2), "offset_height must be >= 0."), ("crop", (0, -1, 2, 2), "offset_width must be >= 0."),
    ("crop", (0, 0, 0, 2), "target_height must be > 0."), ("crop", (0, 0, 2, 0), "target_width must be > 0."),
    ("crop", (3, 0, 3, 2), "height must be >= target + offset."), ("crop", (0, 4, 2, 4), "width must be >= target + offset."),
    ("crop", (0, 0, 9, 9), "width must be >= target + offset."),
    ("pad", (-1, 0, 6, 6), "offset_height must be >= 0"), ("pad", (0, -1, 6, 6), "offset_width must be >= 0"),
    ("pad", (0, 0, 2, 6), "height must be <= target - offset"), ("pad", (1, 1, 5, 5), "width must be <= target - offset")])
def test_refused(name, box, words):
    function = getattr(tf.image, name + "_to_bounding_box")
    with pytest.raises(ValueError) as error:
        function(X, *box)
    assert str(error.value) == words
    for dtype in (tf.int32, tf.int64):
        numbers = [tf.constant(n, dtype) for n in box]
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            function(X, *numbers)
        assert error.value.message == "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'%s'" % words
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            tf.function(lambda *numbers: function(X, *numbers))(*numbers)
        assert "assertion failed: [%s]" % words in error.value.message


@pytest.mark.parametrize("name", BOXES)
def test_no_integers(name):
    function, box = getattr(tf.image, name), BOXES[name]
    for wrong in (tf.constant(1.0), tf.constant([1])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="offset_height must be an integer"):
            function(X, wrong, *box[1:])
    with pytest.raises(tf.errors.InvalidArgumentError):  # more than int32 holds does not become less
        function(X, tf.constant(2 ** 32 + 1, tf.int64), *box[1:])
