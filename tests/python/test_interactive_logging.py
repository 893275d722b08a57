"""keras.utils.disable_interactive_logging: nothing of what Keras tells by itself is written, as in TensorFlow, whose log hides it."""
import numpy as np
import pytest
import thalweg as tf

X, Y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)


def bar(model):
    bar = tf.keras.utils.Progbar(3)
    bar.update(1)
    bar.update(3)


CALLS = {
    "fit": lambda m: m.fit(X, Y), "lines": lambda m: m.fit(X, Y, verbose=2), "predict": lambda m: m.predict(X), "evaluate": lambda m: m.evaluate(X, Y),
    "Progbar": bar, "summary": lambda m: m.summary(),
    "EarlyStopping": lambda m: m.fit(X, Y, epochs=3, verbose=0, callbacks=[tf.keras.callbacks.EarlyStopping("loss", patience=0, verbose=1, min_delta=1e9)]),
    "ReduceLROnPlateau": lambda m: m.fit(X, Y, epochs=4, verbose=0, callbacks=[tf.keras.callbacks.ReduceLROnPlateau("loss", patience=1, verbose=1, min_delta=1e9)]),
    "LearningRateScheduler": lambda m: m.fit(X, Y, verbose=0, callbacks=[tf.keras.callbacks.LearningRateScheduler(lambda e: .1, verbose=1)])}


@pytest.mark.parametrize("name", CALLS)
def test_lines(name, capsys):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    assert tf.keras.utils.is_interactive_logging_enabled()
    CALLS[name](model)
    assert capsys.readouterr().out
    tf.keras.utils.disable_interactive_logging()
    try:
        assert not tf.keras.utils.is_interactive_logging_enabled()
        CALLS[name](model)
        assert not capsys.readouterr().out
    finally:
        tf.keras.utils.enable_interactive_logging()
