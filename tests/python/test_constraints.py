"""Constraints of variables: optimizers apply them, in eager code and in functions; layers hand them to their weights; the collector sees them."""
import gc
import weakref

import numpy as np
import pytest

import thalweg as tf


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("make", [lambda: tf.keras.optimizers.SGD(0.5), lambda: tf.keras.optimizers.Adam(0.5), lambda: tf.keras.optimizers.SGD(0.5, clipnorm=10.0)])
def test_optimizers_apply_them(make, traced):
    held = tf.Variable([1.0, 0.2], constraint=lambda x: tf.maximum(x, 0.0))
    free, untouched = tf.Variable([1.0, 0.2]), tf.Variable([-1.0], constraint=tf.abs)
    optimizer = make()
    optimizer.build([held, free, untouched])

    def step(gradient):
        optimizer.apply_gradients([(gradient, held), (gradient, free), (None, untouched)])
    step = tf.function(step) if traced else step
    step(tf.constant([1.0, 1.0]))
    assert free.numpy()[1] < 0 and held.numpy()[1] == 0 and held.numpy()[0] == free.numpy()[0]
    assert untouched.numpy() == [-1.0]


@pytest.mark.parametrize("layer,shape,weights", [
    (lambda c: tf.keras.layers.Dense(3, name="d", kernel_constraint=c, bias_constraint="non_neg"), [2, 4], {"kernel": True, "bias": False}),
    (lambda c: tf.keras.layers.Conv2D(2, 2, name="c", kernel_constraint=c), [1, 3, 3, 1], {"kernel": True, "bias": None}),
    (lambda c: tf.keras.layers.DepthwiseConv2D(2, name="w", depthwise_constraint=c), [1, 3, 3, 1], {"depthwise_kernel": True}),
    (lambda c: tf.keras.layers.BatchNormalization(name="b", gamma_constraint=c), [2, 3], {"gamma": True, "beta": None, "moving_mean": None})])
def test_layers_give_them_to_weights(layer, shape, weights):
    constraint = tf.keras.constraints.MaxNorm(1.5)
    made = layer(constraint)
    made(tf.ones(shape))
    for name, expected in weights.items():
        got = getattr(made, name).constraint
        assert got is constraint if expected else got is None if expected is None else isinstance(got, tf.keras.constraints.NonNeg)


def test_embeddings_and_add_weight():
    embedding = tf.keras.layers.Embedding(3, 2, name="e", embeddings_constraint="unit_norm")
    embedding(tf.constant([[1]]))
    assert isinstance(embedding.embeddings.constraint, tf.keras.constraints.UnitNorm)

    class Own(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(name="w", shape=[2], constraint=np.abs)

        def call(self, x):
            return x * self.w
    own = Own(name="own")
    own(tf.ones([1, 2]))
    assert own.w.constraint is np.abs


def test_subclasses_and_training():
    class Halves(tf.keras.constraints.Constraint):
        def __call__(self, w):
            return tf.round(w * 2) / 2
    layer = tf.keras.layers.Dense(1, name="s", kernel_constraint=Halves())
    x = tf.constant([[1.0, 2.0], [0.3, -1.0]])
    optimizer = tf.keras.optimizers.SGD(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(layer(x) - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, layer.trainable_variables), layer.trainable_variables))
        kernel = layer.kernel.numpy() * 2
        assert np.array_equal(kernel, np.round(kernel))
    assert not np.array_equal(layer.bias.numpy(), np.round(layer.bias.numpy()))
    assert layer.get_config()["bias_constraint"] is None


def test_an_error_in_one_is_told():
    v = tf.Variable([1.0], constraint=lambda x: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tf.keras.optimizers.SGD().apply_gradients([(tf.constant([1.0]), v)])


def test_cycles_are_collected():
    class Holder:
        pass
    holder = Holder()
    holder.v = tf.Variable(1.0, constraint=lambda x: x * len(holder.__dict__))
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None
