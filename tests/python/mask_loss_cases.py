"""Losses and metrics with masks and weights: called by themselves, and through compile, fit, evaluate and train_on_batch."""
import numpy as np

MASK = np.array([[1, 1, 0], [1, 0, 0]], bool)
STEPS = np.array([[.5, 2, 3], [1, 4, 0]], np.float32)
WEIGHTS = {"none": None, "samples": [.5, 2.], "column": [[.5], [2.]], "steps": STEPS, "scalar": 3., "steps column": STEPS[..., None]}
REDUCTIONS = ["auto", "sum", "none", "sum_over_batch_size"]
DENSE = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber", "LogCosh", "Hinge", "SquaredHinge",
         "CategoricalHinge", "KLDivergence", "Poisson", "CosineSimilarity", "BinaryCrossentropy", "CategoricalCrossentropy",
         "BinaryFocalCrossentropy", "CategoricalFocalCrossentropy"]
DENSE_METRICS = ["MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "CosineSimilarity", "CategoricalAccuracy", "BinaryAccuracy",
                 "CategoricalCrossentropy", "BinaryCrossentropy", "Precision", "Recall", "TruePositives", "AUC", "KLDivergence", "Hinge",
                 "TopKCategoricalAccuracy"]


def predictions():
    return np.array([[[.2, .5, .3], [.6, .1, .3], [.1, .1, .8]], [[.3, .3, .4], [.5, .25, .25], [.9, .05, .05]]], np.float32)


def dense_labels():
    return np.eye(3, dtype=np.float32)[[[1, 0, 1], [2, 0, 0]]]


SPARSE = np.array([[1, 0, 1], [2, 0, 0]])


def masked(tf, array, mask=MASK):
    tensor = tf.constant(array)
    if mask is not None:
        tensor._keras_mask = tf.constant(mask)
    return tensor


def loss_cases(tf, out):
    def direct(loss, labels, weight, mask, **extra):
        return lambda: getattr(tf.keras.losses, loss)(**extra)(tf.constant(labels), masked(tf, predictions(), mask), sample_weight=weight)

    for name in DENSE:
        for reduction in REDUCTIONS[:3]:
            for weight in ("none", "steps"):
                out["loss %s %s %s" % (name, reduction, weight)] = direct(name, dense_labels(), WEIGHTS[weight], MASK, reduction=reduction)
    for reduction in REDUCTIONS:
        for weight, value in WEIGHTS.items():
            for mask in (None, MASK, np.zeros_like(MASK)):
                label = "without" if mask is None else "masked" if mask.any() else "all masked"
                for ignored in (None, 0):
                    out["sparse %s %s %s ignoring %s" % (reduction, weight, label, ignored)] = direct(
                        "SparseCategoricalCrossentropy", SPARSE, value, mask, reduction=reduction, ignore_class=ignored)
    out["sparse column labels ignoring"] = direct("SparseCategoricalCrossentropy", SPARSE[..., None], None, None, ignore_class=0)
    out["ignored function"] = lambda: tf.keras.losses.sparse_categorical_crossentropy(SPARSE, predictions(), ignore_class=0)
    out["ignored vector"] = lambda: tf.keras.losses.SparseCategoricalCrossentropy(ignore_class=-1)([0, -1, 2], predictions()[0])
    out["ignored logits"] = lambda: tf.keras.losses.SparseCategoricalCrossentropy(ignore_class=-1, from_logits=True)([0, -1, 2], predictions()[0])

    def gradient():
        x = tf.Variable(predictions())
        with tf.GradientTape() as tape:
            y = tf.nn.softmax(x)
            y._keras_mask = tf.constant(MASK)
            loss = tf.keras.losses.SparseCategoricalCrossentropy()(SPARSE, y)
        return tape.gradient(loss, x)
    out["gradient"] = gradient

    def traced():
        @tf.function
        def f(x):
            x = tf.keras.layers.Masking()(x)
            return tf.keras.losses.MeanSquaredError()(tf.zeros([2, 3, 3]), x)
        return f(tf.constant(predictions() * MASK[..., None]))
    out["traced"] = traced

    def own():
        class Own(tf.keras.losses.Loss):
            def call(self, y_true, y_pred):
                return tf.reduce_sum(tf.abs(y_true - y_pred), -1)
        return [Own()(dense_labels(), masked(tf, predictions())), Own(reduction="sum")(dense_labels(), masked(tf, predictions()))]
    out["own loss"] = own


