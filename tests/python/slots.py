"""Calls every row once for each of its arguments with each value of a table in that argument, the others fitting, as test_slots.py asks for.

usage: slots.py TABLE SEED JOURNAL FIRST STEP [FILTER]

TABLE is one of those at the end: symbolic tensors (of functions, graphs and Keras), or all dtypes. Every STEP-th slot from FIRST on is tried. The
call that runs stands in JOURNAL as hostile.py writes it, so that who finds this process dead knows what it died of and goes on behind it; `sweep` does that.
"""
import os
import random
import resource
import signal
import subprocess
import sys

import thalweg as tf

import hostile

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 30  # for one slot
DTYPE_NAMES = [name for name in sorted(vars(tf.dtypes)) if isinstance(getattr(tf.dtypes, name), tf.DType)]


def slots(pattern=""):
    """(path, role, parameters, number of the parameter) of every argument of every row."""
    for path, role, parts in hostile.rows():
        if role != "property" and pattern in path:
            for number in range(len(parts)):
                yield path, role, parts, number


def call(rng, path, role, parts, number, value):
    """One call with that value for the parameter of that number; the others fit."""
    args, kwargs = [], {}
    target = hostile.found(path)
    for at, (name, kind, default) in enumerate(parts):
        if at == number:
            given = value
        elif role == "method" and at == 0:
            given = hostile.made(rng, path.rsplit(".", 1)[0])
        elif default is not None or name.startswith("*"):
            continue
        else:
            given = hostile.fitting(rng, kind, default)
        if name.startswith("**"):
            kwargs["v"] = given
        elif name.startswith("*") or not kwargs and len(args) == at:
            args.append(given)
        else:
            kwargs[name] = given
    return target(*args, **kwargs)


class Journal:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        self.count = self.failed = 0
        self.text = ""

    def note(self, text):
        self.text = text
        data = (text + "\n").encode("utf-8", "backslashreplace")
        os.pwrite(self.file, data, 0)
        os.ftruncate(self.file, len(data))

    def attempt(self, slot, what, rng, value):
        path, role, parts, number = slot
        self.note("%s\n%s(%s=%s)" % (self.place, path, parts[number][0], what))
        self.count += 1
        try:
            call(rng, path, role, parts, number, value)
        except (SystemError, tf.errors.InternalError) as error:
            print("WRONG %s\n  %s: %s" % (self.text.split("\n", 1)[1], type(error).__name__, error))
            self.failed += 1
        except Exception:
            pass


# ---- tables ----

SYMBOLIC = [(dtype, shape) for dtype in ("string", "int32", "float32", "bool") for shape in ((), (2,))]


def symbolic_in_functions(journal, slot, rng):
    def body(*tensors):
        for (dtype, shape), tensor in zip(SYMBOLIC, tensors):
            journal.attempt(slot, "symbolic %s%s" % (dtype, shape), rng, tensor)
            if dtype == "int32":
                journal.attempt(slot, "list of symbolic %s%s" % (dtype, shape), rng, [tensor, tensor])
    tf.function(body, autograph=False).get_concrete_function(*[tf.TensorSpec(shape, dtype) for dtype, shape in SYMBOLIC])


def symbolic_in_graphs(journal, slot, rng):
    with tf.Graph().as_default():
        for dtype, shape in SYMBOLIC:
            journal.attempt(slot, "placeholder %s%s" % (dtype, shape), rng, tf.compat.v1.placeholder(dtype, shape))
        journal.attempt(slot, "placeholder of unknown shape", rng, tf.compat.v1.placeholder("int32"))


def symbolic_of_keras(journal, slot, rng):
    for dtype, shape in SYMBOLIC:
        journal.attempt(slot, "keras.Input %s%s" % (dtype, shape), rng, tf.keras.Input(shape, dtype=dtype))


def every_dtype(journal, slot, rng):
    path, role, parts, number = slot
    if parts[number][1].split("<")[0].split()[0].rstrip("?") != "dtype":
        return
    for name in DTYPE_NAMES:
        journal.attempt(slot, name, random.Random(0), getattr(tf.dtypes, name))
    for name in DTYPE_NAMES:
        tf.function(lambda: journal.attempt(slot, name + " in a function", random.Random(0), getattr(tf.dtypes, name)), autograph=False).get_concrete_function()


TABLES = {"functions": symbolic_in_functions, "graphs": symbolic_in_graphs, "keras": symbolic_of_keras, "dtypes": every_dtype}


def main():
    table, seed, path, first, step = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (hostile.MEMORY, hostile.MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    journal = Journal(path)
    hostile.confine("%s.%d.work" % (os.path.abspath(path), first))
    everything = list(slots(sys.argv[6] if len(sys.argv) > 6 else ""))
    for at in range(first, len(everything), step):
        slot = everything[at]
        journal.place = "%d of %d, %d calls" % (at, len(everything), journal.count)
        journal.note("%s\nbefore %s" % (journal.place, slot[0]))
        signal.alarm(SECONDS)
        TABLES[table](journal, slot, random.Random("%s %s %d" % (seed, slot[0], slot[3])))
        signal.alarm(0)
    journal.note("done\n%d calls" % journal.count)
    return 1 if journal.failed else 0


def sweep(table, folder, first=0, step=1, seed=0, pattern=""):
    """(number of calls, what went wrong), over processes that go on where the last one died."""
    journal, calls, wrong = os.path.join(str(folder), "journal." + table), 0, []
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))) + os.pathsep + HERE)
    environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":max_allocation_size_mb=1024"
    while True:
        done = subprocess.run([sys.executable, os.path.join(HERE, "slots.py"), table, str(seed), journal, str(first), str(step), pattern], cwd=str(folder),
                              env=environment, capture_output=True, text=True, errors="replace")
        with open(journal, errors="replace") as file:
            place, what = file.read().split("\n", 1)
        wrong += done.stdout.split("WRONG ")[1:]
        if done.returncode in (0, 1) and place == "done":
            return calls + int(what.split()[0]), wrong
        wrong.append("%s\n  ended by %d: %s" % (what.strip(), done.returncode, done.stderr[-2000:]))
        first = int(place.split()[0]) + step
        calls += int(place.split()[3])


if __name__ == "__main__":
    sys.exit(main())
