"""Programs with layers, models, optimizers and steps of their own, and what is saved of them: each prints what is to be the same here and under TensorFlow
(tests/golden/keras_programs.py)."""
import os
import tempfile

import numpy as np

from function_programs import attempt
from keras_optimizer_programs import data, show

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def saved(tf, model, custom, check):
    """Saves in every format, loads, and prints what `check` says of the loaded model."""
    for name in ("model.keras", "model.h5", "model"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            model.save(path)
            check(tf.keras.models.load_model(path, custom_objects=custom))


@program
def optimizer_without_learning_rate(tf):
    class Plain(tf.keras.optimizers.Optimizer):
        def __init__(self, step=0.1, name="Plain", **kwargs):
            super().__init__(name=name, **kwargs)
            self._learning_rate = self._build_learning_rate(step)
            self.step = step
        def build(self, var_list):
            super().build(var_list)
            if getattr(self, "_built", False):
                return
            self.m = [self.add_variable_from_reference(v, "m") for v in var_list]
            self._built = True
        def update_step(self, gradient, variable):
            m = self.m[self._index_dict[self._var_key(variable)]]
            m.assign(0.5 * m + gradient)
            variable.assign_sub(self.step * m)
        def get_config(self):
            return {**super().get_config(), "step": self.step}
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,))])
    model.compile(Plain(0.05), "mse")
    x, y = data()
    model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    print(sorted(model.optimizer.get_config().items(), key=str))
    def check(loaded):
        print(type(loaded.optimizer).__name__, len(loaded.optimizer.variables))
        loaded.fit(x, y, epochs=1, shuffle=False, verbose=0)
        show(*loaded.get_weights())
    saved(tf, model, {"Plain": Plain}, check)


@program
def optimizer_of_keras_extended(tf):
    class Warm(tf.keras.optimizers.Adam):
        def __init__(self, warm=3, **kwargs):
            kwargs.setdefault("name", "Warm")
            super().__init__(**kwargs)
            self.warm = warm
        def get_config(self):
            return {**super().get_config(), "warm": self.warm}
    class Fixed(tf.keras.optimizers.SGD):
        def __init__(self):
            super().__init__(0.03, momentum=0.9, name="Fixed")
        def get_config(self):
            return {}
    for make in (Warm, Fixed):
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,))])
        model.compile(make(), "mse")
        x, y = data()
        model.fit(x, y, epochs=2, shuffle=False, verbose=0)
        def check(loaded):
            print(type(loaded.optimizer).__name__, len(loaded.optimizer.variables))
            loaded.fit(x, y, epochs=1, shuffle=False, verbose=0)
            show(*loaded.get_weights())
        saved(tf, model, {make.__name__: make}, check)


@program
def own_loss_metric_layer_saved(tf):
    class Scaled(tf.keras.layers.Layer):
        def __init__(self, units=2, scale=1.0, **kwargs):
            super().__init__(**kwargs)
            self.units, self.scale = units, scale
        def build(self, shape):
            self.w = self.add_weight("w", (shape[-1], self.units), initializer="ones", regularizer="l2")
            self.inner = tf.keras.layers.Dense(self.units, kernel_initializer="ones", name="inner")
            super().build(shape)
        def call(self, x):
            return self.inner(self.scale * tf.matmul(x, self.w))
        def get_config(self):
            return {**super().get_config(), "units": self.units, "scale": self.scale}
    class Huberish(tf.keras.losses.Loss):
        def __init__(self, delta=1.0, **kwargs):
            super().__init__(**kwargs)
            self.delta = delta
        def call(self, a, b):
            return tf.reduce_mean(tf.abs(a - b) * self.delta, -1)
        def get_config(self):
            return {**super().get_config(), "delta": self.delta}
    class Largest(tf.keras.metrics.Metric):
        def __init__(self, name="largest", floor=0.0, **kwargs):
            super().__init__(name=name, **kwargs)
            self.floor = floor
            self.top = self.add_weight(name="top", initializer="zeros")
        def update_state(self, y_true, y_pred, sample_weight=None):
            self.top.assign(tf.maximum(self.top, tf.reduce_max(tf.abs(y_true - y_pred))))
        def result(self):
            return tf.maximum(self.top, self.floor)
        def get_config(self):
            return {**super().get_config(), "floor": self.floor}
    def plain(a, b):
        return tf.reduce_mean(tf.square(a - b), -1)
    custom = {"Scaled": Scaled, "Huberish": Huberish, "Largest": Largest, "plain": plain}
    model = tf.keras.Sequential([tf.keras.Input((3,)), Scaled(2, 0.5), tf.keras.layers.Dense(2, kernel_initializer="ones")])
    model.compile("sgd", Huberish(2.0), metrics=[Largest(floor=0.5), plain, "mae"])
    x, y = data()
    model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    print(model.evaluate(x, y, verbose=0, return_dict=True).keys())
    def check(loaded):
        show(list(loaded.evaluate(x, y, verbose=0)))
        loaded.fit(x, y, epochs=1, shuffle=False, verbose=0)
        show(*loaded.get_weights())
        print([type(l).__name__ for l in loaded.layers], loaded.metrics_names, loaded.losses and len(loaded.losses))
    saved(tf, model, custom, check)


