"""Random numbers where features meet: every layer, initializer, function and dataset step that draws some, with and without a seed of its own, run at once,
traced, trained, iterated several times; recurrent layers' masks and states, settings that change, files. After set_random_seed all of them are TensorFlow's."""
import os
import tempfile

import numpy as np

WITHOUT_SEED = ("LSTM", "GRU", "SimpleRNN", "Bidirectional", "cells", "Attention", "MultiHead")
X = np.linspace(-1, 1, 8 * 6 * 4).reshape(8, 6, 4).astype(np.float32)


def layers(tf):
    k = tf.keras.layers
    return {
        "LSTM": lambda s: k.LSTM(3, dropout=.3), "LSTM steps": lambda s: k.LSTM(3, dropout=.3, recurrent_dropout=.2),
        "LSTM unrolled": lambda s: k.LSTM(3, dropout=.3, recurrent_dropout=.2, unroll=True),
        "LSTM gates": lambda s: k.RNN(k.LSTMCell(3, dropout=.3, implementation=1)), "LSTM cell": lambda s: k.RNN(k.LSTMCell(3, dropout=.3)),
        "LSTM no bias": lambda s: k.LSTM(3, dropout=.3, use_bias=False), "LSTM backwards": lambda s: k.LSTM(3, dropout=.3, go_backwards=True),
        "GRU": lambda s: k.GRU(3, dropout=.3), "GRU before": lambda s: k.GRU(3, dropout=.3, recurrent_dropout=.3, reset_after=False),
        "GRU steps": lambda s: k.GRU(3, recurrent_dropout=.3), "GRU gates": lambda s: k.GRU(3, dropout=.2, implementation=1, reset_after=False),
        "SimpleRNN": lambda s: k.SimpleRNN(3, dropout=.3, recurrent_dropout=.1),
        "Bidirectional": lambda s: k.Bidirectional(k.LSTM(3, dropout=.3)),
        "cells": lambda s: k.RNN([k.LSTMCell(3, dropout=.2), k.GRUCell(2, recurrent_dropout=.3)]),
        "TimeDistributed": lambda s: k.TimeDistributed(k.Dropout(.4, seed=s)), "SpatialDropout1D": lambda s: k.SpatialDropout1D(.4, seed=s),
        "Dropout": lambda s: k.Dropout(.4, seed=s), "Dropout of rows": lambda s: k.Dropout(.4, noise_shape=(None, 1, 4), seed=s),
        "GaussianNoise": lambda s: k.GaussianNoise(.4, seed=s), "GaussianDropout": lambda s: k.GaussianDropout(.4, seed=s),
        "AlphaDropout": lambda s: k.AlphaDropout(.4, seed=s), "Lambda": lambda s: k.Lambda(lambda x: tf.nn.dropout(x, .3, seed=s)),
        "Attention": lambda s: None, "MultiHeadAttention": lambda s: None,
    }


