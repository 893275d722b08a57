#!/usr/bin/env python3
"""A few timings of thalweg's own: `make bench`. With BENCH_PEER=/path/to/python that has TensorFlow, the same lines run there too, in
turn, and the ratio is printed. The best of several repetitions counts."""
import json
import os
import subprocess
import sys

PROGRAM = r'''
import json, os, sys, time
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

def best(run, count, windows=15):
    low = 1e9
    for _ in range(windows):
        start = time.perf_counter()
        run(count)
        low = min(low, (time.perf_counter() - start) / count)
    return low * 1e6

a, b, m = tf.constant(1.5), tf.constant(2.5), tf.constant(np.eye(4, dtype=np.float32))
def add(n):
    for _ in range(n): a + b
def matmul(n):
    for _ in range(n): tf.matmul(m, m)

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(100, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(10)
    def call(self, inputs):
        return tf.nn.softmax(self.dense2(self.dense1(self.flatten(inputs))))

model, optimizer = Net(), tf.keras.optimizers.Adam(0.001)
rng = np.random.default_rng(0)
x, y = rng.random((50, 28, 28, 1), dtype=np.float32), rng.integers(0, 10, 50).astype(np.int32)
def train(n):
    for _ in range(n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

add(100), matmul(100), train(5)
print(json.dumps({"eager scalar add": best(add, 2000), "eager 4x4 matmul": best(matmul, 2000), "MLP training step, batch 50": best(train, 20)}))
'''


def measure(command):
    done = subprocess.run(command + ["-c", PROGRAM], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    own = [sys.executable, "-m", "thalweg"]
    peer = os.environ.get("BENCH_PEER")
    results, others = [], []
    for _ in range(3):
        results.append(measure(own))
        if peer:
            others.append(measure([peer]))
    for name in results[0]:
        mine = min(r[name] for r in results)
        line = "%-32s %10.2f us" % (name, mine)
        if others:
            theirs = min(r[name] for r in others)
            line += "   TensorFlow %10.2f us   %.1f times" % (theirs, theirs / mine)
        print(line)


main()
