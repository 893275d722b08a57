"""tf.keras.backend: what is more than one function of the library: choices, loops over sequences, functions of models."""
import contextlib
import sys
import types

import numpy

import thalweg as tf

_nn, _keras, _math = tf.nn, tf.keras, tf.math
_own = tf.keras.backend


# ---- products, choices ----

def switch(condition, then_expression, else_expression):
    """One of two values, or of the results of two functions, by a condition; elementwise if it is no single one."""
    if condition.dtype != tf.bool:
        condition = tf.cast(condition, tf.bool)
    rank = len(condition.shape)
    functions = [(lambda v=v: v() if callable(v) else v) for v in (then_expression, else_expression)]
    if rank == 0:
        return tf.cond(condition, *functions)
    then_expression, else_expression = functions[0](), functions[1]()
    wide = len(then_expression.shape)
    if rank > wide:
        raise ValueError("Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. ndim(condition)=%d, "
                         "ndim(then_expression)=%d" % (rank, wide))
    if rank > 1:
        condition = tf.reshape(condition, tf.concat([tf.shape(condition), [1] * (wide - rank)], 0))
    return tf.where(condition, then_expression, else_expression)


def foldl(fn, elems, initializer=None, name=None):
    """Joins the elements from the first to the last by a function of two."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn, elems, initializer=None, name=None):
    """Joins the elements from the last to the first by a function of two."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


def in_top_k(predictions, targets, k):
    """Whether each target is among the k highest predictions."""
    return _math.in_top_k(targets, predictions, k)


# ---- normalization, losses ----

def moving_average_update(x, value, momentum):
    """Moves a variable towards a value."""
    momentum, value = tf.cast(momentum, x.dtype), tf.cast(value, x.dtype)
    return x.assign_sub((x - value) * (1 - momentum))


# ---- random numbers ----

def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Ones with a probability, else zeros."""
    dtype = dtype or _own.floatx()
    return tf.where(_own.random_uniform(shape, dtype=dtype, seed=seed) <= p, tf.ones(shape, dtype), tf.zeros(shape, dtype))


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of numbers between two limits."""
    seed = numpy.random.randint(10**8) if seed is None else seed
    value = _keras.initializers.RandomUniform(low, high, seed)(shape, dtype=dtype or _own.floatx())
    return _own.variable(value, dtype=dtype or _own.floatx(), name=name)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of numbers with a normal distribution."""
    seed = numpy.random.randint(10**8) if seed is None else seed
    value = _keras.initializers.RandomNormal(mean, scale, seed)(shape, dtype=dtype or _own.floatx())
    return _own.variable(value, dtype=dtype or _own.floatx(), name=name)


# ---- Keras tensors, functions ----

def is_keras_tensor(x):
    """Whether it is what a layer of a model will give."""
    if not isinstance(x, (_keras.__internal__.KerasTensor, tf.Tensor, tf.Variable, tf.SparseTensor, tf.RaggedTensor)):
        raise ValueError("Unexpectedly found an instance of type `%s`. Expected a symbolic tensor instance." % type(x))
    return hasattr(x, "_keras_history")


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """The input of a model, with its batch."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    if shape is None:
        shape = (None,) * (ndim or 0) if ndim else None
    if shape is None:
        raise NotImplementedError("keras.backend.placeholder: a shape, or ndim, is needed")
    return _keras.Input(batch_shape=tuple(shape), dtype=dtype or _own.floatx(), sparse=sparse, ragged=ragged, name=name)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function of values, from Keras tensors to others."""
    if kwargs:
        raise ValueError("Session keyword arguments are not supported during eager execution. You passed: %s" % kwargs)
    if updates:
        raise ValueError("`updates` argument is not supported during eager execution. You passed: %s" % updates)
    model = _keras.Model(inputs, outputs, name=name)
    single = isinstance(outputs, list) and len(outputs) == 1

    def call(model_inputs):
        found = model(model_inputs)
        found = [found] if single and not isinstance(found, list) else found
        return tf.nest.map_structure(lambda v: v.numpy() if tf.is_tensor(v) else v, found)
    return call


def gradients(loss, variables):
    """The gradients of a loss of a graph."""
    return tf.compat.v1.gradients(loss, variables)


def print_tensor(x, message="", summarize=3):
    """Prints a tensor when it is computed, and gives it."""
    if isinstance(x, _keras.__internal__.KerasTensor):
        return _keras.layers.Lambda(lambda v: print_tensor(v, message, summarize))(x)
    tf.print(message, x, output_stream=sys.stdout, summarize=summarize)
    return tf.identity(x)


@contextlib.contextmanager
def learning_phase_scope(value):
    """Layers that are not told train (1) or not (0) in this block."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    before = _own.learning_phase()
    _own.set_learning_phase(value)
    try:
        yield
    finally:
        _own.set_learning_phase(before)


