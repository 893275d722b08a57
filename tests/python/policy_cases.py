"""Mixed precision: every kind of layer under every policy (values, dtypes, gradients, configs), policies, and optimizers that scale losses."""
import numpy as np

POLICIES = ["mixed_float16", "mixed_bfloat16", "float64", "float16"]


def layers(k):
    images, steps, rows = (2, 6, 6, 3), (2, 4, 3), (3, 4)
    return {
        "Dense": (lambda **p: k.Dense(3, activation="tanh", **p), rows), "Conv1D": (lambda **p: k.Conv1D(2, 2, **p), steps),
        "Conv2D": (lambda **p: k.Conv2D(2, 3, padding="same", **p), images), "DepthwiseConv2D": (lambda **p: k.DepthwiseConv2D(3, **p), images),
        "SeparableConv2D": (lambda **p: k.SeparableConv2D(2, 3, **p), images), "Conv2DTranspose": (lambda **p: k.Conv2DTranspose(2, 3, **p), images),
        "BatchNormalization": (lambda **p: k.BatchNormalization(**p), images), "BatchNormalization rows": (lambda **p: k.BatchNormalization(**p), rows),
        "LayerNormalization": (lambda **p: k.LayerNormalization(**p), rows), "LSTM": (lambda **p: k.LSTM(3, return_sequences=True, **p), steps),
        "GRU": (lambda **p: k.GRU(3, **p), steps), "SimpleRNN": (lambda **p: k.SimpleRNN(3, **p), steps),
        "LSTM both ways": (lambda **p: k.Bidirectional(k.LSTM(2, **p), **p), steps), "TimeDistributed": (lambda **p: k.TimeDistributed(k.Dense(2, **p), **p), steps),
        "RNN of cells": (lambda **p: k.RNN([k.LSTMCell(3, **p), k.GRUCell(2, **p)], **p), steps),
        "EinsumDense": (lambda **p: k.EinsumDense("ab,bc->ac", 3, bias_axes="c", **p), rows), "PReLU": (lambda **p: k.PReLU("ones", **p), rows),
        "ReLU": (lambda **p: k.ReLU(**p), rows), "Softmax": (lambda **p: k.Softmax(**p), rows), "LeakyReLU": (lambda **p: k.LeakyReLU(**p), rows),
        "MaxPooling2D": (lambda **p: k.MaxPooling2D(2, **p), images), "AveragePooling2D": (lambda **p: k.AveragePooling2D(2, **p), images),
        "GlobalAveragePooling2D": (lambda **p: k.GlobalAveragePooling2D(**p), images), "Flatten": (lambda **p: k.Flatten(**p), images),
        "Activation": (lambda **p: k.Activation("gelu", **p), rows), "Rescaling": (lambda **p: k.Rescaling(.5, .1, **p), rows),
        "ZeroPadding2D": (lambda **p: k.ZeroPadding2D(1, **p), images), "UpSampling2D": (lambda **p: k.UpSampling2D(2, **p), images),
    }


def numbers(shape, scale=1.):
    count = int(np.prod(shape))
    return (scale * np.sin(1.7 * np.arange(count) + .3)).reshape(shape).astype(np.float32)


def numbered(layer):
    layer.set_weights([numbers(w.shape, .5) + (1 if "variance" in v.name else 0) for w, v in zip(layer.get_weights(), layer.weights)])


def run_layer(tf, make, shape, policy, traced, training):
    layer, x = make(dtype=policy), tf.constant(numbers(shape))
    layer(x)
    numbered(layer)
    call = tf.function(layer) if traced else layer
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x, training=True) if training else call(x)
        loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
    found = tape.gradient(loss, [x] + layer.trainable_weights)
    return [y.dtype.name, y, [g.dtype.name for g in found], [tf.cast(g, tf.float32) for g in found], [w.dtype.name for w in layer.weights], layer.dtype,
            layer.compute_dtype, layer.variable_dtype, layer.dtype_policy.name, layer.get_config()["dtype"]]


def network(tf, last="float32"):
    k = tf.keras.layers
    model = tf.keras.Sequential([k.Dense(4, activation="relu", input_shape=(3,)), k.Dense(2, dtype=last)])
    numbered(model)
    return model


def fitted(tf, policy, optimizer, **more):
    tf.keras.mixed_precision.set_global_policy(policy)
    try:
        model = network(tf, more.pop("last", "float32"))
        model.compile(optimizer() if callable(optimizer) else optimizer, "mse", metrics=["mae"], **more)
        history = model.fit(numbers((16, 3)), numbers((16, 2), .7), batch_size=4, epochs=3, shuffle=False, verbose=0).history
        return [history, type(model.optimizer).__name__, model.get_weights(), model(numbers((2, 3))).dtype.name, model.optimizer.iterations,
                model.dtype_policy.name, model.evaluate(numbers((4, 3)), numbers((4, 2)), verbose=0)]
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


