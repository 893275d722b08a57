"""load_img, save_img, img_to_array, array_to_img, smart_resize. Pictures are Pillow's where Pillow is installed (Debian: python3-pil); else they are
of the class Image here, which has the usual methods of Pillow's and the same pixels. What is computed, is computed by C (src/keras/pictures)."""
import io
import os
import warnings

import numpy as np

import thalweg as tf

_MODES = {"L": "grayscale", "RGB": "rgb", "RGBA": "rgba"}
_METHODS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}  # Pillow's numbers
_TURNS = {0: lambda x: x[:, ::-1], 1: lambda x: x[::-1], 2: lambda x: np.rot90(x), 3: lambda x: np.rot90(x, 2), 4: lambda x: np.rot90(x, 3),
          5: lambda x: x.swapaxes(0, 1), 6: lambda x: np.rot90(x, 2).swapaxes(0, 1)}


def _pillow():
    """Pillow's module of pictures, or None."""
    try:
        from PIL import Image as found
    except ImportError:
        return None
    return found


class Image:
    """A picture where Pillow is not installed: the usual methods of Pillow's, with its pixels."""

    def __init__(self, pixels, mode, format=None):
        self._pixels, self.mode, self.format, self.info = np.ascontiguousarray(pixels), mode, format, {}

    @property
    def size(self):
        """(width, height)."""
        return self._pixels.shape[1], self._pixels.shape[0]

    width, height = property(lambda self: self.size[0]), property(lambda self: self.size[1])

    @property
    def __array_interface__(self):
        pixels = self._pixels[..., 0] if self._pixels.shape[2] == 1 else self._pixels
        return {"shape": pixels.shape, "typestr": pixels.dtype.str, "version": 3, "data": pixels.tobytes()}

    def _other(self, pixels):
        return Image(pixels, self.mode)

    def _bytes_only(self, what):
        if self.mode not in _MODES:
            raise ValueError("%s of a picture of mode %r needs Pillow (Debian: python3-pil)" % (what, self.mode))

    def getbands(self):
        """The names of the channels."""
        return tuple(self.mode)

    def tobytes(self):
        """The pixels, line by line."""
        return self._pixels.tobytes()

    def copy(self):
        """Another picture of the same pixels."""
        return Image(self._pixels.copy(), self.mode)

    def load(self):
        """Nothing: the pixels are there."""

    close = load

    def __enter__(self):
        return self

    def __exit__(self, *error):
        del error

    def __eq__(self, other):
        return isinstance(other, Image) and self.mode == other.mode and np.array_equal(self._pixels, other._pixels)

    __hash__ = None

    def __repr__(self):
        return "<thalweg.Image mode=%s size=%dx%d at 0x%X>" % (self.mode, *self.size, id(self))

    def convert(self, mode=None):
        """The picture in the mode L, RGB or RGBA."""
        if mode in (None, self.mode):
            return self.copy()
        self._bytes_only("convert")
        if mode not in _MODES:
            raise ValueError("conversion from %s to %s needs Pillow (Debian: python3-pil)" % (self.mode, mode))
        return Image(tf.keras.utils._picture_convert(self._pixels, _MODES[mode]).numpy(), mode)

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        """The picture, or the part of it that `box` tells, at another size (width, height)."""
        if reducing_gap is not None:
            raise NotImplementedError("resize: reducing_gap needs Pillow (Debian: python3-pil)")
        self._bytes_only("resize")
        method = _METHODS.get(3 if resample is None else int(resample))
        if method is None:
            raise ValueError("Unknown resampling filter (%s)." % (resample,))
        width, height = (int(n) for n in size)
        return self._other(tf.keras.utils._picture_resize(self._pixels, height, width, method, None if box is None else [float(n) for n in box]).numpy())

    def thumbnail(self, size, resample=3, reducing_gap=None):
        """Makes the picture at most so large, in place."""
        del reducing_gap  # which makes it faster, less exact
        wide, high = self.size
        scale = min(size[0] / wide, size[1] / high, 1)
        if scale < 1:
            self._pixels = self.resize((max(round(wide * scale), 1), max(round(high * scale), 1)), resample)._pixels

    def crop(self, box=None):
        """The part between left, top, right and bottom; what lies outside of the picture is 0."""
        left, top, right, bottom = (int(round(n)) for n in box or (0, 0, *self.size))
        if right < left or bottom < top:
            raise ValueError("Coordinate '%s' is less than '%s'" % (("right", "left") if right < left else ("lower", "upper")))
        pixels = np.zeros((bottom - top, right - left, self._pixels.shape[2]), self._pixels.dtype)
        part = self._pixels[max(top, 0):max(bottom, 0), max(left, 0):max(right, 0)]
        pixels[max(-top, 0):max(-top, 0) + part.shape[0], max(-left, 0):max(-left, 0) + part.shape[1]] = part
        return self._other(pixels)

    def transpose(self, method):
        """The picture turned or mirrored, by Pillow's numbers."""
        return self._other(_TURNS[int(method)](self._pixels))

    def getpixel(self, xy):
        """The color at (x, y)."""
        color = self._pixels[xy[1], xy[0]].tolist()
        return color[0] if len(color) == 1 else tuple(color)

    def _encoded(self, kind, quality):
        if kind == "PNG":
            return tf.io.encode_png(self._pixels if self.mode in _MODES else self._pixels.clip(0, 65535).astype(np.uint16)).numpy()
        if self.mode not in ("L", "RGB"):
            raise OSError("cannot write mode %s as JPEG" % self.mode)
        return tf.io.encode_jpeg(self._pixels, quality=quality).numpy()

    def save(self, fp, format=None, quality=75, **params):
        """Writes PNG or JPEG to a path or a file."""
        if params:
            raise NotImplementedError("save: %s needs Pillow (Debian: python3-pil)" % sorted(params))
        to_path = isinstance(fp, (str, bytes, os.PathLike))
        ending = os.path.splitext(os.fsdecode(fp))[1].lower() if to_path else ""
        kind = {"JPG": "JPEG"}.get(*[(format or ending[1:]).upper()] * 2)
        if not kind:
            raise ValueError("unknown file extension: %s" % ending)
        if kind not in ("PNG", "JPEG"):
            raise ValueError("pictures are written as PNG and JPEG; %s needs Pillow (Debian: python3-pil)" % kind)
        data = self._encoded(kind, quality)
        if not to_path:
            fp.write(data)
            return
        with open(fp, "wb") as file:
            file.write(data)

    def _repr_png_(self):
        return self._encoded("PNG", None)


