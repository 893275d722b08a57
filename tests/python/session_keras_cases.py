"""Keras in sessions: models of every kind on placeholders whose batch, or more, is not known; losses, metrics and v1's optimizers with them."""
import numpy as np

X = ((np.arange(6 * 16, dtype=np.float32) * 7 % 11) / 11).reshape(6, 4, 4, 1)
Y = np.array([0, 2, 1, 1, 0, 2])
WORDS = np.array([[1, 2, 0], [3, 1, 2], [2, 0, 0], [1, 1, 1], [3, 3, 0], [2, 1, 3]])


def table(shape):
    return (np.arange(int(np.prod(shape)), dtype=np.float32) * 5 % 13 / 13 - .4).reshape(shape)


class Fixed:
    """Values that no seed decides."""

    def __new__(cls, tf):
        class Initializer(tf.keras.initializers.Initializer):
            def __call__(self, shape, dtype=None, **more):
                return tf.constant(table([int(n) for n in shape]), dtype or tf.float32)
        return Initializer()


def layers_of(tf, network, first=None):
    k, fixed = tf.keras.layers, Fixed(tf)
    first = {"input_shape": first} if first else {}
    dense = lambda n, **more: k.Dense(n, kernel_initializer=fixed, **more)
    if network == "mlp":
        return [k.Flatten(**first), dense(5, activation="relu"), dense(3, activation="softmax")]
    if network == "cnn":
        return [k.Conv2D(2, 3, padding="same", activation="relu", kernel_initializer=fixed, **first), k.MaxPool2D(), k.BatchNormalization(),
                k.Reshape((8,)), k.Dropout(0.), dense(3, activation="softmax")]
    if network == "rows":
        return [k.Reshape((4, 4), **first), k.Conv1D(3, 2, kernel_initializer=fixed), k.GlobalAveragePooling1D(), k.LayerNormalization(),
                dense(3, activation="softmax")]
    if network == "recurrent":
        return [k.Reshape((4, 4), **first), k.LSTM(3, kernel_initializer=fixed, recurrent_initializer=fixed), dense(3, activation="softmax")]
    if network == "masked":
        return [k.Embedding(4, 3, mask_zero=True, embeddings_initializer=fixed, **({"input_shape": (3,)} if first else {})),
                k.GRU(3, kernel_initializer=fixed, recurrent_initializer=fixed), dense(3, activation="softmax")]
    raise KeyError(network)


NETWORKS = ("mlp", "cnn", "rows", "recurrent", "masked")


def model_of(tf, network, way):
    k = tf.keras
    shape = (3,) if network == "masked" else (4, 4, 1)
    if way == "sequential":
        return k.Sequential(layers_of(tf, network, shape))
    if way == "deferred":
        return k.Sequential(layers_of(tf, network))
    if way == "added":
        model = k.Sequential()
        model.add(k.Input(shape))
        for layer in layers_of(tf, network):
            model.add(layer)
        return model
    if way == "functional" or way == "nested":
        x = y = k.Input(shape)
        if way == "nested":
            parts = layers_of(tf, network)
            return k.Model(x, parts[-1](k.Sequential(parts[:-1])(x)))
        for layer in layers_of(tf, network):
            y = layer(y)
        return k.Model(x, y)
    if way == "layers":
        parts = layers_of(tf, network)

        def call(x, **more):
            for layer in parts:
                x = layer(x)
            return x
        call.parts = parts
        return call

    class Subclassed(k.Model):
        def __init__(self):
            super().__init__()
            self.parts = layers_of(tf, network)

        def call(self, x):
            for layer in self.parts:
                x = layer(x)
            return x
    return Subclassed()


WAYS = ("sequential", "deferred", "added", "functional", "nested", "subclassed", "layers")


