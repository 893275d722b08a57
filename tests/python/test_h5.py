"""HDF5 files of Keras: weights and whole models, those that TensorFlow wrote (tests/golden/h5.py) and our own."""
import json
import os

import numpy as np
import pytest

import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "h5")
EXPECTED = json.load(open(GOLDEN + "/expected.json"))
layers = tf.keras.layers


def convolutional(**names):
    return tf.keras.Sequential([layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 2), name=names.get("c", "c")),
                                layers.BatchNormalization(name=names.get("b", "b")), layers.Flatten(name="f"), layers.Dense(4, name=names.get("d", "d"))])


def data(*shapes):
    rng = np.random.RandomState(1)
    return [rng.rand(*shape).astype(np.float32) for shape in shapes]


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)


# ---- weights

@pytest.mark.parametrize("file", ["weights", "old_weights"])
def test_weights_of_tensorflow(file):
    model = convolutional(d="other")
    assert model.load_weights(GOLDEN + "/%s.h5" % file) is None
    x, = data((5, 6, 6, 2))
    np.testing.assert_allclose(model.predict(x, verbose=0), EXPECTED["weights"], rtol=1e-5, atol=1e-6)


def test_weights_of_whole_model():
    model = convolutional()
    model.load_weights(GOLDEN + "/model.h5")
    x, = data((6, 6, 6, 2))
    np.testing.assert_allclose(model.predict(x, verbose=0), EXPECTED["model"]["predict"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name, save_format", [("w.h5", None), ("w.hdf5", None), ("w.keras", None), ("plain", "h5"), ("w.h5", "keras")])
def test_round_trip(tmp_path, name, save_format):
    model, other = convolutional(), convolutional()
    path = str(tmp_path / name)
    model.save_weights(path, save_format=save_format)
    assert os.listdir(tmp_path) == [name]
    other.load_weights(path)
    same(model.get_weights(), other.get_weights())


def test_by_name(tmp_path):
    path = str(tmp_path / "w.h5")
    model = convolutional()
    model.save_weights(path)
    other = convolutional(c="new")
    before = other.get_weights()
    other.load_weights(path, by_name=True)
    same(other.get_weights()[:2], before[:2])
    same(other.get_weights()[2:], model.get_weights()[2:])


def test_mismatch(tmp_path, capfd):
    path = str(tmp_path / "w.h5")
    tf.keras.Sequential([layers.Dense(3, input_shape=(3,), name="a"), layers.Dense(2, name="b")]).save_weights(path)
    fewer = tf.keras.Sequential([layers.Dense(3, input_shape=(3,), name="a")])
    with pytest.raises(ValueError, match="Layer count mismatch when loading weights from file. Model expected 1 layers, found 2 saved layers."):
        fewer.load_weights(path)
    other = tf.keras.Sequential([layers.Dense(4, input_shape=(3,), name="a"), layers.Dense(2, use_bias=False, name="b")])
    before = other.get_weights()
    with pytest.raises(ValueError, match=r"Weight count mismatch for layer #1 \(named b in the current model, b in the save file\). Layer expects 1 "
                                         r"weight\(s\). Received 2 saved weight\(s\)"):
        other.load_weights(path)
    with pytest.raises(ValueError, match=r"Shape mismatch in layer #0 \(named a\) for weight a/kernel:0. Weight expects shape \(3, 4\). Received saved "
                                         r"weight with shape \(3, 3\)"):
        other.load_weights(path, by_name=True)
    other.load_weights(path, by_name=True, skip_mismatch=True)
    same(other.get_weights(), before)
    with pytest.raises(ValueError, match="skip_mismatch can only be set to True when by_name is True"):
        other.load_weights(path, skip_mismatch=True)
    larger = tf.keras.Sequential([layers.Dense(4, input_shape=(3,), name="x"), layers.Dense(2, name="y")])
    with pytest.raises(ValueError, match=r"Cannot assign value to variable ' x/kernel:0': Shape mismatch.The variable shape \(3, 4\), and the assigned "
                                         r"value shape \(3, 3\) are incompatible."):
        larger.load_weights(path)


class Subclassed(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)
        self.scale = tf.Variable(3.0, name="scale")

    def call(self, x):
        return self.dense(x) * self.scale


def test_subclassed(tmp_path):
    path = str(tmp_path / "w.h5")
    model, other = Subclassed(), Subclassed()
    x = tf.ones((1, 3))
    with pytest.raises(ValueError, match="Weights for model 'subclassed.*' have not yet been created"):
        model.save_weights(path)
    model(x)
    model.scale.assign(4.0)
    model.save_weights(path)
    with pytest.raises(ValueError, match="Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet. "
                                         "Call the Model first, then load the weights."):
        other.load_weights(path)
    other(x)
    other.load_weights(path)
    same(model.get_weights(), other.get_weights())
    np.testing.assert_array_equal(model(x), other(x))


def test_no_good_files(tmp_path):
    model = convolutional()
    with pytest.raises(OSError, match="No such file or directory"):
        model.load_weights(str(tmp_path / "none.h5"))
    path = tmp_path / "bad.h5"
    path.write_bytes(b"no")
    with pytest.raises(OSError, match="signature"):
        model.load_weights(str(path))
    path.write_bytes(open(GOLDEN + "/weights.h5", "rb").read()[:-5])
    with pytest.raises(OSError, match="truncated"):
        model.load_weights(str(path))


def test_overwrite(tmp_path):
    path = str(tmp_path / "w.h5")
    model = convolutional()
    model.save_weights(path, overwrite=False)
    with pytest.raises(tf.errors.AlreadyExistsError, match="EOF"):
        model.save_weights(path, overwrite=False)


# ---- whole models

def functional():
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((3,), name="b")
    shared = layers.Dense(4, activation="tanh", name="shared")
    inner = tf.keras.Sequential([layers.Dense(5, activation="relu", input_shape=(8,), name="first"), layers.Dense(2, name="second")], name="inner")
    joined = layers.Concatenate(name="join")([shared(a), shared(b)])
    return tf.keras.Model([a, b], layers.Dense(1, name="out")(inner(joined)), name="two")


def go_on(name, model, x, y):
    np.testing.assert_allclose(model.predict(x, verbose=0), EXPECTED[name]["predict"], rtol=1e-5, atol=1e-6)
    losses = model.fit(x, y, epochs=3, batch_size=len(y), shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, EXPECTED[name]["losses"], rtol=1e-4)


def test_model_of_tensorflow():
    model = tf.keras.models.load_model(GOLDEN + "/model.h5")
    assert isinstance(model, tf.keras.Sequential) and isinstance(model.optimizer, tf.keras.optimizers.Adam)
    assert int(model.optimizer.iterations) == 2
    x, = data((6, 6, 6, 2))
    go_on("model", model, x, np.arange(6) % 4)
    assert model.metrics_names == ["loss", "accuracy"]


def test_legacy_optimizer_of_tensorflow():
    model = tf.keras.models.load_model(GOLDEN + "/legacy.h5")
    x, y = data((6, 4), (6, 1))
    go_on("legacy", model, x, y)


@pytest.mark.parametrize("name", ["SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax"])
def test_first_optimizers(name, capfd):
    """The state that Keras 2.0 to 2.2.4 saved is taken up: training goes on as it would have."""
    model = tf.keras.models.load_model(GOLDEN + "/first_%s.h5" % name.lower())
    assert "freshly initialized" not in capfd.readouterr().err
    assert int(model.optimizer.iterations) == (3 if name in ("SGD", "Adam", "Adamax") else 0)
    x, y = data((6, 4), (6, 1))
    losses = model.fit(x, y, epochs=3, batch_size=6, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, EXPECTED["first_" + name]["losses"], rtol=1e-5)


def test_not_compiled():
    model = tf.keras.models.load_model(GOLDEN + "/model.h5", compile=False)
    with pytest.raises(RuntimeError, match="You must compile"):
        model.fit(np.zeros((1, 6, 6, 2)), np.zeros((1,)))


@pytest.mark.filterwarnings("ignore:You are saving")
@pytest.mark.parametrize("optimizer", ["adam", "sgd", "rmsprop"])
def test_models_round_trip(tmp_path, optimizer):
    path = tmp_path / "below" / "model.h5"
    model = convolutional()
    model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy", tf.keras.metrics.MeanSquaredError()])
    x, = data((6, 6, 6, 2))
    y = np.arange(6) % 4
    model.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    model.save(path)
    other = tf.keras.models.load_model(path)
    np.testing.assert_array_equal(model.predict(x, verbose=0), other.predict(x, verbose=0))
    first, second = (m.fit(x, y, epochs=2, batch_size=3, shuffle=False, verbose=0).history for m in (model, other))
    assert first == second
    assert sorted(first) == ["accuracy", "loss", "mean_squared_error"]


@pytest.mark.filterwarnings("ignore:You are saving")
def test_options(tmp_path):
    path = str(tmp_path / "model.h5")
    model = convolutional()
    model.compile("adam", "mse")
    model.save(path, include_optimizer=False)
    other = tf.keras.models.load_model(path)
    assert not other._is_compiled
    tf.keras.models.save_model(model, str(tmp_path / "odd"), save_format="h5")
    tf.keras.models.load_model(str(tmp_path / "odd"))
    with pytest.raises(ValueError, match="Unknown `save_format` argument"):
        model.save(path, save_format="xx")
    with pytest.raises(OSError, match="No file or directory found at"):
        tf.keras.models.load_model(str(tmp_path / "none.h5"))
    model.save_weights(path)
    with pytest.raises(ValueError, match="No model config found in the file at"):
        tf.keras.models.load_model(path)
    subclassed = Subclassed()
    subclassed(tf.ones((1, 3)))
    with pytest.raises(NotImplementedError, match="Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model."):
        subclassed.save(path)
    with pytest.raises(ValueError, match="have not yet been created"):
        tf.keras.Sequential([layers.Dense(2)]).save(path)
    with pytest.warns(UserWarning, match="considered legacy"):
        model.save(path)


class Scale(layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, x):
        return x * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


def own_loss(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred) * 2.0, axis=-1)


@pytest.mark.filterwarnings("ignore:You are saving")
def test_custom_objects(tmp_path):
    path = str(tmp_path / "model.h5")
    model = tf.keras.Sequential([layers.Dense(3, input_shape=(4,)), Scale(5.0), layers.Dense(1)])
    model.compile("adam", own_loss, metrics=[own_loss])
    x, y = data((6, 4), (6, 1))
    model.fit(x, y, verbose=0)
    model.save(path)
    with pytest.raises(ValueError, match="Unknown layer: 'Scale'"):
        tf.keras.models.load_model(path)
    other = tf.keras.models.load_model(path, custom_objects={"Scale": Scale, "own_loss": own_loss})
    assert other.layers[1].factor == 5.0
    assert model.evaluate(x, y, verbose=0) == other.evaluate(x, y, verbose=0)


def test_functional_of_tensorflow():
    x1, x2, y = data((6, 3), (6, 3), (6, 1))
    go_on("functional", tf.keras.models.load_model(GOLDEN + "/functional.h5"), [x1, x2], y)


@pytest.mark.filterwarnings("ignore:You are saving")
def test_several_outputs(tmp_path):
    path = str(tmp_path / "model.h5")
    two = functional()
    joined = two.get_layer("inner").output
    model = tf.keras.Model(two.get_layer("inner").inputs, [layers.Dense(1, name="p")(joined), layers.Dense(3, activation="softmax", name="q")(joined)])
    model.compile("adam", {"p": "mse", "q": "sparse_categorical_crossentropy"}, metrics={"q": ["accuracy"], "p": ["mae"]}, loss_weights={"p": 0.5, "q": 1.0})
    x, p = data((6, 8), (6, 1))
    y = [p, np.arange(6) % 3]
    model.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    model.save(path)
    other = tf.keras.models.load_model(path)
    first, second = (m.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0).history for m in (model, other))
    assert first == second
    assert list(first) == ["loss", "p_loss", "q_loss", "p_mae", "q_accuracy"]
