"""What packages that use TensorFlow rely on: tests/golden/packages.py asks TensorFlow, test_packages.py asks here."""
import collections
import inspect
import json
import logging
import tempfile

import numpy as np

METHODS = ("compile fit evaluate predict train_on_batch train_step test_step predict_step compute_loss compute_metrics make_train_function save save_spec").split()


class Output(collections.OrderedDict):
    """A dict with attributes, as models of packages return it."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


def own_dict(mapping):
    """A class below dict that is made of a mapping."""
    return Output(mapping)


def specs(tf):
    """What save_spec tells of inputs in all structures."""
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.dense(tf.nest.flatten(x)[0])

    def told(model):
        return [str(model.save_spec()), str(model.save_spec(dynamic_batch=False))]
    t = tf.ones((2, 3))
    found = [told(Net())]
    for inputs in (t, [t, t], (t, {"b": t, "a": [t, t]}), {"a": t, "b": (t, t)}):
        model = Net()
        model(inputs)
        found.append(told(model))
    model = Net()
    model._set_save_spec({"a": tf.TensorSpec((None, 3)), "b": tf.TensorSpec((4, 3), tf.int32, name="q")})
    found.append(told(model))
    model._set_save_spec(tf.TensorSpec((4, 3)))
    model(t)
    found.append(told(model))
    model = Net()
    model.build((None, 3))
    found.append(told(model))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, name="d")])
    found.append(told(model))
    model(t)
    found.append(str(model.save_spec()))
    return found


def saved_dict(tf):
    """A model of a dict of inputs, saved and loaded."""
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2, kernel_initializer="ones")

        def call(self, x):
            return {"sum": self.dense(x["a"]) + x["b"]}
    model = Net()
    inputs = {"a": tf.reshape(tf.range(6.0), (2, 3)), "b": tf.constant([[1.0], [2.0]])}
    model(inputs)
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        serve = tf.saved_model.load(folder).signatures["serving_default"]
        return [str(serve.structured_input_signature), serve(**inputs)["sum"].numpy().tolist()]


def kinds_of_results(tf):
    """The classes of what models return, call by call."""
    pair = collections.namedtuple("Pair", "left right")

    class Net(tf.keras.Model):
        def __init__(self, make):
            super().__init__()
            self.dense, self.make = tf.keras.layers.Dense(2, kernel_initializer="ones"), make

        def call(self, x):
            return self.make(self.dense(x), x)
    found = []
    for make in (lambda a, b: Output(z=a, b=b), pair, lambda a, b: {"z": a, "b": b}):
        model, x, inputs = Net(make), tf.ones((4, 3)), tf.keras.Input((3,))
        model.compile()
        results = [model(x), model.predict(x, batch_size=2, verbose=0), model.predict_on_batch(x), Net(make)(inputs)]
        outer = tf.keras.Model(inputs, results[3])
        results += [outer(x), outer.predict(x, verbose=0)]
        found.append([[type(result).__name__, list(result) if isinstance(result, dict) else len(result)] for result in results])
        last = results[-1]
        found.append(np.asarray(last["z"] if isinstance(last, dict) else last[0]).tolist())
    return found


def fit_of_own_dict(tf):
    """Losses are those of their keys, whatever the order of the outputs."""
    inputs = tf.keras.Input((2,))
    heads = {"z": tf.keras.layers.Dense(1, kernel_initializer="ones", name="z")(inputs), "a": tf.keras.layers.Dense(1, kernel_initializer="zeros", name="a")(inputs)}
    model = tf.keras.Model(inputs, own_dict(heads))
    model.compile("sgd", {"z": "mse", "a": "mae"})
    x = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    history = model.fit(x, {"a": x[:, :1] * 5, "z": x[:, 1:]}, epochs=2, verbose=0, shuffle=False).history
    return {key: np.round(value, 4).tolist() for key, value in sorted(history.items())}


def functions_as_initializers(tf):
    """Functions where initializers are expected."""
    asked = []

    def three(shape, dtype=None):
        asked.append([list(shape), str(dtype)])
        return tf.ones(shape, dtype) * 3

    class Own(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(name="w", shape=(2,), initializer=three)
            self.v = self.add_weight(name="v", shape=(3,), dtype="int32", trainable=False, initializer=lambda shape, dtype: [1, 2, 3])
    layers = [tf.keras.layers.Dense(2, kernel_initializer=three), tf.keras.layers.LSTM(1, recurrent_initializer=three), Own()]
    for layer, shape in zip(layers, ((1, 2), (1, 2, 2), (1, 2))):
        layer(tf.ones(shape))
    dense = layers[0]
    return [asked, dense.kernel.numpy().tolist(), layers[2].v.numpy().tolist(), tf.keras.layers.serialize(dense)["config"]["kernel_initializer"],
            dense.kernel_initializer is three, tf.keras.initializers.get(three) is three]


def grids(tf):
    """Grids of vectors whose lengths are not known while tracing."""
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
    def grid(x, y):
        return tf.meshgrid(x, y) + tf.meshgrid(x, indexing="ij") + tf.meshgrid(x, y, x, indexing="ij")
    return [t.numpy().tolist() for t in grid(tf.range(3.0), tf.range(2.0))]


def log_lines(tf):
    """What tf.compat.v1.logging writes."""
    log, lines = tf.compat.v1.logging, []
    before, handler = log.get_verbosity(), logging.Handler()
    handler.emit = lambda record: lines.append([record.levelname, record.getMessage()])
    tf.get_logger().addHandler(handler)
    try:
        log.set_verbosity(log.INFO)
        log.TaskLevelStatusMessage("task")
        log.vlog(1, "low %d", 4)
        log.vlog(20, "high %d", 4)
        for i in range(4):
            log.log_every_n(log.INFO, "every %d", 2, i)
            log.log_first_n(log.WARN, "first %d", 2, i)
        log.log_if(log.ERROR, "no", False)
        log.log_if(log.ERROR, "yes", True)
    finally:
        log.set_verbosity(before)
        tf.get_logger().removeHandler(handler)
    return lines


def replaced_fit(tf):
    """A package that replaces Model.fit calls the one before."""
    old, calls = tf.keras.Model.fit, []

    def fit(self, *args, **kwargs):
        calls.append(len(args))
        return old(self, *args, **kwargs)
    tf.keras.Model.fit = fit
    try:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        loss = model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0).history["loss"]
    finally:
        tf.keras.Model.fit = old
    return [calls, loss]


def truth(tf):
    """The base's own truth is for what stands for a tensor, and refuses."""
    found = []
    for method in (tf.Tensor.__bool__, tf.Tensor.__nonzero__):
        try:
            found.append(method(tf.constant(2)))
        except Exception as error:
            found.append(type(error).__name__)
    return found + [bool(tf.constant(2)), bool(tf.constant(0.0))]


