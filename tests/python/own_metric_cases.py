"""The program's own metrics and losses: subclasses that override some of their methods, and functions; called, in functions, in fit, in sessions."""
import numpy as np

X = (np.arange(24, dtype=np.float32).reshape(8, 3) % 7 - 3) / 3
Y = (np.arange(8) % 3).astype(np.float32)
LABELS = np.eye(3, dtype=np.float32)[np.arange(6) % 3]
GUESSES = np.array([[.2, .5, .3], [.6, .1, .3], [.1, .1, .8], [.3, .3, .4], [.5, .25, .25], [.9, .05, .05]], np.float32)
WEIGHTS = np.array([1, 2, 0, .5, 3, 1], np.float32)


def classes(tf):
    """Names to functions that make a metric."""
    m = tf.keras.metrics

    class Whole(m.Metric):
        def __init__(self, name="whole", **more):
            super().__init__(name=name, **more)
            self.total = self.add_weight("total", initializer="zeros")
            self.steps = self.add_weight("steps", initializer="zeros", dtype=tf.int32)

        def update_state(self, y_true, y_pred, sample_weight=None):
            values = tf.reduce_sum(tf.abs(tf.cast(y_true, tf.float32) - y_pred), -1)
            if sample_weight is not None:
                values *= tf.reshape(tf.cast(sample_weight, tf.float32), tf.shape(values))
            self.total.assign_add(tf.reduce_sum(values))
            self.steps.assign_add(1)

        def result(self):
            return self.total / tf.cast(tf.maximum(self.steps, 1), tf.float32)

    class Branches(Whole):
        def update_state(self, y_true, y_pred, sample_weight=None):
            if tf.reduce_sum(y_pred) > 0:
                super().update_state(y_true, y_pred, sample_weight)
            else:
                self.total.assign_sub(1.)

    class Begins(Whole):
        def reset_state(self):
            self.total.assign(1.)
            self.steps.assign(0)

    class Several(Whole):
        def result(self):
            return {"total": self.total + 0., "half": self.total / 2}

    class Doubled(m.Mean):
        def result(self):
            return 2 * super().result()

    class Differences(m.Mean):
        def update_state(self, y_true, y_pred, sample_weight=None):
            return super().update_state(tf.reduce_mean(tf.abs(tf.cast(y_true, tf.float32) - y_pred), -1), sample_weight=sample_weight)

    class Both(Differences):
        def result(self):
            return -super().result()

    class Turned(m.CategoricalAccuracy):
        def update_state(self, y_true, y_pred, sample_weight=None):
            return super().update_state(y_true[..., ::-1], y_pred, sample_weight)

    class Errors(m.CategoricalAccuracy):
        def result(self):
            return 1 - super().result()

    class Few(m.Precision):
        def result(self):
            return 10 * super().result()

    class Totals(m.Sum):
        def update_state(self, y_true, y_pred, sample_weight=None):
            return super().update_state(tf.cast(y_true, tf.float32) - y_pred)

    class Renamed(m.MeanSquaredError):
        def __init__(self, name="renamed", factor=3., **more):
            super().__init__(name=name, **more)
            self.factor = factor

        def result(self):
            return self.factor * super().result()

    class Wrapped(m.MeanMetricWrapper):
        def __init__(self, name="wrapped", dtype=None, power=3):
            super().__init__(lambda y, p, power: tf.abs(y - p) ** power, name, dtype=dtype, power=power)
    made = {c.__name__: c for c in (Whole, Branches, Begins, Several, Differences, Both, Turned, Errors, Few, Totals, Renamed, Wrapped)}
    made["wrapper"] = lambda: m.MeanMetricWrapper(lambda y, p: tf.abs(y - p), name="wrapper")
    made["wrapper of a loss"] = lambda: m.MeanMetricWrapper(tf.keras.losses.categorical_crossentropy, from_logits=True, label_smoothing=.1)
    return made, Doubled


def called_cases(tf, out):
    made, doubled = classes(tf)

    def directly(make, weight, way):
        def run():
            metric = make()

            def call(y, p):
                return metric(y, p) if weight is None else metric(y, p, sample_weight=weight) if way != "positional" else metric(y, p, weight)
            if way == "function":
                call = tf.function(call)
            first = call(tf.constant(LABELS), tf.constant(GUESSES))
            second = call(tf.constant(LABELS), tf.constant(1 - GUESSES))
            metric.update_state(LABELS, GUESSES)
            third = metric.result()
            metric.reset_state()
            return [first, second, third, metric.result(), metric.name]
        return run
    for name, make in made.items():
        for way in ("eagerly", "function", "positional"):
            for weight in (None, WEIGHTS):
                if weight is None and way == "positional" or weight is not None and name == "Totals" or (name, way) == ("Several", "function"):
                    continue
                out["%s %s%s" % (name, way, "" if weight is None else " weighted")] = directly(make, weight, way)

    def values():
        metric = doubled()
        return [metric([1., 2.]), metric(4., sample_weight=3.), metric.result()]
    out["Doubled"] = values

    def session(make):
        def run():
            v1 = tf.compat.v1
            with tf.Graph().as_default():
                y, p = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 3])
                metric = make()
                result = metric(y, p)
                update, plain = metric.update_state(y, p), metric.result()
                with v1.Session() as s:
                    s.run(v1.variables_initializer(metric.variables))
                    values = [s.run(result, {y: LABELS, p: GUESSES}), s.run(result, {y: LABELS[:2], p: GUESSES[:2]})]
                    s.run(update, {y: LABELS, p: GUESSES})
                    return values + [s.run(plain)]
        return run
    for name, make in made.items():
        if name not in ("Several", "Few"):
            out["%s session" % name] = session(make)


