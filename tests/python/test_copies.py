"""copy.copy, copy.deepcopy and pickle of every kind of object: what TensorFlow allows gives an equal object of its own, what it refuses is refused."""
import copy
import pickle

import numpy as np
import pytest

import thalweg as tf

keras = tf.keras


class OwnLayer(keras.layers.Layer):
    """A layer without a config of its own."""

    def __init__(self, **kwargs):
        self.before = 3  # before super().__init__
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)


class WithConfig(keras.layers.Layer):
    """One with a config."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight("kernel", [shape[-1], self.units])

    def call(self, x):
        return x @ self.kernel

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class OwnModel(keras.Model):
    """A subclassed model."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, x):
        return self.dense(x)


class OwnLoss(keras.losses.Loss):
    """A loss with a setting."""

    def __init__(self, factor):
        super().__init__(name="mine")
        self.factor = factor

    def call(self, y_true, y_pred):
        return self.factor * tf.reduce_mean(y_true - y_pred, -1)


class Listener(keras.callbacks.Callback):
    """A callback whose attributes come before super().__init__()."""

    def __init__(self):
        self.count = 5
        super().__init__()


class Holder(tf.Module):
    """A module whose attributes come before super().__init__()."""

    def __init__(self):
        self.weight = tf.Variable([1.0, 2.0])
        super().__init__(name="holder")


X, Y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")


def built(layer, shape=(4, 3)):
    layer(np.ones(shape, "float32"))
    return layer


def functional():
    inputs = keras.Input((3,))
    return keras.Model(inputs, keras.layers.Dense(2)(inputs))


def trained(model):
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, verbose=0)
    return model


def history():
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=["mae"])
    return model.fit(X, Y, epochs=2, verbose=0)


def changing_table():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    table.insert(["a"], tf.constant([1], tf.int64))
    return table


def updated(metric):
    metric.update_state([1.0, 4.0])
    return metric


def seen(value):
    """What is compared."""
    if isinstance(value, keras.layers.Layer):
        own = {k: v for k, v in value.__dict__.items() if isinstance(v, (int, float, str)) and not k.startswith("_")}
        return type(value), value.name, own, [w.tolist() for w in value.get_weights()] if value.built else None
    if isinstance(value, tf.Module):
        return type(value), value.name, [v.numpy().tolist() for v in value.variables]
    if isinstance(value, (tf.SparseTensor, tf.IndexedSlices)):
        return type(value), value.values.numpy().tolist(), value.indices.numpy().tolist()
    if isinstance(value, tf.random.Generator):
        return type(value), value.state.numpy().tolist()
    if isinstance(value, tf.RaggedTensor):
        return type(value), value.to_list(), [splits.numpy().tolist() for splits in value.nested_row_splits]
    if isinstance(value, keras.callbacks.History):
        return type(value), value.history, value.epoch, value.params
    if isinstance(value, tf.lookup._Table):
        return type(value), [part.numpy().tolist() for part in value.export()]
    if isinstance(value, keras.optimizers.Optimizer):
        return type(value), str(value.get_config())
    if hasattr(value, "numpy"):
        return type(value), np.asarray(value.numpy()).tolist()
    if hasattr(value, "get_config"):
        return type(value), str(value.get_config()), str({k: v for k, v in value.__dict__.items()} if hasattr(value, "__dict__") else None)
    return type(value), str(getattr(value, "__dict__", None) or value)


