"""Threads, fork, Ctrl-C and the end of the interpreter: each in a process of its own, which has to end well."""
import os
import signal
import subprocess
import sys
import time

import pytest

import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
COMMON = """
import gc, os, signal, sys, threading, time
import numpy as np
import thalweg as tf

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are told to ignore it

class Mlp(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.parts = [tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10)]

    def call(self, x):
        x = self.flatten(x)
        for part in self.parts:
            x = part(x)
        return tf.nn.softmax(x)

X = np.random.RandomState(0).rand(64, 8, 8).astype("f4")
Y = np.arange(64) % 10

def train(model, optimizer, steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(Y, model(X)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return float(loss)

def big():
    a = tf.ones([256, 256])
    return float(tf.reduce_sum(a @ a))

def joined(pid, seconds=30):
    end = time.time() + seconds
    while time.time() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    return "the child hangs"
"""


def start(text, tmp_path, *options, as_file=False):
    environment = dict(os.environ, PYTHONPATH=PACKAGE, THALWEG_NUM_THREADS="4")
    program = ["-c", COMMON + text]
    if as_file:  # AutoGraph reads the source
        program = [str(tmp_path / "program.py")]
        (tmp_path / "program.py").write_text(COMMON + text)
    return subprocess.Popen([sys.executable, "-X", "faulthandler", *options, *program], env=environment, cwd=tmp_path, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(text, tmp_path, *options, as_file=False):
    process = start(text, tmp_path, *options, as_file=as_file)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler says where it hangs
        out, err = process.communicate()
    assert process.returncode == 0 and not err, "%s\n%s\n%s" % (process.returncode, out, err[-4000:])
    return out


def test_threads(tmp_path):
    """Each thread has its own model, tape and error; one variable is shared."""
    assert run("""
shared, problems = tf.Variable(tf.zeros([100])), []

def work(number):
    try:
        model, optimizer = Mlp(), tf.keras.optimizers.Adam()
        first, last = train(model, optimizer, 1), train(model, optimizer, 60)
        assert last < first
        for _ in range(200):
            shared.assign_add(tf.ones([100]))
            shared.numpy()
            try:
                tf.reshape(tf.zeros([number + 2]), [-2 - number])
            except tf.errors.InvalidArgumentError as error:
                assert str(-2 - number) in str(error), error
            else:
                assert False
        assert big() == 256.0 ** 3
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
        checkpoint.restore(checkpoint.save("save%d/ckpt" % number)).assert_consumed()
        model.predict(X, batch_size=7, verbose=0)
    except BaseException as error:
        problems.append(error)

threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not problems, problems
assert (shared.numpy() == 1600).all(), shared
print("done")
""", tmp_path, as_file=True) == "done\n"


def test_one_model_in_many_threads(tmp_path):
    assert run("""
model, optimizer, problems = Mlp(), tf.keras.optimizers.SGD(0.01), []
train(model, optimizer, 1)

def work(number):
    try:
        for _ in range(20):
            train(model, optimizer, 2)
            model.predict(X, verbose=0)
            model.get_weights()
            tf.train.Checkpoint(model=model).write("ckpt%d" % number)
    except BaseException as error:
        problems.append(error)

threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not problems, problems
print("done")
""", tmp_path, as_file=True) == "done\n"


def test_fork(tmp_path):
    """A child that is made between steps, inside a tape, and while other threads compute, goes on."""
    assert run("""
import warnings
warnings.simplefilter("ignore")
model, optimizer = Mlp(), tf.keras.optimizers.Adam()
train(model, optimizer, 5)
big()
stop = False

def work(number):
    own, own_optimizer = Mlp(), tf.keras.optimizers.Adam()
    while not stop:
        train(own, own_optimizer, 1)
        big()
        tf.random.normal([100])
        tf.keras.layers.Dense(3)
        checkpoint = tf.train.Checkpoint(model=own)
        checkpoint.read(checkpoint.write("thread%d" % number)).assert_consumed()

shared, much = tf.Variable(tf.zeros([300000])), tf.ones([300000])

def change():  # most of the time it holds the variable's lock
    while not stop:
        shared.assign_add(much)

threads = [threading.Thread(target=work, args=(i,)) for i in range(3)] + [threading.Thread(target=change)]
[t.start() for t in threads]
children = []
for i in range(25):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(Y, model(X)))
        pid = os.fork()
        if pid == 0:
            code = 9
            try:
                loss = loss * 2.0
                tape.gradient(loss, model.trainable_variables)
                train(model, optimizer, 3)
                assert big() == 256.0 ** 3
                tf.random.normal([10])
                shared.assign(much)
                assert (shared.numpy() == 1).all()
                Mlp()(X)
                checkpoint = tf.train.Checkpoint(model=model)
                checkpoint.read(checkpoint.write("child%d" % i)).assert_consumed()
                code = 0
            finally:
                os._exit(code)
    children.append(pid)
statuses = [joined(pid) for pid in children]
stop = True
[t.join() for t in threads]
assert statuses == [0] * 25, statuses
train(model, optimizer, 3)
print("done")
""", tmp_path) == "done\n"


def test_multiprocessing(tmp_path):
    (tmp_path / "job.py").write_text("import thalweg as tf\n\ndef square(x):\n    return float(tf.reduce_sum(tf.square(tf.fill([200, 200], x))))\n")
    assert run("""
import multiprocessing
sys.path.insert(0, ".")
import job
big()
for way in ("fork", "spawn"):
    with multiprocessing.get_context(way).Pool(2) as pool:
        print(pool.map(job.square, [1.0, 2.0]))
""", tmp_path) == "[40000.0, 160000.0]\n" * 2


@pytest.mark.parametrize("loop", ["train(model, optimizer, 10)", "model.predict(X, batch_size=1, verbose=0)",
                                  "sequential.predict(np.zeros((5000000, 4), 'f4'), batch_size=1, verbose=0)",
                                  "tf.train.Checkpoint(model=model).write('ckpt')", "tf.Variable(tf.random.normal([50])) * 2.0"])
def test_interrupt(tmp_path, loop):
    """Ctrl-C comes out as KeyboardInterrupt, soon, and everything works afterwards."""
    process = start("""
model, optimizer = Mlp(), tf.keras.optimizers.Adam()
sequential = tf.keras.Sequential([tf.keras.layers.Dense(3)])
train(model, optimizer, 2)
print("ready", flush=True)
caught, begin = 0, time.time()
while caught < 3 and time.time() - begin < 60:
    try:
        while True:
            %s
    except KeyboardInterrupt:
        caught += 1
        print("caught", flush=True)
assert caught == 3
assert train(model, optimizer, 20) < 2.5
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
assert float(tape.gradient(y, x)) == 6.0
checkpoint = tf.train.Checkpoint(model=model)
checkpoint.read(checkpoint.write("after")).assert_consumed()
print("done")
""" % loop, tmp_path)
    assert process.stdout.readline() == "ready\n"
    for _ in range(3):
        time.sleep(0.1)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "caught\n"
        assert time.time() - sent < 5
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "done\n"), err


