"""Programs with optimizers of their own, below keras.optimizers.Optimizer and below its former base: each prints what is to be the same here and under
TensorFlow (tests/golden/keras_programs.py)."""
import os
import tempfile

import numpy as np

import function_programs
from function_programs import attempt

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def run(function, tf):
    """What a program prints, without warnings of functions that are traced often and of Keras's metrics that are built later."""
    lines = function_programs.run(function, tf).splitlines()
    return "\n".join(line for line in lines if "triggered tf.function retracing" not in line and "compiled metrics have yet to be built" not in line)


def show(*values):
    for value in values:
        print(np.array2string(np.asarray(value, np.float64), precision=5, suppress_small=True, separator=","))


def momentum_class(tf):
    class Momentum(tf.keras.optimizers.Optimizer):
        def __init__(self, learning_rate=0.1, momentum=0.9, name="Momentum", **kwargs):
            super().__init__(name=name, **kwargs)
            self._learning_rate = self._build_learning_rate(learning_rate)
            self.momentum = momentum

        def build(self, var_list):
            super().build(var_list)
            if hasattr(self, "_built") and self._built:
                return
            self._built = True
            self.m = [self.add_variable_from_reference(model_variable=v, variable_name="m") for v in var_list]
            self.total = self.add_variable(shape=[], name="total")

        def update_step(self, gradient, variable):
            rate = tf.cast(self.learning_rate, variable.dtype)
            m = self.m[self._index_dict[self._var_key(variable)]]
            if isinstance(gradient, tf.IndexedSlices):
                m.assign(m * self.momentum)
                m.scatter_add(gradient)
            else:
                m.assign(m * self.momentum + gradient)
            self.total.assign_add(1.0)
            variable.assign_sub(rate * m)

        def get_config(self):
            config = super().get_config()
            config.update({"learning_rate": self._serialize_hyperparameter(self._learning_rate), "momentum": self.momentum})
            return config
    return Momentum


def legacy_class(tf):
    class OwnAdagrad(tf.keras.optimizers.legacy.Optimizer):
        _HAS_AGGREGATE_GRAD = True

        def __init__(self, learning_rate=0.1, rho=0.9, epsilon=1e-3, name="Own", **kwargs):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
            self._set_hyper("decay", self._initial_decay)
            self._set_hyper("rho", rho)
            self.epsilon = epsilon

        def _create_slots(self, var_list):
            for v in var_list:
                self.add_slot(v, "accumulator", "ones")
            for v in var_list:
                self.add_slot(v, "mean")

        def _prepare_local(self, var_device, var_dtype, apply_state):
            super()._prepare_local(var_device, var_dtype, apply_state)
            apply_state[(var_device, var_dtype)].update(rho=tf.identity(self._get_hyper("rho", var_dtype)))

        def _resource_apply_dense(self, grad, var, apply_state=None):
            state = (apply_state or {}).get((var.device, var.dtype.base_dtype)) or self._fallback_apply_state(var.device, var.dtype.base_dtype)
            a, mean = self.get_slot(var, "accumulator"), self.get_slot(var, "mean")
            a_t = a.assign(state["rho"] * a + (1 - state["rho"]) * tf.square(grad))
            mean.assign(0.5 * mean + 0.5 * grad)
            return var.assign_sub(state["lr_t"] * mean / (tf.sqrt(a_t) + self.epsilon))

        def _resource_apply_sparse(self, grad, var, indices, apply_state=None):
            state = (apply_state or {}).get((var.device, var.dtype.base_dtype)) or self._fallback_apply_state(var.device, var.dtype.base_dtype)
            a = self.get_slot(var, "accumulator")
            self._resource_scatter_add(a, indices, tf.square(grad))
            return self._resource_scatter_add(var, indices, -state["lr_t"] * grad / tf.sqrt(tf.gather(a, indices)))

        def get_config(self):
            config = super().get_config()
            config.update({"learning_rate": self._serialize_hyperparameter("learning_rate"), "decay": self._initial_decay,
                           "rho": self._serialize_hyperparameter("rho"), "epsilon": self.epsilon})
            return config
    return OwnAdagrad


def data():
    rng = np.random.RandomState(5)
    return rng.randn(12, 3).astype("float32"), rng.randn(12, 2).astype("float32")


def model_of(tf):
    return tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh", kernel_initializer=tf.keras.initializers.GlorotUniform(3), input_shape=(3,)),
                                tf.keras.layers.Dense(2, kernel_initializer=tf.keras.initializers.GlorotUniform(4))])


