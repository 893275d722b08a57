"""tf.TensorArray: eagerly a Python list of tensors that writes change; in graphs a list value, so that only the result of a write has it."""
import thalweg
from thalweg import _core


class TensorArray:
    """Tensors by index, for loops."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, flow=None,
                 infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None:
            raise NotImplementedError("TensorArray: handle is not supported; give flow")
        self.dtype = _core.as_dtype(dtype)
        self._dynamic, self._infer = bool(dynamic_size), infer_shape
        self._clear = clear_after_read is None or bool(clear_after_read)
        self._shape = _core.as_shape(element_shape)
        self._items = self._list = None
        if flow is not None:
            self._list = flow
        elif size is None and not dynamic_size:
            raise ValueError("Either `size` must be given or `dynamic_size` must be True")
        elif _core._tracing():
            self._list = thalweg.raw_ops.TensorListReserve(element_shape=self._shape_tensor(), num_elements=0 if size is None else size,
                                                           element_dtype=self.dtype)
        else:
            self._items = [None] * (0 if size is None else int(size))
            self._read = set()

    @property
    def dynamic_size(self):
        return self._dynamic

    @property
    def element_shape(self):
        return self._shape

    @property
    def flow(self):
        return self._flow() if self._list is not None else thalweg.constant(0, thalweg.int32)

    @property
    def handle(self):
        return None

    def _shape_tensor(self):
        if self._shape.rank is None:
            return thalweg.constant(-1, thalweg.int32)
        return thalweg.constant([-1 if d is None else d for d in self._shape], thalweg.int32, shape=[self._shape.rank])

    def _symbolic(self):
        return self._list is not None

    def _flow(self):
        """The list as a tensor; an eager array's tensors are put into one."""
        if self._list is None:
            made = thalweg.raw_ops.TensorListReserve(element_shape=self._shape_tensor(), num_elements=len(self._items), element_dtype=self.dtype)
            for i, v in enumerate(self._items):
                if v is not None:
                    made = thalweg.raw_ops.TensorListSetItem(input_handle=made, index=i, item=v)
            return made
        return self._list

    def _with(self, flow):
        array = TensorArray.__new__(TensorArray)
        array.__dict__.update(self.__dict__)
        array._list, array._items = flow, None
        return array

    def identity(self):
        return self._with(thalweg.identity(self._list)) if self._list is not None else self

    def _eager(self):
        if self._items is not None and _core._tracing():  # an eager array that a graph uses
            return False
        return self._items is not None

    def _merge(self, shape):
        if not self._shape.is_compatible_with(shape):
            raise ValueError("Incompatible shape for value (%s), expected (%s)" % (shape, self._shape))
        if self._infer:
            self._shape = self._shape.merge_with(shape)

    def _check_index(self, index, what):
        if index < 0:
            raise thalweg.errors.OutOfRangeError(None, None, "%s index %d is out of bounds: it is negative" % (what, index))

    def write(self, index, value, name=None):
        """The array with a value at the index."""
        value = thalweg.convert_to_tensor(value, dtype=self.dtype) if not _core.is_tensor(value) else thalweg.convert_to_tensor(value)
        if value.dtype != self.dtype:
            raise thalweg.errors.InvalidArgumentError(
                None, None, "TensorArray dtype is %s but Op is trying to write dtype %s " % (self.dtype.name, value.dtype.name))
        if not self._eager():
            self._merge(value.shape)
            return self._with(thalweg.raw_ops.TensorListSetItem(input_handle=self._flow(), index=thalweg.cast(index, thalweg.int32), item=value,
                                                                resize_if_index_out_of_bounds=self._dynamic))
        index = int(index)
        if index < 0:
            raise thalweg.errors.OutOfRangeError(None, None, "Writing to negative indices (index %d) is not allowed." % index)
        if index >= len(self._items):
            if not self._dynamic:
                raise thalweg.errors.OutOfRangeError(
                    None, None, "Tried to write to index %d but array is not resizeable and size is: %d " % (index, len(self._items)))
            self._items.extend([None] * (index + 1 - len(self._items)))
        self._merge(value.shape)
        self._items[index] = value
        self._read.discard(index)
        return self

    def read(self, index, name=None):
        """The value at the index."""
        if not self._eager():
            return thalweg.raw_ops.TensorListGetItem(input_handle=self._flow(), index=thalweg.cast(index, thalweg.int32),
                                                     element_shape=self._shape_tensor(), element_dtype=self.dtype)
        index = int(index)
        if index < 0:
            raise thalweg.errors.OutOfRangeError(None, None, "Reading from negative indices (index %d) is not allowed." % index)
        if index >= len(self._items):
            raise thalweg.errors.OutOfRangeError(
                None, None, "Tried to read from index %d but array size is: %d " % (index, len(self._items)))
        value = self._items[index]
        if value is None:
            if index in self._read:
                raise thalweg.errors.InvalidArgumentError(
                    None, None, "Could not read index %d twice because it was cleared after a previous read (perhaps try setting clear_after_read = "
                    "false?)" % index)
            value = self._zeros(index)
        if self._clear:
            self._items[index] = None
            self._read.add(index)
        return value

    def _zeros(self, index):
        if not self._shape.is_fully_defined():
            raise thalweg.errors.InvalidArgumentError(
                None, None, "Could not read index %d of a TensorArray: nothing was written there and its shape is not known" % index)
        return thalweg.zeros(self._shape, self.dtype)

    def _all(self):
        return [self._zeros(i) if v is None else v for i, v in enumerate(self._items)]

    def stack(self, name=None):
        """All values, one above the other."""
        if self._eager():
            if not self._items:
                return thalweg.zeros([0] + [d or 0 for d in (self._shape if self._shape.rank is not None else [])], self.dtype)
            values = self._all()
            if self._clear:
                self._items = [None] * len(self._items)
            return thalweg.stack(values)
        return thalweg.raw_ops.TensorListStack(input_handle=self._flow(), element_shape=self._shape_tensor(), element_dtype=self.dtype)

    def gather(self, indices, name=None):
        """The values at the indices, one above the other."""
        if self._eager():
            return thalweg.stack([self.read(i) for i in thalweg.convert_to_tensor(indices).numpy()])
        return thalweg.raw_ops.TensorListGather(input_handle=self._flow(), indices=thalweg.cast(indices, thalweg.int32),
                                                element_shape=self._shape_tensor(), element_dtype=self.dtype)

    def concat(self, name=None):
        """All values, one behind the other."""
        if self._eager():
            return thalweg.concat(self._all(), 0)
        shape = self._shape
        known = [-1 if d is None else d for d in shape] if shape.rank else None
        element = thalweg.constant([-1] + known[1:], thalweg.int32) if known else thalweg.constant(-1, thalweg.int32)
        return thalweg.raw_ops.TensorListConcatV2(input_handle=self._flow(), element_shape=element, leading_dims=thalweg.constant([], thalweg.int64),
                                                  element_dtype=self.dtype)[0]

    def unstack(self, value, name=None):
        """The array with the rows of a tensor as its values."""
        value = thalweg.convert_to_tensor(value, dtype=self.dtype)
        if self._eager():
            rows = thalweg.unstack(value)
            if len(rows) > len(self._items) and not self._dynamic:
                raise ValueError("Cannot unstack %d tensors into a TensorArray of static size %d " % (len(rows), len(self._items)))
            self._items, self._read = list(rows), set()
            self._merge(value.shape[1:])
            return self
        self._merge(value.shape[1:])
        return self._with(thalweg.raw_ops.TensorListFromTensor(tensor=value, element_shape=self._shape_tensor()))

    def scatter(self, indices, value, name=None):
        """The array with the rows of a tensor at the indices."""
        value = thalweg.convert_to_tensor(value, dtype=self.dtype)
        if self._eager():
            for index, row in zip(thalweg.convert_to_tensor(indices).numpy(), thalweg.unstack(value)):
                self.write(int(index), row)
            return self
        self._merge(value.shape[1:])
        return self._with(thalweg.raw_ops.TensorListScatterIntoExistingList(input_handle=self._flow(), tensor=value,
                                                                            indices=thalweg.cast(indices, thalweg.int32)))

    def split(self, value, lengths, name=None):
        """The array with pieces of a tensor as its values."""
        value = thalweg.convert_to_tensor(value, dtype=self.dtype)
        if self._eager():
            sizes = [int(n) for n in thalweg.convert_to_tensor(lengths).numpy()]
            if sum(sizes) != value.shape[0]:
                raise thalweg.errors.InvalidArgumentError(
                    None, None, "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %d and value's shape is: %s "
                    % (sum(sizes), value.shape))
            self._items, self._read = list(thalweg.split(value, sizes)), set()
            return self
        return self._with(thalweg.raw_ops.TensorListSplit(tensor=value, element_shape=thalweg.constant(-1, thalweg.int32),
                                                          lengths=thalweg.cast(lengths, thalweg.int64)))

    def size(self, name=None):
        """How many values it has."""
        if self._eager():
            return thalweg.constant(len(self._items), thalweg.int32)
        return thalweg.raw_ops.TensorListLength(input_handle=self._flow())

    def close(self, name=None):
        if self._eager():
            self._items = []
