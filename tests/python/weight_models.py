"""Models whose attributes lead to layers and metrics in several ways: what files of weights call them depends on the ways' names and order."""
import numpy as np

X = np.linspace(-1, 1, 6).reshape(2, 3).astype(np.float32)


def models(tf):
    """{name: function that gives a model with its weights made}"""
    k = tf.keras

    class Own(k.layers.Layer):
        def __init__(self, **named):
            super().__init__(**named)
            self.d, self.m = k.layers.Dense(2), k.metrics.Mean(name="m")
            self.v = self.add_weight("v", shape=[3], initializer="ones")

        def call(self, x):
            self.m.update_state(x)
            return self.d(x) + self.v[0]

    class Around(k.Model):
        """`before` and `zuletzt` stand on either side of "layers" in the alphabet."""
        def __init__(self):
            super().__init__()
            self.before, self.zuletzt, self.mm = Own(), k.layers.Dense(2), k.metrics.Mean(name="mm")

        def call(self, x):
            self.mm.update_state(x)
            return self.zuletzt(self.before(x))

    class Shared(k.Model):
        """One layer is in two lists."""
        def __init__(self):
            super().__init__()
            first, second, third = (k.layers.Dense(3) for _ in range(3))
            self.all_of_them, self.some = [first, second, third], [second]

        def call(self, x):
            for layer in self.all_of_them:
                x = layer(x)
            return x

    class Dicts(k.Model):
        def __init__(self):
            super().__init__()
            self.parts = {"b": k.layers.Dense(3), "a": k.layers.Dense(3, use_bias=False)}
            self.a_list = [k.layers.LayerNormalization(), k.metrics.Mean(name="q")]

        def call(self, x):
            self.a_list[1].update_state(x)
            return self.a_list[0](self.parts["b"](self.parts["a"](x)))

    class Row(k.Sequential):
        def __init__(self, layers):
            super().__init__(layers)
            self.mm, self.extra, self.unused = k.metrics.Mean(name="mm"), tf.Variable(5.), k.layers.Dense(1)

    def called(model):
        model(X)
        return model

    def functional():
        i = k.Input((3,))
        return k.Model(i, Own(name="l")(i))

    def trained(model):
        model.compile("adam", "mse", metrics=["mae"])
        model.fit(X, np.zeros_like(model(X)), verbose=0)
        return model
    return {"around": lambda: called(Around()), "shared": lambda: called(Shared()), "dicts": lambda: called(Dicts()),
            "row": lambda: called(Row([k.layers.Dense(2), k.layers.Dense(2)])), "functional": functional,
            "inside": lambda: called(k.Sequential([Around(), k.layers.Dense(2)])), "trained": lambda: trained(Around())}


def numbered(model):
    """Every weight has its number."""
    model.set_weights([np.full(w.shape, i + 1.) for i, w in enumerate(model.get_weights())])
    return model
