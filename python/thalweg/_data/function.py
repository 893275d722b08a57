"""Functions that users give to steps of datasets: traced once, as graph functions of flat tensors, converted by AutoGraph."""
import functools

import thalweg as tf
from thalweg import _core, _function
from thalweg._data import structure


class Traced:
    """A function of elements: the graph function, and the spec of its result."""

    def __init__(self, function, name, *specs, unpack=None, keep=False):
        """`specs` are those of the arguments; one that is a tuple is given as several arguments, unless `unpack` says otherwise."""
        if not callable(function):
            raise ValueError("Argument `func` must be a callable. Received func=%s (of type %s)" % (function, type(function)))
        self.specs, self._name = specs, name
        self._unpack = unpack if unpack is not None else len(specs) == 1 and type(specs[0]) is tuple
        self.output_spec = None
        flat = [pair for spec in specs for pair in structure.flat_specs(spec)]
        run = self._converted(function)

        def body(tensors):
            found, arguments = iter(tensors), []
            for spec in specs:
                arguments.append(structure.pack(spec, found))
            if self._unpack:
                arguments = [*arguments[:-1], *arguments[-1]]
            value = self._checked(run(*arguments))
            self.output_spec = structure.spec_of(value)
            self.value = value
            return structure.tensors_of(value, self.output_spec)
        label = "__inference_Dataset_%s_%s_%d" % (name, _label(function), next(_function._numbers))
        from thalweg.autograph import control
        with _function.Tracing(), control.Enabled():
            self.graph_function = _core.trace(_core.GraphFunction, label, ["args_%d" % i for i in range(len(flat))],
                                              [tf.TensorSpec(s, d) for d, s in flat], body)
        if not keep:  # what the function gave, of its graph
            self.value = None

    def _converted(self, function):
        if isinstance(function, _core.Function) or getattr(function, "autograph_do_not_convert", False):
            return function
        from thalweg import autograph
        return autograph.convert(function)

    def _checked(self, value):
        if isinstance(value, list):
            value = tuple(value)
        try:
            return structure.normalize(value)
        except (TypeError, ValueError) as error:
            raise TypeError("Unsupported return value from function passed to Dataset.%s(): %s." % (self._name, value)) from error


def _label(function):
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)
