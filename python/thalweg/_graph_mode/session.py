"""Session and InteractiveSession: fetches and feeds as Python has them, the stack of default sessions."""
import collections
import re
import threading

import thalweg as tf
from thalweg import _core, errors
from thalweg._graph_mode import graph as _graph

_v1 = tf.compat.v1
_CoreSession = _v1._Session
_local = threading.local()


def _stack():
    if not hasattr(_local, "sessions"):
        _local.sessions = []
    return _local.sessions


def get_default_session():
    """The innermost session that was made the default in this thread, or None."""
    sessions = _stack()
    return sessions[-1] if sessions else None


class _Default:
    """with session.as_default(): the thread's default session."""

    def __init__(self, session):
        self._session = session

    def __enter__(self):
        _stack().append(self._session)
        return self._session

    def __exit__(self, *exception):
        sessions = _stack()
        if not sessions or sessions[-1] is not self._session:
            raise AssertionError("Nesting violated for default stack of Session objects")
        sessions.pop()


def _is_leaf(value):
    return isinstance(value, (str, bytes, tf.Operation)) or _core.is_tensor(value) or hasattr(value, "_as_graph_element")


def _flatten(fetches, leaves):
    """The leaves of nested fetches into the list; gives a function that makes the structure of results again."""
    if fetches is None:
        raise TypeError("Argument `fetch` = None has invalid type \"NoneType\". Cannot be None")
    if _is_leaf(fetches):
        pass
    elif isinstance(fetches, dict):
        kind = type(fetches)
        parts = [(key, _flatten(value, leaves)) for key, value in fetches.items()]
        return lambda results: kind((key, part(results)) for key, part in parts)
    elif isinstance(fetches, (list, tuple)):
        kind = type(fetches)._make if hasattr(fetches, "_fields") else tuple if isinstance(fetches, tuple) else list
        parts = [_flatten(value, leaves) for value in fetches]
        return lambda results: kind(part(results) for part in parts)
    elif isinstance(fetches, tf.SparseTensor):
        from thalweg._graph_mode.old_names import SparseTensorValue
        parts = _flatten([fetches.indices, fetches.values, fetches.dense_shape], leaves)
        return lambda results: SparseTensorValue(*parts(results))
    elif isinstance(fetches, tf.RaggedTensor):
        return _flatten_ragged(fetches, leaves)
    elif isinstance(fetches, tf.IndexedSlices):
        parts = _flatten([fetches.values, fetches.indices] + ([] if fetches.dense_shape is None else [fetches.dense_shape]), leaves)
        return lambda results: IndexedSlicesValue(*parts(results))
    leaves.append(fetches)  # if it is something else, the graph says what is wrong with it
    at = len(leaves) - 1
    return lambda results: results[at]


def _flatten_ragged(ragged, leaves):
    parts = _flatten([ragged.flat_values] + list(ragged.nested_row_splits), leaves)

    def rebuild(results):
        values, *splits = parts(results)
        for row_splits in reversed(splits):
            values = _v1.ragged.RaggedTensorValue(values, row_splits)
        return values
    return rebuild


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"], defaults=(None,))
IndexedSlicesValue.__doc__ = "What fetching an IndexedSlices gives."


def _threads_of(config):
    """Says to the engine what of the configuration it can follow."""
    if config.intra_op_parallelism_threads > 0:
        tf.config.threading._session(config.intra_op_parallelism_threads)


_NODE = re.compile(r"\[\[(?:\{\{node )?([^{} \]]*)(?:\}\})?")


def explained(error, graph):
    """The error as a run of a session raises it: with the operation, and where in the program that was made."""
    message = error.message
    if message.startswith("Graph execution error:"):
        return error
    at, operation = _NODE.search(message), None
    try:
        operation = graph.get_operation_by_name(at.group(1)) if at else None
    except KeyError:
        pass
    if operation is None:
        return type(error)(None, None, "Graph execution error:\n\n" + message)
    lines = operation._origin.split("\n") if operation._origin else ["File \"<unknown>\", line 0, in <unknown>"]
    where = "Detected at node '%s' defined at (most recent call last):\n%s\nNode: '%s'\n" % (
        operation.name, "\n".join("    " + line for line in lines), operation.name)
    return type(error)(operation.node_def, operation, "Graph execution error:\n\n" + where + message)


