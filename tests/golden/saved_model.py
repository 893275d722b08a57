"""Makes tests/golden/saved_model/: SavedModels that TensorFlow 2.15.1 wrote, and what they compute.

module/        a tf.Module, as a directory: small enough for the C tests
models.zip     Keras models (mlp, cnn, text, lstm, subclassed) and a module with nested arguments
values.json    inputs and outputs per model

Run it with TensorFlow's Python: python tests/golden/saved_model.py"""
import json
import os
import shutil
import tempfile
import zipfile

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved_model")
values = {}


class Affine(tf.Module):
    """What the C tests load."""

    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.b = tf.Variable([0.5, -0.5], name="b")
        self.steps = tf.Variable(0, trainable=False, dtype=tf.int64, name="steps")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        self.steps.assign_add(1)
        return tf.matmul(x, self.w) + self.b


class Nested(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)
        self.parts = [tf.Variable(1.0), tf.Variable([2.0, 3.0])]
        self.by_name = {"first": tf.Variable(4.0), "second": tf.Module()}
        self.by_name["second"].inner = tf.Variable(5.0)
        self.pair = (tf.Variable(6.0), tf.Variable(7.0))
        self.table = tf.constant(np.arange(600, dtype=np.float32))
        self.same = self.by_name["second"]

    @tf.function
    def combine(self, data, factor=2, *, offset=None):
        out = {"sum": data["a"] * self.scale + data["b"][0], "more": (data["b"][1] * factor, self.table[3])}
        if offset is not None:
            out["offset"] = offset + self.parts[1]
        return out

    @tf.function
    def count(self, n):
        total = tf.constant(0)
        while total < n:
            total += 3
        if total > 10:
            total = -total
        return total

    @tf.function
    def plus(self, *rest, **named):
        return sum(rest) + named["z"]


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.numpy().tolist()


def keras_models():
    k = tf.keras
    tf.keras.utils.set_random_seed(7)
    rng = np.random.RandomState(3)
    mlp = k.Sequential([k.layers.Dense(4, activation="relu", input_shape=(3,)), k.layers.Dropout(0.5), k.layers.Dense(2)])
    mlp.compile(k.optimizers.Adam(0.01), "mse", metrics=["mae"])
    x = rng.rand(8, 3).astype("float32")
    mlp.fit(x, x[:, :2], epochs=1, verbose=0)
    yield "mlp", mlp, x[:4]
    cnn = k.Sequential([k.layers.Conv2D(2, 3, activation="relu", input_shape=(6, 6, 1)), k.layers.BatchNormalization(),
                        k.layers.MaxPooling2D(2), k.layers.Flatten(), k.layers.Dense(3, activation="softmax")])
    yield "cnn", cnn, rng.rand(2, 6, 6, 1).astype("float32")
    text = k.Sequential([k.layers.Embedding(10, 4, input_length=5), k.layers.Flatten(), k.layers.Dense(1, activation="sigmoid")])
    yield "text", text, rng.randint(0, 10, (3, 5)).astype("float32")
    lstm = k.Sequential([k.layers.LSTM(3, input_shape=(4, 2)), k.layers.Dense(1)])
    yield "lstm", lstm, rng.rand(2, 4, 2).astype("float32")

    class Net(k.Model):
        def __init__(self):
            super().__init__()
            self.d1, self.d2 = k.layers.Dense(3, activation="tanh"), k.layers.Dense(2)

        def call(self, inputs, training=False):
            return self.d2(self.d1(inputs))
    net = Net()
    x = rng.rand(2, 4).astype("float32")
    net(x)
    yield "net", net, x


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    affine = Affine()
    x = tf.constant([[1.0, 1.0], [0.0, 2.0]])
    values["module"] = {"x": plain(x), "y": plain(affine(x))}
    tf.saved_model.save(affine, os.path.join(HERE, "module"))
    with tempfile.TemporaryDirectory() as scratch:
        nested = Nested()
        data = {"a": tf.constant([1.0, 2.0]), "b": [tf.constant(3.0), tf.constant(4.0)]}
        values["nested"] = {"plain": plain(nested.combine(data)), "three": plain(nested.combine(data, 3)),
                            "offset": plain(nested.combine(data, offset=tf.constant([1.0, 1.0]))),
                            "count": [plain(nested.count(tf.constant(n))) for n in (2, 10, 20)],
                            "plus": plain(nested.plus(tf.constant(1.0), tf.constant(2.0), z=tf.constant(3.0)))}
        tf.saved_model.save(nested, os.path.join(scratch, "nested"))
        for name, model, x in keras_models():
            values[name] = {"x": x.tolist(), "y": model(x).numpy().tolist()}
            model.save(os.path.join(scratch, name), save_format="tf")
        with zipfile.ZipFile(os.path.join(HERE, "models.zip"), "w", zipfile.ZIP_LZMA) as archive:
            for folder, _, files in sorted(os.walk(scratch)):
                for file in sorted(files):
                    path = os.path.join(folder, file)
                    archive.write(path, os.path.relpath(path, scratch))
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump(values, file)


main()
