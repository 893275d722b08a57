"""Metrics with state of their own: rates at operating points, intersection over union, F scores, R2, means of tensors; with weights, dtypes, in functions
and in fit, their configs, their errors."""
import numpy as np

LABELS = np.array([0, 0, 1, 1, 0, 1, 1, 0], np.float32)
SCORES = np.array([.1, .45, .4, .85, .62, .9, .05, .3], np.float32)
ONE_HOT = np.eye(3, dtype=np.float32)[[1, 0, 1, 2, 0, 0]]
CLASSES = np.array([[.2, .5, .3], [.6, .1, .3], [.1, .1, .8], [.3, .3, .4], [.5, .25, .25], [.9, .05, .05]], np.float32)
SPARSE = np.array([0, 1, 2, 2, 1, 0, 255])
FOUND = np.array([0, 2, 2, 1, 1, 0, 1])
WEIGHTS = np.array([1, 2, 0, .5, 3, 1, .25, 2], np.float32)
NUMBERS = np.array([[1., 2.], [3., -1.], [.5, 4.], [2., 2.5]], np.float32)
GUESSES = np.array([[1.5, 2.], [2., -.5], [1., 3.], [2.5, 2.]], np.float32)


def values(tf, metric, *batches):
    def run():
        out = []
        for batch in batches:
            metric.update_state(*batch)
            out.append(metric.result())
        names = [v.name for v in metric.variables]
        state = [v.numpy() for v in metric.variables]
        metric.reset_state()
        return out + [names, state, [v.numpy() for v in metric.variables]]
    return run


def fitted(tf, make, units, labels):
    def run():
        tf.keras.backend.clear_session()
        model = tf.keras.Sequential([tf.keras.layers.Dense(units, "sigmoid", kernel_initializer="ones", input_shape=(2,))])
        model.compile("sgd", "mse", metrics=[make()])
        history = model.fit(NUMBERS, labels, epochs=2, batch_size=2, shuffle=False, verbose=0).history
        return [history[k] for k in history] + [list(history), model.evaluate(NUMBERS, labels, verbose=0)]
    return run


def makers(m):
    out = {}
    for cls in ("SensitivityAtSpecificity", "SpecificityAtSensitivity", "PrecisionAtRecall", "RecallAtPrecision"):
        for value in (0., .4, .75, 1.):
            out["%s %g" % (cls, value)] = lambda cls=cls, value=value: getattr(m, cls)(value, num_thresholds=20)
        for n in (1, 2, 3, 50):
            out["%s of %d thresholds" % (cls, n)] = lambda cls=cls, n=n: getattr(m, cls)(.5, num_thresholds=n)
        out["%s float64" % cls] = lambda cls=cls: getattr(m, cls)(.5, num_thresholds=20, name="own", dtype="float64")
    return out


def point_cases(tf, out):
    for name, make in makers(tf.keras.metrics).items():
        out[name] = lambda make=make: values(tf, make(), (LABELS, SCORES), (LABELS[:4], SCORES[4:]))()
        out[name + " weighted"] = lambda make=make: values(tf, make(), (LABELS, SCORES, WEIGHTS), (LABELS[:4, None], SCORES[4:, None], WEIGHTS[:4]))()
    m = tf.keras.metrics
    for cls in ("PrecisionAtRecall", "SensitivityAtSpecificity"):
        out["%s of a class" % cls] = lambda cls=cls: values(tf, getattr(m, cls)(.5, class_id=1), (ONE_HOT, CLASSES), (ONE_HOT, CLASSES, WEIGHTS[:6]))()
        for arguments in ((-.1,), (1.5,), (.5, 0), (.5, -3)):
            out["%s%s" % (cls, arguments)] = lambda cls=cls, arguments=arguments: getattr(m, cls)(*arguments)


