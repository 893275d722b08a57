"""bucket_by_sequence_length."""
import thalweg as tf
from thalweg._data import structure


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
