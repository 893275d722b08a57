"""Calls every function, method, property, class and op of the tables with arguments that make no sense, as test_hostile.py asks for.

usage: hostile.py SEED COUNT JOURNAL [FILTER]

Half of the arguments fit the signature, so that the others get past the first check. The call that runs stands in JOURNAL, for who finds
this process dead: a crash, a hang (SIGALRM) or an error that is no ordinary exception. Memory is limited: an absurd shape has to be an error.

The calls write files wherever the arguments say: the process works in the new folder JOURNAL.work, names no other place that files can be
made in, calls nothing that removes files, and gives up root's rights if it has them.
"""
import copy
import math
import operator
import os
import pickle
import random
import resource
import signal
import sys

import numpy as np

import thalweg as tf
from peak import kilobytes as peak_kilobytes
from thalweg import _core, _describe

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 20  # for one call
MEMORY = 1 << 30
NOBODY = 65534
REMOVERS = ("remove", "delete", "rmtree", "rename", "move")  # never called with paths like these


class Odd:
    """Raises whatever is asked of it."""
    def __len__(self):
        raise RuntimeError("no length")

    def __iter__(self):
        raise RuntimeError("no items")

    def __float__(self):
        raise ZeroDivisionError("no number")

    __int__ = __index__ = __bool__ = __float__

    def __array__(self, *args, **kwargs):
        raise MemoryError("no array")

    def __repr__(self):
        return "Odd()"


class Endless:
    def __len__(self):
        return sys.maxsize

    def __getitem__(self, index):
        if index > 50:
            raise IndexError
        return self

    def __repr__(self):
        return "Endless()"


def nested(depth, inside=1.0):
    for _ in range(depth):
        inside = [inside]
    return inside


def loop():
    items = [1]
    items.append(items)
    return items


class FailingModel(tf.keras.Model):
    def call(self, x):
        raise KeyError("inside call")


