"""tf.summary: what wants Python's own protocols over the library's rows (src/summary): with, messages, traces of functions."""
import collections
import contextlib
import os

import thalweg as tf
from thalweg import _core, _messages

_rows = tf.summary


class _Context:
    """A state of the thread between __enter__ and __exit__."""

    def __init__(self, given, **state):
        self._given, self._state = given, state

    def __enter__(self):
        _rows._push(**self._state)
        return self._given

    def __exit__(self, *exception):
        writer = self._state.get("writer")
        _rows._pop()
        if writer is not None and not writer._closed:
            writer.flush()


class SummaryWriter(_rows._SummaryWriter):
    """Writes summaries for TensorBoard."""

    def _open(self):
        if self._closed:
            raise RuntimeError("SummaryWriter %r is already closed" % self)

    def init(self):
        """What was done when it was made."""

    def as_default(self, step=None):
        """with writer.as_default(): summaries go to it, with that step if they have none of their own."""
        if isinstance(self, _NoopWriter):
            return _Context(self)
        self._open()
        return _Context(self, writer=self, step=step)

    def set_as_default(self, step=None):
        """From now on summaries of this thread go to it."""
        if isinstance(self, _NoopWriter):
            return
        self._open()
        _rows._set_default(self)
        if step is not None:
            _rows.experimental.set_step(step)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None, experimental_trackable=False,
                       experimental_mesh=None):
    """A writer into a new file of a directory."""
    del name
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if experimental_trackable or experimental_mesh is not None:
        raise NotImplementedError("create_file_writer: experimental_trackable and experimental_mesh are not supported")
    if _core.is_tensor(logdir):
        logdir = logdir.numpy()
    with tf.init_scope():
        return SummaryWriter(os.fsdecode(logdir), 10 if max_queue is None else int(max_queue), 120000 if flush_millis is None else int(flush_millis),
                             ".v2" if filename_suffix is None else str(filename_suffix))


class _NoopWriter(SummaryWriter):
    """A writer that writes nothing, and leaves the default as it is."""


def create_noop_writer():
    """A writer that writes nothing."""
    return _NoopWriter()


def flush(writer=None, name=None):
    """Writes what waits in a writer, or in the default one."""
    del name
    if writer is None:
        _rows._flush()
    else:
        writer.flush()


def record_if(condition):
    """with tf.summary.record_if(condition): summaries are written only where the condition (a bool, a tensor, a function) holds."""
    if callable(condition):
        return _Context(None, ask=lambda unused: tf.convert_to_tensor(condition(), tf.bool))
    return _Context(None, condition=tf.convert_to_tensor(condition, tf.bool))


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag; True if it was written."""
    if callable(tensor):
        tensor = tensor()
    if metadata is not None and hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    return _rows._write(tag, tensor, step, metadata, name)


def graph(graph_data):
    """Writes a graph for TensorBoard: a tf.Graph or a GraphDef."""
    if not _core.executing_eagerly():
        raise RuntimeError("graph() cannot be invoked inside a graph context.")
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    if not hasattr(graph_data, "SerializeToString"):
        raise ValueError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data=%s of type %s." % (
            graph_data, type(graph_data).__name__))
    return graph_bytes(graph_data.SerializeToString())


def graph_bytes(graph_data):
    """The same for a serialized GraphDef."""
    return _rows._write_graph(graph_data, 0)


class SummaryScope:
    """with summary_scope(name) as (tag, scope)"""

    def __init__(self, name, default_name="summary", values=None):
        del values
        self._name, self._scope = name or default_name, tf.name_scope("".join(c if c.isalnum() or c in "_.-/" else "_" for c in name or default_name))

    def __enter__(self):
        scope = self._scope.__enter__()
        outer = scope.rstrip("/").rpartition("/")[0]
        return (outer + "/" + self._name if outer else self._name), scope

    def __exit__(self, *exception):
        self._scope.__exit__()


# ---- tf.profiler.experimental ----

class Profile:
    """with tf.profiler.experimental.Profile(logdir): a profile of what runs inside."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        tf.profiler.experimental.start(os.fspath(self._logdir), self._options)

    def __exit__(self, *exception):
        tf.profiler.experimental.stop()


class Trace:
    """with tf.profiler.experimental.Trace(name, step_num=…): a named part of a profile."""

    def __init__(self, name, **kwargs):
        self._name, self._more, self._start = name, dict(kwargs), None

    def __enter__(self):
        self._start = _rows._profile_clock()
        return self

    def __exit__(self, *exception):
        more = ",".join("%s=%s" % pair for pair in self._more.items())
        _rows._profile_note("%s#%s#" % (self._name, more) if more else self._name, self._start)

    def set_metadata(self, **kwargs):
        """More about the part."""
        self._more.update(kwargs)


class ProfilerOptions(collections.namedtuple("ProfilerOptions", ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"])):
    """Options of profiles, for TensorFlow's own profiler."""

    def __new__(cls, host_tracer_level=2, python_tracer_level=0, device_tracer_level=1, delay_ms=None):
        return super().__new__(cls, host_tracer_level, python_tracer_level, device_tracer_level, delay_ms)


PROFILER = {"Profile": Profile, "Trace": Trace, "ProfilerOptions": ProfilerOptions}

# ---- TensorFlow 1's names ----

def _contrib_scalar(name, tensor, family=None, step=None):
    """A number, written if always_record_summaries() or record_if() says so."""
    if not _contrib_recording:
        return tf.constant(False)
    if step is None and _rows.experimental.get_step() is None:
        step = tf.compat.v1.train.get_or_create_global_step()
    return _rows.scalar("%s/%s" % (family, name) if family else name, tensor, step)


_contrib_recording = 0


@contextlib.contextmanager
def _recording(on):
    """with tf.contrib.summary.always_record_summaries(): …"""
    global _contrib_recording
    before, _contrib_recording = _contrib_recording, on
    try:
        yield
    finally:
        _contrib_recording = before


def _contrib_create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer into a new file of a directory; one that writes nothing if there is none."""
    if logdir is None:
        return create_noop_writer()
    return create_file_writer(logdir, max_queue, flush_millis, filename_suffix, name)


CONTRIB = {"create_file_writer": _contrib_create_file_writer, "always_record_summaries": lambda: _recording(True),
           "never_record_summaries": lambda: _recording(False), "should_record_summaries": lambda: _contrib_recording and
           _rows.should_record_summaries(), "scalar": _contrib_scalar, "histogram": lambda name, tensor, family=None, step=None:
           _rows.histogram(name, tensor, step) if _contrib_recording else tf.constant(False), "flush": flush, "initialize": lambda **unused: None}

SUMMARY = {f.__name__: f for f in (create_file_writer, create_noop_writer, record_if, graph, SummaryWriter, flush)}
SUMMARY["write"] = write
EXPERIMENTAL = {"summary_scope": SummaryScope}
