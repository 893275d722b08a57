"""A model with layers in 16 and in 32 bits, and an optimizer that scales the loss, for tests and the script of their golden data."""
import numpy as np

X = np.sin(np.arange(12)).reshape(4, 3).astype(np.float32)
Y = np.cos(np.arange(8)).reshape(4, 2).astype(np.float32)
FILES = ["model.keras", "model.h5", "saved_model", "only.weights.h5", "values"]


def made(tf):
    mixed, k = tf.keras.mixed_precision, tf.keras.layers
    mixed.set_global_policy("mixed_float16")
    try:
        model = tf.keras.Sequential([k.Dense(4, activation="relu", input_shape=(3,)), k.BatchNormalization(), k.Dense(2, dtype="float32")])
    finally:
        mixed.set_global_policy("float32")
    model.compile(mixed.LossScaleOptimizer(tf.keras.optimizers.Adam(.01), initial_scale=64.), "mse")
    return model


def fit(model):
    return model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"]


def trained(tf):
    model = made(tf)
    model.set_weights([np.sin(np.arange(w.size) + i).reshape(w.shape) * .3 + .5 for i, w in enumerate(model.get_weights())])
    fit(model)
    return model


def save(model, path):
    """By the end of the name: weights alone, or the model."""
    (model.save_weights if path.endswith((".weights.h5", "values")) else model.save)(path)
