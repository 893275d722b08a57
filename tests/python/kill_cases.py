"""Everything that writes files, killed at every system call of a save: what is read afterwards is the old content or the new, and the next save
leaves nothing over.

A case writes `value` under a folder, and reads which value is there (None: nothing). A child is forked for each kill: strace holds on to it, counts the
calls from then on, and kills it at the n-th of a kind."""
import collections
import os
import re
import shutil
import subprocess
import time

import numpy as np
import thalweg as tf

CALLS = ("openat", "write", "pwrite64", "writev", "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "rmdir",
         "close", "mkdir", "mkdirat", "flock", "ftruncate", "fallocate", "lseek")


def _model(value):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,), name="d")])
    model.set_weights([np.full((2, 3), value, np.float32), np.full(3, value, np.float32)])
    return model


def _one(weights):
    values = {float(x) for w in weights for x in np.asarray(w).ravel()}
    assert len(values) == 1, values  # never a part of each
    return values.pop()


def _weights_back(path):
    model = _model(0)
    model.load_weights(path)
    return _one(model.get_weights())


def _checkpoint(value):
    return tf.train.Checkpoint(v=tf.Variable(np.full(5, value, np.float32)), w=tf.Variable(np.full(3, value, np.float32)))


def _checkpoint_back(path):
    reader = tf.train.load_checkpoint(path)
    return _one([reader.get_tensor(k + "/.ATTRIBUTES/VARIABLE_VALUE") for k in "vw"])


def _module(value):
    module = tf.Module()
    module.v = tf.Variable(np.full(3, value, np.float32))
    module.f = tf.function(lambda x: x * module.v, input_signature=[tf.TensorSpec([], tf.float32)])
    return module


def _manager(folder, value):
    checkpoint = _checkpoint(value)
    manager = tf.train.CheckpointManager(checkpoint, folder + "/c", max_to_keep=2, checkpoint_name="n")
    checkpoint.restore(manager.latest_checkpoint)
    checkpoint.v.assign(np.full(5, value)), checkpoint.w.assign(np.full(3, value))
    manager.save()


def _dataset(value):
    return tf.data.Dataset.range(4).map(lambda x: tf.fill([3], value))


def _cache(folder, value):
    """A cache is not replaced while it is there."""
    shutil.rmtree(folder + "/cache", ignore_errors=True)
    os.mkdir(folder + "/cache")
    assert _one(list(_dataset(value).cache(folder + "/cache/c"))) == value


def _cache_back(folder):
    """The cache serves if it is whole, else it is made anew; neither is an error."""
    os.makedirs(folder + "/cache", exist_ok=True)
    return _one(list(_dataset(2.0).cache(folder + "/cache/c")))


# name -> (write(folder, value), read(folder))
CASES = {
    "h5": (lambda f, v: _model(v).save(f + "/m.h5"), lambda f: _one(tf.keras.models.load_model(f + "/m.h5").get_weights())),
    "keras": (lambda f, v: _model(v).save(f + "/m.keras"), lambda f: _one(tf.keras.models.load_model(f + "/m.keras").get_weights())),
    "weights_h5": (lambda f, v: _model(v).save_weights(f + "/w.h5"), lambda f: _weights_back(f + "/w.h5")),
    "weights_keras": (lambda f, v: _model(v).save_weights(f + "/w.weights.h5"), lambda f: _weights_back(f + "/w.weights.h5")),
    "weights_checkpoint": (lambda f, v: _model(v).save_weights(f + "/w"), lambda f: _weights_back(f + "/w")),
    "write_file": (lambda f, v: tf.io.write_file(f + "/t", np.full(9, v).tobytes()), lambda f: _one([np.frombuffer(tf.io.read_file(f + "/t").numpy())])),
    "checkpoint": (lambda f, v: _checkpoint(v).write(f + "/c"), lambda f: _checkpoint_back(f + "/c")),
    "manager": (_manager, lambda f: _checkpoint_back(f + "/c")),
    "saved_model": (lambda f, v: tf.saved_model.save(_module(v), f + "/s"), lambda f: _one([tf.saved_model.load(f + "/s").f(1.0)])),
    "keras_saved_model": (lambda f, v: _model(v).save(f + "/s"), lambda f: _one(tf.keras.models.load_model(f + "/s").get_weights())),
    "dataset": (lambda f, v: _dataset(v).save(f + "/d"), lambda f: _one(list(tf.data.Dataset.load(f + "/d")))),
    "cache": (_cache, _cache_back),
}


def listing(folder):
    """What is there, without the numbers of runs and checkpoints."""
    names = (os.path.relpath(os.path.join(where, name), folder) for where, folders, files in os.walk(folder) for name in folders + files)
    return sorted(re.sub(r"\b\d{12,}\b|(?<=n-)\d", "N", name) for name in names)


