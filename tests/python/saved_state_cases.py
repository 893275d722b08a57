"""States of stateful recurrent layers: a SavedModel keeps them, other files do not."""
import os
import tempfile

import numpy as np

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 20


def cases(tf):
    k, out = tf.keras, {}

    def made(cell, kind):
        def layer(**more):
            return getattr(k.layers, cell)(2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones", **more)
        if kind == "sequential":
            return k.Sequential([layer(batch_input_shape=(2, 3, 4))])
        x = k.Input(batch_shape=(2, 3, 4))
        if kind == "nested":
            return k.Model(x, k.Sequential([layer(batch_input_shape=(2, 3, 4))])(x))
        return k.Model(x, layer()(layer(return_sequences=True)(x)))

    def program(cell, kind, ending):
        def run():
            model = made(cell, kind)
            values = [model.predict(X, verbose=0)]
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model" + ending)
                model.save(path)
                again = k.models.load_model(path)
                if not ending:
                    names = [n for n, _ in tf.train.list_variables(os.path.join(path, "variables", "variables")) if "/states/" in n]
                    values += [sorted(names), tf.saved_model.load(path)(tf.constant(X))]
            return values + [again.predict(X, verbose=0), model.predict(X, verbose=0), again.predict(X, verbose=0)]
        return run
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        for ending in ("", ".keras", ".h5"):
            out["%s%s" % (cell, ending)] = program(cell, "sequential", ending)
    for kind in ("functional", "nested"):
        out["GRU %s" % kind] = program("GRU", kind, "")
    return out
