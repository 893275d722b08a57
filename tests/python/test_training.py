"""The specification's example against what TensorFlow computed for it (tests/golden/training.py): initial weights from a seed, 200
losses, and going on from a checkpoint of TensorFlow's with its optimizer."""
import json
import os

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf
from steady import SANITIZED

TOLERANCE = 1e-3 if SANITIZED else 1e-4  # without vectors sums run in another order; TensorFlow's own two modes differ as much

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "training")


class MLP(tf.keras.Model):
    def __init__(self, units=100):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=units, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):
        return tf.nn.softmax(self.dense2(self.dense1(self.flatten(inputs))))


def images():
    (x, y), _ = tf.keras.datasets.fashion_mnist.load_data()
    return x.reshape(-1, 28, 28, 1).astype(np.float32) / 255.0, y.astype(np.int32)


def batch(x, y, number, size=50):
    rows = (np.arange(size, dtype=np.int64) + number * size) * 7919 % len(x)
    return x[rows], y[rows]


def step(model, optimizer, X, Y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y_true=Y, y_pred=model(X)))
    grads = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(grads_and_vars=zip(grads, model.variables))
    return float(loss)


def test_two_hundred_batches():
    with open(golden_file("training", "training.json")) as f:
        expected = json.load(f)
    x, y = images()
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    model, optimizer = MLP(), tf.keras.optimizers.Adam(learning_rate=0.001)
    model(x[:1])
    assert [v.name for v in model.variables] == expected["names"]
    for v, first in zip(model.variables, expected["first"]):
        assert v.numpy().reshape(-1)[:8].tolist() == first  # bit for bit
    losses = [step(model, optimizer, *batch(x, y, i)) for i in range(200)]
    np.testing.assert_allclose(losses, expected["losses"], rtol=TOLERANCE)
    last = [float(np.abs(v.numpy().astype(np.float64)).sum()) for v in model.variables]
    np.testing.assert_allclose(last, expected["last"], rtol=1e-3)


def test_going_on_from_a_checkpoint_of_tensorflow(tmp_path):
    with open(os.path.join(GOLDEN, "narrow.json")) as f:
        expected = json.load(f)
    x, y = images()
    model, optimizer = MLP(4), tf.keras.optimizers.Adam(learning_rate=0.5)  # the checkpoint's learning rate replaces it
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    status = checkpoint.restore(tf.train.latest_checkpoint(GOLDEN))
    model(x[:1])
    optimizer.build(model.trainable_variables)
    status.assert_consumed()
    assert int(optimizer.iterations) == expected["iterations"]
    losses = [step(model, optimizer, *batch(x, y, i)) for i in range(5, 25)]
    np.testing.assert_allclose(losses, expected["after"], rtol=TOLERANCE)

    # … and from our own, into objects whose variables do not exist yet
    path = checkpoint.save(str(tmp_path / "own"))
    again, other = MLP(4), tf.keras.optimizers.Adam(learning_rate=0.5)
    status = tf.train.Checkpoint(model=again, optimizer=other).restore(path)
    ahead = [step(model, optimizer, *batch(x, y, i)) for i in range(25, 30)]
    assert [step(again, other, *batch(x, y, i)) for i in range(25, 30)] == ahead
    status.assert_consumed()


def test_denormals_are_zero():
    """As in TensorFlow, eagerly and in functions; the program's own arithmetic stays as it is."""
    small, tiny = tf.fill([100000], 1e-30), tf.fill([100000], 1e-10)
    for multiply in (tf.multiply, tf.function(tf.multiply)):
        assert not np.any(multiply(small, tiny).numpy()) and float(multiply(small[0], tiny[0])) == 0
        assert not np.any(multiply(tf.fill([100000], 1e-40), 1e10).numpy())
    assert 1e-300 * 1e-10 > 0 and np.float32(1e-30) * np.float32(1e-10) > 0


def test_wrong_width_is_told_with_the_batch():
    """predict has batches of any size; what is given to predict_on_batch is one."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    with pytest.raises(ValueError, match=r"expected shape=\(None, 2\), found shape=\(4, 5\)"):
        model.predict_on_batch(np.ones((4, 5), "float32"))
    with pytest.raises(ValueError, match=r"expected shape=\(None, 2\), found shape=\(None, 5\)"):
        model.predict(np.ones((4, 5), "float32"), verbose=0)
    assert model.predict_on_batch(np.ones((4, 2), "float32")).shape == (4, 1)
