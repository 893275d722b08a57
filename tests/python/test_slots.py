"""Symbolic tensors and every dtype in every argument of every row: exceptions, never a crash or a hang (slots.py; all of it in tests/long/test_slots.py).
What was read as if it had data, one by one; and programs whose graphs hold such tensors, which work."""
import numpy as np
import pytest

import slots
import test_v1_graph
import thalweg as tf


@pytest.mark.parametrize("table, step", [("functions", 5), ("graphs", 7), ("keras", 7), ("dtypes", 1)])
def test_every_argument(table, step, tmp_path):
    tmp_path.chmod(0o777)
    calls, wrong = slots.sweep(table, tmp_path, first=2 % step, step=step)
    assert not wrong, "\n".join(wrong)
    assert calls > 500


def in_function(call, *specs):
    def body(*tensors):
        with pytest.raises((TypeError, ValueError, NotImplementedError)):
            call(*tensors)
    tf.function(body, autograph=False).get_concrete_function(*specs)


TEXTS = {
    "name": lambda t: tf.add(1, 2, name=t),
    "split": lambda t: tf.strings.split("a b", sep=t),
    "lower": lambda t: tf.strings.lower("a", encoding=t),
    "summary": lambda t: tf.summary.scalar(t, 1.0, step=1),
    "checkpoint": lambda t: tf.train.Checkpoint().write(t),
    "layer": lambda t: tf.keras.layers.Conv1D(1, 1, padding=t),
    "numpy": lambda t: np.array(t),
    "memory": lambda t: memoryview(t),
    "bytes": lambda t: bytes(t),
}


@pytest.mark.parametrize("what", TEXTS)
def test_text_wanted_and_not_known(what):
    in_function(TEXTS[what], tf.TensorSpec([], tf.string))


@pytest.mark.parametrize("shape", [(), (2,), None])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64", "float16", "bfloat16", "string"])
def test_values_wanted_and_not_known(dtype, shape):
    for read in (float, int, complex, bool, list, np.array, lambda t: t.numpy(), lambda t: t.__index__(), lambda t: tf.keras.utils.to_categorical(t),
                 lambda t: tf.constant_initializer(t)([2]), lambda t: tf.constant(t, shape=[2])):
        def body(t):
            try:
                read(t)
            except (TypeError, ValueError, AttributeError, NotImplementedError, tf.errors.OpError):
                pass
        tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec(shape, dtype))


# ---- programs that have such tensors and work ----

def test_initializers_of_arrays_in_graphs():
    with tf.Graph().as_default():
        values = [np.arange(6.0).reshape(2, 3), np.arange(6, dtype="f4").reshape(2, 3), [1, 2, 3, 4, 5, 6], np.arange(6)]
        made = [tf.constant_initializer(value)([2, 3]) for value in values]
        variable = tf.compat.v1.get_variable("v", [100], initializer=tf.constant_initializer(np.arange(100.0)))
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            for got, value in zip(session.run(made), values):
                assert got.tolist() == np.reshape(value, [2, 3]).tolist()
            assert session.run(variable).tolist() == list(range(100))


TRAINING = """
import numpy as np
import thalweg as tf
tf.compat.v1.disable_eager_execution()
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.BatchNormalization()])
model.compile("sgd", "mse", metrics=["mae"])
x, y = np.random.RandomState(0).rand(100, 3).astype("f"), np.ones((100, 2), "f")
history = model.fit(x, y, epochs=3, verbose=0, batch_size=16, validation_split=0.2).history
assert all(isinstance(value, float) for values in history.values() for value in values), history
assert history["loss"][-1] < history["loss"][0], history
assert model.predict(x, verbose=0, batch_size=7).shape == (100, 2)
assert abs(model.evaluate(x, y, verbose=0)[0] - model.test_on_batch(x, y)[0]) < 1e-6
before = model.get_weights()
assert isinstance(model.train_on_batch(x, y)[0], float)
assert not np.array_equal(before[0], model.get_weights()[0])
try:
    model.fit(tf.compat.v1.placeholder(tf.float32, [10, 3]), tf.compat.v1.placeholder(tf.float32, [10, 2]), verbose=0)
    assert False
except ValueError as error:
    assert "not known" in str(error), error
print("good")
"""


def test_training_without_eager_execution():
    assert test_v1_graph.in_graph_mode(TRAINING).strip() == "good"


