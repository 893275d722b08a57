"""The graph of a concrete function as users see it: its nodes (python/extension/graph_types.c), and what the function knows of it."""
from thalweg import _core


class FuncGraph:
    """A traced graph, with its arguments, results and captures."""

    building_function, finalized, seed, is_control_flow_graph = True, False, None, False

    def __init__(self, concrete):
        self._concrete, self._nodes = concrete, _core.GraphFunction.graph.__get__(concrete)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError("'FuncGraph' object has no attribute %r" % name)
        return getattr(self._nodes, name)

    def __eq__(self, other):
        return self._nodes == (other._nodes if isinstance(other, FuncGraph) else other)

    def __hash__(self):
        return hash(self._nodes)

    def __repr__(self):
        return repr(self._nodes)

    __class__ = property(lambda self: self._nodes.__class__)  # a tf.Graph, whoever asks isinstance

    def as_default(self):
        """A context in which operations become nodes of this graph."""
        return self._nodes.as_default()

    name = property(lambda self: self._nodes.name)
    inputs, outputs, structured_outputs, structured_input_signature, variables, trainable_variables = (
        property(lambda self, name=name: getattr(self._concrete, name)) for name in (
            "inputs", "outputs", "structured_outputs", "structured_input_signature", "variables", "trainable_variables"))
    output_shapes = property(lambda self: [t.shape for t in self.outputs])
    variable_captures = variables
    external_captures = property(lambda self: list(self._concrete.captured_inputs))
    deferred_external_captures = property(lambda self: [])
    version = property(lambda self: len(self._nodes.get_operations()))
    graph_def_versions = property(lambda self: self.as_graph_def().versions)

    @property
    def internal_captures(self):
        """The placeholders of what was captured: the last inputs."""
        inputs = self.inputs
        return inputs[len(inputs) - len(self.external_captures):]

    @property
    def captures(self):
        """Pairs of what was captured and its placeholder."""
        return list(zip(self.external_captures, self.internal_captures))

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph, and the functions it calls, as a GraphDef."""
        return self._nodes.as_graph_def(from_version, add_shapes)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or operation of that name, or what is one already."""
        found = obj
        if isinstance(obj, (str, bytes)):
            text = obj.decode() if isinstance(obj, bytes) else obj
            found = self._nodes.get_tensor_by_name(text) if ":" in text else self._nodes.get_operation_by_name(text)
        is_tensor = _core.is_tensor(found)
        if is_tensor and not allow_tensor or not is_tensor and not allow_operation:
            raise ValueError("Can not convert a %s into a %s." % (("Tensor", "Operation") if is_tensor else ("Operation", "Tensor")))
        return found

    def get_all_collection_keys(self):
        """Graphs of functions have no collections."""
        return []

    def get_collection(self, name, scope=None):
        """Nothing: graphs of functions have no collections."""
        del name, scope
        return []

    def get_name_scope(self):
        """Nothing is being added."""
        return ""