ODD = [
    lambda: None, lambda: True, lambda: 0, lambda: -1, lambda: 1, lambda: 2 ** 31, lambda: -2 ** 31, lambda: 2 ** 40, lambda: 2 ** 63 - 1,
    lambda: -2 ** 63, lambda: 2 ** 63, lambda: 2 ** 64, lambda: 10 ** 400, lambda: math.nan, lambda: math.inf, lambda: -math.inf, lambda: 1e308,
    lambda: 5e-324, lambda: 1j, lambda: "", lambda: "relu", lambda: "\udc80", lambda: "a\0b", lambda: "x" * 10000, lambda: b"\xff\0",
    lambda: bytearray(b"ab"), lambda: memoryview(b"abc"), lambda: [], lambda: (), lambda: {}, lambda: {"a": 1}, lambda: {1, 2}, lambda: [[]],
    lambda: [[], [1]], lambda: [[1, 2], [3]], lambda: [1, "a"], lambda: [None], lambda: [1, None], lambda: [2 ** 40, 2 ** 40],
    lambda: [2 ** 62, 4], lambda: [2 ** 20, 2 ** 20], lambda: [-1, -1], lambda: [0, 2 ** 62], lambda: [1] * 9, lambda: nested(9),
    lambda: nested(500), loop, Odd, Endless, object, lambda: object, lambda: len, lambda: (lambda *a, **k: None), lambda: (lambda *a: 1 / 0),
    lambda: range(5), lambda: (i for i in range(3)), lambda: slice(None), lambda: Ellipsis, lambda: NotImplemented,
    lambda: np.float64(1), lambda: np.zeros((2, 3)), lambda: np.zeros((1,) * 20), lambda: np.zeros((0, 3), "i4"), lambda: np.array(["a", "b"]),
    lambda: np.array([None, 1], object), lambda: np.zeros(3, "datetime64[s]"), lambda: np.zeros(4, ">f4"), lambda: np.arange(10)[::-2],
    lambda: np.array(3, "u8"), lambda: np.zeros(2, [("a", "i4")]), lambda: np.zeros(3, "f2"), lambda: np.zeros(2, "c16"), lambda: np.nan,
    lambda: np.ma.masked_array([1, 2], [True, False]), lambda: np.float32, lambda: np.dtype("U5"),
    lambda: tf.float32, lambda: tf.string, lambda: tf.resource, lambda: tf.qint8, lambda: "float32", lambda: "no_such_type",
    lambda: tf.TensorShape(None), lambda: tf.TensorShape([None, 2]), lambda: tf.TensorShape([2 ** 40, 2 ** 40]),
    lambda: tf.constant(1.0), lambda: tf.constant([1, 2]), lambda: tf.constant("a"), lambda: tf.constant([[True]]), lambda: tf.zeros([0]),
    lambda: tf.zeros([2, 0, 3], tf.int64), lambda: tf.zeros([1] * 8), lambda: tf.constant([math.nan, -math.inf]), lambda: tf.cast(1, tf.half),
    lambda: tf.cast([1, 2], tf.bfloat16), lambda: tf.constant([1j, 2]), lambda: tf.constant([2 ** 31 - 1, -2 ** 31]), lambda: tf.constant(b"\xff"),
    lambda: tf.constant([2 ** 63 - 1, -2 ** 63], tf.int64), lambda: tf.constant([-1, 100], tf.int64), lambda: tf.constant(255, tf.uint8),
    lambda: tf.Variable([1.0, 2.0]), lambda: tf.Variable(1), lambda: tf.Variable("a"), lambda: [tf.Variable(1.0), None], lambda: tf.GradientTape(),
    lambda: tf.keras.layers.Dense(2), lambda: tf.keras.layers.Dense(2)(tf.zeros([1, 2])), lambda: tf.keras.Sequential([tf.keras.layers.Flatten()]),
    lambda: FailingModel(), lambda: tf.keras.optimizers.Adam(), lambda: tf.train.Checkpoint(v=tf.Variable(1.0)), lambda: tf.keras.Model,
    lambda: tf.keras.losses.MeanSquaredError(), lambda: tf.random_normal_initializer(), lambda: "/proc/nonexistent/prefix", lambda: "/proc", lambda: ".",
]
DTYPES = ["float32", "float64", "int32", "int64", "uint8", "bool", "string", "float16", "bfloat16", "complex64", "int8", "uint64", "complex128", "uint32"]


