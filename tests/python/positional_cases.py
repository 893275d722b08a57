"""Calls by position, as programs write them: `call` of layers, add_weight, and functions whose defaults are said: name, then a function of tf. Run under
TensorFlow by tests/golden/positional.py, here by test_positional.py."""
import numpy as np


def outcome(tf, function):
    """What a call gives, as JSON holds it; the class of an error."""
    def plain(value):
        if hasattr(value, "numpy"):
            value = value.numpy()
        if isinstance(value, (np.ndarray, np.generic)):
            return np.round(value, 5).tolist()
        return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
    try:
        return tf.nest.flatten(tf.nest.map_structure(plain, function(tf)))
    except Exception as error:  # noqa: BLE001 - every class counts
        return {"error": type(error).__name__}


def filled(layer, *shape):
    """A built layer whose weights are 0.1, 0.2, …"""
    layer.build(shape)
    layer.set_weights([np.full(w.shape, 0.1 * (i + 1)) for i, w in enumerate(layer.get_weights())])
    return layer


def vectors(tf):
    return tf.reshape(tf.range(6.0), [2, 3]) / 6


def sequences(tf):
    return tf.reshape(tf.range(24.0), [2, 3, 4]) / 24


def mask(tf):
    return tf.constant([[True, False, False]] * 2)


def attention(tf):
    layer, x = tf.keras.layers.MultiHeadAttention(2, 3), sequences(tf)
    layer(x, x)
    layer.set_weights([np.full(w.shape, 0.1) for w in layer.get_weights()])
    return layer


def own_lstm(tf):
    class Own(tf.keras.layers.LSTM):
        def call(self, inputs, mask=None, training=None, initial_state=None):
            return super().call(inputs, mask=mask, training=training, initial_state=initial_state) * 3
    return filled(Own(3), 2, 3, 4)


def own_cell(tf):
    class Own(tf.keras.layers.GRUCell):
        def call(self, inputs, states, training=None):
            out, states = super().call(inputs, states, training)
            return out * 2, states
    return filled(Own(4), 2, 3)


