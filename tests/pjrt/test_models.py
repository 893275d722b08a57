"""Training steps of Keras models: each is one program, with nothing on the host in between, and gives the host's numbers."""
import re

import numpy as np
import pytest

import thalweg as tf

k = tf.keras.layers


def numbers(*shape):
    return np.random.RandomState(1).normal(size=shape).astype("float32")


def tokens(*shape):
    return np.random.RandomState(1).randint(0, 20, shape)


def mlp():
    return tf.keras.Sequential([k.Dense(16, activation="relu", input_shape=(8,)), k.Dense(5)]), numbers(6, 8)


def cnn():
    return tf.keras.Sequential([k.Conv2D(8, 3, padding="same", use_bias=False, input_shape=(12, 12, 3)), k.BatchNormalization(), k.ReLU(), k.MaxPooling2D(),
                                k.SeparableConv2D(8, 3, activation="swish"), k.AveragePooling2D(), k.Conv2DTranspose(4, 3), k.UpSampling2D(), k.Flatten(),
                                k.Dense(5)]), numbers(6, 12, 12, 3)


def dropout():
    return tf.keras.Sequential([k.Dense(16, activation="elu", input_shape=(8,)), k.Dropout(0.5, seed=2), k.GaussianNoise(0.1, seed=3), k.Dense(5)]), numbers(6, 8)


def recurrent(layer, **settings):
    return lambda: (tf.keras.Sequential([k.Embedding(20, 6, input_length=7), layer(8, **settings), k.Dense(5)]), tokens(6, 7))


def attention():
    x = k.Input((7,), dtype="int32")
    e = k.Embedding(20, 8)(x)
    e = k.LayerNormalization()(e + k.MultiHeadAttention(2, 4)(e, e, use_causal_mask=True))
    e = k.LayerNormalization()(e + k.Dense(8)(k.Dense(16, activation="gelu")(e)))
    return tf.keras.Model(x, k.Dense(5)(k.GlobalAveragePooling1D()(e))), tokens(6, 7)


def application(make):
    return lambda: (make(weights=None, input_shape=(32, 32, 3), classes=5, classifier_activation=None), numbers(4, 32, 32, 3).astype(tf.keras.backend.floatx()))


MODELS = {"mlp": mlp, "cnn": cnn, "dropout": dropout, "lstm": recurrent(k.LSTM), "lstm unrolled": recurrent(k.LSTM, unroll=True), "gru": recurrent(k.GRU, unroll=True),
          "rnn": recurrent(k.SimpleRNN, unroll=True), "attention": attention}
APPLICATIONS = {"ResNet50": tf.keras.applications.ResNet50, "MobileNetV2": tf.keras.applications.MobileNetV2}

OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl", "Adafactor", "Lion"]
SETTINGS = {"SGD": {"momentum": 0.9, "nesterov": True}, "RMSprop": {"centered": True, "momentum": 0.9}, "Adam": {"amsgrad": True, "clipnorm": 1.0}}
LEGACY_SETTINGS = {"SGD": {"momentum": 0.9, "nesterov": True}, "RMSprop": {"momentum": 0.9}}
LEGACY = ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl"]


def step_of(model, optimizer, jit):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    right, mean = tf.keras.metrics.SparseCategoricalAccuracy(), tf.keras.metrics.Mean()

    @tf.function(jit_compile=jit)
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            value = loss(y, logits)
        optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
        right.update_state(y, logits)
        mean.update_state(value)
        return value, right.result(), mean.result()

    return step


def trained(make, optimizer, jit, steps):
    tf.keras.utils.set_random_seed(3)
    model, x = make()
    made = optimizer()
    if hasattr(made, "build"):
        made.build(model.trainable_variables)
    step = step_of(model, made, jit)
    x, y = tf.constant(x), tf.constant(np.arange(len(x)) % 5)
    return [[float(v) for v in step(x, y)] for _ in range(steps)], model, step.plan(x, y) if jit else ""


def host_steps(plan):
    """The steps of a plan that are no programs, and how many programs there are."""
    steps = re.findall(r"^ +\d+  (.{28})", plan, re.M)
    return [s.strip() for s in steps if not s.startswith("compiled:")], sum(s.startswith("compiled:") for s in steps)


def compare(make, optimizer, steps, limit):
    expected, plain, _ = trained(make, optimizer, False, steps)
    got, model, plan = trained(make, optimizer, True, steps)
    assert host_steps(plan) == ([], 1)
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit)
    for a, b in zip(model.get_weights(), plain.get_weights()):
        np.testing.assert_allclose(a, b, rtol=20 * limit, atol=20 * limit)


@pytest.mark.parametrize("name", MODELS)
def test_training_step(name):
    compare(MODELS[name], lambda: tf.keras.optimizers.SGD(0.01), 3, 1e-5)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_application(name):
    """In double precision: normalizations of few numbers, one behind the other, make much of the rounding of single precision."""
    tf.keras.backend.set_floatx("float64")
    try:
        compare(application(APPLICATIONS[name]), lambda: tf.keras.optimizers.SGD(0.01), 1, 1e-6)
    finally:
        tf.keras.backend.set_floatx("float32")
    _, _, plan = trained(application(APPLICATIONS[name]), lambda: tf.keras.optimizers.SGD(0.01), True, 0)
    assert host_steps(plan) == ([], 1)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    compare(recurrent(k.SimpleRNN, unroll=True), lambda: getattr(tf.keras.optimizers, name)(learning_rate=0.01, **SETTINGS.get(name, {})), 3, 2e-4)


@pytest.mark.parametrize("name", LEGACY)
def test_legacy_optimizer(name):
    compare(recurrent(k.SimpleRNN, unroll=True), lambda: getattr(tf.keras.optimizers.legacy, name)(learning_rate=0.01, **LEGACY_SETTINGS.get(name, {})), 3, 2e-4)
