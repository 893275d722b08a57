"""tf.compat.v1.train's hooks: what is called around the runs of a MonitoredSession."""
import collections
import os
import time

import numpy

import thalweg as tf
from thalweg._graph_mode import variables as _variables
from thalweg._graph_mode.coordinator import write_graph

_v1 = tf.compat.v1
_keys = _variables.GraphKeys

SessionRunArgs = collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"], defaults=(None, None))
SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])


class SessionRunContext:
    """What a hook is told of a run, and by which it asks to stop."""

    def __init__(self, original_args, session):
        self.original_args, self.session, self.stop_requested = original_args, session, False

    def request_stop(self):
        """The session is to stop after this run."""
        self.stop_requested = True


class SessionRunHook:
    """What is called around the runs of a MonitoredSession; subclasses do something."""

    def begin(self):
        """Before the session is made: the graph can still be changed."""

    def after_create_session(self, session, coord):
        """The session is there."""

    def before_run(self, run_context):
        """Before a run: SessionRunArgs of what is to be fetched besides, or None."""

    def after_run(self, run_context, run_values):
        """After a run, with what was fetched besides."""

    def end(self, session):
        """The session ends without an error."""


class SecondOrStepTimer:
    """Says when it is time again: every so many seconds or steps."""

    def __init__(self, every_secs=None, every_steps=None):
        if (every_secs is None) == (every_steps is None):
            raise ValueError("exactly one of every_secs and every_steps should be provided.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self):
        """From the beginning."""
        self._last_step, self._last_time = None, None

    def should_trigger_for_step(self, step):
        """Whether it is time at this step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step):
        """It was done at this step: the seconds and steps since the last time."""
        now = time.time()
        since = (None, None) if self._last_time is None else (now - self._last_time, step - self._last_step)
        self._last_step, self._last_time = step, now
        return since

    def last_triggered_step(self):
        """The step at which it was done last."""
        return self._last_step


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number any more."""

    def __str__(self):
        return "NaN loss during training."


def _saver_of_graph():
    savers = _v1.get_collection(_keys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError("More than one item in collection %s. Please indicate which one to use by passing it to the constructor." % _keys.SAVERS)
    if savers:
        return savers[0]
    saver = _v1.train.Saver(allow_empty=True)
    _v1.add_to_collection(_keys.SAVERS, saver)
    return saver


def _step_tensor(hook):
    step = _v1.train.get_global_step()
    if step is None:
        raise RuntimeError("Global step should be created to use %s." % hook)
    return step


class StopAtStepHook(SessionRunHook):
    """Stops after so many steps, or at a step."""

    def __init__(self, num_steps=None, last_step=None):
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self):
        self._step = _step_tensor("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._last_step and run_context.session.run(self._step) >= self._last_step:
            run_context.request_stop()


class NanTensorHook(SessionRunHook):
    """Looks whether a loss is a number."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if numpy.isnan(run_values.results):
            _v1.logging.error("Model diverged with loss = NaN.")
            if self._fail:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs values every so often."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        if not at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        self._order = list(tensors) if isinstance(tensors, dict) else [getattr(t, "name", t) for t in tensors]
        self._tensors = tensors if isinstance(tensors, dict) else dict(zip(self._order, tensors))
        self._formatter, self._at_end = formatter, at_end
        self._timer = None if every_n_iter is None and every_n_secs is None else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self):
        graph = _v1.get_default_graph()
        self._current = {tag: graph.as_graph_element(tensor) for tag, tensor in self._tensors.items()}
        self._count, self._due = 0, False
        if self._timer:
            self._timer.reset()

    def before_run(self, run_context):
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._count)
        return SessionRunArgs(self._current) if self._due else None

    def _log(self, values):
        before = numpy.get_printoptions()
        numpy.set_printoptions(suppress=True)
        seconds, _ = self._timer.update_last_triggered_step(self._count) if self._timer else (None, None)
        if self._formatter:
            _v1.logging.info(self._formatter(values))
        else:
            text = ", ".join("%s = %s" % (tag, values[tag]) for tag in self._order)
            _v1.logging.info("%s (%.3f sec)", text, seconds) if seconds is not None else _v1.logging.info(text)
        numpy.set_printoptions(**before)

    def after_run(self, run_context, run_values):
        if self._due:
            self._log(run_values.results)
        self._count += 1

    def end(self, session):
        if self._at_end:
            self._log(session.run(self._current))


class CheckpointSaverListener:
    """What is called around the saving of a checkpoint."""

    def begin(self):
        """Before the session is made."""

    def before_save(self, session, global_step_value):
        """Before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """After a checkpoint was written; True asks to stop."""

    def end(self, session, global_step_value):
        """The session ends."""


class CheckpointSaverHook(SessionRunHook):
    """Writes checkpoints every so often, and at the beginning and end."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt", scaffold=None, listeners=None,
                 save_graph_def=True):
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._folder, self._saver, self._scaffold, self._listeners = checkpoint_dir, saver, scaffold, list(listeners or [])
        self._path, self._timer, self._graph_too = os.path.join(checkpoint_dir, checkpoint_basename), SecondOrStepTimer(save_secs, save_steps), save_graph_def

    def begin(self):
        self._step = _step_tensor("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = int(session.run(self._step))
        if self._graph_too:
            write_graph(_v1.get_default_graph().as_graph_def(add_shapes=True), self._folder, "graph.pbtxt")
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session):
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session, step):
        for listener in self._listeners:
            listener.before_save(session, step)
        saver = self._saver or (self._scaffold.saver if self._scaffold is not None else _saver_of_graph())
        saver.save(session, self._path, global_step=step)
        return any([listener.after_save(session, step) for listener in self._listeners])


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so often."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._op, self._writer, self._folder, self._scaffold = summary_op, summary_writer, output_dir, scaffold
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self):
        if self._writer is None and self._folder:
            self._writer = _v1.summary.FileWriterCache.get(self._folder)
        self._next, self._step = None, _step_tensor("SummarySaverHook")

    def before_run(self, run_context):
        self._due = self._next is None or self._timer.should_trigger_for_step(self._next)
        fetches = {"global_step": self._step}
        op = self._op if self._op is not None else self._scaffold.summary_op
        if self._due and op is not None:
            fetches["summary"] = op
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        if self._writer is None:
            return
        step = int(run_values.results["global_step"])
        if self._next is None or self._due:
            step = int(run_context.session.run(self._step))
        if self._due:
            self._timer.update_last_triggered_step(step)
            if "summary" in run_values.results:
                found = run_values.results["summary"]
                for summary in found if isinstance(found, list) else [found]:
                    self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session):
        if self._writer is not None:
            self._writer.flush()


class StepCounterHook(SessionRunHook):
    """Logs how many steps a second are done."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        self._timer, self._writer, self._folder = SecondOrStepTimer(every_n_secs, every_n_steps), summary_writer, output_dir

    def begin(self):
        if self._writer is None and self._folder:
            self._writer = _v1.summary.FileWriterCache.get(self._folder)
        self._step = _step_tensor("StepCounterHook")

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results) + 1
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds:
                _v1.logging.info("global_step/sec: %g", steps / seconds)


class FinalOpsHook(SessionRunHook):
    """Evaluates something at the end."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._ops, self._feeds, self.final_ops_values = final_ops, final_ops_feed_dict, None

    def end(self, session):
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(None, self.feed_fn())
