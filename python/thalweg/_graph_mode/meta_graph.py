"""tf.compat.v1.train.import_meta_graph: a graph with its collections of variables, and the Saver that it was written with."""
import os

import thalweg as tf
from thalweg import _messages
from thalweg._graph_mode import importing as _importing
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keys = _variables.GraphKeys
_VARIABLES = (_keys.GLOBAL_VARIABLES, _keys.TRAINABLE_VARIABLES, _keys.LOCAL_VARIABLES, _keys.MODEL_VARIABLES, _keys.METRIC_VARIABLES,
              _keys.MOVING_AVERAGE_VARIABLES, _keys.GLOBAL_STEP, _keys.TRAINABLE_RESOURCE_VARIABLES)


def read(meta_graph_or_file):
    """The MetaGraphDef itself, or that of a file."""
    if isinstance(meta_graph_or_file, _messages.MetaGraphDef):
        return meta_graph_or_file
    path = os.fspath(meta_graph_or_file)
    if not os.path.exists(path):
        raise OSError("File %s does not exist." % path)
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _messages.MetaGraphDef.FromString(content)
    except ValueError as error:
        raise OSError("Cannot parse file %s: %s." % (path, error)) from None


def _element(graph, name, prefix):
    """The tensor or operation of that name; None if the graph has none: what stood inside of loops and branches is part of functions."""
    try:
        return graph.as_graph_element(prefix + name)
    except (KeyError, ValueError):
        return None


def _variable(graph, definition, prefix):
    node = prefix + definition.variable_name.split(":")[0]
    handle = _element(graph, definition.variable_name.split(":")[0] + ("" if definition.is_resource else "/.ref"), prefix)
    snapshot = _element(graph, definition.snapshot_name, prefix) if definition.snapshot_name else None
    if handle is None or snapshot is None:
        raise ValueError("import_meta_graph: the variable '%s' is in a collection, but the graph has no such node" % node)
    initializer = _element(graph, definition.initializer_name, prefix) if definition.initializer_name else None
    initial = _element(graph, definition.initial_value_name, prefix) if definition.initial_value_name else None
    return _v1._adopt_variable(handle, node + ":0", snapshot, initializer, initial, definition.trainable)


def _trainable_names(meta):
    lists = meta.collection_def
    if _keys.TRAINABLE_VARIABLES not in lists:
        return set()
    return {_messages.VariableDef.FromString(data).variable_name for data in lists[_keys.TRAINABLE_VARIABLES].bytes_list.value}


def _collect(graph, meta, prefix):
    made, trainable = {}, _trainable_names(meta)
    for key in sorted(meta.collection_def):
        collection = meta.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind == "node_list":
            for name in collection.node_list.value:
                element = _element(graph, name, prefix)
                if element is not None:
                    graph.add_to_collection(key, element)
        elif kind == "bytes_list" and key in _VARIABLES:
            for data in collection.bytes_list.value:
                definition = _messages.VariableDef.FromString(data)
                if definition.variable_name not in made:
                    definition.trainable = definition.variable_name in trainable  # old files do not say it otherwise
                    made[definition.variable_name] = _variable(graph, definition, prefix)
                graph.add_to_collection(key, made[definition.variable_name])
        elif kind in ("int64_list", "float_list"):
            for value in getattr(collection, kind).value:
                graph.add_to_collection(key, value)
    return made


def add_to_graph(graph, meta, import_scope=None, clear_devices=False, input_map=None, model=None):
    """Adds nodes and collections; gives what is put before names. What the nodes do with files is limited to those of the SavedModel in `model`."""
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = _messages.GraphDef.FromString(graph_def.SerializeToString())
        for node in graph_def.node:
            node.device = ""
    prefix = import_scope + "/" if import_scope else ""
    with graph.as_default():
        _importing.import_of_model(graph_def, input_map, None, import_scope or "", model)
        return prefix, _collect(graph, meta, prefix)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the graph of a MetaGraphDef, or of a file of one, to the default graph. Gives its Saver; None if it has no variables."""
    if tf.executing_eagerly():
        raise RuntimeError("Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager execution is enabled.")
    unknown = set(kwargs) - {"input_map"}
    if unknown:
        raise NotImplementedError("import_meta_graph: %s is not supported" % ", ".join(sorted(unknown)))
    meta = read(meta_graph_or_file)
    _, made = add_to_graph(_v1.get_default_graph(), meta, import_scope, clear_devices, kwargs.get("input_map"))
    if meta.saver_def.restore_op_name:
        return _v1.train.Saver(saver_def=meta.saver_def, name=import_scope)
    return _v1.train.Saver(list(made.values())) if made else None
