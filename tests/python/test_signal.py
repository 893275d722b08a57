"""tf.signal beyond what api_values has: transforms over any axes, which TensorFlow 2.15 has no kernels for, and the old names, by NumPy's; long
lines; gradients where the input is cut; what must be known while a function is traced."""
import numpy as np
import pytest
import thalweg as tf

RANDOM = np.random.RandomState(3)


def both(*shape):
    return RANDOM.uniform(-1, 1, shape) + 1j * RANDOM.uniform(-1, 1, shape)


@pytest.mark.parametrize("axes", [None, [0], [2, 0], [-1, 1], [0, 1, 2]])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_any_axes(axes, norm):
    x = both(3, 4, 5)
    for ours, theirs in ((tf.signal.fftnd, np.fft.fftn), (tf.signal.ifftnd, np.fft.ifftn)):
        np.testing.assert_allclose(ours(tf.constant(x, tf.complex128), axes=axes, norm=norm), theirs(x, axes=axes, norm=norm), atol=1e-12)
    real, half = x.real.astype("float32"), both(3, 4, 5).astype("complex64")
    np.testing.assert_allclose(tf.signal.rfftnd(real, axes=axes, norm=norm), np.fft.rfftn(real, axes=axes, norm=norm), atol=2e-5)
    np.testing.assert_allclose(tf.signal.irfftnd(half, axes=axes, norm=norm), np.fft.irfftn(half, axes=axes, norm=norm), atol=2e-5)


@pytest.mark.parametrize("lengths", [[2, 7], [5, 3], [4, 5]])
def test_lengths(lengths):
    x = both(3, 4, 5)
    for op, theirs in ((tf.raw_ops.FFTND, np.fft.fftn), (tf.raw_ops.IFFTND, np.fft.ifftn), (tf.raw_ops.IRFFTND, np.fft.irfftn)):
        got = op(input=x.astype("complex64"), fft_length=lengths, axes=[1, 2])
        np.testing.assert_allclose(got, theirs(x, lengths, [1, 2]), atol=1e-5)
    got = tf.raw_ops.RFFTND(input=x.real.astype("float32"), fft_length=lengths, axes=[1, 2])
    np.testing.assert_allclose(got, np.fft.rfftn(x.real, lengths, [1, 2]), atol=1e-5)


@pytest.mark.parametrize("axes, lengths", [([0, 0], [3, 3]), ([3], [4]), ([0], [3, 4]), ([0], [-1])])
def test_wrong_axes(axes, lengths):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.FFTND(input=tf.zeros([3, 4], tf.complex64), fft_length=lengths, axes=axes)


@pytest.mark.parametrize("n", [1000, 1009, 4096, 4099, 6007 * 2, 3 ** 8])
def test_long_lines(n):
    x = both(n)
    np.testing.assert_allclose(tf.signal.fft(tf.constant(x, tf.complex128)), np.fft.fft(x), atol=1e-10)
    np.testing.assert_allclose(tf.signal.rfft(tf.constant(x.real)), np.fft.rfft(x.real), atol=1e-10)
    np.testing.assert_allclose(tf.signal.irfft(tf.constant(np.fft.rfft(x.real)), [n]), x.real, atol=1e-10)


def test_lines_are_their_own():
    """What is no number in one line is nothing to the others."""
    x = np.ones([5, 6], "float32")
    x[2, 3] = np.nan
    assert np.isfinite(np.delete(tf.signal.rfft(x).numpy(), 2, 0)).all() and np.isnan(tf.signal.rfft(x).numpy()[2]).all()


@pytest.mark.parametrize("lengths", [[5], [8], [11]])
def test_gradients_of_cut_lines(lengths):
    """TensorFlow fails where the input is longer than the transform."""
    x, weights = RANDOM.uniform(-1, 1, (2, 8)), both(2, lengths[0] // 2 + 1)
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        total = tf.reduce_sum(tf.math.real(tf.signal.rfft(given, lengths) * weights))
    gradient = tape.gradient(total, given).numpy()
    for place in np.ndindex(2, 8):
        moved = np.zeros_like(x)
        moved[place] = 1
        assert abs(np.sum((np.fft.rfft(moved, lengths[0]) * weights).real) - gradient[place]) < 1e-10


def test_derivatives_of_derivatives():
    x = tf.constant(RANDOM.uniform(-1, 1, 6))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            power = tf.reduce_sum(tf.abs(tf.signal.rfft(x)) ** 4)
        first = inner.gradient(power, x)
    second = outer.gradient(first, x)
    assert second.shape == x.shape and np.isfinite(second).all()


def test_unknown_lengths_while_tracing():
    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def stft(n):
        return tf.signal.stft(tf.zeros([20]), n, 2)
    with pytest.raises(NotImplementedError, match="frame_length must be known"):
        stft(4)
