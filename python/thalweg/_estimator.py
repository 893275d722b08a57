"""tf.estimator: models as functions, trained in sessions with hooks (_graph_mode/monitored.py). Loaded when it is first asked for."""
import collections
import copy
import inspect
import os
import tempfile
import time

import numpy as np

import thalweg as tf
from thalweg import _core

v1 = tf.compat.v1
v1.Session  # fills the module


class ModeKeys:
    """What a model function is called for."""
    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


_SPEC = ["mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_chief_hooks", "training_hooks", "scaffold",
         "evaluation_hooks", "prediction_hooks"]


class EstimatorSpec(collections.namedtuple("EstimatorSpec", _SPEC)):
    """What a model function gives back."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None, training_chief_hooks=None, training_hooks=None,
                scaffold=None, evaluation_hooks=None, prediction_hooks=None):
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL) and loss is None:
            raise ValueError("Missing loss.")
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode == ModeKeys.PREDICT and predictions is None:
            raise ValueError("Missing predictions.")
        if loss is not None:
            if not tf.is_tensor(loss):
                raise ValueError("loss must be Tensor, given: %s" % (loss,))
            if loss.shape.rank not in (0, None) and loss.shape.num_elements() != 1:
                raise ValueError("Loss must be scalar, given: %s" % loss)
            if loss.shape.rank != 0:
                loss = tf.reshape(loss, [])
        for key, value in (eval_metric_ops or {}).items():
            if not isinstance(value, tf.keras.metrics.Metric) and (not isinstance(value, tuple) or len(value) != 2):
                raise TypeError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: %s for key: %s" % (value, key))
        return super().__new__(cls, mode, {} if predictions is None else predictions, loss, train_op, eval_metric_ops or {}, export_outputs,
                               tuple(training_chief_hooks or ()), tuple(training_hooks or ()), scaffold or v1.train.Scaffold(),
                               tuple(evaluation_hooks or ()), tuple(prediction_hooks or ()))


class RunConfig:
    """Where an estimator writes, how often, and its seed."""

    _NAMES = dict(model_dir=None, tf_random_seed=1, save_summary_steps=100, save_checkpoints_steps=None, save_checkpoints_secs=600, session_config=None,
                  keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, train_distribute=None, device_fn=None, protocol=None,
                  eval_distribute=None, experimental_distribute=None, experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200,
                  checkpoint_save_graph_def=True)
    _UNSUPPORTED = ("train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute")

    def __init__(self, model_dir=None, tf_random_seed=1, **others):
        unknown = set(others) - set(self._NAMES)
        if unknown:
            raise TypeError("RunConfig.__init__() got an unexpected keyword argument %r" % sorted(unknown)[0])
        if others.get("save_checkpoints_steps") is not None and others.get("save_checkpoints_secs") is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        if others.get("save_checkpoints_steps") is not None:
            others["save_checkpoints_secs"] = None
        for name in self._UNSUPPORTED:
            if others.get(name) is not None:
                raise NotImplementedError("tf.estimator.RunConfig: %s is not supported" % name)
        self.__dict__.update(self._NAMES, model_dir=os.fspath(model_dir) if model_dir is not None else None, tf_random_seed=tf_random_seed)
        self.__dict__.update(others)

    is_chief, master, evaluation_master, num_ps_replicas, num_worker_replicas, task_id, task_type, global_id_in_cluster = True, "", "", 0, 1, 0, "worker", 0
    cluster_spec, service = None, None

    def replace(self, **kwargs):
        """A copy with other settings."""
        for name in kwargs:
            if name not in self._NAMES:
                raise ValueError("Replacing %s is not supported. Allowed properties are %s." % (name, sorted(self._NAMES)))
        made = copy.copy(self)
        made.__dict__.update(kwargs)
        return made


TrainSpec = collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks", "saving_listeners"], defaults=(None, (), None))


class EvalSpec(collections.namedtuple("EvalSpec", ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"])):
    """How train_and_evaluate evaluates."""

    def __new__(cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, throttle_secs=600):
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: %s" % steps)
        exporters = [] if exporters is None else [exporters] if not isinstance(exporters, (list, tuple)) else list(exporters)
        return super().__new__(cls, input_fn, steps, name, tuple(hooks or ()), tuple(exporters), start_delay_secs, throttle_secs)


class _Initialize(v1.train.SessionRunHook):
    """Runs the initializer of the input's iterator."""

    def __init__(self, operation):
        self._operation = operation

    def after_create_session(self, session, coord):
        session.run(self._operation)
        del coord


