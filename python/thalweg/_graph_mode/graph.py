"""tf.Graph's side of Python: contexts, collections, elements by name."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import scopes


class _AsDefault:
    """with graph.as_default(): operations become nodes of it."""

    def __init__(self, graph):
        self._graph = graph

    def __enter__(self):
        self._graph._enter()
        return self._graph

    def __exit__(self, *exception):
        self._graph._exit()


def _as_default(self):
    """A context in which operations become nodes of this graph."""
    return _AsDefault(self)


# ---- collections: variables are kept in C, anything else here ----

def _values(self):
    return self.__dict__.setdefault("_collection_values", {})


def _key(name):
    return name if isinstance(name, str) else repr(name)


def _add_to_collection(self, name, value):
    """Stores a value under a name."""
    if isinstance(value, tf.Variable):
        self._collect(_key(name), value)
    else:
        _values(self).setdefault(name, []).append(value)


def _add_to_collections(self, names, value):
    """Stores a value under several names."""
    for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
        _add_to_collection(self, name, value)


def _get_collection(self, name, scope=None):
    """The values under a name; with a scope those whose names begin with it (a regular expression)."""
    values = list(self._variables(_key(name))) + list(_values(self).get(name, []))
    if scope is None:
        return values
    import re
    pattern = re.compile(scope)
    return [value for value in values if hasattr(value, "name") and pattern.match(value.name)]


def _get_collection_ref(self, name):
    """The list of values itself. Variables are not in it."""
    return _values(self).setdefault(name, [])


def _clear_collection(self, name):
    """Forgets the values under a name."""
    _values(self).pop(name, None)
    self._clear_variables(_key(name))


def _collection_names(self):
    names = scopes.variable_collections(self)
    return names + [name for name in _values(self) if name not in names]


def _get_all_collection_keys(self):
    """The names of all collections that hold something."""
    return [name for name in _collection_names(self) if isinstance(name, str)]


# ---- elements ----

def _as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
    """The tensor or operation of this graph that the object is or names."""
    if not allow_tensor and not allow_operation:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    types = " or ".join((["Tensor"] if allow_tensor else []) + (["Operation"] if allow_operation else []))
    convert = getattr(obj, "_as_graph_element", None)
    if convert is not None:
        obj = convert()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        if ":" in obj and allow_tensor:
            return self.get_tensor_by_name(obj)
        if ":" not in obj and allow_operation:
            return self.get_operation_by_name(obj)
        return self.get_tensor_by_name(obj) if allow_tensor else self.get_operation_by_name(obj)
    if isinstance(obj, tf.Operation) and allow_operation:
        if obj.graph is not self:
            raise ValueError("Operation %s is not an element of this graph." % obj)
        return obj
    if _core.is_symbolic(obj) and allow_tensor:
        if obj.graph is not self:
            raise ValueError("Tensor %s is not an element of this graph." % obj)
        return obj
    raise TypeError("Can not convert a %s into a %s." % (type(obj).__name__, types))


def fetch_element(graph, fetch):
    """What of the graph a fetch means."""
    try:
        return _as_graph_element(graph, fetch)
    except TypeError as e:
        raise TypeError("Argument `fetch` = %s has invalid type \"%s\" must be a string or Tensor. (%s)"
                        % (fetch, type(fetch).__name__, e)) from None
    except ValueError as e:
        raise ValueError("Argument `fetch` = %s cannot be interpreted as a Tensor. (%s)" % (fetch, e)) from None
    except KeyError as e:
        raise ValueError("Argument `fetch` = %s cannot be interpreted as a Tensor. (%s)" % (fetch, e)) from None


def feed_element(graph, key):
    """What of the graph a key of a feed_dict means."""
    try:
        return _as_graph_element(graph, key, allow_operation=False)
    except Exception as e:
        raise TypeError("Cannot interpret feed_dict key as Tensor: %s" % (e.args[0] if e.args else e)) from None


def _consumers(self):
    """The operations that use the tensor."""
    return tf.compat.v1._consumers(self)


def _is_feedable(self, tensor):
    """Whether the tensor can be fed: any can."""
    return True


def _operations_property(self):
    return self.get_operations()


def _collections_property(self):
    return _get_all_collection_keys(self)


def _get_seed(self):
    seed = self._seed
    return None if seed < 0 else seed


def _name_scope(self, name):
    """with graph.name_scope(name): names of operations begin with it."""
    return scopes.name_scope_of(name)


def _control_dependencies(self, control_inputs):
    """with graph.control_dependencies(operations): operations made inside run after these."""
    return scopes.control_dependencies_of(self, control_inputs)


def _device(self, device_name_or_function):
    """with graph.device(name): where operations are to run."""
    return tf.device(device_name_or_function)


def _as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
    """The graph as a GraphDef."""
    from thalweg import _messages
    if from_version is not None or add_shapes:
        raise NotImplementedError("Graph.as_graph_def: from_version and add_shapes are not supported")
    with tf.init_scope():
        return _messages.GraphDef.FromString(self._graph_def_bytes())


def _prevent(name):
    def method(self, *args):
        """Accepted: nothing depends on it."""
    method.__name__ = name
    return method


def install():
    """Puts the methods on tf.Graph."""
    graph = _core.Graph
    _core.SymbolicTensor.consumers = _consumers
    for name, value in (("as_default", _as_default), ("add_to_collection", _add_to_collection), ("add_to_collections", _add_to_collections),
                        ("get_collection", _get_collection), ("get_collection_ref", _get_collection_ref),
                        ("clear_collection", _clear_collection), ("get_all_collection_keys", _get_all_collection_keys),
                        ("as_graph_element", _as_graph_element), ("is_feedable", _is_feedable), ("is_fetchable", _is_feedable),
                        ("name_scope", _name_scope), ("control_dependencies", _control_dependencies), ("device", _device),
                        ("as_graph_def", _as_graph_def), ("operations", property(_operations_property)),
                        ("collections", property(_collections_property)), ("seed", property(_get_seed, lambda g, s: g._set_graph_seed(s))),
                        ("building_function", False), ("prevent_fetching", _prevent("prevent_fetching")),
                        ("prevent_feeding", _prevent("prevent_feeding")), ("graph_def_versions", None)):
        setattr(graph, name, value)
