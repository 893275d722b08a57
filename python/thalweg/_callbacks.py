"""keras.callbacks for Python: the methods that subclasses override, and callbacks whose work is functions of Python's. The others are C's
(src/keras/callbacks)."""
import thalweg as tf
from thalweg._keras_log import print_msg

EVENTS = ("on_train_begin", "on_train_end", "on_test_begin", "on_test_end", "on_predict_begin", "on_predict_end", "on_epoch_begin",
          "on_epoch_end", "on_train_batch_begin", "on_train_batch_end", "on_test_batch_begin", "on_test_batch_end", "on_predict_batch_begin",
          "on_predict_batch_end")
_FIRST_INDEXED = 6
_ALIASES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}
rows = None  # what the class rows gave to keras.callbacks, by name
names = {}   # what keras.callbacks has


def _method(event, name):
    """What C does at an event; changes that it makes to the logs are made in the dict."""
    alias = _ALIASES.get(name)

    def run(self, index, logs):
        if alias and (getattr(type(self), alias) is not getattr(rows["Callback"], alias) or alias in self.__dict__):
            getattr(self, alias)(index, logs=logs)
            return
        changed = self._event(event, index, None if logs is None else logs)
        if isinstance(logs, dict) and changed:
            logs.update(changed)

    if event >= _FIRST_INDEXED and "epoch" in name:
        def named(self, epoch, logs=None):
            run(self, epoch, logs)
    elif event >= _FIRST_INDEXED:
        def named(self, batch, logs=None):
            run(self, batch, logs)
    else:
        def named(self, logs=None):
            run(self, 0, logs)
    named.__name__ = name
    named.__doc__ = "Called at that time; subclasses override it."
    return named


def _nothing(self, batch, logs=None):
    """Another name of on_train_batch_begin or on_train_batch_end."""


def events_of(callback):
    """A bit for each event that the callback's class, or the callback itself, listens to in Python."""
    base, cls = rows["Callback"], type(callback)
    for name, value in (("set_model", callback.model), ("set_params", callback.params)):
        if getattr(cls, name) is not getattr(base, name):
            getattr(callback, name)(value)
    mask = 0
    for event, name in enumerate(EVENTS):
        for own in filter(None, (name, _ALIASES.get(name))):
            if getattr(cls, own) is not getattr(base, own) or own in callback.__dict__:
                mask |= 1 << event
    return mask


def tell(callback, event, index, logs):
    """Calls the method of an event."""
    method = getattr(callback, EVENTS[event])
    if event >= _FIRST_INDEXED:
        method(index, logs)
    else:
        method(logs)


def _arrays(weights):
    return None if weights is None else [weight.numpy() for weight in weights]


def _set_frequency(self, name, value):
    """The library takes None for save_freq="epoch"."""
    rows["Callback"].__setattr__(self, name, None if name == "save_freq" and value == "epoch" else value)


