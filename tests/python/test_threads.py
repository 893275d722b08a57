"""Several Python threads at once: every call of training and inference, a web server that predicts, first uses of names that are loaded late, and
programs that end while threads are at work. Each in a process of its own. tests/long/test_all_threads.py does the same for longer."""
import os
import subprocess
import sys

import pytest

import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
FOLDER = os.path.dirname(os.path.abspath(__file__))
KINDS = ["subclass", "host", "steps", "functional", "sequential"]


def run(*arguments, timeout=120):
    """A Python program: what it printed."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", *arguments], env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, capture_output=True,
                          timeout=timeout)
    assert done.returncode == 0, "%s\n%s\n%s" % (done.returncode, done.stdout[-2000:], done.stderr[-6000:])
    return done.stdout


def calls(kind, owner, rounds):
    """How many calls of eight threads each gave what one thread gives."""
    lines = run(os.path.join(FOLDER, "thread_program.py"), kind, owner, str(rounds)).splitlines()
    assert lines[-1] == "done"
    return (len(lines) - 1) * rounds


@pytest.mark.parametrize("owner", ["own", "shared"])
@pytest.mark.parametrize("kind", KINDS)
def test_calls(kind, owner):
    assert calls(kind, owner, 1) >= 15


def test_web_server():
    """A server with a thread per request that predicts, asked by eight clients; it ends while its threads still run."""
    assert run("-c", """
import http.server, json, sys, threading, urllib.request
import numpy as np
import thalweg as tf

inputs = tf.keras.Input((4,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs))

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(model.predict(np.array(rows, "float32"), verbose=0).tolist()).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
wrong = []

def ask(number):
    for i in range(10):
        rows = [[number, i, 1, 1]] * (1 + i % 3)
        request = urllib.request.Request("http://127.0.0.1:%d/" % server.server_port, json.dumps(rows).encode())
        if json.load(urllib.request.urlopen(request, timeout=60)) != [[number + i + 2.0]] * len(rows):
            wrong.append((number, i))

clients = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
[c.start() for c in clients]
[c.join() for c in clients]
assert not wrong, wrong
for i in range(4):
    threading.Thread(target=lambda: [model.predict(np.ones((8, 4), "float32"), verbose=0) for _ in range(10 ** 6)], daemon=True).start()
print("done", flush=True)
""") == "done\n"


NAMES = """
import sys
import thalweg as tf
seen, found = set(), []

def walk(module, prefix):
    if id(module) in seen:
        return
    seen.add(id(module))
    for name in dir(module):
        if name.startswith("_") or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if isinstance(value, type(sys)):
            if value.__name__.startswith("thalweg"):
                walk(value, prefix + name + ".")
        else:
            found.append(prefix + name)
walk(tf, "")
print("\\n".join(found))
"""
FIRST_USE = """
import faulthandler, random, sys, threading
import thalweg as tf
faulthandler.dump_traceback_later(100, exit=True)
sys.setswitchinterval(1e-6)
names, seed, barrier, found, members = sys.stdin.read().split(), int(sys.argv[1]), threading.Barrier(8), [None] * 8, []

def work(number):
    mine, values = list(names), {}
    random.Random(8 * seed + number).shuffle(mine)
    barrier.wait()
    for name in mine:
        value = tf
        try:
            for part in name.split("."):
                value = getattr(value, part)
        except BaseException as error:
            value = error
        values[name] = value
        if isinstance(value, type):
            members.append((name, value, set(dir(value))))
    found[number] = values

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
wrong = [(name, [f[name] for f in found]) for name in names if any(type(f[name]) is not type(found[0][name]) or isinstance(f[name], BaseException) for f in found)]
assert not wrong, (len(wrong), wrong[:5])
half = {name: set(dir(value)) - seen for name, value, seen in members if set(dir(value)) - seen}
assert not half, half
print(len(names))
"""


def public_names():
    return run("-c", NAMES).split()


def first_use(names, seed):
    """All of them from eight threads, each in an order of its own."""
    done = subprocess.run([sys.executable, "-c", FIRST_USE, str(seed)], input="\n".join(names), env=dict(os.environ, PYTHONPATH=PACKAGE), text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    return int(done.stdout)


def test_first_use_of_graphs():
    """Whoever is first has whole classes, also through tensors of functions."""
    assert run("-c", """
import sys, threading
import thalweg as tf
sys.setswitchinterval(1e-6)
barrier, problems = threading.Barrier(8), []

def work(number):
    try:
        barrier.wait()
        if number % 2:
            with tf.Graph().as_default() as graph:
                assert tf.constant(1.0).op.node_def.op == "Const" and len(graph.get_operations()) == 1
        else:
            tf.function(lambda x: [(x + 1).op.get_attr("T"), x.consumers()] and x, autograph=False)(tf.constant(1.0))
            assert tf.keras.Sequential().run_eagerly is False
    except BaseException as error:
        problems.append(error)

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not problems, problems
print("done")
""") == "done\n"


def test_first_use_of_names():
    names = public_names()
    assert len(names) > 2000
    for seed in range(2):
        assert first_use(names, seed) == len(names)
    for name in ("Graph", "compat.v1.train.Saver", "data.Dataset", "keras.callbacks.EarlyStopping", "autodiff.ForwardAccumulator", "summary.scalar"):
        assert first_use([name], 0) == 1


def test_classes_are_whole():
    """No public class gains a member when modules are loaded later: a thread may hold it already."""
    assert int(run("-c", """
import sys
import thalweg as tf

def walk(module, seen, names, visit):
    if id(module) in seen:
        return
    seen.add(id(module))
    for name in [n for n in names(module) if not n.startswith("_")]:
        value = getattr(module, name, None)
        if isinstance(value, type(sys)):
            if value.__name__.startswith("thalweg"):
                walk(value, seen, names, visit)
        elif isinstance(value, type):
            visit(value)

members = {}
walk(tf, set(), lambda module: list(vars(module)), lambda cls: members.setdefault(cls, set(dir(cls))))
walk(tf, set(), dir, lambda cls: None)
gained = {cls: set(dir(cls)) - names for cls, names in members.items() if set(dir(cls)) - names}
assert not gained, gained
print(len(members))
""")) > 200


def test_structures():
    """Threads that give one model inputs of different structures get the results of their own."""
    assert run("-c", """
import threading
import numpy as np
import thalweg as tf

class Model(tf.keras.Model):
    def call(self, x):
        if isinstance(x, dict):
            return {"difference": x["b"] - x["a"], "twice": 2 * x["a"]}
        if isinstance(x, (list, tuple)):
            return x[0] * x[1]
        return -x

model = Model()
one, two = np.full((8, 3), 5, "f4"), np.full((8, 3), 7, "f4")
kinds = [
    (lambda: {"a": one, "b": two}, lambda y: y["difference"].max() == y["difference"].min() == 2 and (y["twice"] == 10).all()),
    (lambda: {"b": one, "a": two}, lambda y: (y["difference"] == -2).all() and (y["twice"] == 14).all()),
    (lambda: [one, two], lambda y: (y == 35).all()),
    (lambda: one, lambda y: (y == -5).all()),
]
problems, barrier = [], threading.Barrier(8)

def work(number):
    try:
        barrier.wait()
        for i in range(12):
            make, good = kinds[(number + i // 3) % len(kinds)]
            found = model.predict(make(), verbose=0)
            assert good(found), (number, i, found)
    except BaseException as error:
        problems.append(error)

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not problems, problems
print("done")
""") == "done\n"
