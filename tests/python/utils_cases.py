"""Cases of keras.utils: labels, norms, splits, progress, graphs of models."""
import contextlib
import io
import random
import re

import numpy as np


def arrays(tf, case):
    u = tf.keras.utils
    for name, arguments in {"plain": ([0, 2, 1],), "classes": ([0, 2], 5), "column": ([[0], [1]], 3), "matrix": ([[0, 1], [2, 3]],), "large": ([7, 1], 3),
                            "negative": ([-1, 1], 3), "scalar": (1, 3)}.items():
        case("to_ordinal " + name, lambda a=arguments: u.to_ordinal(*a))
    case("to_ordinal dtype", lambda: [u.to_ordinal([0, 1], dtype=d).dtype.name for d in ("float32", "int32", "bool")])
    case("to_ordinal empty", lambda: u.to_ordinal([]))
    x = np.array([[3., -4., 0.], [0., 0., 0.], [1., 2., 2.]])
    for axis in (-1, 0, 1):
        for order in (1, 2, 3, np.inf, 0):
            case("normalize %s %s" % (axis, order), lambda a=axis, o=order: u.normalize(x, a, o))
    case("normalize vector", lambda: u.normalize(np.array([3., 4.])))
    case("normalize batch", lambda: u.normalize(np.arange(12.).reshape(2, 3, 2), axis=1))
    case("normalize dtype", lambda: [u.normalize(x.astype(d)).dtype.name for d in ("float32", "float64", "int32")])
    case("normalize list", lambda: u.normalize([[3, 4], [6, 8]]))
    base = np.arange(6., dtype=np.float32).reshape(3, 2)
    case("warmstart", lambda: u.warmstart_embedding_matrix(["a", "b", "c"], ["c", "x", "a"], base, "zeros"))
    case("warmstart tensor", lambda: u.warmstart_embedding_matrix(np.array(["a", "b", "c"]), ("y", "b"), tf.constant(base), tf.keras.initializers.Constant(7)))
    case("warmstart none", lambda: u.warmstart_embedding_matrix(["a", "b", "c"], ["z"], base, "ones"))
    case("warmstart empty", lambda: u.warmstart_embedding_matrix([], ["z"], base))
    case("warmstart odd", lambda: u.warmstart_embedding_matrix(3, ["z"], base))
    case("warmstart no file", lambda: u.warmstart_embedding_matrix("/none/words", ["z"], base))


def splits(tf, case):
    u, data = tf.keras.utils, tf.data.Dataset
    x, y = np.arange(20).reshape(10, 2), np.arange(10)

    def parts(dataset, *args, **kwargs):
        random.seed(2)
        found = u.split_dataset(dataset, *args, **kwargs)
        return [[list(part.as_numpy_iterator()) if not isinstance(part.element_spec, dict) else [dict(e) for e in part.as_numpy_iterator()],
                 str(part.element_spec)] for part in found]
    kinds = {"array": lambda: x, "tuple": lambda: (x, y), "list": lambda: [x.astype(float), y], "vectors": lambda: (y, y * 2.5),
             "dataset": lambda: data.from_tensor_slices((x, y)), "batched": lambda: data.from_tensor_slices((x, y)).batch(3),
             "dict": lambda: data.from_tensor_slices({"a": x, "b": y})}
    for name, make in kinds.items():
        case("split %s" % name, lambda m=make: parts(m(), left_size=.6))
        case("split shuffled %s" % name, lambda m=make: parts(m(), right_size=3, shuffle=True, seed=5))
    for name, arguments in {"both": dict(left_size=3, right_size=.2), "ints": dict(left_size=3, right_size=4), "none": {}, "zero": dict(left_size=0, right_size=0),
                            "large": dict(left_size=10), "negative": dict(right_size=-1), "share": dict(left_size=1.5), "sum": dict(left_size=.7, right_size=.6),
                            "ints sum": dict(left_size=7, right_size=6), "text": dict(left_size="a"), "empty": dict(left_size=.01), "unseeded":
                            dict(left_size=4, shuffle=True)}.items():
        case("split sizes " + name, lambda a=arguments: parts(x, **a))
    case("split kind", lambda: u.split_dataset({"a": x}, .5))
    case("split lengths", lambda: u.split_dataset((x, y[:-1]), .5))
    case("split lists", lambda: u.split_dataset([[1, 2]], .5))
    case("split empty", lambda: u.split_dataset([], .5))


