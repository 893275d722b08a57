"""tf.signal: the functions that call a function of the program's for their window; the rest are rows (src/api/signal)."""
import thalweg as tf

_rows = tf.signal


def _window(window_fn, length, dtype):
    """The window of that length, or None."""
    return None if window_fn is None else window_fn(length, dtype=dtype)


def _number(value, name):
    """An integer that a tensor may hold."""
    value = tf.convert_to_tensor(value) if not isinstance(value, int) else value
    if not isinstance(value, int) and value.shape.rank:
        raise ValueError("Shape %s must have rank 0" % (value.shape,))
    known = value if isinstance(value, int) else tf.get_static_value(value)
    if known is None:
        raise NotImplementedError("%s must be known while a function is traced, got %s" % (name, value))
    if int(known) != known:
        raise ValueError("%s must be an integer. Got %s" % (name, known))
    return int(known)


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=tf.signal.hann_window, pad_end=False, name=None):
    """The Fourier transforms of frames of signals, each times a window."""
    signals, length = tf.convert_to_tensor(signals), _number(frame_length, "frame_length")
    fft_length = None if fft_length is None else _number(fft_length, "fft_length")
    return _rows._stft(signals, length, _number(frame_step, "frame_step"), fft_length, _window(window_fn, length, signals.dtype), pad_end, name)


def inverse_stft_window_fn(frame_step, forward_window_fn=tf.signal.hann_window, name=None):
    """A window function that makes inverse_stft the inverse of stft with another window function."""
    del name

    def inverse_stft_window_fn_inner(frame_length, dtype):
        length = _number(frame_length, "frame_length")
        return _rows._inverse_window(forward_window_fn(length, dtype=dtype), _number(frame_step, "frame_step"))
    return inverse_stft_window_fn_inner


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=tf.signal.hann_window, name=None):
    """The signals that frames with these Fourier transforms make together."""
    stfts, length = tf.convert_to_tensor(stfts), _number(frame_length, "frame_length")
    fft_length = None if fft_length is None else _number(fft_length, "fft_length")
    return _rows._inverse_stft(stfts, length, _number(frame_step, "frame_step"), fft_length, _window(window_fn, length, stfts.dtype.real_dtype), name)


def mdct(signals, frame_length, window_fn=tf.signal.vorbis_window, pad_end=False, norm=None, name=None):
    """The modified cosine transforms of frames that overlap by half."""
    signals, length = tf.convert_to_tensor(signals), _number(frame_length, "frame_length")
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    return _rows._mdct(signals, length, _window(window_fn, length, signals.dtype), pad_end, norm, name)


def inverse_mdct(mdcts, window_fn=tf.signal.vorbis_window, norm=None, name=None):
    """The signals that have these modified cosine transforms."""
    mdcts = tf.convert_to_tensor(mdcts)
    known = mdcts.shape[-1] if mdcts.shape.rank else None
    window = None if known is None else _window(window_fn, 2 * known, mdcts.dtype)
    return _rows._inverse_mdct(mdcts, window, norm, name)