ALL, DEEP = ("copy", "deepcopy", "pickle"), ("deepcopy", "pickle")
CASES = {
    "tensor": (lambda: tf.constant([1.0, 2.0]), ALL), "text": (lambda: tf.constant("a"), ALL), "variable": (lambda: tf.Variable([1.0]), ALL),
    "shape": (lambda: tf.TensorShape([1, None]), ALL), "dtype": (lambda: tf.float32, ALL), "spec": (lambda: tf.TensorSpec([1, None], tf.int32, "n"), ALL),
    "ragged spec": (lambda: tf.RaggedTensorSpec([2, None], tf.int32), ALL), "sparse spec": (lambda: tf.SparseTensorSpec([2, 3], tf.int32), ALL),
    "ragged": (lambda: tf.ragged.constant([[[1], []], [[2, 3]]]), ALL),
    "sparse": (lambda: tf.sparse.from_dense([[0, 1]]), ALL), "slices": (lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])), ALL),
    "layer": (lambda: keras.layers.Dense(2), ALL), "built layer": (lambda: built(keras.layers.Dense(2, name="d")), DEEP),
    "batch normalization": (lambda: built(keras.layers.BatchNormalization()), DEEP), "lstm": (lambda: built(keras.layers.LSTM(2), (4, 2, 3)), DEEP),
    "conv": (lambda: built(keras.layers.Conv2D(2, 3), (1, 5, 5, 1)), DEEP), "own layer": (OwnLayer, ALL), "own layer, built": (lambda: built(OwnLayer()), DEEP),
    "layer with a config": (lambda: built(WithConfig(2)), DEEP), "sequential": (lambda: keras.Sequential([keras.layers.Dense(2, input_shape=(3,))]), ALL),
    "sequential, not built": (lambda: keras.Sequential([keras.layers.Dense(2)]), ALL), "functional": (functional, ALL), "subclass": (OwnModel, ALL),
    "trained sequential": (lambda: trained(keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])), ALL), "trained functional": (lambda: trained(functional()), ALL),
    "loss": (lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True), ALL), "huber": (lambda: keras.losses.Huber(2.0), ALL), "own loss": (lambda: OwnLoss(3.0), ALL),
    "metric": (lambda: updated(keras.metrics.Mean()), DEEP), "initializer": (lambda: keras.initializers.GlorotUniform(seed=1), ALL),
    "regularizer": (lambda: keras.regularizers.L2(0.1), ALL), "constraint": (lambda: keras.constraints.MaxNorm(2), ALL),
    "schedule": (lambda: keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9), ALL), "own callback": (Listener, ALL), "module": (lambda: tf.Module(name="m"), ALL),
    "own module": (Holder, DEEP), "generator": (lambda: tf.random.Generator.from_seed(1), DEEP), "device": (lambda: tf.DeviceSpec(job="a", replica=1), ALL),
    "error": (lambda: tf.errors.NotFoundError(None, None, "x"), ALL), "optimizer": (keras.optimizers.Adam, ("copy",)), "dataset": (lambda: tf.data.Dataset.range(3), ("copy",)),
    "iterator": (lambda: iter(tf.data.Dataset.range(3)), ("copy",)), "history": (lambda: history(), ALL), "table": (lambda: changing_table(), ("copy", "deepcopy")),
    "table that is filled once": (lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0), ("copy", "deepcopy")),
}
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_copies(name, way):
    make, allowed = CASES[name]
    value = make()
    before = seen(value)
    if way not in allowed:
        if name != "own module":  # TensorFlow shares the attributes; so does this
            with pytest.raises(TypeError):
                WAYS[way](value)
        return
    made = WAYS[way](value)
    assert seen(made) == before and seen(value) == before
    if getattr(made, "built", False):
        assert not {id(v) for v in made.weights} & {id(v) for v in value.weights}


def test_a_trained_model_goes_on():
    """The copy has the optimizer's state: both go on alike."""
    model = trained(functional())
    for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert made.optimizer.iterations.numpy() == 1 and made.loss == "mse"
        other = copy.deepcopy(model)
        losses = [m.fit(X, Y, epochs=2, verbose=0).history["loss"] for m in (made, other)]
        assert losses[0] == losses[1]


def test_iterating_a_dataset_without_autograph():
    """Python's loop would go on for ever in a graph."""
    dataset = tf.data.Dataset.range(100)
    with pytest.raises(ValueError, match="AutoGraph disabled"):
        tf.function(lambda: [x for x in dataset], autograph=False)()
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: [i for i in x], autograph=False)(tf.ones([3]))


