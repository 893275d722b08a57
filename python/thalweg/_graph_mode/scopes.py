"""Name scopes and control dependencies of graphs; names of collections."""
import contextlib
import threading

import thalweg as tf
from thalweg import _core


class name_scope_of:
    """with graph.name_scope(name): a unique scope; a name that ends in a slash is one that was opened before; None is the root."""

    def __init__(self, name):
        self._name, self._scope = name, None

    def __enter__(self):
        name = self._name
        if name is not None and not isinstance(name, str):
            raise TypeError("'%s' is not a string." % (name,))
        self._scope = tf.name_scope(name or "")
        return self._scope.__enter__() if name else self._scope.__enter__() and ""

    def __exit__(self, *exception):
        self._scope.__exit__(*exception)


class name_scope:
    """with tf.compat.v1.name_scope(name, default_name, values)"""

    def __init__(self, name, default_name=None, values=None, skip_on_eager=True):
        if name is None and default_name is None and values is not None:
            raise ValueError("At least one of name (%s) and default_name (%s) should be provided." % (name, default_name))
        self._name = default_name if name is None else name
        self._scope = name_scope_of(self._name)

    @property
    def name(self):
        """The name it was made with."""
        return self._name

    def __enter__(self):
        return self._scope.__enter__()

    def __exit__(self, *exception):
        self._scope.__exit__(*exception)


class control_dependencies_of:
    """with graph.control_dependencies(operations); without a graph: of the one that is being made"""

    def __init__(self, graph, inputs):
        self._graph, self._inputs = graph or tf.compat.v1, inputs
        self._operations = None if inputs is None else [o for o in map(self._operation, inputs) if o is not None]

    def _operation(self, value):
        if isinstance(value, tf.IndexedSlices):
            value = value.op
        convert = getattr(value, "_as_graph_element", None)
        if convert is not None:
            value = convert()
            if value is None:
                return None  # what an assignment in a function gives: it stands in the program's order anyway
        if _core.is_symbolic(value):
            value = value.op
        if not isinstance(value, tf.Operation):
            raise TypeError("Control input must be Operation or Tensor, not %s" % (value,))
        return value

    def __enter__(self):
        self._graph._push_controls(self._operations or [], self._operations is None)
        return self

    def __exit__(self, *exception):
        self._graph._pop_controls()


def control_dependencies(control_inputs):
    """with tf.control_dependencies(operations): operations made inside run after these."""
    if _core.executing_eagerly():
        return contextlib.nullcontext()
    return control_dependencies_of(None, control_inputs)


def threads_have_graphs():
    """Python's threads that begin from now on are in graph mode, as far as that is on when they begin."""
    begin = threading.Thread._bootstrap_inner
    if hasattr(begin, "_thalweg"):
        return

    def begin_with_graph(thread):
        tf.compat.v1._thread_begin()
        try:
            begin(thread)
        finally:
            tf.compat.v1._thread_end()
    begin_with_graph._thalweg = True
    threading.Thread._bootstrap_inner = begin_with_graph
