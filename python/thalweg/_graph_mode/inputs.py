"""tf.compat.v1.train's pipelines of queues: QueueRunner, producers of input, batches."""
import threading
import weakref

import thalweg as tf
from thalweg import _queue
from thalweg._graph_mode import variables as _variables

_keys = _variables.GraphKeys
_v1 = tf.compat.v1


class QueueRunner:
    """Operations that fill a queue, each run again and again by a thread."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None, queue_runner_def=None,
                 import_scope=None):
        if queue_runner_def is not None or import_scope is not None:
            raise NotImplementedError("QueueRunner: queue_runner_def is not supported")
        if tf.executing_eagerly():
            raise RuntimeError("QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data into your model.")
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, list(enqueue_ops)
        self._close_op = close_op if close_op is not None else queue.close()
        self._cancel_op = cancel_op if cancel_op is not None else queue.close(cancel_pending_enqueues=True)
        self._ends = queue_closed_exception_types or (tf.errors.OutOfRangeError,)
        self._lock, self._runs, self._raised = threading.Lock(), weakref.WeakKeyDictionary(), []

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._ends)
    exceptions_raised = property(lambda self: self._raised)
    name = property(lambda self: self._queue.name)

    def _run(self, session, operation, coord):
        counted = True
        try:
            while not (coord and coord.should_stop()):
                try:
                    session.run(operation)
                except self._ends:
                    with self._lock:
                        self._runs[session] -= 1
                        counted = False
                        last = self._runs[session] == 0
                    if last:
                        try:
                            session.run(self._close_op)
                        except Exception:  # the session may be closed by now
                            pass
                    return
        except Exception as error:
            if coord:
                coord.request_stop(None if isinstance(error, (tf.errors.CancelledError, RuntimeError)) and coord.should_stop() else error)
            elif not isinstance(error, tf.errors.CancelledError):
                with self._lock:
                    self._raised.append(error)
        finally:
            if counted:
                with self._lock:
                    self._runs[session] -= 1

    def _close_on_stop(self, session, coord):
        coord.wait_for_stop()
        try:
            session.run(self._cancel_op)
        except Exception:  # the session may be closed by now
            pass

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """A thread for each operation, and one that closes the queue when the coordinator stops."""
        with self._lock:
            if self._runs.get(sess, 0) > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._raised = []
        threads = [threading.Thread(target=self._run, args=(sess, operation, coord), name="QueueRunnerThread-%s-%s" % (self.name, operation.name))
                   for operation in self._enqueue_ops]
        if coord:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, coord), name="QueueRunnerThread-%s-close_on_stop" % self.name))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads


def add_queue_runner(qr, collection=_keys.QUEUE_RUNNERS):
    """Adds a runner to the graph."""
    _v1.add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=_keys.QUEUE_RUNNERS):
    """Starts the threads of the graph's runners."""
    if tf.executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = _v1.get_default_session()
        if not sess:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an explicit session to "
                             "tf.start_queue_runners(sess=sess)")
    if not isinstance(sess, _v1.Session) and not hasattr(sess, "run"):
        raise TypeError("sess must be a `tf.Session` object. Given class: %s" % sess.__class__)
    with sess.graph.as_default():
        return [thread for runner in _v1.get_collection(collection) for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]