@program
def run_eagerly_setter(tf):
    seen = []
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.d = tf.keras.layers.Dense(1, kernel_initializer="ones")
        def call(self, x):
            seen.append(tf.executing_eagerly())
            return self.d(x)
    x, y = data()
    m = Net()
    attempt(lambda: m.run_eagerly)
    m.compile("sgd", "mse")
    print(m.run_eagerly)
    m.fit(x, y, verbose=0, batch_size=6)
    print(seen)
    seen.clear()
    m.run_eagerly = True
    print(m.run_eagerly)
    m.fit(x, y, verbose=0, batch_size=6)
    print(seen)
    seen.clear()
    m.train_function = None
    m.fit(x, y, verbose=0, batch_size=6)
    print(seen)
    seen.clear()
    m.run_eagerly = False
    m.compile("sgd", "mse", run_eagerly=True)
    print(m.run_eagerly)
    m.fit(x, y, verbose=0, batch_size=6)
    print(seen)
    seen.clear()
    tf.config.run_functions_eagerly(True)
    m.compile("sgd", "mse")
    print(m.run_eagerly)
    m.fit(x, y, verbose=0, batch_size=6)
    print(seen)
    seen.clear()
    attempt(lambda: m.compile("sgd", "mse", run_eagerly=False))
    attempt(lambda: m.run_eagerly)
    tf.config.run_functions_eagerly(False)


@program
def dynamic_layers(tf):
    class Dyn(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(dynamic=True, **kwargs)
            self.eager = []
        def build(self, shape):
            self.w = self.add_weight("w", (shape[-1], 2), initializer="ones")
        def call(self, x):
            self.eager.append(tf.executing_eagerly())
            rows = [r * 2 if float(tf.reduce_sum(r)) > 0 else r for r in x]
            return tf.matmul(tf.stack(rows), self.w)
        def compute_output_shape(self, shape):
            return tf.TensorShape([shape[0], 2])
    x, y = data()
    layer = Dyn()
    print(layer.dynamic, layer.stateful)
    show(layer(x[:2]))
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, kernel_initializer="ones"), Dyn()])
    model.compile("sgd", "mse")
    print(model.dynamic, model.run_eagerly)
    h = model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    show(h.history["loss"])
    show(model.predict(x, verbose=0))
    inputs = tf.keras.Input((3,))
    d = Dyn()
    out = d(inputs)
    print(out.shape, d.eager)
    model = tf.keras.Model(inputs, out)
    model.compile("sgd", "mse")
    print(model.dynamic, model.run_eagerly)
    h = model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    show(h.history["loss"], *model.get_weights())
    class NoShape(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__(dynamic=True, name="noshape")
        def call(self, x):
            return x
    attempt(lambda: NoShape()(tf.keras.Input((3,))))
    class M(tf.keras.Model):
        def __init__(self):
            super().__init__(dynamic=True)
            self.d = tf.keras.layers.Dense(2, kernel_initializer="ones")
        def call(self, x):
            out = self.d(x)
            if float(tf.reduce_sum(out)) > 0:
                out = out * 2
            return out
    m = M()
    m.compile("sgd", "mse")
    print(m.dynamic, m.run_eagerly)
    h = m.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    show(h.history["loss"], *m.get_weights())
    attempt(lambda: m.compile("sgd", "mse", run_eagerly=False))
    attempt(lambda: m.run_eagerly)
    attempt(lambda: m.fit(x, y, verbose=0))
    print(sorted(layer.get_config().items()))


@program
def make_functions(tf):
    made = []

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.d = tf.keras.layers.Dense(2, kernel_initializer="ones")
        def call(self, x):
            return self.d(x)
        def make_train_function(self, force=False):
            if self.train_function is not None and not force:
                return self.train_function
            @tf.function
            def step(iterator):
                x, y = next(iterator)
                with tf.GradientTape() as tape:
                    p = self(x, training=True)
                    loss = tf.reduce_mean((p - y) ** 2)
                g = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(zip(g, self.trainable_variables))
                return {"my_loss": loss}
            self.train_function = step
            made.append("train")
            return step
        def make_test_function(self, force=False):
            made.append("test")
            if self.test_function is not None:
                return self.test_function
            def step(iterator):
                x, y = next(iterator)
                return {"my_test": tf.reduce_mean((self(x) - y) ** 2)}
            self.test_function = step
            return step
        def make_predict_function(self, force=False):
            made.append("predict")
            def step(iterator):
                data = next(iterator)
                return self(data[0] if isinstance(data, tuple) else data) * 100
            self.predict_function = step
            return step
    x, y = data()
    m = Net()
    m.compile("sgd", "mse")
    h = m.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0, validation_data=(x, y))
    print(sorted(h.history))
    for k in sorted(h.history):
        show(h.history[k])
    print(m.evaluate(x, y, verbose=0, return_dict=True))
    show(m.predict(x, verbose=0))
    show(m.predict_on_batch(x))
    print(m.train_on_batch(x, y, return_dict=True))
    class Net2(Net):
        def make_train_function(self, force=False):
            f = tf.keras.Model.make_train_function(self, force)
            def wrapped(iterator):
                logs = dict(f(iterator))
                logs["extra"] = 1.0
                return logs
            self.train_function = wrapped
            return wrapped
    print(sorted(set(made)))
    m = Net2()
    m.compile("sgd", "mse", metrics=["mae"])
    h = m.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    print(sorted(h.history))
    for k in sorted(h.history):
        show(h.history[k])