def overlap_cases(tf, out):
    m = tf.keras.metrics
    pictures = np.arange(24).reshape(2, 3, 4) % 3, (np.arange(24).reshape(2, 3, 4) * 5) % 4 % 3
    for name, make in {"IoU": lambda: m.IoU(3, [0, 2]), "IoU of one": lambda: m.IoU(3, (1,)), "MeanIoU": lambda: m.MeanIoU(3),
                       "MeanIoU of more": lambda: m.MeanIoU(num_classes=5), "MeanIoU float64": lambda: m.MeanIoU(3, dtype="float64")}.items():
        out[name] = lambda make=make: values(tf, make(), (SPARSE[:6], FOUND[:6]), pictures)()
        out[name + " weighted"] = lambda make=make: values(tf, make(), (SPARSE[:6], FOUND[:6], WEIGHTS[:6]), (*pictures, np.ones((2, 3, 4)) / 3))()
    out["IoU ignoring"] = lambda: values(tf, m.MeanIoU(3, ignore_class=255), (SPARSE, FOUND), (SPARSE, FOUND, WEIGHTS[:7]))()
    out["IoU ignoring below 0"] = lambda: values(tf, m.IoU(3, [0], ignore_class=-1), (np.array([0, -1, 1]), np.array([0, 1, 1])))()
    for sparse in (False, True):
        guesses = FOUND[:6] if sparse else CLASSES
        out["OneHotIoU %s" % sparse] = lambda sparse=sparse, guesses=guesses: values(tf, m.OneHotIoU(3, [0, 2], sparse_y_pred=sparse), (ONE_HOT, guesses))()
        out["OneHotMeanIoU %s" % sparse] = lambda sparse=sparse, guesses=guesses: values(
            tf, m.OneHotMeanIoU(3, sparse_y_pred=sparse), (ONE_HOT, guesses), (ONE_HOT, guesses, WEIGHTS[:6]))()
    out["OneHotIoU along another axis"] = lambda: values(tf, m.OneHotMeanIoU(3, axis=0), (ONE_HOT.T, CLASSES.T))()
    out["IoU of scores"] = lambda: values(tf, m.MeanIoU(3, sparse_y_pred=False), (SPARSE[:6], CLASSES))()
    for threshold in (.3, .5, .62):
        out["BinaryIoU %g" % threshold] = lambda threshold=threshold: values(
            tf, m.BinaryIoU(threshold=threshold), (LABELS, SCORES), (LABELS, SCORES, WEIGHTS))()
    out["BinaryIoU of one"] = lambda: values(tf, m.BinaryIoU([1]), (LABELS.reshape(2, 4), SCORES.reshape(2, 4)))()
    out["IoU of no such class"] = lambda: m.IoU(3, [0, 3])
    out["BinaryIoU of no such class"] = lambda: m.BinaryIoU([2])


BITS = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], "float32")
SHARES = np.array([[.9, .2], [.3, .4], [.55, .1], [.6, .3]], "float32")


def written(tf, key):
    value = {"class_name": "__numpy__", "config": {"value": [1.0, 2.0], "dtype": "float32"}}
    cls, more = ("AUC", dict(multi_label=True)) if key == "label_weights" else ("MeanRelativeError", {})
    value = value if tf.__name__ == "thalweg" else np.array([1.0, 2.0], "float32")  # TensorFlow's own AUC can't read it
    metric = getattr(tf.keras.metrics, cls).from_config({key: value, **more})
    return values(tf, metric, (BITS, SHARES))()


