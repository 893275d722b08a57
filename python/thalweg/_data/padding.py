"""padded_batch and bucket_by_sequence_length: what elements are filled up with, and to which shapes."""
import thalweg as tf
from thalweg import _core
from thalweg._data import structure


def _like(spec, given, what):
    """The members of a structure that is nested like the spec; a single one stands for all."""
    leaves = structure.flatten(spec)
    if given is not None and not structure.is_nested(given) and len(leaves) > 1 and what == "padding_values":
        return [given] * len(leaves)
    return _members(spec, given)


def _members(spec, given):
    if not structure.is_nested(spec):
        return [given]
    if not structure.is_nested(given) or len(given) != len(spec):
        raise TypeError("the padding %r is not nested like the elements: %r" % (given, spec))
    if isinstance(spec, dict):
        return [leaf for key in sorted(spec) for leaf in _members(spec[key], given[key])]
    return [leaf for s, g in zip(spec, given) for leaf in _members(s, g)]


def _shape_tensor(shape, spec):
    if _core.is_tensor(shape):
        if shape.dtype != tf.int64:
            raise TypeError("Padded shape %s must be a `tf.int64` vector tensor, but its type was %s." % (shape, shape.dtype.name))
        return shape
    if shape is None:
        dims = None
    else:
        dims = tf.TensorShape([None if d is None or d == -1 else d for d in (shape.as_list() if hasattr(shape, "as_list") else shape)])
    dims = spec.shape if dims is None else dims
    if dims.rank is None:
        raise ValueError("the padded shape of a component has unknown rank")
    if spec.shape.rank is not None:
        fits = dims.rank == spec.shape.rank and all(a is None or b is None or b <= a for a, b in zip(dims.as_list(), spec.shape.as_list()))
        if not fits:
            raise ValueError("The padded shape %s is not compatible with the shape %s of the corresponding input component." % (dims, spec.shape))
    return tf.constant([-1 if d is None else d for d in dims.as_list()], dtype=tf.int64, shape=[dims.rank])


def padding(spec, padded_shapes, padding_values):
    """The shapes and the values as lists of tensors, one per component."""
    leaves = structure.flatten(spec)
    for leaf in leaves:
        if not isinstance(leaf, tf.TensorSpec):
            raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in the input dataset "
                            "is not a subclass of TensorSpec: `%s`." % (leaf,))
    if padded_shapes is None:
        for i, leaf in enumerate(leaves):
            if leaf.shape.rank is None:
                raise ValueError("You must provide `padded_shapes` argument because component %d has unknown rank." % i)
        shapes = [_shape_tensor(None, leaf) for leaf in leaves]
    else:
        shapes = [_shape_tensor(s, leaf) for s, leaf in zip(_shapes(spec, padded_shapes), leaves)]
    values = [None] * len(leaves) if padding_values is None else _like(spec, padding_values, "padding_values")
    return shapes, [_value_tensor(v, leaf) for v, leaf in zip(values, leaves)]


def _shapes(spec, given):
    """Members of nested shapes; a shape may be a list or a tuple of numbers."""
    if not structure.is_nested(spec):
        return [[given] if isinstance(given, int) else given]
    if isinstance(spec, dict):
        return [leaf for key in sorted(spec) for leaf in _shapes(spec[key], given[key])]
    if not isinstance(given, (tuple, list)) or len(given) != len(spec):
        raise TypeError("the padded_shapes %r are not nested like the elements: %r" % (given, spec))
    return [leaf for s, g in zip(spec, given) for leaf in _shapes(s, g)]


def _value_tensor(value, spec):
    if value is None:
        return tf.constant("" if spec.dtype == tf.string else False if spec.dtype == tf.bool else 0, dtype=spec.dtype)
    value = tf.convert_to_tensor(value)
    if value.shape.rank != 0:
        raise ValueError("Padding value %s should be a scalar." % (value,))
    if value.dtype != spec.dtype:
        raise TypeError("Invalid `padding_values`. `padding_values` values type %s does not match type %s of the corresponding input component." % (
            value.dtype, spec.dtype))
    return value


def bucket(dataset, element_length_func, boundaries, batch_sizes, padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder):
    """bucket_by_sequence_length."""
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)=%d` and "
                         "`len(bucket_boundaries)=%d`." % (len(batch_sizes), len(boundaries)))
    sizes = tf.constant(batch_sizes, dtype=tf.int64)
    lowest = tf.constant([-2 ** 31] + list(boundaries), dtype=tf.int32)
    highest = tf.constant(list(boundaries) + [2 ** 31 - 1], dtype=tf.int32)

    def bucket_of(*element):
        length = tf.cast(element_length_func(*element), tf.int32)
        return tf.reduce_min(tf.where(tf.logical_and(tf.less_equal(lowest, length), tf.less(length, highest))))

    def size_of(number):
        return sizes[number]

    def batch(number, grouped):
        size = size_of(number)
        if no_padding:
            return grouped.batch(size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            last = tf.constant(len(batch_sizes) - 1, dtype=tf.int64)
            check = tf.debugging.assert_less(number, last, message="When pad_to_bucket_boundary=True, elements must have length < "
                                             "max(bucket_boundaries).")
            with tf.control_dependencies([check] if check is not None else []):
                limit = tf.constant(list(boundaries), dtype=tf.int64)[number] - 1
            filler = limit
        shapes = padded_shapes or structure.transform(lambda s: s.shape, dataset.element_spec)
        if filler is not None:
            def boundary(shape):
                dims = tf.TensorShape(shape).as_list()
                return tf.stack([filler if d is None else tf.constant(d, tf.int64) for d in dims]) if dims else tf.constant([], tf.int64)
            shapes = structure.transform(lambda s: boundary(s.shape), dataset.element_spec) if not padded_shapes else boundary(padded_shapes)
        return grouped.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)
    return dataset.group_by_window(key_func=bucket_of, reduce_func=batch, window_size_func=size_of)
