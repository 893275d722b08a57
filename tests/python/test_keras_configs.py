"""Models as JSON text and back: the text is TensorFlow's own."""
import json

import pytest

import keras_models
from golden_files import golden_file
import thalweg as tf

with open(golden_file("keras_configs", "keras_configs.json")) as file:
    EXPECTED = json.load(file)


@pytest.mark.parametrize("name", keras_models.SEQUENTIAL)
def test_text(name):
    tf.keras.backend.clear_session()
    model = keras_models.SEQUENTIAL[name](tf)
    assert model.to_json() == EXPECTED[name]
    assert json.loads(model.to_json()) == json.loads(EXPECTED[name])


@pytest.mark.parametrize("name", keras_models.SEQUENTIAL)
def test_again(name):
    model = tf.keras.models.model_from_json(EXPECTED[name])
    if model.built:
        assert model.to_json() == EXPECTED[name]
    again = tf.keras.Sequential.from_config(model.get_config())
    assert again.get_config() == model.get_config()


def test_custom_objects():
    class Scale(tf.keras.layers.Layer):
        def __init__(self, factor=1, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, x):
            return x * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    @tf.keras.utils.register_keras_serializable("own")
    class Other(Scale):
        pass

    def double(x):
        return 2 * x

    model = tf.keras.Sequential([tf.keras.layers.InputLayer((2,)), tf.keras.layers.Dense(2, activation=double), Scale(3), Other(4)])
    text = model.to_json()
    with pytest.raises(ValueError, match="custom_object_scope"):
        tf.keras.models.model_from_json(text)
    again = tf.keras.models.model_from_json(text, custom_objects={"double": double, "Scale": Scale})
    again.set_weights(model.get_weights())
    x = tf.constant([[1.0, 2.0]])
    assert (again(x).numpy() == model(x).numpy()).all()
    with tf.keras.utils.custom_object_scope({"double": double, "Scale": Scale}):
        assert tf.keras.models.model_from_json(text).to_json() == text
    assert tf.keras.utils.get_registered_name(Other) == "own>Other"


@pytest.mark.parametrize("text", ["", "{", "[1", '{"class_name": "Dense"}', '{"class_name": "No", "config": {}}', "[" * 5000, '{"a" 1}', "nul",
                                  '{"class_name": "Sequential", "config": {"layers": 3}}', '{"class_name": "Dense", "config": {"units": "x"}}'])
def test_no_model(text):
    with pytest.raises((ValueError, TypeError)):
        tf.keras.models.model_from_json(text)


class Plain(tf.keras.layers.Layer):
    def __init__(self, size, name=None, trainable=True, dtype=None):
        super().__init__(name=name, trainable=trainable, dtype=dtype)
        self.size = size

    def get_config(self):
        return {**super().get_config(), "size": self.size}


def test_own_layers_tell_what_their_base_takes_but_for_the_regularizer():
    """As in Keras, so that classes whose __init__ takes no more than that can be made of their configs."""
    layer = Plain(3, name="p")
    assert layer.get_config() == {"name": "p", "trainable": True, "dtype": "float32", "size": 3}
    layer.activity_regularizer = tf.keras.regularizers.L2(0.1)
    assert Plain.from_config(layer.get_config()).size == 3
