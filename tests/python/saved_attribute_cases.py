"""Models with more than layers on them, and layers of several arguments, for tests/golden/saved_attributes.py (TensorFlow) and test_saved_attributes.py."""
import numpy as np

X, V = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 2), np.float32)
HUNG = ("functional", "sequential")
CALLS = {  # how the layer is called with u and v: arguments, arguments by name
    "list": lambda u, v: (([u, v],), {}), "tuple": lambda u, v: (((u, v),), {}), "dict": lambda u, v: (({"u": u, "v": v},), {}),
    "keyword": lambda u, v: ((u,), {"b": v}), "both": lambda u, v: ((u, v), {}), "number": lambda u, v: ((u,), {"b": v, "scale": 3.})}


def hung(tf, kind):
    """Functions, tables and a variable as attributes."""
    k = tf.keras
    if kind == "functional":
        x = k.Input((3,))
        model = k.Model(x, k.layers.Dense(2, kernel_initializer="ones")(x))
    else:
        model = k.Sequential([k.layers.Dense(2, kernel_initializer="ones", input_shape=(3,))])
    model.plus = tf.function(lambda x: model(x) + 1, input_signature=[tf.TensorSpec([None, 3])])
    model.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    model.look = tf.function(lambda x: model.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
    model.number = tf.Variable(5.)
    model.times = tf.function(lambda x: x * model.number, input_signature=[tf.TensorSpec([])])
    model.inner = tf.Module()
    model.inner.half = tf.function(lambda x: model(x) / 2, input_signature=[tf.TensorSpec([None, 3])])
    return model


def several(tf, kind):
    k = tf.keras

    class Several(k.layers.Layer):
        def __init__(self, **more):
            super().__init__(**more)
            self.dense = k.layers.Dense(2, kernel_initializer="ones")

        def call(self, a, b=None, scale=2.):
            if isinstance(a, dict):
                return self.dense(a["u"]) - a["v"]
            if isinstance(a, (list, tuple)):
                return self.dense(a[0]) - a[1]
            return self.dense(a) * scale - (0 if b is None else b)

    u, v = k.Input((3,), name="u"), k.Input((2,), name="v")
    arguments, named = CALLS[kind](u, v)
    return k.Model([u, v], Several(name="several")(*arguments, **named))
