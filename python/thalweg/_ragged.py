"""What of ragged and sparse tensors needs Python: NumPy's arrays of rows, and functions of flat values. Loaded when first asked for."""
import thalweg as tf
from thalweg import _core


def numpy_of(ragged):
    """The rows as an array; of objects if their lengths differ."""
    import numpy
    if _core.is_symbolic(ragged.row_splits):
        raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
    values = ragged.values.numpy()
    rows = numpy.split(values, ragged.row_splits.numpy()[1:-1])
    if ragged.row_splits.shape[0] < 2:
        return numpy.array([], dtype=values.dtype)
    if all(len(row) == len(rows[0]) for row in rows):
        return numpy.array(rows)
    out = numpy.empty(len(rows), object)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def _map(kind, flat, again, op, args, kwargs):
    found = [a for a in list(args) + list(kwargs.values()) if isinstance(a, kind)]
    if not found:
        return op(*args, **kwargs)

    def inner(value):
        return flat(value, found[0]) if isinstance(value, kind) else value
    return again(found[0], op(*map(inner, args), **{k: inner(v) for k, v in kwargs.items()}))


def _flat_of(value, first):
    for a, b in zip(first.nested_row_splits, value.nested_row_splits):
        if a is not b and not _core.is_symbolic(a) and not _core.is_symbolic(b) and a.numpy().tolist() != b.numpy().tolist():
            raise tf.errors.InvalidArgumentError(None, None, "Inputs must have identical ragged splits")
    return value.flat_values


def map_flat_values(op, *args, **kwargs):
    """A function of the flat values of ragged tensors with the same rows."""
    return _map(tf.RaggedTensor, _flat_of, lambda like, made: like.with_flat_values(made), op, args, kwargs)


def map_values(op, *args, **kwargs):
    """A function of the values of sparse tensors with the same indices."""
    return _map(tf.SparseTensor, lambda value, first: value.values, lambda like, made: like.with_values(made), op, args, kwargs)


class Rows:
    """Results of tf.map_fn that differ in length, as the rows of a ragged tensor: their values and the lengths of their rows are gathered."""

    def __init__(self, leaf, of_input):
        self.rank = leaf.ragged_rank - of_input  # of one result
        self.splits = leaf.row_splits.dtype if of_input else leaf.row_splits_dtype
        self.specs = [(leaf.dtype, None, True), (self.splits, [], False)] + [(self.splits, [None], True)] * self.rank

    def parts(self, value):
        """The flat values, how many rows there are, and the lengths of the rows of every level."""
        if not isinstance(value, tf.RaggedTensor):
            value = tf.convert_to_tensor(value)
            if self.rank:
                value = tf.RaggedTensor.from_tensor(value, ragged_rank=self.rank, row_splits_dtype=self.splits)
            else:
                return [value, tf.shape(value, out_type=self.splits)[0]]
        return [value.flat_values, value.nrows(self.splits)] + [tf.cast(lengths, self.splits) for lengths in value.nested_row_lengths()]

    def join(self, made):
        flat, *lengths = made
        return tf.RaggedTensor.from_nested_row_lengths(flat, lengths, validate=False)
