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


def test_get_file(tmp_path):
    import tarfile
    source = tmp_path / "words.txt"
    source.write_text("some words\n")
    cache = str(tmp_path / "cache")
    path = tf.keras.utils.get_file("w.txt", "file://" + str(source), cache_dir=cache)
    assert path == cache + "/datasets/w.txt" and open(path).read() == "some words\n"
    assert tf.keras.utils.get_file("w.txt", "https://example.org/w.txt", cache_dir=cache) == path  # it is there
    with pytest.raises(OSError, match="URL fetch failure on https://example.org/other.txt"):
        tf.keras.utils.get_file("other.txt", "https://example.org/other.txt", cache_dir=cache)
    with pytest.raises(ValueError, match="Incomplete or corrupted"):
        tf.keras.utils.get_file("bad.txt", "file://" + str(source), cache_dir=cache, file_hash="0" * 64)
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as f:
        f.add(source, "a/words.txt")
    path = tf.keras.utils.get_file("a", "file://" + str(archive), untar=True, cache_dir=cache)
    assert open(path + "/words.txt").read() == "some words\n"
