"""tf.compat.v1.summary: summaries as tensors, and the FileWriter that puts them into event files (src/format)."""
import os
import warnings

import thalweg as tf
from thalweg import _core, _messages

_v1 = tf.compat.v1


def _bytes(value, kind):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if hasattr(value, "SerializeToString"):  # also another library's class for the same message
        return value.SerializeToString()
    if hasattr(value, "item") and isinstance(value.item(), bytes):
        return value.item()
    raise TypeError("a %s or its bytes were expected, got %r" % (kind.__name__, value))


class FileWriter(_v1.summary._FileWriter):
    """Writes events for TensorBoard into a file of a directory."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None):
        if _core.executing_eagerly():
            raise RuntimeError("v1.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`,or a `with "
                               "v1.Graph().as_default():` context")
        if session is not None:
            raise NotImplementedError("FileWriter: session is not supported: run the summaries and add what they give")
        super().__init__(os.fspath(logdir), max_queue, flush_secs, filename_suffix)
        self._run_tags, self._plugins = set(), {}
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def _open(self):
        if self._closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened.",
                          stacklevel=3)

    def add_summary(self, summary, global_step=None):
        """Adds a Summary, or its bytes."""
        self._open()
        message = _messages.Summary.FromString(_bytes(summary, _messages.Summary))
        for value in message.value:  # what a plugin needs is said once per tag
            if value.HasField("metadata"):
                if value.tag in self._plugins:
                    value.ClearField("metadata")
                else:
                    self._plugins[value.tag] = True
        self._add_summary(message.SerializeToString(), _step(global_step))

    def add_event(self, event):
        """Adds an Event."""
        self._open()
        self._add_event(_bytes(event, _messages.Event))

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Adds a graph."""
        self._open()
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        made = graph.as_graph_def(add_shapes=True) if isinstance(graph, tf.Graph) else graph_def if graph is None else graph
        if not isinstance(made, _messages.GraphDef):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add_graph_def(made.SerializeToString(), _step(global_step))
        if isinstance(graph, tf.Graph):
            from thalweg._graph_mode import train
            self._add_meta_graph(train.export_meta_graph(graph=graph).SerializeToString())

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Adds a MetaGraphDef."""
        self._open()
        if not isinstance(meta_graph_def, _messages.MetaGraphDef):
            raise TypeError("meta_graph_def must be type MetaGraphDef, saw type: %s" % type(meta_graph_def))
        self._add_meta_graph(meta_graph_def.SerializeToString(), _step(global_step))

    def add_session_log(self, session_log, global_step=None):
        """Adds a SessionLog."""
        self._open()
        self._add_session_log(_bytes(session_log, _messages.SessionLog), _step(global_step))

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Adds a RunMetadata under a tag."""
        self._open()
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        made = _messages.TaggedRunMetadata(tag=tag, run_metadata=_bytes(run_metadata, _messages.RunMetadata))
        self._add_run_metadata(made.SerializeToString(), _step(global_step))


def _step(global_step):
    return None if global_step is None else int(global_step)


class FileWriterCache:
    """One FileWriter per directory."""
    _cache = {}

    @classmethod
    def get(cls, logdir):
        """The writer of that directory."""
        if logdir not in cls._cache:
            cls._cache[logdir] = FileWriter(logdir, graph=_v1.get_default_graph())
        return cls._cache[logdir]

    @classmethod
    def clear(cls):
        """Closes them all."""
        for writer in cls._cache.values():
            writer.close()
        cls._cache.clear()


def merge_all(key="summaries", scope=None, name=None):
    """All summaries of the default graph in one; None if there are none."""
    if _core.executing_eagerly():
        raise RuntimeError("Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead.")
    found = _v1.get_collection(key, scope=scope)
    return _v1.summary.merge(found, name=name) if found else None


def _left_out(name):
    def summary(*args, **kwargs):
        raise NotImplementedError("tf.compat.v1.summary.%s is not supported; tf.summary's functions with a writer are" % name)
    summary.__name__, summary.__doc__ = name, "Not supported."
    return summary


def install():
    """Fills tf.compat.v1.summary."""
    for name in ("image", "audio", "text", "tensor_summary"):
        setattr(_v1.summary, name, _left_out(name))
    for name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"):
        setattr(_v1.summary, name, getattr(_messages, name))
    _v1.SummaryMetadata, _v1.SessionLog, _v1.HistogramProto = _messages.SummaryMetadata, _messages.SessionLog, _messages.HistogramProto
    _v1.LogMessage = _messages.LogMessage
