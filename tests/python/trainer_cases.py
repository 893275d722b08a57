"""Training at its edges: models without a loss, losses and logs of the program's own, penalties of layers that give several tensors."""
import numpy as np

X = (np.arange(24, dtype=np.float32).reshape(8, 3) % 7 - 3) / 3
Y = (np.arange(8, dtype=np.float32).reshape(8, 1) % 3)


def without_loss(tf, out):
    k = tf.keras

    def model(kind, **settings):
        if kind == "two outputs":
            x = k.Input((3,))
            m = k.Model(x, [k.layers.Dense(1, kernel_initializer="ones", name="a")(x), k.layers.Dense(1, kernel_initializer="ones", name="b")(x)])
        else:
            m = k.Sequential([k.layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2" if kind == "penalty" else None)])
        m.compile("sgd", **settings)
        return m

    ways = {
        "evaluate": lambda m, y: m.evaluate(X, y, verbose=0), "evaluate, dict": lambda m, y: m.evaluate(X, y, verbose=0, return_dict=True),
        "test_on_batch": lambda m, y: m.test_on_batch(X, y), "train_on_batch": lambda m, y: m.train_on_batch(X, y),
        "fit": lambda m, y: [m.fit(X, y, verbose=0, batch_size=4, shuffle=False).history, m.get_weights()], "predict": lambda m, y: m.predict(X, verbose=0),
        "names": lambda m, y: [m.evaluate(X, y, verbose=0), m.metrics_names],
    }
    settings = {"nothing": {}, "a metric": {"metrics": ["mae"]}, "a weighted metric": {"weighted_metrics": ["mae"]}}
    for kind in ("plain", "penalty", "two outputs"):
        for said, more in settings.items():
            for way, run in ways.items():
                for eagerly in (False, True):
                    if eagerly and (kind != "plain" or way not in ("evaluate", "fit")):
                        continue
                    labels = [Y, Y] if kind == "two outputs" else Y
                    out["no loss, %s, %s, %s%s" % (kind, said, way, ", eagerly" * eagerly)] = (
                        lambda kind=kind, more=more, run=run, eagerly=eagerly, labels=labels: run(model(kind, run_eagerly=eagerly, **more), labels))
    out["no loss, no labels"] = lambda: model("plain").evaluate(X, verbose=0)
    out["no loss, no labels, fit"] = lambda: model("plain").fit(X, verbose=0).history
    out["no loss, penalty, no labels, fit"] = lambda: (lambda m: [m.fit(X, verbose=0).history, m.get_weights()])(model("penalty"))
    out["no loss of one output"] = lambda: model("two outputs", loss=["mse", None]).evaluate(X, [Y, Y], verbose=0)
    out["no loss of one output by name"] = lambda: model("two outputs", loss={"a": "mse"}).evaluate(X, [Y, Y], verbose=0)
    out["no loss of both"] = lambda: model("two outputs", loss=[None, None]).evaluate(X, [Y, Y], verbose=0)


def own_losses(tf, out):
    k = tf.keras

    class Own(k.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return tf.reduce_mean(tf.square(y - y_pred)) + 1.

    class Counting(Own):
        def __init__(self, layers):
            super().__init__(layers)
            self.counted = k.metrics.Mean(name="counted")

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            loss = super().compute_loss(x, y, y_pred, sample_weight)
            self.counted.update_state(loss)
            return loss

        @property
        def metrics(self):
            return [self.counted]

        def reset_metrics(self):
            self.counted.reset_states()

    def program(cls, way, settings, eagerly):
        def run():
            m = cls([k.layers.Dense(1, kernel_initializer="ones")])
            m.compile("sgd", run_eagerly=eagerly, **settings)
            if way == "fit":
                return [m.fit(X, Y, verbose=0, epochs=2, batch_size=4, shuffle=False).history, m.layers[0].get_weights()]
            if way == "validation":
                return m.fit(X, Y, validation_data=(X, Y), verbose=0, epochs=2, shuffle=False).history
            if way == "train_on_batch":
                return [m.train_on_batch(X, Y), m.train_on_batch(X, Y, return_dict=True), m.layers[0].get_weights()]
            if way == "train_step":
                return m.train_step((tf.constant(X), tf.constant(Y)))
            return [m.evaluate(X, Y, verbose=0), m.evaluate(X, Y, verbose=0, return_dict=True)]
        return run

    for cls in (Own, Counting):
        for way in ("fit", "validation", "train_on_batch", "train_step", "evaluate"):
            for said, settings in {"nothing": {}, "a metric": {"metrics": ["mae"]}, "a loss": {"loss": "mae"}}.items():
                for eagerly in (False, True):
                    out["own loss, %s, %s, %s%s" % (cls.__name__, way, said, ", eagerly" * eagerly)] = program(cls, way, settings, eagerly)

    def logs(form, way, eagerly):
        def run():
            given = {"flat": {"z": 1., "a": 2.}, "inner": {"z": 1., "inner": {"b": 2., "a": 3.}}, "list": {"z": [1., 2.]}, "empty": {},
                     "vector": {"z": [1., 2., 3.]}, "deep": {"q": {"r": {"s": 1.}}}, "integers": {"n": 3}}[form]
            seen = []

            class Seen(k.callbacks.Callback):
                def on_train_batch_end(self, batch, logs=None):
                    seen.append(dict(logs))

                def on_epoch_end(self, epoch, logs=None):
                    seen.append(dict(logs))

                def on_test_batch_end(self, batch, logs=None):
                    seen.append(dict(logs))

            class Model(k.Sequential):
                def train_step(self, data):
                    return tf.nest.map_structure(tf.constant, given)
                test_step = train_step
            m = Model([k.layers.Dense(1)])
            m.compile("sgd", "mse", run_eagerly=eagerly)
            if way == "fit":
                return [m.fit(X, Y, verbose=0, epochs=2, batch_size=4, callbacks=[Seen()]).history, seen]
            if way == "validation":
                return [m.fit(X, Y, verbose=0, epochs=1, validation_data=(X, Y), callbacks=[Seen()]).history, seen]
            if way == "on batch":
                return [m.train_on_batch(X, Y), m.test_on_batch(X, Y, return_dict=True)]
            return [m.evaluate(X, Y, verbose=0), m.evaluate(X, Y, verbose=0, return_dict=True, callbacks=[Seen()]), seen]
        return run

    for form in ("flat", "inner", "list", "empty", "vector", "deep", "integers"):
        for way in ("fit", "validation", "evaluate", "on batch"):
            for eagerly in (False, True):
                out["logs %s %s%s" % (form, way, ", eagerly" * eagerly)] = logs(form, way, eagerly)


def penalties(tf, out):
    k, steps = tf.keras, X.reshape(2, 4, 3)

    def layer(cell, way, settings):
        def run():
            one = getattr(k.layers, cell)(2, kernel_initializer="ones", recurrent_initializer="ones", activity_regularizer=k.regularizers.L2(.1), **settings)
            if way == "call":
                given = one(steps)
                return [given, one.losses]
            if way == "function":
                @tf.function
                def call(x):
                    given = one(x)
                    return given, one.losses
                return call(tf.constant(steps))
            x = k.Input((4, 3))
            given = one(x)
            m = k.Model(x, given)
            m.compile("sgd", "mse")
            given = m(steps)
            return [m.losses, m.evaluate(steps, [np.zeros(g.shape) for g in given] if isinstance(given, list) else np.zeros(given.shape), verbose=0)]
        return run

    for cell in ("LSTM", "GRU", "SimpleRNN"):
        for said, settings in {"alone": {}, "state": {"return_state": True}, "steps": {"return_sequences": True},
                               "both": {"return_sequences": True, "return_state": True}}.items():
            for way in ("call", "function") + (() if cell == "LSTM" and "return_state" in settings else ("model",)):
                out["penalty %s %s %s" % (cell, said, way)] = layer(cell, way, settings)


def activities(tf, out):
    """Every layer that takes an activity_regularizer: the penalties of a call, and its config."""
    k, l = tf.keras, tf.keras.layers
    x = np.linspace(-1, 1, 24).reshape(2, 3, 4).astype(np.float32)
    picture = np.linspace(-1, 1, 96).reshape(2, 4, 4, 3).astype(np.float32)
    ones, recurrent = {"kernel_initializer": "ones"}, {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
    by_channel = {"depthwise_initializer": "ones"}
    both = {"depthwise_initializer": "ones", "pointwise_initializer": "ones"}
    layers = {
        "Dense": (lambda a: l.Dense(2, activity_regularizer=a, **ones), [x]),
        "EinsumDense": (lambda a: l.EinsumDense("abc,cd->abd", (None, 3), activity_regularizer=a, **ones), [x]),
        "Embedding": (lambda a: l.Embedding(5, 2, embeddings_initializer="ones", activity_regularizer=a), [np.array([[1, 2], [3, 4]])]),
        "Conv1D": (lambda a: l.Conv1D(2, 2, activity_regularizer=a, **ones), [x]),
        "Conv2D": (lambda a: l.Conv2D(2, 2, activity_regularizer=a, **ones), [picture]),
        "DepthwiseConv1D": (lambda a: l.DepthwiseConv1D(2, activity_regularizer=a, **by_channel), [x]),
        "DepthwiseConv2D": (lambda a: l.DepthwiseConv2D(2, activity_regularizer=a, **by_channel), [picture]),
        "SeparableConv1D": (lambda a: l.SeparableConv1D(2, 2, activity_regularizer=a, **both), [x]),
        "SeparableConv2D": (lambda a: l.SeparableConv2D(2, 2, activity_regularizer=a, **both), [picture]),
        "Conv1DTranspose": (lambda a: l.Conv1DTranspose(2, 2, activity_regularizer=a, **ones), [x]),
        "Conv2DTranspose": (lambda a: l.Conv2DTranspose(2, 2, activity_regularizer=a, **ones), [picture]),
        "LSTM": (lambda a: l.LSTM(2, activity_regularizer=a, **recurrent), [x]),
        "GRU": (lambda a: l.GRU(2, activity_regularizer=a, **recurrent), [x]),
        "SimpleRNN": (lambda a: l.SimpleRNN(2, activity_regularizer=a, **recurrent), [x]),
        "Bidirectional": (lambda a: l.Bidirectional(l.LSTM(2, activity_regularizer=a, **recurrent)), [x]),
        "TimeDistributed": (lambda a: l.TimeDistributed(l.Dense(2, activity_regularizer=a, **ones)), [x]),
        "MultiHeadAttention": (lambda a: l.MultiHeadAttention(2, 3, activity_regularizer=a, **ones), [x, x]),
        "ActivityRegularization": (lambda a: l.ActivityRegularization(.1, .2), [x]),
    }

    def run(name, **more):
        layer = layers[name][0](k.regularizers.L2(.1))
        layer(*layers[name][1], **more)
        return [float(v) for v in layer.losses], str(layer.get_config().get("activity_regularizer"))
    for name in layers:
        out["activity of " + name] = lambda name=name: run(name)
    out["activity of scores"] = lambda: run("MultiHeadAttention", return_attention_scores=True)

    def fitted():
        i = k.Input((3, 4))
        m = k.Model(i, layers["MultiHeadAttention"][0](k.regularizers.L2(.1))(i, i))
        m.compile("sgd", "mse")
        return m.evaluate(x, x, verbose=0), len(m.losses)
    out["activity of MultiHeadAttention in a model"] = fitted


def outputs_of_one_layer(tf, out):
    """A layer that gives several outputs of a model: each has a name, a loss and metrics of its own."""
    k = tf.keras
    x = np.linspace(-1, 1, 24).reshape(2, 3, 4).astype(np.float32)
    y = [np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 2.)]

    def model(**settings):
        i = k.Input((3, 4))
        states = k.layers.LSTM(2, return_state=True, kernel_initializer="ones", recurrent_initializer="ones", name="l")(i)
        m = k.Model(i, states)
        m.compile("sgd", "mse", **settings)
        return m
    ways = {"evaluate": lambda m: (m.evaluate(x, y, verbose=0), m.metrics_names), "dict": lambda m: m.evaluate(x, y, verbose=0, return_dict=True),
            "fit": lambda m: m.fit(x, y, verbose=0).history, "batch": lambda m: m.train_on_batch(x, y), "names": lambda m: m.output_names}
    for said, settings in {"loss": {}, "metric": {"metrics": ["mae"]}, "weights": {"loss_weights": [1., 2., 3.]}}.items():
        for way, run in ways.items():
            out["outputs of one layer, %s, %s" % (said, way)] = lambda run=run, settings=settings: run(model(**settings))

    def shared():
        a, b = k.Input((3,)), k.Input((3,))
        layer = k.layers.Dense(1, name="d")
        other = k.layers.Dense(1, name="d_1")
        return k.Model([a, b], [layer(a), layer(b), other(a), layer(other(b)[:, :1] * tf.ones([1, 3]))]).output_names
    out["names that are taken"] = shared


def cases(tf):
    out = {}
    for part in (without_loss, own_losses, penalties, activities, outputs_of_one_layer):
        part(tf, out)
    return out
