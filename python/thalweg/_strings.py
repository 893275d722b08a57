"""tf.strings of ragged tensors: splitting gives one, and the functions of one string take one."""
import functools
import sys

import thalweg as tf

_split_one = tf.strings.split


def _is_ragged(value):
    ragged = sys.modules.get("thalweg._ragged")
    return ragged is not None and isinstance(value, ragged.RaggedTensor)


def split(input, sep=None, maxsplit=-1, name=None):  # noqa: A002
    """The parts of strings between separators, white space if none is given; ragged if there are several strings."""
    if not _is_ragged(input):
        input = tf.convert_to_tensor(input, dtype=tf.string)  # noqa: A001
        if input.shape.rank == 0:
            return _split_one(input, sep, maxsplit)
    from thalweg import _ragged
    return _ragged.split_strings(input, lambda x: tf.raw_ops.StringSplitV2(input=x, sep="" if sep is None else sep, maxsplit=maxsplit))


def bytes_split(input, name=None):  # noqa: A002
    """The bytes of strings; ragged if there are several."""
    from thalweg import _ragged
    if not _is_ragged(input):
        input = tf.convert_to_tensor(input, dtype=tf.string)  # noqa: A001
    return _ragged.split_strings(input, lambda x: tf.raw_ops.StringSplit(input=x, delimiter="", skip_empty=False))


def _takes_ragged(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        first = args[0] if args else kwargs.get("input")
        if not _is_ragged(first):
            return function(*args, **kwargs)
        from thalweg import _ragged
        return _ragged.map_flat_values(function, *args, **kwargs)
    return call


def _decode(input, arguments, offsets):  # noqa: A002
    """Characters, and the bytes they begin at if `offsets`: of one string vectors, of several ragged."""
    from thalweg import _ragged
    if _is_ragged(input):
        parts = _decode(input.flat_values, arguments, offsets)
        return tuple(map(input.with_flat_values, parts)) if offsets else input.with_flat_values(parts)
    input = tf.convert_to_tensor(input, dtype=tf.string)  # noqa: A001
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        return _decode(_ragged.RaggedTensor.from_tensor(input, ragged_rank=rank - 1), arguments, offsets)
    splits, *parts = tf.strings._unicode_decode(input, *arguments)
    if rank:
        parts = [_ragged.RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts]
    return tuple(parts) if offsets else parts[0]


def unicode_decode(input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False, name=None):  # noqa: A002
    """The characters of strings; ragged if there are several."""
    return _decode(input, (input_encoding, errors or "replace", replacement_char, replace_control_characters), False)


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, replace_control_characters=False,  # noqa: A002
                                name=None):
    """The characters of strings and the bytes they begin at; ragged if there are several."""
    return _decode(input, (input_encoding, errors or "replace", replacement_char, replace_control_characters), True)


def _encode_each(codes, *arguments):
    if _is_ragged(codes):
        return codes.with_flat_values(_encode_each(codes.flat_values, *arguments))
    return _encode_dense(tf.expand_dims(codes, -1), *arguments)