def trained(tf, optimizer, **kwargs):
    tf.keras.backend.clear_session()
    model = model_of(tf)
    model.compile(optimizer, "mse", **kwargs)
    history = model.fit(*data(), batch_size=4, epochs=3, shuffle=False, verbose=0)
    return model, history


SETTINGS = [{}, {"clipnorm": 0.1}, {"global_clipnorm": 0.1}, {"clipvalue": 0.05}, {"weight_decay": 0.1}, {"use_ema": True, "ema_momentum": 0.5},
            {"use_ema": True, "ema_overwrite_frequency": 2, "ema_momentum": 0.7}, {"momentum": 0.0, "learning_rate": 0.5}]


@program
def own_in_fit(tf):
    for settings in SETTINGS:
        for eager in (False, True):
            model, history = trained(tf, momentum_class(tf)(**settings), run_eagerly=eager)
            print(settings, eager, len(model.optimizer.variables))
            show(history.history["loss"], *model.get_weights())
            show(model.optimizer.iterations, model.optimizer.total)


@program
def own_with_schedule(tf):
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.2, 2, 0.5)
    model, history = trained(tf, momentum_class(tf)(schedule))
    show(history.history["loss"], model.optimizer.learning_rate)
    print(sorted(model.optimizer.get_config()["learning_rate"]))
    attempt(setattr, model.optimizer, "learning_rate", 0.5)
    made = momentum_class(tf).from_config(model.optimizer.get_config())
    print(type(made._learning_rate).__name__, made.name, made.momentum)


@program
def own_in_loops(tf):
    x, y = data()
    for wrap in (lambda f: f, tf.function):
        model, optimizer = model_of(tf), momentum_class(tf)(0.1, weight_decay=0.01)

        @wrap
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            return loss
        optimizer.build(model.trainable_variables)
        show([step(x, y) for _ in range(4)], model.layers[0].kernel, optimizer.iterations)
    v = tf.Variable([1.0, 2.0])
    optimizer = momentum_class(tf)(0.5)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(v * v), [v])
    show(v, *optimizer.variables)
    print([w.name for w in optimizer.variables], [tuple(w.shape) for w in optimizer.variables])
    pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(v * v), [v])
    show(*[g for g, _ in pairs])
    optimizer.set_weights([np.zeros(w.shape) for w in optimizer.variables])
    show(*optimizer.variables)
    attempt(momentum_class(tf)().set_weights, [])


@program
def own_by_rows(tf):
    table, optimizer = tf.Variable(tf.ones([4, 2])), momentum_class(tf)(0.5)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 3, 1])))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    show(table)


@program
def own_checkpoints(tf):
    model, _ = trained(tf, momentum_class(tf)(0.05))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(os.path.join(folder, "c"))
        for name, shape in tf.train.list_variables(path):
            print(name, shape)
        other = model_of(tf)
        optimizer = momentum_class(tf)(0.3)
        status = tf.train.Checkpoint(model=other, optimizer=optimizer).read(path)
        optimizer.build(other.trainable_variables)
        status.assert_consumed()
        show(optimizer.learning_rate, optimizer.total, *optimizer.m)


@program
def own_in_files(tf):
    made = momentum_class(tf)
    for end in (".keras", ".h5", ""):
        model, _ = trained(tf, made(0.05, 0.8))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m" + end)
            model.save(path)
            again = tf.keras.models.load_model(path, custom_objects={"Momentum": made})
            print(end, type(again.optimizer).__name__, again.optimizer.momentum, len(again.optimizer.variables))
            show(again.optimizer.learning_rate, again.optimizer.iterations)
            x, y = data()
            again.fit(x, y, batch_size=4, shuffle=False, verbose=0)
            model.fit(x, y, batch_size=4, shuffle=False, verbose=0)
            show(*model.get_weights()[:1])
            if end != "":
                show(*again.get_weights()[:1])


@program
def own_configs(tf):
    made = momentum_class(tf)
    config = made(0.25, clipnorm=1.0, name="mine").get_config()
    print({k: round(float(v), 4) if isinstance(v, (int, float, np.floating)) and not isinstance(v, bool) else v for k, v in sorted(config.items())})
    entry = tf.keras.optimizers.serialize(made(0.25))
    print(sorted(entry), entry["class_name"], entry["registered_name"])
    with tf.keras.utils.custom_object_scope({"Momentum": made}):
        again = tf.keras.optimizers.deserialize(entry)
        print(type(again).__name__, round(float(again.learning_rate.numpy()), 4))
    attempt(made, bad=3)
    attempt(made, decay=0.1)
    attempt(made, clipnorm=1.0, global_clipnorm=1.0)
    attempt(tf.keras.optimizers.SGD, decay=0.1)
    print(tf.keras.optimizers.SGD(0.5, is_legacy_optimizer=False).name)


