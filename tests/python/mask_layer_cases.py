"""Masks through layers: which mask an output has, and what layers make of one."""
import numpy as np

X = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7 - 3) / 3
FIRST, SECOND = np.array([[1, 1, 0], [1, 0, 0]], bool), np.array([[1, 0, 1], [1, 1, 1]], bool)


def cases(tf):
    k, out = tf.keras, {}

    def masked(mask):
        x = tf.constant(X)
        if mask is not None:
            x._keras_mask = tf.constant(mask)
        return x

    def shown(value):
        flat = value if isinstance(value, (list, tuple)) else [value]
        return [[v, getattr(v, "_keras_mask", None)] for v in flat]

    def one(make, **call):
        return lambda: shown(make()(masked(FIRST), **call))

    layers = {"Dense": lambda: k.layers.Dense(2, kernel_initializer="ones"), "Activation": lambda: k.layers.Activation("relu"),
              "Dropout": lambda: k.layers.Dropout(.5), "LayerNormalization": lambda: k.layers.LayerNormalization(),
              "BatchNormalization": lambda: k.layers.BatchNormalization(), "Flatten": lambda: k.layers.Flatten(),
              "Reshape": lambda: k.layers.Reshape((4, 3)), "Conv1D": lambda: k.layers.Conv1D(2, 1, kernel_initializer="ones"),
              "Masking": lambda: k.layers.Masking(), "GlobalAveragePooling1D": lambda: k.layers.GlobalAveragePooling1D(),
              "GlobalAveragePooling1D kept": lambda: k.layers.GlobalAveragePooling1D(keepdims=True),
              "GlobalMaxPooling1D": lambda: k.layers.GlobalMaxPooling1D(), "MaxPooling1D": lambda: k.layers.MaxPooling1D(),
              "Permute": lambda: k.layers.Permute((2, 1)), "Softmax": lambda: k.layers.Activation("softmax"), "ReLU": lambda: k.layers.ReLU(),
              "LeakyReLU": lambda: k.layers.LeakyReLU(), "GaussianNoise": lambda: k.layers.GaussianNoise(.1),
              "SpatialDropout1D": lambda: k.layers.SpatialDropout1D(.5), "ActivityRegularization": lambda: k.layers.ActivityRegularization(.1),
              "TimeDistributed": lambda: k.layers.TimeDistributed(k.layers.Dense(2, kernel_initializer="ones")),
              "Sequential": lambda: k.Sequential([k.layers.Dense(2, kernel_initializer="ones"), k.layers.ReLU()])}
    for name, make in layers.items():
        out[name] = one(make)
    for name in ("SimpleRNN", "GRU", "LSTM"):
        for options in ({}, {"return_sequences": True}, {"return_sequences": True, "return_state": True}, {"go_backwards": True, "return_sequences": True},
                        {"unroll": True, "return_sequences": True}, {"return_sequences": True, "zero_output_for_mask": True}):
            def make(name=name, options=options):
                return getattr(k.layers, name)(2, kernel_initializer="ones", recurrent_initializer="ones", **options)
            label = " ".join(sorted(options))
            out["%s %s" % (name, label)] = one(make)
            if "state" not in label and "unroll" not in label:  # unrolled, TensorFlow goes backwards with the mask as it is forwards
                out["Bidirectional %s %s" % (name, label)] = one(lambda make=make: k.layers.Bidirectional(make()))
    for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
        for first, second in ((FIRST, SECOND), (FIRST, None), (None, SECOND), (None, None)):
            out["%s %s %s" % (name, first is not None, second is not None)] = lambda name=name, first=first, second=second: shown(
                getattr(k.layers, name)()([masked(first), masked(second)]))
    out["Concatenate in time"] = lambda: shown(k.layers.Concatenate(axis=1)([masked(FIRST), masked(SECOND)]))
    out["Dot"] = lambda: shown(k.layers.Dot(axes=2)([masked(FIRST), masked(SECOND)]))
    for name in ("Attention", "AdditiveAttention"):
        out[name] = lambda name=name: shown(getattr(k.layers, name)(use_scale=False)([masked(FIRST), masked(SECOND)]))
    out["MultiHeadAttention"] = lambda: shown(k.layers.MultiHeadAttention(2, 2, kernel_initializer="ones")(masked(FIRST), masked(SECOND)))

    def model(build):
        def run():
            words = np.array([[1, 2, 0], [3, 0, 0], [2, 2, 1], [1, 1, 0]])
            x = k.Input((3,))
            table = k.initializers.Constant((np.arange(16, dtype=np.float32).reshape(4, 4) % 5 - 2) / 4)
            y = k.layers.Dense(3, activation="softmax", kernel_initializer="ones")(
                build(k.layers.Embedding(4, 4, mask_zero=True, embeddings_initializer=table)(x)))
            m = k.Model(x, y)
            m.compile(k.optimizers.SGD(.5), "sparse_categorical_crossentropy", metrics=["accuracy"])
            h = m.fit(words, np.array([[1, 0, 1], [2, 0, 0], [1, 2, 2], [0, 0, 1]]), batch_size=4, epochs=2, shuffle=False, verbose=0)
            return h.history, getattr(m(words), "_keras_mask", None)
        return run
    dense = lambda: k.layers.Dense(4, kernel_initializer="ones")
    out["fit add"] = model(lambda e: k.layers.Add()([e, dense()(e)]))
    out["fit concatenate"] = model(lambda e: k.layers.Concatenate()([e, dense()(e)]))
    out["fit attention"] = model(lambda e: k.layers.Attention()([e, e]))
    out["fit bidirectional"] = model(lambda e: k.layers.Bidirectional(k.layers.GRU(2, return_sequences=True, kernel_initializer="ones",
                                                                                   recurrent_initializer="ones"))(e))
    out["fit inner model"] = model(lambda e: k.Sequential([dense(), k.layers.ReLU()])(e))
    return out
