"""tf.compat.v1.keras.utils: variables by name that belong to an object. The numbers, names and losses are TensorFlow's."""
import numpy as np
import pytest

import thalweg as tf

v1 = tf.compat.v1
tracked = v1.keras.utils.track_tf1_style_variables


def layer(dense_regularizer=None, regularizer=None):
    class Own(tf.keras.layers.Layer):
        @tracked
        def call(self, x):
            with v1.variable_scope("a"):
                x = v1.layers.dense(x, 3, name="d", kernel_initializer=v1.ones_initializer(), kernel_regularizer=dense_regularizer)
                x = x * v1.get_variable("w", [3], initializer=v1.ones_initializer(), regularizer=regularizer)
            return v1.keras.utils.get_or_create_layer("k", lambda: tf.keras.layers.Dense(2))(x)
    return Own(name="own")


def test_variables_are_the_same_at_each_call():
    tf.keras.backend.clear_session()
    own, x = layer(), tf.ones((2, 4))
    y = own(x)
    np.testing.assert_array_equal(own(x), y)
    np.testing.assert_allclose(tf.function(own)(x), y, rtol=1e-6)
    assert sorted(w.name for w in own.weights) == ["a/d/bias:0", "a/d/kernel:0", "a/w:0", "own/dense/bias:0", "own/dense/kernel:0"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(own(x))
    assert all(g is not None for g in tape.gradient(loss, own.trainable_variables))


@pytest.mark.parametrize("dense, other, expected", [(None, None, []), (None, 1, [1.5]), (1, None, [1.2]), (1, 1, [1.2, 1.5])])
def test_losses(dense, other, expected):
    own = layer(dense and tf.keras.regularizers.l2(.1), other and (lambda v: tf.reduce_sum(v) * .5))
    for _ in range(2):
        own(tf.ones((2, 4)))
        np.testing.assert_allclose(sorted(float(loss) for loss in own.losses), expected, rtol=1e-6)


def test_module_in_a_function(tmp_path):
    class Own(tf.Module):
        @tf.function
        @tracked
        def __call__(self, x):
            return x * v1.get_variable("w", [2], initializer=v1.ones_initializer())
    module = Own()
    np.testing.assert_array_equal(module(tf.ones(2)), [1., 1.])
    module.variables[0].assign([2., 3.])
    np.testing.assert_array_equal(module(tf.ones(2)), [2., 3.])
    path = tf.train.Checkpoint(m=module).save(str(tmp_path / "c"))
    other = Own()
    other(tf.ones(2))
    tf.train.Checkpoint(m=other).restore(path).assert_consumed()
    np.testing.assert_array_equal(other(tf.ones(2)), [2., 3.])


def test_errors():
    with pytest.raises(ValueError, match="must be applied to a method"):
        tracked(lambda self: None)(3)
    with pytest.raises(ValueError, match="Tried to call get_or_create_layer in eager mode"):
        v1.keras.utils.get_or_create_layer("a", lambda: 1)

    class Own(tf.Module):
        @tracked
        def __call__(self, size):
            return v1.get_variable("w", [size])
    own = Own()
    own(2)
    with pytest.raises(ValueError, match="Trying to share variable w, but specified shape"):
        own(3)
