"""tf.strings of characters: decoding, encoding, splitting and ngrams of tensors and ragged tensors."""
import thalweg as tf


def _is_ragged(value):
    return isinstance(value, tf.RaggedTensor)


def _decode(input, arguments, offsets):  # noqa: A002
    """Characters, and the bytes they begin at if `offsets`: of one string vectors, of several ragged."""
    if _is_ragged(input):
        parts = _decode(input.flat_values, arguments, offsets)
        return tuple(map(input.with_flat_values, parts)) if offsets else input.with_flat_values(parts)
    input = tf.convert_to_tensor(input, dtype=tf.string)  # noqa: A001
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        return _decode(tf.RaggedTensor.from_tensor(input, ragged_rank=rank - 1), arguments, offsets)
    splits, *parts = tf.strings._unicode_decode(input, *arguments)
    if rank:
        parts = [tf.RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts]
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
    ragged = _is_ragged(data)
    if not ragged:
        data = tf.convert_to_tensor(data, dtype=tf.string)
        if not data.shape.rank:
            raise ValueError("Rank of data must be known." if data.shape.rank is None else "Data must have rank>0")
        lead = tf.concat([tf.shape(data)[:-1], [-1]], 0)
        data = tf.RaggedTensor.from_tensor(tf.expand_dims(data, 0), ragged_rank=data.shape.rank)
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    if any(width < 1 for width in widths):
        raise ValueError("All ngram_widths must be greater than 0. Got %s" % (ngram_width,))
    pad = 0 if pad_values is None else -1 if padding_width is None else padding_width

    def inner(rows):
        if rows.ragged_rank > 1:
            return rows.with_values(inner(rows.values))
        values, splits = tf.strings._ngrams(rows.values, tf.cast(rows.row_splits, tf.int64), widths, separator, pads[0], pads[1], pad,
                                            preserve_short_sequences)
        return tf.RaggedTensor.from_row_splits(values, splits, validate=False)
    result = inner(data)
    return result if ragged else tf.reshape(result.flat_values, lead)


for _function in (unicode_decode, unicode_decode_with_offsets, unicode_split, unicode_split_with_offsets, unicode_encode, ngrams):
    setattr(tf.strings, _function.__name__, _function)
