"""tf.train.Checkpoint in graphs: values are those of a session: the one given, the default one, or Keras's (src/saving/graph_values.c)."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import keras as _keras

_train = tf.train


def _session_for(session=None):
    """The one given, the default one, or Keras's, as in TensorFlow. A variable without a value there is an error, not its first value."""
    return (_keras.plain_session() if session is None else session)._core


def _saving(inner, checkpoint_of):
    """A method that saves, with the session's values in the variables while it runs."""
    def method(self, *args, session=None, **kwargs):
        if _core.executing_eagerly():
            return inner(self, *args, **kwargs)
        checkpoint = checkpoint_of(self)
        checkpoint.save_counter  # made now, in the graph
        session = _session_for(session)
        values = _train._GraphValues(checkpoint)
        if not values._count:
            return inner(self, *args, **kwargs)
        try:
            values._load(session, checkpoint)
            return inner(self, *args, **kwargs)
        finally:
            values._finish(session, checkpoint)
    method.__name__, method.__doc__, method.__wrapped__ = inner.__name__, inner.__doc__, inner
    return method


def _restoring(inner):
    """A method that restores: what it found waits for a session."""
    def method(self, *args, **kwargs):
        if _core.executing_eagerly():
            return inner(self, *args, **kwargs)
        before = _train._GraphValues(self)
        try:
            status = inner(self, *args, **kwargs)
            status._restored = _train._GraphValues(self)
        finally:
            before._give()
        return status
    method.__name__, method.__doc__, method.__wrapped__ = inner.__name__, inner.__doc__, inner
    return method


def _running(inner, initialize):
    def method(self, session=None):
        restored = self.__dict__.get("_restored")
        if restored is None or not restored._count:
            return inner(self)
        restored._store(_session_for(session), initialize)
    method.__name__ = inner.__name__
    method.__doc__ = "Gives a session's variables the restored values%s." % (", or their first ones" if initialize else "")
    return method


def install():
    """Puts the methods in the place of those that know no session."""
    checkpoint, manager, status = _train.Checkpoint, _train.CheckpointManager, tf.python.checkpoint.checkpoint._LoadStatus
    checkpoint.save = _saving(checkpoint.save, lambda self: self)
    checkpoint.write = _saving(checkpoint.write, lambda self: self)
    manager.save = _saving(manager.save, lambda self: self.checkpoint)
    checkpoint.restore, checkpoint.read = _restoring(checkpoint.restore), _restoring(checkpoint.read)
    status.run_restore_ops = _running(status.run_restore_ops, False)
    status.initialize_or_restore = _running(status.initialize_or_restore, True)