def test_fit_of_constants_in_a_graph():
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        model.compile("sgd", "mse")
        losses = model.fit(tf.constant(np.ones((40, 3), "f")), tf.constant(np.ones((40, 2), "f")), epochs=2, verbose=0).history["loss"]
        assert losses[1] < losses[0]


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("name", ["LSTM", "GRU", "SimpleRNN", "Bidirectional", "RNN", "TimeDistributed", "Dropout", "BatchNormalization"])
def test_layers_of_deferred_models(name, before):
    layers = tf.keras.layers
    make = {"Bidirectional": lambda: layers.Bidirectional(layers.LSTM(2)), "RNN": lambda: layers.RNN(layers.LSTMCell(2)),
            "TimeDistributed": lambda: layers.TimeDistributed(layers.Dense(2)), "Dropout": lambda: layers.Dropout(0.5),
            "BatchNormalization": layers.BatchNormalization}
    make = make.get(name, lambda: getattr(layers, name)(2))
    x, y = np.ones((8, 5, 3), "f"), np.ones((8, 1), "f")
    for train in (lambda m: m.fit(x, y, verbose=0), lambda m: m.train_on_batch(x, y), lambda m: m(x, training=True)):
        model = tf.keras.Sequential([layers.Dense(3)] * before + [make(), layers.Flatten(), layers.Dense(1)])
        model.compile("sgd", "mse")
        train(model)
        assert model.built


def test_empty_sequential():
    model = tf.keras.Sequential()
    model.build((None, 3))
    assert model.built and model.layers == [] and model.weights == []
    assert model(np.ones((2, 3), "f")).shape == (2, 3)
    model.add(tf.keras.layers.Dense(4))
    assert model(np.ones((2, 3), "f")).shape == (2, 4)


MIXED = {
    "add_n": lambda a, b: tf.add_n([a, b]), "concat": lambda a, b: tf.concat([a, b], 0), "stack": lambda a, b: tf.stack([a, b]),
    "add": lambda a, b: a + b, "multiply": tf.multiply, "where": lambda a, b: tf.where([True], a, b), "maximum": tf.maximum,
    "equal": tf.equal, "gather": tf.gather, "strings": lambda a, b: tf.strings.join([a, b]), "matmul": tf.matmul,
}


@pytest.mark.parametrize("what", MIXED)
def test_ragged_with_sparse(what):
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0], [0, 2]])
    for a, b in ((ragged, sparse), (sparse, ragged)):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            MIXED[what](a, b)


RESTRICTED = {
    "shape": lambda d: tf.shape([[1, 2]], out_type=d), "shape_n": lambda d: tf.shape_n([[1, 2]], out_type=d), "argmax": lambda d: tf.argmax([1, 2], output_type=d),
    "from_tensor": lambda d: tf.RaggedTensor.from_tensor([[1, 2]], row_splits_dtype=d), "constant": lambda d: tf.ragged.constant([[1], []], row_splits_dtype=d),
    "range": lambda d: tf.ragged.range([1, 2], row_splits_dtype=d), "unique": lambda d: tf.unique([1, 2], out_idx=d),
    "searchsorted": lambda d: tf.searchsorted([1, 2], [1], out_type=d), "top_k": lambda d: tf.math.top_k([1, 2], index_type=d),
}


@pytest.mark.parametrize("what", RESTRICTED)
def test_dtypes_that_an_argument_has_not(what):
    for place in (lambda call: call(), lambda call: tf.function(call, autograph=False)()):
        place(lambda: [RESTRICTED[what](tf.int32), None][1])
        for dtype in (tf.string, tf.resource, tf.variant, tf.float32, tf.int8, tf.bool, tf.complex128):
            with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError, tf.errors.UnimplementedError)):
                place(lambda: [RESTRICTED[what](dtype), None][1])


def test_size_in_any_numbers():
    for dtype in (tf.int32, tf.int64, tf.float32, tf.uint8, tf.complex64):
        for size in (tf.size([[1, 2]], out_type=dtype), tf.function(lambda: tf.size([[1, 2]], out_type=dtype), autograph=False)()):
            assert size.dtype == dtype and size.numpy() == 2


def test_print_of_nothing(capfd):
    tf.print()
    tf.print("", end="")
    tf.function(lambda: tf.print(), autograph=False)()
    assert capfd.readouterr().err == "\n\n"


@pytest.mark.parametrize("place", [lambda call: call(), lambda call: tf.function(call, autograph=False)()])
def test_repeats_that_are_no_integers(place):
    for repeats in (2.0, tf.constant(2.0), tf.constant([1.0, 2.0], tf.float64), tf.constant("a"), tf.constant(True)):
        with pytest.raises(TypeError):
            place(lambda: tf.repeat([1, 2], repeats))
    assert place(lambda: tf.repeat([1, 2], tf.constant([0, 3], tf.int64))).numpy().tolist() == [2, 2, 2]