def some_tensor(rng):
    shape = [rng.choice([1, 2, 2, 3, 0, 4]) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
    size = math.prod(shape)
    kind = rng.choice(DTYPES[:4] if rng.random() < 0.7 else DTYPES)
    if kind == "string":
        return tf.constant(np.array([rng.choice(["", "a", "bc"]) for _ in range(size)], object).reshape(shape), tf.string)
    values = [rng.choice([0, 1, 2, -1, 3, 7, 0.5, 100, -5]) for _ in range(size)]
    return tf.cast(tf.constant(np.array(values, "f8").reshape(shape)), kind)


def fitting(rng, kind, default):
    """A value that a parameter of this kind would take."""
    if default is not None and rng.random() < 0.3:
        return _describe.default_of(default)
    if "{" in kind:
        return rng.choice(kind[kind.index("{") + 1:kind.index("}")].split(", ")).strip()
    word = kind.split("<")[0].split()[0].rstrip("?")
    if word == "tensor":
        return some_tensor(rng)
    if word == "tensors":
        return [some_tensor(rng) for _ in range(rng.choice([0, 1, 2, 2, 3]))]
    if word == "int":
        return rng.choice([0, 1, 2, -1, 3, -2, 5])
    if word in ("float", "number"):
        return rng.choice([0.0, 0.5, 1.0, -1.0, 2, 1e-3])
    if word == "bool":
        return rng.random() < 0.5
    if word == "str":
        return rng.choice(["a", "mean", "name", "channels_last"])
    if word == "dtype":
        return rng.choice(DTYPES)
    if word in ("shape", "ints"):
        return [rng.choice([0, 1, 2, 3, -1]) for _ in range(rng.choice([0, 1, 2, 3]))]
    if word == "named":
        return rng.choice(["relu", "softmax", "zeros", "glorot_uniform", "adam", "mse"])
    if word == "variable":
        return tf.Variable(some_tensor(rng))
    if word == "list":
        return [rng.choice([tf.Variable(1.0), some_tensor(rng)]) for _ in range(rng.choice([0, 1, 2]))]
    if word == "layer" or word == "model":
        return rng.choice([tf.keras.layers.Dense(2), tf.keras.Sequential([tf.keras.layers.Dense(1)])])
    if word == "tape":
        return tf.GradientTape(persistent=True)
    if word == "optimizer":
        return tf.keras.optimizers.SGD()
    if word in ("trackable", "checkpoint"):
        return tf.train.Checkpoint(v=tf.Variable(1.0))
    return rng.choice(ODD)()


def short(value):
    try:
        text = repr(value)
    except Exception as error:
        text = "<%s: %s>" % (type(value).__name__, error)
    return text if len(text) < 300 else text[:300] + "…"


def found(path):
    place = tf
    for part in path.split("."):
        place = getattr(place, part)
    return place


def rows():
    """(text, how it is called, kinds of its parameters) of every row."""
    for _, paths, role, text, _, _ in _core.rows():
        parts = []
        for part in _describe.split(text[text.index("(") + 1:text.rindex(")")]):
            name, _, rest = part.partition(":")
            kind, _, default = rest.strip().partition(" = ")
            parts.append((name.strip(), kind.strip() or "value", default or None))
        path = paths.split("|")[0]
        if path.startswith("_") or "._" in path and "__" not in path or path.endswith("load_data"):
            continue
        if any(word in path.lower() for word in REMOVERS):
            continue
        yield path, role, [p for p in parts if p[0] != "*"]


def call_row(rng, path, role, parts, note):
    if role == "property":
        owner, name = path.rsplit(".", 1)
        target = made(rng, owner)
        note("%s of %s" % (path, short(target)))
        getattr(target, name)
        if rng.random() < 0.5:
            value = rng.choice(ODD)()
            note("%s of %s = %s" % (path, short(target), short(value)))
            setattr(target, name, value)
        return
    args, kwargs = [], {}
    odd = 0.15 if rng.random() < 0.6 else 0.6
    if role == "method":
        owner, name = path.rsplit(".", 1)
        target = made(rng, owner) if rng.random() < 0.97 else rng.choice(ODD)()
        args.append(target)
        call = getattr(found(owner), name)
        parts = parts[1:]
    else:
        call = found(path)
    by_name = False
    for name, kind, default in parts:
        value = rng.choice(ODD)() if rng.random() < odd else fitting(rng, kind, default)
        if name.startswith("**"):
            if rng.random() < 0.3:
                kwargs[rng.choice(["name", "dtype", "nonsense", "v", ""])] = value
        elif name.startswith("*"):
            args.append(value)
            by_name = True
        elif default is not None and rng.random() < 0.5:
            by_name = True
        elif by_name:
            kwargs[name] = value
        else:
            args.append(value)
    if rng.random() < 0.02:
        args = args[:-1]
    if rng.random() < 0.02:
        kwargs["nonsense"] = 1
    note("%s(%s)" % (path, ", ".join([short(a) for a in args] + ["%s=%s" % (k, short(v)) for k, v in kwargs.items()])))
    if rng.random() < 0.2:
        with tf.GradientTape() as tape:
            for a in args:
                if tf.is_tensor(a):
                    tape.watch(a)
            result = call(*args, **kwargs)
        tape.gradient(result, [a for a in args if tf.is_tensor(a)])
    else:
        result = call(*args, **kwargs)
    if tf.is_tensor(result) or rng.random() < 0.1:
        short(result)


def made(rng, path):
    """An object of a class, as good as it can be had."""
    v = tf.Variable([1.0, 2.0])
    if path == "Variable":
        return rng.choice([v, tf.Variable(3), tf.Variable("a"), tf.Variable(tf.zeros([2, 2]), trainable=False)])
    if path == "GradientTape":
        tape = tf.GradientTape(persistent=rng.random() < 0.5)
        if rng.random() < 0.7:
            with tape:
                v * v
        return tape
    if path.endswith("Checkpoint"):
        return tf.train.Checkpoint(v=v)
    if path.endswith("CheckpointManager"):
        return tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "out", max_to_keep=2)
    if path.endswith(".Layer") or path.endswith(".Dense"):
        return tf.keras.layers.Dense(2)
    if path.endswith("Model") or path.endswith("Sequential"):
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
        if rng.random() < 0.5:
            model(tf.zeros([1, 2]))
        return model
    if path.endswith(".Optimizer"):
        return rng.choice([tf.keras.optimizers.Adam, tf.keras.optimizers.SGD])()
    if path.endswith(".Loss"):
        return tf.keras.losses.SparseCategoricalCrossentropy()
    if path.endswith(".Metric"):
        return tf.keras.metrics.Mean()
    if path.endswith("LearningRateSchedule"):
        return tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.9)
    if path.endswith("Initializer"):
        return tf.keras.initializers.Zeros()
    return found(path)()