def steps(tf):
    data, random = tf.data.Dataset, tf.random

    def numbers(n=12):
        return data.range(n)

    return {
        "shuffle": lambda s: numbers().shuffle(5, seed=s), "shuffle once": lambda s: numbers().shuffle(5, seed=s, reshuffle_each_iteration=False),
        "shuffle, repeat": lambda s: numbers().shuffle(5, seed=s).repeat(2), "repeat, shuffle": lambda s: numbers().repeat(2).shuffle(5, seed=s),
        "shuffle, batch, repeat": lambda s: numbers().shuffle(5, seed=s).batch(5).repeat(2), "shuffle, take": lambda s: numbers().shuffle(12, seed=s).take(3),
        "shuffle, shuffle": lambda s: numbers().shuffle(5, seed=s).shuffle(7, seed=s), "shuffle, cache": lambda s: numbers().shuffle(5, seed=s).cache(),
        "cache, shuffle": lambda s: numbers().cache().shuffle(5, seed=s),
        "shuffle, map": lambda s: numbers().shuffle(5, seed=s).map(lambda x: x + 1, num_parallel_calls=2),
        "map": lambda s: numbers().map(lambda x: random.uniform([], seed=s)), "map, repeat": lambda s: numbers(4).map(lambda x: random.uniform([], seed=s)).repeat(2),
        "map of batches": lambda s: numbers().batch(4).map(lambda x: random.normal([4], seed=s)),
        "filter": lambda s: numbers().filter(lambda x: random.uniform([], seed=s) < .5),
        "scan": lambda s: numbers(5).scan(np.float32(0), lambda a, x: (a + random.uniform([], seed=s), a)),
        "map with a branch": lambda s: numbers(6).map(lambda x: tf.cond(x < 3, lambda: random.uniform([], seed=s), lambda: random.normal([], seed=s))),
        "interleave": lambda s: numbers().interleave(lambda x: data.range(x, x + 4).shuffle(4, seed=s), cycle_length=3, block_length=2),
        "flat_map": lambda s: numbers(3).flat_map(lambda x: numbers().shuffle(4, seed=s)),
        "sample_from_datasets": lambda s: data.sample_from_datasets([numbers(), numbers().map(lambda x: x + 100)], [.3, .7], seed=s),
        "random": lambda s: data.random(seed=s).take(5).map(lambda x: x % 1000),
        "zip": lambda s: data.zip((numbers().shuffle(5, seed=s), numbers().shuffle(5, seed=s))).map(lambda a, b: tf.stack([a, b])),
        "concatenate": lambda s: numbers().shuffle(5, seed=s).concatenate(numbers().shuffle(5, seed=s)),
        "skip, repeat": lambda s: numbers().shuffle(5, seed=s).skip(3).repeat(2), "prefetch": lambda s: numbers().shuffle(5, seed=s).batch(3).prefetch(2),
        "repeat for ever": lambda s: numbers().shuffle(5, seed=s).repeat().take(30), "batches for ever": lambda s: numbers().shuffle(5, seed=s).batch(4).repeat().take(5),
        "repeat twice": lambda s: numbers().shuffle(12, seed=s).map(lambda x: x * 2).repeat(2).batch(6).repeat(2),
        "filter, repeat": lambda s: numbers().shuffle(12, seed=s).filter(lambda x: x > 3).repeat(3),
        "window": lambda s: numbers().shuffle(12, seed=s).window(3).flat_map(lambda w: w.batch(3)), "shard": lambda s: numbers().shuffle(12, seed=s).shard(2, 1).repeat(2),
    }


def functions(tf):
    random, image, backend, x = tf.random, tf.image, tf.keras.backend, np.abs(X[..., :3])
    return {
        "normal": lambda s: random.normal([5], seed=s), "uniform": lambda s: random.uniform([5], seed=s),
        "integers": lambda s: random.uniform([5], 0, 100, tf.int32, seed=s), "long integers": lambda s: random.uniform([5], 0, 2**40, tf.int64, seed=s),
        "truncated_normal": lambda s: random.truncated_normal([5], seed=s), "gamma": lambda s: random.gamma([5], [.7, 3.], seed=s),
        "poisson": lambda s: random.poisson([5], [.5, 30.], seed=s), "categorical": lambda s: random.categorical([[.1, .5, .4]], 9, seed=s),
        "shuffle": lambda s: random.shuffle(tf.range(9), seed=s), "float64": lambda s: random.normal([3], dtype=tf.float64, seed=s),
        "dropout": lambda s: tf.nn.dropout(tf.ones([9]), .4, seed=s), "random_crop": lambda s: image.random_crop(X, [2, 3, 4], seed=s),
        "random_flip": lambda s: image.random_flip_left_right(X, seed=s), "random_brightness": lambda s: image.random_brightness(x, .5, seed=s),
        "random_contrast": lambda s: image.random_contrast(x, .2, .5, seed=s), "random_hue": lambda s: image.random_hue(x, .5, seed=s),
        "random_saturation": lambda s: image.random_saturation(x, .2, .5, seed=s), "backend normal": lambda s: backend.random_normal([4], seed=s),
        "backend uniform": lambda s: backend.random_uniform([4], seed=s), "backend truncated": lambda s: backend.truncated_normal([4], seed=s),
        "backend dropout": lambda s: backend.dropout(tf.ones([9]), .4, seed=s),
    }


