"""tf.compat.v1.train's sessions with hooks: MonitoredTrainingSession and what stands around it, and Coordinator."""
import collections
import os
import threading
import time

import numpy

import thalweg as tf
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keys = _variables.GraphKeys
_USUAL = object()

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
            write_graph(_v1.get_default_graph().as_graph_def(), self._folder, "graph.pbtxt")
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


# ---- the session ----

def _saver_of_graph():
    savers = _v1.get_collection(_keys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError("More than one item in collection %s. Please indicate which one to use by passing it to the constructor." % _keys.SAVERS)
    if savers:
        return savers[0]
    saver = _v1.train.Saver(allow_empty=True)
    _v1.add_to_collection(_keys.SAVERS, saver)
    return saver


class Scaffold:
    """What a session needs to begin: operations that initialize, a saver, the summaries."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None, local_init_op=None,
                 summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        given = copy_from_scaffold
        self.init_op, self.init_feed_dict = init_op if init_op is not None else given and given.init_op, init_feed_dict
        self.init_fn = (lambda session: init_fn(self, session)) if init_fn else None
        self.ready_op, self.ready_for_local_init_op, self.local_init_op = ready_op, ready_for_local_init_op, local_init_op
        self.local_init_feed_dict, self.summary_op, self.saver = local_init_feed_dict, summary_op, saver

    def finalize(self):
        """Makes what was not given; the graph can't be changed any more."""
        if self.init_op is None:
            self.init_op = tf.group(_v1.global_variables_initializer(), name="init")
        if self.local_init_op is None:
            self.local_init_op = self.default_local_init_op()
        if self.ready_op is None:
            self.ready_op = _v1.report_uninitialized_variables()
        if self.summary_op is None:
            self.summary_op = _v1.summary.merge_all()
        if self.saver is None:
            self.saver = _saver_of_graph()
        _v1.get_default_graph().finalize()
        return self

    @staticmethod
    def default_local_init_op():
        """Local variables and tables."""
        return tf.group(_v1.local_variables_initializer(), _v1.tables_initializer())


class SessionCreator:
    """What makes a session."""

    def create_session(self):
        """The session."""
        raise NotImplementedError("create_session is not implemented for %s." % self)


class ChiefSessionCreator(SessionCreator):
    """Makes a session and gives its variables their values: of a checkpoint, or first ones."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._folder, self._file = checkpoint_dir, checkpoint_filename_with_path

    def create_session(self):
        """Restored or initialized."""
        scaffold = self._scaffold.finalize()
        session = _v1.Session(self._master, graph=_v1.get_default_graph(), config=self._config)
        path = self._file or (self._folder and _v1.train.latest_checkpoint(self._folder))
        if path:
            scaffold.saver.restore(session, path)
        else:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
            if scaffold.init_fn:
                scaffold.init_fn(session)
        session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
        missing = session.run(scaffold.ready_op)
        if len(missing):
            raise RuntimeError("Init operations did not make model ready.  Init op: %s, init fn: %s, local_init_op: %s, error: Variables not "
                               "initialized: %s" % (scaffold.init_op.name, scaffold.init_fn, scaffold.local_init_op.name,
                                                    ", ".join(m.decode() for m in missing)))
        return session


class MonitoredSession:
    """A session whose runs hooks accompany."""

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        self._hooks, self._stop = list(hooks or []), False
        self._entered = _v1.get_default_graph()
        for hook in self._hooks:
            hook.begin()
        self._session = (session_creator or ChiefSessionCreator()).create_session()
        self._coordinator = Coordinator()
        for hook in self._hooks:
            hook.after_create_session(self._session, self._coordinator)

    graph = property(lambda self: self._session.graph if self._session is not None else None)

    def should_stop(self):
        """Whether a hook asked to stop, or the session is closed."""
        return self._stop or self._session is None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Session.run, with what the hooks fetch besides."""
        if self._session is None:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        wanted, feeds = {}, dict(feed_dict or {})
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is not None and request.fetches is not None:
                wanted[hook] = request.fetches
            if request is not None and request.feed_dict:
                for key in request.feed_dict:
                    if key in feeds:
                        raise RuntimeError("Same tensor is fed by two hooks.")
                feeds.update(request.feed_dict)
        found = self._session.run({"caller": fetches, "hooks": list(wanted.values())}, feeds, options, run_metadata)
        results = dict(zip(wanted, found["hooks"]))
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return found["caller"]

    def run_step_fn(self, step_fn):
        """Calls a function with a context that can run the session, and ask to stop."""
        return step_fn(_StepContext(self))

    def close(self):
        """The hooks end, then the session."""
        self._close(None)

    def _close(self, kind):
        if self._session is None:
            return
        try:
            if kind in (None, tf.errors.OutOfRangeError, StopIteration):
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            self._session.close()
            self._session = None
            self._entered._unsafe_unfinalize()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self._close(kind)
        return kind in (tf.errors.OutOfRangeError, StopIteration)


class _StepContext:
    """What MonitoredSession.run_step_fn's function gets."""

    def __init__(self, monitored):
        self._monitored, self.session = monitored, monitored._session

    def run_with_hooks(self, *args, **kwargs):
        """MonitoredSession.run."""
        return self._monitored.run(*args, **kwargs)

    def request_stop(self):
        """Ends the loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession that is made of a checkpoint's folder."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks, stop_grace_period_secs)

    def raw_session(self):
        """The session inside."""
        return self._session


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None, chief_only_hooks=None,  # noqa: N802
                             save_checkpoint_secs=_USUAL, save_summaries_steps=_USUAL, save_summaries_secs=_USUAL, config=None,
                             stop_grace_period_secs=120, log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=_USUAL,
                             summary_dir=None, save_graph_def=True):
    """A MonitoredSession that writes checkpoints and summaries."""
    if not is_chief:
        raise NotImplementedError("tf.compat.v1.train.MonitoredTrainingSession: only the chief is supported")
    if save_summaries_steps is _USUAL and save_summaries_secs is _USUAL:
        save_summaries_steps, save_summaries_secs = 100, None
    steps, seconds = (None if v is _USUAL else v for v in (save_summaries_steps, save_summaries_secs))
    if save_checkpoint_secs is _USUAL and save_checkpoint_steps is _USUAL:
        save_checkpoint_secs, save_checkpoint_steps = 600, None
    every_secs, every_steps = (None if v is _USUAL else v for v in (save_checkpoint_secs, save_checkpoint_steps))
    scaffold = scaffold or Scaffold()
    all_hooks = list(chief_only_hooks or [])
    if checkpoint_dir:
        folder = summary_dir or checkpoint_dir
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(log_step_count_steps, None, folder))
        if (steps and steps > 0) or (seconds and seconds > 0):
            all_hooks.append(SummarySaverHook(steps, seconds, folder, scaffold=scaffold))
        if (every_secs and every_secs > 0) or (every_steps and every_steps > 0):
            all_hooks.append(CheckpointSaverHook(checkpoint_dir, every_secs, every_steps, scaffold=scaffold, save_graph_def=save_graph_def))
    return MonitoredSession(ChiefSessionCreator(scaffold, master, config, checkpoint_dir), all_hooks + list(hooks or []), stop_grace_period_secs)


# ---- threads ----

class Coordinator:
    """Lets threads end together: any of them asks all to stop."""

    def __init__(self, clean_stop_exception_types=None):
        self._clean = clean_stop_exception_types or (tf.errors.OutOfRangeError,)
        self._event, self._lock, self._error, self._threads, self._joined = threading.Event(), threading.Lock(), None, [], False

    joined = property(lambda self: self._joined)

    def request_stop(self, ex=None):
        """All threads are to stop; an exception is raised again by join."""
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if self._joined and error is not None and not isinstance(error, self._clean):
                raise error
            if not self._event.is_set():
                self._error = None if error is not None and isinstance(error, self._clean) else error
                self._event.set()

    def clear_stop(self):
        """Nobody asked to stop."""
        self._joined, self._error = False, None
        self._event.clear()

    def should_stop(self):
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def stop_on_exception(self):
        """with coordinator.stop_on_exception(): an exception asks all to stop."""
        return _StopOnException(self)

    def wait_for_stop(self, timeout=None):
        """Waits until somebody asks to stop."""
        return self._event.wait(timeout)

    def register_thread(self, thread):
        """join waits for this thread, too."""
        self._threads.append(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads; raises what one of them asked to stop with."""
        waiting = list(threads or []) + [t for t in self._threads if t not in (threads or [])]
        while any(t.is_alive() for t in waiting) and not self._event.wait(0.05):
            pass
        end = time.time() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.time()))
        self._joined, self._threads = True, []
        alive = [t.name for t in waiting if t.is_alive()]
        if self._error is not None:
            raise self._error
        if alive and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: %s" % " ".join(alive))

    def raise_requested_exception(self):
        """Raises what a thread asked to stop with."""
        if self._error is not None:
            raise self._error


