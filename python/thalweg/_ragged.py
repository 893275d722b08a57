"""tf.RaggedTensor: rows of different lengths as a tensor of all values and the places where rows begin (row_splits). Values may be ragged in turn.

Everything is made of ops, so that it works in functions, where a ragged tensor is a structure of its tensors. Loaded when first asked for."""
import thalweg as tf
from thalweg import _core


def _bound(op, splits, places):
    """Where each place would go among the splits: before equal ones (LowerBound) or behind them (UpperBound)."""
    return op(sorted_inputs=splits[tf.newaxis], values=places[tf.newaxis], out_type=tf.int64)[0]


def _integers(value):
    """Row partitions: int64 unless they are arrays or tensors of another dtype."""
    return tf.convert_to_tensor(value) if hasattr(value, "dtype") else tf.convert_to_tensor(value, dtype_hint=tf.int64)


class RaggedTensor:
    """A tensor whose rows have different lengths."""

    def __init__(self, values, row_splits, uniform_row_length=None):
        self._values, self._row_splits, self._uniform = values, row_splits, uniform_row_length

    # ---- making them

    @classmethod
    def _make(cls, values, splits, validate=True, uniform=None):
        values = values if isinstance(values, RaggedTensor) else tf.convert_to_tensor(values)
        splits = _integers(splits)
        if splits.dtype not in (tf.int32, tf.int64):
            raise ValueError("Row partitions must be of dtype int32 or int64, got %s" % splits.dtype.name)
        if splits.shape.rank not in (None, 1):
            raise ValueError("Shape %s must have rank 1" % (splits.shape,))
        if validate and not _core._tracing():
            given = splits.numpy()
            error = tf.errors.InvalidArgumentError
            if given[0] != 0:
                raise error(None, None, "Arguments to from_row_splits do not form a valid RaggedTensor:zero\nCondition x == y did not hold.\n"
                            "First 1 elements of x:\n[%d]\nFirst 1 elements of y:\n[0]" % given[0])
            if (given[1:] < given[:-1]).any():
                raise error(None, None, "Arguments to from_row_splits do not form a valid RaggedTensor:monotonic.: row_splits %s" % given.tolist())
            count = int(values.nrows()) if isinstance(values, RaggedTensor) else values.shape[0]
            if given[-1] != count:
                raise error(None, None, "Arguments to _from_row_partition do not form a valid RaggedTensor\nCondition x == y did not hold.\n"
                            "First 1 elements of x:\n[%d]\nFirst 1 elements of y:\n[%d]" % (given[-1], count))
        return cls(values, splits, uniform)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Row i is values[row_splits[i]:row_splits[i + 1]]."""
        return cls._make(values, row_splits, validate)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows of these lengths."""
        lengths = _integers(row_lengths)
        return cls._make(values, tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], 0), validate)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Rows that begin at these places."""
        starts = _integers(row_starts)
        values = values if isinstance(values, RaggedTensor) else tf.convert_to_tensor(values)
        return cls._make(values, tf.concat([starts, tf.reshape(_count(values, starts.dtype), [1])], 0), validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Rows that end before these places."""
        limits = _integers(row_limits)
        return cls._make(values, tf.concat([tf.zeros([1], limits.dtype), limits], 0), validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Each value in the row that stands beside it; rows are in order."""
        rowids = _integers(value_rowids)
        if nrows is None:
            nrows = tf.reduce_max(tf.concat([rowids, tf.constant([-1], rowids.dtype)], 0)) + 1
        nrows = tf.cast(nrows, rowids.dtype)
        splits = tf.cast(_bound(tf.raw_ops.LowerBound, rowids, tf.range(nrows + 1, dtype=rowids.dtype)), rowids.dtype)
        return cls._make(values, splits, validate)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        """Rows that all have one length."""
        values = values if isinstance(values, RaggedTensor) else tf.convert_to_tensor(values)
        length = int(uniform_row_length)
        if nrows is None:
            if length == 0:
                raise ValueError("nrows must be specified if uniform_row_length is 0")
            nrows = _count(values, tf.int64) // length
        return cls._make(values, tf.range(tf.cast(nrows, tf.int64) + 1, dtype=tf.int64) * length, validate, length)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Ragged in several dimensions, the outermost first."""
        out = flat_values
        for splits in reversed(list(nested_row_splits)):
            out = cls.from_row_splits(out, splits, validate=validate)
        return out

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Ragged in several dimensions, the outermost first."""
        out = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            out = cls.from_row_lengths(out, lengths, validate=validate)
        return out

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        """Ragged in several dimensions, the outermost first."""
        out, ids = flat_values, list(nested_value_rowids)
        counts = list(nested_nrows) if nested_nrows is not None else [None] * len(ids)
        for rowids, nrows in zip(reversed(ids), reversed(counts)):
            out = cls.from_value_rowids(out, rowids, nrows, validate=validate)
        return out

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=tf.int64):
        """The rows of a tensor, without what is behind their lengths or is padding."""
        tensor = tf.convert_to_tensor(tensor)
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        if ragged_rank < 1 or (tensor.shape.rank is not None and ragged_rank >= tensor.shape.rank):
            raise ValueError("Argument `ragged_rank` must be in 1 … rank - 1. Got `ragged_rank`=%d" % ragged_rank)
        if ragged_rank > 1:
            if lengths is not None or padding is not None:
                raise NotImplementedError("RaggedTensor.from_tensor: lengths and padding with a ragged_rank above 1 are not supported")
            inner = tf.reshape(tensor, tf.concat([[-1], tf.shape(tensor)[2:]], 0))
            out = cls.from_tensor(inner, ragged_rank=ragged_rank - 1, row_splits_dtype=row_splits_dtype)
            return cls.from_uniform_row_length(out, tensor.shape[1], tensor.shape[0])
        dtype = _core.as_dtype(row_splits_dtype)
        shape = tf.shape(tensor, out_type=dtype)
        if padding is not None:
            other = tf.not_equal(tensor, tf.cast(padding, tensor.dtype) if tensor.dtype != tf.string else padding)
            other = tf.reduce_any(tf.reshape(other, tf.concat([shape[:2], [-1]], 0)), axis=2)
            lengths = tf.reduce_max(tf.where(other, tf.range(1, shape[1] + 1, dtype=dtype), tf.zeros([], dtype)), axis=1)
        if lengths is None:
            flat = tf.reshape(tensor, tf.concat([[-1], shape[2:]], 0)) if tensor.shape.rank != 2 else tf.reshape(tensor, [-1])
            length = tensor.shape[1]
            splits = tf.range(shape[0] + 1, dtype=dtype) * shape[1]
            return cls._make(flat, splits, False, length)
        lengths = tf.cast(tf.convert_to_tensor(lengths, dtype_hint=tf.int64), dtype)
        mask = tf.range(shape[1], dtype=dtype)[tf.newaxis, :] < lengths[:, tf.newaxis]
        return cls.from_row_lengths(tf.boolean_mask(tensor, mask), lengths, validate=False)

    # ---- what they are

    @property
    def values(self):
        return self._values

    @property
    def row_splits(self):
        return self._row_splits

    @property
    def flat_values(self):
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        return (self._row_splits,) + (self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ())

    @property
    def uniform_row_length(self):
        return None if self._uniform is None else tf.constant(self._uniform, self._row_splits.dtype)

    @property
    def ragged_rank(self):
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        count = self._row_splits.shape[0]
        inner = self._values.shape
        rest = [None] if inner.rank is None else inner.as_list()[1:]
        return _core.as_shape([None if count is None else count - 1, self._uniform] + rest)

    def get_shape(self):
        return self.shape

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def consumers(self):
        return []

    def nrows(self, out_type=None, name=None):
        """How many rows there are."""
        return tf.shape(self._row_splits, out_type=_core.as_dtype(out_type or self._row_splits.dtype))[0] - 1

    def row_starts(self, name=None):
        return self._row_splits[:-1]

    def row_limits(self, name=None):
        return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows of a dimension."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_splits[1:] - self._row_splits[:-1]
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = tf.shape(self._values, out_type=self._row_splits.dtype)
        return self.with_values(tf.ones(shape[:axis - 1], shape.dtype) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        return (self.row_lengths(),) + (self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ())

    def value_rowids(self, name=None):
        """The row of each value."""
        places = tf.range(self._row_splits[-1], dtype=self._row_splits.dtype)
        return tf.cast(_bound(tf.raw_ops.UpperBound, self._row_splits, places), self._row_splits.dtype) - 1

    def nested_value_rowids(self, name=None):
        return (self.value_rowids(),) + (self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ())

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest shape that all rows fit into."""
        zero = tf.zeros([1], self._row_splits.dtype)
        widest = tf.reduce_max(tf.concat([self.row_lengths(), zero], 0))
        if isinstance(self._values, RaggedTensor):
            rest = self._values.bounding_shape()[1:]
        else:
            rest = tf.shape(self._values, out_type=self._row_splits.dtype)[1:]
        whole = tf.concat([tf.reshape(self.nrows(), [1]), tf.reshape(widest, [1]), rest], 0)
        whole = whole if out_type is None else tf.cast(whole, out_type)
        return whole if axis is None else tf.gather(whole, axis)

    # ---- others of the same rows

    def with_values(self, new_values):
        return type(self)(new_values if isinstance(new_values, RaggedTensor) else tf.convert_to_tensor(new_values), self._row_splits, self._uniform)

    def with_flat_values(self, new_values):
        """The same rows of other values."""
        inner = self._values.with_flat_values(new_values) if isinstance(self._values, RaggedTensor) else new_values
        return self.with_values(inner)

    def with_row_splits_dtype(self, dtype):
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return type(self)(values, tf.cast(self._row_splits, dtype), self._uniform)

    def merge_dims(self, outer_axis, inner_axis):
        """Dimensions made one."""
        rank = self.shape.rank
        outer, inner = (a + rank if a < 0 else a for a in (outer_axis, inner_axis))
        if outer > inner:
            raise ValueError("Expected outer_axis (%d) to be less than or equal to inner_axis (%d)" % (outer_axis, inner_axis))
        if outer == inner:
            return self
        if outer > 0:
            if not isinstance(self._values, RaggedTensor):
                shape = tf.shape(self._values)
                flat = tf.reshape(self._values, tf.concat([shape[:outer - 1], [-1], shape[inner:]], 0))
                if outer - 1 > 0:
                    return self.with_values(flat)
                width = tf.cast(tf.reduce_prod(shape[1:inner]), self._row_splits.dtype)
                return type(self)(flat, self._row_splits * width)
            if outer > 1:
                return self.with_values(self._values.merge_dims(outer - 1, inner - 1))
            merged = self._values if inner == 2 else self._values.merge_dims(1, inner - 1)
            return type(self)(merged.values, tf.gather(merged.row_splits, self._row_splits))
        if inner == 1:
            return self._values
        return _merge(self._values, inner - 1)

    # ---- as other things

    def to_list(self):
        """Nested Python lists."""
        if _core._tracing():
            raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and then use "
                             "RaggedTensorValue.to_list().")
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self._row_splits.numpy().tolist()
        return [values[a:b] for a, b in zip(splits, splits[1:])]

    def numpy(self):
        """An array of the rows; of objects if their lengths differ."""
        import numpy
        if _core._tracing():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values, splits = self._values.numpy(), self._row_splits.numpy().tolist()
        rows = [values[a:b] for a, b in zip(splits, splits[1:])]
        if not rows:
            return numpy.zeros((0, 0) + values.shape[1:], dtype=values.dtype)
        if all(len(r) == len(rows[0]) for r in rows):
            return numpy.stack(rows)
        out = numpy.empty(len(rows), object)
        for i, row in enumerate(rows):
            out[i] = row
        return out

    def to_tensor(self, default_value=None, name=None, shape=None):
        """One tensor, short rows filled up."""
        shape = [None] * self.shape.rank if shape is None or _core.as_shape(shape).rank is None else list(_core.as_shape(shape).as_list())
        shape += [None] * (self.shape.rank - len(shape))
        if default_value is None:
            default_value = tf.zeros([], self.dtype) if self.dtype != tf.string else tf.constant("")
        default_value = tf.convert_to_tensor(default_value, dtype=self.dtype) if not _core.is_tensor(default_value) else default_value
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.to_tensor(default_value, shape=[None] + shape[2:])
        rowids = self.value_rowids()
        dtype = rowids.dtype
        places = tf.range(self._row_splits[-1], dtype=dtype) - tf.gather(self._row_splits, rowids)
        rows = self.nrows() if shape[0] is None else tf.constant(shape[0], dtype)
        widest = tf.reduce_max(tf.concat([self.row_lengths(), tf.zeros([1], dtype)], 0)) if shape[1] is None else tf.constant(shape[1], dtype)
        if shape[0] is not None or shape[1] is not None:
            kept = tf.logical_and(rowids < rows, places < widest)
            rowids, places, values = (tf.boolean_mask(x, kept) for x in (rowids, places, values))
        whole = tf.concat([tf.reshape(rows, [1]), tf.reshape(widest, [1]), tf.shape(values, out_type=dtype)[1:]], 0)
        return tf.tensor_scatter_nd_update(tf.fill(whole, default_value), tf.stack([rowids, places], 1), values)

    # ---- parts

    def _take(self, starts, limits):
        """Rows of the values between these places."""
        lengths = limits - starts
        splits = tf.concat([tf.zeros([1], lengths.dtype), tf.cumsum(lengths)], 0)
        made = type(self)(None, splits)
        rowids = made.value_rowids()
        places = tf.gather(starts - splits[:-1], rowids) + tf.range(splits[-1], dtype=splits.dtype)
        made._values = self._values._rows(places) if isinstance(self._values, RaggedTensor) else tf.gather(self._values, places)
        return made

    def _rows(self, indices):
        return self._take(tf.gather(self._row_splits, indices), tf.gather(self._row_splits[1:], indices))

    def _row(self, key):
        count = self._row_splits.shape[0]
        if isinstance(key, int) and count is not None and not -count < key < count - 1:
            raise IndexError("Row key %d out of bounds" % key)
        key = tf.cast(key, self._row_splits.dtype)
        key = tf.where(key < 0, key + self.nrows(), key)
        start, limit = tf.gather(self._row_splits, key), tf.gather(self._row_splits, key + 1)
        return self._values[start:limit]

    def _cut(self, key):
        """Each row cut by a slice."""
        if key.step not in (None, 1):
            raise NotImplementedError("RaggedTensor: a step inside of rows is not supported, got %s" % (key,))
        starts, limits = self.row_starts(), self.row_limits()
        lengths, zero = limits - starts, tf.zeros([], self._row_splits.dtype)

        def place(at, otherwise):
            if at is None:
                return otherwise
            at = tf.cast(at, lengths.dtype)
            return tf.clip_by_value(tf.where(at < 0, at + lengths, at + zero * lengths), zero, lengths)
        begin, end = place(key.start, zero * lengths), place(key.stop, lengths)
        return self._take(starts + begin, starts + tf.maximum(begin, end))

    def __getitem__(self, key):
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(k is None for k in keys):
            raise NotImplementedError("RaggedTensor: a new axis among the indices is not supported")
        if Ellipsis in [k for k in keys if not _core.is_tensor(k)]:
            at = [i for i, k in enumerate(keys) if not _core.is_tensor(k) and k is Ellipsis][0]
            keys[at:at + 1] = [slice(None)] * (self.shape.rank - len(keys) + 1)
        first, rest = keys[0], keys[1:]
        if not isinstance(first, slice):
            row = self._row(first)
            return row[tuple(rest)] if rest else row
        out = self
        if first != slice(None):
            begin, end = self.row_starts()[first], self.row_limits()[first]
            out = self._take(begin, end)
        if not rest:
            return out
        if not isinstance(rest[0], slice):
            if self._uniform is None:
                raise ValueError("Cannot index into an inner ragged dimension.")
            raise NotImplementedError("RaggedTensor: an index into a uniform dimension is not supported")
        if rest[0] != slice(None):
            out = out._cut(rest[0])
        return out.with_values(out.values[tuple([slice(None)] + rest[1:])]) if rest[1:] else out

    def __iter__(self):
        if _core._tracing():
            raise TypeError("Iterating over a RaggedTensor is not allowed in a graph")
        return (self[i] for i in range(int(self.nrows())))

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self):
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self):
        if _core._tracing():
            return "tf.RaggedTensor(values=%s, row_splits=%s)" % (self._values, self._row_splits)
        import numpy

        def text(x):
            if not isinstance(x, numpy.ndarray):
                return str(x)
            return numpy.array2string(x, separator=", ") if x.size else repr(x.tolist())
        with numpy.printoptions(formatter={"all": text}):
            return "<tf.RaggedTensor %s>" % text(self.numpy())

    __str__ = __repr__

    def _parts(self):
        return [self.flat_values] + list(self.nested_row_splits)


