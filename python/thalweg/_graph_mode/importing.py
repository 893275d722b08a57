"""tf.import_graph_def and what an operation tells of its node."""
import thalweg as tf
from thalweg import _core, _messages


def _map_of(input_map, nodes):
    unknown = [name for name in input_map if name.lstrip("^").split(":")[0] not in nodes]
    if unknown:
        raise ValueError("Attempted to map inputs that were not found in graph_def: [%s]" % ", ".join(sorted(unknown)))
    return list(input_map), [tf.convert_to_tensor(value) for value in input_map.values()]


def import_graph_def(graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None):
    """Adds the nodes of a GraphDef to the default graph; gives the elements that are asked for."""
    return import_of_model(graph_def, input_map, return_elements, name, None)


def import_of_model(graph_def, input_map, return_elements, name, model):
    """The same; what the nodes do with files is limited to those of the SavedModel in the directory `model`, unless it is None."""
    if not isinstance(graph_def, _messages.GraphDef):
        raise TypeError("Argument `graph_def` must be a GraphDef proto. Received: %r" % (graph_def,))
    if input_map is not None and not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError("Argument `input_map` must be a dictionary mapping strings to Tensor objects. Received: %r" % (input_map,))
    if return_elements is not None:
        return_elements = tuple(return_elements)
        if not all(isinstance(x, (str, bytes)) for x in return_elements):
            raise TypeError("Argument `return_elements` must be a list of strings. Received: %r" % (return_elements,))
    if _core.executing_eagerly():
        raise RuntimeError("import_graph_def: there is no graph to import into; use `with tf.Graph().as_default():`")
    graph = tf.compat.v1.get_default_graph()
    nodes = {node.name for node in graph_def.node}
    for element in return_elements or ():
        element = tf.compat.as_text(element)
        if element.split(":")[0] not in nodes:
            raise ValueError("Requested return %s '%s' not found in graph def" % ("tensor" if ":" in element else "node", element))
    names, tensors = _map_of({tf.compat.as_text(k): v for k, v in (input_map or {}).items()}, nodes)
    prefix = ""
    if name != "":
        with graph.name_scope("import" if name is None else name) as prefix:
            pass
    try:
        graph._import(graph_def.SerializeToString(), prefix, names, tensors, model)
    except (tf.errors.InvalidArgumentError, tf.errors.NotFoundError) as e:
        raise ValueError(str(e)) from None
    if return_elements is None:
        return None
    return [graph.as_graph_element(prefix + tf.compat.as_text(element)) for element in return_elements]


# ---- operations ----

def _node_def(self):
    """The node as a NodeDef."""
    return _messages.GraphDef.FromString(self._node_def_bytes()).node[0]


def _get_attr(self, name):
    """The value of an attribute."""
    attrs = _node_def(self).attr
    if name not in attrs:
        raise ValueError("Operation '%s' has no attr named '%s'." % (self.name, name))
    value = attrs[name]
    kind = value.WhichOneof("value")
    if kind == "type":
        return tf.as_dtype(value.type)
    if kind == "list":
        if value.list.type:
            return [tf.as_dtype(t) for t in value.list.type]
        for field in ("s", "i", "f", "b", "shape", "tensor", "func"):
            if len(getattr(value.list, field)):
                return list(getattr(value.list, field))
        return []
    return getattr(value, kind) if kind else None


def _values(self):
    """The outputs."""
    return tuple(self.outputs)


def install():
    """Puts the properties on tf.Operation."""
    operation = _core.Operation
    operation.node_def, operation.get_attr, operation.values = property(_node_def), _get_attr, _values
    operation.__str__ = lambda self: str(_node_def(self))
    operation.colocation_groups = lambda self: [b"loc:@" + self._colocation.encode()]
