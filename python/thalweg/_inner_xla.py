"""Functions of tensorflow.compiler.tf2xla.python.xla that the library's ops can do."""
import thalweg as tf


def _starts(x, sizes, start_indices):
    """Where a part begins, moved so that it lies inside, as XLA does."""
    shape = tf.shape(x)
    return tf.clip_by_value(tf.cast(tf.stack(start_indices), tf.int32), 0, shape - sizes)


def dynamic_slice(x, start_indices, size_indices):
    """A part of x of the given sizes; what would lie outside is moved inside."""
    x = tf.convert_to_tensor(x)
    sizes = tf.cast(tf.convert_to_tensor(size_indices), tf.int32)
    return tf.slice(x, _starts(x, sizes, start_indices), sizes)


def dynamic_update_slice(x, update, start_indices):
    """x with a part replaced."""
    x, update = tf.convert_to_tensor(x), tf.convert_to_tensor(update)
    sizes = tf.shape(update)
    begin = _starts(x, sizes, start_indices)
    return tf.tensor_scatter_nd_update(x, tf.reshape(_places(begin, sizes), tf.stack([-1, tf.size(begin)])), tf.reshape(update, [-1]))


def _places(begin, sizes):
    """The index of each element of a part."""
    ranges = [tf.range(begin[axis], begin[axis] + sizes[axis]) for axis in range(begin.shape[0])]
    return tf.stack(tf.meshgrid(*ranges, indexing="ij"), axis=-1)


def variadic_reduce(*args, **kwargs):
    """Reductions of several operands by a function of the program's."""
    del args, kwargs
    raise NotImplementedError("tensorflow.compiler.tf2xla.python.xla.variadic_reduce: there is no XLA; use tf.reduce_sum and the like, or tf.scan")
