"""Layers of the program's own classes in SavedModels: whoever does not know the class (TensorFlow's load_model too) calls the functions that stand beside them."""
import numpy as np
import pytest
import thalweg as tf

keras = tf.keras


class Scaled(keras.layers.Layer):
    """Weights, and a difference between training and not."""

    def build(self, shape):
        self.factor = self.add_weight("factor", [shape[-1]], initializer="ones")

    def call(self, x, training=None):
        return x * self.factor * (3.0 if training else 2.0)


class Numbers(keras.layers.Layer):
    """Integers only."""

    def call(self, x):
        return tf.cast(tf.bitwise.bitwise_and(x, 3), tf.float32)


class Words(keras.layers.Layer):
    """Texts, by a table."""

    def __init__(self, **more):
        super().__init__(**more)
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0]), 0.0)

    def call(self, x):
        return self.table.lookup(x)


class Two(keras.layers.Layer):
    """Several results."""

    def call(self, x):
        return {"sum": x + 1, "product": x * 2}


class Outer(keras.layers.Layer):
    """A layer in a layer."""

    def __init__(self, **more):
        super().__init__(**more)
        self.inner = Scaled()

    def call(self, x):
        return self.inner(x) + 1


class Both(keras.layers.Layer):
    """Several inputs: there is no one tensor that it could be traced with."""

    def call(self, x):
        return x[0] + x[1]


FLOATS = np.float32([[1, 2, 3]])
CASES = {  # layer, dtype of the input, what it gets, what it gives, what it gives in training
    "floats": (Scaled, "float32", FLOATS, FLOATS * 2, FLOATS * 3), "integers": (Numbers, "int32", np.int32([[5, 6, 7]]), [[1, 2, 3]], [[1, 2, 3]]),
    "texts": (Words, "string", np.array([["a", "b", "c"]]), [[1, 2, 0]], [[1, 2, 0]]),
    "several results": (Two, "float32", FLOATS, {"sum": FLOATS + 1, "product": FLOATS * 2}, {"sum": FLOATS + 1, "product": FLOATS * 2}),
    "nested": (Outer, "float32", FLOATS, FLOATS * 2 + 1, FLOATS * 3 + 1),
}


def same(found, wanted):
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted)
        return all(np.allclose(found[key], wanted[key]) for key in wanted)
    return np.allclose(found, wanted)


@pytest.mark.parametrize("name", CASES)
def test_functions_of_layers(name, tmp_path):
    make, dtype, given, wanted, trained = CASES[name]
    inputs = keras.Input([3], dtype=dtype)
    model = keras.Model(inputs, make()(inputs))
    path = str(tmp_path / "m")
    model.save(path, save_format="tf")
    layer = tf.saved_model.load(path)._child("layer-1")
    call = layer._child("keras_api")._child("call_and_return_conditional_losses")
    for training, expected in ((False, wanted), (True, trained)):
        outputs, losses = call(tf.constant(given), training=training)
        assert same(outputs, expected) and losses == []
        assert same(layer(tf.constant(given), training=training), expected)
    again = keras.models.load_model(path)
    assert same(again(tf.constant(given)), wanted)
    again.save(str(tmp_path / "n"), save_format="tf")
    assert same(keras.models.load_model(str(tmp_path / "n"))(tf.constant(given)), wanted)


def test_a_layer_that_takes_two_tensors(tmp_path):
    one, two = keras.Input([3]), keras.Input([3])
    model = keras.Model([one, two], Both()([one, two]))
    model.save(str(tmp_path / "m"), save_format="tf")
    serve = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    assert same(list(serve(**{name: tf.constant(FLOATS) for name in serve.structured_input_signature[1]}).values())[0], FLOATS * 2)


def test_results_of_a_dict_are_numbered_by_their_keys():
    """As TensorFlow numbers them: a config with other numbers would give it other results."""
    inputs = keras.Input([3])
    model = keras.Model(inputs, Two(name="two")(inputs))
    assert model.get_config()["output_layers"] == {"sum": ["two", 0, 1], "product": ["two", 0, 0]}
    assert same(model(FLOATS), {"sum": FLOATS + 1, "product": FLOATS * 2})
    with keras.utils.custom_object_scope({"Two": Two}):
        again = keras.Model.from_config(model.get_config())
    assert same(again(FLOATS), {"sum": FLOATS + 1, "product": FLOATS * 2})