_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def _note_steps(steps, run_metadata):
    """The steps of a run in its RunMetadata."""
    device = run_metadata.step_stats.dev_stats.add(device=_DEVICE)
    for name, op, start, duration, _ in steps:
        device.node_stats.add(node_name=name, timeline_label="%s = %s()" % (name, op), all_start_micros=start // 1000, all_start_nanos=start,
                              op_end_rel_micros=duration // 1000, op_end_rel_nanos=duration, all_end_rel_micros=duration // 1000,
                              all_end_rel_nanos=duration, scheduled_micros=start // 1000, scheduled_nanos=start)


class BaseSession:
    """Runs operations of a graph and evaluates its tensors; holds the state of the graph's variables."""

    def __init__(self, target="", graph=None, config=None):
        if target is None or not isinstance(target, (str, bytes)):
            if target is not None:
                raise TypeError("Argument `target` must be a string. Received type %s" % type(target).__name__)
            target = ""
        if graph is not None and not isinstance(graph, tf.Graph):
            raise TypeError("Argument `graph` must be a tf.Graph, but got \"%s\"" % type(graph).__name__)
        if config is not None:
            from thalweg import _messages
            if not isinstance(config, _messages.ConfigProto):
                raise TypeError("Argument `config` must be a tf.ConfigProto, but got \"%s\"" % type(config).__name__)
            _threads_of(config)
        self._core = _CoreSession(target.decode() if isinstance(target, bytes) else target, graph,
                                  allow_soft_placement=config is not None and config.allow_soft_placement)
        self._runner = _core.Runner(self._core)
        self._config, self._target, self._contexts = config, target, []
        self._partial_runs, self._partial_count = {}, 0

    graph = property(lambda self: self._core.graph, doc="The graph that is run.")
    graph_def = property(lambda self: self.graph.as_graph_def(), doc="The graph as a GraphDef.")
    sess_str = property(lambda self: self._target, doc="The target.")

    def as_default(self):
        """A context in which this session is the default."""
        return _Default(self)

    def close(self):
        """Drops the state of the variables; the session can't be used any more."""
        self._runner.forget()
        self._partial_runs.clear()
        self._core.close()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs operations and evaluates tensors: the values in the structure of the fetches."""
        try:
            if options is not None or run_metadata is not None:
                return self._run_with(fetches, feed_dict, options, run_metadata)
            result = self._runner.run(fetches, feed_dict)
            return self._run_new(fetches, feed_dict) if result is NotImplemented else result
        except errors.OpError as e:
            raise explained(e, self._core.graph) from None

    def _run_with(self, fetches, feed_dict, options, run_metadata):
        """A run whose steps are noted, if the options say so."""
        from thalweg import _messages
        options = _messages.RunOptions.FromString(options.SerializeToString()) if options is not None else _messages.RunOptions()
        if run_metadata is not None:
            run_metadata.ParseFromString(b"")
        for name in ("timeout_in_ms", "output_partition_graphs"):
            if getattr(options, name):
                raise NotImplementedError("Session.run: the option %s is not supported" % name)
        traced = options.trace_level != _messages.RunOptions.NO_TRACE and run_metadata is not None
        if traced and not _v1._trace_begin():
            raise NotImplementedError("Session.run: the steps of another thread's run are being noted")
        try:
            return self.run(fetches, feed_dict)
        finally:
            if traced:
                _note_steps(_v1._trace_end(), run_metadata)

    def _run_new(self, fetches, feed_dict):
        if not self._core.graph.version:
            return self._core.run([])  # which says what is wrong
        leaves = []
        rebuild = _flatten(fetches, leaves)
        graph = self._core.graph
        elements = [_graph.fetch_element(graph, leaf) for leaf in leaves]
        keys, tensors, values = [], [], []
        for key, value in (feed_dict or {}).items():
            for part, part_value in _feed_parts(key, value):
                keys.append(part)
                tensors.append(_graph.feed_element(graph, part))
                values.append(part_value)
        if type(fetches) in (list, tuple) and len(leaves) == len(fetches) and all(a is b for a, b in zip(leaves, fetches)):
            return self._runner.remember(1 if type(fetches) is list else 2, leaves, elements, keys, tensors, values)
        if len(leaves) == 1 and leaves[0] is fetches:
            return self._runner.remember(0, leaves, elements, keys, tensors, values)
        flat = self._runner.run(leaves, feed_dict)  # nested: the flat list is what the runner knows
        return rebuild(self._runner.remember(1, leaves, elements, keys, tensors, values) if flat is NotImplemented else flat)

    def partial_run_setup(self, fetches, feeds=None):
        """A handle for partial_run: these fetches will be asked for, and these feeds given, in several steps."""
        leaves, graph = [], self._core.graph
        _flatten(fetches, leaves)
        tensors = [_graph.feed_element(graph, part) for feed in feeds or [] for part, _ in _feed_parts(feed, feed)]
        try:
            made = self._core.partial_run_setup([_graph.fetch_element(graph, leaf) for leaf in leaves], tensors)
        except errors.OpError as e:
            raise explained(e, graph) from None
        self._partial_count += 1
        handle = "%s->%s//%d/;%d" % (",".join(t.name for t in tensors), ",".join(getattr(leaf, "name", leaf) for leaf in leaves), len(leaves), self._partial_count)
        self._partial_runs[handle] = made
        return handle

    def partial_run(self, handle, fetches, feed_dict=None):
        """Goes on with a run that partial_run_setup began: feeds more of its feeds, gives more of its fetches."""
        leaves, graph = [], self._core.graph
        rebuild = _flatten(fetches, leaves)
        elements = [_graph.fetch_element(graph, leaf) for leaf in leaves]
        keys, values = [], []
        for key, value in (feed_dict or {}).items():
            for part, part_value in _feed_parts(key, value):
                keys.append(_graph.feed_element(graph, part))
                values.append(_core.eager_tensor(part_value, keys[-1].dtype))
        try:
            if handle not in self._partial_runs:
                raise errors.InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
            run = self._partial_runs[handle]
            found = iter(run.step(elements, keys, values))
            if run.over:
                del self._partial_runs[handle]
        except errors.OpError as e:
            raise explained(e, graph) from None
        return rebuild([None if isinstance(e, tf.Operation) else next(found).numpy() for e in elements])

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs these fetches; its arguments are values for the feeds."""
        feeds = list(feed_list or [])

        def run(*values, **options):
            if len(values) > len(feeds):
                raise ValueError("Expected %d feed values, got %d" % (len(feeds), len(values)))
            if options and not accept_options:
                raise TypeError("the function takes no options: make_callable was called without accept_options")
            return self.run(fetches, dict(zip(feeds, values)) if feeds else None, **options)
        return run

    def list_devices(self):
        """The devices that operations run on."""
        return tf.config.list_logical_devices()


def _feed_parts(key, value):
    """A feed of a structure is one feed per part."""
    if isinstance(key, tf.SparseTensor):
        if isinstance(value, tf.SparseTensor):
            value = (value.indices, value.values, value.dense_shape)
        if not isinstance(value, tuple) or len(value) not in (2, 3):
            raise TypeError("The value of a SparseTensor's feed must be a SparseTensorValue or a tuple, got %r" % (value,))
        return list(zip((key.indices, key.values, key.dense_shape), value))
    if isinstance(key, tf.IndexedSlices):
        return [(k, v) for k, v in zip((key.values, key.indices, key.dense_shape), value) if k is not None]
    if isinstance(key, tuple):
        if not isinstance(value, (list, tuple)) or len(key) != len(value):
            raise ValueError("Cannot feed value %r for the key %r" % (value, key))
        return list(zip(key, value))
    return [(key, value)]


class Session(BaseSession):
    """with Session(graph=…) as session: the default session, and its graph the default graph."""

    def __enter__(self):
        graph = self.graph.as_default()
        graph.__enter__()
        default = self.as_default()
        default.__enter__()
        self._contexts.append((graph, default))
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        graph, default = self._contexts.pop()
        default.__exit__(exc_type, exc_value, traceback)
        graph.__exit__(exc_type, exc_value, traceback)
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Not supported: sessions are closed one by one."""
        raise NotImplementedError("Session.reset is not supported")


class InteractiveSession(BaseSession):
    """A session that is the default one from its making until it is closed."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._graph_context = None
        if graph is not None:
            self._graph_context = graph.as_default()
            self._graph_context.__enter__()
        self._default_context = self.as_default()
        self._default_context.__enter__()

    def close(self):
        """Closes it and takes it off the defaults."""
        super().close()
        sessions = _stack()
        if self in sessions:
            sessions.remove(self)
        if self._graph_context is not None:
            self._graph_context.__exit__(None, None, None)
            self._graph_context = None


def _evaluate(element, what, verb, own, feed_dict, session):
    """Runs a tensor or an operation in a session, the default one unless it is told."""
    given = session is not None
    session = session if given else get_default_session()
    if session is None:
        raise ValueError("Cannot %s %s using `%s()`: No default session is registered. Use `with sess.as_default()%s` or pass an explicit session to "
                         "`%s(session=sess)`" % (verb, what, own, ":" if own == "run" else "", own))
    if session.graph is not element.graph:
        raise ValueError("Cannot use the %s session to %s %s: the %s's graph is different from the session's graph.%s" % (
            "given" if given else "default", verb, what, what, "" if given else " Pass an explicit session to %s." % (
                "run(session=sess)" if own == "run" else "`eval(session=sess)`")))
    return session.run(element, feed_dict)


def evaluate(tensor, feed_dict=None, session=None):
    """tensor.eval()"""
    return _evaluate(tensor, "tensor", "evaluate", "eval", feed_dict, session)


def _run_operation(operation, feed_dict=None, session=None):
    """Runs the operation in a session."""
    _evaluate(operation, "operation", "execute", "run", feed_dict, session)


_core.Operation.run = _run_operation