class _StartQueues(v1.train.SessionRunHook):
    """Starts the threads of the input's queues."""

    def after_create_session(self, session, coord):
        v1.train.start_queue_runners(session, coord)


def _called(function, **given):
    """Calls a function with those of the arguments that it takes."""
    parameters = inspect.signature(function).parameters
    return function(**{name: value for name, value in given.items() if name in parameters})


def _input(input_fn, mode, params=None, config=None):
    """(features, labels, hooks) of what an input function gives."""
    given = _called(input_fn, mode=mode, params=params, config=config)
    hooks = []
    if isinstance(given, tf.data.Dataset) or hasattr(given, "element_spec") and not isinstance(given, tuple):
        iterator = v1.data.make_initializable_iterator(given)
        hooks.append(_Initialize(iterator.initializer))
        given = iterator.get_next()
    if v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS):
        hooks.append(_StartQueues())
    if isinstance(given, (list, tuple)):
        if len(given) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return given[0], given[1], hooks
    return given, None, hooks


class Estimator:
    """A model as a function of features, labels and a mode, with its checkpoints."""

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        if warm_start_from is not None:
            raise NotImplementedError("tf.estimator.Estimator: warm_start_from is not supported")
        names = inspect.signature(model_fn).parameters
        if "features" not in names:
            raise ValueError("model_fn (%s) must include features argument." % model_fn)
        if params is not None and "params" not in names:
            raise ValueError("model_fn (%s) does not include params argument, but params (%s) is passed to Estimator." % (model_fn, params))
        config = config or RunConfig()
        if isinstance(config, dict):
            config = RunConfig(**config)
        model_dir = os.fspath(model_dir) if model_dir is not None else config.model_dir
        if config.model_dir and config.model_dir != model_dir:
            raise ValueError("`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: '%s', in `RunConfig`: '%s' "
                             % (model_dir, config.model_dir))
        self._model_dir = model_dir or tempfile.mkdtemp()
        self._config, self._params, self._function = config.replace(model_dir=self._model_dir), copy.deepcopy(params or {}), model_fn

    model_dir = property(lambda self: self._model_dir)
    config = property(lambda self: copy.deepcopy(self._config))
    params = property(lambda self: copy.deepcopy(self._params))

    @property
    def model_fn(self):
        """The function of features, labels, mode and config."""
        def call(features, labels, mode, config):
            return self._call(features, labels, mode, config)
        return call

    def _call(self, features, labels, mode, config):
        given = dict(features=features, mode=mode, params=self.params, config=config)
        if "labels" in inspect.signature(self._function).parameters:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        spec = _called(self._function, **given)
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def eval_dir(self, name=None):
        """Where results of evaluations are written."""
        return os.path.join(self._model_dir, "eval" if not name else "eval_" + name)

    def latest_checkpoint(self):
        """The newest checkpoint's path, or None."""
        return tf.train.latest_checkpoint(self._model_dir)

    def get_variable_names(self):
        """The names of the newest checkpoint's variables."""
        self._need_checkpoint(None)
        return [name for name, _ in tf.train.list_variables(self._model_dir)]

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint."""
        self._need_checkpoint(None)
        return tf.train.load_variable(self._model_dir, name)

    def _need_checkpoint(self, path):
        path = path or self.latest_checkpoint()
        if not path:
            raise ValueError("Could not find trained model in model_dir: %s." % self._model_dir)
        return path

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Runs the training operation until the steps, or the input, are through."""
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError("Must specify %s > 0, given: %s" % (name, value))
        path = self.latest_checkpoint()
        if max_steps is not None and path and tf.train.load_variable(path, "global_step") >= max_steps:
            return self
        hooks = list(hooks or [])
        if steps is not None or max_steps is not None:
            hooks.append(v1.train.StopAtStepHook(steps, max_steps))
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(self._config.tf_random_seed)
            step = v1.train.create_global_step(graph)
            features, labels, more = _input(input_fn, ModeKeys.TRAIN, self._params, self._config)
            spec = self._call(features, labels, ModeKeys.TRAIN, self._config)
            v1.summary.scalar("loss", spec.loss)
            hooks = more + [v1.train.NanTensorHook(spec.loss)] + hooks + list(spec.training_hooks)
            if spec.scaffold.saver is None and not v1.get_collection(v1.GraphKeys.SAVERS):
                v1.add_to_collection(v1.GraphKeys.SAVERS, v1.train.Saver(max_to_keep=self._config.keep_checkpoint_max, sharded=False,
                                     keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours))
            chief = list(spec.training_chief_hooks)
            if not any(isinstance(hook, v1.train.CheckpointSaverHook) for hook in hooks + chief):
                chief.append(v1.train.CheckpointSaverHook(self._model_dir, self._config.save_checkpoints_secs, self._config.save_checkpoints_steps,
                                                          scaffold=spec.scaffold, listeners=list(saving_listeners or [])))
            with v1.train.MonitoredTrainingSession(checkpoint_dir=self._model_dir, scaffold=spec.scaffold, hooks=hooks, chief_only_hooks=chief,
                                                   save_checkpoint_secs=0, save_summaries_steps=self._config.save_summary_steps,
                                                   config=self._config.session_config, log_step_count_steps=self._config.log_step_count_steps) as session:
                try:
                    while not session.should_stop():
                        session.run([spec.train_op, spec.loss])
                except tf.errors.OutOfRangeError:
                    pass
            del step
        return self

    def _session(self, spec, checkpoint_path, hooks):
        creator = v1.train.ChiefSessionCreator(spec.scaffold, config=self._config.session_config, checkpoint_filename_with_path=checkpoint_path)
        return v1.train.MonitoredSession(creator, hooks)

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """The metrics of the newest checkpoint, and the loss."""
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: %s" % steps)
        path = self._need_checkpoint(checkpoint_path)
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(self._config.tf_random_seed)
            step = v1.train.create_global_step(graph)
            features, labels, more = _input(input_fn, ModeKeys.EVAL, self._params, self._config)
            spec = self._call(features, labels, ModeKeys.EVAL, self._config)
            metrics = {key: (value.result(), value.updates[0]) if isinstance(value, tf.keras.metrics.Metric) else value
                       for key, value in spec.eval_metric_ops.items()}
            if "loss" in metrics:
                raise ValueError("Metric with name \"loss\" is not allowed, because Estimator already defines a default metric with the same name.")
            metrics["loss"] = v1.metrics.mean(spec.loss)
            updates = tf.group(*[update.op if hasattr(update, "op") else update for _, update in metrics.values()])
            values = {key: tf.identity(value) for key, (value, _) in metrics.items()}
            values["global_step"] = tf.identity(step)
            with self._session(spec, path, more + list(hooks or []) + list(spec.evaluation_hooks)) as session:
                done = 0
                try:
                    while not session.should_stop() and (steps is None or done < steps):
                        session.run(updates)
                        done += 1
                except tf.errors.OutOfRangeError:
                    pass
                found = session._session.run(values)
            writer = v1.summary.FileWriter(self.eval_dir(name))
            summary = v1.Summary(value=[v1.Summary.Value(tag=key, simple_value=float(value)) for key, value in found.items()
                                        if key != "global_step" and np.ndim(value) == 0])
            writer.add_summary(summary, int(found["global_step"]))
            writer.close()
        return {key: found[key] for key in sorted(found)}

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """The predictions for each sample, or for each batch."""
        path = self._need_checkpoint(checkpoint_path)
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(self._config.tf_random_seed)
            v1.train.create_global_step(graph)
            features, _, more = _input(input_fn, ModeKeys.PREDICT, self._params, self._config)
            spec = self._call(features, None, ModeKeys.PREDICT, self._config)
            wanted = spec.predictions
            if predict_keys:
                if not isinstance(wanted, dict):
                    raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
                keys = [predict_keys] if isinstance(predict_keys, str) else list(predict_keys)
                wanted = {key: value for key, value in wanted.items() if key in keys}
                if not wanted:
                    raise ValueError("Expected to run at least one output from %s, provided %s." % (list(spec.predictions), predict_keys))
            session = self._session(spec, path, more + list(hooks or []) + list(spec.prediction_hooks))
        with session:
            while not session.should_stop():
                try:
                    found = session.run(wanted)
                except tf.errors.OutOfRangeError:
                    return
                if not yield_single_examples:
                    yield found
                elif isinstance(found, dict):
                    for i in range(len(next(iter(found.values())))):
                        yield {key: value[i] for key, value in found.items()}
                else:
                    yield from found

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None, experimental_mode=ModeKeys.PREDICT):
        """A SavedModel of the newest checkpoint for serving, in a folder named after the time."""
        if experimental_mode != ModeKeys.PREDICT:
            raise NotImplementedError("export_saved_model: only the mode PREDICT is supported")
        if serving_input_receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
        path = self._need_checkpoint(checkpoint_path)
        folder = _new_folder(os.fspath(export_dir_base))
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(self._config.tf_random_seed)
            v1.train.create_global_step(graph)
            receiver = serving_input_receiver_fn()
            spec = self._call(receiver.features, None, ModeKeys.PREDICT, self._config)
            signatures = _signatures(receiver.receiver_tensors, spec)
            saver = spec.scaffold.saver or v1.train.Saver(sharded=True)
            with v1.Session(config=self._config.session_config) as session:
                session.run([v1.local_variables_initializer(), v1.tables_initializer()])
                saver.restore(session, path)
                builder = v1.saved_model.Builder(folder)
                builder.add_meta_graph_and_variables(session, ["serve"], signatures, assets_list=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
                                                     main_op=spec.scaffold.local_init_op or v1.train.Scaffold.default_local_init_op(), saver=saver)
            builder.save(as_text)
        for target, source in (assets_extra or {}).items():
            place = os.path.join(folder, "assets.extra", target)
            tf.io.gfile.makedirs(os.path.dirname(place))
            tf.io.gfile.copy(source, place)
        return folder.encode()

    export_savedmodel = export_saved_model


