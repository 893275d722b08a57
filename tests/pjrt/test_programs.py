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
    """Strings and what depends on values have no lowering: they run on the host, with programs before and behind them."""
    @tf.function(jit_compile=True)
    def f(x):
        y = tf.exp(x) * 2
        s = tf.sort(tf.unique(y)[0])
        words = tf.strings.as_string(tf.cast(tf.shape(s)[0], tf.int32))
        return s, words, tf.reduce_sum(y)

    x = tf.constant([0.3, -1.0, 2.0, 0.3])
    got, words, total = f(x)
    y = np.exp(x.numpy()) * 2
    np.testing.assert_allclose(got, np.unique(y), rtol=1e-6)
    np.testing.assert_allclose(total, y.sum(), rtol=1e-6)
    assert words.numpy() == b"3"
    plan = f.plan(x)
    assert "compiled" in plan and "Unique" in plan and "AsString" in plan


def collatz(x, n):
    for i in tf.range(n):
        if tf.reduce_sum(x) > 100:
            x = x - 1
        else:
            x = x * 2 + tf.cast(i, tf.float32)
    return x


def newton(x, n):
    y = x
    while tf.reduce_max(tf.abs(y * y - x)) > 1e-5:
        y = (y + x / y) / 2
    return y * tf.cast(n, tf.float32)


def cases(x, n):
    return tf.switch_case(n, [lambda: x + 1, lambda: x * x, lambda: tf.sin(x)]) + x


def branches(x, n):
    return tf.cond(n > 4, lambda: (x * 2, n + 1), lambda: (tf.exp(-x), n))[0]


@pytest.mark.parametrize("body", [collatz, newton, cases, branches], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_loops_and_branches(body, n):
    compiled, plain = tf.function(body, jit_compile=True), tf.function(body)
    x, n = tf.constant([1.0, 2.0]), tf.constant(n)
    np.testing.assert_allclose(compiled(x, n), plain(x, n), rtol=1e-6)
    assert compiled.plan(x, n).count("compiled:") == 1 and "(dynamic)" not in compiled.plan(x, n)


def test_variables_in_loops():
    """Loops and branches that change variables are part of the program, too."""
    def make():
        total, count, other = tf.Variable([0.0, 0.0]), tf.Variable(0), tf.Variable(1.0)

        def f(x, n):
            for i in tf.range(n):
                total.assign_add(x * other)
                if tf.reduce_sum(total) > 10:
                    count.assign_add(1)
                    total.assign(total / 2)
                other.assign(other + tf.cast(i, tf.float32) / 10)
            return tf.reduce_sum(total) + other

        return f, [total, count, other]

    (f, ours), (g, plain) = make(), make()
    compiled = tf.function(f, jit_compile=True)
    x = tf.constant([1.0, 2.0])
    for n in (0, 3, 8):
        np.testing.assert_allclose(compiled(x, tf.constant(n)), tf.function(g)(x, tf.constant(n)), rtol=1e-6)
        for a, b in zip(ours, plain):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    steps = [s for s in compiled.plan(x, tf.constant(3)).split("\n") if s[:4].strip().isdigit()]
    assert len(steps) == 1 and "compiled:" in steps[0], steps


RANDOM = {
    "uniform": lambda: tf.random.uniform([7, 3], seed=3), "double": lambda: tf.random.uniform([5], seed=3, dtype=tf.float64),
    "half": lambda: tf.random.uniform([5], seed=3, dtype=tf.float16), "normal": lambda: tf.random.normal([7, 3], seed=3),
    "normal double": lambda: tf.random.normal([5], seed=3, dtype=tf.float64), "integers": lambda: tf.random.uniform([7], 3, 17, dtype=tf.int32, seed=3),
    "long integers": lambda: tf.random.uniform([7], -3, 17, dtype=tf.int64, seed=3), "dropout": lambda: tf.nn.dropout(tf.ones([5, 5]), 0.3, seed=4),
    "two": lambda: tf.stack([tf.random.uniform([3], seed=1), tf.random.uniform([3], seed=1)]), "unseeded": lambda: tf.random.uniform([4]),
    "stateless": lambda: tf.random.stateless_uniform([9], [3, -4]), "stateless normal": lambda: tf.random.stateless_normal([9], tf.constant([3, -4])),
    "stateless integers": lambda: tf.random.stateless_uniform([9], [3, 4], 2, 99, dtype=tf.int32),
    "stateless bits": lambda: tf.random.stateless_uniform([9], [3, 4], None, None, dtype=tf.int64),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name):
    """Those of the host for the same seed, in every call: bit by bit, normal ones up to rounding."""
    def values(jit):
        tf.random.set_seed(5)
        f = tf.function(lambda x: RANDOM[name]() + tf.cast(x, RANDOM[name]().dtype) * 0, jit_compile=jit)
        return [f(tf.constant(0)).numpy() for _ in range(3)], f.plan(tf.constant(0))

    (got, plan), (expected, _) = values(True), values(False)
    assert plan.count("compiled:") == 1 and "Random" not in plan.split("outputs:")[0].split("arguments:")[1]
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6 if "normal" in name else 0)


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
