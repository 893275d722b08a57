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


class _Files(type):
    """So that isinstance(dataset, tf.data.TFRecordDataset) works: the class stands before the type that the row made."""

    def __instancecheck__(cls, value):
        return isinstance(value, getattr(tf.data, cls._row))


def _make(row, filenames, make, num_parallel_reads):
    names = _names(filenames)
    if names is not None and num_parallel_reads is None:
        return make(names)
    source = filenames if names is None else tf.data.Dataset.from_tensor_slices(names)
    if num_parallel_reads is None:
        return source.flat_map(lambda name: make(tf.reshape(name, [-1])))
    cycle = num_parallel_reads if _core.is_tensor(num_parallel_reads) or num_parallel_reads > 0 else 10
    return source.interleave(lambda name: make(tf.reshape(name, [-1])), cycle_length=cycle, num_parallel_calls=num_parallel_reads)


class TextLineDataset(metaclass=_Files):
    """The lines of text files."""

    _row = "TextLineDatasetV2"

    def __new__(cls, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        def make(names):
            return tf.data.TextLineDatasetV2(names, compression_type, 262144 if buffer_size is None else buffer_size)
        return _make(cls._row, filenames, make, num_parallel_reads)


class TFRecordDataset(metaclass=_Files):
    """The records of TFRecord files."""

    _row = "TFRecordDatasetV2"

    def __new__(cls, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        def make(names):
            return tf.data.TFRecordDatasetV2(names, compression_type, 262144 if buffer_size is None else buffer_size)
        return _make(cls._row, filenames, make, num_parallel_reads)


class FixedLengthRecordDataset(metaclass=_Files):
    """Pieces of a fixed length of files."""

    _row = "FixedLengthRecordDatasetV2"

    def __new__(cls, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
                num_parallel_reads=None, name=None):
        def make(names):
            return tf.data.FixedLengthRecordDatasetV2(names, record_bytes, header_bytes or 0, footer_bytes or 0,
                                                      262144 if buffer_size is None else buffer_size, compression_type)
        return _make(cls._row, filenames, make, num_parallel_reads)


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
        elif _core.is_tensor(value):
            out.append(tf.reshape(value, [-1]))
        else:
            tensor = tf.convert_to_tensor(value)
            out.append(tf.reshape(tensor, [-1]))
    return out


class CsvDataset(metaclass=_Files):
    """The records of files of comma-separated values."""

    _row = "CsvDatasetV2"

    def __new__(cls, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",", use_quote_delim=True,
                na_value="", select_cols=None, exclude_cols=None):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be empty")
        defaults = _defaults(record_defaults)
        return tf.data.CsvDatasetV2(_names(filenames), defaults, compression_type, 4 << 20 if buffer_size is None else buffer_size, header,
                                    field_delim, use_quote_delim, na_value, select_cols, exclude_cols)


def _rows_of(path, compression_type, header, field_delim, use_quote_delim):
    """The records of a file as lists of strings, for looking at it."""
    import csv
    import gzip
    import zlib
    if compression_type:
        with open(path, "rb") as file:
            data = file.read()
        text = (gzip.decompress(data) if compression_type == "GZIP" else zlib.decompress(data)).decode()
        lines = text.splitlines(keepends=True)
    else:
        lines = open(path, newline="")
    reader = csv.reader(lines, delimiter=field_delim, quoting=csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE)
    if header:
        next(reader)
    yield from reader
    if not compression_type:
        lines.close()


def _number_type(text, na_value, before):
    """The narrowest dtype of those behind `before` that the text has."""
    if text in ("", na_value):
        return before
    order = [tf.int32, tf.int64, tf.float32, tf.float64, tf.string]
    for dtype in order[order.index(before) if before is not None else 0:]:
        try:
            if dtype == tf.string:
                return dtype
            if dtype in (tf.int32, tf.int64):
                value = int(text)
                if abs(value) < 1 << (31 if dtype == tf.int32 else 63):
                    return dtype
            elif abs(float(text)) < 3.4e38 or dtype == tf.float64:
                return dtype
        except ValueError:
            continue
    return tf.string


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None, field_delim=",",
                     use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100, compression_type=None,
                     ignore_errors=False, encoding="utf-8"):
    """Batches of columns of comma-separated values, as dicts, with a label if one is named."""
    import collections
    import itertools
    if num_parallel_reads is None:
        num_parallel_reads = 1
    patterns = [file_pattern] if isinstance(file_pattern, (str, bytes)) or hasattr(file_pattern, "__fspath__") else list(file_pattern)
    names = tf.io.gfile.glob([p if isinstance(p, (str, bytes)) else str(p) for p in patterns])
    if not names:
        raise ValueError("No files match %s" % (file_pattern,))
    names = sorted(n.decode() if isinstance(n, bytes) else n for n in names)

    def rows_of(name, skip):
        return _rows_of(name, compression_type, skip, field_delim, use_quote_delim)
    if column_names is None or header:
        first = next(rows_of(names[0], False))
        for name in names[1:] if header and column_names is None else ():
            if next(rows_of(name, False)) != first:
                raise ValueError("All input CSV files should have the same column names in the header row. File %s has different column names." % name)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or a header that has them")
        column_names = first
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    if select_columns is not None:
        columns = sorted(column_names.index(c) if isinstance(c, str) else c for c in select_columns)
        if len(set(columns)) != len(columns):
            raise ValueError("`select_columns` names a column twice")
    else:
        columns = list(range(len(column_names)))
    if column_defaults is not None:
        defaults = [d if isinstance(d, type(tf.int32)) or _core.is_tensor(d) else tf.reshape(tf.convert_to_tensor(d), [-1]) for d in column_defaults]
        if len(columns) != len(defaults):
            raise ValueError("If specified, `column_defaults` and `select_columns` must have the same length: %d vs. %d" % (
                len(defaults), len(columns)))
    else:
        found = [None] * len(columns)
        for row in itertools.islice(itertools.chain.from_iterable(rows_of(n, header) for n in names), num_rows_for_inference):
            if len(row) != len(column_names):
                raise ValueError("Problem inferring types: CSV row has different number of fields than expected: %r" % (row,))
            for i, column in enumerate(columns):
                found[i] = _number_type(row[column], na_value, found[i])
        defaults = [tf.constant([""] if f is None or f == tf.string else [0], dtype=f or tf.string) for f in found]
    picked = [column_names[c] for c in columns]
    if label_name is not None and label_name not in picked:
        raise ValueError("`label_name` provided must be one of the columns: %r not in %s" % (label_name, picked))

    def records(name):
        made = CsvDataset(name, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value,
                          None if select_columns is None else columns)
        return made.ignore_errors() if ignore_errors else made

    def as_dict(*values):
        features = collections.OrderedDict(zip(picked, values))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label
    as_dict.autograph_do_not_convert = True
    dataset = tf.data.Dataset.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    dataset = dataset.interleave(records, cycle_length=num_parallel_reads)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    return dataset.map(as_dict).prefetch(tf.data.AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
