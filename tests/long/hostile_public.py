"""Calls every public name of tf with arguments that make no sense, as test_hostile_public.py asks for.

usage: hostile_public.py SEED CALLS SHARD SHARDS FOLDER [part of a name]

Each callable (function, constructor, method, property) is tried in a child process, CALLS times: one argument is hostile, or several, the others fit their
names. A child that dies of a signal, does not end, takes too much memory or sees SystemError or InternalError is told, with the call. Closes with the counts.
"""
import inspect
import os
import random
import resource
import signal
import sys
import types

import numpy as np

import hostile
import thalweg as tf
from thalweg import _core, _describe

SECONDS = 30            # for one call
MEMORY = 1 << 30        # above what the process has at its start
NEVER = ("remove", "delete", "rmtree", "rename", "move", "load_data", "get_file", "test.main", "app.run", "Server", "service", "profiler.experimental.server",
         "_exit", "TestCase", "thalweg.test.", "abort", "join_", "sleep",
         "while_loop", "wait_for_stop", "Queue.enqueue", "Queue.dequeue")  # the last four go on, or wait, for as long as they are told to


class Sly:
    """Any attribute can be had, and is of no use."""
    def __getattr__(self, name):
        raise ValueError("no %s" % name)


class Liar:
    """Says that it is an array."""
    shape, dtype, ndim = (2, 2), "float32", -1
    __array_interface__ = {"shape": (1 << 40,), "typestr": "<f4", "data": (8, False), "version": 3}


class Shrinking(list):
    """Other each time it is asked."""
    def __len__(self):
        return 5

    def __iter__(self):
        self.append(1)
        return iter(self[:1])


class BadArray:
    def __array__(self, dtype=None, copy=None):
        return "no array"


def read_only():
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


MORE = [Sly, Liar, lambda: Shrinking([1, 2]), BadArray, read_only, lambda: np.zeros((3, 3))[::-1, ::-2], lambda: np.zeros((2, 2), np.clongdouble),
        lambda: np.zeros(3, np.longdouble), lambda: np.zeros(3, "V8"), lambda: np.zeros(2, "U3"), lambda: np.array(b"a\0b"), lambda: np.zeros(3, "m8[s]"),
        lambda: np.zeros((2, 3), ">i8"), lambda: np.zeros((0,)), lambda: np.array(None, object), lambda: np.array([Odd() for Odd in [hostile.Odd] * 2], object),
        lambda: np.broadcast_to(np.float32(1), (1 << 20, 1 << 12)), lambda: np.zeros((2, 2), order="F"), lambda: np.int8(-128), lambda: np.bool_(True),
        lambda: np.str_("a"), lambda: np.datetime64("2020"), lambda: {"a": {"b": [1, (2, None)]}}, lambda: {1: 2, "a": 3}, lambda: [[[]], []], lambda: ((1, 2), [3]),
        lambda: "a" * (1 << 20), lambda: "\ud800", lambda: b"\xff" * 100, lambda: iter([]), lambda: zip([1], [2]), lambda: type, lambda: int, lambda: 1 << 128,
        lambda: -0.0, lambda: {"class_name": "Dense", "config": {"units": -1}}, lambda: {"class_name": "Dense", "config": None}, lambda: [-1, 0, 1 << 31],
        lambda: tf.ragged.constant([[1.0], []]), lambda: tf.sparse.from_dense([[0.0, 1.0]]), lambda: tf.TensorSpec(None), lambda: tf.data.Dataset.range(3),
        lambda: tf.IndexedSlices([[1.0]], [0]), lambda: tf.Graph(), lambda: tf.keras.Input([2]), lambda: tf.function(lambda x: x), lambda: tf.Module(),
        lambda: tf.TensorArray(tf.float32, 2), lambda: tf.constant([[1.0, 2.0], [3.0, 4.0]])]
HOSTILE = hostile.ODD + MORE


