"""Optimizers with limits of gradients and decay of weights, over several steps; losses of every dtype and setting."""
import numpy as np

OPTIMIZERS = {"SGD": {}, "SGD momentum": {"momentum": .9}, "SGD nesterov": {"momentum": .9, "nesterov": True}, "Adam": {}, "Adam amsgrad": {"amsgrad": True},
              "RMSprop": {}, "RMSprop centered": {"centered": True, "momentum": .5}, "Adagrad": {}, "Adadelta": {}, "Adamax": {}, "Nadam": {}, "Ftrl": {},
              "Ftrl l1": {"l1_regularization_strength": .1, "l2_regularization_strength": .1}, "AdamW": {}, "Lion": {}}
OPTIONS = {"plain": {}, "clipnorm": {"clipnorm": .5}, "clipvalue": {"clipvalue": .3}, "global_clipnorm": {"global_clipnorm": .7},
           "weight_decay": {"weight_decay": .1},
           "decay and clip": {"weight_decay": .05, "clipnorm": .4}}


def optimizer_cases(tf, out):
    k = tf.keras

    def program(name, options):
        def run():
            a, b = tf.Variable([[1., -2.], [3., .5]]), tf.Variable([.1, -.4, 2.])
            given = dict(OPTIMIZERS[name], **options)
            optimizer = getattr(k.optimizers, name.split()[0])(learning_rate=.1, **given)
            values = []
            for step in range(4):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(a ** 2) * (step + 1) * .3 + tf.reduce_sum(b * [1., -2., .5]) + a[0, 0] * b[1]
                optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
                values.append([a.numpy(), b.numpy()])
            return values
        return run
    for name in OPTIMIZERS:
        for label, options in OPTIONS.items():
            if not (name == "AdamW" and "weight_decay" in options):
                out["%s %s" % (name, label)] = program(name, options)


def loss_cases(tf, out):
    k = tf.keras
    p = np.array([[.2, .5, .3], [.6, .1, .3], [.1, .1, .8]])
    y = np.eye(3)[[1, 0, 1]]

    def program(name, dtype, **settings):
        def run():
            labels = tf.constant([1, 0, 1]) if name.startswith("Sparse") else tf.constant(y, dtype)
            return getattr(k.losses, name)(**settings)(labels, tf.constant(p, dtype))
        return run
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for name in ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber", "LogCosh", "Hinge",
                     "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "CosineSimilarity"):
            out["%s %s" % (name, dtype)] = program(name, dtype)
        for name in ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "BinaryFocalCrossentropy",
                     "CategoricalFocalCrossentropy"):
            for logits in (False, True):
                for smoothing in (0., .1) if "Sparse" not in name else (0.,):
                    settings = dict(from_logits=logits, **({"label_smoothing": smoothing} if smoothing else {}))
                    for reduction in ("auto", "none", "sum"):
                        if dtype == "float32" or reduction == "auto":
                            out["%s %s %s %s %s" % (name, dtype, logits, smoothing, reduction)] = program(name, dtype, reduction=reduction, **settings)
    for delta in (.1, 1., 3.):
        out["Huber %s" % delta] = program("Huber", "float32", delta=delta)
    for axis in (-1, 0, 1):
        out["CosineSimilarity along %d" % axis] = program("CosineSimilarity", "float32", axis=axis)
        out["CategoricalCrossentropy along %d" % axis] = program("CategoricalCrossentropy", "float32", axis=axis)
        out["BinaryCrossentropy along %d" % axis] = program("BinaryCrossentropy", "float32", axis=axis)


def cases(tf):
    out = {}
    optimizer_cases(tf, out)
    loss_cases(tf, out)
    return out
