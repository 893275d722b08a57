"""What packages that use TensorFlow do with it beside what programs do: each was met in one, and none of them is needed here."""
import collections
import inspect

import numpy as np
import pytest
import thalweg as tf


class Deferred:
    """A value that is computed when it is asked for, and may be taken for an array, too."""

    def __init__(self, variable):
        self.variable = variable

    def __array__(self, dtype=None):
        return np.asarray(self.variable.numpy() * 3.0, dtype)


tf.register_tensor_conversion_function(Deferred, lambda value, dtype=None, name=None, as_ref=False: value.variable * 3.0)


@pytest.mark.parametrize("use", [tf.convert_to_tensor, lambda d: tf.multiply(d, 1.0), lambda d: tf.math.abs(d)])
def test_gradients_go_through_registered_conversions(use):
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = use(Deferred(v))
    assert float(y) == 6.0 and float(tape.gradient(y, v)) == 3.0


def test_shapes_of_arrays():
    assert tf.TensorShape(np.array([2, 3], np.int32)) == [2, 3]
    assert tf.TensorShape(np.array([], np.int32)) == []
    assert tf.TensorShape(np.array(2)) == [2] == tf.TensorShape(np.int64(2))
    assert tf.TensorShape([1]).concatenate(np.array([2])) == [1, 2]
    with pytest.raises(TypeError):
        tf.TensorShape(np.array([2.5]))


def test_the_default_of_range():
    assert inspect.signature(tf.range).parameters["delta"].default == 1
    assert tf.range(3).numpy().tolist() == [0, 1, 2] and tf.range(1, 6, delta=2).numpy().tolist() == [1, 3, 5]


State = collections.namedtuple("State", "a b")


@pytest.mark.parametrize("traced", [False, True])
def test_loops_over_the_fields_of_a_named_tuple(traced):
    def run():
        return tf.while_loop(lambda a, b: a < 3, lambda a, b: State(a + 1, b * 2.0), State(tf.constant(0), tf.constant(1.0)))
    result = (tf.function(run) if traced else run)()
    assert isinstance(result, State) and int(result.a) == 3 and float(result.b) == 8.0


def test_lambdas_get_training_only_by_its_name():
    seen = []

    def rest(x, **kwargs):
        seen.append(sorted(kwargs))
        return x

    def named(x, training=None, **kwargs):
        seen.append([training, *sorted(kwargs)])
        return x
    for function in (rest, named):
        tf.keras.layers.Lambda(function)(tf.ones(2), training=True)
    assert seen == [[], [True]]


def test_attributes_of_functions():
    made = tf.function(lambda x: x + 1.0, experimental_attributes={"api_implements": "one", "api_preferred_device": "CPU"})
    other = tf.function(lambda x: x - 1.0, experimental_attributes={"api_implements": "one"})
    assert float(made(1.0)) == 2.0 and float(other(1.0)) == 2.0  # the one for the processor is taken for both
    made.get_concrete_function(tf.TensorSpec([])).add_to_graph()
    with pytest.raises(ValueError, match="`bad is not supported by tf.function as an attribute"):
        tf.function(lambda x: x, experimental_attributes={"bad": 1})


def test_functions_return_composites_of_the_program():
    from thalweg.python.framework import composite_tensor, type_spec

    class Pair(composite_tensor.CompositeTensor):
        def __init__(self, x, label):
            self.x, self.label = x, label

        @property
        def _type_spec(self):
            return PairSpec(tf.TensorSpec(self.x.shape, self.x.dtype), self.label)

    class PairSpec(type_spec.TypeSpec):
        value_type = Pair

        def __init__(self, spec, label):
            self.spec, self.label = spec, label

        def _serialize(self):
            return self.spec, self.label

        _component_specs = property(lambda self: self.spec)

        def _to_components(self, value):
            return value.x

        def _from_components(self, components):
            return Pair(components, self.label)
    made = tf.function(lambda x: [Pair(x * 2.0, "l")])(tf.constant(3.0))[0]
    assert isinstance(made, Pair) and float(made.x) == 6.0 and made.label == "l"