def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """The characters of strings, each a string; ragged if there are several."""
    codes = _decode(input, (input_encoding, errors, replacement_char, False), False)
    return _encode_each(codes, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """The characters of strings, each a string, and the bytes they begin at; ragged if there are several."""
    codes, offsets = _decode(input, (input_encoding, errors, replacement_char, False), True)
    return _encode_each(codes, input_encoding, errors, replacement_char), offsets


_encode_dense = tf.strings.unicode_encode


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):  # noqa: A002
    """Strings of the characters along the last dimension."""
    if not _is_ragged(input):
        return _encode_dense(input, output_encoding, errors, replacement_char)
    arguments = output_encoding, errors, replacement_char
    if input.flat_values.shape.rank > 1:
        return input.with_flat_values(_encode_dense(input.flat_values, *arguments))
    if input.ragged_rank > 1:
        return input.with_values(unicode_encode(input.values, *arguments))
    return tf.strings._unicode_encode(input.values, tf.cast(input.row_splits, tf.int64), *arguments)


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """Strings that follow each other along the last dimension, joined; those beyond the ends are `pad_values`."""
    pads = pad_values if isinstance(pad_values, (list, tuple)) else ("" if pad_values is None else pad_values,) * 2
    if not all(isinstance(pad, (str, bytes)) for pad in pads[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    from thalweg import _ragged
    ragged = _is_ragged(data)
    if not ragged:
        data = tf.convert_to_tensor(data, dtype=tf.string)
        if not data.shape.rank:
            raise ValueError("Rank of data must be known." if data.shape.rank is None else "Data must have rank>0")
        lead = tf.concat([tf.shape(data)[:-1], [-1]], 0)
        data = _ragged.RaggedTensor.from_tensor(tf.expand_dims(data, 0), ragged_rank=data.shape.rank)
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if any(width < 1 for width in widths):
        raise ValueError("All ngram_widths must be greater than 0. Got %s" % (ngram_width,))
    pad = 0 if pad_values is None else -1 if padding_width is None else padding_width

    def inner(rows):
        if rows.ragged_rank > 1:
            return rows.with_values(inner(rows.values))
        values, splits = tf.strings._ngrams(rows.values, tf.cast(rows.row_splits, tf.int64), widths, separator, pads[0], pads[1], pad,
                                            preserve_short_sequences)
        return _ragged.RaggedTensor.from_row_splits(values, splits, validate=False)
    result = inner(data)
    return result if ragged else tf.reshape(result.flat_values, lead)


_join_dense, _reduce_join_dense = tf.strings.join, tf.strings.reduce_join


def join(inputs, separator="", name=None):
    """Strings joined element by element, with a separator between them."""
    if not any(map(_is_ragged, inputs)):
        return _join_dense(inputs, separator, name)
    from thalweg import _ragged
    return _ragged.map_flat_values(lambda *parts: _join_dense(list(parts), separator), *inputs)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings joined along axes, all of them if none is named."""
    if not _is_ragged(inputs):
        return _reduce_join_dense(inputs, axis, keepdims, separator, name)
    if axis is None and not keepdims:
        return _reduce_join_dense(inputs.flat_values, None, False, separator)
    axis = axis + inputs.shape.rank if isinstance(axis, int) and axis < 0 else axis
    if isinstance(axis, int) and axis > 1:
        return inputs.with_values(reduce_join(inputs.values, axis - 1, keepdims, separator))
    if axis not in (0, 1) or _is_ragged(inputs.values):
        raise NotImplementedError("tf.strings.reduce_join of a ragged tensor along axis %s" % (axis,))
    if axis:
        joined = tf.strings.unsorted_segment_join(inputs.values, inputs.value_rowids(), inputs.nrows(), separator)
        return tf.expand_dims(joined, 1) if keepdims else joined
    columns = tf.range(tf.cast(tf.size(inputs.values), tf.int64)) - tf.gather(inputs.row_starts(), inputs.value_rowids())
    joined = tf.strings.unsorted_segment_join(inputs.values, columns, tf.reduce_max(inputs.row_lengths()), separator)
    return tf.expand_dims(joined, 0) if keepdims else joined


for _function in (join, reduce_join, split, bytes_split, unicode_decode, unicode_decode_with_offsets, unicode_split, unicode_split_with_offsets, unicode_encode, ngrams):
    setattr(tf.strings, _function.__name__, _function)
for _name in ("length", "upper", "lower", "strip", "to_number", "regex_replace", "regex_full_match", "substr", "to_hash_bucket_fast",
              "to_hash_bucket", "to_hash_bucket_strong", "unicode_transcode", "unicode_script"):
    setattr(tf.strings, _name, _takes_ragged(getattr(tf.strings, _name)))
