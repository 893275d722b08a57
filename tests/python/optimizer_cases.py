"""Optimizers with limits of gradients and decay of weights, over several steps; losses of every dtype and setting."""
import numpy as np

OPTIMIZERS = {"SGD": {}, "SGD momentum": {"momentum": .9}, "SGD nesterov": {"momentum": .9, "nesterov": True}, "Adam": {}, "Adam amsgrad": {"amsgrad": True},
              "RMSprop": {}, "RMSprop centered": {"centered": True, "momentum": .5}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "Nadam": {}, "Ftrl": {},
              "Ftrl l1": {"l1_regularization_strength": .1, "l2_regularization_strength": .1}, "AdamW": {}, "Lion": {}}
OPTIONS = {"plain": {}, "clipnorm": {"clipnorm": .5}, "clipvalue": {"clipvalue": .3}, "global_clipnorm": {"global_clipnorm": .7},
           "weight_decay": {"weight_decay": .1},
           "decay and clip": {"weight_decay": .05, "clipnorm": .4}}


def optimizer_cases(tf, out):
    k = tf.keras

    def program(name, options):
        def run():
            a, b = tf.Variable([[1., -2.], [3., .5]]), tf.Variable([.1, -.4, 2.])
            given = dict(OPTIMIZERS[name], **options)
            optimizer = getattr(k.optimizers, name.split()[0])(learning_rate=.1, **given)
            values = []
            for step in range(4):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(a ** 2) * (step + 1) * .3 + tf.reduce_sum(b * [1., -2., .5]) + a[0, 0] * b[1]
                optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
                values.append([a.numpy(), b.numpy()])
            return values
        return run
    for name in OPTIMIZERS:
        for label, options in OPTIONS.items():
            if not (name == "AdamW" and "weight_decay" in options):
                out["%s %s" % (name, label)] = program(name, options)


LEGACY = {"SGD": {}, "SGD momentum": {"momentum": .9}, "SGD nesterov": {"momentum": .9, "nesterov": True}, "Adam": {}, "Adam amsgrad": {"amsgrad": True},
          "RMSprop": {}, "RMSprop centered": {"centered": True}, "RMSprop momentum": {"momentum": .5}, "RMSprop both": {"centered": True, "momentum": .5},
          "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "Nadam": {}, "Ftrl": {},
          "Ftrl l1": {"l1_regularization_strength": .1, "l2_regularization_strength": .1, "beta": .2}, "Ftrl shrinks": {"l2_shrinkage_regularization_strength": .1}}


def legacy_cases(tf, out):
    """keras.optimizers.legacy: steps, weights, slots, names, files."""
    k, legacy = tf.keras, tf.keras.optimizers.legacy

    def steps(name, given, traced=False, sparse=False, schedule=False):
        def run():
            a, b = tf.Variable([[1., -2.], [3., .5], [.2, .3]], name="a"), tf.Variable([.1, -.4, 2.], name="b")
            rate = k.optimizers.schedules.ExponentialDecay(.1, 2, .5) if schedule else .1
            optimizer = getattr(legacy, name.split()[0])(rate, **given)

            def step(scale):
                with tf.GradientTape() as tape:
                    used = tf.gather(a, [0, 2, 0]) if sparse else a
                    loss = tf.reduce_sum(used ** 2) * scale * .3 + tf.reduce_sum(b * [1., -2., .5]) + used[0, 0] * b[1]
                optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
            step = tf.function(step) if traced else step
            values = []
            for i in range(4):
                step(tf.constant(float(i + 1)))
                values.append([a.numpy(), b.numpy()])
            return values, [w.name for w in optimizer.weights], optimizer.get_weights(), list(optimizer.get_slot_names())
        return run
    for name, given in LEGACY.items():
        out["legacy " + name] = steps(name, given)
        out["legacy %s traced" % name] = steps(name, given, traced=True)
        if name not in ("RMSprop both", "Ftrl shrinks"):
            out["legacy %s rows" % name] = steps(name, given, sparse=True)
        if name != "Nadam":
            out["legacy %s decay" % name] = steps(name, dict(given, decay=.3), traced=True)
            out["legacy %s schedule" % name] = steps(name, given, schedule=True)
        for option in ("clipnorm", "clipvalue", "global_clipnorm"):
            out["legacy %s %s" % (name, option)] = steps(name, dict(given, **{option: .4}))

    def answers():
        optimizer = legacy.Adam(.25, beta_1=.5)
        before = [optimizer.get_weights(), float(optimizer.lr), float(optimizer.learning_rate), float(optimizer.beta_1), int(optimizer.iterations)]
        optimizer.lr = .5
        optimizer.beta_1 = .75
        v = tf.Variable([1., 2.], name="v")
        optimizer.apply_gradients([(tf.constant([1., 1.]), v)])
        optimizer.minimize(lambda: tf.reduce_sum(v * v), [v])
        return (before, float(optimizer.lr), float(optimizer.beta_1), optimizer.get_config(), v.numpy(), optimizer.get_slot(v, "m").numpy(),
                len(optimizer.variables()), optimizer.clipnorm, optimizer.epsilon)
    out["legacy answers"] = answers

    def later():
        """Variables that come later have slots then."""
        optimizer, a, b = legacy.Adam(.1), tf.Variable(1., name="a"), tf.Variable(2., name="b")
        optimizer.apply_gradients([(tf.constant(1.), a)])
        optimizer.apply_gradients([(tf.constant(1.), b), (tf.constant(2.), a)])
        return [w.name for w in optimizer.weights], optimizer.get_weights(), a.numpy(), b.numpy()
    out["legacy later"] = later

    def given_weights():
        optimizer, v = legacy.RMSprop(.1), tf.Variable([1., 2.], name="v")
        optimizer.apply_gradients([(tf.constant([1., 1.]), v)])
        optimizer.set_weights([np.array(5), np.array([4., 9.], np.float32)])
        optimizer.apply_gradients([(tf.constant([1., 1.]), v)])
        return optimizer.get_weights(), v.numpy()
    out["legacy set_weights"] = given_weights

    def fitted(save):
        def run():
            import os
            import tempfile
            model = k.Sequential([k.layers.Dense(2, input_shape=(3,), kernel_initializer="ones"), k.layers.Dense(1, kernel_initializer="ones")])
            model.compile(legacy.Adam(.1, decay=.1), "mse")
            x, y = np.arange(12, dtype=np.float32).reshape(4, 3) / 12, np.ones((4, 1), np.float32)
            losses = model.fit(x, y, epochs=3, batch_size=2, shuffle=False, verbose=0).history["loss"]
            if save:
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "m" + save)
                    if save == "weights":
                        model.save_weights(path)
                        again = k.models.clone_model(model)
                        again.compile(legacy.Adam(.1, decay=.1), "mse")
                        again.load_weights(path)
                    else:
                        model.save(path)
                        again = k.models.load_model(path)
                    model = again
                    losses += model.fit(x, y, epochs=2, batch_size=2, shuffle=False, verbose=0).history["loss"]
            return losses, type(model.optimizer).__name__, int(model.optimizer.iterations)
        return run
    for save in ("", ".h5", ".keras", "weights"):
        out["legacy fit " + save] = fitted(save)
    for name, given in {"clipnorm": {"clipnorm": -1.}, "decay": {"decay": -1.}, "both": {"clipnorm": 1., "global_clipnorm": 1.}}.items():
        out["legacy wrong " + name] = lambda given=given: legacy.Adam(**given)
    out["legacy Nadam schedule"] = lambda: legacy.Nadam(k.optimizers.schedules.ExponentialDecay(.1, 2, .5))
    out["legacy no gradients"] = lambda: legacy.Adam().apply_gradients([(None, tf.Variable(1., name="v"))])