def _define():
    Callback = rows["Callback"]

    class LambdaCallback(Callback):
        """A callback of functions."""

        def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_batch_begin=None, on_batch_end=None, on_train_begin=None,
                     on_train_end=None, **kwargs):
            super().__init__()
            self.__dict__.update(kwargs)
            given = dict(on_epoch_begin=on_epoch_begin, on_epoch_end=on_epoch_end, on_batch_begin=on_batch_begin, on_batch_end=on_batch_end,
                         on_train_begin=on_train_begin, on_train_end=on_train_end)
            self.__dict__.update({name: function for name, function in given.items() if function is not None})

    class LearningRateScheduler(Callback):
        """Sets the learning rate of every epoch by a function of its number and the rate so far."""

        def __init__(self, schedule, verbose=0):
            super().__init__()
            self.schedule, self.verbose = schedule, verbose

        def on_epoch_begin(self, epoch, logs=None):
            optimizer = self.model.optimizer
            try:
                rate = self.schedule(epoch, float(optimizer.learning_rate))
            except TypeError:
                rate = self.schedule(epoch)
            if not isinstance(rate, (tf.Tensor, float)) and not hasattr(rate, "dtype"):
                raise ValueError("The output of the \"schedule\" function should be float. Got: %s" % (rate,))
            optimizer.learning_rate.assign(rate)
            if self.verbose > 0:
                print_msg("\nEpoch %d: LearningRateScheduler setting learning rate to %s." % (epoch + 1, rate))

        def on_epoch_end(self, epoch, logs=None):
            if logs is not None:
                logs["lr"] = float(self.model.optimizer.learning_rate)

    class ModelCheckpoint(rows["ModelCheckpoint"]):
        """Saves the model, or its weights, after epochs ("epoch") or a number of batches."""

        def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False, mode="auto",
                     save_freq="epoch", options=None, initial_value_threshold=None, **kwargs):
            if save_freq != "epoch" and not isinstance(save_freq, int):
                raise ValueError("Unrecognized save_freq: %s. Expected save_freq are \"epoch\" or integer" % (save_freq,))
            if kwargs.pop("load_weights_on_restart", False):
                raise NotImplementedError("ModelCheckpoint: load_weights_on_restart is not supported, use load_weights before fit")
            super().__init__(filepath, monitor, verbose, save_best_only, save_weights_only, mode, None if save_freq == "epoch" else save_freq,
                             options, initial_value_threshold, **kwargs)

        __setattr__ = _set_frequency

    class BackupAndRestore(rows["BackupAndRestore"]):
        """Saves the state of the training after every epoch ("epoch") or a number of batches; a fit that was interrupted goes on from there."""

        def __init__(self, backup_dir, save_freq="epoch", delete_checkpoint=True, save_before_preemption=False):
            if not save_freq and not save_before_preemption:
                raise ValueError("Either `save_freq` or `save_before_preemption` must be set.")
            if save_freq != "epoch" and (not isinstance(save_freq, int) or isinstance(save_freq, bool)):
                raise ValueError("BackupAndRestore: save_freq is %r, expected \"epoch\" or a number of batches" % (save_freq,))
            super().__init__(backup_dir, None if save_freq == "epoch" else save_freq, delete_checkpoint, save_before_preemption)

        __setattr__ = _set_frequency

    class BaseLogger(Callback):
        """Means of the values of batches, by what `size` and `num_steps` in the logs say; fit itself gives means already."""

        def __init__(self, stateful_metrics=None):
            super().__init__()
            self.stateful_metrics = set(stateful_metrics or [])

        def on_epoch_begin(self, epoch, logs=None):
            self.seen, self.totals = 0, {}

        def on_batch_end(self, batch, logs=None):
            logs = logs or {}
            size = logs.get("size", 0)
            self.seen += size * logs.get("num_steps", 1)
            for key, value in logs.items():
                self.totals[key] = value if key in self.stateful_metrics else self.totals.get(key, 0) + value * size

        def on_epoch_end(self, epoch, logs=None):
            if logs is not None:
                for key in self.params["metrics"]:
                    if key in self.totals:
                        logs[key] = self.totals[key] if key in self.stateful_metrics else self.totals[key] / self.seen

    class RemoteMonitor(Callback):
        """Not here: it would send logs to a server."""

        def __init__(self, *args, **kwargs):
            raise NotImplementedError("RemoteMonitor is not supported")

    class CallbackList:
        """Several callbacks, told together."""

        def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
            self.callbacks = list(tf.nest.flatten(callbacks)) if callbacks else []
            if add_history and not any(isinstance(c, rows["History"]) for c in self.callbacks):
                self.callbacks.append(rows["History"]())
            if add_progbar and not any(isinstance(c, rows["ProgbarLogger"]) for c in self.callbacks):
                self.callbacks.append(rows["ProgbarLogger"]())
            if model is not None:
                self.set_model(model)
            if params:
                self.set_params(params)

        def append(self, callback):
            self.callbacks.append(callback)

        def set_params(self, params):
            self.params = params
            for callback in self.callbacks:
                callback.set_params(params)

        def set_model(self, model):
            self.model = model
            for callback in self.callbacks:
                callback.set_model(model)

        def __iter__(self):
            return iter(self.callbacks)

    def _tells(event, name):
        if "epoch" in name:
            def method(self, epoch, logs=None):
                logs = {} if logs is None else logs
                for callback in self.callbacks:
                    getattr(callback, name)(epoch, logs)
        elif event >= _FIRST_INDEXED:
            def method(self, batch, logs=None):
                logs = {} if logs is None else logs
                for callback in self.callbacks:
                    getattr(callback, name)(batch, logs)
        else:
            def method(self, logs=None):
                logs = {} if logs is None else logs
                for callback in self.callbacks:
                    getattr(callback, name)(logs)
        method.__name__ = name
        return method

    for event, name in enumerate(EVENTS):
        setattr(CallbackList, name, _tells(event, name))
    CallbackList.on_batch_begin, CallbackList.on_batch_end = CallbackList.on_train_batch_begin, CallbackList.on_train_batch_end
    return {c.__name__: c for c in (LambdaCallback, LearningRateScheduler, ModelCheckpoint, BackupAndRestore, BaseLogger, RemoteMonitor, CallbackList)}


def install(found):
    """Fills keras.callbacks. `found`: the types of the class rows."""
    global rows
    rows = found
    Callback, History = rows["Callback"], rows["History"]
    for event, name in enumerate(EVENTS):
        setattr(Callback, name, _method(event, name))
    Callback.on_batch_begin = Callback.on_batch_end = _nothing
    Callback.validation_data = None
    Callback._supports_tf_logs = False
    History.history = property(lambda self: self._values(), doc="The values of every epoch by name.")
    History.epoch = property(lambda self: self._epochs(), doc="The numbers of the epochs.")
    for name, state in (("EarlyStopping", ("best", "wait", "stopped_epoch", "best_epoch")), ("ReduceLROnPlateau", ("best", "wait", "cooldown_counter")),
                        ("ModelCheckpoint", ("best", "epochs_since_last_save"))):
        for member in state:
            setattr(rows[name], member, property(lambda self, member=member: self._state()[member]))
    rows["EarlyStopping"].best_weights = property(lambda self: _arrays(self._state()["best_weights"]), doc="The weights of the best epoch; None: there is none.")
    names.update(rows)
    names.update(_define())
    from thalweg import _tensorboard
    names["TensorBoard"] = _tensorboard.define(rows["TensorBoard"])
    names["experimental"] = type(tf)(tf.keras.callbacks.__name__ + ".experimental", "Callbacks by their former names.")
    names["experimental"].BackupAndRestore = rows["BackupAndRestore"]
    tf.keras.callbacks.__dict__.update(names)
