"""Layers, models, losses and schedules whose classes are Python's; attributes that are tracked."""
import inspect
import numpy as np
import pytest

import thalweg as tf

K = tf.keras
ONES = np.ones((2, 3), np.float32)


class Scale(K.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seen = []

    def build(self, input_shape):
        assert isinstance(input_shape, tf.TensorShape)
        self.k = self.add_weight(name="k", shape=(input_shape[-1],), initializer="ones")

    def call(self, x, training=None):
        self.seen.append((x.dtype.name, training))
        return x * self.k


class Net(K.Model):
    def __init__(self):
        super().__init__()
        self.first = K.layers.Dense(4, activation=tf.nn.relu)
        self.second = Scale()

    def call(self, x):
        return self.second(self.first(x))


@pytest.fixture(autouse=True)
def fresh_names():
    K.backend.clear_session()


def test_a_layer_builds_at_its_first_call():
    layer = Scale()
    assert not layer.built and layer.weights == []
    out = layer(np.ones((2, 3)))
    assert layer.built and out.numpy().tolist() == ONES.tolist()
    assert [w.name for w in layer.weights] == ["scale/k:0"] and layer.k is layer.weights[0]
    assert layer.seen == [("float32", None)]  # float64 arrays become the layer's dtype


def test_the_input_may_be_named():
    assert Scale()(x=ONES).shape == (2, 3)
    with pytest.raises(ValueError, match="first argument to `Layer.call` must always be passed"):
        Scale()()
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        Scale()(ONES, foo=1)


def test_training_is_handed_down():
    net = Net()
    net(ONES)
    net(ONES, training=True)
    net(ONES, training=False)
    net.second(net.first(ONES))
    assert [t for _, t in net.second.seen] == [None, True, False, None]


def test_names():
    a, b = Net(), Net()
    a(ONES), b(ONES)
    assert (a.name, b.name) == ("net", "net_1")
    assert [v.name for v in a.variables] == ["net/dense/kernel:0", "net/dense/bias:0", "net/scale/k:0"]
    assert [v.name for v in b.variables] == ["net_1/dense_1/kernel:0", "net_1/dense_1/bias:0", "net_1/scale_1/k:0"]
    assert Scale(name="mine").name == "mine"


def test_a_model_trains():
    tf.keras.utils.set_random_seed(0)
    net, optimizer = Net(), K.optimizers.Adam(0.05)
    x = np.random.rand(16, 3).astype(np.float32)
    losses = []
    for _ in range(30):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x) - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2 and int(optimizer.iterations) == 30


def test_python_layers_in_a_sequential():
    model = K.Sequential([K.layers.Dense(3), Scale(), Net()])
    out = model(ONES)
    assert out.shape == (2, 4) and len(model.weights) == 6
    assert model.predict(ONES, verbose=0).shape == (2, 4)
    assert isinstance(model.predict(ONES, verbose=0), np.ndarray)


def test_structures_as_inputs():
    class Two(K.layers.Layer):
        def call(self, inputs):
            return inputs["a"] + inputs["b"][0]
    assert Two()({"a": np.ones(2), "b": [np.ones(2), 3]}).numpy().tolist() == [2.0, 2.0]


def test_more_arguments():
    class Sum(K.layers.Layer):
        def call(self, a, b, factor=1.0):
            return (a + b) * factor
    assert Sum()(ONES, ONES, factor=2.0).numpy()[0, 0] == 4.0


def test_a_built_in_layer_can_be_extended():
    class Doubled(K.layers.Dense):
        def call(self, x):
            return 2.0 * super().call(x)
    layer = Doubled(2, kernel_initializer="ones")
    assert layer(ONES).numpy().tolist() == [[6.0, 6.0], [6.0, 6.0]] and layer.units == 2


def test_forgotten_super():
    class Forgot(K.Model):
        def __init__(self):
            self.dense = K.layers.Dense(1)

    class ForgotLayer(K.layers.Layer):
        def __init__(self):
            self.number = 3
    with pytest.raises(RuntimeError, match="forgot to call `super\\(\\).__init__\\(\\)`"):
        Forgot()
    with pytest.raises(RuntimeError, match="You must call `super\\(\\).__init__\\(\\)` in the layer constructor"):
        ForgotLayer()(ONES)


