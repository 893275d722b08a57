"""Layers whose state comes from data: Normalization and subclasses of PreprocessingLayer."""
import os
import tempfile

import numpy as np

X = (np.sin(np.arange(120) * 1.7) * 3).reshape(40, 3).astype(np.float32)
IMAGE = (np.cos(np.arange(96) * 0.7) * 2).reshape(2, 4, 4, 3).astype(np.float32)


def cases(tf):
    out = {}
    k = tf.keras

    def state(layer):
        return [w.numpy() for w in layer.weights] + [layer.is_adapted]

    def adapted(data, make=dict, x=None, **kwargs):
        def run():
            layer = k.layers.Normalization(**make())
            layer.adapt(data(), **kwargs)
            result = [state(layer), [w.name.split("/")[-1] for w in layer.weights], layer.mean, layer.variance]
            if x is not None:
                result += [layer(x), tf.function(layer)(x)]
            return result
        return run

    # ---- data ----
    sources = {"array": lambda: X, "float64 array": lambda: X.astype(np.float64), "integers": lambda: (X * 10).astype(np.int64), "tensor": lambda: tf.constant(X),
               "list": lambda: X.tolist(), "dataset": lambda: tf.data.Dataset.from_tensor_slices(X).batch(7), "bool": lambda: X > 0,
               "dataset of rows": lambda: tf.data.Dataset.from_tensor_slices(X), "half": lambda: tf.cast(X, tf.float16),
               "dataset mapped": lambda: tf.data.Dataset.from_tensor_slices((X, X)).batch(8).map(lambda x, y: x - y * 2)}
    for name, data in sources.items():
        out["adapt " + name] = adapted(data, lambda: dict(axis=None) if name == "dataset of rows" else {}, X[:4])
    for name, kwargs in {"batch_size": dict(batch_size=6), "steps": dict(steps=3), "both": dict(batch_size=4, steps=2), "one": dict(batch_size=1),
                         "too many": dict(batch_size=30, steps=9)}.items():
        out["adapt array, " + name] = adapted(lambda: X, x=X[:2], **kwargs)
        out["adapt dataset, " + name] = adapted(lambda: tf.data.Dataset.from_tensor_slices(X).batch(16), x=X[:2], **kwargs)
    out["adapt endless with steps"] = adapted(lambda: tf.data.Dataset.from_tensor_slices(X).batch(16).repeat(), steps=4)
    errors = {"endless": (lambda: tf.data.Dataset.range(3).repeat(), dict(axis=None)), "texts": (lambda: ["a", "b"], dict(axis=None)),
              "ragged": (lambda: tf.ragged.constant([[1.], [2., 3.]]), dict(axis=None)), "nothing": (lambda: np.zeros((0, 3)), {}),
              "pairs": (lambda: tf.data.Dataset.from_tensor_slices((X, X)).batch(4), {}), "several": (lambda: [X, X], {}),
              "given": (lambda: X, dict(mean=1., variance=1.)), "axis 2": (lambda: X, dict(axis=2)), "axis -3": (lambda: X, dict(axis=-3)),
              "unknown axis": (lambda: tf.data.Dataset.from_tensor_slices(X).batch(16), dict(axis=0))}
    for name, (data, make) in errors.items():
        out["error adapt " + name] = adapted(data, lambda make=make: make)

    # ---- axes and dtypes ----
    for axis in (None, -1, 0, 1, 2, 3, (1, 2), (-1, 1), [3], (), (1, 2, 3), (2, 1)):
        for invert in (False, True):
            out["axis %s %s" % (axis, invert)] = adapted(lambda: tf.data.Dataset.from_tensors(IMAGE).repeat(2), lambda a=axis, i=invert: dict(axis=a, invert=i), IMAGE)
    for dtype in ("float16", "float64", "bfloat16"):
        out["dtype " + dtype] = adapted(lambda: X, lambda d=dtype: dict(dtype=d), X[:3])
    out["one axis, all kept"] = adapted(lambda: tf.data.Dataset.from_tensors([1., 2., 4.]).repeat(3), x=[1., 2., 3.])

    # ---- numbers that are given ----
    def given(x=X[:3], **kwargs):
        def run():
            layer = k.layers.Normalization(**kwargs)
            made = layer(x)
            config = layer.get_config()
            return [made, layer.mean, len(layer.weights), {key: np.asarray(config[key]) for key in ("axis", "mean", "variance", "invert") if config[key] is not None}]
        return run
    out["given numbers"] = given(mean=1., variance=4.)
    out["given integers"] = given(mean=1, variance=4)
    out["given lists"] = given(mean=[1., 2., 3.], variance=[4., 5., 6.])
    out["given arrays"] = given(mean=np.array([1., 2., 3.]), variance=np.array(2.))
    out["given tensors"] = given(mean=tf.constant([1., 2., 3.]), variance=tf.constant(2))
    out["given none of both"] = given()
    out["given zero variance"] = given(mean=0., variance=0.)
    out["given inverted"] = given(mean=2., variance=9., invert=True)
    out["given integers in"] = given(x=np.array([[1, 2], [3, 4]]), mean=2., variance=9.)
    out["given axis none"] = given(mean=2., variance=9., axis=None)
    out["error given one"] = given(mean=1.)
    out["error given other"] = given(variance=1.)
    out["error given variable"] = lambda: k.layers.Normalization(mean=tf.Variable(1.), variance=1.)
    out["error given of another size"] = given(mean=[1., 2.], variance=[1., 2.])

    # ---- steps of a state ----
    def by_hand():
        layer = k.layers.Normalization()
        layer.build((None, 3))
        results = [state(layer)]
        layer.update_state(X[:8])
        results += [state(layer), layer(X[:2])]
        layer.finalize_state()
        results += [layer(X[:2])]
        layer.update_state(X[8:])
        layer.finalize_state()
        results += [state(layer), layer(X[:2])]
        layer.reset_state()
        results += [state(layer), layer(X[:2])]
        layer.set_weights([np.ones(3), np.ones(3) * 4, 5])
        return results + [layer(X[:2])]
    out["state by hand"] = by_hand

    def again():
        layer = k.layers.Normalization()
        layer.adapt(X)
        first = layer(X[:2])
        layer.adapt(X * 2 + 1)
        second = [layer(X[:2]), state(layer)]
        layer.reset_state()
        return [first, second, state(layer)]
    out["adapt again"] = again

    def traced_keeps():
        layer = k.layers.Normalization()
        layer.adapt(X)
        call = tf.function(layer)
        first = call(tf.constant(X[:2]))
        layer.adapt(X * 3)
        return [first, call(tf.constant(X[:2])), tf.function(layer)(tf.constant(X[:2]))]
    out["a traced call keeps the state"] = traced_keeps
    out["error update unbuilt"] = lambda: k.layers.Normalization().update_state(X)

    def inside():
        layer = k.layers.Normalization()
        tf.function(lambda x: layer.adapt(x))(tf.constant(X))
    out["error adapt in a function"] = inside

    def gradient():
        layer, x = k.layers.Normalization(), tf.constant(X[:3])
        layer.adapt(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(y, x)
    out["gradient"] = gradient

    # ---- in models, datasets and files ----
    def model():
        layer = k.layers.Normalization(name="n")
        layer.adapt(X)
        inputs = k.Input((3,), name="x")
        return k.Model(inputs, k.layers.Dense(2, kernel_initializer="ones", name="d")(layer(inputs)))

    def fitted():
        m = k.Sequential([k.layers.Normalization(), k.layers.Dense(1, kernel_initializer="ones")])
        m.layers[0].adapt(X)
        m.compile("sgd", "mse")
        history = m.fit(X, X[:, :1], epochs=2, verbose=0, shuffle=False)
        return [history.history["loss"], m.predict(X[:3], verbose=0), [w.shape for w in m.trainable_weights]]
    out["fit"] = fitted

    def mapped():
        layer = k.layers.Normalization()
        layer.adapt(X)
        return [x.numpy() for x in tf.data.Dataset.from_tensor_slices(X[:8]).batch(4).map(layer)]
    out["in a dataset"] = mapped

    def saved(ending):
        def run():
            m = model()
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model" + ending)
                m.save(path)
                other = k.models.load_model(path)
            return [other(X[:3]), state(other.get_layer("n")), other.get_layer("n").mean]
        return run
    for ending in (".keras", ".h5", ""):
        out["saved " + (ending or "SavedModel")] = saved(ending)

    def weights(ending):
        def run():
            m = model()
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "w" + ending)
                m.save_weights(path)
                other = k.models.clone_model(m)
                other.load_weights(path)
            return [other(X[:3]), state(other.get_layer("n"))]
        return run
    for ending in (".weights.h5", ".h5", ""):
        out["weights " + (ending or "checkpoint")] = weights(ending)

    # ---- subclasses ----
    class Sum(k.layers.experimental.preprocessing.PreprocessingLayer):
        def build(self, input_shape):
            self.total = self.add_weight(name="total", shape=(), initializer="zeros", trainable=False)
            self.seen = []

        def update_state(self, data):
            self.total.assign_add(tf.reduce_sum(tf.cast(data, tf.float32)))

        def reset_state(self):
            self.total.assign(0.)

        def finalize_state(self):
            self.seen.append(len(self.seen))

        def call(self, x):
            return x + self.total

    def own():
        layer = Sum()
        layer.adapt(np.arange(40.))
        first = [layer(1.), layer.is_adapted]
        layer.adapt(tf.data.Dataset.range(5).batch(2))
        return [first, layer(1.), list(layer.seen), state(layer)]
    out["subclass"] = own

    class Centred(k.layers.Normalization):
        def call(self, x):
            return super().call(x) + 1

    def centred():
        layer = Centred()
        layer.adapt(X)
        return layer(X[:2])
    out["subclass of Normalization"] = centred
    out["error base"] = lambda: k.layers.experimental.preprocessing.PreprocessingLayer().adapt(X)
    out["aliases"] = lambda: k.layers.experimental.preprocessing.Normalization is k.layers.Normalization
    return out
