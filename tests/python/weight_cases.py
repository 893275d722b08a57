"""Whose variables count: metrics and layers that are attributes of layers, models, Sequentials and metrics."""
import numpy as np

X = np.ones((2, 3), np.float32)


def cases(tf):
    out = {}
    k = tf.keras
    x = X

    class Own(k.layers.Layer):
        def __init__(self, kind):
            super().__init__(name=kind)
            self.d = k.layers.Dense(1, name="d")
            if kind == "attribute":
                self.m = k.metrics.Mean(name="m")
            elif kind == "list":
                self.m = [k.metrics.Mean(name="m")]
            elif kind == "dict":
                self.m = {"a": k.metrics.Mean(name="m")}

        def call(self, x):
            if self.name == "added":
                self.add_metric(x, name="mean")
            return self.d(x)

    class Around(k.Model):
        def __init__(self, kind):
            super().__init__(name="around")
            self.inner = Own(kind)

        def call(self, x):
            return self.inner(x)

    class Plain(k.Model):
        def __init__(self):
            super().__init__(name="plain")
            self.d, self.m, self.q = k.layers.Dense(1, name="d"), k.metrics.Mean(name="m"), {"q": k.metrics.Mean(name="q")}

        def call(self, x):
            return self.d(x)

    class Functional(k.Model):
        def __init__(self):
            i = k.Input((3,))
            super().__init__(i, k.layers.Dense(1, name="d")(i), name="functional")
            self.m, self.q, self.e = k.metrics.Mean(name="m"), [k.metrics.Mean(name="q")], k.layers.Dense(2, name="e")
            self.e(x)

    class Row(k.Sequential):
        def __init__(self, *layers):
            super().__init__(list(layers), name="row")
            self.v, self.vs = tf.Variable(1., name="v"), [tf.Variable(2., name="w")]
            self.m, self.q, self.e = k.metrics.Mean(name="m"), [k.metrics.Mean(name="q")], k.layers.Dense(2, name="e")
            self.e(x)

    class Nested(k.metrics.Metric):
        def __init__(self):
            super().__init__(name="nested")
            self.inner, self.v = k.metrics.Mean(name="inner"), self.add_weight("v")

        def update_state(self, values):
            self.inner.update_state(values)

        def result(self):
            return self.inner.result()

    def called(model):
        model(x)
        return model

    def frozen(model):
        model.trainable = False
        return model

    def within(layer):
        i = k.Input((3,))
        return k.Model(i, layer(i))
    made = {"plain": lambda: called(Plain()), "functional": Functional, "metric": Nested, "row": lambda: called(Row(k.layers.Dense(1, name="d"))),
            "row of known shape": lambda: Row(k.Input((3,)), k.layers.Dense(1, name="d")), "row within": lambda: within(Row(k.layers.Dense(1, name="d"))),
            "frozen row": lambda: frozen(Row(k.Input((3,)), k.layers.Dense(1, name="d"))), "frozen model": lambda: frozen(called(Plain())),
            "row of models": lambda: called(k.Sequential([Own("attribute"), Plain()]))}
    for kind in ("attribute", "list", "dict", "added"):
        made["layer, " + kind] = lambda kind=kind: called(Own(kind))
        made["layer in a model, " + kind] = lambda kind=kind: within(Own(kind))
        made["layer around, " + kind] = lambda kind=kind: called(Around(kind))
        made["frozen layer, " + kind] = lambda kind=kind: frozen(called(Own(kind)))

    def names(make):
        model = make()
        return [[w.name for w in part] for part in (model.weights, model.trainable_variables, model.non_trainable_variables, model.variables)]
    for name, make in made.items():
        out[name] = lambda make=make: names(make)
    return out