def cases():
    """(op, inputs, attrs) as real TensorFlow took them."""
    from test_op_cases import CASES
    return [c for _, _, c in CASES if not any(word in c["op"].lower() for word in REMOVERS)]


def confine(folder):
    """Goes into a new folder and, as root, becomes nobody: what is written elsewhere fails."""
    os.mkdir(folder)
    os.chdir(folder)
    if os.getuid() == 0:
        os.chown(".", NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def call_op(rng, case, note):
    from test_op_cases import attr, tensor
    row = getattr(tf.raw_ops, case["op"])
    arguments = {}
    for name, value in case["inputs"].items():
        arguments[name] = [tensor(v) for v in value] if isinstance(value, list) else tensor(value)
    for name, value in case.get("attrs", {}).items():
        arguments[name] = attr(value)
    for _ in range(rng.choice([1, 1, 2])):
        if arguments:
            name = rng.choice(sorted(arguments))
            old = arguments[name]
            if tf.is_tensor(old) and rng.random() < 0.4:
                new = some_tensor(rng)
                arguments[name] = tf.cast(new, old.dtype) if new.dtype != tf.string and old.dtype != tf.string and rng.random() < 0.8 else new
            elif tf.is_tensor(old) and old.dtype in (tf.int32, tf.int64) and rng.random() < 0.7:
                extreme = rng.choice([2 ** 31 - 1, -2 ** 31, -1, 0, 1000, 2 ** 30]) if old.dtype == tf.int32 else \
                    rng.choice([2 ** 63 - 1, -2 ** 63, -1, 2 ** 40, 2 ** 31])
                array = old.numpy().copy().reshape(-1) if old.shape.rank else old.numpy().reshape(1).copy()
                if array.size:
                    array[rng.randrange(array.size)] = extreme
                arguments[name] = tf.constant(array.reshape(old.shape), old.dtype)
            else:
                arguments[name] = rng.choice(ODD)()
    note("raw_ops.%s(%s)" % (case["op"], ", ".join("%s=%s" % (k, short(v)) for k, v in arguments.items())))
    tensors = [a for a in arguments.values() if tf.is_tensor(a)]
    if rng.random() < 0.3:
        with tf.GradientTape() as tape:
            tape.watch([t for t in tensors if t.dtype.is_floating])
            result = row(**arguments)
        tape.gradient(result, tensors)
    else:
        row(**arguments)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul, operator.and_,
             operator.or_, operator.xor, operator.lshift, operator.eq, operator.lt, operator.getitem, operator.contains, operator.iadd, divmod]
ALONE = [operator.neg, operator.invert, abs, bool, int, float, complex, len, iter, list, hash, str, repr, round, operator.index, bytes, memoryview,
         np.array, copy.copy, copy.deepcopy, pickle.dumps, dir, "{:.2f}".format]