def _of_parts(parts):
    """The ragged tensor of its parts, without a look at them."""
    out = parts[0]
    for splits in reversed(parts[1:]):
        out = RaggedTensor(out, splits)
    return out


def _merge(value, inner):
    """The first dimensions of a tensor or ragged tensor made one."""
    if isinstance(value, RaggedTensor):
        return value.values if inner == 1 else _merge(value.values, inner - 1)
    return tf.reshape(value, tf.concat([[-1], tf.shape(value)[inner + 1:]], 0))


def _count(values, dtype):
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else tf.shape(values, out_type=dtype)[0]


# ---- operators: element by element on the same rows

def _same_rows(a, b):
    if a.ragged_rank != b.ragged_rank:
        raise NotImplementedError("RaggedTensor: operands of ragged ranks %d and %d are not supported" % (a.ragged_rank, b.ragged_rank))
    for x, y in zip(a.nested_row_splits, b.nested_row_splits):
        if x is not y and not _core._tracing() and (x.shape != y.shape or x.numpy().tolist() != y.numpy().tolist()):
            raise tf.errors.InvalidArgumentError(None, None, "Inputs must have identical ragged splits, or be broadcast, which is not supported")


def _binary(name):
    def operate(self, other):
        if isinstance(other, RaggedTensor):
            _same_rows(self, other)
            return self.with_flat_values(getattr(self.flat_values, name)(other.flat_values))
        if getattr(other, "shape", None) is not None and tf.convert_to_tensor(other).shape.rank != 0:
            raise NotImplementedError("RaggedTensor: an operand of shape %s is not supported; scalars and the same rows are" % (other.shape,))
        return self.with_flat_values(getattr(self.flat_values, name)(other))
    operate.__name__ = name
    return operate


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "and", "or",
              "xor", "rand", "ror", "rxor", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(RaggedTensor, "__%s__" % _name, _binary("__%s__" % _name))