@pytest.mark.parametrize("body", ["loop(tf.constant(2000000000))", "products(tf.ones([512, 512]))"])
def test_interrupt_of_a_function(tmp_path, body):
    """Ctrl-C ends a call of a long function within a second: one loop, or thousands of steps."""
    process = start("""
@tf.function(autograph=False)
def loop(n):
    return tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0)])[0]

@tf.function(autograph=False)
def products(a):
    x = a
    for _ in range(2000):
        x = tf.matmul(x, a) * 1e-3
    return tf.reduce_sum(x)

loop(tf.constant(1))
products(tf.ones([2, 2]))
products.get_concrete_function(tf.ones([512, 512]))
print("ready", flush=True)
for _ in range(2):
    try:
        while True:
            %s
    except KeyboardInterrupt:
        print("caught", flush=True)
assert int(loop(tf.constant(7))) == 7
assert float(tf.reduce_sum(products(tf.ones([2, 2])))) >= 0
print("done")
""" % body, tmp_path)
    assert process.stdout.readline() == "ready\n"
    for _ in range(2):
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "caught\n"
        assert time.time() - sent < 5  # a second, on a machine that has nothing else to do
    assert process.stdout.readline() == "done\n"
    assert process.wait(timeout=60) == 0, process.stderr.read()


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="a lock of the sanitizer's own allocator is held in the child")
def test_functions_in_threads_and_children(tmp_path):
    """Several threads call one function, with shapes that have a plan and shapes that get one; children made meanwhile go on with it."""
    assert run("""
import warnings
warnings.simplefilter("ignore")
weight = tf.Variable(tf.ones([16, 16]))

@tf.function(input_signature=[tf.TensorSpec([None, 16])], autograph=False)
def f(x):
    y = tf.reshape(tf.matmul(x, weight), [-1])
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, tf.tanh(y) * 2.0], [tf.constant(0), y])
    return tf.reduce_sum(tf.reshape(y, tf.shape(x)), axis=1)

def expected(rows):
    y = np.full([rows, 16], 1.6, "f4")
    for _ in range(3):
        y = np.tanh(y) * 2
    return y.sum(1)

def check(rows):
    np.testing.assert_allclose(f(tf.fill([rows, 16], 0.1)).numpy(), expected(rows), rtol=1e-5)

check(1)
stop, wrong = False, []
def work(number):
    i = 0
    while not stop:
        try:
            check(1 + (number * 7 + i) % 40)
        except Exception as error:
            wrong.append(error)
            return
        i += 1

threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
statuses = []
for i in range(20):
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            for rows in range(1, 60):
                check(rows)
            code = 0
        finally:
            os._exit(code)
    statuses.append(joined(pid))
stop = True
[t.join() for t in threads]
assert statuses == [0] * 20 and not wrong, (statuses, wrong)
print("done")
""", tmp_path) == "done\n"