@program
def activity_regularizer_of_own(tf):
    class A(tf.keras.layers.Layer):
        def call(self, x):
            return x * 2
    class B(tf.keras.layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units
        def build(self, s):
            self.w = self.add_weight("w", (s[-1], self.units), initializer="ones")
        def call(self, x):
            return x @ self.w
        def get_config(self):
            return {**super().get_config(), "units": self.units}
    x = np.ones((4, 3), "float32")
    for make in (lambda: A(activity_regularizer="l2"), lambda: B(2, activity_regularizer=tf.keras.regularizers.L1(0.1))):
        def trial():
            l = make()
            l(x)
            show(*l.losses)
            print(l.activity_regularizer is not None, l.get_config().get("activity_regularizer"))
            m = tf.keras.Sequential([tf.keras.Input((3,)), make(), tf.keras.layers.Dense(1, kernel_initializer="ones")])
            m.compile("sgd", "mse")
            show(m.evaluate(x, np.zeros((4, 1), "float32"), verbose=0))
            return "ok"
        attempt(trial)
    def trial():
        l = tf.keras.layers.Flatten(activity_regularizer="l1")
        l(x)
        show(*l.losses)
        l = A()
        l.activity_regularizer = tf.keras.regularizers.L2(0.5)
        l(x)
        show(*l.losses)
        l = tf.keras.layers.Dropout(0.5)
        l.activity_regularizer = tf.keras.regularizers.L2(0.5)
        l(x)
        show(*l.losses)
        return 1
    attempt(trial)
    for name in ("LSTM", "GRU", "SimpleRNN"):
        l = getattr(tf.keras.layers, name)(2, activity_regularizer="l2", kernel_initializer="ones", recurrent_initializer="ones")
        l(x[None])
        show(*l.losses)


@program
def stateful_attribute(tf):
    l = tf.keras.layers.Dense(2)
    print(l.stateful)
    l.stateful = True
    print(l.stateful)
    print(tf.keras.layers.LSTM(2, stateful=True).stateful, tf.keras.layers.LSTM(2).stateful)
    print(tf.keras.Sequential([tf.keras.layers.LSTM(2, stateful=True, batch_input_shape=(1, 2, 3))]).stateful)
    print(tf.keras.Sequential([tf.keras.layers.Dense(2)]).stateful, tf.keras.metrics.Mean().stateful)
    class S(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.stateful = True
        def call(self, x):
            return x
    print(S().stateful, tf.keras.Sequential([S()]).stateful)


@program
def configs_without_get_config(tf):
    class Scale(tf.keras.layers.Layer):
        def __init__(self, units=3, scale=2.0, **kwargs):
            super().__init__(**kwargs)
            self.units, self.scale = units, scale

        def call(self, x):
            return x * self.units + self.scale

    class Told(tf.keras.layers.Layer):
        def __init__(self, units=3, name=None, trainable=True, dtype=None):
            super().__init__(name=name, trainable=trainable, dtype=dtype)
            self.units = units

        def call(self, x):
            return x * self.units

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    class Strict(tf.keras.layers.Layer):
        def __init__(self, units, callback):
            super().__init__()
            self.units = units

    class Net(tf.keras.Model):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.dense = tf.keras.layers.Dense(units, kernel_initializer="ones")

        def call(self, x):
            return self.dense(x)

    class Below(Scale):
        def get_config(self):
            return super().get_config()
    for make in (lambda: Scale(4, scale=3.0), lambda: Scale(4, activity_regularizer="l2"), lambda: Told(4), lambda: Strict(4, print), lambda: Strict(4, [1, 2]),
                 lambda: Net(3, name="net"), lambda: Below(5)):
        attempt(lambda: make().get_config())
    model = tf.keras.Sequential([tf.keras.Input((3,)), Scale(4, scale=0.5), Told(2)])
    saved(tf, model, {"Scale": Scale, "Told": Told}, lambda loaded: show(loaded(np.ones((1, 3), "float32"))))
    net = Net(5)
    net(np.ones((1, 3), "float32"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.keras")
        net.save(path)
        show(tf.keras.models.load_model(path, custom_objects={"Net": Net})(np.ones((1, 3), "float32")))


@program
def activation_names(tf):
    x = np.linspace(-8, 8, 9).astype("float32")[None]
    for name in ("relu6", "silu", "log_softmax", "leaky_relu", "ReLU", "LeakyReLU", "PReLU", "Softmax", "ELU", "sin", "square", "crelu", "relu_v2"):
        def trial():
            layer = tf.keras.layers.Activation(name)
            show(layer(x), tf.keras.layers.Activation.from_config(layer.get_config())(x))
            return name, layer.get_config()["activation"]
        attempt(trial)
        attempt(lambda: tf.keras.layers.Dense(2, activation=name).get_config()["activation"])
        attempt(lambda: tf.keras.activations.serialize(tf.keras.activations.get(name)))
    for function in (tf.nn.relu6, tf.nn.relu, tf.nn.leaky_relu, tf.nn.silu, tf.nn.swish, tf.nn.gelu, tf.tanh, tf.nn.softmax, tf.sigmoid, tf.nn.elu, tf.nn.selu):
        layer = tf.keras.layers.Activation(function)
        print(layer.get_config()["activation"], tf.keras.activations.serialize(function), tf.keras.layers.Dense(2, activation=function).get_config()["activation"])
        show(tf.keras.layers.Activation.from_config(layer.get_config())(x))


@program
def activations_by_custom_names(tf):
    x = np.linspace(-2, 2, 6).astype("float32").reshape(1, 2, 3)

    def bent(x):
        return tf.where(x > 0, x, 0.1 * x)
    tf.keras.utils.get_custom_objects().update({"bent": tf.keras.layers.Activation(bent), "bent_function": bent})
    for name in ("bent", "bent_function"):
        show(tf.keras.layers.Dense(2, activation=name, kernel_initializer="ones")(x))
    show(tf.keras.layers.Activation("bent_function")(x))
    print(tf.keras.activations.get("bent_function") is bent, tf.keras.layers.Dense(2, activation="bent_function").get_config()["activation"])
    tf.keras.utils.get_custom_objects().clear()
    with tf.keras.utils.custom_object_scope({"bent": bent}):
        show(tf.keras.layers.Dense(2, activation="bent", kernel_initializer="ones")(x))
    attempt(lambda: tf.keras.layers.Dense(2, activation="bent"))
    for kind, arguments in (("Conv1D", (2, 1)), ("LSTM", (2,)), ("GRU", (2,)), ("SimpleRNN", (2,)), ("EinsumDense", ("abc,cd->abd", (None, 2)))):
        for name in ("relu6", "leaky_relu", "LeakyReLU", "silu"):
            layer = getattr(tf.keras.layers, kind)(*arguments, activation=name)
            layer.build(x.shape)
            for weight in layer.weights:
                weight.assign(tf.ones_like(weight) * 0.3)
            again = type(layer).from_config(layer.get_config())
            again.build(x.shape)
            again.set_weights(layer.get_weights())
            show(layer(x), again(x))
            print(kind, name, layer.get_config()["activation"])


@program
def functions_as_initializers(tf):
    def half(shape, dtype=tf.float32):
        return tf.ones(shape, dtype) * 0.5

    class Own(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", (shape[-1], 2), initializer=half)

        def call(self, x):
            return x @ self.w
    x = np.arange(6, dtype="float32").reshape(2, 3)
    dense = tf.keras.layers.Dense(2, kernel_initializer=half, bias_initializer=lambda shape, dtype=None: tf.fill(shape, 0.25))
    show(dense(x), Own()(x))
    print(dense.kernel_initializer is half, dense.get_config()["kernel_initializer"])
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer=half, input_shape=(3,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        loaded = tf.keras.models.load_model(path, custom_objects={"half": half})
        show(loaded(x))
        print(loaded.layers[0].kernel_initializer is half)


@program
def metrics_of_even_thresholds(tf):
    metrics, random = tf.keras.metrics, np.random.RandomState(4)
    labels, weights = random.randint(0, 2, (24, 1)).astype("float32"), random.rand(24, 1).astype("float32")
    makers = [lambda: metrics.AUC(), lambda: metrics.AUC(num_thresholds=21, curve="PR"), lambda: metrics.AUC(num_thresholds=5), lambda: metrics.AUC(thresholds=[0.1, 0.5, 0.8]),
              lambda: metrics.PrecisionAtRecall(0.5), lambda: metrics.SensitivityAtSpecificity(0.4, num_thresholds=11), lambda: metrics.Precision(),
              lambda: metrics.Recall(thresholds=[0.0, 0.5, 1.0]), lambda: metrics.TruePositives(thresholds=[0.0, 0.25, 0.5, 0.75, 1.0]),
              lambda: metrics.FalseNegatives(thresholds=[0.2, 0.6]), lambda: metrics.AUC(multi_label=True, num_labels=1)]
    for predictions in (random.rand(24, 1) * 2 - 0.5, random.rand(24, 1), np.round(random.rand(24, 1) * 20) / 20, np.zeros((24, 1)), np.ones((24, 1))):
        for given in (labels, np.round(labels * 0.8 + 0.1, 3)):
            for make in makers:
                for weight in (None, weights):
                    metric = make()
                    metric.update_state(given, predictions.astype("float32"), sample_weight=weight)
                    print(type(metric).__name__, np.round(np.asarray(metric.result(), "float64"), 4).tolist())


@program
def calls_of_models_in_models(tf):
    layers = tf.keras.layers

    def functional():
        inputs = layers.Input((4,))
        return tf.keras.Model(inputs, layers.Dense(2)(inputs), name="inner")
    for make in (functional, lambda: tf.keras.Sequential([layers.Flatten(input_shape=(4,)), layers.Dense(2)], name="inner"),
                 lambda: tf.keras.Sequential([layers.Flatten(), layers.Dense(2)], name="inner")):
        tf.keras.backend.clear_session()
        inner = make()
        x, y = layers.Input((4,)), layers.Input((4,))
        model = tf.keras.Model([x, y], layers.add([inner(x), inner(y)]))
        model.summary()
        print(model.get_config()["layers"][-1]["inbound_nodes"])
    x, h, c = layers.Input((None, 3)), layers.Input((2,)), layers.Input((2,))
    model = tf.keras.Model([x, h, c], layers.LSTM(2)(x, initial_state=[h, c]))
    print(model.get_config()["layers"][-1]["build_config"])


@program
def generators_for_own_steps(tf):
    class Net(tf.keras.Model):
        def train_step(self, data):
            return {"total": tf.reduce_sum(data[0])}

    def batches():
        for i in range(6):
            yield np.full((2, 1), i, "float32"), np.zeros((2, 1), "float32")
    net = Net()
    net.compile()
    print(net.fit(batches(), verbose=0).history)


@program
def tensors_made_in_build(tf):
    layers = tf.keras.layers

    class Own(layers.Layer):
        def build(self, shape):
            print(tf.executing_eagerly())
            self.factor = tf.ones((shape[-1],)) * 2.0
            self.mask = tf.linalg.band_part(tf.ones((3, 3)), -1, 0)
            self.w = self.add_weight("w", (3,), initializer="ones")
            self.built = True

        def call(self, x):
            return tf.matmul(x * self.factor, self.mask) * self.w

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.own, self.dense = Own(), layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.dense(self.own(x))
    x = np.ones((4, 3), "float32")
    for make in (Net, lambda: tf.keras.Sequential([Own(), layers.Dense(1, kernel_initializer="ones")])):
        model = make()
        model.compile("sgd", "mse")
        model.fit(x, x[:, :1], verbose=0)
        show(model.predict(x, verbose=0), model(x), model.layers[0].factor, *model.get_weights())
        print([w.name.split("/")[-1] for w in model.weights])
    inputs, own = layers.Input((3,)), Own()
    show(tf.keras.Model(inputs, own(inputs))(x), own.mask)
    other = Own()
    show(tf.function(lambda value: other(value))(x), other.factor)