for _name in ("neg", "abs", "invert"):
    setattr(RaggedTensor, "__%s__" % _name,
            (lambda name: lambda self: self.with_flat_values(getattr(self.flat_values, name)()))("__%s__" % _name))


class RaggedTensorSpec:
    """The shape and dtype of ragged tensors."""

    def __init__(self, shape=None, dtype=tf.float32, ragged_rank=None, row_splits_dtype=tf.int64):
        self.shape, self.dtype, self.row_splits_dtype = _core.as_shape(shape), _core.as_dtype(dtype), _core.as_dtype(row_splits_dtype)
        if ragged_rank is None:
            if self.shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self.shape.rank - 1
        self.ragged_rank = ragged_rank

    value_type = RaggedTensor

    def __repr__(self):
        return "RaggedTensorSpec(%r, %r, %d, %r)" % (self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype)

    def __eq__(self, other):
        return isinstance(other, RaggedTensorSpec) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


# ---- tf.ragged

def _depth(value):
    """How deep a list is nested, at most."""
    return 1 + max([0] + [_depth(v) for v in value]) if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) else 0


def _scalar_depths(value, depth=0):
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0):
        return {d for v in value for d in _scalar_depths(v, depth + 1)}
    return {depth}


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=tf.int64):
    """A ragged tensor of nested lists."""
    depths = _scalar_depths(pylist)
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    depth = depths.pop() if depths else _depth(pylist)
    if depth == 0:
        if ragged_rank or inner_shape:
            raise ValueError("Invalid pylist=%r: incompatible with ragged_rank=%r or inner_shape=%r" % (pylist, ragged_rank, inner_shape))
        return tf.constant(pylist, dtype)
    if ragged_rank is None:
        ragged_rank = max(0, depth - 1 - (len(inner_shape) if inner_shape is not None else 0))
    if ragged_rank >= depth and depth:
        raise ValueError("Invalid pylist=%r: ragged_rank=%d is not less than its nesting depth %d" % (pylist, ragged_rank, depth))
    values, nested = list(pylist), []
    for _ in range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(tf.constant(splits, row_splits_dtype))
        values = [v for row in values for v in row]
    shape = None if inner_shape is None else [len(values)] + list(inner_shape)
    if not values:
        flat = tf.constant([], dtype or tf.float32, shape=[0] + list(inner_shape or []))
    else:
        flat = tf.constant(values, dtype, shape=shape) if shape else tf.constant(values, dtype)
    return RaggedTensor.from_nested_row_splits(flat, nested, validate=False) if nested else flat


