"""Functions that users give to steps of datasets: traced once, as graph functions of flat tensors, converted by AutoGraph."""
import functools

from thalweg import _core, _function
from thalweg._data import structure


def trace(function, name, specs):
    """The graph function of a function of elements, and the spec of its result. `specs` are those of the arguments; a tuple alone is given as several
    arguments. The library calls it."""
    if not callable(function):
        raise ValueError("Argument `func` must be a callable. Received func=%s (of type %s)" % (function, type(function)))
    unpack, found = len(specs) == 1 and type(specs[0]) is tuple, []
    flat = [structure.rows._flat_specs(spec) for spec in specs]
    run = _converted(function)

    def body(tensors):
        arguments, at = [], 0
        for spec, own in zip(specs, flat):
            arguments.append(structure.pack(spec, tensors[at:at + len(own)]))
            at += len(own)
        value = _checked(run(*(arguments[0] if unpack else arguments)), name)
        found[:] = [structure.spec_of(value)]
        return structure.tensors_of(value, found[0])
    label = "__inference_Dataset_%s_%s_%d" % (name, _label(function), next(_function._numbers))
    inputs = [spec for own in flat for spec in own]
    from thalweg.autograph import control
    with _function.Tracing(), control.Enabled():
        return _core.trace(_core.GraphFunction, label, ["args_%d" % i for i in range(len(inputs))], inputs, body), found[0]


class Traced:
    """A function of elements: the graph function, and the spec of its result."""

    def __init__(self, function, name, *specs):
        self.graph_function, self.output_spec = trace(function, name, specs)


def _converted(function):
    if isinstance(function, _core.Function) or getattr(function, "autograph_do_not_convert", False):
        return function
    from thalweg import autograph
    return autograph.convert(function)


def _checked(value, name):
    if isinstance(value, list):
        value = tuple(value)
    try:
        return structure.normalize(value)
    except (TypeError, ValueError) as error:
        raise TypeError("Unsupported return value from function passed to Dataset.%s(): %s." % (name, value)) from error


def _label(function):
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)