def _data_format(given, words):
    given = tf.keras.backend.image_data_format() if given is None else given
    if given not in ("channels_first", "channels_last"):
        raise ValueError("%s: %s" % (words, given))
    return given


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """The picture of an array with 1, 3 or 4 channels."""
    data_format = tf.keras.backend.image_data_format() if data_format is None else data_format
    x = np.asarray(x, dtype=dtype or tf.keras.backend.floatx())
    if x.ndim != 3:
        raise ValueError("Expected image array to have rank 3 (single image). Got array with shape: %s" % (x.shape,))
    channels = x.shape[0 if _data_format(data_format, "Invalid data_format") == "channels_first" else 2]
    if channels not in (1, 3, 4):
        raise ValueError("Unsupported channel number: %s" % channels)
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    pixels = tf.keras.utils._picture_of_array(x, data_format, bool(scale)).numpy()
    mode = "I" if pixels.dtype == np.int32 else {1: "L", 3: "RGB", 4: "RGBA"}[channels]
    pillow = _pillow()
    if pillow:
        return pillow.fromarray(pixels[..., 0] if channels == 1 else pixels)
    return Image(pixels, mode)


def img_to_array(img, data_format=None, dtype=None):
    """The array of a picture, with its channels last or first."""
    data_format = _data_format(data_format, "Unknown data_format")
    x = np.asarray(img, dtype=dtype or tf.keras.backend.floatx())
    if x.ndim not in (2, 3):
        raise ValueError("Unsupported image shape: %s" % (x.shape,))
    x = x[..., np.newaxis] if x.ndim == 2 else x
    return x.transpose(2, 0, 1) if data_format == "channels_first" else x


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes the picture of an array to a path or a file."""
    img = array_to_img(x, data_format=data_format, scale=scale)
    if img.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.")
        img = img.convert("RGB")
    img.save(path, format=file_format, **kwargs)


def _opened(path):
    if isinstance(path, io.BytesIO):
        return path.read()
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError("path should be path-like or io.BytesIO, not %s" % type(path))
    with open(path, "rb") as file:
        return file.read()


def _middle(size, wanted):
    """The part of a picture in its middle that has the ratio of the wanted sides."""
    (width, height), (wide, high) = size, wanted
    high, wide = min(height, width * high // wide), min(width, height * wide // high)
    left, top = (width - wide) // 2, (height - high) // 2
    return left, top, left + wide, top + high


def load_img(path, grayscale=False, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """The picture of a file."""
    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"')
        color_mode = "grayscale"
    data, pillow = _opened(path), _pillow()
    mode = {"grayscale": "L", "rgba": "RGBA", "rgb": "RGB"}.get(color_mode)
    if mode is None:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    if pillow:
        img = pillow.open(io.BytesIO(data))
        if img.mode != mode and not (mode == "L" and img.mode in ("I;16", "I")):
            img = img.convert(mode)
    else:
        img = Image(tf.keras.utils._picture_decode(data, color_mode).numpy(), mode)
    if target_size is None or img.size == (target_size[1], target_size[0]):
        return img
    numbers = {name: number for number, name in _METHODS.items()}
    if interpolation not in numbers:
        raise ValueError("Invalid interpolation method %s specified. Supported methods are nearest, bilinear, bicubic, hamming, box, lanczos"
                         % interpolation)
    size = target_size[1], target_size[0]
    box = _middle(img.size, size) if keep_aspect_ratio else None
    return img.resize(size, numbers[interpolation], box=box)


def smart_resize(x, size, interpolation="bilinear"):
    """Images at another size; the largest part in the middle that has the ratio of its sides."""
    if len(size) != 2:
        raise ValueError("Expected `size` to be a tuple of 2 integers, but got: %s." % (size,))
    made = tf.keras.preprocessing.image._smart_resize(x, size, interpolation)
    return made.numpy() if isinstance(x, np.ndarray) else made
