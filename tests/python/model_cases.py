"""Models: structures of inputs, outputs, labels and weights by name; order of weights; what is frozen when; states and masks of recurrent layers;
initializers that layers share; phases; metrics and losses that layers add."""
import collections

import numpy as np

X = (np.arange(24, dtype=np.float32).reshape(8, 3) % 7 - 3) / 3
A = (np.arange(8, dtype=np.float32).reshape(8, 1) % 3)
Pair = collections.namedtuple("Pair", "z a")
Z = np.stack([np.arange(8) % 5, np.arange(8) % 2], 1).astype(np.float32)


def two_outputs(tf, order=("z", "a"), structure="list", inputs=None):
    k = tf.keras
    x = k.Input((3,), name="x")
    heads = {"z": k.layers.Dense(2, kernel_initializer="ones", name="z")(x), "a": k.layers.Dense(1, kernel_initializer="ones", name="a")(x)}
    given = [heads[name] for name in order] if structure == "list" else {name: heads[name] for name in order}
    if structure == "renamed":
        given = {"second": heads["z"], "first": heads["a"]}
    return k.Model(x, given)


def compiled(tf, model, **more):
    model.compile(tf.keras.optimizers.SGD(.1), **{"loss": "mse", **more})
    return model


def named_cases(tf, out):
    labels = {"dict": {"z": Z, "a": A}, "turned": {"a": A, "z": Z}}
    weights = {"both": {"z": np.arange(8.), "a": np.ones(8)}, "z only": {"z": np.arange(8.)}, "a only": {"a": np.arange(8.)}}

    def fit(order, structure, y, sample_weight=None, way="fit", **more):
        def run():
            m = compiled(tf, two_outputs(tf, order, structure), **more)
            if way == "fit":
                h = m.fit(X, y, sample_weight=sample_weight, batch_size=4, shuffle=False, verbose=0)
                return h.history, m.get_weights()
            if way == "validation":
                data = (X, y) if sample_weight is None else (X, y, sample_weight)
                return m.fit(X, y, validation_data=data, batch_size=4, shuffle=False, verbose=0).history
            if way == "dataset":
                data = (X, y) if sample_weight is None else (X, y, sample_weight)
                return m.fit(tf.data.Dataset.from_tensor_slices(data).batch(4), verbose=0).history
            if way == "generator":
                def batches():
                    yield (X, y) if sample_weight is None else (X, y, sample_weight)
                return m.fit(batches(), verbose=0).history
            if way == "evaluate":
                return m.evaluate(X, y, sample_weight=sample_weight, verbose=0), m.evaluate(
                    X, y, sample_weight=sample_weight, verbose=0, return_dict=True)
            return [m.test_on_batch(X, y, sample_weight=sample_weight), m.train_on_batch(X, y, sample_weight=sample_weight, return_dict=True),
                    m.test_on_batch(X, y, sample_weight=sample_weight, return_dict=True), m.metrics_names]
        return run
    for way in ("fit", "validation", "dataset", "generator", "evaluate", "on batch"):
        for order in (("z", "a"), ("a", "z")):
            for structure in ("list", "dict"):
                for label, y in labels.items():
                    if label == "turned" and way not in ("fit", "dataset"):
                        continue
                    out["%s %s %s %s" % (way, "".join(order), structure, label)] = fit(order, structure, y, way=way)
        for structure in ("list", "dict"):
            for label, w in weights.items():
                out["%s %s weights %s" % (way, structure, label)] = fit(("z", "a"), structure, labels["dict"], w, way)
    flat = [Z, A]
    for label, w in {"none first": [None, np.arange(8.)], "none second": [np.arange(8.), None], "both": [np.arange(8.), np.ones(8)],
                     "one": np.arange(8.)}.items():
        for way in ("fit", "evaluate"):
            out["%s list weights %s" % (way, label)] = fit(("z", "a"), "list", flat, w, way)
    out["labels missing"] = fit(("z", "a"), "list", {"z": Z}, loss={"z": "mse"})
    out["labels missing, dict"] = fit(("z", "a"), "dict", {"z": Z}, loss={"z": "mse"})
    out["labels unknown"] = fit(("z", "a"), "list", {"z": Z, "b": A})
    wrong = {"too many": (Z, A, A), "too few": [Z], "unknown": {"z": Z, "q": A}, "only unknown": {"q": A}, "nested": (Z, (A, A)), "pair": (Z, A)}
    for structure in ("list", "dict"):
        for label, y in wrong.items():
            out["labels %s, %s" % (label, structure)] = fit(("z", "a"), structure, y, way="evaluate")
    out["losses by name"] = fit(("z", "a"), "list", flat, loss={"a": "mae", "z": "mse"}, loss_weights={"a": 2., "z": .5},
                                metrics={"a": "mae", "z": ["mse", "mae"]}, weighted_metrics={"a": ["mse"]})
    out["losses by name, some"] = fit(("z", "a"), "list", flat, loss={"a": "mae"}, metrics={"z": "mae"})
    out["losses by name, dict"] = fit(("z", "a"), "dict", labels["dict"], loss={"a": "mae", "z": "mse"}, loss_weights={"a": 2., "z": .5},
                                      metrics={"a": "mae", "z": ["mse"]})
    out["losses by name, renamed"] = fit(("z", "a"), "renamed", {"first": A, "second": Z}, loss={"first": "mae", "second": "mse"},
                                         metrics={"first": "mse"}, loss_weights={"first": 3.})
    out["metrics as lists"] = fit(("z", "a"), "list", flat, metrics=[["mae"], ["mse"]], loss=["mse", "mae"], loss_weights=[1., 3.])
    out["weighted, one of two"] = fit(("z", "a"), "list", flat, [None, np.arange(8.)], weighted_metrics=["mae"], metrics=["mse"])

    def inputs(names, structure):
        def run():
            k = tf.keras
            first, second = k.Input((3,), name=names[0]), k.Input((1,), name=names[1])
            y = k.layers.Dense(1, kernel_initializer="ones")(first) - 2 * second
            m = compiled(tf, k.Model([first, second] if structure == "list" else {names[0]: first, names[1]: second}, y))
            data = {names[0]: X, names[1]: A}
            turned = {names[1]: A, names[0]: X}
            results = [m.predict(data, verbose=0), m.predict(turned, verbose=0), m(turned), m.predict_on_batch(turned), m.evaluate(turned, A, verbose=0)]
            results.append(m.fit(turned, A, batch_size=8, epochs=2, verbose=0).history)
            results.append(m.fit(tf.data.Dataset.from_tensor_slices((turned, A)).batch(8), verbose=0).history)
            return results + [m.train_on_batch(turned, A), m.get_weights()]
        return run
    for names in (("u", "b"), ("b", "u")):
        for structure in ("list", "dict"):
            out["inputs %s %s" % ("".join(names), structure)] = inputs(names, structure)

    def given_back(kind):
        def run():
            class M(tf.keras.Model):
                def call(self, x):
                    if kind == "dict":
                        return {"z": x * 2, "a": x * 3}
                    if kind == "pair":
                        return Pair(x * 2, x * 3)
                    return [x, (x * 2, {"q": x * 3, "b": x * 4})]
            m = M()
            results = [m.predict(X[:2], verbose=0), m.predict_on_batch(X[:2])]
            return [type(r).__name__ for r in results], results
        return run
    for kind in ("dict", "pair", "nested"):
        out["outputs of predict %s" % kind] = given_back(kind)

    def subclassed(kind):
        def run():
            class M(tf.keras.Model):
                def __init__(self):
                    super().__init__()
                    self.d = tf.keras.layers.Dense(1, kernel_initializer="ones")

                def call(self, x):
                    y = self.d(x)
                    return {"z": tf.concat([y, y], 1), "a": y} if kind == "dict" else (tf.concat([y, y], 1), y)
            m = compiled(tf, M(), loss={"z": "mse", "a": "mae"} if kind == "dict" else {"output_1": "mse", "output_2": "mae"})
            y = {"a": A, "z": Z} if kind == "dict" else (Z, A)
            h = m.fit(X, y, sample_weight={"z": np.arange(8.)} if kind == "dict" else None, batch_size=8, epochs=2, verbose=0)
            return h.history, m.predict(X[:2], verbose=0), m.evaluate(X, y, verbose=0, return_dict=True)
        return run
    out["subclassed dict"] = subclassed("dict")
    out["subclassed tuple"] = subclassed("tuple")