def progress(tf, case):
    u = tf.keras.utils

    def shown(steps, target, **arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            bar = u.Progbar(target, interval=0, **arguments)
            for method, amount, values in steps:
                getattr(bar, method)(amount, values)
        return re.sub(r"ETA: [\d:s]+", "ETA", re.sub(r"\d+[mu]?s/(\w+)", r"T/\1", re.sub(r"- \d+s", "- T", out.getvalue()))).replace("\b", "").replace(" " * 2, "").replace(" \r", "\r").rstrip(" ")  # how much a line is filled up depends on the times
    steps = [("update", 1, [("loss", 2.), ("acc", .5)]), ("update", 3, [("loss", 1.)]), ("add", 2, [("loss", .0001), ("acc", np.float32(.25))])]
    case("Progbar", lambda: shown(steps, 5))
    case("Progbar unknown", lambda: shown(steps, None))
    case("Progbar width", lambda: shown(steps, 5, width=10, unit_name="item"))
    case("Progbar as is", lambda: shown(steps, 5, stateful_metrics=["loss"]))
    case("Progbar one line", lambda: shown(steps, 5, verbose=2))
    case("Progbar silent", lambda: shown(steps, 5, verbose=0))
    case("Progbar no values", lambda: shown([("update", 2, None), ("add", 2, None)], 4))

    def logging():
        before = u.is_interactive_logging_enabled()
        u.disable_interactive_logging()
        middle = u.is_interactive_logging_enabled()
        u.enable_interactive_logging()
        return [before, middle, u.is_interactive_logging_enabled()]
    case("logging", logging)


def graphs(tf, case):
    k, u = tf.keras, tf.keras.utils

    def branches():
        tf.keras.backend.clear_session()
        x = k.Input((4,), name="x")
        a, b = k.layers.Dense(3, activation="relu", name="a")(x), k.layers.Dense(3, name="b")(x)
        both = k.layers.Add(name="both")([a, b])
        return k.Model(x, k.layers.Concatenate(name="all")([both, a]), name="branches")

    def nested():
        inner, x = branches(), k.Input((4,), name="outer")
        return k.Model(x, k.layers.Dense(1, name="end")(inner(k.layers.Dense(4, name="begin")(x))), name="nested")
    models = {"branches": branches, "nested": nested, "chain": lambda: k.Sequential([
        k.Input((4,), name="given"), k.layers.Dense(3, activation="tanh", name="one"), k.layers.Dense(2, name="two", trainable=False)], name="chain")}
    settings = {"plain": {}, "shapes": dict(show_shapes=True), "dtype": dict(show_dtype=True), "no names": dict(show_layer_names=False), "activations":
                dict(show_layer_activations=True), "trainable": dict(show_trainable=True, show_shapes=True), "across": dict(rankdir="LR", dpi=60), "expanded":
                dict(expand_nested=True)}

    def text(model, **arguments):
        made = u.model_to_dot(model, **arguments).to_string()
        numbers = {}
        for name in re.findall(r"\b\d{9,}\b", made):
            numbers.setdefault(name, "n%d" % len(numbers))
        return sorted(re.sub(r"\b\d{9,}\b", lambda m: numbers[m.group()], made).replace('"', "").split("\n"))
    for name, make in models.items():
        for setting, arguments in settings.items():
            case("dot %s %s" % (name, setting), lambda m=make, a=arguments: text(m(), **a))
    case("dot not built", lambda: u.model_to_dot(k.Sequential([k.layers.Dense(2)])))

    def sources():
        a, b = k.Input((2,), name="first"), k.Input((2,), name="second")
        c = k.layers.Add()([k.layers.Dense(2)(a), b, a])
        return [[t.name for t in u.get_source_inputs(t)] for t in (c, a)]
    case("get_source_inputs", sources)


def cases(tf):
    """Names to functions without arguments."""
    out = {}
    for family in (arrays, splits, progress, graphs):
        family(tf, out.__setitem__)
    return out