def metric_cases(tf, out):
    def direct(name, labels, weight, **extra):
        def run():
            metric = getattr(tf.keras.metrics, name)(**extra)
            first = metric(labels, masked(tf, predictions()), sample_weight=weight)
            metric.update_state(labels, predictions()[::-1], sample_weight=weight)
            second = metric.result()
            metric.reset_state()
            metric.update_state(labels, predictions())
            return [first, second, metric.result()]
        return run
    for name in DENSE_METRICS:
        for weight, value in WEIGHTS.items():
            if weight == "column" and name in ("Precision", "Recall", "TruePositives", "AUC"):
                continue
            out["metric %s %s" % (name, weight)] = direct(name, dense_labels(), value)
    for name in ("SparseCategoricalAccuracy", "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy"):
        for weight, value in WEIGHTS.items():
            out["metric %s %s" % (name, weight)] = direct(name, SPARSE, value, **({"k": 2} if "Top" in name else {}))
    out["metric ignoring"] = direct("SparseCategoricalCrossentropy", SPARSE, None, ignore_class=0)
    out["metric ignoring weighted"] = direct("SparseCategoricalCrossentropy", SPARSE, STEPS, ignore_class=0)
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    shapes = {"scalar": [], "row": [2], "column": [2, 1], "steps": [2, 3], "steps column": [2, 3, 1], "whole": [2, 3, 4], "ones": [1, 1, 4],
              "wrong": [3], "long": [2, 3, 4, 1]}
    for kind in ("Mean", "Sum"):
        for rank in range(4):
            for label, shape in shapes.items():
                given = values.reshape([2, 3, 4])[(0,) * (3 - rank)] if rank < 3 else values
                out["%s of rank %d by %s" % (kind, rank, label)] = (
                    lambda kind=kind, given=given, shape=shape: getattr(tf.keras.metrics, kind)()(
                        given, sample_weight=np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)))
    cube = np.arange(27, dtype=np.float32).reshape(3, 3, 3)
    for kind in ("Mean", "Sum"):
        for shape in ([3], [3, 3], [1], [1, 3]):
            out["%s of a cube by %s" % (kind, shape)] = lambda kind=kind, shape=shape: getattr(tf.keras.metrics, kind)()(
                cube, sample_weight=np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape))
    tied = np.array([[.5, .5, .5, .1], [.2, .4, .4, .4], [.3, .3, .3, .3]], np.float32)
    for name in ("Precision", "Recall"):
        for k in (1, 2, 3):
            for column in (None, 1):
                out["%s of ties, top %d, class %s" % (name, k, column)] = lambda name=name, k=k, column=column: getattr(
                    tf.keras.metrics, name)(top_k=k, class_id=column)([[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1]], tied)
    for k in (1, 2, 3, 4):
        out["top %d of ties" % k] = lambda k=k: [tf.keras.metrics.sparse_top_k_categorical_accuracy([c] * 3, tied, k) for c in range(4)]
        out["top %d of ties, dense" % k] = lambda k=k: tf.keras.metrics.top_k_categorical_accuracy(np.eye(4, dtype=np.float32)[[2, 3, 3]], tied, k)
    out["accuracy of ties"] = lambda: [tf.keras.metrics.categorical_accuracy(tied, tied[::-1]),
                                       tf.keras.metrics.sparse_categorical_accuracy([1, 2, 0], tied)]