def weight(tf, **settings):
    class Own(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.add_weight("w", [2], **settings)
    w = Own().w
    return [w.aggregation.name, w.synchronization.name, w.trainable]


def metric_weight(tf, *settings):
    class Own(tf.keras.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.w = self.add_weight("w", *settings)

        def update_state(self, *args, **kwargs):
            pass

        def result(self):
            return self.w
    w = Own().w
    return [w.aggregation.name, w.synchronization.name, w]


def compared(tf, a, b):
    class Own(tf.test.TestCase):
        def runTest(self):
            pass
    try:
        Own().assertSameStructure(a, b)
    except AssertionError as error:
        return str(error)


CASES = [
    ("GRUCell.call", lambda tf: filled(tf.keras.layers.GRUCell(4), 2, 3).call(vectors(tf), [tf.ones([2, 4])])),
    ("GRUCell.call by name", lambda tf: filled(tf.keras.layers.GRUCell(4), 2, 3).call(vectors(tf), states=[tf.ones([2, 4])])),
    ("GRUCell.call without states", lambda tf: filled(tf.keras.layers.GRUCell(4), 2, 3).call(vectors(tf))),
    ("GRUCell below", lambda tf: own_cell(tf)(vectors(tf), [tf.ones([2, 4])])),
    ("MultiHeadAttention.call", lambda tf: attention(tf).call(sequences(tf), sequences(tf))),
    ("MultiHeadAttention.call by name", lambda tf: attention(tf).call(query=sequences(tf), value=sequences(tf))),
    ("MultiHeadAttention.call with scores", lambda tf: attention(tf).call(sequences(tf), sequences(tf), sequences(tf), None, True)),
    ("MultiHeadAttention.compute_output_shape", lambda tf: tf.keras.layers.MultiHeadAttention(2, 3, output_shape=5).compute_output_shape([2, 3, 4], [2, 7, 4])),
    ("MultiHeadAttention.compute_output_shape that can't be",
     lambda tf: tf.keras.layers.MultiHeadAttention(2, 3).compute_output_shape([2, 3, 4], [2, 7, 4], [2, 6, 4])),
    ("LSTM.call", lambda tf: filled(tf.keras.layers.LSTM(3), 2, 3, 4).call(sequences(tf))),
    ("LSTM.call with a mask", lambda tf: filled(tf.keras.layers.LSTM(3), 2, 3, 4).call(sequences(tf), mask(tf))),
    ("LSTM.call with states", lambda tf: filled(tf.keras.layers.LSTM(3), 2, 3, 4).call(sequences(tf), mask(tf), True, [tf.ones([2, 3])] * 2)),
    ("LSTM below", lambda tf: own_lstm(tf)(sequences(tf))),
    ("LSTM below with a mask", lambda tf: own_lstm(tf)(sequences(tf), mask=mask(tf))),
    ("Bidirectional.call with a mask", lambda tf: filled(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2)), 2, 3, 4).call(sequences(tf), False, mask(tf))),
    ("StackedRNNCells.call", lambda tf: filled(tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(2), tf.keras.layers.SimpleRNNCell(2)]), 2, 3).call(
        vectors(tf), [tf.ones([2, 2]), tf.ones([2, 2])])),
    ("Softmax.call with a mask", lambda tf: tf.keras.layers.Softmax().call(tf.ones([2, 3]), tf.constant([[True, False, True]] * 2))),
    ("BatchNormalization.call in training", lambda tf: filled(tf.keras.layers.BatchNormalization(), 2, 3).call(vectors(tf), True)),
    ("BatchNormalization.call", lambda tf: filled(tf.keras.layers.BatchNormalization(), 2, 3).call(vectors(tf), False)),
    ("TimeDistributed.call with a mask", lambda tf: filled(tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2)), 2, 3, 4).call(sequences(tf), None, mask(tf))),
    ("GlobalAveragePooling1D.call with a mask", lambda tf: tf.keras.layers.GlobalAveragePooling1D().call(sequences(tf), mask(tf))),
    ("CategoryEncoding.call", lambda tf: tf.keras.layers.CategoryEncoding(3, output_mode="count").call(tf.constant([[0, 1]]), tf.constant([[2.0, 3.0]]))),
    ("Lambda.call", lambda tf: tf.keras.layers.Lambda(lambda v: v * 2).call(vectors(tf))),
    ("RandomFlip.call", lambda tf: tf.keras.layers.RandomFlip("horizontal").call(tf.ones([1, 2, 2, 1]))),
    ("Dense.call with training", lambda tf: filled(tf.keras.layers.Dense(2), 2, 3).call(vectors(tf), training=True)),
    ("Dense.call with two", lambda tf: filled(tf.keras.layers.Dense(2), 2, 3).call(vectors(tf), True)),
    ("Layer.call of anything", lambda tf: tf.keras.layers.Layer().call(vectors(tf), 1, training=True)),
    ("Layer below with a build alone", lambda tf: type("Own", (tf.keras.layers.Layer,), {"build": lambda self, shape: None})()(vectors(tf))),
    ("Layer.call", lambda tf: tf.keras.layers.Layer().call(vectors(tf))),
    ("Sequential.call", lambda tf: filled(tf.keras.Sequential([tf.keras.layers.Dense(2)]), 2, 3).call(vectors(tf), True, None)),
    ("Input ragged", lambda tf: type(tf.keras.Input([3], None, None, None, None, None, True)).__name__ == "RaggedKerasTensor" or "RaggedTensorSpec" in repr(
        tf.keras.Input([3], None, None, None, None, None, True))),
    ("add_weight", weight),
    ("add_weight without a word", lambda tf: weight(tf, trainable=None, use_resource=True)),
    ("add_weight of replicas", lambda tf: weight(tf, aggregation=tf.VariableAggregation.MEAN, synchronization=tf.VariableSynchronization.ON_READ)),
    ("add_weight that can't be", lambda tf: weight(tf, trainable=True, synchronization=tf.VariableSynchronization.ON_READ)),
    ("add_weight with nonsense", lambda tf: weight(tf, nonsense=1)),
    ("Metric.add_weight", lambda tf: metric_weight(tf, ())[:2]),
    ("Metric.add_weight by position", lambda tf: metric_weight(tf, (2,), tf.VariableAggregation.MEAN, tf.VariableSynchronization.ON_READ, "ones")),
    ("backend.map_fn", lambda tf: tf.keras.backend.map_fn(lambda v: v * 2, tf.constant([1, 2]), "n", tf.int32)),
    ("backend.sparse_categorical_crossentropy", lambda tf: tf.keras.backend.sparse_categorical_crossentropy([0, 1], [[.9, .1], [.2, .8]], False, -1, 1)),
    ("case of a list", lambda tf: tf.is_tensor(tf.case([(tf.constant(True), lambda: [tf.constant(1)])], default=lambda: [tf.constant(2)]))),
    ("case of a list, strict", lambda tf: tf.is_tensor(tf.case([(tf.constant(True), lambda: [tf.constant(1)])], default=lambda: [tf.constant(2)], strict=True))),
    ("RowPartition", lambda tf: tf.experimental.RowPartition.from_uniform_row_length(2, nvals=4, dtype_hint=tf.int32).dtype.name),
    ("shuffle", lambda tf: len(list(tf.data.Dataset.range(3).shuffle(3, 1, None)))),
    ("cache", lambda tf: len(list(tf.data.Dataset.range(3).cache("")))),
    ("TensorArray", lambda tf: tf.TensorArray(tf.int32, 2, None).size()),
    ("norm", lambda tf: tf.linalg.norm([3.0, 4.0], "euclidean", None, None)),
    ("count_nonzero", lambda tf: tf.math.count_nonzero([0, 1], None, None)),
    ("sparse.reduce_sum", lambda tf: tf.sparse.reduce_sum(tf.sparse.from_dense([1, 2]), None, None)),
    ("pad", lambda tf: tf.pad([1], [[1, 0]], "CONSTANT", 0)),
    ("diag", lambda tf: tf.linalg.diag([1, 2], "x", 0, -1, -1, 0)),
    ("LinearOperatorIdentity", lambda tf: tf.linalg.LinearOperatorIdentity(2, None, None, True, True, True, True).to_dense()),
    ("non_max_suppression", lambda tf: tf.image.non_max_suppression([[0.0, 0, 1, 1]], [1.0], 1, 0.5, float("-inf"))),
    ("decode_csv", lambda tf: tf.io.decode_csv("1,2", [0, 0], ",", True, "")),
    ("counter", lambda tf: next(iter(tf.data.Dataset.counter(0, 1)))),
    ("convolution", lambda tf: tf.nn.convolution(tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1]), None, "VALID")),
    ("ragged.range", lambda tf: tf.ragged.range([2], None, 1).flat_values),
    ("take_while", lambda tf: len(list(tf.data.Dataset.range(5).apply(tf.data.experimental.take_while(lambda x: x < 3))))),
    ("is_nested", lambda tf: [tf.nest.is_nested(seq=[1]), tf.nest.is_nested(1)]),
] + [("assertSameStructure %r" % (pair,), lambda tf, pair=pair: compared(tf, *pair)) for pair in [
    ([1, 2], [1, 2]), ([1, 2], [1, 3]), ([1, 2], (1, 2)), ({"a": [1]}, {"a": [2]}), ([1, [2]], [1, 2]), ([1], [1, 2]), ({1: 2}, {}), ({1, 2}, {1})]]
