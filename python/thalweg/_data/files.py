"""Datasets of files: lines, records, pieces, and comma-separated values."""
import thalweg as tf
from thalweg import _core


def _names(filenames):
    """A vector of file names; None: they are a dataset."""
    if isinstance(filenames, tf.data.Dataset):
        if filenames.element_spec.dtype != tf.string:
            raise TypeError("The `filenames` argument must contain `tf.string` elements. Got a dataset of `%s` elements." %
                            (filenames.element_spec.dtype,))
        return None
    if isinstance(filenames, (list, tuple)):
        filenames = [f if _core.is_tensor(f) or isinstance(f, (str, bytes)) else str(f) for f in filenames]
    elif hasattr(filenames, "__fspath__"):
        filenames = filenames.__fspath__()
    names = tf.convert_to_tensor(filenames, dtype_hint=tf.string)
    if names.dtype != tf.string:
        raise TypeError("The `filenames` argument must contain `tf.string` elements. Got `%s` elements." % names.dtype)
    return tf.reshape(names, [-1])


class _Files(type(tf.data.Dataset)):
    """So that isinstance(dataset, tf.data.TFRecordDataset) works: the class stands before the type that the row made."""

    def __instancecheck__(cls, value):
        return isinstance(value, getattr(tf.data, cls._row))


def _make(filenames, num_parallel_reads, row, *args):
    names = _names(filenames)
    if names is not None and num_parallel_reads is None:
        return row(names, *args)
    source = filenames if names is None else tf.data.Dataset.from_tensor_slices(names)
    if num_parallel_reads is None:
        return source.flat_map(lambda name: row(tf.reshape(name, [-1]), *args))
    cycle = num_parallel_reads if _core.is_tensor(num_parallel_reads) or num_parallel_reads > 0 else 10
    return source.interleave(lambda name: row(tf.reshape(name, [-1]), *args), cycle_length=cycle, num_parallel_calls=num_parallel_reads)


class TextLineDataset(tf.data.Dataset, metaclass=_Files):
    """The lines of text files."""

    _row = "TextLineDatasetV2"

    def __new__(cls, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        return _make(filenames, num_parallel_reads, getattr(tf.data, cls._row), compression_type, 262144 if buffer_size is None else buffer_size)


class TFRecordDataset(tf.data.Dataset, metaclass=_Files):
    """The records of TFRecord files."""

    _row, __new__ = "TFRecordDatasetV2", TextLineDataset.__new__


class FixedLengthRecordDataset(tf.data.Dataset, metaclass=_Files):
    """Pieces of a fixed length of files."""

    _row = "FixedLengthRecordDatasetV2"

    def __new__(cls, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
                num_parallel_reads=None, name=None):
        return _make(filenames, num_parallel_reads, tf.data.FixedLengthRecordDatasetV2, record_bytes, header_bytes or 0, footer_bytes or 0,
                     262144 if buffer_size is None else buffer_size, compression_type)


# ---- comma-separated values ----

_FIELDS = (tf.float32, tf.float64, tf.int32, tf.int64, tf.string)


def _defaults(values):
    """Defaults as vectors; a dtype stands for a required field."""
    out = []
    for value in values:
        if isinstance(value, type(tf.int32)):
            if value not in _FIELDS:
                raise TypeError("a field of dtype %s" % value)
            out.append(tf.constant([], dtype=value))
        else:
            out.append(tf.reshape(value if _core.is_tensor(value) else tf.convert_to_tensor(value), [-1]))
    return out


class CsvDataset(tf.data.Dataset, metaclass=_Files):
    """The records of files of comma-separated values."""

    _row = "CsvDatasetV2"

    def __new__(cls, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",", use_quote_delim=True,
                na_value="", select_cols=None, exclude_cols=None):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be empty")
        defaults = _defaults(record_defaults)
        return tf.data.CsvDatasetV2(_names(filenames), defaults, compression_type, 4 << 20 if buffer_size is None else buffer_size, header,
                                    field_delim, use_quote_delim, na_value, select_cols, exclude_cols)