def single_cases(tf, out):
    k = tf.keras

    def shapes(value):
        if isinstance(value, dict):
            return {key: shapes(v) for key, v in value.items()}
        return [type(value).__name__] + [shapes(v) for v in value] if isinstance(value, (list, tuple)) else list(value.shape)

    def outputs(form):
        def run():
            x = k.Input((3,), name="x")
            y = k.layers.Dense(2, name="y")(x)
            m = k.Model(x if form != "inputs" else [x], {"bare": y, "inputs": y, "list": [y], "tuple": (y,), "dict": {"k": y}, "nested": [[y]]}[form])
            again = m(k.Input((3,)))
            m.compile("sgd", "mse")
            results = [shapes(m(X)), shapes(m.predict(X, verbose=0)), shapes(m.predict_on_batch(X)), shapes(again), m.output_names,
                       shapes(m.output) if not isinstance(m.output, dict) else sorted(m.output), shapes(m.outputs), shapes(m.inputs)]
            labels = {"dict": {"k": Z}, "list": [Z], "tuple": (Z,)}.get(form, Z)
            if form != "nested":
                results.append(sorted(m.fit(X, labels, verbose=0).history))
            return results
        return run
    for form in ("bare", "inputs", "list", "tuple", "dict", "nested"):
        out["outputs %s" % form] = outputs(form)

    def order(form):
        def run():
            class L(k.layers.Layer):
                def build(self, shape):
                    if form == "unnamed":
                        self.a = self.add_weight(shape=(3,))
                        self.b = self.add_weight(shape=(1,))
                        self.c = self.add_weight(shape=(2,))
                    elif form == "loose":
                        self.add_weight(shape=(3,))
                        self.add_weight(shape=(1,))
                        self.add_weight(shape=(2,))
                    elif form == "same name":
                        self.a = self.add_weight("w", shape=(3,))
                        self.b = self.add_weight("w", shape=(1,))
                        self.c = self.add_weight("w", shape=(2,))
                    elif form == "list":
                        self.all = [self.add_weight(shape=(n,)) for n in (3, 1, 2)]
                    elif form == "mixed":
                        self.a = self.add_weight(shape=(3,), trainable=False)
                        self.v = tf.Variable([1., 2., 3., 4.])
                        self.b = self.add_weight(shape=(1,))
                        self.d = k.layers.Dense(5)
                        self.d.build((None, 3))
                        self.c = self.add_weight(shape=(2,))
                    elif form == "named late":
                        self.c = self.add_weight("c", shape=(3,))
                        self.a = self.add_weight("a", shape=(1,))
                        self.b = self.add_weight("b", shape=(2,))

                def call(self, x):
                    return x
            layer = L(name="layer")
            layer(X)
            return [list(w.shape) for w in layer.get_weights()], [list(w.shape) for w in layer.weights], [list(w.shape) for w in layer.trainable_weights]
        return run
    for form in ("unnamed", "loose", "same name", "list", "mixed", "named late"):
        out["order of weights %s" % form] = order(form)

    def add_variable():
        class L(k.layers.Layer):
            def build(self, shape):
                self.w = self.add_variable("w", shape=(3, 2), initializer="ones")

            def call(self, x):
                return x @ self.w
        layer = L()
        return layer(X), [list(w.shape) for w in layer.weights]
    out["add_variable"] = add_variable