def map_flat_values(op, *args, **kwargs):
    """A function of the values of ragged tensors with the same rows."""
    found = [a for a in list(args) + list(kwargs.values()) if isinstance(a, RaggedTensor)]
    if not found:
        return op(*args, **kwargs)
    for other in found[1:]:
        _same_rows(found[0], other)

    def flat(value):
        return value.flat_values if isinstance(value, RaggedTensor) else value
    return found[0].with_flat_values(op(*map(flat, args), **{k: flat(v) for k, v in kwargs.items()}))


def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=tf.int64):
    """Rows of numbers, one of each start, limit and step."""
    if limits is None:
        starts, limits = 0, starts
    starts, limits, deltas = (tf.convert_to_tensor(x, dtype) if dtype else tf.convert_to_tensor(x) for x in (starts, limits, deltas))
    if not starts.dtype.is_integer:
        raise NotImplementedError("tf.ragged.range: dtype %s is not supported" % starts.dtype.name)
    shape = tf.broadcast_dynamic_shape(tf.shape(starts), tf.broadcast_dynamic_shape(tf.shape(limits), tf.shape(deltas)))
    starts, limits, deltas = (tf.reshape(tf.broadcast_to(x, shape), [-1]) for x in (starts, limits, deltas))
    lengths = tf.maximum((limits - starts + deltas - tf.sign(deltas)) // deltas, 0)
    lengths = tf.cast(lengths, row_splits_dtype)
    made = RaggedTensor.from_row_lengths(tf.zeros([tf.reduce_sum(lengths)], starts.dtype), lengths, validate=False)
    rowids = made.value_rowids()
    places = tf.range(made.row_splits[-1], dtype=lengths.dtype) - tf.gather(made.row_splits, rowids)
    return made.with_values(tf.gather(starts, rowids) + tf.cast(places, starts.dtype) * tf.gather(deltas, rowids))


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value."""
    ids = RaggedTensor(None, _integers(splits)).value_rowids()
    return ids if out_type is None else tf.cast(ids, out_type)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where rows begin, by the row of each value."""
    made = RaggedTensor.from_value_rowids(tf.convert_to_tensor(segment_ids), segment_ids, num_segments, validate=False)
    return made.row_splits if out_type is None else tf.cast(made.row_splits, out_type)


# ---- tf.strings

def split_strings(values, function):
    """Parts of strings: a vector of one, ragged of several. `function` gives indices, parts and the shape for a vector."""
    if isinstance(values, RaggedTensor):
        return values.with_flat_values(split_strings(values.flat_values, function))
    rank = values.shape.rank
    if rank is None:
        raise ValueError("input must have a known rank")
    if rank == 0:
        return function(tf.expand_dims(values, 0))[1]
    if rank == 1:
        indices, parts, shape = function(values)
        return RaggedTensor.from_value_rowids(parts, indices[:, 0], shape[0], validate=False)
    return RaggedTensor.from_tensor(values, ragged_rank=rank - 1).with_flat_values(split_strings(tf.reshape(values, [-1]), function))
