"""tf.compat.v1.graph_util: parts of GraphDefs, and graphs whose variables became constants."""
import thalweg as tf
from thalweg import _messages

_v1 = tf.compat.v1


def _source(text):
    """The node that an input names."""
    return text.lstrip("^").split(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The nodes that some nodes need."""
    if not isinstance(graph_def, _messages.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto, but got type %s." % type(graph_def))
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings, but got type %s." % type(dest_nodes))
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError("%s is not in graph" % name)
    needed, waiting = set(), list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [_source(text) for text in nodes[name].input]
    out = _messages.GraphDef()
    for node in graph_def.node:
        if node.name in needed:
            out.node.add().CopyFrom(node)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _constant(node, value):
    """The node as a constant."""
    with tf.Graph().as_default():
        found = tf.constant(value).op.node_def
    found.name = node.name
    return found


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None):
    """The part of a graph that some nodes need, with the session's values in the place of variables."""
    part = extract_sub_graph(input_graph_def, output_node_names)
    handles = [n.name for n in part.node if n.op == "VarHandleOp" and (variable_names_whitelist is None or n.name in variable_names_whitelist)
               and (variable_names_blacklist is None or n.name not in variable_names_blacklist)]
    by_name = {v.op.name: v for v in sess.graph._variables("")}
    values = dict(zip(handles, sess.run([by_name[name] for name in handles]))) if handles else {}
    out = _messages.GraphDef()
    for node in part.node:
        if node.name in values:
            out.node.add().CopyFrom(_constant(node, values[node.name]))
        elif node.op == "ReadVariableOp" and _source(node.input[0]) in values:
            read = _messages.NodeDef(name=node.name, op="Identity", device=node.device)
            read.input.extend(list(node.input))
            read.attr["T"].type = node.attr["dtype"].type
            out.node.add().CopyFrom(read)
        else:
            out.node.add().CopyFrom(node)
    out.library.CopyFrom(part.library)
    out.versions.CopyFrom(part.versions)
    return out


def remove_training_nodes(input_graph, protected_nodes=None):
    """The graph without CheckNumerics and needless Identity nodes."""
    protected = set(protected_nodes or [])
    passed = {}
    followed = {_source(text) for node in input_graph.node for text in node.input if text.startswith("^")}
    for node in input_graph.node:
        plain = len(node.input) == 1 and not node.input[0].startswith("^")
        if node.op in ("CheckNumerics", "Identity") and plain and node.name not in protected and node.name not in followed:
            passed[node.name] = node.input[0]
    out = _messages.GraphDef()
    for node in input_graph.node:
        if node.name in passed:
            continue
        copy = out.node.add()
        copy.CopyFrom(node)
        inputs = []
        for text in node.input:
            while text in passed:
                text = passed[text]
            inputs.append(text)
        del copy.input[:]
        copy.input.extend(inputs)
    out.library.CopyFrom(input_graph.library)
    out.versions.CopyFrom(input_graph.versions)
    return out


def install():
    """Makes tf.compat.v1.graph_util."""
    import sys
    module = _v1.graph_util = type(sys)(_v1.__name__ + ".graph_util")
    sys.modules[module.__name__] = module
    for value in (extract_sub_graph, convert_variables_to_constants, remove_training_nodes):
        setattr(module, value.__name__, value)
    module.import_graph_def = _v1.import_graph_def