def score_cases(tf, out):
    m = tf.keras.metrics
    for average in (None, "micro", "macro", "weighted"):
        for threshold in (None, .28, 1.):
            for cls, arguments in (("FBetaScore", {"beta": 2.}), ("FBetaScore", {}), ("F1Score", {})):
                make = lambda cls=cls, arguments=arguments, average=average, threshold=threshold: getattr(m, cls)(
                    average=average, threshold=threshold, **arguments)
                name = "%s%s %s %s" % (cls, " 2" if arguments else "", average, threshold)
                out[name] = lambda make=make: values(tf, make(), (ONE_HOT, CLASSES), (ONE_HOT[:2], CLASSES[4:], WEIGHTS[:2]))()
    out["F1Score of zeros"] = lambda: values(tf, m.F1Score(), (ONE_HOT, CLASSES * 0))()
    out["F1Score fit"] = fitted(tf, lambda: m.F1Score(average="macro", threshold=.5), 2, (NUMBERS > 1.5).astype(np.float32))
    for name, make in {"average": lambda: m.F1Score("mean"), "beta": lambda: m.FBetaScore(beta=-1.), "threshold": lambda: m.F1Score(threshold=1.5),
                       "rank": lambda: m.F1Score().update_state(LABELS, SCORES), "regressors": lambda: m.R2Score(num_regressors=-1),
                       "aggregation": lambda: m.R2Score("mean"), "R2 rank": lambda: m.R2Score().update_state(LABELS, SCORES)}.items():
        out["wrong " + name] = make
    for aggregation in (None, "uniform_average", "variance_weighted_average"):
        for regressors in (0, 1, 2):
            out["R2Score %s %d" % (aggregation, regressors)] = lambda aggregation=aggregation, regressors=regressors: values(
                tf, m.R2Score(aggregation, regressors), (NUMBERS, GUESSES), (NUMBERS, GUESSES, WEIGHTS[:4]))()
    out["R2Score equal labels"] = lambda: values(tf, m.R2Score(None), (NUMBERS * 0, GUESSES), (NUMBERS * 0, NUMBERS * 0))()
    out["R2Score weights of columns"] = lambda: values(tf, m.R2Score(), (NUMBERS, GUESSES, NUMBERS ** 2))()
    out["R2Score fit"] = fitted(tf, lambda: m.R2Score(), 2, GUESSES)
    for name, normalizer in {"number": 2., "list": [1., 3.], "zero": [0., 1.], "column": [[1.], [2.], [4.], [8.]]}.items():
        out["MeanRelativeError %s" % name] = lambda normalizer=normalizer: values(
            tf, m.MeanRelativeError(normalizer), (NUMBERS, GUESSES), (NUMBERS, GUESSES, WEIGHTS[:4]))()
    for key in ("label_weights", "normalizer"):  # an array as TensorFlow's files have it
        out["written " + key] = lambda key=key: written(tf, key)
    for curve in ("ROC", "PR"):
        for method in ("interpolation", "minoring", "majoring"):
            for name, more in {"labels": {}, "weights": dict(label_weights=[.2, .8]), "count": dict(num_labels=2, label_weights=[3., 1.]),
                               "logits": dict(from_logits=True), "thresholds": dict(thresholds=[.25, .5, .6])}.items():
                make = lambda curve=curve, method=method, more=more: m.AUC(20, curve, method, multi_label=True, **more)
                out["AUC %s %s of %s" % (curve, method, name)] = lambda make=make: values(tf, make(), (BITS, SHARES), (BITS, SHARES, WEIGHTS[:4]))()
            out["AUC %s %s weighted" % (curve, method)] = lambda curve=curve, method=method: values(
                tf, m.AUC(20, curve, method, label_weights=[.2, .8]), (BITS, SHARES), (BITS, SHARES, WEIGHTS[:4]))()
    out["AUC fit"] = fitted(tf, lambda: m.AUC(multi_label=True), 2, BITS)
    for name, more in {"num_labels": dict(num_labels=3), "label_weights": dict(multi_label=True, num_labels=2, label_weights=[1., 2., 3.])}.items():
        out["wrong AUC " + name] = lambda more=more: m.AUC(**more).update_state(BITS, SHARES)
    out["MeanRelativeError vector"] = lambda: values(tf, m.MeanRelativeError([1, 3, 2, 3]), ([1, 3, 2, 3], [2, 4, 6, 8]))()


def tensor_cases(tf, out):
    m = tf.keras.metrics
    out["MeanTensor"] = lambda: values(tf, m.MeanTensor(), ([0, 1, 2, 3],), ([4, 5, 6, 7],), ([12, 10, 8, 6], [0, .2, .5, 1]))()
    out["MeanTensor of a shape"] = lambda: [m.MeanTensor(dtype=tf.float64, shape=(1, 4)).result(), *values(
        tf, m.MeanTensor(shape=[2, 2]), (NUMBERS[:2],), (NUMBERS[2:], 2.), (NUMBERS[2:], [3., 1.]))()]
    out["MeanTensor called"] = lambda: [m.MeanTensor()(NUMBERS), m.MeanTensor()(NUMBERS, sample_weight=[[1.], [2.], [0.], [1.]])]
    out["MeanTensor of nothing"] = lambda: m.MeanTensor().result()
    out["MeanTensor parts"] = lambda: [m.MeanTensor().total, m.MeanTensor().count, m.MeanTensor(shape=[2]).total.numpy()]

    def other_shape():
        metric = m.MeanTensor()
        metric.update_state([1., 2.])
        metric.update_state([1.])
    out["MeanTensor of another shape"] = other_shape

    def traced():
        metrics = [m.MeanTensor(shape=[2]), m.R2Score(), m.F1Score(), m.MeanIoU(2), m.PrecisionAtRecall(.5)]
        metrics[1].update_state(NUMBERS, GUESSES), metrics[2].update_state(NUMBERS, GUESSES)  # makes their variables

        @tf.function
        def step(x, y):
            metrics[0].update_state(x[0])
            metrics[1].update_state(x, y)
            metrics[2].update_state(tf.cast(x > 1, tf.float32), y)
            metrics[3].update_state(tf.cast(x > 1, tf.int32), tf.cast(y > 1, tf.int32))
            return metrics[4](tf.cast(x > 1, tf.float32), tf.sigmoid(y))
        return [step(tf.constant(NUMBERS), tf.constant(GUESSES)), *[metric.result() for metric in metrics]]
    out["traced"] = traced


