"""tf.image gives what it gives in TensorFlow (tests/golden/image_api.py); gradients of resizing by differences; damaged pictures."""
import numpy as np
import pytest
import replay
import thalweg as tf

test_expression = replay.test_of("image_api", own_setup=True)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "lanczos3", "gaussian", "mitchellcubic"])
def test_gradients(method):
    image = np.random.RandomState(1).rand(4, 5, 2).astype("float32")
    weights = np.random.RandomState(2).rand(3, 7, 2).astype("float32")
    with tf.GradientTape() as tape:
        x = tf.constant(image)
        tape.watch(x)
        total = tf.reduce_sum(tf.image.resize(x, [3, 7], method) * weights)
    gradient = tape.gradient(total, x).numpy()
    for place in [(0, 0, 0), (3, 4, 1), (2, 1, 0)]:
        unit = np.zeros_like(image)
        unit[place] = 1
        moved = float(tf.reduce_sum(tf.image.resize(unit, [3, 7], method) * weights))  # it is linear
        assert abs(moved - gradient[place]) < 1e-4


@pytest.mark.parametrize("name", ["jpeg", "png", "gif"])
def test_damage(name):
    """Whatever is cut off or turned over, a picture is decoded or refused."""
    image = (np.random.RandomState(0).rand(20, 24, 3) * 255).astype("uint8")
    data = {"jpeg": lambda: tf.io.encode_jpeg(image, progressive=True).numpy(), "png": lambda: tf.io.encode_png(image).numpy(),
            "gif": lambda: bytes.fromhex("47494638396101000100800000ff0000ffffff21f90400000000002c00000000010001000002024401003b")}[name]()
    decoded = refused = 0
    for k in range(0, len(data), max(1, len(data) // 150)):
        for bad in (data[:k], data[:k] + bytes([data[k] ^ (1 << k % 8)]) + data[k + 1:]):
            try:
                tf.io.decode_image(bad)
                decoded += 1
            except tf.errors.InvalidArgumentError:
                refused += 1
    assert refused > 20


def test_recovers():
    image = (np.random.RandomState(0).rand(32, 32, 3) * 255).astype("uint8")
    data = tf.io.encode_jpeg(image).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_jpeg(data[:-40])
    assert tf.io.decode_jpeg(data[:-40], try_recover_truncated=True).shape == (32, 32, 3)


def test_part_of_a_picture_is_enough():
    """The same lines as TensorFlow counts: a block of them, less those that smooth upscaling needs, is there or not."""
    image = np.add.outer(np.arange(64) * 3, np.arange(48))[:, :, None].repeat(3, 2).astype("uint8") + 1
    data = tf.io.encode_jpeg(image, quality=100).numpy()
    whole = tf.io.decode_jpeg(data).numpy()
    cut = data[:-40]
    for crop, rows, fraction in (None, 46, 46 / 64), ([10, 5, 40, 20], 36, 0.9), ([0, 0, 8, 8], 8, 1):
        decode = (lambda fraction, data: tf.io.decode_jpeg(data, acceptable_fraction=fraction)) if crop is None else (
            lambda fraction, data: tf.io.decode_and_crop_jpeg(data, crop, acceptable_fraction=fraction))
        expected = decode(1, data).numpy()
        expected[rows:] = 0
        assert np.array_equal(decode(fraction, cut), expected), crop
        if fraction < 1:
            with pytest.raises(tf.errors.InvalidArgumentError):
                decode(fraction + 0.01, cut)
    assert whole[50:].any()


def test_pictures_without_pixels_are_refused():
    for encode in tf.io.encode_png, tf.io.encode_jpeg:
        for shape in (0, 2, 1), (2, 0, 3), (0, 0, 3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="image must have pixels"):
                encode(tf.zeros(shape, tf.uint8))


def test_pictures_without_channels_take_no_time():
    """A size of billions of pixels, each of nothing."""
    images, size = tf.zeros([2, 1, 1, 0]), [7, 1 << 30]
    for resize in (tf.raw_ops.ResizeArea, tf.raw_ops.ResizeBilinear, tf.raw_ops.ResizeBicubic, tf.raw_ops.ResizeNearestNeighbor):
        assert resize(images=images, size=size).shape == (2, 7, 1 << 30, 0)
    assert tf.raw_ops.ScaleAndTranslate(images=images, size=size, scale=[1.0, 1.0], translation=[0.0, 0.0]).shape[2] == 1 << 30
    assert tf.image.crop_and_resize(images, [[0.0, 0.0, 1.0, 1.0]], [0], size).shape == (1, 7, 1 << 30, 0)