def test_activation_none_is_linear():
    layer = tf.keras.layers.Activation(None)
    assert layer.get_config()["activation"] == "linear" and layer(tf.constant([-1.0])).numpy().tolist() == [-1.0]


def test_methods_without_tracking():
    from thalweg.python.trackable import base

    class Own(tf.Module):
        @base.no_automatic_dependency_tracking
        def keep(self, values):
            self.values = values
    own, values = Own(), [1]
    own.keep(values)
    own.other = values
    assert own.values is values and own.other is not values


def test_what_modules_and_layers_hold():
    module = tf.Module()
    module.b, module.a = tf.Variable(1.0), [tf.keras.layers.Dense(2), 3]
    module.a[0].build((None, 2))
    is_variable = lambda value: isinstance(value, tf.Variable)  # noqa: E731
    assert [v.shape.rank for v in module._flatten(predicate=is_variable)] == [0, 1, 2]  # b, then the bias and the kernel of the layer
    assert [path for path, _ in module._flatten(recursive=False, predicate=is_variable, with_path=True)] == [("b",)]
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, name="d"), tf.keras.Sequential([tf.keras.layers.ReLU(name="r")], name="s")], name="m")
    model.build((None, 2))
    assert [layer.name for layer in model._flatten_layers()] == ["m", "d", "s", "r"]
    assert [layer.name for layer in model._flatten_layers(recursive=False, include_self=False)] == ["d", "s"]


def test_attributes_that_are_not_public():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    first, last = model.layers
    assert last._inbound_nodes[0].inbound_layers is first and last._inbound_nodes[0].input_tensors.shape == (None, 2)
    assert model._output_layers == [last] and last._use_bias is True and last._trainable_weights[0] is last.kernel
    assert model.distribute_strategy is tf.distribute.get_strategy()
    assert not hasattr(last, "_not_there") and not hasattr(last, "_unit")


def test_clones_are_the_layers_that_the_function_gives():
    def clone(layer):
        if isinstance(layer, tf.keras.layers.Dense):
            return tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2), name="td_" + layer.name)
        return type(layer).from_config(layer.get_config())
    i = tf.keras.Input((4, 3))
    a, b = tf.keras.layers.Dense(2, name="a")(i), tf.keras.layers.Dense(2, name="b")(i)
    made = tf.keras.models.clone_model(tf.keras.Model(i, tf.keras.layers.Add(name="sum")([a, b])), clone_function=clone)
    assert [layer.name for layer in made.layers[1:]] == ["td_a", "td_b", "sum"] and made(tf.ones((1, 4, 3))).shape == (1, 4, 2)

    class Own(tf.keras.layers.Layer):
        pass
    copy = tf.keras.models.clone_model(tf.keras.Sequential([Own(input_shape=(2,))]))  # a class that nobody registered
    assert type(copy.layers[0]) is Own


def test_settings_before_the_constructor_is_called():
    class Early(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            self.input_dim, self.supports_masking = 5, True
            super().__init__(**kwargs)
    assert Early().input_dim == 5 and Early().supports_masking is False  # the constructor sets the second


def test_attention_with_a_call_of_its_own():
    class Own(tf.keras.layers.MultiHeadAttention):
        def call(self, query, value, key=None):
            if not self._built_from_signature:
                self._build_from_signature(query=query, value=value, key=key)
            scores = tf.einsum(self._dot_product_equation, self._key_dense(value), self._query_dense(query) / self._key_dim ** 0.5)
            return self._output_dense(tf.einsum(self._combine_equation, self._dropout_layer(self._masked_softmax(scores)), self._value_dense(value)))
    x = tf.random.stateless_normal((2, 3, 4), (1, 2))
    own, usual = Own(2, 4), tf.keras.layers.MultiHeadAttention(2, 4)
    own(x, x), usual(x, x)
    usual.set_weights(own.get_weights())
    np.testing.assert_allclose(own(x, x), usual(x, x), rtol=1e-5, atol=1e-6)
