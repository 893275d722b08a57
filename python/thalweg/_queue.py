"""tf.queue: queues as objects over the ops of src/op/queue. Loaded when it is first asked for."""
import thalweg as tf
from thalweg import _core

_raw = tf.raw_ops


def _types(dtypes):
    return [tf.as_dtype(d) for d in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _shapes(shapes, dtypes, unknown=False):
    if shapes is None:
        return [tf.TensorShape(None)] * len(dtypes) if unknown else None
    if isinstance(shapes, tf.TensorShape) or not isinstance(shapes, (list, tuple)) or not any(isinstance(s, (list, tuple, tf.TensorShape)) for s in shapes):
        shapes = [shapes]
    shapes = [tf.TensorShape(s) for s in shapes]
    if len(shapes) == 1 and len(dtypes) > 1 or len(shapes) != len(dtypes):
        raise ValueError("Queue shapes must have the same length as dtypes, received len(shapes)=%d, len(dtypes)=%d" % (len(shapes), len(dtypes)))
    return shapes


class QueueBase:
    """What all queues do: elements, tuples of tensors, are put in and taken out."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes, self._queue_ref = dtypes, queue_ref
        self._shapes = shapes if shapes is not None else [tf.TensorShape(None)] * len(dtypes)
        if names:
            if len(names) != len(dtypes):
                raise ValueError("Names must have the same length as dtypes. Received len(names)=%d,len(dtypes)=%d" % (len(names), len(dtypes)))
            if isinstance(names, str):
                names = [names]
        self._names = names or None

    queue_ref = property(lambda self: self._queue_ref, doc="The handle.")
    dtypes = property(lambda self: self._dtypes, doc="The dtypes of an element's tensors.")
    shapes = property(lambda self: self._shapes, doc="Their shapes.")
    names = property(lambda self: self._names, doc="Their names, or None.")

    @property
    def name(self):
        """The name of the node that makes the queue; outside of graphs, of the queue."""
        return self._queue_ref.op.name if not _core.executing_eagerly() and hasattr(self._queue_ref, "op") else self._name

    def _tensors(self, vals):
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: %s,Queue: %s"
                                 % (sorted(vals), sorted(self._names)))
            vals = [vals[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if not isinstance(vals, (list, tuple)):
                vals = [vals]
        return [tf.convert_to_tensor(value, dtype) for value, dtype in zip(vals, self._dtypes)] + list(vals[len(self._dtypes):])

    def _checked(self, vals, many):
        tensors = self._tensors(vals)
        for tensor, shape in zip(tensors, self._shapes):
            own = tensor.shape[1:] if many and tensor.shape.rank is not None else tensor.shape
            own.assert_is_compatible_with(shape)
        return tensors

    def _given(self, tensors, batch=None):
        made = list(tensors)
        for tensor, shape in zip(made, self._shapes) if not _core.executing_eagerly() else ():
            if shape.rank is not None:
                tensor.set_shape(shape if batch is None else tf.TensorShape([batch[0]]).concatenate(shape))
        if self._names:
            return dict(zip(self._names, made))
        return made[0] if len(made) == 1 else made

    def enqueue(self, vals, name=None):
        """Puts an element in; waits while the queue is full."""
        return _raw.QueueEnqueueV2(handle=self._queue_ref, components=self._checked(vals, False), name=name or "%s_enqueue" % self._name)

    def enqueue_many(self, vals, name=None):
        """Puts the rows of tensors in."""
        return _raw.QueueEnqueueManyV2(handle=self._queue_ref, components=self._checked(vals, True), name=name or "%s_EnqueueMany" % self._name)

    def dequeue(self, name=None):
        """Takes an element out; waits until there is one."""
        return self._given(_listed(_raw.QueueDequeueV2(handle=self._queue_ref, component_types=self._dtypes, name=name or "%s_Dequeue" % self._name)))

    def dequeue_many(self, n, name=None):
        """Takes n elements out, as rows of tensors."""
        made = _raw.QueueDequeueManyV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name or "%s_DequeueMany" % self._name)
        return self._given(_listed(made), [tf.get_static_value(n) if tf.is_tensor(n) else n])

    def dequeue_up_to(self, n, name=None):
        """Takes n elements out, or those that are left in a closed queue."""
        made = _raw.QueueDequeueUpToV2(handle=self._queue_ref, n=n, component_types=self._dtypes, name=name or "%s_DequeueUpTo" % self._name)
        return self._given(_listed(made), [None])

    def close(self, cancel_pending_enqueues=False, name=None):
        """Nothing more comes in."""
        return _raw.QueueCloseV2(handle=self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or "%s_Close" % self._name)

    def is_closed(self, name=None):
        """Whether the queue was closed."""
        return _raw.QueueIsClosedV2(handle=self._queue_ref, name=name or "%s_is_closed" % self._name)

    def size(self, name=None):
        """How many elements there are."""
        return _raw.QueueSizeV2(handle=self._queue_ref, name=name or "%s_Size" % self._name)

    @staticmethod
    def from_list(index, queues):
        """The queue of that number among several of one kind."""
        if not queues or not isinstance(queues, list) or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        number = tf.get_static_value(index) if tf.is_tensor(index) else index
        if number is None:
            raise NotImplementedError("QueueBase.from_list: the index must be known")
        return queues[int(number)]


def _listed(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _make(op, shared_name, name, **attrs):
    eager = _core.executing_eagerly()
    return op(container="anonymous" if eager else "", shared_name=shared_name or (name if eager else ""), name=name, **attrs)


class FIFOQueue(QueueBase):
    """Elements come out in the order in which they came."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        dtypes = _types(dtypes)
        shapes, self._name = _shapes(shapes, dtypes), name
        ref = _make(_raw.FIFOQueueV2, shared_name, name, component_types=dtypes, shapes=shapes or [], capacity=capacity)
        super().__init__(dtypes, shapes, names, ref)


class PaddingFIFOQueue(QueueBase):
    """The same; elements of several sizes that come out together are padded."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        dtypes = _types(dtypes)
        shapes, self._name = _shapes(shapes, dtypes), name
        if shapes is None or len(shapes) != len(dtypes):
            raise ValueError("Shapes must be provided for all components, but received %d dtypes and %d shapes." % (len(dtypes), len(shapes or [])))
        super().__init__(dtypes, shapes, names, _make(_raw.PaddingFIFOQueueV2, shared_name, name, component_types=dtypes, shapes=shapes, capacity=capacity))


class RandomShuffleQueue(QueueBase):
    """Elements come out in a random order; min_after_dequeue of them stay, so that there is a choice."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None, name="random_shuffle_queue"):
        dtypes = _types(dtypes)
        shapes, self._name = _shapes(shapes, dtypes), name
        one, two = tf.compat.v1.random.get_seed(seed)
        ref = _make(_raw.RandomShuffleQueueV2, shared_name, name, component_types=dtypes, shapes=shapes or [], capacity=capacity,
                    min_after_dequeue=min_after_dequeue, seed=one or 0, seed2=two or 0)
        super().__init__(dtypes, shapes, names, ref)


class PriorityQueue(QueueBase):
    """Elements come out by their first tensor, a number: the smallest first."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = _types(types)
        shapes, self._name = _shapes(shapes, types), name
        ref = _make(_raw.PriorityQueueV2, shared_name, name, component_types=types, shapes=shapes or [], capacity=capacity)
        super().__init__([tf.int64] + types, [tf.TensorShape([])] + shapes if shapes else None, names, ref)