def config_cases(tf, out):
    m = tf.keras.metrics
    for name, make in {"sensitivity": lambda: m.SensitivityAtSpecificity(.5, 7, 2, "own", "float64"), "specificity": lambda: m.SpecificityAtSensitivity(.5),
                       "precision": lambda: m.PrecisionAtRecall(.25), "recall": lambda: m.RecallAtPrecision(.5, class_id=1), "iou": lambda: m.IoU(3, (0, 1)),
                       "mean iou": lambda: m.MeanIoU(3, ignore_class=-1), "binary": lambda: m.BinaryIoU(threshold=.25), "one hot": lambda: m.OneHotIoU(3, [1]),
                       "one hot mean": lambda: m.OneHotMeanIoU(3, axis=1), "fbeta": lambda: m.FBetaScore("micro", 3.), "f1": lambda: m.F1Score(threshold=.5),
                       "r2": lambda: m.R2Score(None, 2), "tensor": lambda: m.MeanTensor(shape=(2, 3))}.items():
        def both(make=make):
            config = make().get_config()
            entry = m.serialize(make())
            return [dict(sorted(config.items())), type(make()).from_config(config).get_config() == config, sorted(entry), entry["class_name"], entry["module"],
                    m.deserialize(entry).get_config() == entry["config"], m.serialize(make(), use_legacy_format=True)["class_name"]]
        out["config of " + name] = both


def serialize_cases(tf, out):
    """serialize, deserialize and get of every module of keras."""
    k = tf.keras
    for name in ("relu", "selu", "linear", "softmax"):
        out["activation %s" % name] = lambda name=name: [k.activations.serialize(k.activations.get(name)), k.activations.deserialize(name) is getattr(
            k.activations, name), k.activations.get(getattr(k.activations, name)) is getattr(k.activations, name)]
    out["no activation"] = lambda: k.activations.get(None) is k.activations.linear
    out["unknown activation"] = lambda: k.activations.get("nope")
    out["activation of a number"] = lambda: k.activations.get(3)
    for module, make in ((k.losses, lambda: k.losses.Huber(2.)), (k.metrics, lambda: k.metrics.Mean("m")), (k.optimizers, lambda: k.optimizers.Adam(.5)),
                         (k.initializers, lambda: k.initializers.HeNormal(3)), (k.regularizers, lambda: k.regularizers.L2(.5)),
                         (k.constraints, lambda: k.constraints.MaxNorm(3.)), (k.optimizers.schedules, lambda: k.optimizers.schedules.ExponentialDecay(.5, 10, .5))):
        out["serialize %s" % module.__name__.rpartition(".")[2]] = lambda module=module, make=make: [
            module.serialize(make()), module.deserialize(module.serialize(make())).get_config(), type(module.deserialize(module.serialize(make()))).__name__]
    out["serialize a function"] = lambda: k.losses.serialize(k.losses.mean_squared_error)
    out["lower case optimizer"] = lambda: type(k.optimizers.deserialize({"class_name": "adam", "config": {}})).__name__
    out["names"] = lambda: [type(k.initializers.deserialize("zeros")).__name__, k.regularizers.deserialize("l2").get_config(),
                            type(k.metrics.deserialize("MeanSquaredError")).__name__, k.metrics.deserialize({"class_name": "Mean", "config": {"name": "x"}}).name]
    out["legacy"] = lambda: [k.losses.serialize(k.losses.Huber(), use_legacy_format=True), k.initializers.serialize(k.initializers.Zeros(), use_legacy_format=True)]


def cases(tf):
    out = {}
    for part in (point_cases, overlap_cases, score_cases, tensor_cases, config_cases, serialize_cases):
        part(tf, out)
    return out