def frozen_cases(tf, out):
    k = tf.keras

    def gan(when, freeze, eagerly=False):
        def run():
            inner = k.Sequential([k.layers.Dense(2, kernel_initializer="ones", input_shape=(3,)), k.layers.BatchNormalization()])
            outer = k.Sequential([k.layers.Dense(3, kernel_initializer="ones", input_shape=(3,)), inner, k.layers.Dense(1, kernel_initializer="ones")])
            steps = []

            def state(label):
                steps.append((label, [float(np.sum(w)) for w in inner.get_weights()], len(inner.trainable_weights), len(outer.trainable_weights)))
            target = inner if freeze == "model" else inner.layers[1] if freeze == "layer" else outer
            inner.compile(k.optimizers.SGD(.1), "mse", run_eagerly=eagerly)
            if when == "before":
                target.trainable = False
            outer.compile(k.optimizers.SGD(.1), "mse", run_eagerly=eagerly)
            if when == "after":
                target.trainable = False
            if when == "toggled":
                target.trainable = False
                target.trainable = True
            outer.train_on_batch(X, A)
            state("outer")
            inner.train_on_batch(X, Z)
            state("inner")
            if when == "during":
                target.trainable = False
            outer.fit(X, A, verbose=0)
            inner.fit(X, Z, verbose=0)
            state("fit")
            outer(X, training=True)
            state("called")
            if when == "during":
                outer.compile(k.optimizers.SGD(.1), "mse", run_eagerly=eagerly)
                outer.fit(X, A, verbose=0)
                state("compiled again")
            return steps
        return run
    for when in ("before", "after", "during", "toggled", "never"):
        for freeze in ("model", "layer", "outer"):
            out["frozen %s %s" % (when, freeze)] = gan(when, freeze)
    for when in ("before", "after"):
        out["frozen eagerly %s" % when] = gan(when, "model", True)

    def own_step(when):
        def run():
            class M(k.Sequential):
                def train_step(self, data):
                    x, y = data
                    with tf.GradientTape() as tape:
                        loss = self.compute_loss(x, y, self(x, training=True))
                    self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
                    return {"loss": loss}
            m = M([k.layers.Dense(2, kernel_initializer="ones", input_shape=(3,)), k.layers.BatchNormalization()])
            if when == "before":
                m.layers[1].trainable = False
            m.compile(k.optimizers.SGD(.1), "mse")
            if when == "after":
                m.layers[1].trainable = False
            m.fit(X, Z, verbose=0)
            return [float(np.sum(w)) for w in m.get_weights()]
        return run
    for when in ("before", "after"):
        out["frozen, own step, %s" % when] = own_step(when)

    def function():
        layer = k.layers.BatchNormalization()
        layer(X)
        layer.trainable = False
        y = layer(X, training=True)
        layer.trainable = True
        return y, layer(X, training=True), layer.get_weights()
    out["frozen called"] = function