def programs(tf):
    """Functions that call functions, loop and branch: each way to an op has numbers of its own."""
    def inner(seed):
        return tf.function(lambda: tf.random.uniform([], seed=seed))

    def twice(seed):
        g = inner(seed)
        f = tf.function(lambda: (g(), g()))
        return [f(), f(), g()]

    def loop(seed):
        f = tf.function(lambda n: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 10 + tf.random.uniform([], seed=seed)), (0, 0.), parallel_iterations=1)[1])
        return [f(tf.constant(3)), f(tf.constant(2))]

    def branch(seed):
        f = tf.function(lambda p: tf.cond(p, lambda: tf.random.uniform([], seed=seed), lambda: tf.random.uniform([], seed=seed)))
        return [f(tf.constant(p)) for p in (True, False, True)]

    def called_in_a_loop(seed):
        g = inner(seed)
        f = tf.function(lambda n: tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 10 + g()), (0, 0.), parallel_iterations=1)[1] + g())
        return [f(tf.constant(2)), f(tf.constant(2))]

    def iterated(seed):
        dataset = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([], seed=seed))
        f = tf.function(lambda: dataset.reduce(0., lambda s, x: s * 10 + x))
        first, second = iter(dataset), iter(dataset)
        return [f(), f(), next(first), next(second), next(first), next(second)]

    return {"twice": twice, "loop": loop, "branch": branch, "called in a loop": called_in_a_loop, "iterated": iterated}


def recurrent(tf):
    """Recurrent layers whose dropout meets their other settings."""
    k = tf.keras
    settings = {"stateful, masked": {"stateful": True}, "time major": {"time_major": True}, "initial state": {}, "backwards, masked": {"go_backwards": True},
                "unrolled, masked": {"unroll": True}}

    def program(cell, said):
        def run():
            layer = getattr(k.layers, cell)(3, dropout=.3, recurrent_dropout=.2, **settings[said])
            x = k.Input((6, 4), batch_size=4)
            inner = k.layers.Masking(.5)(x) if "masked" in said else x
            if said == "time major":
                inner = k.layers.Permute((2, 1))(tf.transpose(inner, [1, 2, 0]))
            states = [k.layers.Dense(3, kernel_initializer="ones")(x[:, 0])] * (2 if cell == "LSTM" else 1) if said == "initial state" else None
            model = k.Model(x, k.layers.Dense(2)(k.layers.Flatten()(layer(inner, initial_state=states))))
            data = np.where(np.arange(6)[None, :, None] < np.arange(8)[:, None, None] % 5 + 2, X, np.float32(.5)) if "masked" in said else X
            model.compile("sgd", "mse")
            history = [model.fit(data, np.zeros((8, 2), np.float32), epochs=2, batch_size=4, verbose=0, shuffle=False).history["loss"]]
            if layer.stateful:
                layer.reset_states()
            history.append(model.predict(data, batch_size=4, verbose=0)[:3])
            return history + [model.fit(data, np.zeros((8, 2), np.float32), batch_size=4, verbose=0, shuffle=False).history["loss"]]
        return run

    return {"recurrent %s both %s" % (cell, said): program(cell, said) for said in settings for cell in ("LSTM", "GRU", "SimpleRNN")}


def changed(tf):
    """Settings that are changed between fits, with and without compiling again."""
    k = tf.keras
    makers = {"Dropout": (lambda: k.layers.Dropout(.2), "rate", .7), "GaussianNoise": (lambda: k.layers.GaussianNoise(.1), "stddev", .8),
              "GaussianDropout": (lambda: k.layers.GaussianDropout(.2), "rate", .6)}

    def program(name, again):
        def run():
            make, setting, value = makers[name]
            layer = make()
            model = k.Sequential([layer, k.layers.Flatten(), k.layers.Dense(2)])
            fit = lambda: model.fit(X, np.zeros((8, 2), np.float32), epochs=2, batch_size=4, verbose=0, shuffle=False).history["loss"]
            model.compile("sgd", "mse")
            losses = [fit()]
            setattr(layer, setting, value)
            if again:
                model.compile("sgd", "mse")
            return losses + [fit(), fit(), model.predict(X, verbose=0)[:2]]
        return run

    return {"changed %s%s" % (name, ", compiled again" * again): program(name, again)
            for name, again in (("Dropout", False), ("GaussianNoise", False), ("GaussianDropout", True))}


