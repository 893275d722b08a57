"""Whole programs on a plug-in's device: they give the numbers of the processor, variables stay there, and what can't be lowered runs on the host."""
import threading

import numpy as np
import pytest

import thalweg as tf

RNG = np.random.RandomState(0)
X = RNG.normal(size=(24, 12, 12, 3)).astype("float32")
Y = RNG.randint(0, 5, 24)


def counts():
    return np.array(tf.config.experimental._pjrt_counts())


def layers():  # no bias before a normalization: its gradient is rounding alone, which Adam would make large
    k = tf.keras.layers
    init = lambda n: tf.keras.initializers.GlorotUniform(seed=n)
    return [k.Conv2D(8, 3, padding="same", use_bias=False, kernel_initializer=init(1), input_shape=(12, 12, 3)), k.BatchNormalization(), k.ReLU(), k.MaxPooling2D(),
            k.DepthwiseConv2D(3, strides=2, padding="same", depthwise_initializer=init(2)), k.Activation("swish"), k.Dropout(0.25, seed=3),
            k.GlobalAveragePooling2D(), k.LayerNormalization(), k.Dense(5, kernel_initializer=init(4))]


OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.1), "momentum": lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "adam": lambda: tf.keras.optimizers.Adam(0.01), "adamw": lambda: tf.keras.optimizers.AdamW(0.01, clipnorm=1.0),
    "rmsprop": lambda: tf.keras.optimizers.RMSprop(0.01), "legacy adam": lambda: tf.keras.optimizers.legacy.Adam(0.01),
    "schedule": lambda: tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.9)),
}


def trained(jit, optimizer, steps=6):
    tf.keras.utils.set_random_seed(7)
    model = tf.keras.Sequential(layers())
    model.compile(OPTIMIZERS[optimizer](), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"], jit_compile=jit)
    history = model.fit(X, Y, batch_size=8, epochs=steps // 3, shuffle=False, verbose=0).history
    return model, history


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_fit(optimizer):
    plain, expected = trained(False, optimizer)
    before = counts()
    model, got = trained(True, optimizer)
    assert (counts() - before)[2] > 0
    for name in expected:
        np.testing.assert_allclose(got[name], expected[name], rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(model.predict(X, verbose=0), plain.predict(X, verbose=0), rtol=2e-3, atol=2e-3)
    for a, b in zip(model.get_weights(), plain.get_weights()):
        np.testing.assert_allclose(a, b, rtol=5e-3, atol=5e-3)


def test_variables_stay_on_the_device():
    v = tf.Variable(tf.ones([64, 64]))

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(tf.matmul(v, x) * 0.001)
        return tf.reduce_sum(v)

    x = tf.eye(64)
    step(x)
    before = counts()
    for _ in range(10):
        step(x)
    put, got, ran, compiled = counts() - before
    assert (put, got, ran, compiled) == (10, 10, 10, 0)  # the argument goes there, the sum comes back; the variable stays
    np.testing.assert_allclose(v.numpy(), np.full([64, 64], 1.001 ** 11), rtol=1e-5)
    v.assign(tf.zeros([64, 64]))  # a change on the host is seen on the device
    assert float(step(x)) == 0


def test_saved_while_on_the_device(tmp_path):
    model, _ = trained(True, "adam", 3)
    model.save(tmp_path / "m.keras")
    again = tf.keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X, verbose=0), rtol=1e-4, atol=1e-5)
    assert int(again.optimizer.iterations) == 3
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "c"))
    for name, _ in tf.train.list_variables(path):
        assert tf.train.load_variable(path, name) is not None


def test_host_steps_between():
    """Strings, sorting and printing have no lowering: they run on the host, with programs before and behind them."""
    @tf.function(jit_compile=True)
    def f(x):
        y = tf.exp(x) * 2
        s = tf.sort(y)
        words = tf.strings.as_string(tf.cast(tf.shape(s)[0], tf.int32))
        return s / tf.reduce_sum(s), words

    x = tf.constant([0.3, -1.0, 2.0])
    got, words = f(x)
    y = np.sort(np.exp(x.numpy()) * 2)
    np.testing.assert_allclose(got, y / y.sum(), rtol=1e-6)
    assert words.numpy() == b"3"
    assert f.plan(x).count("compiled") == 2


def test_loops_and_branches():
    @tf.function(jit_compile=True)
    def f(x, n):
        for i in tf.range(n):
            if tf.reduce_sum(x) > 100:
                x = x - 1
            else:
                x = x * 2 + tf.cast(i, tf.float32)
        return x

    @tf.function
    def g(x, n):
        for i in tf.range(n):
            if tf.reduce_sum(x) > 100:
                x = x - 1
            else:
                x = x * 2 + tf.cast(i, tf.float32)
        return x

    np.testing.assert_allclose(f(tf.constant([1.0, 2.0]), 9), g(tf.constant([1.0, 2.0]), 9))


def test_gradients_outside():
    @tf.function(jit_compile=True)
    def f(x):
        return tf.reduce_sum(tf.nn.softmax(tf.tanh(x) @ tf.transpose(x)) ** 2)

    x = tf.constant(RNG.normal(size=(4, 3)).astype("float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with tf.GradientTape() as plain:
        plain.watch(x)
        z = f.python_function(x)
    np.testing.assert_allclose(y, z, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(y, x), plain.gradient(z, x), rtol=1e-4, atol=1e-6)


def test_threads():
    v = tf.Variable(0.0)

    @tf.function(jit_compile=True)
    def add(x):
        v.assign_add(x)
        return x * 2

    add(tf.constant(0.0))
    threads = [threading.Thread(target=lambda: [add(tf.constant(1.0)) for _ in range(100)]) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert float(v) == 400


def test_errors():
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))

    @tf.function(jit_compile=True)
    def f():
        return v * 2

    np.testing.assert_allclose(f(), [2, 4])
    v.assign([[1.0]])
    np.testing.assert_allclose(f(), [[2]])
    with pytest.raises(tf.errors.FailedPreconditionError, match="in use already"):
        tf.config.experimental.register_pjrt_plugin("/no/such.so")