def test_what_copies_share():
    """As in TensorFlow: a shallow copy of an optimizer counts with it, one of an iterator or a table is at the same place."""
    optimizer, variable = keras.optimizers.Adam(), tf.Variable([1.0])
    copy.copy(optimizer).apply_gradients([(tf.constant([1.0]), variable)])
    assert optimizer.iterations.numpy() == 1
    iterator = iter(tf.data.Dataset.range(3))
    assert [int(next(i)) for i in (iterator, copy.copy(iterator), iterator)] == [0, 1, 2]
    for way in (copy.copy, copy.deepcopy):
        table = changing_table()
        way(table).insert(["b"], tf.constant([2], tf.int64))
        assert table.size().numpy() == 2


def test_callbacks_have_no_configs():
    """Nor have Keras's: there is nothing to round-trip."""
    assert not [name for name in dir(keras.callbacks) if hasattr(getattr(keras.callbacks, name), "get_config")]


class OwnStopping(keras.callbacks.EarlyStopping):
    """A callback of the program's, with a setting."""

    def __init__(self, note, **kwargs):
        super().__init__(**kwargs)
        self.note = note


def noted(epoch, rate):
    """A schedule that pickle finds."""
    return rate / (epoch + 1)


CALLBACKS = {
    "Callback": (lambda: keras.callbacks.Callback(), ()),
    "EarlyStopping": (lambda: keras.callbacks.EarlyStopping("loss", 0.5, 3, 1, "max", 0.25, True, 2),
                      ("monitor", "min_delta", "patience", "verbose", "mode", "baseline", "restore_best_weights", "start_from_epoch", "best", "wait")),
    "own": (lambda: OwnStopping("n", patience=7), ("note", "patience", "monitor")),
    "ModelCheckpoint": (lambda: keras.callbacks.ModelCheckpoint("a.keras", "loss", save_best_only=True, mode="max"), ("filepath", "monitor", "save_best_only", "mode", "best")),
    "TerminateOnNaN": (lambda: keras.callbacks.TerminateOnNaN(), ()),
    "ReduceLROnPlateau": (lambda: keras.callbacks.ReduceLROnPlateau("loss", 0.5, 4), ("monitor", "factor", "patience", "best", "cooldown_counter")),
    "LearningRateScheduler": (lambda: keras.callbacks.LearningRateScheduler(noted, 1), ("schedule", "verbose")),
    "LambdaCallback": (lambda: keras.callbacks.LambdaCallback(on_epoch_end=noted), ("on_epoch_end",)),
    "CSVLogger": (lambda: keras.callbacks.CSVLogger("a.csv", ";", True), ("filename", "append")),
    "ProgbarLogger": (lambda: keras.callbacks.ProgbarLogger(), ()),
    "BaseLogger": (lambda: keras.callbacks.BaseLogger(["a"]), ("stateful_metrics",)),
    "TensorBoard": (lambda: keras.callbacks.TensorBoard("logs", 2, update_freq="epoch"), ("log_dir", "histogram_freq", "update_freq")),
    "BackupAndRestore": (lambda: keras.callbacks.BackupAndRestore("backup", save_freq=4), ("backup_dir", "save_freq")),
}


@pytest.mark.parametrize("name", sorted(CALLBACKS))
def test_callbacks(name):
    make, settings = CALLBACKS[name]
    callback = make()
    for other in (copy.copy(callback), copy.deepcopy(callback)):
        assert type(other) is type(callback) and other is not callback
        for setting in settings:
            assert getattr(other, setting) == getattr(callback, setting), setting


def test_callback_that_was_used():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    callback = keras.callbacks.EarlyStopping("loss", patience=5, restore_best_weights=True)
    assert callback.best_weights is None
    model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0, callbacks=[callback])
    shallow, deep = copy.copy(callback), copy.deepcopy(callback)
    assert shallow.model is model and deep.model is not model and deep.params == callback.params
    for other in (shallow, deep):
        assert (other.best, other.best_epoch, other.wait) == (callback.best, callback.best_epoch, callback.wait)
        assert [w.tolist() for w in other.best_weights] == [w.tolist() for w in callback.best_weights]
    model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=1, verbose=0, callbacks=[deep])