def manual_variable_initialization(value):
    """Whether programs give variables of sessions their first values themselves; eagerly they always have them."""
    global _MANUAL
    _MANUAL = bool(value)


_MANUAL = False


# ---- sequences ----

def _chosen(mask, new, old):
    mask = tf.reshape(mask, tf.concat([tf.shape(mask), [1] * (len(new.shape) - 1)], 0))
    return tf.where(mask, new, old)


def rnn(step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False, input_length=None, time_major=False,
        zero_output_for_mask=False, return_all_outputs=True):
    """Calls a function for each step of a sequence: (the last output, all outputs, the states)."""
    swap = lambda v: tf.transpose(v, [1, 0, *range(2, len(v.shape))])
    if not time_major:
        inputs = tf.nest.map_structure(swap, inputs)
    flat = tf.nest.flatten(inputs)
    steps = flat[0].shape[0] if flat[0].shape[0] is not None else input_length
    if steps is None or tf.is_tensor(steps):
        raise NotImplementedError("keras.backend.rnn: the number of steps is not known; keras.layers.RNN takes such sequences")
    if mask is not None:
        mask = tf.cast(mask, tf.bool)
        mask = mask[..., 0] if len(mask.shape) == 3 else mask
        mask = mask if time_major else swap(mask)
    states, more, outputs, last = tuple(initial_states), tuple(constants or ()), [], None
    order = range(steps - 1, -1, -1) if go_backwards else range(steps)
    for i in order:
        output, new = step_function(tf.nest.map_structure(lambda v: v[i], inputs), states + more)
        if mask is not None:
            before = tf.nest.map_structure(tf.zeros_like, output) if last is None or zero_output_for_mask else last
            output = tf.nest.map_structure(lambda a, b: _chosen(mask[i], a, b), output, before)
            new = tf.nest.map_structure(lambda a, b: _chosen(mask[i], a, b), tuple(new), tuple(states))
        states, last = tuple(new), output
        outputs.append(output)
    if not return_all_outputs:
        outputs = [last]
    joined = tf.nest.map_structure(lambda *parts: tf.stack(parts), *outputs)
    return last, joined if time_major else tf.nest.map_structure(swap, joined), states


# ---- how layers draw ----

experimental = types.ModuleType(tf.keras.backend.__name__ + ".experimental", "How layers draw random numbers.")
_GENERATOR = [False]


def _setter(value, name, text):
    def change():
        _GENERATOR[0] = value
    change.__name__ = change.__qualname__ = name
    change.__doc__ = text
    return change


experimental.enable_tf_random_generator = _setter(True, "enable_tf_random_generator", "Programs may ask for it; layers draw alike either way.")
experimental.disable_tf_random_generator = _setter(False, "disable_tf_random_generator", "Undoes enable_tf_random_generator.")
experimental.is_tf_random_generator_enabled = lambda: _GENERATOR[0]

random_binomial = random_bernoulli
BACKEND = {name: value for name, value in list(globals().items()) if (callable(value) and not name.startswith("_")) or name == "experimental"}
