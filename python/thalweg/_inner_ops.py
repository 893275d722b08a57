"""Functions of tensorflow.python.framework, .ops and .training that programs import and that have no public name, composed of public ones."""
import contextlib
import functools

import thalweg as tf

ENABLE_CONTROL_FLOW_V2 = True


def constant_value_as_shape(tensor):
    """The shape that a tensor of sizes tells, as far as it is known."""
    value = tf.get_static_value(tensor)
    if value is not None:
        return tf.TensorShape([None if size < 0 else int(size) for size in value.reshape(-1)])
    return tf.TensorShape([None] * tensor.shape[0]) if tensor.shape.rank == 1 and tensor.shape[0] is not None else tf.TensorShape(None)


def try_evaluate_constant(tensor):
    """A constant's value, or None."""
    return tf.get_static_value(tensor)


def unknown_shape(rank=None, **kwargs):
    """A shape of which nothing is known, or only the rank."""
    rank = kwargs.pop("ndims", rank)
    return tf.TensorShape(None if rank is None else [None] * rank)


def is_op_determinism_enabled():
    """Whether enable_op_determinism was called."""
    return tf.config.experimental._op_determinism()


def disable_op_determinism():
    """Undoes enable_op_determinism."""
    tf.config.experimental._set_op_determinism(False)


def convert_variables_to_tensors(values):
    """A structure with the values of its variables."""
    return tf.nest.map_structure(lambda value: tf.convert_to_tensor(value) if isinstance(value, tf.Variable) else value, values)


def prevent_gradient(input, message="", name=None):
    """The input; whoever asks for its gradient gets an error."""
    @tf.custom_gradient
    def call(x):
        def refuse(*upstream):
            raise LookupError("Gradient explicitly disabled. Reason: %r" % (message,))
        return tf.identity(x, name=name), refuse
    return call(tf.convert_to_tensor(input))


def setdiff1d(x, y, index_dtype=tf.int32, name=None):
    """The values of x that are not in y, and where they stand."""
    return tf.raw_ops.ListDiff(x=x, y=y, out_idx=index_dtype, name=name)


def shape_internal(input, name=None, optimize=True, out_type=None):
    """The shape as a tensor."""
    del optimize
    return tf.shape(input, out_type=out_type or tf.int32, name=name)


def _bucketize(input, boundaries, name=None):
    """The number of the range that each value lies in."""
    return tf.raw_ops.Bucketize(input=input, boundaries=boundaries, name=name)


def gradients_v2(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
                 unconnected_gradients="none"):
    """tf.gradients."""
    return tf.gradients(ys, xs, grad_ys=grad_ys, name=name, gate_gradients=gate_gradients, aggregation_method=aggregation_method, stop_gradients=stop_gradients,
                        unconnected_gradients=unconnected_gradients)


def broadcast_weights(weights, values):
    """Weights in the shape of the values: of a scalar, or of the same rank with sizes 1 where they are to be repeated."""
    weights, values = tf.convert_to_tensor(weights), tf.convert_to_tensor(values)
    if weights.dtype != values.dtype:
        weights = tf.cast(weights, values.dtype)
    known = weights.shape.rank is not None and values.shape.rank is not None
    if known and weights.shape.rank not in (0, values.shape.rank) or known and any(
            one is not None and one != 1 and other is not None and one != other for one, other in zip(weights.shape, values.shape)):
        raise ValueError("weights can not be broadcast to values. values.rank=%s. weights.rank=%s. values.shape=%s. weights.shape=%s." % (
            values.shape.rank, weights.shape.rank, values.shape, weights.shape))
    return weights * tf.ones_like(values)


def assert_broadcastable(weights, values):
    """Fails unless weights can be broadcast to the values."""
    with tf.control_dependencies([broadcast_weights(weights, values)]):
        return tf.no_op()


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """Labels and predictions without a last dimension of size 1 that only one of them has."""
    with tf.name_scope(name or "remove_squeezable_dimensions"):
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        more = predictions.shape.rank - labels.shape.rank
        if more == expected_rank_diff + 1 and predictions.shape[-1] in (None, 1):
            predictions = tf.squeeze(predictions, [-1])
        elif more == expected_rank_diff - 1 and labels.shape[-1] in (None, 1):
            labels = tf.squeeze(labels, [-1])
        return labels, predictions


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """variable * decay + value * (1 - decay), put into the variable; with zero_debias the mean's bias towards its start is taken out."""
    decay = tf.cast(1.0 - tf.convert_to_tensor(decay, tf.float32 if isinstance(decay, float) else None), variable.dtype)
    value = tf.cast(value, variable.dtype)
    if zero_debias:
        raise NotImplementedError("assign_moving_average(%s): zero_debias=True is not supported" % variable.name)
    return variable.assign_sub((tf.convert_to_tensor(variable) - value) * decay, name=name)