def by_name(rng, name):
    """A value that a parameter of this name may well take."""
    word = name.lower()
    if "dtype" in word or word in ("tout", "t"):
        return rng.choice(hostile.DTYPES)
    if "shape" in word or word in ("strides", "ksize", "size", "sizes", "paddings", "perm"):
        return rng.choice([[2], [2, 2], [1, 2, 2, 1], [], 1])
    if word in ("name", "scope", "default_name", "family", "tag"):
        return rng.choice([None, "a"])
    if "axis" in word or word in ("num", "n", "k", "depth", "units", "filters", "seed", "count", "buffer_size", "batch_size", "step", "index"):
        return rng.choice([0, 1, 2, -1])
    if "path" in word or "file" in word or "dir" in word or word == "prefix":
        return rng.choice(["out", "out/a", "missing"])
    if word.endswith("_fn") or word in ("fn", "func", "function", "f", "body", "cond", "map_func", "predicate"):
        return lambda *a, **k: a[0] if a else 1.0
    if word in ("values", "inputs", "tensors", "xs", "ys"):
        return [hostile.some_tensor(rng) for _ in range(2)]
    if word in ("training", "keepdims", "persistent", "trainable") or word.startswith(("use_", "is_", "return_")):
        return rng.random() < 0.5
    if word in ("x", "y", "a", "b", "input", "tensor", "logits", "labels", "value", "features", "images", "image", "y_true", "y_pred", "data"):
        return rng.choice([hostile.some_tensor(rng), tf.ones([2, 2]), tf.ones([1, 4, 4, 3]), [1.0, 2.0], np.ones((2, 3), "f4")])
    return rng.choice([hostile.some_tensor(rng), 1, 0.5, "a", None, [1, 2], True])


ROWS = {}
for _, paths, role, text, _, _ in _core.rows():
    for path in paths.split("|"):
        ROWS[path] = text


def parameters(path, call):
    """(name, kind or None, default text) of what it takes."""
    if path in ROWS:
        text = ROWS[path]
        parts = []
        for part in _describe.split(text[text.index("(") + 1:text.rindex(")")]):
            name, _, rest = part.partition(":")
            kind, _, default = rest.strip().partition(" = ")
            parts.append((name.strip(), kind.strip() or "value", default or None))
        return [p for p in parts if p[0] not in ("*", "self") and not p[0].startswith("*")]
    try:
        found = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return [("x", None, None), ("y", None, "")]
    return [(p.name, None, None if p.default is p.empty else "") for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in ("self", "cls")]


def arguments(rng, wanted):
    """Positional ones up to the first that is left out, then by name. One is hostile, sometimes more."""
    given, named, out = [], {}, False
    victim = rng.randrange(len(wanted)) if wanted else 0
    many = 0.4 if rng.random() < 0.2 else 0.03
    for at, (name, kind, default) in enumerate(wanted):
        if at != victim and default is not None and rng.random() < 0.7:
            out = True
            continue
        if at == victim or rng.random() < many:
            value = rng.choice(HOSTILE)()
        else:
            value = hostile.fitting(rng, kind, default) if kind else by_name(rng, name)
        if out:
            named[name] = value
        else:
            given.append(value)
    return given, named


def instances():
    dataset = tf.data.Dataset.from_tensor_slices(([1.0, 2.0], [1, 2]))
    graph = tf.Graph()
    with graph.as_default():
        placeholder = tf.compat.v1.placeholder(tf.float32, [None, 2])
    function = tf.function(lambda x: x * 2.0)
    model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    return {"Tensor": tf.ones([2, 2]), "Variable": tf.Variable([1.0, 2.0]), "RaggedTensor": tf.ragged.constant([[1.0], []]), "Dataset": dataset, "Graph": graph,
            "SparseTensor": tf.sparse.from_dense([[0.0, 1.0]]), "Iterator": iter(dataset), "Operation": placeholder.op, "Function": function, "Model": model,
            "ConcreteFunction": function.get_concrete_function(tf.TensorSpec([None])), "Session": tf.compat.v1.Session(graph=graph), "Sequential": model,
            "TensorArray": tf.TensorArray(tf.float32, 2), "TensorShape": tf.TensorShape([None, 2]), "DType": tf.float32, "TensorSpec": tf.TensorSpec([None]),
            "IndexedSlices": tf.IndexedSlices([[1.0]], [0], [3, 1]), "GradientTape": tf.GradientTape(persistent=True), "Layer": tf.keras.layers.Dense(2),
            "Optimizer": tf.keras.optimizers.Adam(), "Loss": tf.keras.losses.MeanSquaredError(), "Metric": tf.keras.metrics.Mean(),
            "CheckpointManager": tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), "out", 2), "Generator": tf.random.Generator.from_seed(1)}


def made(rng, owner, cls):
    """An object of the class: prepared, or of its constructor with arguments that fit."""
    ready = instances()
    if cls.__name__ in ready:
        return ready[cls.__name__]
    for _ in range(4):
        wanted = parameters(owner, cls)
        try:
            return cls(*[hostile.fitting(rng, k, d) if k else by_name(rng, n) for n, k, d in wanted if d is None])
        except Exception:
            continue
    return cls.__new__(cls) if cls.__flags__ & (1 << 9) else None