KEYS = [lambda: 0, lambda: -1, lambda: 10 ** 30, lambda: slice(None), lambda: slice(None, None, 0), lambda: slice(None, None, -1), lambda: slice(-5, 100, 2),
        lambda: slice(2 ** 62, -2 ** 62, -2 ** 63), lambda: Ellipsis, lambda: None, lambda: (Ellipsis, Ellipsis), lambda: (None,) * 12, lambda: (0,) * 9,
        lambda: tf.constant(1), lambda: tf.constant([True, False]), lambda: slice(tf.constant(0), Odd()), lambda: "a", lambda: 1.5, lambda: [0, 1]]


def call_operator(rng, _, note):
    """Operators and methods of tensors, variables, shapes and dtypes."""
    value = rng.choice([lambda: some_tensor(rng), lambda: tf.Variable(some_tensor(rng)), lambda: tf.TensorShape([1, None, 3]),
                        lambda: tf.TensorShape(None), lambda: rng.choice([tf.float32, tf.string, tf.bool])])()
    way = rng.random()
    if way < 0.3:
        other, call = rng.choice([lambda: some_tensor(rng), rng.choice(ODD)])(), rng.choice(OPERATORS)
        pair = (value, other) if rng.random() < 0.7 else (other, value)
        note("%s%s" % (call.__name__, short(pair)))
        call(*pair)
    elif way < 0.6:
        key = rng.choice(KEYS)() if rng.random() < 0.5 else tuple(rng.choice(KEYS)() for _ in range(rng.choice([0, 1, 2, 3])))
        note("%s[%s]" % (short(value), short(key)))
        part = value[key]
        if isinstance(value, tf.Variable) and rng.random() < 0.5:
            part.assign(rng.choice(ODD)())
    elif way < 0.7:
        call = rng.choice(ALONE)
        note("%s(%s)" % (call, short(value)))
        call(value)
    else:
        name = rng.choice([n for n in dir(value) if n not in ("__class__", "__init_subclass__")])
        args = [rng.choice(ODD)() for _ in range(rng.choice([0, 1, 1, 2, 3]))]
        note("%s.%s%s" % (short(value), name, short(tuple(args))))
        found_method = getattr(value, name)
        if callable(found_method):
            found_method(*args)


def main():
    seed, count, journal_path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    pattern = sys.argv[4] if len(sys.argv) > 4 else ""
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # its shadow memory is more than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    rng = random.Random(seed)
    journal = os.open(journal_path, os.O_WRONLY | os.O_CREAT, 0o600)
    last = [""]

    def note(text):
        last[0] = text
        data = (text + "\n").encode("utf-8", "backslashreplace")
        os.pwrite(journal, data, 0)
        os.ftruncate(journal, len(data))

    all_rows = [r for r in rows() if pattern in r[0]]
    all_cases = [c for c in cases() if pattern in "raw_ops." + c["op"]]
    confine(os.path.abspath(journal_path) + ".work")
    done = failed = 0
    while done < count:
        todo = [(call_row, r) for r in all_rows] + [(call_op, (c,)) for c in all_cases] + [(call_operator, ("an operator",))] * (0 if pattern else 500)
        rng.shuffle(todo)
        for call, what in todo[:count - done]:
            done += 1
            signal.alarm(SECONDS)
            note("preparing %s" % (what[0]["op"] if call is call_op else what[0]))
            try:
                call(rng, *what, note)
            except SystemError as error:
                print("%s\n  SystemError: %s" % (last[0], error))
                failed += 1
            except tf.errors.InternalError as error:
                print("%s\n  InternalError: %s" % (last[0], error))
                failed += 1
            except Exception:
                pass
            signal.alarm(0)
            if peak_kilobytes() > MEMORY >> 10 and "asan" not in os.environ.get("LD_PRELOAD", ""):
                print("%s\n  took too much memory" % last[0])
                return 1
    print("%d calls, %d failed" % (done, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    sys.exit(main())