@program
def own_without_parts(tf):
    class Empty(tf.keras.optimizers.Optimizer):
        def __init__(self, name):
            super().__init__(name)
            self._learning_rate = self._build_learning_rate(1.0)

        def build(self, var_list):
            super().build(var_list)

    class Plain(Empty):

        def update_step(self, gradient, variable):
            variable.assign_sub(0.5 * gradient)
    v = tf.Variable([1.0, 2.0])
    try:
        Empty("e").apply_gradients([(v * 1, v)])
    except NotImplementedError:
        print("NotImplementedError")
    attempt(lambda: tf.keras.optimizers.Optimizer("p").learning_rate)
    optimizer = Plain("p")
    optimizer.apply_gradients([(v * 1, v)])
    show(v, optimizer.iterations)
    other = tf.Variable(3.0)
    attempt(lambda: bool(optimizer.apply_gradients([(tf.constant(1.0), other)]) is not None))


@program
def changed_steps(tf):
    class Half(tf.keras.optimizers.SGD):
        def update_step(self, gradient, variable):
            super().update_step(0.5 * gradient, variable)

    class Centered(tf.keras.optimizers.Adam):
        def apply_gradients(self, grads_and_vars, name=None, **kwargs):
            grads_and_vars = [(g - tf.reduce_mean(g, 0, keepdims=True) if len(g.shape) > 1 else g, v) for g, v in grads_and_vars]
            return super().apply_gradients(grads_and_vars, name=name, **kwargs)

    class Signs(tf.keras.optimizers.SGD):
        def compute_gradients(self, loss, var_list, tape=None):
            return [(tf.sign(g), v) for g, v in super().compute_gradients(loss, var_list, tape)]

    class Legacy(tf.keras.optimizers.legacy.SGD):
        def _resource_apply_dense(self, grad, var, apply_state=None):
            return super()._resource_apply_dense(2.0 * grad, var, apply_state)

    class LegacyCentered(tf.keras.optimizers.legacy.Adam):
        def apply_gradients(self, grads_and_vars, name=None, **kwargs):
            return super().apply_gradients([(tf.sign(g), v) for g, v in grads_and_vars], name, **kwargs)
    for optimizer in (Half(0.1), Half(0.1, momentum=0.9, nesterov=True), Centered(0.01), Signs(0.01), Legacy(0.1, momentum=0.5), LegacyCentered(0.01)):
        for eager in (False, True):
            model, history = trained(tf, type(optimizer).from_config(optimizer.get_config()), run_eagerly=eager)
            print(type(optimizer).__name__, eager)
            show(history.history["loss"], *model.get_weights()[:2])


@program
def weights_that_do_not_decay(tf):
    for by_name in (None, ["bias"], ["dense.*bias", "nothing"]):
        for eager in (False, True):
            tf.keras.backend.clear_session()
            model = model_of(tf)
            optimizer = tf.keras.optimizers.AdamW(0.01, weight_decay=0.5)
            optimizer.exclude_from_weight_decay(var_list=None if by_name else [model.layers[0].kernel], var_names=by_name)
            model.compile(optimizer, "mse", run_eagerly=eager)
            model.fit(*data(), batch_size=4, shuffle=False, verbose=0)
            show(*[np.sum(w) for w in model.get_weights()])
    attempt(optimizer.exclude_from_weight_decay, var_names=["x"])


LEGACY_SETTINGS = [{}, {"clipnorm": 0.1}, {"global_clipnorm": 0.1}, {"clipvalue": 0.05}, {"decay": 0.5}]


@program
def legacy_in_fit(tf):
    for settings in LEGACY_SETTINGS:
        for eager in (False, True):
            model, history = trained(tf, legacy_class(tf)(**settings), run_eagerly=eager)
            print(settings, eager, len(model.optimizer.weights), model.optimizer.get_slot_names())
            show(history.history["loss"], *model.get_weights())
            show(model.optimizer.iterations, model.optimizer.rho, model.optimizer.lr, *model.optimizer.get_weights()[1:2])


