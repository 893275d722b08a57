"""Functional models: JSON text, summaries, values, gradients and checkpoints are TensorFlow's; mistakes are told in its words."""
import gc
import json
import weakref

import numpy as np
import pytest

import keras_models
from golden_files import golden_file
import thalweg as tf

L = tf.keras.layers
with open(golden_file("keras_functional", "keras_functional.json")) as file:
    EXPECTED = json.load(file)


def made(name):
    tf.keras.backend.clear_session()
    return keras_models.FUNCTIONAL[name](tf)


@pytest.mark.parametrize("name", keras_models.FUNCTIONAL)
def test_json(name):
    model = made(name)
    assert model.to_json() == EXPECTED[name]["json"]
    again = tf.keras.models.model_from_json(EXPECTED[name]["json"])
    assert again.to_json() == EXPECTED[name]["json"]
    assert tf.keras.models.clone_model(model).get_config() == model.get_config()
    assert [layer.name for layer in model.layers] == EXPECTED[name]["layers"]


@pytest.mark.parametrize("name", keras_models.FUNCTIONAL)
def test_summary(name):
    model = made(name)
    arguments = [a for a in keras_models.SUMMARIES if not ("positions" in a and name == "chain")]
    for given, expected in zip(arguments, EXPECTED[name]["summaries"], strict=True):
        assert keras_models.lines(model, dict(given)) == expected


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", keras_models.FUNCTIONAL)
def test_values(name, again):
    model = made(name)
    if again and name == "nested":
        pytest.skip("what two models share is not shared in a config")
    if again:
        model = type(model).from_config(model.get_config())
    keras_models.set_weights(model, np)
    x = keras_models.inputs(model, np)
    with tf.GradientTape() as tape:
        y = tf.nest.flatten(model(x))
        loss = sum(tf.reduce_sum(v * v) for v in y)
    for value, expected in zip(y, EXPECTED[name]["values"], strict=True):
        np.testing.assert_allclose(value.numpy(), expected, rtol=1e-5, atol=1e-5)
    gradients = tape.gradient(loss, model.trainable_variables)
    for gradient, expected in zip(gradients, EXPECTED[name]["gradients"], strict=True):
        assert (gradient is None) == (expected is None)
        if expected is not None:
            np.testing.assert_allclose(float(tf.reduce_sum(gradient)), expected, rtol=1e-3, atol=1e-2)
    assert [w.name for w in model.weights] == EXPECTED[name]["weights"]
    traced = tf.nest.flatten(tf.function(model)(x))
    for value, expected in zip(traced, y, strict=True):
        np.testing.assert_allclose(value.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def test_checkpoint(tmp_path):
    model = made("several")
    model.load_weights(golden_file("keras_functional", "keras_functional_several"))
    x = keras_models.inputs(model, np)
    np.testing.assert_allclose(model(x)["one"].numpy(), EXPECTED["several"]["values"][0], rtol=1e-5)
    model.save_weights(str(tmp_path / "w"))
    names = [n for n, _ in tf.train.list_variables(golden_file("keras_functional", "keras_functional_several"))]
    assert [n for n, _ in tf.train.list_variables(str(tmp_path / "w"))] == names


def test_printing():
    tf.keras.backend.clear_session()
    x = tf.keras.Input((4,))
    assert str(x) == ("KerasTensor(type_spec=TensorSpec(shape=(None, 4), dtype=tf.float32, name='input_1'), name='input_1', "
                      "description=\"created by layer 'input_1'\")")
    assert repr(L.Dense(2)(x)) == "<KerasTensor: shape=(None, 2) dtype=float32 (created by layer 'dense')>"
    assert (x > 0).dtype == tf.bool and x[..., None].shape == (None, 4, 1) and (x @ tf.ones((4, 3))).shape == (None, 3)


class Block(L.Layer):
    """Makes layers in build and in call."""

    def build(self, input_shape):
        self.inner = L.Dense(input_shape[-1])
        super().build(input_shape)

    def call(self, x, other=None):
        x = L.Add()([x, self.inner(x)])
        return x if other is None else (x, x * other)


def test_own_layers():
    i = tf.keras.Input((5,))
    one, two = Block()(i, other=Block()(i))
    model = tf.keras.Model(i, [one, two])
    assert [t.shape for t in model(np.ones((2, 5), "float32"))] == [(2, 5), (2, 5)]
    assert len(model.weights) == 4

    class Whole(tf.keras.Model):
        def __init__(self):
            i = tf.keras.Input((2,))
            super().__init__(inputs=i, outputs=L.Dense(3)(i))
    assert Whole()(np.ones((1, 2), "float32")).shape == (1, 3)


def test_parts():
    model = tf.keras.Sequential([tf.keras.Input((3,)), L.Dense(4, name="hidden"), L.Dense(2)])
    part = tf.keras.Model(model.input, model.get_layer("hidden").output)
    assert part(np.ones((1, 3), "float32")).shape == (1, 4)
    model.pop()
    assert model.output_shape == (None, 4) and model.outputs[0].shape == (None, 4)
    unknown = tf.keras.Sequential([L.Dense(2), L.Dense(1)])
    assert unknown.inputs is None
    unknown(np.ones((3, 4), "float32"))
    assert unknown.layers[0].output.shape == (3, 2)


def test_subclass_summary():
    class Sub(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = L.Dense(2, name="d")

        def call(self, x):
            return self.dense(x)
    model = Sub()
    with pytest.raises(ValueError, match="has not yet been built"):
        model.summary()
    model.build((None, 3))
    text = keras_models.lines(model, {})
    assert text[4] == " d (Dense)                   multiple                  8         "


def test_own_build():
    class Own(tf.keras.Model):
        def build(self, input_shape):
            self.block, self.dense = Block(name="block"), L.Dense(1, name="d")
            super().build(input_shape)

        def call(self, x):
            return self.dense(L.Flatten()(self.block(x)))
    model = Own()
    model.build((None, 4, 3))
    assert [w.name.split("/")[0] for w in model.weights] == ["block", "block", "d", "d"]
    assert keras_models.lines(model, {})[4] == " block (Block)               multiple                  12        "


@pytest.mark.parametrize("call,error,text", [
    (lambda a, b: tf.keras.Model(a, L.Add()([a, b])), ValueError, "Graph disconnected"),
    (lambda a, b: L.Add()(a), ValueError, "merge layer should be called on a list"),
    (lambda a, b: L.Concatenate()([a, tf.keras.Input((2, 2))]), ValueError, "matching shapes except"),
    (lambda a, b: L.Dot(1)([a, tf.keras.Input((5,))]), ValueError, "axis values 3"),
    (lambda a, b: L.Dense(2).output, AttributeError, "has no inbound nodes"),
    (lambda a, b: L.Dense(2).output_shape, AttributeError, "never been called"),
    (lambda a, b: tf.keras.Model([a, b], L.Add()([a, b]))(np.ones((1, 3))), ValueError, r"expects 2 input\(s\)"),
    (lambda a, b: tf.keras.Model(a, L.Dense(1)(a))(np.ones((1, 4))), ValueError, "expected shape=.None, 3."),
    (lambda a, b: tf.keras.Model(a, L.Dense(1)(a)).get_layer("no"), ValueError, "No such layer: no. Existing layers are"),
    (lambda a, b: bool(a), TypeError, "bool"),
    (lambda a, b: list(a), TypeError, "iterate"),
])
def test_mistakes(call, error, text):
    with pytest.raises(error, match=text):
        call(tf.keras.Input((3,)), tf.keras.Input((3,)))


def test_collected():
    """A layer that is called with its own output holds itself: Python's collector sees it."""
    i = tf.keras.Input((3,))
    layer = L.Dense(3)
    model = tf.keras.Model(i, layer(layer(i)))
    gone = weakref.ref(layer), weakref.ref(model)
    del i, layer, model
    gc.collect()
    assert gone[0]() is None and gone[1]() is None