def lists_of_one(tf):
    """The one input of a model, in a list."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    inputs = tf.keras.Input((3,))
    models = [tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")]),
              tf.keras.Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs))]
    found = []
    for model in models:
        model.compile("sgd", "mse")
        found += [np.asarray(model(given)).tolist() for given in ([x], (x,), [tf.constant(x)])]
        found += [model.predict([x], verbose=0).tolist(), model.fit([x], x[:, :1], verbose=0).history["loss"], model.evaluate([x], x[:, :1], verbose=0)]
    return json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 3))


def attributes(tf):
    """Attributes of models and layers that are not public."""
    class Own(tf.keras.Model):
        pass
    inputs = tf.keras.Input((3,))
    models = [Own(), tf.keras.Sequential(), tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))]), tf.keras.Model(inputs, inputs)]
    layer, child, module = tf.keras.layers.Layer(), tf.Module(), tf.Module(name="outer")
    tracked = layer._track_trackable(child, "child") is child
    return [[model._is_graph_network for model in models], layer._dtype, tf.keras.metrics.Mean()._dtype, tracked, module._name_scope.name,
            sorted(tf.Module._TF_MODULE_IGNORED_PROPERTIES)]


def attention_by_shapes(tf):
    """Weights of an attention that were made for shapes."""
    layer = tf.keras.layers.MultiHeadAttention(2, 3, kernel_initializer="ones")
    layer._build_from_signature(query=tf.TensorShape([None, 4, 5]), value=(None, 6, 5))
    return [[list(w.shape) for w in layer.weights], np.round(layer(tf.ones((1, 4, 5)), tf.ones((1, 6, 5))), 3).tolist()]


def case_helper(tf):
    """The function behind tf.case."""
    from importlib import import_module
    helper = import_module(tf.__name__ + ".python.ops.control_flow_case" if tf.__name__ == "thalweg" else "tensorflow.python.ops.control_flow_case")._case_helper

    @tf.function
    def choose(x):
        return helper(tf.cond, [(x < 1, lambda: x + 10), (x < 2, lambda: x + 20)], lambda: x, False, "chosen", allow_python_preds=True)
    return [choose(tf.constant(i)).numpy().tolist() for i in range(3)]


def losses_by_name(tf):
    """Names of functions give functions: one number for each sample."""
    y, p = tf.constant([[0.0, 1.0], [1.0, 1.0]]), tf.constant([[0.5, 0.5], [0.2, 0.9]])
    found = [tf.keras.losses.get(None)]
    for module, names in ((tf.keras.losses, "mse binary_crossentropy MeanSquaredError mean_absolute_error kld cosine_similarity"),
                          (tf.keras.metrics, "mse MeanSquaredError binary_accuracy mae")):
        for name in names.split():
            found.append([name, np.round(module.get(name)(y, p).numpy(), 4).tolist(), module.get(name) is getattr(module, name, None)])
    return json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 4))


def uncompiled(tf):
    """What a model tells of training before it is compiled."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    return [hasattr(model, "loss"), model.compiled_loss, model.compiled_metrics, model.history, model.optimizer]


CASES = {
    "specs": specs, "saved_dict": saved_dict, "kinds_of_results": kinds_of_results, "fit_of_own_dict": fit_of_own_dict,
    "functions_as_initializers": functions_as_initializers, "grids": grids, "log_lines": log_lines, "replaced_fit": replaced_fit, "lists_of_one": lists_of_one, "attributes": attributes, "losses_by_name": losses_by_name, "uncompiled": uncompiled,
    "attention_by_shapes": attention_by_shapes, "case_helper": case_helper,
    "signatures": lambda tf: {name: list(inspect.signature(getattr(tf.keras.Model, name)).parameters) for name in METHODS},
    "truth": truth,
}
