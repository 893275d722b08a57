"""200 batches of the specification's multilayer perceptron under TensorFlow 2.15.1: seeds, custom loop, Adam, Fashion-MNIST. Writes
tests/golden/training/training.json (losses, first weights, sums of the last weights) and, small enough to commit, a checkpoint of a narrower model
with its optimizer after 5 batches (tests/golden/training/narrow-1.*)."""
import gzip
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = "/usr/share/datasets/fashion-mnist/"


def images():
    with gzip.open(DATA + "train-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 28, 28, 1).astype(np.float32) / 255.0
    with gzip.open(DATA + "train-labels-idx1-ubyte.gz") as f:
        y = np.frombuffer(f.read(), np.uint8, offset=8).astype(np.int32)
    return x, y


def batch(x, y, number, size=50):
    rows = (np.arange(size, dtype=np.int64) + number * size) * 7919 % len(x)
    return x[rows], y[rows]


class MLP(tf.keras.Model):
    def __init__(self, units=100):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=units, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):
        return tf.nn.softmax(self.dense2(self.dense1(self.flatten(inputs))))


def step(model, optimizer, X, Y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y_true=Y, y_pred=model(X)))
    grads = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(grads_and_vars=zip(grads, model.variables))
    return float(loss)


def main():
    x, y = images()
    tf.keras.utils.set_random_seed(1)
    model, optimizer = MLP(), tf.keras.optimizers.Adam(learning_rate=0.001)
    model(x[:1])
    first = [v.numpy().reshape(-1)[:8].tolist() for v in model.variables]
    names = [v.name for v in model.variables]
    losses = [step(model, optimizer, *batch(x, y, i)) for i in range(200)]
    last = [float(np.abs(v.numpy().astype(np.float64)).sum()) for v in model.variables]
    with open(golden.path(__file__, "training.json"), "w") as f:
        json.dump({"names": names, "first": first, "losses": losses, "last": last}, f)

    tf.keras.utils.set_random_seed(2)
    narrow, optimizer = MLP(4), tf.keras.optimizers.Adam(learning_rate=0.01)
    checkpoint = tf.train.Checkpoint(model=narrow, optimizer=optimizer)
    before = [step(narrow, optimizer, *batch(x, y, i)) for i in range(5)]
    checkpoint.save(os.path.join(HERE, "training", "narrow"))
    after = [step(narrow, optimizer, *batch(x, y, i)) for i in range(5, 25)]
    with open(os.path.join(HERE, "training", "narrow.json"), "w") as f:
        json.dump({"before": before, "after": after, "iterations": 5}, f)


main()
