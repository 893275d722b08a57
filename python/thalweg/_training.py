"""Keras's training for Python: the methods of keras.Model around the loop in C (src/keras/models), which takes structures as they are given, and what
a subclass may override. Loaded when a model is first trained or a callback asked for."""
import collections.abc
import functools

import thalweg as tf
from thalweg import _core, _step_functions, nest
from thalweg._batches import Sequence, Source
from thalweg._metrics import _converted as _converted_function

Model = tf.keras.Model
_TRAIN, _TEST, _PREDICT = 0, 1, 2
_LOOPS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
_OWN = ("train_step", "test_step", "predict_step", "compute_loss", "metrics", "compute_metrics")  # in the order of C's bits


class _SequenceEnds(tf.keras.callbacks.Callback):
    """Tells the Sequences of a fit that a pass over them is over."""

    def __init__(self, training, validation):
        super().__init__()
        self._training, self._validation = training, validation

    def on_epoch_end(self, epoch, logs=None):
        if self._training is not None:
            self._training.on_epoch_end()

    def on_test_end(self, logs=None):
        if self._validation is not None:
            self._validation.on_epoch_end()


# ---- what a subclass overrides ----

def _own(model, *kinds):
    return _step_functions.prepare(model, *kinds) | sum((getattr(type(model), name) is not getattr(Model, name)) << bit for bit, name in enumerate(_OWN))


def _converted(method):
    if not _core._tracing():
        return method
    from thalweg import autograph
    return autograph.converted_method(method)


def step(model, mode, data):
    """train_step, test_step or predict_step of a subclass: values by name, or outputs."""
    own, logs = _step_functions.call(model, mode, data)
    if mode == _PREDICT:
        return logs if own else _converted(model.predict_step)(data)
    method = model.train_step if mode == _TRAIN else model.test_step
    if not own:
        logs = _converted(method)(data)
    if not isinstance(logs, dict):
        raise TypeError("%s: a dict of values by name is expected, got %r" % (method.__name__, logs))
    return logs


def losses(model, update, x, y, predictions, weight):
    """compute_loss or compute_metrics of a subclass."""
    return _converted(model.compute_metrics if update else model.compute_loss)(x, y, predictions, weight)


def update_metric(metric, y_true, y_pred, weight):
    _converted(metric.update_state)(y_true, y_pred, sample_weight=weight)


# ---- losses and metrics that are functions ----

def _name_of(function):
    name = getattr(function, "name", None) or getattr(function, "__name__", None)
    return name if isinstance(name, str) else "".join(
        "_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(type(function).__name__))


class LossFunctionWrapper(tf.keras.losses.Loss):
    """A function of labels and predictions as a loss."""

    def __init__(self, fn, reduction="auto", name=None, **kwargs):
        super().__init__(reduction=reduction, name=name)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true, y_pred):
        return _converted_function(self.fn)(y_true, y_pred, **self._fn_kwargs)


def _mapped(value, function):
    if isinstance(value, dict):
        return {key: _mapped(item, function) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mapped(item, function) for item in value]
    return value if value is None or isinstance(value, str) else function(value)


def _object_of(base, wrapper, word):
    """A function that gives the loss or metric that an object, a class or a function means."""
    def made(value):
        if isinstance(value, type) and issubclass(value, base):
            return value()
        if not callable(value):
            raise ValueError("Could not interpret %s identifier: %s" % (word, value))
        return value if isinstance(value, base) else wrapper(value, name=_name_of(value))
    return made


_loss = _object_of(tf.keras.losses.Loss, LossFunctionWrapper, "loss function")
_metric = _object_of(tf.keras.metrics.Metric, tf.keras.metrics.MeanMetricWrapper, "metric")


# ---- the methods of Model ----

def _verbosity(verbose):
    return 1 if verbose == "auto" or verbose is None else int(verbose)


def _callbacks(callbacks):
    return callbacks if callbacks is None or isinstance(callbacks, (list, tuple)) else list(callbacks) if isinstance(
        callbacks, collections.abc.Iterable) else [callbacks]


class _Compiled:
    """What compile was told, of a model."""

    def __init__(self, model):
        self._model = model


def _loss_of(model):
    if not model._is_compiled:  # programs ask by it whether they have to compile
        raise AttributeError("%r object has no attribute 'loss'" % type(model).__name__)
    return model.__dict__.get("_compile_arguments", {}).get("loss")


