"""tf.compat.v1.train.Coordinator and what runs in threads beside a session, or stood around sessions before there were hooks."""
import os
import threading
import time

import thalweg as tf


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