def gen_new_seed(seed, salt):
    """A seed made of a seed and a text."""
    import hashlib
    if seed is None:
        return None
    return int(hashlib.md5((str(seed) + salt).encode("utf-8")).hexdigest()[:8], 16) & 0x7FFFFFFF


@contextlib.contextmanager
def graph_mode():
    """Inside, ops become nodes of a graph."""
    with tf.Graph().as_default():
        yield


class _Context:
    """What programs ask the context of a process for."""
    executing_eagerly = staticmethod(lambda: tf.executing_eagerly())
    num_gpus = staticmethod(lambda: 0)
    ensure_initialized = staticmethod(lambda: None)

    @property
    def device_name(self):
        """The device of the present scope."""
        return None

    def list_physical_devices(self, device_type=None):
        """The machine's devices."""
        return tf.config.list_physical_devices(device_type)

    def list_logical_devices(self, device_type=None):
        """The devices of the program."""
        return tf.config.list_logical_devices(device_type)


_context = _Context()


def context():
    """The context of this process."""
    return _context


def async_wait():
    """Ops are done when their calls return."""


def pfor(loop_fn, iters, fallback_to_while_loop=True, parallel_iterations=None):
    """What a function gives for 0, 1, …, put together."""
    del fallback_to_while_loop, parallel_iterations
    return tf.vectorized_map(loop_fn, tf.range(iters))


def empty_tensor_list(element_shape, element_dtype, max_num_elements=None, name=None):
    """A list without elements."""
    return tf.raw_ops.EmptyTensorList(element_shape=_shape_of(element_shape), max_num_elements=-1 if max_num_elements is None else max_num_elements,
                                      element_dtype=element_dtype, name=name)


def _shape_of(shape):
    shape = shape if tf.is_tensor(shape) else tf.TensorShape(shape)
    if not isinstance(shape, tf.TensorShape):
        return shape
    return tf.constant(-1) if shape.rank is None else tf.constant([-1 if size is None else size for size in shape], tf.int32)


def tensor_list_from_tensor(tensor, element_shape, name=None):
    """A list of a tensor's parts along the first axis."""
    return tf.raw_ops.TensorListFromTensor(tensor=tensor, element_shape=_shape_of(element_shape), name=name)


def tensor_list_stack(input_handle, element_dtype, num_elements=-1, element_shape=None, name=None):
    """The elements as one tensor."""
    return tf.raw_ops.TensorListStack(input_handle=input_handle, element_shape=_shape_of(element_shape), element_dtype=element_dtype, num_elements=num_elements, name=name)


def tensor_list_gather(input_handle, indices, element_dtype, element_shape=None, name=None):
    """Some elements as one tensor."""
    return tf.raw_ops.TensorListGather(input_handle=input_handle, indices=indices, element_shape=_shape_of(element_shape), element_dtype=element_dtype, name=name)


def tensor_list_length(input_handle, name=None):
    """The number of elements."""
    return tf.raw_ops.TensorListLength(input_handle=input_handle, name=name)


def parameterized_truncated_normal(shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=tf.float32, seed=None, name=None):
    """Numbers of normal distributions that are cut off at bounds."""
    raise NotImplementedError("parameterized_truncated_normal is not supported; tf.random.stateless_parameterized_truncated_normal is")


def _case_helper(cond_fn, pred_fn_pairs, default, exclusive, name, allow_python_preds=False, **cond_kwargs):
    """What tf.case does, by a function like tf.cond."""
    del allow_python_preds
    pairs = list(pred_fn_pairs)
    with tf.name_scope(name or "case"):
        checks = [tf.debugging.assert_less(tf.math.count_nonzero([p for p, _ in pairs]), tf.constant(2, tf.int64))] if exclusive else []
        if default is None:
            last, default = pairs.pop()
            checks.append(tf.debugging.Assert(last, ["None of the conditions evaluated as True"]))
        with tf.control_dependencies([check for check in checks if check is not None]):
            chosen = default
            for pred, function in reversed(pairs):
                chosen = functools.partial(cond_fn, pred, function, chosen, **cond_kwargs)
            return chosen()


def make_composite_tensor(cls, module_name="tf.linalg"):
    """Linear operators are made of tensors as they are."""
    del module_name
    return cls