def public():
    """{path: (how, owner's path, object)} of everything that can be called, by its shortest path."""
    found, seen, places = {}, set(), [("", tf)]
    for prefix, place in places:
        if prefix.count(".") > 5:
            continue
        for name in sorted(set(dir(place))):
            path = prefix + name
            if name.startswith("_") or any(word in path for word in NEVER):
                continue
            try:
                value = getattr(place, name)
            except Exception:
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("thalweg") and id(value) not in seen:
                    seen.add(id(value))
                    places.append((path + ".", value))
                continue
            key = id(value) if not isinstance(value, types.MethodType) else path
            if not callable(value) or key in seen:
                continue
            seen.add(key)
            if not isinstance(value, type):
                found[path] = ("function", None, value)
                continue
            found[path] = ("class", None, value)
            if value.__module__ == "numpy":
                continue  # tf.experimental.numpy.float32 is NumPy's own class, with NumPy's own members
            for member in sorted(set(dir(value))):
                text = path + "." + member
                if (member.startswith("_") and member not in ("__call__", "__getitem__", "__setattr__", "__setstate__", "__reduce__")) or any(w in text for w in NEVER):
                    continue
                found[text] = ("member", path, value)
    return found


def attempt(rng, path, how, owner, value, note):
    if how != "member":
        given, named = arguments(rng, parameters(path, value))
        note("%s(%s)" % (path, ", ".join([hostile.short(a) for a in given] + ["%s=%s" % (k, hostile.short(v)) for k, v in named.items()])))
        result = value(*given, **named)
        if rng.random() < 0.3:
            hostile.short(result)
        return
    target, member = made(rng, owner, value), path.rsplit(".", 1)[1]
    if target is None:
        return
    note("%s of %s" % (path, hostile.short(target)))
    method = getattr(target, member)
    if not callable(method):
        other = rng.choice(HOSTILE)()
        note("%s of %s = %s" % (path, hostile.short(target), hostile.short(other)))
        setattr(target, member, other)
        return
    given, named = arguments(rng, parameters(path, method))
    note("%s(%s, %s)" % (path, hostile.short(target), ", ".join([hostile.short(a) for a in given] + ["%s=%s" % (k, hostile.short(v)) for k, v in named.items()])))
    method(*given, **named)


def child(rng, path, entry, calls, journal):
    """Exits with 0, or 1 after an error that must not be; anything else is a finding too."""
    failed = 0

    def note(text):
        data = (text + "\n").encode("utf-8", "backslashreplace")[:4000]
        os.pwrite(journal, data, 0)
        os.ftruncate(journal, len(data))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    size = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for _ in range(calls):
        signal.alarm(SECONDS)
        note("preparing " + path)
        try:
            attempt(rng, path, *entry, note)
        except (SystemError, tf.errors.InternalError) as error:
            if "Odd" not in str(error):
                os.pwrite(journal, ("\n%s: %s" % (type(error).__name__, error)).encode("utf-8", "backslashreplace"), os.fstat(journal).st_size)
                failed = 1
                break
        except Exception:
            pass
        except (SystemExit, KeyboardInterrupt, GeneratorExit):
            pass
        signal.alarm(0)
    os._exit(failed)


def main():
    seed, calls, shard, shards = (int(a) for a in sys.argv[1:5])
    folder = os.path.abspath(sys.argv[5])
    pattern = sys.argv[6] if len(sys.argv) > 6 else ""
    journal = os.open(os.path.join(folder, "journal"), os.O_RDWR | os.O_CREAT, 0o600)
    everything = public()
    names = [n for i, n in enumerate(sorted(n for n in everything if pattern in n)) if i % shards == shard]
    hostile.confine(os.path.join(folder, "work"))
    findings = 0
    for name in names:
        rng = random.Random("%d %s" % (seed, name))
        pid = os.fork()
        if pid == 0:
            try:
                child(rng, name, everything[name], calls, journal)
            finally:
                os._exit(3)
        _, status = os.waitpid(pid, 0)
        if status:
            findings += 1
            data = os.pread(journal, 4000, 0).decode("utf-8", "replace").strip()
            print("FINDING %s: %s\n  %s" % (name, "signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit %d" % os.WEXITSTATUS(status), data), flush=True)
    print("%d names, %d calls, %d findings" % (len(names), len(names) * calls, findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