def _refuse_eager():
    if tf.executing_eagerly():
        raise ValueError("Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest data into your model "
                         "instead.")


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, num_epochs times; then OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with _v1.name_scope(name, "limit_epochs", [tensor]):
        counter = _v1.Variable(tf.constant(0, tf.int64), name="epochs", trainable=False, collections=[_keys.LOCAL_VARIABLES])
        with tf.control_dependencies([tf.raw_ops.ResourceCountUpTo(resource=counter.handle, limit=num_epochs, T=tf.int64)]):
            return tf.identity(tensor)


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, summary_name=None, name=None,
                   cancel_op=None):
    """A queue that gives the rows of a tensor again and again."""
    _refuse_eager()
    del summary_name
    with _v1.name_scope(name, "input_producer", [input_tensor]):
        input_tensor = tf.convert_to_tensor(input_tensor, name="input_tensor")
        shape = input_tensor.shape[1:].merge_with(element_shape) if element_shape is not None else input_tensor.shape[1:]
        if not shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            input_tensor = tf.random.shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = _queue.FIFOQueue(capacity=capacity, dtypes=[input_tensor.dtype], shapes=[shape], shared_name=shared_name, name=name or "input_producer")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None, cancel_op=None):
    """A queue that gives texts, the names of files for example, again and again."""
    _refuse_eager()
    if not tf.is_tensor(string_tensor) and not len(string_tensor):
        raise ValueError("string_input_producer requires a non-null input tensor")
    with _v1.name_scope(name, "input_producer", [string_tensor]):
        string_tensor = tf.convert_to_tensor(string_tensor, dtype=tf.string)
        return input_producer(string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name, None, "input_producer", cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue that gives 0 to limit - 1 again and again."""
    _refuse_eager()
    with _v1.name_scope(name, "input_producer", [limit]):
        return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, "fraction_of_%d_full" % capacity, name)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """One row of each tensor, another one at each run."""
    _refuse_eager()
    with _v1.name_scope(name, "input_producer", tensor_list):
        tensors = [tf.convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        size = tensors[0].shape[0] if tensors[0].shape[0] is not None else tf.shape(tensors[0])[0]
        queue = range_input_producer(size, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [tf.gather(t, index) for t in tensors]


def _batched(tensors_list, keep, batch_size, queue_of, enqueue_many, smaller, name):
    """Dequeued batches of tensors that runners enqueue; dicts come back as dicts."""
    _refuse_eager()
    first = tensors_list[0]
    keys = sorted(first) if isinstance(first, dict) else None
    flat = [[tf.convert_to_tensor(one[k]) for k in keys] if keys else [tf.convert_to_tensor(t) for t in (one if isinstance(one, (list, tuple)) else [one])]
            for one in tensors_list]
    if not flat[0]:
        raise ValueError("Expected at least one tensor in batch().")
    with _v1.name_scope(name):
        dtypes = [t.dtype for t in flat[0]]
        shapes = [t.shape[1:] if enqueue_many else t.shape for t in flat[0]]
        queue = queue_of(dtypes, shapes)
        operations = []
        for tensors in flat:
            if keep is True:
                operations.append(queue.enqueue_many(tensors) if enqueue_many else queue.enqueue(tensors))
            elif enqueue_many:
                mask = tf.broadcast_to(tf.convert_to_tensor(keep), tf.shape(tensors[0])[:1])
                operations.append(queue.enqueue_many([tf.boolean_mask(t, mask) for t in tensors]))
            else:
                operations.append(_v1.cond(keep, lambda: queue.enqueue(tensors), tf.no_op))
        add_queue_runner(QueueRunner(queue, operations))
        made = queue.dequeue_up_to(batch_size, name=name) if smaller else queue.dequeue_many(batch_size, name=name)
        made = made if isinstance(made, list) else [made]
    if keys:
        return dict(zip(keys, made))
    return made if len(made) > 1 else made[0]


def _queue_of(given):
    """A function of dtypes and shapes that makes the queue for what a function of batches was given."""
    def make(dtypes, shapes):
        shapes = [tf.TensorShape(shape) for shape in (shapes if given["shapes"] is None else given["shapes"])]
        common = dict(capacity=given["capacity"], dtypes=dtypes, shapes=shapes, shared_name=given["shared_name"])
        if given.get("dynamic_pad"):
            return _queue.PaddingFIFOQueue(**common)
        if not all(shape.is_fully_defined() for shape in shapes):
            raise ValueError("All shapes must be fully defined: %s" % shapes)
        if "min_after_dequeue" in given:
            return _queue.RandomShuffleQueue(min_after_dequeue=given["min_after_dequeue"], seed=given["seed"], **common)
        return _queue.FIFOQueue(**common)
    return make


# The functions of batches; those named maybe_… have the argument keep_input, too.
_PLAIN = "capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None"
_SHUFFLED = "seed=None, enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None"
_BATCHES = {
    "batch": ("tensors, batch_size, num_threads=1, " + _PLAIN, "Batches of tensors, which threads put into a queue."),
    "maybe_batch": ("tensors, keep_input, batch_size, num_threads=1, " + _PLAIN, "The same with those that are to be kept."),
    "batch_join": ("tensors_list, batch_size, " + _PLAIN, "Batches of several lists of tensors, a thread for each."),
    "maybe_batch_join": ("tensors_list, keep_input, batch_size, " + _PLAIN, "The same with those that are to be kept."),
    "shuffle_batch": ("tensors, batch_size, capacity, min_after_dequeue, num_threads=1, " + _SHUFFLED, "Batches in a random order."),
    "maybe_shuffle_batch": ("tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, " + _SHUFFLED,
                            "The same with those that are to be kept."),
    "shuffle_batch_join": ("tensors_list, batch_size, capacity, min_after_dequeue, " + _SHUFFLED, "Batches of several lists of tensors in a random order."),
    "maybe_shuffle_batch_join": ("tensors_list, batch_size, capacity, min_after_dequeue, keep_input, " + _SHUFFLED,
                                 "The same with those that are to be kept.")}


def _batches(function, given):
    lists = [given["tensors"]] * given["num_threads"] if "tensors" in given else list(given["tensors_list"])
    return _batched(lists, given.get("keep_input", True), given["batch_size"], _queue_of(given), given["enqueue_many"], given["allow_smaller_final_batch"],
                    given["name"] or function.replace("maybe_", ""))


for _name, (_arguments, _doc) in _BATCHES.items():
    exec("def %s(%s):\n    return _batches(%r, locals())" % (_name, _arguments, _name))
    globals()[_name].__doc__ = _doc


def match_filenames_once(pattern, name=None):
    """The files that fit a pattern, found once."""
    with _v1.name_scope(name, "matching_filenames", [pattern]):
        return _v1.Variable(tf.io.matching_files(pattern), trainable=False, collections=[_keys.LOCAL_VARIABLES], validate_shape=False)
