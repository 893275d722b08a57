"""Where parts of Keras meet: traces and random streams, names, shapes that are learnt, masks, states. Numbers and forms are TensorFlow 2.15.1's."""
import numpy as np
import pytest
import thalweg as tf

keras = tf.keras
layers = keras.layers
ROWS, SEQUENCES = np.random.RandomState(0).randn(8, 4).astype("f"), np.random.RandomState(0).randn(12, 4, 3).astype("f")
TARGETS, MORE = np.random.RandomState(1).rand(8, 2).astype("f"), np.random.RandomState(1).rand(12, 2).astype("f")


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)


# ---- every graph of the training step has random numbers of its own ----

STREAMS = [
    (lambda: layers.Dropout(0.5), [4.16310, 4.73028, 1.91797, 0.96609, 3.27997]),
    (lambda: layers.GRU(2, recurrent_dropout=0.5), [0.18855, 0.19201, 0.26386, 0.23136, 0.18303]),
    (lambda: layers.SimpleRNN(2, recurrent_dropout=0.5), [1.01970, 1.11440, 0.53626, 0.49779, 1.18676]),
    (lambda: layers.Dropout(0.5, seed=3), [5.34452, 3.66772, 0.93689, 4.59549, 2.72644]),
    (lambda: layers.GRU(2, dropout=0.5), [0.29692, 0.28685, 0.35449, 0.39766, 0.27465]),
]


@pytest.mark.parametrize("layer, expected", STREAMS)
def test_batches_of_another_shape_begin_their_random_numbers_anew(layer, expected):
    model = keras.Sequential([keras.Input((4, 3)), layer(), layers.Flatten(), layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    found = [model.train_on_batch(SEQUENCES[:n], MORE[:n]) for n in (12, 12, 5, 5, 12)]
    np.testing.assert_allclose(found, expected, atol=2e-5)


class Own(keras.Model):
    def __init__(self, parts):
        super().__init__()
        self.parts = parts

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


SEVERAL_STEPS = [
    (lambda: [layers.Dropout(0.5, seed=7)], [1.16533, 1.83004]),
    (lambda: [layers.Dropout(0.5), layers.Dropout(0.3, seed=7)], [2.54763, 1.73644]),
    (lambda: [layers.Dropout(0.5)], [1.35338, 1.00336]),
]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("inner, expected", SEVERAL_STEPS)
def test_seeds_count_the_traces_of_several_steps(inner, expected, own):
    parts = [layers.Dense(3)] + inner() + [layers.Dense(2)]
    model = Own(parts) if own else keras.Sequential([keras.Input((4,))] + parts)
    model.compile("sgd", "mse", steps_per_execution=2)
    np.testing.assert_allclose(model.fit(ROWS, TARGETS, batch_size=3, epochs=2, verbose=0, shuffle=False).history["loss"], expected, atol=2e-5)


# ---- names ----

LABELS = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1]], "f")
GUESSES = np.array([[0.3, 0.6, 0.5], [0.4, 0.6, 0.4], [0.4, 0.9, 0.9]], "f")
COSINES = list((LABELS * GUESSES).sum(1) / np.linalg.norm(LABELS, axis=1) / np.linalg.norm(GUESSES, axis=1))
NAMES = [
    (keras.metrics.get, "cosine_similarity", COSINES),
    (keras.metrics.get, "cosine_proximity", COSINES),
    (keras.losses.get, "cosine_similarity", [-value for value in COSINES]),
    (keras.losses.get, "bce", [0.52021, 0.64598, 0.37567]),
    (keras.losses.get, "BCE", [0.52021, 0.64598, 0.37567]),
    (keras.losses.get, "huber_loss", [0.08333, 0.11333, 0.06333]),
]


@pytest.mark.parametrize("get, name, expected", NAMES)
def test_names_of_functions(get, name, expected):
    found = get(name)
    if isinstance(found, keras.metrics.Metric):
        found.update_state(LABELS, GUESSES)
        np.testing.assert_allclose(found.result(), np.mean(expected), atol=1e-5)
    else:
        np.testing.assert_allclose(np.mean(found(LABELS, GUESSES)), np.mean(expected), atol=1e-5)


@pytest.mark.parametrize("name, expected", [("cosine_similarity", 0.33310), ("CosineSimilarity", 0.33310)])
def test_cosine_as_a_metric(name, expected):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Dense(2)])
    model.compile("sgd", "mse", metrics=[name])
    np.testing.assert_allclose(model.fit(ROWS, TARGETS, verbose=0).history["cosine_similarity"], [expected], atol=1e-5)


# ---- a Sequential that learns its input's shape ----

SHAPES = [
    (lambda m: m.predict(SEQUENCES, verbose=0), None),
    (lambda m: m.fit(SEQUENCES, MORE, batch_size=5, verbose=0), None),
    (lambda m: m.fit(SEQUENCES, MORE, batch_size=3, verbose=0), 3),
    (lambda m: (m.fit(SEQUENCES, MORE, batch_size=3, verbose=0), m.evaluate(SEQUENCES, MORE, batch_size=5, verbose=0)), None),
    (lambda m: m(SEQUENCES), 12),
    (lambda m: (m(SEQUENCES), m(SEQUENCES[:5])), None),
]


@pytest.mark.parametrize("calls, rows", SHAPES)
def test_shapes_that_are_learnt(calls, rows):
    model = keras.Sequential([layers.Masking(), layers.GRU(2), layers.Dense(2)])
    model.compile("sgd", "mse")
    calls(model)
    assert model.input_shape == (rows, 4, 3) and model.output_shape == (rows, 2)
    assert model.inputs[0].shape == (rows, 4, 3) and model.outputs[0].shape == (rows, 2)
    assert model.layers[0].output_shape == (rows, 4, 3)
    assert model.get_config()["layers"][0]["config"]["batch_input_shape"] == (rows, 4, 3)
    inner = keras.Model(model.inputs, model.layers[1].output)
    assert inner.output_shape == (rows, 2) and len(inner.layers) == 3


