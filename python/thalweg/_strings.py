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


tf.strings.split, tf.strings.bytes_split = split, bytes_split
for _name in ("length", "upper", "lower", "strip", "to_number", "regex_replace", "regex_full_match", "substr", "to_hash_bucket_fast"):
    setattr(tf.strings, _name, _takes_ragged(getattr(tf.strings, _name)))