def test_modules_and_callbacks_need_no_super():
    class Plain(tf.Module):
        def __init__(self):
            self.weight, self.others = tf.Variable(1.0), [tf.Variable(2.0)]

        @tf.function
        def __call__(self, x):
            return self.weight * x

    class Counts(K.callbacks.Callback):
        def __init__(self, start):
            self.count = start

        def on_epoch_end(self, epoch, logs=None):
            self.count += 1
    module, callback = Plain(), Counts(5)
    assert sorted(v.numpy() for v in module.variables) == [1.0, 2.0] and module(3.0).numpy() == 3.0
    assert tf.train.Checkpoint(m=module).m is module
    model = K.Sequential([K.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(ONES, ONES[:, :1], epochs=3, verbose=0, callbacks=[callback])
    assert callback.count == 8 and callback.model is model and callback.params["epochs"] == 3


def test_attributes_before_super_are_tracked_later():
    class Late(K.layers.Layer):
        def __init__(self):
            self.inner = K.layers.Dense(1)
            super().__init__()

        def call(self, x):
            return self.inner(x)
    layer = Late()
    layer(ONES)
    assert len(layer.weights) == 2


def test_a_model_without_call():
    class Empty(K.Model):
        pass
    with pytest.raises(NotImplementedError):
        Empty()(ONES)


def test_losses_schedules_and_initializers():
    class Absolute(K.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.abs(y_true - y_pred)

    class Halving(K.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5 ** (tf.cast(step, tf.float32) + 1.0)

    class Sevens(K.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            return tf.fill(shape, tf.constant(7.0, dtype))
    assert float(Absolute()([[1.0], [2.0]], [[2.0], [4.0]])) == 1.5
    v, optimizer = tf.Variable(0.0), K.optimizers.SGD(Halving())
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(-1.0), v)])
    assert float(v) == 0.875
    dense = K.layers.Dense(1, kernel_initializer=Sevens())
    assert dense(ONES).numpy()[0, 0] == 21.0


def test_metrics_by_subclassing():
    class Sum(K.metrics.Metric):
        def __init__(self, name="sum", **kwargs):
            super().__init__(name=name, **kwargs)
            self.total = self.add_weight(name="total", shape=(), initializer="zeros")

        def update_state(self, values, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(values))

        def result(self):
            return self.total.value()
    metric = Sum()
    metric.update_state(ONES)
    metric.update_state(ONES)
    assert float(metric.result()) == 12.0 and metric.name == "sum"


# ---- tracking ----

def test_lists_and_dicts_are_tracked():
    net = Net()
    net(ONES)
    count = len(net.variables)
    net.parts = [tf.Variable(1.0), 3, [tf.Variable(2.0)]]
    net.table = {"a": tf.Variable(3.0), "n": 5}
    net.pair = (tf.Variable(4.0), 6)
    assert len(net.variables) == count + 4
    net.parts.append(tf.Variable(5.0))
    net.parts[2].append(tf.Variable(6.0))
    net.table["b"] = tf.Variable(7.0)
    assert len(net.variables) == count + 7
    del net.table["b"]
    net.parts.pop()
    del net.pair
    assert len(net.variables) == count + 4
    net.parts = None
    assert len(net.variables) == count + 1


def test_wrappers_look_like_what_they_wrap():
    layer = Scale()
    layer.numbers, layer.names, layer.both = [1, 2], {"a": 1}, (1, 2)
    assert layer.numbers == [1, 2] and isinstance(layer.numbers, list) and repr(layer.numbers) == "ListWrapper([1, 2])"
    assert layer.names == {"a": 1} and repr(layer.names) == "DictWrapper({'a': 1})" and str(layer.names) == "{'a': 1}"
    assert layer.both == (1, 2) and repr(layer.both) == "(1, 2)"
    layer.numbers += [3]
    layer.numbers[0] = 0
    layer.numbers.sort(reverse=True)
    assert layer.numbers == [3, 2, 0] and layer.numbers + [4] == [3, 2, 0, 4] and layer.numbers[1:] == [2, 0]


def test_an_attribute_that_is_replaced_is_no_child_any_more():
    net = Net()
    net(ONES)
    net.second = K.layers.Dense(1)
    assert [layer.name for layer in net.layers] == ["dense", "dense_1"]
    net.second = 3
    assert [layer.name for layer in net.layers] == ["dense"] and net.second == 3


def test_tracked_children_are_attributes():
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v, several=[v])
    assert checkpoint.v is v and checkpoint.several[0] is v
    with pytest.raises(AttributeError, match="'Checkpoint' object has no attribute 'nothing'"):
        checkpoint.nothing


def test_arguments_are_attributes():
    dense = K.layers.Dense(3, activation="relu", use_bias=False)
    assert dense.units == 3 and dense.use_bias is False and dense.activation is K.activations.relu
    assert isinstance(dense.kernel_initializer, K.initializers.GlorotUniform) and dense.bias_regularizer is None
    assert K.layers.Dense(1).activation is K.activations.linear


def test_properties_can_be_set():
    dense = K.layers.Dense(3)
    dense(ONES)
    dense.trainable = False
    assert dense.trainable_variables == [] and len(dense.non_trainable_variables) == 2
    optimizer = K.optimizers.SGD(0.5)
    optimizer.learning_rate = 0.25
    assert float(optimizer.learning_rate) == 0.25
    with pytest.raises(AttributeError):
        dense.weights = []


def test_checkpoints_of_python_models(tmp_path):
    net = Net()
    net.extra = [tf.Variable(5.0)]
    net(ONES)
    path = tf.train.Checkpoint(model=net).save(str(tmp_path / "ckpt"))
    other = Net()
    status = tf.train.Checkpoint(model=other).restore(path)  # before it has weights
    other.extra = [tf.Variable(0.0)]
    other(ONES)
    status.assert_consumed()
    assert float(other.extra[0]) == 5.0 and np.array_equal(other.first.kernel.numpy(), net.first.kernel.numpy())


def test_errors_name_the_innermost_layer_whatever_they_say():
    class Inner(K.layers.Layer):
        def call(self, x):
            raise ValueError("Exception encountered when calling layer 'mine'")

    class Outer(K.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = Inner(name="inner")

        def call(self, x):
            return self.inner(x)
    with pytest.raises(ValueError) as caught:
        Outer(name="outer")(tf.ones([1]))
    assert str(caught.value) == ("Exception encountered when calling layer 'inner' (type Inner).\n\nException encountered when calling layer 'mine'\n\n"
                                 "Call arguments received by layer 'inner' (type Inner):\n  • x=tf.Tensor(shape=(1,), dtype=float32)")


@pytest.mark.parametrize("base, states", [("SimpleRNNCell", 1), ("GRUCell", 1), ("LSTMCell", 2)])
def test_cells_below_the_library_s(base, states):
    """A subclass with a call of its own has the sizes of its base, unless it says others."""
    class Own(getattr(tf.keras.layers, base)):
        def call(self, inputs, states, training=None):
            h = tf.tanh(inputs @ self.kernel[:, :self.units] + states[0])
            return h, [h, *states[1:]]

    class Sized(Own):
        state_size = [2] * states
        output_size = 2
    for kind in (Own, Sized):
        cell = kind(2, kernel_initializer="ones")
        assert tf.nest.flatten(cell.state_size) == [2] * states and cell.output_size == 2
        x, h = np.array([[[1.0, -1.0], [0.5, 0.25]]], np.float32), 0.0
        for step in range(2):
            h = np.tanh(x[0, step].sum() + h)
        np.testing.assert_allclose(tf.keras.layers.RNN(cell)(x), [[h, h]], rtol=1e-6)
    assert tf.keras.layers.RNN([Own(2), Own(3)])(np.ones((1, 4, 2), np.float32)).shape == (1, 3)


def test_cells_without_sizes():
    class Own(tf.keras.layers.AbstractRNNCell):
        def call(self, inputs, states):
            return inputs, states
    with pytest.raises(ValueError, match="state_size"):
        Own().state_size


def test_signatures_of_own_classes_are_their_constructors():
    class Own(tf.keras.layers.Layer):
        def __init__(self, units=3, **kwargs):
            super().__init__(**kwargs)

    class Net(tf.keras.Model):
        def __init__(self, units):
            super().__init__()
    assert [str(inspect.signature(c)) for c in (Own, Net)] == ["(units=3, **kwargs)", "(units)"]
