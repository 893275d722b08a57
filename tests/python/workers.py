"""Processes that train together, for tests: each runs a program under a TF_CONFIG that names all of them."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

import thalweg

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(thalweg.__file__)))
HEAD = """
import json, os, sys, time
import numpy as np
import thalweg as tf
INDEX = json.loads(os.environ['TF_CONFIG'])['task']['index'] if 'TF_CONFIG' in os.environ else 0
def data(rows=64):
    return np.random.RandomState(0).randn(rows, 6, 6, 1).astype('f'), np.arange(rows) % 3
def model(strategy, optimizer='adam'):
    import contextlib
    with strategy.scope():
        made = tf.keras.Sequential([
            tf.keras.layers.Conv2D(4, 3, activation='relu', input_shape=(6, 6, 1)), tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(8, activation='tanh', kernel_regularizer='l2'), tf.keras.layers.Dense(3, activation='softmax')])
        made.compile(optimizer, 'sparse_categorical_crossentropy', metrics=['accuracy', tf.keras.metrics.SparseCategoricalCrossentropy(name='ce')])
    return made
def say(**what):
    print(json.dumps(what), flush=True)
"""


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Workers:
    """Running processes; `with` ends them."""

    def __init__(self, count, program, timeout=20, folder=None, environments=(), programs=()):
        self.addresses = ["127.0.0.1:%d" % port for port in free_ports(count)]
        self.program, self.timeout, self.folder, self.environments, self.programs = program, timeout, folder, environments, programs
        self.processes = [self.start(i) for i in range(count)]

    def start(self, index):
        """One of them, the first time or again."""
        own = self.environments[index] if self.environments else {}
        environment = dict(os.environ, PYTHONPATH=PACKAGE, THALWEG_CLUSTER_TIMEOUT=str(self.timeout), TF_CONFIG=json.dumps(
            {"cluster": {"worker": self.addresses}, "task": {"type": "worker", "index": index}}), **own)
        program = self.programs[index] if self.programs else self.program
        return subprocess.Popen([sys.executable, "-c", HEAD + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                cwd=self.folder)

    def wait(self, seconds=120):
        """[(exit code, lines that they said, errors)]"""
        end, results = time.time() + seconds, []
        for process in self.processes:
            out, error = process.communicate(timeout=max(1, end - time.time()))
            results.append((process.returncode, [json.loads(line) for line in out.splitlines() if line.startswith("{")], error))
        return results

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


def alone(program, folder=None):
    """What the program says without others."""
    environment = dict({key: value for key, value in os.environ.items() if key != "TF_CONFIG"}, PYTHONPATH=PACKAGE)
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, env=environment, timeout=120, cwd=folder)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