class _CompiledLoss(_Compiled):
    """model.compiled_loss: the loss as a function."""

    def __call__(self, y_true, y_pred, sample_weight=None, regularization_losses=None):
        return self._model._compute_loss(y_true, y_pred, sample_weight)

    @property
    def metrics(self):
        return [m for m in self._model.metrics if m.name == "loss" or m.name.endswith("_loss")]


class _CompiledMetrics(_Compiled):
    """model.compiled_metrics."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._model._update_metrics(y_true, y_pred, sample_weight)

    @property
    def metrics(self):
        losses = {id(m) for m in _CompiledLoss(self._model).metrics}
        return [m for m in self._model.metrics if id(m) not in losses]


class Methods:
    """What is put onto the type keras.Model."""

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, weighted_metrics=None, run_eagerly=None,
                steps_per_execution=None, jit_compile=None, pss_evaluation_shards=0, **kwargs):
        """Says how the model is trained."""
        if kwargs:
            raise TypeError("Invalid keyword argument(s) in `compile()`: %s. Valid keyword arguments include \"cloning\", "
                            "\"experimental_run_tf_function\", \"distribute\", \"target_tensors\", or \"sample_weight_mode\"." % (set(kwargs),))
        told = {"run_eagerly": run_eagerly, "steps_per_execution": steps_per_execution, "jit_compile": jit_compile}
        if steps_per_execution == "auto":  # for speed alone: steps are planned either way
            steps_per_execution = None
        if isinstance(optimizer, dict):
            optimizer = tf.keras.optimizers.deserialize(optimizer)
        given = [m for m in nest.flatten([metrics or [], weighted_metrics or []]) if isinstance(m, tf.keras.metrics.Metric)]
        if len({id(m) for m in given}) != len(given):
            raise ValueError("Found duplicated metrics object in the user provided metrics and weighted metrics. This will cause the same metric "
                             "object to be updated multiple times, and report wrong results. \nDuplicated items: %s" % (
                                 [m for i, m in enumerate(given) if any(m is o for o in given[:i])],))
        self.__dict__["_compile_arguments"] = dict(optimizer=optimizer, loss=loss, metrics=metrics, loss_weights=loss_weights,
                                                   weighted_metrics=weighted_metrics, **told)
        self.run_eagerly = run_eagerly
        _step_functions.forget(self)
        self._compile(optimizer, _mapped(loss, _loss), _mapped(metrics, _metric), _mapped(loss_weights, float), _mapped(weighted_metrics, _metric),
                      False, 1 if steps_per_execution is None else int(steps_per_execution), bool(jit_compile))

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0, validation_data=None,
            shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0, steps_per_epoch=None, validation_steps=None,
            validation_batch_size=None, validation_freq=1, max_queue_size=10, workers=1, use_multiprocessing=False):
        """Trains the model; gives the History."""
        _check_compiled(self, "fit")
        data, validation = Source(self, x, y, sample_weight, shuffle), None
        parts = ()
        if validation_data is not None and (not hasattr(validation_data, "__len__") or isinstance(validation_data, tf.data.Dataset)
                                            or len(validation_data)):
            parts = unpack_x_y_sample_weight(validation_data) if isinstance(validation_data, (tuple, list)) else (validation_data,)
            validation = Source(self, *parts)
            parts = (validation.x,) + tuple(parts[1:])
            validation_steps = validation.steps if validation_steps is None else validation_steps
        listed = isinstance(validation_freq, collections.abc.Iterable)
        callbacks = _callbacks(callbacks)
        sequences = data.sequence, validation.sequence if validation is not None else None
        if any(s is not None for s in sequences):
            callbacks = list(callbacks or []) + [_SequenceEnds(*sequences)]
        kinds = (_TRAIN, _TEST) if validation is not None or validation_split else (_TRAIN,)
        return self._fit(data.x, y, sample_weight, _own(self, *kinds), batch_size, int(epochs), _verbosity(verbose), callbacks,
                         float(validation_split or 0.0), *(tuple(parts) + (None,) * (3 - len(parts))), bool(shuffle), class_weight, int(initial_epoch),
                         data.steps if steps_per_epoch is None else steps_per_epoch, validation_steps, validation_batch_size,
                         list(validation_freq) if listed else [int(validation_freq)], listed, isinstance(shuffle, str) and shuffle.lower() == "batch")

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None, max_queue_size=10,
                 workers=1, use_multiprocessing=False, return_dict=False, **kwargs):
        """The loss and the metrics over all batches."""
        if kwargs:
            raise TypeError("Invalid keyword arguments: %s" % list(kwargs))
        _check_compiled(self, "evaluate")
        data = Source(self, x, y, sample_weight)
        logs = self._evaluate(data.x, y, sample_weight, _own(self, _TEST), batch_size, _verbosity(verbose), data.steps if steps is None else steps,
                              _callbacks(callbacks))
        if data.sequence is not None:
            data.sequence.on_epoch_end()
        return logs if return_dict else _in_order(self, logs)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False):
        """The outputs for all rows or batches, as NumPy arrays."""
        _outside("predict")
        data = Source(self, x)
        outputs = self._predict(data.x, _own(self, _PREDICT), batch_size, _verbosity(verbose), data.steps if steps is None else steps, _callbacks(callbacks))
        if data.sequence is not None:
            data.sequence.on_epoch_end()
        return outputs

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True, return_dict=False):
        """One step of training."""
        _check_compiled(self, "train_on_batch")
        logs = self._on_batch(_TRAIN, x, y, sample_weight, _own(self, _TRAIN), class_weight, reset_metrics)
        return logs if return_dict else _in_order(self, logs)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        """One step of evaluation."""
        _check_compiled(self, "test_on_batch")
        logs = self._on_batch(_TEST, x, y, sample_weight, _own(self, _TEST), None, reset_metrics)
        return logs if return_dict else _in_order(self, logs)

    def predict_on_batch(self, x):
        """The outputs for one batch."""
        _outside("predict_on_batch")
        return self._predict(x, _own(self, _PREDICT), verbose=0, whole=True)

    def train_step(self, data):
        """One step of training: subclasses may have their own."""
        x, y, weight = unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            predictions = self(x, training=True)
            loss = self.compute_loss(x, y, predictions, weight)
        self._check_loss(y is not None, loss is not None)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return self.compute_metrics(x, y, predictions, weight)

    def test_step(self, data):
        """One step of evaluation."""
        x, y, weight = unpack_x_y_sample_weight(data)
        predictions = self(x, training=False)
        self.compute_loss(x, y, predictions, weight)
        return self.compute_metrics(x, y, predictions, weight)

    def predict_step(self, data):
        """One step of predict."""
        return self(unpack_x_y_sample_weight(data)[0], training=False)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        """The loss as compile says."""
        return self.compiled_loss(y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight):
        """Brings the compiled metrics up to date and gives all."""
        self.compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        """All metrics by name."""
        out = {}
        for metric in self.metrics:
            result = metric.result()
            out.update(result if isinstance(result, dict) else {metric.name: result})
        return out

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None, validation_steps=None,
                      validation_freq=1, class_weight=None, max_queue_size=10, workers=1, use_multiprocessing=False, shuffle=True, initial_epoch=0):
        """fit."""
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, verbose=verbose, callbacks=callbacks, validation_data=validation_data,
                        validation_steps=validation_steps, validation_freq=validation_freq, class_weight=class_weight, max_queue_size=max_queue_size,
                        workers=workers, use_multiprocessing=use_multiprocessing, shuffle=shuffle, initial_epoch=initial_epoch)

    def evaluate_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False, verbose=0):
        """evaluate."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, max_queue_size=max_queue_size, workers=workers,
                             use_multiprocessing=use_multiprocessing, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False, verbose=0):
        """predict."""
        return self.predict(generator, steps=steps, callbacks=callbacks, max_queue_size=max_queue_size, workers=workers,
                            use_multiprocessing=use_multiprocessing, verbose=verbose)

    def make_train_function(self, force=False):
        """The function that fit calls for a step: of an iterator over batches, it gives the logs."""
        return _step_functions.make(self, _TRAIN, force)

    def make_test_function(self, force=False):
        """The function that evaluate calls for a step."""
        return _step_functions.make(self, _TEST, force)

    def make_predict_function(self, force=False):
        """The function that predict calls for a step: it gives the outputs."""
        return _step_functions.make(self, _PREDICT, force)

    def get_compile_config(self):
        """What compile was given, for a config; None if the model is not compiled."""
        if not self._is_compiled:
            return None
        given = self.__dict__.get("_compile_arguments", {})
        return {name: _serialized(value) for name, value in given.items()}

    def compile_from_config(self, config):
        """Compiles the model as get_compile_config told, and makes the optimizer's variables."""
        given = {name: _deserialized(value) for name, value in config.items()}
        for name in ("weighted_metrics", "metrics", "loss", "loss_weights"):
            given.setdefault(name, None)
        self.compile(**given)
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def get_weight_paths(self):
        """The weights by the attributes that lead to them."""
        paths = {}
        for layer in self.layers:
            for weight in layer.weights:
                paths["%s.%s" % (layer.name, weight.name.split(":")[0].rsplit("/", 1)[-1])] = weight
        return paths

    def to_yaml(self, **kwargs):
        """Was removed from Keras."""
        raise RuntimeError("Method `model.to_yaml()` has been removed due to security risk of arbitrary code execution. Please use `model.to_json()` instead.")

    def _told(name, text):
        return property(lambda self: self.__dict__.get("_compile_arguments", {}).get(name), doc=text)
    jit_compile = _told("jit_compile", "What compile was given.")
    autotune_steps_per_execution = property(lambda self: self.__dict__.get("_compile_arguments", {}).get("steps_per_execution") == "auto",
                                            doc="Whether compile was told \"auto\".")
    steps_per_execution = property(lambda self: self.__dict__.get("_compile_arguments", {}).get("steps_per_execution") or 1,
                                   doc="How many batches a call of a step takes.")
    distribute_reduction_method = property(lambda self: "auto", doc="How results of replicas are joined.")
    distribute_strategy = property(lambda self: tf.distribute.get_strategy(), doc="The strategy that is in use.")
    state_updates = property(lambda self: [], doc="Nothing: updates happen when layers are called.")
    del _told

    metrics_names = property(lambda self: [m.name for m in self.metrics], doc="The names of the metrics, in order.")
    compiled_loss = property(lambda self: _CompiledLoss(self) if self._is_compiled else None)
    compiled_metrics = property(lambda self: _CompiledMetrics(self) if self._is_compiled else None)
    history = property(lambda self: self._training_state().get("history"), doc="The History of the last fit.")
    run_eagerly = property(_step_functions.runs_eagerly, _step_functions.set_run_eagerly, doc="Whether steps run without being traced.")
    train_function, test_function, predict_function = (_step_functions.property_of(kind) for kind in (_TRAIN, _TEST, _PREDICT))
    _is_compiled = property(lambda self: self._training_state()["compiled"])
    loss = property(_loss_of, doc="What compile was given.")