def test_losses_of_a_sequential_that_learns_its_shape():
    model = keras.Sequential([layers.Dense(2, activity_regularizer="l1"), layers.Dense(2, activity_regularizer="l2")])
    model.compile("sgd", "mse")
    history = model.fit(ROWS, TARGETS, batch_size=3, epochs=2, verbose=0, shuffle=False).history["loss"]
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    other = keras.Sequential([keras.Input((4,)), layers.Dense(2, activity_regularizer="l1"), layers.Dense(2, activity_regularizer="l2")])
    other.compile("sgd", "mse")
    np.testing.assert_allclose(history, other.fit(ROWS, TARGETS, batch_size=3, epochs=2, verbose=0, shuffle=False).history["loss"], rtol=1e-5)


# ---- masks ----

LOSING = [(lambda: layers.UpSampling1D(1), 3), (lambda: layers.UpSampling2D(1), 4), (lambda: layers.UpSampling3D(1), 5), (lambda: layers.Identity(), 3)]


@pytest.mark.parametrize("layer, rank", LOSING)
def test_masks_end_at_layers_that_change_nothing(layer, rank):
    x = tf.ones([2] * rank)
    x._keras_mask = tf.constant([[True, False], [True, True]])
    found = layer()(x)
    assert getattr(found, "_keras_mask", None) is None
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("backwards", [False, True])
def test_rows_of_ragged_sequences_are_as_alone(kind, backwards):
    layer = getattr(layers, kind)(2, return_sequences=True, go_backwards=backwards)
    rows = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], [[0.5, 0.25], [1.0, -1.0], [2.0, 0.0]]]
    found = layer(tf.ragged.constant(rows, ragged_rank=1))
    for one, row in zip(found, rows):
        np.testing.assert_allclose(one, layer(tf.constant([row]))[0], atol=1e-6)


def test_ragged_sequences_are_not_unrolled():
    with pytest.raises(ValueError, match="does not support unrolling. Disable unrolling by passing `unroll=False`"):
        layers.GRU(2, unroll=True)(tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ragged_rank=1))


# ---- numbers of batches ----


@pytest.mark.parametrize("batch_size, shape", [(32, ()), (5, (2,))])
def test_predict_of_one_number(batch_size, shape):
    x = keras.Input((4,))
    model = keras.Model(x, tf.reduce_sum(x))
    found = model.predict(ROWS, batch_size=batch_size, verbose=0)
    assert found.shape == shape
    np.testing.assert_allclose(found.sum(), ROWS.sum(), rtol=1e-5)


# ---- the order of calls ----


def test_calls_run_by_their_depth():
    """So random numbers go to the deepest calls first."""
    rs = np.random.RandomState(1)
    x = rs.randn(8, 5, 3).astype("f")
    rs.randint(0, 7, (8, 5))
    y = rs.rand(8, 2).astype("f")
    i, j = keras.Input((5, 3)), keras.Input((4,))
    a = layers.GlobalMaxPooling1D()(layers.Dropout(0.3)(i))
    b = layers.Dense(3)(layers.Dense(3)(layers.Dropout(0.3)(layers.Dense(3)(j))))
    model = keras.Model([i, j], layers.Dense(2)(layers.Concatenate()([a, b])))
    model.compile(keras.optimizers.SGD(0.0), "mse")
    found = model.fit([x, x[:, :4, 0]], y, batch_size=8, epochs=2, verbose=0, shuffle=False).history["loss"]
    np.testing.assert_allclose(found, [2.53674, 3.77862], atol=2e-5)


# ---- losses and metrics of a functional model's tensors ----


def test_places_of_added_losses_and_metrics():
    x = keras.Input((4,), name="x")
    y = layers.Dense(2, name="y")(x)
    model = keras.Model(x, layers.Dense(1, name="z")(y))
    model.add_loss(tf.reduce_mean(y) * 0.01)
    model.add_metric(y, name="am", aggregation="mean")
    assert [layer.name for layer in model.layers] == ["x", "y", "z", "tf.math.reduce_mean", "tf.math.multiply", "add_loss", "add_metric"]
    assert model.get_config()["layers"][-1]["config"]["aggregation"] == "mean"
    again = keras.Model.from_config(model.get_config())
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]


@pytest.mark.parametrize("form, named", [(".h5", False), (".h5", True), ("", False)])
@pytest.mark.filterwarnings("ignore:You are saving")
def test_names_of_metrics_after_loading(tmp_path, form, named):
    x = keras.Input((4,))
    a, b = layers.Dense(2, name="a")(x), layers.Dense(1, name="b")(x)
    model = keras.Model(x, {"a": a, "b": b} if named else [a, b])
    model.compile("sgd", "mse", metrics={"a": [keras.metrics.MeanAbsoluteError(name="q")], "b": ["mae"]})
    y = {"a": TARGETS, "b": TARGETS[:, :1]}
    names = list(model.evaluate(ROWS, y, verbose=0, return_dict=True))
    assert names == ["loss", "a_loss", "b_loss", "a_q", "b_mae"]
    model.save(tmp_path / f"model{form}")
    loaded = keras.models.load_model(tmp_path / f"model{form}")
    assert list(loaded.evaluate(ROWS, y, verbose=0, return_dict=True)) == names


def test_message_of_a_dense_layer():
    with pytest.raises(ValueError, match=r"Full input shape received: \(None, None\)"):
        layers.Dense(2)(keras.Input((None,)))
