"""keras.utils: labels by number. The values and messages are TensorFlow 2.15.1's."""
import numpy as np
import pytest

import thalweg as tf


@pytest.mark.parametrize("labels, classes, expected", [
    ([0, 2], None, [[1, 0, 0], [0, 0, 1]]),
    ([[0], [1]], 3, [[1, 0, 0], [0, 1, 0]]),
    ([-1], 3, [[0, 0, 1]]),
    ([0.7, 1.2], 3, [[1, 0, 0], [0, 1, 0]]),
    (1, 3, [0, 1, 0]),
    (np.zeros((2, 3), int), None, np.ones((2, 3, 1))),
    ([], 3, np.zeros((0, 3))),
])
def test_to_categorical(labels, classes, expected):
    rows = tf.keras.utils.to_categorical(labels, classes)
    assert isinstance(rows, np.ndarray) and rows.dtype == np.float32
    assert rows.shape == np.shape(expected) and np.array_equal(rows, expected)
    assert tf.keras.utils.to_categorical(labels, num_classes=classes, dtype="int32").dtype == np.int32


def test_to_categorical_refuses():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 3"):
        tf.keras.utils.to_categorical([5], 3)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        tf.keras.utils.to_categorical([])
    with pytest.raises(ValueError, match="num_classes is -3"):
        tf.keras.utils.to_categorical([1], -3)
    with pytest.raises(ValueError, match="below 2"):
        tf.keras.utils.to_categorical([2 ** 40])

    @tf.function
    def traced(y):
        return tf.keras.utils.to_categorical(y, 3)

    with pytest.raises(ValueError, match="symbolic"):
        traced(tf.constant([1]))
