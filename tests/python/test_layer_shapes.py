"""Inputs of every rank to every layer, by every way in: a call, `call`, `build`, `compute_output_shape`, `compute_mask`. Errors are allowed, ends of the
process are not. And the names and dtypes that the extension's objects refuse."""
import os
import signal

import pytest

import config_cases
import thalweg as tf

SHAPES = [(), (3,), (2, 3), (0, 3), (2, 3, 4), (2, 0, 4), (2, 3, 4, 5), (1, 2, 3, 4, 5), (1,) * 8]
WAYS = {
    "call": lambda layer, x: layer(x),
    "call twice": lambda layer, x: (layer(x), layer.call(tf.zeros(())), layer.call(tf.zeros((2, 3)))),
    "own call": lambda layer, x: layer.call(x),
    "own call in training": lambda layer, x: layer.call(x, training=True),
    "build": lambda layer, x: (layer.build(x.shape), layer.call(x), layer.call(tf.zeros((5,)))),
    "output shape": lambda layer, x: layer.compute_output_shape(x.shape),
    "output shape of unknown": lambda layer, x: (layer.compute_output_shape((None,) + tuple(x.shape)), layer.compute_output_shape(tf.TensorShape(None))),
    "mask": lambda layer, x: layer.compute_mask(x, x > 0),
    "lists": lambda layer, x: layer([x, x]),
}
CASES = {key: (name, keywords) for key, name, keywords, _ in config_cases.layer_cases(tf)}


def attempts(name, keywords):
    wrong = []
    for shape in SHAPES:
        for way, run in WAYS.items():
            try:
                run(getattr(tf.keras.layers, name)(**keywords), tf.zeros(shape))
            except (SystemError, tf.errors.InternalError) as error:
                wrong.append("%s %s: %r" % (way, shape, error))
            except Exception:
                pass
    return wrong


@pytest.mark.parametrize("key", CASES)
def test_every_rank(key):
    child = os.fork()
    if not child:
        signal.alarm(100)
        os._exit(bool(attempts(*CASES[key])))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", [1.5, None, b"x", 3, ()])
@pytest.mark.parametrize("message", [tf.train.Feature, tf.compat.v1.GraphDef, tf.train.SequenceExample])
def test_names_of_fields(message, name):
    for change in (lambda: message().__setattr__(name, 1), lambda: message().__delattr__(name), lambda: message().__getattribute__(name)):
        with pytest.raises(TypeError):
            change()
    with pytest.raises((ValueError, TypeError)):
        message().HasField(name)


@pytest.mark.parametrize("optimizer", ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD"])
@pytest.mark.parametrize("value", ["a", True, 3, 1 + 2j])
def test_slots_of_every_dtype(optimizer, value):
    made = getattr(tf.keras.optimizers, optimizer)()
    try:
        made.build([tf.Variable(value)])
    except (TypeError, ValueError, tf.errors.OpError):
        return
    for variable in made.variables:
        variable.numpy()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_uniform_integers_between_fractions(dtype):
    with pytest.raises(TypeError, match="Cannot convert -0.05"):
        tf.keras.initializers.RandomUniform()((2,), dtype)
    assert 0 <= int(tf.keras.initializers.RandomUniform(0, 5)((), dtype)) < 5