def fit_cases(tf, out):
    k = tf.keras
    words = np.array([[1, 2, 0], [3, 0, 0], [2, 2, 1], [1, 1, 0]])
    sparse = np.array([[1, 0, 1], [2, 0, 0], [1, 2, 2], [0, 0, 1]])

    def model(kind="embedding", final="softmax"):
        table = (np.arange(16, dtype=np.float32).reshape(4, 4) % 5 - 2) / 4
        kernel = (np.arange(12, dtype=np.float32).reshape(4, 3) % 7 - 3) / 5
        if kind == "embedding":
            first = k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer=k.initializers.Constant(table), input_shape=(3,))
            layers = [first, k.layers.Dense(3, activation=final, kernel_initializer=k.initializers.Constant(kernel))]
        elif kind == "lstm":
            first = k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer=k.initializers.Constant(table), input_shape=(3,))
            layers = [first, k.layers.LSTM(2, return_sequences=True, kernel_initializer="ones", recurrent_initializer="ones"),
                      k.layers.TimeDistributed(k.layers.Dense(3, activation=final, kernel_initializer="zeros"))]
        return k.Sequential(layers)

    def classes(steps):
        def run():
            m = model()
            m.compile(k.optimizers.SGD(.5), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
            weight = np.arange(1., 5) if steps == "samples" else np.arange(1., 13).reshape(4, 3) if steps else None
            h = m.fit(words, sparse[..., None], class_weight={0: 1., 1: 2., 2: 3.}, sample_weight=weight, batch_size=2, shuffle=False, verbose=0)
            return h.history, m.get_weights()
        return run
    for steps in (None, "samples", "steps"):
        out["class weights of steps, %s" % steps] = classes(steps)

    forms = {"none": dict(), "samples": dict(sample_weight=np.array([1., 2, 3, 4])),
             "steps": dict(sample_weight=np.arange(1., 13).reshape(4, 3)),
             "classes": dict(class_weight={0: 1., 1: 2., 2: 3.})}

    def program(kind, form, loss, eagerly, labels=sparse):
        def run():
            m = model(kind)
            m.compile(k.optimizers.SGD(.5), loss, metrics=["accuracy", "mse"] if loss == "mse" else ["accuracy"],
                      weighted_metrics=["accuracy"] if loss != "mse" else ["mae"], run_eagerly=eagerly)
            given = dict(forms[form])
            history = m.fit(words, labels, batch_size=4, epochs=2, shuffle=False, verbose=0, **given).history
            values = [history]
            given.pop("class_weight", None)
            values.append(m.evaluate(words, labels, batch_size=3, verbose=0, **given))
            values.append(m.train_on_batch(words, labels, **given))
            values.append(m.test_on_batch(words, labels, **given))
            values.append(m.compute_loss(words, tf.constant(labels), m(words), tf.constant(given["sample_weight"], tf.float32) if given else None))
            return values + [m.get_weights()]
        return run
    for kind in ("embedding", "lstm"):
        for form in forms:
            if form == "classes":
                continue
            for eagerly in (False, True):
                out["fit %s %s %s" % (kind, form, "eagerly" if eagerly else "traced")] = program(
                    kind, form, "sparse_categorical_crossentropy", eagerly)
    out["fit mse"] = program("embedding", "steps", "mse", False, np.eye(3, dtype=np.float32)[sparse])
    out["fit sum"] = program("embedding", "none", k.losses.SparseCategoricalCrossentropy(reduction="sum"), False)
    out["fit ignoring"] = program("embedding", "none", k.losses.SparseCategoricalCrossentropy(ignore_class=0), False)

    def split(form, class_weight, validation):
        def run():
            x = np.arange(24, dtype=np.float32).reshape(8, 3) / 10
            y = np.array([0, 1, 2, 0, 1, 2, 1, 0])
            m = k.Sequential([k.layers.Dense(3, activation="softmax", kernel_initializer="zeros", input_shape=(3,))])
            m.compile(k.optimizers.SGD(.5), "sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"])
            weight = {"none": None, "samples": np.arange(1., 9), "column": np.arange(1., 9)[:, None]}[form]
            more = dict(validation_split=.25) if validation == "split" else dict(
                validation_data=(x[:3], y[:3])) if validation == "pair" else dict(validation_data=(x[:3], y[:3], np.array([1., 5, 2])))
            h = m.fit(x, y, sample_weight=weight, class_weight=class_weight, epochs=2, batch_size=2, shuffle=False, verbose=0, **more)
            return h.history, m.get_weights()
        return run
    for form in ("none", "samples", "column"):
        for class_weight in (None, {0: 1., 1: 2., 2: .5}):
            for validation in ("split", "pair", "triple"):
                out["split %s %s %s" % (form, bool(class_weight), validation)] = split(form, class_weight, validation)

    def normalized(axis, training, rank):
        def run():
            x = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4) ** 1.5 / 10
            layer = k.layers.BatchNormalization(axis=axis)
            y = layer(masked(tf, x), training=training)
            again = layer(tf.constant(x), training=training, mask=tf.constant(MASK))
            return [y, again] + layer.get_weights()
        return run
    for training in (True, False):
        out["BatchNormalization %s" % training] = normalized(-1, training, 3)
    out["BatchNormalization all masked"] = lambda: k.layers.BatchNormalization()(masked(tf, predictions(), np.zeros_like(MASK)), training=True)

    def normalized_model():
        m = k.Sequential([k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer="ones", input_shape=(3,)),
                          k.layers.Dense(4, kernel_initializer=k.initializers.Constant(np.arange(16).reshape(4, 4) / 9.)),
                          k.layers.BatchNormalization(), k.layers.Dense(3, activation="softmax", kernel_initializer="ones")])
        m.layers[0].set_weights([(np.arange(16, dtype=np.float32).reshape(4, 4) % 5) / 4])
        m.compile(k.optimizers.SGD(.1), "sparse_categorical_crossentropy")
        h = m.fit(words, sparse, epochs=2, batch_size=2, shuffle=False, verbose=0)
        return h.history, m.get_weights()
    out["BatchNormalization in fit"] = normalized_model


def cases(tf):
    out = {}
    loss_cases(tf, out)
    metric_cases(tf, out)
    fit_cases(tf, out)
    return out