def _new_folder(base):
    for _ in range(10):
        folder = os.path.join(base, str(int(time.time())))
        if not tf.io.gfile.exists(folder):
            return folder
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name after 10 attempts.")


# ---- signatures of exports ----

class PredictOutput:
    """Outputs of predictions: tensors by name."""

    def __init__(self, outputs):
        self._outputs = outputs if isinstance(outputs, dict) else {"output": outputs}

    outputs = property(lambda self: self._outputs)

    def _signature(self, receivers):
        return v1.saved_model.predict_signature_def(receivers, self._outputs)


class RegressionOutput:
    """Outputs of a regression."""

    def __init__(self, value):
        self._value = value

    value = property(lambda self: self._value)

    def _signature(self, receivers):
        examples = next(iter(receivers.values()))
        if len(receivers) == 1 and examples.dtype == tf.string:
            return v1.saved_model.regression_signature_def(examples, self._value)
        return None


class ClassificationOutput:
    """Outputs of a classifier."""

    def __init__(self, scores=None, classes=None):
        self._scores, self._classes = scores, classes

    scores, classes = property(lambda self: self._scores), property(lambda self: self._classes)

    def _signature(self, receivers):
        examples = next(iter(receivers.values()))
        if len(receivers) == 1 and examples.dtype == tf.string:
            return v1.saved_model.classification_signature_def(examples, self._classes, self._scores)
        return None