def added_cases(tf, out):
    k = tf.keras

    class Adds(k.layers.Layer):
        def __init__(self, what, **kwargs):
            super().__init__(**kwargs)
            self.what = what
            if what == "object":
                self.m = k.metrics.Mean(name="own_mean")

        def call(self, x):
            if self.what == "metric":
                self.add_metric(tf.reduce_mean(x), name="mean_x")
                self.add_metric(tf.reduce_max(x), name="max_x", aggregation="mean")
            elif self.what == "object":
                self.add_metric(self.m(x))
            elif self.what == "loss":
                self.add_loss(tf.reduce_sum(x) * .01)
            elif self.what == "losses":
                self.add_loss([tf.reduce_sum(x) * .01, 0.5])
            elif self.what == "callable":
                self.add_loss(lambda: tf.constant(.25))
            elif self.what == "both":
                self.add_loss(tf.reduce_sum(x) * .01)
                self.add_metric(tf.reduce_sum(x), name="sum_x")
            return x

    def program(what, kind, metrics=True, eagerly=False):
        def run():
            adds, dense = Adds(what), k.layers.Dense(1, kernel_initializer="ones")
            if kind == "sequential":
                m = k.Sequential([adds, dense])
            elif kind == "nested":
                m = k.Sequential([k.Sequential([adds]), dense])
            elif kind == "functional":
                x = k.Input((3,))
                m = k.Model(x, dense(adds(x)))
            else:
                class M(k.Model):
                    def __init__(self):
                        super().__init__()
                        self.adds, self.dense = adds, dense

                    def call(self, x):
                        return self.dense(self.adds(x))
                m = M()
            m.compile(k.optimizers.SGD(.01), "mse", metrics=["mae"] if metrics else None, run_eagerly=eagerly)
            h = m.fit(X, A, batch_size=4, epochs=2, shuffle=False, verbose=0, validation_data=(X[:5], A[:5]))
            return [h.history, m.metrics_names, m.evaluate(X, A, batch_size=3, verbose=0), len(m.losses),
                    m.train_on_batch(X, A, return_dict=True)]
        return run
    for what in ("metric", "object", "loss", "losses", "callable", "both"):
        for kind in ("sequential", "functional", "subclassed"):
            if (what, kind) != ("callable", "sequential"):  # every trace adds it again
                out["adds %s %s" % (what, kind)] = program(what, kind)
    out["adds metric nested"] = program("metric", "nested")
    out["adds metric alone"] = program("metric", "functional", False)
    out["adds both eagerly"] = program("both", "subclassed", True, True)

    def to_model(form):
        def run():
            x = k.Input((3,))
            h = k.layers.Dense(2, kernel_initializer="ones")(x)
            y = k.layers.Dense(1, kernel_initializer="ones")(h)
            m = k.Model(x, y)
            if form in ("loss", "both", "only"):
                m.add_loss(tf.reduce_mean(h) * .1)
            if form in ("metric", "both"):
                m.add_metric(tf.reduce_max(h), name="largest")
            if form == "named":
                m.add_metric(h, name="mean_h", aggregation="mean")
            m.compile(k.optimizers.SGD(.01), None if form == "only" else "mse")
            h = m.fit(X, None if form == "only" else A, batch_size=4, epochs=2, shuffle=False, verbose=0)
            return [h.history, m.metrics_names, m.evaluate(X, None if form == "only" else A, verbose=0), m.get_weights()]
        return run
    for form in ("loss", "metric", "both", "only", "named"):
        out["model adds %s" % form] = to_model(form)

    def weights_penalty():
        m = k.Sequential([k.layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
        m.add_loss(lambda: tf.reduce_sum(m.layers[0].kernel ** 2))
        m.compile(k.optimizers.SGD(.01), "mse")
        return m.fit(X, A, epochs=2, batch_size=8, verbose=0).history, m.get_weights(), m.losses
    out["model adds a function"] = weights_penalty


def phase_cases(tf, out):
    k = tf.keras

    def phases(setting):
        def run():
            class L(k.layers.Layer):
                def call(self, x, training=None):
                    return k.backend.in_train_phase(x + 1, x - 1, training=training)

            class T(k.layers.Layer):
                def call(self, x, training=None):
                    return k.backend.in_test_phase(x + 1, lambda: x - 1, training=training)

            class N(k.layers.Layer):
                def call(self, x):
                    return k.backend.in_train_phase(lambda: x + 1, x - 1)
            results = []
            try:
                if setting is not None:
                    k.backend.set_learning_phase(setting)
                for layer in (L(), T(), N()):
                    results.append([layer(np.zeros(1, np.float32)), layer(np.zeros(1, np.float32), **({} if isinstance(layer, N) else {"training": True}))])
                    m = k.Sequential([layer])
                    m.compile("sgd", "mse")
                    results.append([m.predict(np.zeros((1, 1)), verbose=0), m(np.zeros((1, 1)), training=True), m(np.zeros((1, 1)), training=False)])
                results += [k.backend.in_train_phase(1., 2., training=1), k.backend.in_train_phase(1., 2., training=0),
                            k.backend.in_test_phase(1., 2., training=True), k.backend.in_train_phase(1., 2.), k.backend.in_test_phase(1., 2.),
                            int(k.backend.learning_phase())]
                results.append(k.layers.Dropout(.999999)(np.ones((1, 4), np.float32)))
            finally:
                k.backend.clear_session()
            return results
        return run
    for setting in (None, 0, 1):
        out["phase %s" % setting] = phases(setting)

    def sequence(epochs, **more):
        def run():
            calls = []

            class S(k.utils.Sequence):
                def __len__(self):
                    return 3

                def __getitem__(self, i):
                    return X[i:i + 2], A[i:i + 2]

                def on_epoch_end(self):
                    calls.append(1)
            m = k.Sequential([k.layers.Dense(1)])
            m.compile("sgd", "mse")
            given = {key: S() if value == "sequence" else value for key, value in more.items()}
            m.fit(S(), epochs=epochs, verbose=0, **given)
            counts = [len(calls)]
            m.evaluate(S(), verbose=0)
            counts.append(len(calls))
            m.predict(S(), verbose=0)
            return counts + [len(calls)]
        return run
    for epochs in (1, 2, 3):
        out["on_epoch_end %d" % epochs] = sequence(epochs)
        out["on_epoch_end %d, validation" % epochs] = sequence(epochs, validation_data="sequence")
    out["on_epoch_end, shuffle"] = sequence(2, shuffle=True)
    out["on_epoch_end, steps"] = sequence(2, steps_per_epoch=2)


def shared_cases(tf, out):
    k = tf.keras

    def attention(kind):
        def run():
            init = {"object": k.initializers.GlorotUniform(), "seeded": k.initializers.GlorotUniform(seed=3), "name": "glorot_uniform",
                    "normal": k.initializers.RandomNormal(stddev=2., seed=5)}[kind]
            layer = k.layers.MultiHeadAttention(2, 3, kernel_initializer=init)
            layer(X[None], X[None])
            q, key, v = (w.numpy() for w in layer.weights if "kernel" in w.name and "output" not in w.name)
            return bool(np.array_equal(q, key)), bool(np.array_equal(q, v)), [w.name for w in layer.weights]
        return run
    for kind in ("object", "seeded", "name", "normal"):
        out["attention, initializer %s" % kind] = attention(kind)

    def dense(seed):
        def run():
            init = k.initializers.GlorotUniform(seed=seed)
            first, second = k.layers.Dense(4, kernel_initializer=init), k.layers.Dense(4, kernel_initializer=init)
            first(X), second(X)
            twice = init((2, 2)), init((2, 2))
            return bool(np.array_equal(first.kernel, second.kernel)), bool(np.array_equal(*twice))
        return run
    out["dense, seeded"] = dense(3)
    out["dense, not seeded"] = dense(None)

    def recurrent(cell):
        def run():
            init = k.initializers.RandomUniform(seed=4)
            layer = getattr(k.layers, cell)(4, kernel_initializer=init, recurrent_initializer=init)
            layer(np.zeros((1, 2, 4), np.float32))
            a, b = layer.get_weights()[:2]
            return bool(np.array_equal(a, b))
        return run
    for cell in ("LSTM", "GRU", "SimpleRNN"):
        out["one initializer twice, %s" % cell] = recurrent(cell)

    def both():
        init = k.initializers.GlorotUniform(seed=9)
        layer = k.layers.Bidirectional(k.layers.LSTM(3, kernel_initializer=init))
        layer(np.zeros((1, 2, 4), np.float32))
        w = layer.get_weights()
        return bool(np.array_equal(w[0], w[3]))
    out["bidirectional"] = both

    def separable():
        init = k.initializers.GlorotUniform(seed=9)
        layer = k.layers.SeparableConv2D(3, 3, depthwise_initializer=init, pointwise_initializer=init)
        layer(np.zeros((1, 5, 5, 3), np.float32))
        return [list(w.shape) for w in layer.get_weights()]
    out["separable"] = separable


def recurrent_cases(tf, out):
    k = tf.keras
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10

    def stateful(cell, initial, **more):
        def run():
            layer = getattr(k.layers, cell)(2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones", bias_initializer="ones", **more)
            given = [tf.ones((2, 2)) * .5] * (2 if cell == "LSTM" else 1)
            results = []
            for call in initial:
                results.append(layer(tf.constant(x), initial_state=given if call else None))
                results.append([s.numpy() for s in layer.states])
            layer.reset_states()
            results.append(layer(tf.constant(x), initial_state=given))
            return results
        return run
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        for initial in ((1, 1), (1, 0), (0, 1), (0, 0, 1)):
            out["stateful %s %s" % (cell, initial)] = stateful(cell, initial)
        out["stateful %s sequences" % cell] = stateful(cell, (1, 0), return_sequences=True)

    def in_model(eagerly):
        def run():
            inputs, state = k.Input(batch_shape=(2, 3, 4)), k.Input(batch_shape=(2, 2))
            y = k.layers.GRU(2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones")(inputs, initial_state=state)
            m = k.Model([inputs, state], y)
            m.compile("sgd", "mse", run_eagerly=eagerly)
            given = [x, np.ones((2, 2), np.float32)]
            results = [m.predict(given, verbose=0), m.predict(given, verbose=0)]
            m.reset_states()
            return results + [m.predict(given, verbose=0), m(given)]
        return run
    out["stateful in a model"] = in_model(False)
    out["stateful in a model eagerly"] = in_model(True)

    def stacked(kind):
        def run():
            cells = [k.layers.GRUCell(2, kernel_initializer="ones", recurrent_initializer="ones"),
                     k.layers.LSTMCell(3, kernel_initializer="ones", recurrent_initializer="ones")]
            layer = k.layers.RNN(cells if kind == "list" else k.layers.StackedRNNCells(cells), return_sequences=True, return_state=True)
            return [layer(tf.constant(x)), layer(tf.constant(x[:1])), layer(tf.constant(x), training=True)]
        return run
    out["stacked list"] = stacked("list")
    out["stacked cells"] = stacked("cells")


def cases(tf):
    out = {}
    for add in (named_cases, single_cases, frozen_cases, added_cases, phase_cases, shared_cases, recurrent_cases):
        add(tf, out)
    return out
