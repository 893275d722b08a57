"""tf.compat.v1.wrap_function: a graph that a Python function builds, called with tensors; and parts of it (prune)."""
import inspect

import thalweg as tf
from thalweg import _core, _saved_model, _structure

_v1 = tf.compat.v1


def _spec(value):
    return tf.TensorSpec(value.shape, value.dtype)


def _fetched(graph, value):
    """(what is fetched, what stands in its place in the result's structure)."""
    if isinstance(value, (str, bytes)):
        value = graph.as_graph_element(tf.compat.as_text(value))
    elif hasattr(value, "name") and not isinstance(value, (tf.Operation, tf.Variable)) and not _core.is_tensor(value):
        value = graph.as_graph_element(value.name)  # a TensorInfo
    if isinstance(value, tf.Operation):
        return value, None
    if isinstance(value, tf.Variable):
        value = value._snapshot if value._snapshot is not None else value
    return value, _spec(value)


class WrappedFunction(_saved_model.LoadedFunction):
    """A function of a graph that was built before."""

    _owner = None

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """A function of the part of the graph between feeds and fetches, with the same variables."""
        del name, input_signature  # names of functions are made here; tensors have dtypes and shapes
        return self._owner.function(feeds, fetches)

    graph = property(lambda self: self._owner.graph)
    variables = property(lambda self: self._owner.variables)
    trainable_variables = property(lambda self: tuple(v for v in self._owner.variables if v.trainable))


class Owner:
    """A graph and the session that has its variables."""

    def __init__(self, graph, session, kept=None):
        self.graph, self.session, self._kept, self._variables = graph, session, kept, None

    @property
    def variables(self):
        if self._variables is None:
            self._variables = tuple(self.session._variables())
        return self._variables

    def function(self, feeds, fetches, parameters=None):
        """The part between feeds and fetches as a function of the flat feeds."""
        feeds = [self.graph.as_graph_element(feed, allow_operation=False) if isinstance(feed, (str, bytes)) else feed for feed in tf.nest.flatten(feeds)]
        feeds = [self.graph.as_graph_element(feed.name) if not _core.is_tensor(feed) else feed for feed in feeds]
        leaves, places = [], []
        for leaf in tf.nest.flatten(fetches):
            if leaf is None:
                places.append(None)
                continue
            leaf, place = _fetched(self.graph, leaf)
            leaves.append(leaf)
            places.append(place)
        trace = self.session._function(feeds, leaves)
        made = _core.saved_graph_function(WrappedFunction, trace)
        made._owner, made._trace = self, trace
        made._results = tf.nest.pack_sequence_as(fetches, places)
        kinds = inspect.Parameter
        names = parameters or ["args_%d" % i for i in range(len(feeds))]
        made._parameters = [kinds(n, kinds.POSITIONAL_OR_KEYWORD) for n in names]
        made._signature = [_spec(feed) for feed in feeds]
        made._inputs = _structure.leaves(made._signature)
        made._names = list(names)
        return made


def wrap_function(fn, signature, name=None):
    """Calls a Python function once, in a graph, with placeholders of the signature; gives the graph as a function."""
    graph = tf.Graph()
    with graph.as_default():
        leaves = [_v1.placeholder(s.dtype, s.shape, name=getattr(s, "name", None)) for s in tf.nest.flatten(signature)]
        packed = tf.nest.pack_sequence_as(signature, leaves) if leaves else signature
        if isinstance(packed, (list, tuple)):
            results = fn(*packed)
        elif isinstance(packed, dict):
            results = fn(**packed)
        else:
            results = fn(packed)
    variables = graph.get_collection("variables") + graph.get_collection("local_variables")
    session = _v1.Session(graph=graph)
    if variables:
        session.run([v.initializer for v in variables])
    owner = Owner(graph, session._core, session)
    if results is not None:
        with graph.as_default():
            results = tf.nest.map_structure(lambda r: r if r is None or isinstance(r, (tf.Operation, tf.Variable)) else tf.convert_to_tensor(r), results)
    return owner.function(leaves, results if results is not None else [])


def attach(root):
    """The root of a SavedModel of TensorFlow 1 has its graph, and parts of it as functions."""
    owner = Owner(root._graph, root._session)
    root.__dict__["graph"] = root._graph
    root.__dict__["prune"] = lambda feeds, fetches, name=None, input_signature=None: owner.function(feeds, fetches)