def killed(write, folder, call, when):
    """Forks a child that writes the value 2, killed at the n-th such call; False: it ended before."""
    release = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(release[1])
            os.read(release[0], 1)
            write(folder, 2.0)
            code = 0
        finally:
            os._exit(code)
    os.close(release[0])
    log = folder + ".strace"
    with open(log, "w") as errors:
        tracer = subprocess.Popen(["strace", "-f", "-p", str(child), "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=%s:signal=KILL:when=%d" % (call, when)],
                                  stderr=errors)
        until = time.monotonic() + 20
        while "attached" not in open(log).read() and time.monotonic() < until:
            time.sleep(0.001)
        os.write(release[1], b"x")
        os.close(release[1])
        _, status = os.waitpid(child, 0)
        tracer.wait()
    os.remove(log)
    assert status == 0 or os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9, status
    return status != 0


def _records(folder, _):
    with tf.io.TFRecordWriter(folder + "/r") as writer:
        for i in range(40):
            writer.write(b"%d" % i + b"." * 3000)
            if i % 10 == 9:
                writer.flush()


def _records_back(folder):
    found = []
    try:
        for record in tf.data.TFRecordDataset(folder + "/r"):
            found.append(int(record.numpy().split(b".")[0]))
    except (tf.errors.DataLossError, tf.errors.NotFoundError):
        pass  # a torn end is told
    return found


def _events(folder, _):
    writer = tf.summary.create_file_writer(folder + "/e")
    with writer.as_default():
        for i in range(40):
            tf.summary.scalar("x" * 300, i, step=i)
            if i % 10 == 9:
                writer.flush()
    writer.close()


def _events_back(folder):
    found = []
    for name in os.listdir(folder + "/e") if os.path.exists(folder + "/e") else []:
        try:
            for event in tf.compat.v1.train.summary_iterator(folder + "/e/" + name):
                found += [event.step for value in event.summary.value]
        except tf.errors.DataLossError:
            pass
    return found


# Files that grow: what is read is their beginning, and nothing else is left.
GROWING = {"records": (_records, _records_back), "events": (_events, _events_back)}


def kill_growing(name, scratch, stride=1):
    write, read = GROWING[name]
    kills = 0
    for call in ("pwrite64", "write", "openat", "fsync", "close", "rename", "ftruncate"):
        when = 1
        while True:
            folder = os.path.join(scratch, "now")
            os.mkdir(folder)
            hit = killed(write, folder, call, when)
            found = read(folder)
            assert found == list(range(len(found))) and (hit or len(found) == 40), "%s: killed at %s %d: %s" % (name, call, when, found)
            assert not [n for n in listing(folder) if ".thalweg-" in n], listing(folder)
            shutil.rmtree(folder)
            if not hit:
                break
            kills += 1
            when += stride
    return kills


def can_trace():
    if not shutil.which("strace"):
        return False
    done = subprocess.run(["strace", "-f", "-e", "inject=write:signal=KILL:when=1", "-o", "/dev/null", "echo"], capture_output=True)
    return done.returncode in (-9, 137)


def kill_everywhere(name, scratch, stride=1, calls=CALLS, ways=(False, True)):
    """Tries all kinds of calls, every stride-th moment, over what was there and without it; gives the number of kills."""
    write, read = CASES[name]
    start, clean, kills = os.path.join(scratch, "start"), os.path.join(scratch, "clean"), 0
    for folder, values in ((start, [1.0]), (clean, [1.0, 3.0])):
        os.mkdir(folder)
        for value in values:
            write(folder, value)
    wanted = collections.Counter(listing(clean))
    if name == "dataset":  # runs that were whole stay, as in TensorFlow
        wanted += collections.Counter(n for n in listing(start) if "N" in n)
    for fresh in ways:
        for call in calls:
            when = 1
            while True:
                folder = os.path.join(scratch, "now")
                shutil.copytree(start, folder) if not fresh else os.mkdir(folder)
                hit = killed(write, folder, call, when)
                told = "%s: killed at %s %d%s: %s" % (name, call, when, " (nothing before)" if fresh else "", listing(folder))
                try:
                    found = read(folder)
                except Exception as error:
                    assert fresh and hit, "%s: %r" % (told, error)
                    found = None
                assert found in (1.0, 2.0, None) and (hit or found == 2.0), told
                write(folder, 3.0)
                if name != "cache":
                    assert read(folder) == 3.0, told
                left = listing(folder)
                assert collections.Counter(left) <= wanted and left.count("d/N") == left.count("d/N/dataset_spec.pb"), "%s: left over: %s" % (told, left)
                shutil.rmtree(folder)
                if not hit:
                    break
                kills += 1
                when += stride
    return kills