@program
def legacy_settings(tf):
    optimizer = legacy_class(tf)(0.25)
    show(optimizer.learning_rate, optimizer.rho)
    optimizer.rho = 0.5
    optimizer.learning_rate = 0.125
    show(optimizer.learning_rate, optimizer.rho, optimizer.lr)
    v = tf.Variable([1.0, 2.0])
    optimizer.apply_gradients([(v * 1, v)])
    show(v, *optimizer.variables())
    print([w.name for w in optimizer.variables()])
    optimizer.rho.assign(0.75)
    print({k: round(float(x), 5) if isinstance(x, (float, np.floating)) else x for k, x in sorted(optimizer.get_config().items())})
    again = legacy_class(tf).from_config(optimizer.get_config())
    show(again.rho, again.learning_rate)
    again.minimize(lambda: tf.reduce_sum(v * v), [v])
    show(v, again.get_slot(v, "mean"))
    schedule = legacy_class(tf)(tf.keras.optimizers.schedules.InverseTimeDecay(0.5, 1, 1.0))
    for _ in range(2):
        schedule.minimize(lambda: tf.reduce_sum(v * v), [v])
    show(v)
    attempt(lambda: optimizer.nothing)


@program
def legacy_by_rows(tf):
    for wrap in (lambda f: f, tf.function):
        table, optimizer = tf.Variable(tf.ones([4, 2])), legacy_class(tf)(0.5)

        @wrap
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 3, 1])))
            optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        step()
        step()
        show(table, optimizer.get_slot(table, "accumulator"))


@program
def legacy_files(tf):
    made = legacy_class(tf)
    model, _ = trained(tf, made(0.05))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(os.path.join(folder, "c"))
        for name, shape in sorted(tf.train.list_variables(path)):
            print(name, shape)
        other, optimizer = model_of(tf), made(0.3)
        status = tf.train.Checkpoint(model=other, optimizer=optimizer).read(path)
        optimizer._create_all_weights(other.trainable_variables)
        show(optimizer.learning_rate, optimizer.get_slot(other.trainable_variables[0], "mean"))
        model.save(os.path.join(folder, "m.h5"))
        again = tf.keras.models.load_model(os.path.join(folder, "m.h5"), custom_objects={"OwnAdagrad": made})
        print(type(again.optimizer).__name__)
        for m in (model, again):
            m.fit(*data(), batch_size=4, shuffle=False, verbose=0)
            show(*m.get_weights()[:1])


@program
def adafactor(tf):
    for settings in ({}, {"relative_step": False}, {"learning_rate": 0.5, "clip_threshold": 0.5}, {"weight_decay": 0.1, "clipnorm": 0.1}, {"beta_2_decay": -0.5},
                     {"learning_rate": "schedule"}):
        for eager in (False, True):
            if settings.get("learning_rate") == "schedule":
                settings = {"learning_rate": tf.keras.optimizers.schedules.ExponentialDecay(0.2, 2, 0.5)}
            model, history = trained(tf, tf.keras.optimizers.Adafactor(**settings), run_eagerly=eager)
            print(sorted(settings), eager, len(model.optimizer.variables), [v.name for v in model.optimizer.variables])
            show(history.history["loss"], *model.get_weights())
    cube = tf.Variable(np.arange(24, dtype="float32").reshape(2, 3, 4) / 10)
    optimizer = tf.keras.optimizers.Adafactor(0.1)
    for _ in range(2):
        attempt(lambda: bool(optimizer.minimize(lambda: tf.reduce_sum(tf.sin(cube)), [cube]) is None))
    show(cube)
    config = tf.keras.optimizers.Adafactor().get_config()
    print({k: float("%.6g" % v) if isinstance(v, (float, np.floating)) else v for k, v in sorted(config.items())})
    table = tf.Variable(tf.ones([4, 2]))
    optimizer = tf.keras.optimizers.Adafactor(0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 3, 1])))
    attempt(lambda: bool(optimizer.apply_gradients([(tape.gradient(loss, table), table)]) is not None))
    show(table)
    model, _ = trained(tf, tf.keras.optimizers.Adafactor(0.05))
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(optimizer=model.optimizer).write(os.path.join(folder, "c"))
        for name, shape in tf.train.list_variables(path):
            print(name, shape)
        model.save(os.path.join(folder, "m.keras"))
        again = tf.keras.models.load_model(os.path.join(folder, "m.keras"))
        for m in (model, again):
            m.fit(*data(), batch_size=4, shuffle=False, verbose=0)
            show(*m.get_weights()[:1])