def average_cases(tf, out):
    """use_ema: moving averages of the variables."""
    k = tf.keras

    def program(traced, **given):
        def run():
            a = tf.Variable([1., -2.], name="a")
            optimizer = k.optimizers.SGD(.1, use_ema=True, **given)

            def step():
                optimizer.apply_gradients([(a * 2, a)])
            step = tf.function(step) if traced else step
            values = []
            for _ in range(5):
                step()
                values.append(a.numpy())
            optimizer.finalize_variable_values([a])
            return values, a.numpy(), [v.name for v in optimizer.variables]
        return run
    for traced in (False, True):
        out["averages %s" % traced] = program(traced)
        out["averages overwrite %s" % traced] = program(traced, ema_momentum=.5, ema_overwrite_frequency=2)

    def fitted():
        model = k.Sequential([k.layers.Dense(1, input_shape=(2,), kernel_initializer="ones", name="layer")])
        model.compile(k.optimizers.Adam(.1, use_ema=True, ema_momentum=.75), "mse")
        model.fit(np.ones((4, 2), np.float32), np.zeros((4, 1), np.float32), epochs=3, verbose=0)
        return model.get_weights(), [v.name for v in model.optimizer.variables]
    out["averages fit"] = fitted
    out["averages wrong"] = lambda: k.optimizers.SGD(use_ema=True, ema_momentum=2.)
    out["averages wrong frequency"] = lambda: k.optimizers.SGD(use_ema=True, ema_overwrite_frequency=-1)


def loss_cases(tf, out):
    k = tf.keras
    p = np.array([[.2, .5, .3], [.6, .1, .3], [.1, .1, .8]])
    y = np.eye(3)[[1, 0, 1]]

    def program(name, dtype, **settings):
        def run():
            labels = tf.constant([1, 0, 1]) if name.startswith("Sparse") else tf.constant(y, dtype)
            return getattr(k.losses, name)(**settings)(labels, tf.constant(p, dtype))
        return run
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for name in ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber", "LogCosh", "Hinge",
                     "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "CosineSimilarity"):
            out["%s %s" % (name, dtype)] = program(name, dtype)
        for name in ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "BinaryFocalCrossentropy",
                     "CategoricalFocalCrossentropy"):
            for logits in (False, True):
                for smoothing in (0., .1) if "Sparse" not in name else (0.,):
                    settings = dict(from_logits=logits, **({"label_smoothing": smoothing} if smoothing else {}))
                    for reduction in ("auto", "none", "sum"):
                        if dtype == "float32" or reduction == "auto":
                            out["%s %s %s %s %s" % (name, dtype, logits, smoothing, reduction)] = program(name, dtype, reduction=reduction, **settings)
    for delta in (.1, 1., 3.):
        out["Huber %s" % delta] = program("Huber", "float32", delta=delta)
    for axis in (-1, 0, 1):
        out["CosineSimilarity along %d" % axis] = program("CosineSimilarity", "float32", axis=axis)
        out["CategoricalCrossentropy along %d" % axis] = program("CategoricalCrossentropy", "float32", axis=axis)
        out["BinaryCrossentropy along %d" % axis] = program("BinaryCrossentropy", "float32", axis=axis)


def cases(tf):
    out = {}
    optimizer_cases(tf, out)
    legacy_cases(tf, out)
    average_cases(tf, out)
    loss_cases(tf, out)
    return out
