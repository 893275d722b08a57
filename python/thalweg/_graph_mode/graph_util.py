"""tf.compat.v1.graph_util: messages around what C does with serialized GraphDefs (src/v1/graph_util.c)."""
import thalweg as tf
from thalweg import _core, _messages

_v1 = tf.compat.v1
_rows = _v1.graph_util


def extract_sub_graph(graph_def, dest_nodes):
    """The nodes that some nodes need."""
    if not isinstance(graph_def, _messages.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto, but got type %s." % type(graph_def))
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings, but got type %s." % type(dest_nodes))
    return _messages.GraphDef.FromString(_rows._extract_sub_graph(graph_def.SerializeToString(), list(dest_nodes)))


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None):
    """The part of a graph that some nodes need, with the session's values in the place of variables."""
    part = extract_sub_graph(input_graph_def, output_node_names)
    names = [n.name for n in part.node if n.op == "VarHandleOp" and (variable_names_whitelist is None or n.name in variable_names_whitelist)
             and (variable_names_blacklist is None or n.name not in variable_names_blacklist)]
    by_name = {v.op.name: v for v in sess.graph._variables("")}
    values = sess.run([by_name[name] for name in names]) if names else []
    return _messages.GraphDef.FromString(_rows._variables_to_constants(part.SerializeToString(), names, [_core.call_eagerly(tf.convert_to_tensor, v) for v in values]))


def remove_training_nodes(input_graph, protected_nodes=None):
    """The graph without CheckNumerics and needless Identity nodes."""
    made = _rows._remove_training_nodes(input_graph.SerializeToString(), list(protected_nodes or []))
    return _messages.GraphDef.FromString(made)
