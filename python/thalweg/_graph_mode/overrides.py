"""Gradients that a program registers by name (tf.RegisterGradient) and gives to nodes of a graph (Graph.gradient_override_map)."""
import contextlib

from thalweg import _core, _surface


class _Operation:
    """The operation as a gradient function sees it: inputs and outputs are those of the place where the gradient is computed."""

    def __init__(self, operation, inputs, outputs):
        self._operation, self.inputs, self.outputs = operation, inputs, outputs

    def __getattr__(self, name):
        return getattr(self._operation, name)


def _gradient(operation, name):
    """What computes the gradient of a node: the function that has the name when it is asked for."""
    def call(inputs, outputs, gradients):
        if name not in _surface._gradients:
            raise LookupError("gradient registry has no entry for: " + name)
        function = _surface._gradients[name]
        if function is None:
            return [None] * len(inputs)
        made = function(_Operation(operation, inputs, outputs), *gradients)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(made) != len(inputs):
            raise ValueError("Num gradients %d generated for op %s do not match num inputs %d" % (len(made), operation.node_def, len(inputs)))
        return made
    return call


def apply():
    """Gives the nodes that were made under an open map their gradients."""
    for graph, begun, names in _open:
        operations = graph.get_operations()
        for operation in operations[begun[0]:]:
            name = names.get(operation.type)
            if name is not None:
                _core._override_gradient(operation, _gradient(operation, name), name)
        begun[0] = len(operations)


_open = []


@contextlib.contextmanager
def gradient_override_map(self, op_type_map):
    """with graph.gradient_override_map({"Relu": "Guided"}): nodes of these ops have the gradients that were registered by these names."""
    if not isinstance(op_type_map, dict):
        raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    for op_type, name in op_type_map.items():
        if not (isinstance(op_type, str) and isinstance(name, str)):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    apply()
    _open.append((self, [len(self.get_operations())], dict(op_type_map)))
    try:
        yield
    finally:
        apply()
        _open.pop()


def install():
    """Puts the method on tf.Graph."""
    _core.Graph.gradient_override_map = gradient_override_map
