"""A setting of an object that is made is not changed without effect: another value is an error, the same one is allowed, and classes of the program use
the names as they like. Every layer is tried."""
import pytest

import config_cases
import thalweg as tf

LAYERS = {key: (name, keywords) for key, name, keywords, _ in config_cases.layer_cases(tf)}


class Other:
    """Equal to nothing."""
    __eq__ = None


def check(made, keywords):
    settings = [name for name in keywords if name not in ("name", "dtype", "trainable")]
    for name in settings:
        if isinstance(getattr(type(made), name, None), property) or hasattr(getattr(type(made), name, None), "__set__"):
            continue
        with pytest.raises(NotImplementedError, match="a setting can't be changed"):
            setattr(made, name, Other())


@pytest.mark.parametrize("key", LAYERS)
def test_layers(key):
    name, keywords = LAYERS[key]
    check(getattr(tf.keras.layers, name)(**keywords), keywords)


def test_the_same_value_is_allowed():
    layer = tf.keras.layers.Dropout(0.5)
    layer.rate = 0.5
    with pytest.raises(NotImplementedError, match="Dropout.rate"):
        layer.rate = 0.25
    with pytest.raises(NotImplementedError, match="EarlyStopping.patience"):
        tf.keras.callbacks.EarlyStopping(patience=1).patience = 5
    with pytest.raises(NotImplementedError, match="Adam.epsilon"):
        tf.keras.optimizers.Adam().epsilon = 1.0


def test_classes_of_the_program():
    class Own(tf.keras.layers.Dropout):
        def __init__(self, rate):
            super().__init__(0.5)
            self.rate = rate

    assert Own(0.25).rate == 0.25