def fit_cases(tf, out):
    k = tf.keras
    made, _ = classes(tf)

    def fit(metrics, weighted=None, labels=None, eagerly=False, loss="mse", units=3):
        def run():
            x = np.concatenate([GUESSES, GUESSES[::-1]])
            y = np.concatenate([LABELS, LABELS]) if labels is None else labels
            model = k.Sequential([k.layers.Dense(units, kernel_initializer="ones", input_shape=(3,))])
            model.compile(k.optimizers.SGD(.1), loss, metrics=metrics(), weighted_metrics=weighted() if weighted else None, run_eagerly=eagerly)
            weight = np.concatenate([WEIGHTS, WEIGHTS])
            h = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, sample_weight=weight, validation_data=(x[:5], y[:5], weight[:5]))
            return [h.history, model.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0, return_dict=True), model.metrics_names]
        return run
    for name, make in made.items():
        if name == "Several":
            continue  # a dict in the place of a number
        out["fit %s" % name] = fit(lambda make=make: [make()])
        if name != "Totals":
            out["fit weighted %s" % name] = fit(lambda: [], lambda make=make: [make()])
    out["fit Branches eagerly"] = fit(lambda: [made["Branches"]()], eagerly=True)

    def absolute(y, p):
        return tf.abs(y - p)

    def mean_absolute(y, p):
        return tf.reduce_mean(tf.abs(y - p), -1)

    def one(y, p):
        return tf.reduce_max(y - p)

    def branching(y, p):
        if tf.reduce_sum(y) > 3:
            return tf.reduce_mean(y * p, -1)
        else:
            return tf.reduce_mean(p, -1)
    functions = {f.__name__: f for f in (absolute, mean_absolute, one, branching)}
    vectors = {"rows": np.arange(12, dtype=np.float32), "column": np.arange(12, dtype=np.float32)[:, None], "integers": np.arange(12),
               "doubles": np.arange(12.), "booleans": np.arange(12) % 2 == 0, "bytes": np.arange(12, dtype=np.uint8)}
    for name, function in functions.items():
        for form, y in vectors.items():
            if name in ("mean_absolute", "branching") and form == "rows":
                continue
            out["function %s of %s" % (name, form)] = fit(lambda function=function: [function], labels=y, units=1)
        out["function %s weighted" % name] = fit(lambda: ["mae"], lambda function=function: [function], labels=vectors["column"], units=1)
        out["function %s as loss" % name] = fit(lambda: ["mae"], labels=vectors["column"], loss=function, units=1)
        out["function %s as loss of integers" % name] = fit(lambda: ["mae"], labels=vectors["integers"][:, None].astype(np.int32), loss=function, units=1)

    class Own(k.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_sum(tf.abs(tf.cast(y_true, tf.float32) - y_pred), -1)

    class Twice(k.losses.MeanSquaredError):
        def call(self, y_true, y_pred):
            return 2 * super().call(y_true, y_pred)

    class Branching(k.losses.Loss):
        def call(self, y_true, y_pred):
            if tf.reduce_sum(y_pred) > 1:
                return tf.reduce_mean(y_true - y_pred, -1)
            else:
                return tf.reduce_mean(y_pred, -1)

    class Always(k.losses.Loss):
        def __call__(self, y_true, y_pred, sample_weight=None):
            return tf.reduce_mean(y_pred) + 3.
    for cls in (Own, Twice, Branching, Always):
        for weight in (None, WEIGHTS):
            out["loss %s%s" % (cls.__name__, "" if weight is None else " weighted")] = lambda cls=cls, weight=weight: [
                cls()(tf.constant(LABELS), tf.constant(GUESSES), sample_weight=weight),
                tf.function(lambda: cls()(tf.constant(LABELS), tf.constant(GUESSES), sample_weight=weight))()]
        out["fit loss %s" % cls.__name__] = fit(lambda: ["mae"], loss=cls())
        out["fit loss %s eagerly" % cls.__name__] = fit(lambda: ["mae"], loss=cls(), eagerly=True)
        if cls is not Always:
            out["loss %s reductions" % cls.__name__] = lambda cls=cls: [cls(reduction=r)(LABELS, GUESSES, sample_weight=WEIGHTS) for r in ("sum", "none")]


def cases(tf):
    out = {}
    called_cases(tf, out)
    fit_cases(tf, out)
    return out