class _StopOnException:
    def __init__(self, coordinator):
        self._coordinator = coordinator

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        if value is not None:
            self._coordinator.request_stop(value)
        return value is not None and isinstance(value, Exception)


class LooperThread(threading.Thread):
    """Calls a function again and again until the coordinator stops."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        super().__init__(daemon=True)
        self._coord, self._every, self._what, self._with, self._named = coord, timer_interval_secs, target, args or (), kwargs or {}
        coord.register_thread(self)

    def run(self):
        """The loop."""
        with self._coord.stop_on_exception():
            while not self._coord.should_stop():
                if self._every and self._coord.wait_for_stop(self._every):
                    break
                self.run_loop()

    def run_loop(self):
        """What is done again and again."""
        if self._what:
            self._what(*self._with, **self._named)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=_keys.QUEUE_RUNNERS):
    """The threads of the graph's queues: there are none."""
    return []


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph as a file."""
    graph_def = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, tf.Graph) else graph_or_graph_def
    tf.io.gfile.makedirs(logdir)
    path = os.path.join(logdir, name)
    with tf.io.gfile.GFile(path, "w" if as_text else "wb") as f:
        f.write(str(graph_def) if as_text else graph_def.SerializeToString())
    return path


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Not supported: it is for a Supervisor."""
    raise NotImplementedError("tf.compat.v1.train.basic_train_loop is not supported; use MonitoredTrainingSession")


class Supervisor:
    """Not supported: MonitoredTrainingSession does its work."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("tf.compat.v1.train.Supervisor is not supported; use MonitoredTrainingSession")


def install():
    """Puts the names into tf.compat.v1.train."""
    from thalweg._graph_mode.averages import ExponentialMovingAverage
    for value in (SessionRunArgs, SessionRunValues, SessionRunContext, SessionRunHook, SecondOrStepTimer, NanLossDuringTrainingError, StopAtStepHook,
                  NanTensorHook, LoggingTensorHook, CheckpointSaverListener, CheckpointSaverHook, SummarySaverHook, StepCounterHook, FinalOpsHook,
                  FeedFnHook, Scaffold, SessionCreator, ChiefSessionCreator, MonitoredSession, SingularMonitoredSession, MonitoredTrainingSession,
                  Coordinator, LooperThread, start_queue_runners, write_graph, basic_train_loop, Supervisor, ExponentialMovingAverage):
        setattr(_v1.train, value.__name__, value)
    _v1.io.write_graph = write_graph
