"""Regularizers and what layers add to the loss; the numbers are TensorFlow's."""
import numpy as np
import pytest
import thalweg as tf

layers, regularizers = tf.keras.layers, tf.keras.regularizers


def values(losses):
    return [round(float(x), 6) for x in losses]


def test_weights_and_activity():
    dense = layers.Dense(3, kernel_regularizer="l2", bias_regularizer=regularizers.L1L2(0.1, 0.2),
                         activity_regularizer=regularizers.l1(0.01), kernel_initializer="ones", bias_initializer="ones")
    for _ in range(2):
        dense(np.ones((2, 4), "float32"))
        assert values(dense.losses) == [0.15, 0.12, 0.9]
    assert dense.get_config()["kernel_regularizer"] == {
        "module": "keras.regularizers", "class_name": "L2", "config": {"l2": 0.009999999776482582}, "registered_name": None}


def test_orthogonal():
    assert round(float(regularizers.OrthogonalRegularizer(0.5)(tf.constant([[1., 2], [3, 4]]))), 6) == 0.491935
    columns = regularizers.OrthogonalRegularizer(0.5, "columns")
    assert round(float(columns(tf.constant([[1., 2, 4], [3, 4, 9]]))), 6) == 0.497378


def test_by_name():
    assert regularizers.get("l1_l2").get_config() == {"l1": 0.009999999776482582, "l2": 0.009999999776482582}
    assert regularizers.get(None) is None
    with pytest.raises(ValueError, match="Unknown regularizer"):
        layers.Dense(2, kernel_regularizer="l3")


def test_own_layers():
    class Mine(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(name="w", shape=(4, 2), regularizer=regularizers.l2(0.3), initializer="ones")

        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x @ self.w

    layer = Mine()
    for _ in range(2):
        layer(np.ones((2, 4), "float32"))
    assert values(layer.losses) == [8.0, 2.4]
    layer.add_loss(lambda: tf.constant(3.0))
    assert values(layer.losses) == [8.0, 2.4, 3.0]


def test_own_regularizer():
    class Mine(regularizers.Regularizer):
        def __call__(self, x):
            return tf.reduce_max(x)

    dense = layers.Dense(2, kernel_regularizer=Mine(), kernel_initializer="ones")
    dense.build((None, 3))
    assert values(dense.losses) == [1.0]


def test_gradient():
    dense = layers.Dense(2, kernel_regularizer=regularizers.l2(0.5), kernel_initializer="ones", use_bias=False)
    dense.build((None, 3))
    with tf.GradientTape() as tape:
        loss = tf.add_n(dense.losses)
    np.testing.assert_array_equal(tape.gradient(loss, dense.kernel), np.ones((3, 2)))


@pytest.mark.parametrize("module,known", [(tf.keras.regularizers, "L2"), (tf.keras.constraints, "MaxNorm")])
def test_get_and_deserialize_give_what_is_meant(module, known):
    cls = getattr(module, known)

    class Own(cls.__mro__[1]):
        def __init__(self, k=3):  # does not call super().__init__()
            self.k = k

        def __call__(self, x):
            return x

        def get_config(self):
            return {"k": self.k}
    made = cls()
    for given in (None, abs, cls, Own, made):
        assert module.get(given) is given
    assert type(module.get(module.serialize(made))) is cls and type(module.get({"class_name": known, "config": {}})) is cls
    assert module.serialize(made, use_legacy_format=True) == {"class_name": known, "config": made.get_config()}
    again = module.deserialize({"class_name": "Own", "config": {"k": 4}}, {"Own": Own})
    assert type(again) is Own and again.k == 4
    with pytest.raises(ValueError, match="Could not interpret"):
        module.get(5)