def _signatures(receivers, spec):
    receivers = receivers if isinstance(receivers, dict) else {"input": receivers}
    outputs = spec.export_outputs
    if outputs is None:
        outputs = {"serving_default": PredictOutput(spec.predictions)}
    outputs = dict(outputs)
    if len(outputs) == 1 and "serving_default" not in outputs:
        outputs["serving_default"] = next(iter(outputs.values()))
    made = {key: output._signature(receivers) for key, output in outputs.items()}
    return {key: signature for key, signature in made.items() if signature is not None}


ServingInputReceiver = collections.namedtuple("ServingInputReceiver", ["features", "receiver_tensors", "receiver_tensors_alternatives"], defaults=(None,))
TensorServingInputReceiver = ServingInputReceiver


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that makes a placeholder for each feature."""
    def make():
        made = {}
        for key, given in features.items():
            shape = given.shape.as_list() if given.shape.rank is not None else None
            if shape:
                shape[0] = default_batch_size
            made[key] = v1.placeholder(given.dtype, shape, name=key)
        return ServingInputReceiver(made, made)
    return make


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that parses serialized Examples."""
    def make():
        serialized = v1.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.io.parse_example(serialized, feature_spec), {"examples": serialized})
    return make


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains to max_steps and evaluates; (metrics, results of the exporters)."""
    if not isinstance(train_spec, TrainSpec):
        raise TypeError("`train_spec` must have type `tf.estimator.TrainSpec`. Got: %s" % type(train_spec))
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError("`eval_spec` must have type `tf.estimator.EvalSpec`. Got: %s" % type(eval_spec))
    if eval_spec.exporters:
        raise NotImplementedError("tf.estimator.train_and_evaluate: exporters are not supported; use export_saved_model")
    estimator.train(train_spec.input_fn, hooks=list(train_spec.hooks), max_steps=train_spec.max_steps, saving_listeners=train_spec.saving_listeners)
    return estimator.evaluate(eval_spec.input_fn, steps=eval_spec.steps, hooks=list(eval_spec.hooks), name=eval_spec.name), []


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input function of arrays."""
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got %s" % shuffle)
    if isinstance(x, dict) and not x:
        raise ValueError("x cannot be an empty")
    del queue_capacity, num_threads  # they change how it waits, not what it gives
    whole = x if y is None else (x, y)
    if len({len(part) for part in tf.nest.flatten(whole)}) != 1:
        raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same length.")

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices(whole)
        if shuffle:
            dataset = dataset.shuffle(len(tf.nest.flatten(whole)[0]))
        return dataset.repeat(num_epochs).batch(batch_size)
    return input_fn


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1, target_column="target"):
    """An input function of a table of pandas."""
    arrays = {column: x[column].values for column in x.columns}
    labels = None if y is None else {name: y[name].values for name in y.columns} if hasattr(y, "columns") else y.values
    del target_column
    return numpy_input_fn(arrays, labels, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def model_to_estimator(keras_model=None, keras_model_path=None, custom_objects=None, model_dir=None, config=None, checkpoint_format="saver",
                       metric_names_map=None, export_outputs=None):
    """An Estimator that trains a compiled Keras model."""
    del checkpoint_format, export_outputs
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if keras_model_path:
        keras_model = tf.keras.models.load_model(keras_model_path, custom_objects=custom_objects)
    if not getattr(keras_model, "optimizer", None):
        raise ValueError("The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling `model_to_estimator()`.")
    return KerasEstimator(keras_model, model_dir, config, metric_names_map or {})


class KerasEstimator(Estimator):
    """A compiled Keras model with an Estimator's methods: fit, evaluate and predict do the work; checkpoints are Keras's weights."""

    def __init__(self, model, model_dir, config, names):
        def model_fn(features, labels, mode):
            raise NotImplementedError("the model function of a Keras model can't be called by itself")
        super().__init__(model_fn, model_dir, config)
        self._model, self._renamed = model, names
        self._steps = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
        self._checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer, global_step=self._steps)
        self._manager = tf.train.CheckpointManager(self._checkpoint, self._model_dir, self._config.keep_checkpoint_max, checkpoint_name="model.ckpt")
        if self._manager.latest_checkpoint:
            self._checkpoint.restore(self._manager.latest_checkpoint)

    def _data(self, input_fn, mode):
        given = _called(input_fn, mode=mode, config=self._config)
        return given if hasattr(given, "element_spec") else tf.data.Dataset.from_tensors(given)

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Trains for that many steps, or while there is input."""
        if hooks or saving_listeners:
            raise NotImplementedError("an estimator of a Keras model takes no hooks; use callbacks with model.fit")
        if max_steps is not None:
            steps = max_steps - int(self._steps)
            if steps <= 0:
                return self
        data = self._data(input_fn, ModeKeys.TRAIN)
        data = data.take(steps) if steps is not None else data
        before = int(self._model.optimizer.iterations)
        self._model.fit(data, verbose=0)
        self._steps.assign_add(int(self._model.optimizer.iterations) - before)
        self._manager.save(int(self._steps))
        return self

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """The loss and the metrics."""
        if hooks or checkpoint_path:
            raise NotImplementedError("an estimator of a Keras model takes no hooks and no checkpoint_path")
        del name
        data = self._data(input_fn, ModeKeys.EVAL)
        found = self._model.evaluate(data.take(steps) if steps is not None else data, verbose=0, return_dict=True)
        return {**{self._renamed.get(key, key): np.float32(value) for key, value in found.items()}, "global_step": int(self._steps)}

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """The outputs of each sample, or of each batch, by the names of the output layers."""
        if hooks or checkpoint_path:
            raise NotImplementedError("an estimator of a Keras model takes no hooks and no checkpoint_path")
        names = self._model.output_names
        for batch in self._data(input_fn, ModeKeys.PREDICT):
            outputs = tf.nest.flatten(self._model.predict_on_batch(batch[0] if isinstance(batch, tuple) else batch))
            found = {key: value for key, value in zip(names, outputs) if not predict_keys or key in predict_keys}
            if not yield_single_examples:
                yield found
            else:
                for i in range(len(outputs[0])):
                    yield {key: value[i] for key, value in found.items()}

    def export_saved_model(self, export_dir_base, serving_input_receiver_fn=None, assets_extra=None, as_text=False, checkpoint_path=None,
                           experimental_mode=ModeKeys.PREDICT):
        """A SavedModel of the Keras model."""
        del serving_input_receiver_fn
        if assets_extra or as_text or checkpoint_path or experimental_mode != ModeKeys.PREDICT:
            raise NotImplementedError("export_saved_model of a Keras model: assets_extra, as_text, checkpoint_path and other modes are not supported")
        folder = _new_folder(os.fspath(export_dir_base))
        self._model.save(folder, save_format="tf")
        return folder.encode()


# What else tf.estimator names: the hooks of sessions, and models that are there already.
class Exporter:
    """The base of what a program exports models with."""

    @property
    def name(self):
        """The directory's name."""
        raise NotImplementedError("%s.name" % type(self).__name__)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports a model."""
        raise NotImplementedError("%s.export" % type(self).__name__)


HOOKS = ("SessionRunHook", "SessionRunArgs", "SessionRunContext", "SessionRunValues", "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook",
         "FinalOpsHook", "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook", "SecondOrStepTimer", "StepCounterHook", "StopAtStepHook",
         "SummarySaverHook")
CANNED = ("LinearClassifier", "LinearRegressor", "DNNClassifier", "DNNRegressor", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor")


def __getattr__(name):
    if name in HOOKS:
        return getattr(v1.train, name)
    if name in CANNED:
        from thalweg import _estimator_canned
        return getattr(_estimator_canned, name)
    raise AttributeError(name)


__getattr__ = _core._getter(__getattr__, None)


ESTIMATOR = ("Estimator", "EstimatorSpec", "ModeKeys", "RunConfig", "TrainSpec", "EvalSpec", "Exporter", "train_and_evaluate") + HOOKS + CANNED
EXPORT = ("ServingInputReceiver", "TensorServingInputReceiver", "PredictOutput", "RegressionOutput", "ClassificationOutput",
          "build_raw_serving_input_receiver_fn", "build_parsing_serving_input_receiver_fn")
