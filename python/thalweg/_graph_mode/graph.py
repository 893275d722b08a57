"""tf.Graph's side of Python: contexts, collections, elements by name."""
import re

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


def _values(graph):
    """The collections' values that are no variables; these are kept in C."""
    return graph.__dict__.setdefault("_collection_values", {})


def _key(name):
    return name if isinstance(name, str) else repr(name)


class Members:
    """What is put onto the type tf.Graph."""

    building_function, graph_def_versions = False, None
    operations = property(lambda self: self.get_operations())
    collections = property(lambda self: self.get_all_collection_keys())
    seed = property(lambda self: None if self._seed < 0 else self._seed, lambda self, seed: self._set_graph_seed(seed))

    def as_default(self):
        """A context in which operations become nodes of this graph."""
        return _AsDefault(self)

    def add_to_collection(self, name, value):
        """Stores a value under a name."""
        if isinstance(value, tf.Variable):
            self._collect(_key(name), value)
        else:
            _values(self).setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        """Stores a value under several names."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        """The values under a name; with a scope those whose names begin with it (a regular expression)."""
        values = list(self._variables(_key(name))) + list(_values(self).get(name, []))
        return values if scope is None else [value for value in values if hasattr(value, "name") and re.match(scope, value.name)]

    def get_collection_ref(self, name):
        """The list of values itself. Variables are not in it."""
        return _values(self).setdefault(name, [])

    def clear_collection(self, name):
        """Forgets the values under a name."""
        _values(self).pop(name, None)
        self._clear_variables(_key(name))

    def get_all_collection_keys(self):
        """The names of all collections that hold something."""
        names = [name for name in self._collection_names() if name and self._variables(name)]
        return names + [name for name in _values(self) if name not in names and isinstance(name, str)]

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
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

    def is_feedable(self, tensor):
        """Whether the tensor can be fed: any can."""
        return True

    def is_fetchable(self, tensor_or_op):
        """Whether it can be fetched: any can."""
        return True

    def prevent_feeding(self, tensor):
        """Accepted: nothing depends on it."""

    def prevent_fetching(self, op):
        """Accepted: nothing depends on it."""

    def name_scope(self, name):
        """with graph.name_scope(name): names of operations begin with it."""
        return scopes.name_scope_of(name)

    def control_dependencies(self, control_inputs):
        """with graph.control_dependencies(operations): operations made inside run after these."""
        return scopes.control_dependencies_of(self, control_inputs)

    def device(self, device_name_or_function):
        """with graph.device(name): where operations are to run."""
        return tf.device(device_name_or_function)

    def as_graph_def(self, from_version=None, add_shapes=False, *, use_pybind11_proto=False):
        """The graph as a GraphDef."""
        from thalweg import _messages
        if from_version is not None:
            raise NotImplementedError("Graph.as_graph_def: from_version is not supported")
        with tf.init_scope():
            return _messages.GraphDef.FromString(self._graph_def_bytes(bool(add_shapes)))


def fetch_element(graph, fetch):
    """What of the graph a fetch means."""
    try:
        return graph.as_graph_element(fetch)
    except TypeError as e:
        raise TypeError("Argument `fetch` = %s has invalid type \"%s\" must be a string or Tensor. (%s)"
                        % (fetch, type(fetch).__name__, e)) from None
    except (KeyError, ValueError) as e:
        raise ValueError("Argument `fetch` = %s cannot be interpreted as a Tensor. (%s)" % (fetch, e)) from None


def feed_element(graph, key):
    """What of the graph a key of a feed_dict means."""
    try:
        return graph.as_graph_element(key, allow_operation=False)
    except Exception as e:
        raise TypeError("Cannot interpret feed_dict key as Tensor: %s" % (e.args[0] if e.args else e)) from None


def install():
    """Puts the members on tf.Graph."""
    tf._put(Members, _core.Graph)
    _core.SymbolicTensor.consumers = lambda self: tf.compat.v1._consumers(self)
