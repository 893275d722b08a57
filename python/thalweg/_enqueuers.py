"""keras.utils: threads that make batches ahead, evaluation beside a training, datasets that are made where they are needed."""
import queue
import threading

import thalweg as tf


class TimedThread:
    """A thread that calls on_interval() every so many seconds, until it is stopped."""

    def __init__(self, interval, **kwargs):
        self.interval, self.daemon = interval, kwargs.pop("daemon", False)
        self.thread, self.thread_stop_event = None, None
        self._more = kwargs

    def _call_on_interval(self):
        while not self.thread_stop_event.is_set():
            self.on_interval()
            self.thread_stop_event.wait(self.interval)

    def start(self):
        """Begins to call."""
        if self.is_alive():
            import warnings
            warnings.warn("Thread is already running.")
            return
        self.thread = threading.Thread(target=self._call_on_interval, daemon=self.daemon, **self._more)
        self.thread_stop_event = threading.Event()
        self.thread.start()

    def stop(self):
        """Ends the calls, and waits for the last one."""
        if self.thread_stop_event is not None:
            self.thread_stop_event.set()
            self.thread.join()

    def is_alive(self):
        """Whether it is running."""
        return self.thread is not None and self.thread.is_alive()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *args):
        self.stop()

    def on_interval(self):
        """What subclasses do every interval."""
        raise NotImplementedError("Runs every x interval seconds. Subclasses must implement it.")


class SequenceEnqueuer:
    """The base: workers fill a queue with batches, which get() gives."""

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence, self.use_multiprocessing = sequence, use_multiprocessing
        self.workers, self.queue, self.run_thread, self.stop_signal = 0, None, None, None

    def is_running(self):
        """Whether start() was called, and not yet stop()."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Begins to make batches in so many threads, at most so many ahead."""
        from concurrent.futures import ThreadPoolExecutor
        self.workers, self.queue, self.stop_signal = workers, queue.Queue(max_queue_size), threading.Event()
        self.executor = ThreadPoolExecutor(max(1, workers))
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def _put(self, item):
        while not self.stop_signal.is_set():
            try:
                return self.queue.put(item, timeout=0.1)
            except queue.Full:
                continue

    def _next(self):
        while self.is_running():
            try:
                return self.queue.get(timeout=0.1)
            except queue.Empty:
                if not self.run_thread.is_alive() and self.queue.empty():
                    break
        raise StopIteration

    def stop(self, timeout=None):
        """Ends the threads; what they made is dropped."""
        self.stop_signal.set()
        self.run_thread.join(timeout)
        self.executor.shutdown(wait=True)

    def _run(self):
        raise NotImplementedError

    def get(self):
        """A generator of batches."""
        try:
            while self.is_running():
                item = self._next()
                if item is None:
                    return
                value = item.result()
                if value is not None:
                    yield value
        except StopIteration:
            return
        except Exception:
            self.stop()
            raise


class OrderedEnqueuer(SequenceEnqueuer):
    """Batches of a Sequence, in their order or shuffled, round after round."""

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self):
        import random
        while not self.stop_signal.is_set():
            order = list(range(len(self.sequence)))
            if self.shuffle:
                random.shuffle(order)
            made = []
            for index in order:
                if self.stop_signal.is_set():
                    return
                made.append(self.executor.submit(self.sequence.__getitem__, index))
                self._put(made[-1])
            for item in made:
                while not item.done() and not self.stop_signal.wait(0.01):
                    pass
            if not self.stop_signal.is_set():
                self.sequence.on_epoch_end()


class GeneratorEnqueuer(SequenceEnqueuer):
    """Batches of a generator."""

    def __init__(self, generator, use_multiprocessing=False, random_seed=None):
        super().__init__(generator, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self):
        from concurrent.futures import Future
        end = object()
        while not self.stop_signal.is_set():
            item = Future()
            try:
                value = next(self.sequence, end)
                if value is end:
                    return self._put(None)
                item.set_result(value)
            except Exception as e:
                item.set_exception(e)
                return self._put(item)
            self._put(item)


class SidecarEvaluator:
    """Evaluates a model with the weights of each new checkpoint that a training beside it writes."""

    def __init__(self, model, data, checkpoint_dir, steps=None, max_evaluations=None, callbacks=None):
        self.model, self.data, self.checkpoint_dir, self.steps, self.max_evaluations = model, data, checkpoint_dir, steps, max_evaluations
        self.callbacks = callbacks or []
        self._iterations = tf.Variable(-1, dtype=tf.int64, name="iterations")

    def start(self):
        """Evaluates until max_evaluations is reached."""
        optimizer = self.model.optimizer
        if optimizer is not None and self.max_evaluations is not None and int(optimizer.iterations) >= self.max_evaluations:
            return
        for path in tf.train.checkpoints_iterator(self.checkpoint_dir):
            tf.train.Checkpoint(model=self.model, optimizer=optimizer).restore(path).expect_partial()
            self._iterations.assign(optimizer.iterations)
            self.model.evaluate(self.data, steps=self.steps, callbacks=self.callbacks, verbose=2)
            number = path.rsplit("-", 1)[-1]
            if self.max_evaluations is not None and number.isdigit() and int(number) >= self.max_evaluations:
                return


class DatasetCreator:
    """A function of an InputContext that makes the dataset of a worker."""

    def __init__(self, dataset_fn, input_options=None):
        if not callable(dataset_fn):
            raise TypeError("`dataset_fn` for `DatasetCreator` must be a `callable`. Received: %s" % (dataset_fn,))
        if input_options and not isinstance(input_options, tf.distribute.InputOptions):
            raise TypeError("`input_options` for `DatasetCreator` must be a `tf.distribute.InputOptions`. Received: %s" % (input_options,))
        self.dataset_fn, self.input_options = dataset_fn, input_options

    def __call__(self, *args, **kwargs):
        dataset = self.dataset_fn(*args, **kwargs)
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError("The `callable` provided to `DatasetCreator` must return a Dataset. It returns \"%s\"" % (dataset,))
        return dataset


experimental = type(tf)(tf.keras.utils.__name__ + ".experimental", "Datasets that are made where they are needed.")
experimental.DatasetCreator = DatasetCreator
legacy = type(tf)(tf.keras.utils.__name__ + ".legacy", "Configs in the former form.")


def _serialize(instance):
    """An object as a dict of class and config."""
    if instance is None:
        return None
    entry = tf.keras.utils.serialize_keras_object(instance)
    return {key: entry[key] for key in ("class_name", "config")} if isinstance(entry, dict) and "class_name" in entry else entry


def _deserialize(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
    """The object of a name, or of a dict with class and config."""
    del printable_module_name
    with tf.keras.utils.custom_object_scope({**(module_objects or {}), **(custom_objects or {})}):
        if isinstance(identifier, str):
            found = tf.keras.utils.get_registered_object(identifier)
            if found is None:
                raise ValueError("Unknown object: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is included in "
                                 "the scope." % identifier)
            return found() if isinstance(found, type) else found
        return tf.keras.utils.deserialize_keras_object(identifier)


legacy.serialize_keras_object, legacy.deserialize_keras_object = _serialize, _deserialize
ENQUEUERS = {"TimedThread": TimedThread, "SequenceEnqueuer": SequenceEnqueuer, "OrderedEnqueuer": OrderedEnqueuer, "GeneratorEnqueuer": GeneratorEnqueuer,
             "SidecarEvaluator": SidecarEvaluator, "experimental": experimental, "legacy": legacy}
