"""python3 thread_program.py KIND OWNER ROUNDS: every call of training and inference from eight threads at once.

KIND is the way a model is made, OWNER "own" (each thread has a model) or "shared". Whatever a single thread gives, eight give: equal numbers where
threads do not change each other's model, and where they do, the same numbers in some order, since a model trains in one thread at a time."""
import faulthandler
import sys
import threading

import numpy as np

import thalweg as tf

faulthandler.dump_traceback_later(100, exit=True)
keras = tf.keras
THREADS = 8
X = np.arange(64 * 4, dtype="float32").reshape(64, 4) / 256
Y = X.sum(1, keepdims=True)


def layers():
    return [keras.layers.Dense(8, activation="relu", kernel_initializer="ones"), keras.layers.Dense(1, kernel_initializer="ones")]


class Subclass(keras.Model):
    """Layers that Python calls."""

    def __init__(self):
        super().__init__()
        self.parts = layers()

    def call(self, x, training=False):
        return self.parts[1](self.parts[0](x))


class Host(Subclass):
    """The same with a Python function inside of the graph."""

    def call(self, x, training=False):
        return super().call(tf.ensure_shape(tf.numpy_function(lambda v: v * 1.0, [x], tf.float32), [None, 4]))


class Steps(Subclass):
    """The same with steps of its own."""

    def train_step(self, data):
        return super().train_step(data)

    def test_step(self, data):
        return super().test_step(data)


def functional():
    inputs = keras.Input((4,))
    first, second = layers()
    return keras.Model(inputs, second(first(inputs)))


KINDS = {"subclass": Subclass, "host": Host, "steps": Steps, "functional": functional, "sequential": lambda: keras.Sequential(layers())}


def make(kind):
    model = KINDS[kind]()
    model.compile("sgd", "mse", metrics=["mae"])
    return model


class Listener(keras.callbacks.Callback):
    """Python code in the middle of the loop."""

    def on_train_batch_end(self, batch, logs=None):
        assert "loss" in logs

    def on_test_batch_end(self, batch, logs=None):
        assert "loss" in logs

    def on_predict_batch_end(self, batch, logs=None):
        assert "outputs" in logs


def batches():
    for i in range(0, 64, 16):
        yield X[i:i + 16], Y[i:i + 16]


def generated():
    return tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec([None, 4]), tf.TensorSpec([None, 1])))


def mapped():
    return tf.data.Dataset.from_tensor_slices((X, Y)).map(lambda x, y: (x * 1, y), num_parallel_calls=2).batch(16).prefetch(2)


functions, functions_lock = {}, threading.Lock()


def function_of(model):
    with functions_lock:
        if id(model) not in functions:
            functions[id(model)] = tf.function(lambda x: model(x), autograph=False), model
        return functions[id(model)][0]


def history(model, *args, **kwargs):
    return model.fit(*args, verbose=0, **kwargs).history["loss"]


# What changes the model's weights; of these only the set of results is known when threads share the model.
TRAINING = {
    "fit": lambda m: history(m, X, Y, batch_size=16, shuffle=False),
    "fit of a generator": lambda m: history(m, generated()),
    "fit of a parallel dataset": lambda m: history(m, mapped()),
    "train_on_batch": lambda m: m.train_on_batch(X[:16], Y[:16]),
}
# The same with code that runs between steps: others may train then.
LISTENED = {"fit with a callback": lambda m: history(m, X, Y, batch_size=16, shuffle=False, callbacks=[Listener()])}
INFERENCE = {
    "predict": lambda m: m.predict(X, batch_size=16, verbose=0),
    "predict with a callback": lambda m: m.predict(X, batch_size=16, verbose=0, callbacks=[Listener()]),
    "predict of a dataset": lambda m: m.predict(mapped(), verbose=0),
    "evaluate": lambda m: m.evaluate(X, Y, batch_size=16, verbose=0),
    "evaluate of a generator": lambda m: m.evaluate(generated(), verbose=0),
    "predict_on_batch": lambda m: m.predict_on_batch(X[:16]),
    "test_on_batch": lambda m: m.test_on_batch(X[:16], Y[:16]),
    "model(x)": lambda m: np.array(m(X[:16])),
    "model(x) of many rows": lambda m: np.array(m(np.repeat(X, 300, 0)))[::300],
    "tf.function": lambda m: np.array(function_of(m)(X[:16])),
}


def at_once(work):
    """work(i) in eight threads that begin together: what they give."""
    results, problems, barrier = [None] * THREADS, [], threading.Barrier(THREADS)

    def run(i):
        try:
            barrier.wait()
            results[i] = work(i)
        except BaseException as error:
            problems.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return results


def check(kind, owner, name, call, rounds):
    alone = make(kind)
    expected = [call(alone) for _ in range(rounds * (THREADS if owner == "shared" and name in TRAINING else 1))]
    models = [make(kind)] * THREADS if owner == "shared" else [make(kind) for _ in range(THREADS)]
    found = at_once(lambda i: [call(models[i]) for _ in range(rounds)])
    if owner == "own" or name in INFERENCE:
        for one in found:
            for got, wanted in zip(one, expected):
                np.testing.assert_array_equal(got, wanted, err_msg=name)
    elif name in TRAINING:
        every = [np.ravel(result).tolist() for one in found for result in one]
        assert sorted(every) == sorted(np.ravel(e).tolist() for e in expected), (name, sorted(every), expected)


def main(kind, owner, rounds):
    for name, call in {**INFERENCE, **TRAINING, **LISTENED}.items():
        check(kind, owner, name, call, rounds)
        print(name, flush=True)
    if owner == "shared":  # everything at the same time
        model, calls = make(kind), list({**INFERENCE, **TRAINING, **LISTENED}.values())
        at_once(lambda i: [calls[(i + k) % len(calls)](model) for k in range(len(calls))])
        at_once(lambda i: [model.compile("sgd", "mse", metrics=["mae"]) if i % 2 else model.fit(X, Y, batch_size=16, verbose=0) for _ in range(2 * THREADS)])
        at_once(lambda i: model.set_weights(model.get_weights()) if i % 2 else model.evaluate(X, Y, verbose=0))
        print("all together", flush=True)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
