"""tf.compat.v1.train's sessions with hooks: MonitoredTrainingSession and what stands around it."""
import thalweg as tf
from thalweg._graph_mode.coordinator import Coordinator
from thalweg._graph_mode.hooks import CheckpointSaverHook, SessionRunArgs, SessionRunContext, SessionRunValues, StepCounterHook, SummarySaverHook, _saver_of_graph

_v1 = tf.compat.v1
_USUAL = object()


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


MonitoredSession.StepContext = _StepContext