def cases(tf):
    v1, k, out = tf.compat.v1, tf.keras, {}

    def placeholders(network):
        if network == "masked":
            return v1.placeholder(tf.int32, [None, 3], name="x"), WORDS
        return v1.placeholder(tf.float32, [None, 4, 4, 1], name="x"), X

    def train(network, way, optimizer="adam", phase=None):
        def run():
            with tf.Graph().as_default():
                x, values = placeholders(network)
                y = v1.placeholder(tf.int64, [None], name="y")
                model = model_of(tf, network, way)
                predicted = model(x) if phase is None else model(x, training=phase)
                loss = tf.reduce_mean(k.losses.sparse_categorical_crossentropy(y, predicted))
                step = {"adam": lambda: v1.train.AdamOptimizer(.05), "sgd": lambda: v1.train.GradientDescentOptimizer(.1),
                        "momentum": lambda: v1.train.MomentumOptimizer(.1, .9), "rms": lambda: v1.train.RMSPropOptimizer(.05)}[optimizer]().minimize(loss)
                with v1.Session() as session:
                    session.run(v1.global_variables_initializer())
                    losses = [session.run([step, loss], {x: values, y: Y})[1] for _ in range(4)]
                    losses.append(session.run(loss, {x: values[:2], y: Y[:2]}))
                    return [losses, session.run(predicted, {x: values[:1]}), predicted.shape.as_list(), len(v1.trainable_variables())]
        return run
    for network in NETWORKS:
        for way in WAYS:
            out["train %s %s" % (network, way)] = train(network, way)
    for optimizer in ("sgd", "momentum", "rms"):
        out["train mlp sequential %s" % optimizer] = train("mlp", "sequential", optimizer)
    for phase in (True, False):
        for way in ("sequential", "functional", "deferred"):
            out["train cnn %s training=%s" % (way, phase)] = train("cnn", way, "sgd", phase)

    labels = {"dense": np.eye(3, dtype=np.float32)[Y], "sparse": Y}
    guesses = np.array([[.2, .5, .3], [.6, .1, .3], [.1, .1, .8], [.3, .3, .4], [.5, .25, .25], [.9, .05, .05]], np.float32)
    weights = np.array([1, 2, 0, .5, 3, 1], np.float32)

    def fed(shapes, kind, weighted, build):
        """Runs what build makes of placeholders, on all rows and then on two."""
        def run():
            with tf.Graph().as_default():
                y = v1.placeholder(tf.int64 if kind == "sparse" else tf.float32, shapes[0])
                p = v1.placeholder(tf.float32, shapes[1])
                w = v1.placeholder(tf.float32, shapes[2]) if weighted else None
                fetched, variables = build(y, p, w)
                with v1.Session() as session:
                    session.run(v1.global_variables_initializer())
                    session.run(v1.variables_initializer(variables))
                    results = []
                    for n in (6, 2):
                        feed = {y: labels[kind][:n], p: guesses[:n]}
                        if weighted:
                            feed[w] = weights[:n]
                        results.append([session.run(f, feed) for f in fetched])
                    return results
        return run
    dense = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber", "LogCosh", "Hinge",
             "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "CosineSimilarity", "BinaryCrossentropy", "CategoricalCrossentropy",
             "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy"]
    metrics = ["MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "CosineSimilarity", "CategoricalAccuracy", "BinaryAccuracy", "Accuracy",
               "CategoricalCrossentropy", "BinaryCrossentropy", "Precision", "Recall", "TruePositives", "FalseNegatives", "AUC", "KLDivergence", "Hinge",
               "TopKCategoricalAccuracy", "LogCoshError", "Poisson"]
    shapes = {"rows": ([None, 3], [None, 3], [None]), "unknown": ([None, None], [None, None], [None]), "no rank": (None, None, None)}
    sparse_shapes = {"rows": ([None], [None, 3], [None]), "unknown": ([None], [None, None], [None])}

    def loss(name, reduction, **extra):
        return lambda y, p, w: ([getattr(k.losses, name)(reduction=reduction, **extra)(y, p, sample_weight=w)], [])

    def called(name, **extra):
        """The result, which follows the update."""
        def build(y, p, w):
            m = getattr(k.metrics, name)(**extra)
            result = m(y, p, sample_weight=w)
            return [result], m.variables
        return build
    for form, given in shapes.items():
        for weighted in (False, True):
            for name in dense:
                for reduction in ("sum_over_batch_size", "sum", "none") if form == "rows" else ("sum_over_batch_size", ):
                    out["loss %s %s %s%s" % (name, form, reduction, " weighted" if weighted else "")] = fed(given, "dense", weighted, loss(name, reduction))
            if form != "no rank":
                for name in metrics:
                    out["metric %s %s%s" % (name, form, " weighted" if weighted else "")] = fed(given, "dense", weighted, called(name))
            for smoothing in (0., .2):
                for logits in (False, True):
                    for name in ("CategoricalCrossentropy", "BinaryCrossentropy", "CategoricalFocalCrossentropy", "BinaryFocalCrossentropy"):
                        out["loss %s %s smoothing %g%s%s" % (name, form, smoothing, " logits" if logits else "", " weighted" if weighted else "")] = fed(
                            given, "dense", weighted, loss(name, "sum_over_batch_size", label_smoothing=smoothing, from_logits=logits))
    for form, given in sparse_shapes.items():
        for weighted in (False, True):
            for reduction in ("sum_over_batch_size", "sum", "none"):
                for ignored in (None, 0):
                    out["loss sparse %s %s ignoring %s%s" % (form, reduction, ignored, " weighted" if weighted else "")] = fed(
                        given, "sparse", weighted, loss("SparseCategoricalCrossentropy", reduction, ignore_class=ignored))
            for name, extra in (("SparseCategoricalAccuracy", {}), ("SparseCategoricalCrossentropy", {}), ("SparseTopKCategoricalAccuracy", {"k": 2})):
                out["metric %s %s%s" % (name, form, " weighted" if weighted else "")] = fed(given, "sparse", weighted, called(name, **extra))

    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 7 % 11 / 11

    def of_axis(name, shape, axis, logits):
        def run():
            with tf.Graph().as_default():
                p = v1.placeholder(tf.float32, shape)
                classes = np.moveaxis(cube, axis, -1).argmax(-1)
                one_hot = np.moveaxis(np.eye(cube.shape[axis], dtype=np.float32)[classes], -1, axis)
                y = v1.placeholder(tf.int32, None if shape is None else [None, None]) if "sparse" in name else v1.placeholder(tf.float32, shape)
                value = getattr(k.losses, name)(y, p, from_logits=logits, axis=axis)
                with v1.Session() as session:
                    return session.run([value, tf.gradients(value, p)[0]], {y: classes if "sparse" in name else one_hot, p: cube + .1})
        return run
    for name in ("sparse_categorical_crossentropy", "categorical_crossentropy"):
        for shape in ([2, 3, 4], [None, None, 4], [None, 3, None], [None, None, None], None):
            for axis in (-1, 1, 2):
                if shape is None and axis != -1:
                    continue
                for logits in (False, True):
                    out["%s %s axis %d%s" % (name, shape, axis, " logits" if logits else "")] = of_axis(name, shape, axis, logits)
    return out