def _serialized(value):
    if isinstance(value, dict):
        return {key: _serialized(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_serialized(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else tf.keras.utils.serialize_keras_object(value)


def _deserialized(value):
    if isinstance(value, dict) and "class_name" in value and "config" in value:
        return tf.keras.utils.deserialize_keras_object(value)
    if isinstance(value, dict):
        return {key: _deserialized(item) for key, item in value.items()}
    return [_deserialized(item) for item in value] if isinstance(value, list) else value


def _with_values(method):
    """In a graph that a program builds, training and predictions run at once, with the values of Keras's session."""
    @functools.wraps(method)
    def called(self, *args, **kwargs):
        if tf.executing_eagerly() or _core._in_function():
            return method(self, *args, **kwargs)
        from thalweg._graph_mode.keras import get_session
        get_session()
        return _core.call_eagerly(method, self, *args, **kwargs)
    return called


def _outside(method):
    if not tf.executing_eagerly() and _core._in_function():
        raise RuntimeError("Detected a call to `Model.%s` inside a `tf.function`. `Model.%s is a high-level endpoint that manages its own "
                           "`tf.function`. Please move the call to `Model.%s` outside of all enclosing `tf.function`s. Note that you can call a "
                           "`Model` directly on `Tensor`s inside a `tf.function` like: `model(x)`." % (method, method, method))


def _check_compiled(model, method):
    _outside(method)
    if not model._training_state()["compiled"]:
        raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")


def _in_order(model, logs):
    """The values as a list, those of metrics first; a single one alone."""
    names = list(model.metrics_names)
    values = [logs[name] for name in names if name in logs] + [logs[name] for name in sorted(logs) if name not in names]
    return values[0] if len(values) == 1 else values


def unpack_x_y_sample_weight(data):
    """x, y and the weights, None for what is missing."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: %s" % (data,))
    return tuple(data) + (None,) * (3 - len(data))


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """The tuple that unpack_x_y_sample_weight takes apart."""
    if y is None:
        return (x,) if nest.is_nested(x) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


from thalweg._callbacks import events_of, tell  # noqa: E402, F401


def install():
    """Puts the methods onto keras.Model."""
    for name in _LOOPS:
        setattr(Methods, name, _with_values(getattr(Methods, name)))
    tf._put(Methods, Model)
    for function in (Sequence, unpack_x_y_sample_weight, pack_x_y_sample_weight):
        setattr(tf.keras.utils, function.__name__, function)
