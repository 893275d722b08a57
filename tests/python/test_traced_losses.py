"""Cross-entropies of a softmax or sigmoid: in a function they work on what went into it, as TensorFlow's do. Values from
tests/golden/traced_losses.py."""
import json
import os

import numpy as np
import pytest

import thalweg as tf

with open(os.path.join(os.path.dirname(__file__), "traced_losses.json")) as file:
    EXPECTED = json.load(file)


def losses(x, y):
    p, s, h, k = tf.nn.softmax(x), tf.sigmoid(x), tf.one_hot(y, 3), tf.keras.losses
    return {
        "sparse": k.sparse_categorical_crossentropy(y, p),
        "sparse, not the op's own output": k.sparse_categorical_crossentropy(y, tf.identity(p)),
        "categorical": k.categorical_crossentropy(h, p),
        "binary": k.binary_crossentropy(h, s),
        "categorical of a sigmoid": k.categorical_crossentropy(h, s),
        "sparse object": k.SparseCategoricalCrossentropy()(y, p),
        "categorical object": k.CategoricalCrossentropy()(h, p),
        "binary object": k.BinaryCrossentropy()(h, s),
    }


def gradient(x, y):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.keras.losses.sparse_categorical_crossentropy(y, tf.nn.softmax(x)))
    return {"gradient": tape.gradient(loss, x)}


@pytest.mark.parametrize("way", ["eager", "traced"])
def test_values(way):
    x, y = tf.constant(EXPECTED["x"]), tf.constant(EXPECTED["y"])
    for function in (losses, gradient):
        results = (tf.function(function, autograph=False) if way == "traced" else function)(x, y)
        for name, value in results.items():
            np.testing.assert_allclose(value.numpy(), EXPECTED[way][name], rtol=2e-6, atol=1e-7, err_msg=name)