def steps(tf, gradients, traced=False, **settings):
    """Losses' scales, counters and the variable after each step."""
    variable = tf.Variable([1., 2.])
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(.5, momentum=.5), **settings)
    apply = lambda g: optimizer.apply_gradients([(g, variable)])
    if traced:
        optimizer.build([variable])
        apply = tf.function(lambda g: [optimizer.apply_gradients([(g, variable)]), tf.constant(0)][1])
    optimizer.get_scaled_loss(tf.constant(1.))
    out = []
    for gradient in gradients:
        optimizer.get_unscaled_gradients([tf.constant([1.])])
        apply(tf.constant(gradient))
        counter = optimizer.dynamic_counter
        out.append([variable.numpy(), optimizer.loss_scale, None if counter is None else counter.numpy(), optimizer.iterations.numpy()])
    return out


def cases(tf):
    k, mp, out = tf.keras, tf.keras.mixed_precision, {}
    for name, (make, shape) in layers(k.layers).items():
        for policy in POLICIES:
            for traced, training in ((False, False), (True, True)):
                words = "%s %s%s" % (name, policy, " traced" if traced else "")
                out[words] = lambda a=(make, shape, policy, traced, training): run_layer(tf, *a)
    for name in ["mixed_float16", "mixed_bfloat16", "float32", "float16", "int32", "string", "mixed_float32", "infer", 3, None, tf.float64]:
        def described(name=name):
            policy = mp.Policy(name)
            return [policy.name, policy.compute_dtype, policy.variable_dtype, policy.get_config(), repr(policy), mp.Policy.from_config(policy.get_config()).name]
        out["Policy %s" % (name.name if name is tf.float64 else name)] = described

    def held(policy):
        try:
            mp.set_global_policy(policy)
            layer = k.layers.Dense(2)
            inputs = k.Input((3,))
            metric = k.metrics.Mean()
            return [mp.global_policy().name, layer.dtype_policy.name, inputs.dtype.name, metric.dtype, layer(inputs).dtype.name,
                    k.layers.Dense(2, dtype="float64").compute_dtype, k.layers.Dense(2, dtype=mp.Policy("mixed_bfloat16")).compute_dtype,
                    k.layers.deserialize(k.layers.serialize(layer)).dtype_policy.name]
        finally:
            mp.set_global_policy("float32")
    for policy in ["mixed_float16", "mixed_bfloat16", "float64", "float16", None, "int32", 3, "float8"]:
        out["global policy %s" % policy] = lambda policy=policy: held(policy)
    out["global policy object float16"] = lambda: held(mp.Policy("mixed_float16"))

    def embedded(policy):
        layer = k.layers.Embedding(4, 3, dtype=policy)
        layer(tf.constant([[0]]))
        numbered(layer)
        with tf.GradientTape() as tape:
            y = layer(tf.constant([[1, 2, 1]]))
            loss = tf.reduce_sum(tf.cast(y, tf.float32) ** 2)
        gradient = tape.gradient(loss, layer.embeddings)
        return [y.dtype.name, y, gradient.dtype.name, tf.convert_to_tensor(gradient)]
    for policy in POLICIES:
        out["Embedding " + policy] = lambda policy=policy: embedded(policy)

    def attended(policy):
        layer, x = k.layers.MultiHeadAttention(2, 3, dtype=policy), tf.constant(numbers((2, 4, 5)))
        layer(x, x)
        numbered(layer)
        y = layer(x, x, attention_mask=tf.linalg.band_part(tf.ones((1, 4, 4), tf.bool), -1, 0))
        return [y.dtype.name, y]
    for policy in POLICIES:
        out["MultiHeadAttention " + policy] = lambda policy=policy: attended(policy)

    def kept(name, policy, traced):
        layer, x = getattr(k.layers, name)(3, stateful=True, dtype=policy), tf.constant(numbers((2, 4, 3)))
        layer.build((2, 4, 3))
        numbered(layer)
        call = tf.function(layer) if traced else layer
        first, second = call(x), call(x)
        layer.reset_states()
        return [first, second, call(x), [state.dtype.name for state in layer.states]]
    for name in ("LSTM", "GRU", "SimpleRNN"):
        for policy in ("mixed_float16", "mixed_bfloat16"):
            for traced in (False, True):
                out["stateful %s %s%s" % (name, policy, " traced" if traced else "")] = lambda a=(name, policy, traced): kept(*a)

    class Own(k.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", (shape[-1], 2), initializer="ones")
            self.count = self.add_weight("count", (), dtype="int32", initializer="zeros", trainable=False)
            self.other = tf.Variable(1.)

        def call(self, x):
            self.seen = [x.dtype.name, self.w.dtype.name, tf.convert_to_tensor(self.w).dtype.name, self.w.value().dtype.name, self.w.read_value().dtype.name,
                         (self.w * 2).dtype.name, self.w[0].dtype.name, tf.gather(self.w, [0]).dtype.name, self.count.value().dtype.name,
                         tf.convert_to_tensor(self.other).dtype.name]
            return tf.matmul(x, self.w)

    def own(policy, traced):
        layer = Own(dtype=policy)
        y = (tf.function(layer) if traced else layer)(numbers((2, 3)))
        return [layer.seen, y, y.dtype.name, layer.w.dtype.name, tf.convert_to_tensor(layer.w).dtype.name, layer.w.numpy().dtype.name]
    for policy in POLICIES:
        out["own layer " + policy] = lambda policy=policy: own(policy, False)
        out["own layer traced " + policy] = lambda policy=policy: own(policy, True)

    class Around(k.layers.Layer):
        def __init__(self, **more):
            super().__init__(**more)
            self.inner, self.plain = k.layers.Dense(2, dtype="mixed_float16", kernel_initializer="ones"), k.layers.Dense(2, dtype="float32", kernel_initializer="ones")

        def build(self, shape):
            self.w = self.add_weight("w", (), initializer="ones")

        def call(self, x):
            return [self.inner(x) * tf.cast(self.w, tf.float16), self.plain(x), tf.convert_to_tensor(self.w)]
    for policy in ("float32", "mixed_float16", "mixed_bfloat16"):
        out["layers inside " + policy] = lambda policy=policy: [[y.dtype.name, tf.cast(y, tf.float32)] for y in Around(dtype=policy)(numbers((1, 3)))]

    inf, nan = float("inf"), float("nan")
    for traced in (False, True):
        words = " traced" if traced else ""
        out["steps" + words] = lambda traced=traced: steps(tf, [[1., 1.], [inf, 1.], [.5, 1.], [1., nan], [1., 1.], [2., 1.]], traced)
        out["steps that grow" + words] = lambda traced=traced: steps(tf, [[1., 1.]] * 5 + [[nan, 1.]] * 6, traced, initial_scale=4., dynamic_growth_steps=2)
        out["fixed scale" + words] = lambda traced=traced: steps(tf, [[1., 1.], [2., 1.]], traced, dynamic=False, initial_scale=8.)
    sgd = k.optimizers.SGD
    for name, make in {"two": lambda: mp.LossScaleOptimizer(mp.LossScaleOptimizer(sgd())), "none": lambda: mp.LossScaleOptimizer(3),
                       "fixed": lambda: mp.LossScaleOptimizer(sgd(), dynamic=False), "both": lambda: mp.LossScaleOptimizer(sgd(), False, 2., 3),
                       "plain": lambda: mp.LossScaleOptimizer(k.optimizers.Adam(.5), True, 64., 7)}.items():
        def told(make=make):
            o = make()
            o.learning_rate = .25
            config = o.get_config()
            again = k.optimizers.deserialize(k.optimizers.serialize(o))
            return [o.initial_scale, o.dynamic, o.dynamic_growth_steps, o.inner_optimizer.learning_rate, o.learning_rate, config["dynamic"], config["initial_scale"],
                    config["dynamic_growth_steps"], config["inner_optimizer"]["class_name"], again.initial_scale, type(again.inner_optimizer).__name__,
                    k.optimizers.serialize(o)["class_name"]]
        out["LossScaleOptimizer " + name] = told

    def scaled(dtype):
        o = mp.LossScaleOptimizer(sgd(.5), initial_scale=16.)
        with tf.GradientTape() as tape:
            v = tf.Variable(numbers((3,)), dtype=tf.float32)
            tape.watch(v)
            loss = tf.cast(tf.reduce_sum(v ** 2), dtype)
            larger = o.get_scaled_loss(loss)
        gradient = tape.gradient(larger, v)
        return [larger, larger.dtype.name, gradient, o.get_unscaled_gradients([gradient, None]), o.get_scaled_loss(lambda: tf.constant(2.))()]
    for dtype in ("float32", "float16", "bfloat16", "float64"):
        out["scaled loss " + dtype] = lambda dtype=dtype: scaled(dtype)

    def minimized(traced):
        v = tf.Variable([2., -1.])
        o = mp.LossScaleOptimizer(sgd(.125))
        o.build([v])
        step = lambda: [o.minimize(lambda: tf.reduce_sum(v * v), [v]), tf.constant(0)][1]
        step = tf.function(step) if traced else step
        for _ in range(3):
            step()
        return [v.numpy(), o.loss_scale, o.iterations.numpy()]
    out["minimize"] = lambda: minimized(False)
    out["minimize traced"] = lambda: minimized(True)
    for policy in POLICIES:
        for optimizer in ("sgd", "adam", "rmsprop"):
            out["fit %s %s" % (policy, optimizer)] = lambda a=(policy, optimizer): fitted(tf, *a)
        out["fit eagerly " + policy] = lambda policy=policy: fitted(tf, policy, "sgd", run_eagerly=True)
        out["fit all of it " + policy] = lambda policy=policy: fitted(tf, policy, "sgd", last=None)
    out["fit large mixed_float16"] = lambda: fitted(tf, "mixed_float16", lambda: mp.LossScaleOptimizer(sgd(.1), initial_scale=2. ** 40))
    out["fit wrapped mixed_bfloat16"] = lambda: fitted(tf, "mixed_bfloat16", lambda: mp.LossScaleOptimizer(sgd(.1)))
    return out