def saved(tf):
    """Layers that draw numbers, saved and loaded: what they draw then is what a new layer of their config draws."""
    k = tf.keras

    def program(name, seed, ending):
        def run():
            x = k.Input((6, 4))
            model = k.Model(x, k.layers.Dense(2)(k.layers.Flatten()(getattr(k.layers, name)(.4, seed=seed)(x))))
            model.compile("sgd", "mse")
            fit = lambda m: m.fit(X, np.zeros((8, 2), np.float32), epochs=2, batch_size=4, verbose=0, shuffle=False).history["loss"]
            losses = [fit(model)]
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "m" + ending)
                model.save(path)
                again = k.models.load_model(path)
            k.utils.set_random_seed(11)
            return losses + [fit(again), again.layers[1](tf.constant(X), training=True)[:2]]
        return run

    return {"saved %s %s %s" % (name, seed, ending or "directory"): program(name, seed, ending)
            for name, seed, ending in (("GaussianNoise", None, ".keras"), ("Dropout", None, ""), ("AlphaDropout", 4, ".h5"))}


def cases(tf):
    k, out = tf.keras, {}

    def fresh(function):
        def run():
            k.backend.clear_session()
            k.utils.set_random_seed(7)
            return function()
        return run

    def layer(name, make, seed, mode):
        inner = make(seed)
        if name == "Attention":
            attention = k.layers.Attention(dropout=.3)
            call = lambda x: attention([x, x], training=True)
        elif name == "MultiHeadAttention":
            attention = k.layers.MultiHeadAttention(2, 3, dropout=.3)
            call = lambda x: attention(x, x, training=True)
        else:
            call = lambda x: inner(x, training=True)
        if mode in ("eager", "function"):
            call = call if mode == "eager" else tf.function(call)
            return [call(tf.constant(X))[:2] for _ in range(2)]
        if inner is None:
            return None
        if mode == "functional":
            x = k.Input((6, 4))
            model = k.Model(x, k.layers.Dense(2)(k.layers.Flatten()(inner(x))))
        else:
            model = k.Sequential([inner, k.layers.Flatten(), k.layers.Dense(2)])
        model.compile("sgd", "mse", run_eagerly=mode == "fit eagerly")
        history = model.fit(X, np.zeros((8, 2), np.float32), epochs=2, batch_size=4, verbose=0, shuffle=mode == "fit")
        return [history.history["loss"], model.get_weights()[-2:]]

    def iterated(make, seed):
        dataset = make(seed)
        return [[element.tolist() for element in dataset.as_numpy_iterator()] for _ in range(3)]

    def fitted(make, seed):
        seen = []

        class Model(k.Model):
            def train_step(self, x):
                seen.append(x.numpy().tolist())
                return {"loss": tf.constant(0.)}

        model = Model()
        model.compile("sgd", "mse", run_eagerly=True)
        model.fit(make(seed), epochs=2, verbose=0)
        return seen

    def called(function, seed, mode):
        if mode == "eager":
            return [function(seed), function(seed)]
        traced = tf.function(lambda: function(seed) if mode == "function" else (function(seed), function(seed)))
        return [traced(), traced()]

    for seed in (None, 4):
        for name, make in layers(tf).items():
            if seed and name.startswith(WITHOUT_SEED):
                continue
            for mode in ("eager", "function", "fit", "functional", "fit eagerly"):
                out["layer %s %s %s" % (name, seed, mode)] = fresh(lambda name=name, make=make, seed=seed, mode=mode: layer(name, make, seed, mode))
        for name, make in steps(tf).items():
            out["dataset %s %s" % (name, seed)] = fresh(lambda make=make, seed=seed: iterated(make, seed))
            out["dataset %s %s fit" % (name, seed)] = fresh(lambda make=make, seed=seed: fitted(make, seed))
        for name, function in functions(tf).items():
            for mode in ("eager", "function", "twice"):
                out["function %s %s %s" % (name, seed, mode)] = fresh(lambda f=function, seed=seed, mode=mode: called(f, seed, mode))
        for name, program in programs(tf).items():
            out["program %s %s" % (name, seed)] = fresh(lambda program=program, seed=seed: program(seed))
    for name in ("RandomNormal", "RandomUniform", "TruncatedNormal", "GlorotUniform", "GlorotNormal", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform",
                 "Orthogonal", "VarianceScaling"):
        make = getattr(k.initializers, name)
        out["initializer " + name] = fresh(lambda make=make: [make()((3, 4)), make(seed=3)((3, 4))])
        for seed in (None, 2):
            out["weights of %s %s" % (name, seed)] = fresh(
                lambda make=make, seed=seed: [k.layers.Dense(3, kernel_initializer=make(seed=seed))(X[:, 0]) for _ in range(2)])
    for part in (recurrent, changed, saved):
        out.update({name: fresh(program) for name, program in part(tf).items()})
    return out
