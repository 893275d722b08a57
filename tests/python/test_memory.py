"""Loops do not grow memory: ops, tapes, training steps, predict, checkpoints, errors, models that come and go; nor open files."""
import os

import numpy as np
import pytest

import thalweg as tf
from steady import growth

SLACK = 1 << 20  # pools and caches of the allocators


def model_of(width=16):
    return tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(width, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")])


class Failing(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(4)
        self.held = [tf.Variable(np.zeros(1000, np.float32))]

    def call(self, x):
        self.dense(x)
        raise KeyError("inside call")


def eager_ops():
    a = tf.constant(np.arange(24.0).reshape(2, 3, 4).astype("f4"))
    b = tf.transpose(a, [0, 2, 1]) @ a
    tf.concat([b, b], 1), tf.stack([a, a]), a[:, 1, ::2], tf.split(a, 2, 2), tf.reduce_sum(a, [0, 2]), tf.gather(a, [1, 0], axis=1)
    tf.where(a > 3, a, -a), tf.one_hot([1, 2], 4), tf.argmax(a, -1), tf.cast(a, tf.half)
    tf.random.normal([10]), tf.nn.softmax(a), tf.constant(["some text", "more"]), str(a), a.numpy(), [x for x in a]


def tapes():
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x * x * x * v)
        first = inner.gradient(y, x)
    outer.gradient(first, [x, v])
    outer.gradient(y, {"x": x, "v": [v]})
    with tf.GradientTape() as abandoned:
        abandoned.watch(x)
        tf.exp(x)
    with pytest.raises(ZeroDivisionError):
        with tf.GradientTape():
            v * v
            1 / 0


def failing_ops():
    for call in (lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])), lambda: tf.reshape(tf.zeros([4]), [3]), lambda: tf.constant([[1], [1, 2]]),
                 lambda: tf.zeros([2 ** 40, 2 ** 20]), lambda: tf.gather([1.0], 5), lambda: tf.add(1.0, "a"), lambda: tf.concat([[1], [[2]]], 0),
                 lambda: tf.nn.softmax(5), lambda: tf.keras.layers.Dense(-1), lambda: tf.train.load_checkpoint("/nowhere"), lambda: tf.Variable(1.0).assign([1.0])):
        with pytest.raises(Exception):
            call()


def failing_calls():
    model = Failing()
    with pytest.raises(KeyError):
        model(tf.ones([1, 2]))
    with pytest.raises(KeyError):
        with tf.GradientTape():
            model(tf.ones([1, 2]))
    with pytest.raises(KeyError):
        model.predict(np.ones((2, 2), "f4"), verbose=0)


def models_come_and_go():
    model = model_of()
    optimizer = tf.keras.optimizers.Adam()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(np.array([1, 2]), model(np.ones((2, 3, 3), "f4"))))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    model.cycle = [model, optimizer]
    tf.train.Checkpoint(model=model, optimizer=optimizer)


@pytest.mark.parametrize("body, times", [(eager_ops, 1500), (tapes, 1500), (failing_ops, 600), (failing_calls, 600), (models_come_and_go, 600)],
                         ids=lambda p: getattr(p, "__name__", ""))
def test_memory_stays(body, times):
    grown = growth(body, times, warm_up=times)
    assert grown < SLACK


def test_training_and_predict():
    model, optimizer = model_of(32), tf.keras.optimizers.Adam()
    x, y = np.random.RandomState(1).rand(20, 8, 8).astype("f4"), np.arange(20) % 10

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    assert growth(step, 3000) < SLACK
    assert growth(lambda: model.predict(x, batch_size=6, verbose=0), 500) < SLACK


def test_checkpoints(tmp_path):
    model, optimizer = model_of(), tf.keras.optimizers.SGD(momentum=0.9)
    model(np.ones((1, 4), "f4"))
    optimizer.build(model.trainable_variables)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)

    def once():
        checkpoint.restore(manager.save()).assert_consumed()
        other = tf.train.Checkpoint(model=model_of())
        other.restore(manager.latest_checkpoint).expect_partial()
        late = other.model(np.ones((1, 4), "f4"))
        tf.train.list_variables(manager.latest_checkpoint)
        with pytest.raises(Exception):
            checkpoint.restore(str(tmp_path / "missing"))
        return late

    once()
    files = len(os.listdir("/proc/self/fd"))
    assert growth(once, 80, warm_up=80) < SLACK
    assert len(os.listdir("/proc/self/fd")) == files
    assert len(os.listdir(tmp_path)) == 5