EXITS = {
    "live objects": """
tape = tf.GradientTape(persistent=True)
tape.__enter__()
model, optimizer = Mlp(), tf.keras.optimizers.Adam()
train(model, optimizer, 2)
model.cycle = [model, {"a": optimizer}]
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "save", max_to_keep=2)
manager.save()
status = tf.train.Checkpoint(model=tf.Variable(1.0)).restore(manager.latest_checkpoint)
status.expect_partial()
array = tf.ones([100]).numpy()
view = memoryview(tf.ones([100]).numpy())
sys.modules["kept"] = [model, tape, status, array]
tf.kept = tape
""",
    "daemon threads": """
def work():
    model, optimizer = Mlp(), tf.keras.optimizers.Adam()
    while True:
        train(model, optimizer, 1)
        big()
        tf.train.Checkpoint(model=model).write("t%d" % threading.get_ident())
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
""",
    "objects that end late": """
class Late:
    def __init__(self):
        self.model = Mlp()
        self.model(X)
    def __del__(self):
        try:
            self.model(X)
        except BaseException:
            pass
late = Late()
late.me = late
import atexit
atexit.register(lambda: train(Mlp(), tf.keras.optimizers.Adam(), 1))
""",
    "sys.exit in call": """
class Quits(tf.keras.Model):
    def call(self, x):
        raise SystemExit(0)
with tf.GradientTape():
    Quits()(X)
""",
    "a collection at the end": """
gc.disable()
for _ in range(20):
    m = Mlp(); m(X); m.me = [m]
gc.set_threshold(1)
""",
}


@pytest.mark.parametrize("what", EXITS)
def test_exit(tmp_path, what):
    for _ in range(3 if "daemon" in what else 1):
        assert run(EXITS[what], tmp_path) == ""
