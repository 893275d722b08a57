"""Op cases of Fourier transforms and of sounds: writes tests/golden/op_cases/signal.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("signal")
r = np.random.RandomState(5)
f32, f64, c64, c128 = np.float32, np.float64, np.complex64, np.complex128


def real(*shape):
    return np.round(r.uniform(-2, 2, shape), 2)


def both(*shape):
    return real(*shape) + 1j * real(*shape)


for n in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 30, 34, 49, 64, 97, 121):
    c.add("FFT", input=both(n).astype(c128), tolerance=1e-11)
    c.add("IFFT", input=both(n).astype(c64), tolerance=1e-5)
    c.add("RFFT", input=real(n), fft_length=np.int32([n]), Tcomplex=tf.complex128, tolerance=1e-11)
    c.add("IRFFT", input=both(n // 2 + 1).astype(c64), fft_length=np.int32([n]), tolerance=1e-5)
for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
    shape = (2, 3, 4, 5)[-1 - rank:]
    c.add("FFT" + suffix, input=both(*shape).astype(c64), gradient=True, tolerance=2e-5)
    c.add("FFT" + suffix, input=both(*shape[-rank:]).astype(c128), gradient=True)
    c.add("IFFT" + suffix, input=both(*shape).astype(c128), gradient=True)
    c.add("IFFT" + suffix, input=both(*shape).astype(c64), gradient=True, tolerance=2e-5)
    for lengths in ((3, 4, 5), (2, 3, 4), (3, 2, 1), (1, 1, 3)):
        length = np.int32(lengths[-rank:])
        c.add("RFFT" + suffix, input=real(*shape).astype(f32), fft_length=length, gradient=lengths == (3, 4, 5) and rank < 3, tolerance=2e-5)
        c.add("RFFT" + suffix, input=real(*shape), fft_length=length, Tcomplex=tf.complex128, gradient=lengths == (3, 4, 5) and rank < 3)
        c.add("IRFFT" + suffix, input=both(*shape).astype(c64), fft_length=length, tolerance=2e-5)
        exact = shape[:-1] + (lengths[-1] // 2 + 1,)
        if lengths[0] == 3 and lengths[1] == 4:
            c.add("IRFFT" + suffix, input=both(*exact).astype(c64), fft_length=length, gradient=rank < 3, tolerance=2e-5)
    BAD = "InvalidArgumentError"
    c.error("FFT" + suffix, BAD, "Input must have rank of at least %d but got" % rank, input=both(*shape[:rank - 1]).astype(c64))
    c.error("RFFT" + suffix, BAD, "fft_length must have shape [%d]" % rank, input=real(*shape).astype(f32), fft_length=np.int32([3] * (rank + 1)))
    c.error("RFFT" + suffix, BAD, "must have length of at least 9 but got: 5", input=real(*shape).astype(f32), fft_length=np.int32([3, 4, 9][-rank:]))
    c.error("IRFFT" + suffix, BAD, "must have length of at least 6 but got: 5", input=both(*shape).astype(c64), fft_length=np.int32([3, 4, 11][-rank:]))
c.add("FFT", input=np.zeros([0, 4], c64))
c.add("FFT", input=np.zeros([3, 0], c64))
c.add("RFFT", input=np.zeros([2, 0], f32), fft_length=np.int32([0]))
sound = np.round(np.sin(np.arange(60) * 0.7)[:, None] * [1, 0.3], 3).astype(f32)
for window, stride, squared in ((8, 4, False), (8, 4, True), (10, 3, True), (16, 16, False), (5, 9, True), (60, 1, False), (64, 1, True)):
    c.add("AudioSpectrogram", input=sound, window_size=window, stride=stride, magnitude_squared=squared, tolerance=2e-5)
for size, stride in ((1, 4), (8, 0)):
    c.error("AudioSpectrogram", BAD, "Spectrogram initialization failed for window size %d and stride %d" % (size, stride), input=sound, window_size=size, stride=stride)
c.error("AudioSpectrogram", BAD, "input must be 2-dimensional", input=sound[0], window_size=8, stride=4)
spectrum = np.round(r.uniform(0, 9, (2, 3, 129)), 2).astype(f32)
c.add("Mfcc", spectrogram=spectrum, sample_rate=np.int32(8000), tolerance=2e-5)
c.add("Mfcc", spectrogram=spectrum, sample_rate=np.int32(16000), upper_frequency_limit=7000.0, lower_frequency_limit=100.0, filterbank_channel_count=20,
      dct_coefficient_count=20, tolerance=2e-5)
c.add("Mfcc", spectrogram=spectrum * 0, sample_rate=np.int32(8000), dct_coefficient_count=4, tolerance=2e-5)
c.error("Mfcc", BAD, "Mfcc initialization failed for channel count 129, sample rate -8 and filterbank_channel_count 40", spectrogram=spectrum, sample_rate=np.int32(-8))
c.error("Mfcc", BAD, "spectrogram must be 3-dimensional", spectrogram=spectrum[0], sample_rate=np.int32(8000))
c.write()
