"""tf.custom_gradient, tf.gradients and their kin: functions of Python functions and nested structures, over what C derives."""
import functools
import inspect
import sys
import types

import thalweg
from thalweg import _core, nest


# ---- gradients that users define ----

def _tensor(value):
    """What stands for an argument: a variable's handle (in graphs its value, as in TensorFlow's, so that others can read it in files), a tensor."""
    return value.handle if isinstance(value, thalweg.Variable) and not _core._tracing() else thalweg.convert_to_tensor(value)


def _takes_variables(grad_fn):
    try:
        parameters = inspect.signature(grad_fn).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == "variables" or p.kind == p.VAR_KEYWORD for p in parameters)


def _backward_of(grad_fn, count, variables):
    """From the gradients of the results to one flat list: the arguments' and the variables'."""
    def backward(gradients):
        if variables:
            result = grad_fn(*gradients, variables=list(variables))
            if not isinstance(result, (list, tuple)) or len(result) != 2:
                raise ValueError("Expected a pair of gradients, of the arguments and of the variables, from a custom_gradient function that uses variables.")
            of_inputs, of_variables = result
            of_variables = nest.flatten(of_variables)
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_inputs, of_variables = grad_fn(*gradients), []
        flat = nest.flatten(of_inputs)
        if len(flat) != count:
            raise ValueError("custom_gradient function expected to return %d gradients, but returned %d instead." % (count, len(flat)))
        return flat + of_variables
    return backward


def _call_custom(f, args, kwargs):
    if kwargs and _core._tracing():
        raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled.")
    with thalweg.GradientTape() as watcher:
        result, grad_fn = f(*args, **kwargs)
    flat_args = nest.flatten([list(args), kwargs])
    own = {id(a) for a in flat_args}
    variables = [v for v in watcher.watched_variables() if id(v) not in own]
    if variables and not _takes_variables(grad_fn):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: %s" % (variables,))
    inputs = nest.flatten(list(args))
    results = [thalweg.convert_to_tensor(r) for r in nest.flatten(result)]
    tensors = [_tensor(a) for a in inputs + variables]
    outputs = _core._custom_gradient(results, tensors, _backward_of(grad_fn, len(inputs), variables))
    return nest.pack_sequence_as(result, outputs)


class Bind:
    """A function with a gradient of its own; as a method it is bound like one."""

    def __init__(self, f):
        self._f = f
        functools.update_wrapper(self, f)

    def __call__(self, *args, **kwargs):
        return _call_custom(self._f, args, kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else Bind(types.MethodType(self._f, instance))


def custom_gradient(f=None):
    """Decorates a function that returns its result and a function that computes the gradient."""
    if f is None:
        return custom_gradient
    return Bind(f)


def recompute_grad(f):
    """A function whose inner values are not kept for the gradient, but computed again."""
    @functools.wraps(f)
    def again(*args, **kwargs):
        structure = [list(args), kwargs]
        flat = nest.flatten(structure)
        places = [i for i, a in enumerate(flat) if _core.is_tensor(a) and not isinstance(a, thalweg.Variable)]
        tensors = [flat[i] for i in places]
        for i in places:
            flat[i] = None
        shape = []

        def run(given):
            inner = list(flat)
            for i, tensor in zip(places, given):
                inner[i] = tensor
            own_args, own_kwargs = nest.pack_sequence_as(structure, inner)
            result = f(*own_args, **own_kwargs)
            if not shape:
                shape.append(nest.map_structure(lambda _: None, result))
            return [thalweg.convert_to_tensor(r) for r in nest.flatten(result)]
        outputs = _core._recompute_grad(run, tensors)
        return nest.pack_sequence_as(shape[0], outputs)
    return again


# ---- derivatives in graphs ----

def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _word(unconnected_gradients):
    word = getattr(unconnected_gradients, "value", unconnected_gradients)
    if word not in ("none", "zero"):
        raise ValueError("Unknown value for unconnected_gradients: %r" % (unconnected_gradients,))
    return word


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients="none"):
    """The derivatives of the sum of ys by each of xs, added to the graph; in a tf.function."""
    del gate_gradients, aggregation_method  # they change how TensorFlow computes it, not what
    overrides = sys.modules.get("thalweg._graph_mode.overrides")
    if overrides is not None:
        overrides.apply()
    ys, xs = _as_list(ys), _as_list(xs)
    seeds = None if grad_ys is None else _as_list(grad_ys)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    return _core._gradients(ys, xs, seeds, stops, _word(unconnected_gradients), name or "gradients")


# ---- Jacobians ----

def jacobian(self, target, sources, unconnected_gradients="none", parallel_iterations=None, experimental_use_pfor=True):
    """The derivatives of every element of a target by each source: the target's dimensions, then the source's."""
    del parallel_iterations, experimental_use_pfor  # it is a loop
    target.shape  # a list has none: TensorFlow's error
    flat = nest.flatten(sources)
    return nest.pack_sequence_as(sources, self._jacobian(target, flat, _word(unconnected_gradients)))


def batch_jacobian(self, target, source, unconnected_gradients="none", parallel_iterations=None, experimental_use_pfor=True):
    """The derivatives within every member of a batch: [batch, the rest of target, the rest of source]."""
    del parallel_iterations, experimental_use_pfor
    return self._batch_jacobian(target, source, _word(unconnected_gradients))


# ---- forward ----

class ForwardAccumulator:
    """Jacobian-vector products: `with ForwardAccumulator(primals, tangents) as a: y = f(primals)`, then a.jvp(y)."""

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        flat = nest.flatten(primals)
        given = [thalweg.convert_to_tensor(t, p.dtype) for t, p in zip(nest.flatten(tangents), flat)]
        self._inner = thalweg.autodiff._ForwardAccumulator(flat, given)

    def __enter__(self):
        self._inner._start()
        return self

    def __exit__(self, *exception):
        self._inner._stop()

    def jvp(self, primals, unconnected_gradients="none"):
        """The derivative of what was computed, in the direction of the tangents."""
        zero = _word(unconnected_gradients) == "zero"
        flat = [self._inner._jvp(p, zero)[0] for p in nest.flatten(primals)]
        return nest.pack_sequence_as(primals, flat)
