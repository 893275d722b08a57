"""Training against TensorFlow: histories, printed text, the order of callbacks."""
import contextlib
import io
import os

import numpy as np
import pytest

import keras_fit_cases
import printed
from golden_files import golden_file
import thalweg as tf



def sections(text):
    return dict(part.split("\n", 1) for part in ("\n" + text).split("\n== ")[1:])


def output(_made=[]):
    if not _made:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            keras_fit_cases.run(tf)
        _made.append(sections(out.getvalue()))
    return _made[0]


with open(golden_file("keras_fit", "keras_fit.txt")) as _f:
    EXPECTED = sections(_f.read())


@pytest.mark.parametrize("name", list(EXPECTED))
def test_like_tensorflow(name):
    printed.check(output()[name], EXPECTED[name], relative=1e-4, absolute=1e-4)


def test_mistakes():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    with pytest.raises(RuntimeError, match="You must compile your model before training/testing"):
        model.fit([[1.0, 2.0, 3.0]], [1.0])
    model.compile("sgd")
    with pytest.raises(ValueError, match="No loss found"):
        model.fit(tf.ones([4, 3]), tf.ones([4]), verbose=0)
    with pytest.raises(ValueError, match="Unknown optimizer: 'nope'"):
        model.compile("nope", "mse")
    with pytest.raises(ValueError, match="Unknown loss function: 'nope'"):
        model.compile("sgd", "nope")
        model.fit(tf.ones([4, 3]), tf.ones([4]), verbose=0)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="Data cardinality is ambiguous"):
        model.fit(tf.ones([4, 3]), tf.ones([3]), verbose=0)


def test_tensorboard(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.fit(tf.ones([8, 3]), tf.ones([8, 2]), epochs=2, verbose=1, validation_split=0.5,
              callbacks=[tf.keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1)])
    assert sorted(os.listdir(tmp_path)) == ["train", "validation"]
    data = b"".join(open(tmp_path / "train" / f, "rb").read() for f in os.listdir(tmp_path / "train"))
    for tag in (b"epoch_loss", b"dense/kernel_0/histogram", b"graph_keras_model", b"MatMul"):
        assert tag in data or tag == b"dense/kernel_0/histogram" and b"kernel_0/histogram" in data, tag


def test_backup_and_restore(tmp_path):
    """A fit that was interrupted goes on behind its last whole epoch, with the optimizer's state; then the backup is gone."""
    class Stop(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 3:
                raise RuntimeError("stop")

    def make():
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        return model

    x = np.random.RandomState(0).rand(8, 3).astype("float32")
    whole = make().fit(x, x[:, :1], epochs=5, shuffle=False, verbose=0)
    folder = str(tmp_path / "backup")
    with pytest.raises(RuntimeError, match="stop"):
        make().fit(x, x[:, :1], epochs=5, shuffle=False, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(folder), Stop()])
    assert sorted(os.listdir(folder + "/chief")) == ["checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index"]
    names = [name for name, _ in tf.train.list_variables(tf.train.latest_checkpoint(folder + "/chief"))]
    assert {n.split("/")[0] for n in names} == {"_CHECKPOINTABLE_OBJECT_GRAPH", "ckpt_saved_batch", "ckpt_saved_epoch", "model", "save_counter", "train_counter",
                                                "training_state"}
    model = make()
    rest = model.fit(x, x[:, :1], epochs=5, shuffle=False, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(folder)])
    assert rest.epoch == [3, 4] and rest.history["loss"] == whole.history["loss"][3:] and int(model.optimizer.iterations) == 5
    assert os.listdir(folder) == []
    with pytest.raises(ValueError, match="Empty `backup_dir`"):
        tf.keras.callbacks.BackupAndRestore("")


def test_orders_of_shuffled_datasets():
    """evaluate and predict make two iterators over a dataset that is gone through as a whole, as Keras does; the numbers are TensorFlow's."""
    seen = []

    class Watch(tf.keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            seen.append(round(logs["loss"], 3))

        def on_predict_batch_end(self, batch, logs=None):
            seen.append(np.asarray(logs["outputs"]).ravel().tolist())

    def told():
        out = list(seen)
        seen.clear()
        return out

    tf.random.set_seed(5)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", input_shape=(1,))])
    model.compile(tf.keras.optimizers.SGD(0.), "mse")
    x = np.arange(8.).reshape(8, 1)
    data = tf.data.Dataset.from_tensor_slices((x, x * 0)).shuffle(8, seed=3).batch(2)
    model.evaluate(data, verbose=0, callbacks=[Watch()])
    assert told() == [20.0, 22.5, 17.667, 17.5]
    model.predict(data, verbose=0, callbacks=[Watch()])
    assert told() == [[2.0, 7.0], [1.0, 3.0], [4.0, 5.0], [6.0, 0.0]]
    model.evaluate(data, steps=2, verbose=0, callbacks=[Watch()])
    assert told() == [6.5, 18.5]
    model.evaluate(data, verbose=0, callbacks=[Watch()])
    assert told() == [5.0, 6.5, 14.5, 17.5]
    cached = data.cache()
    first = model.evaluate(cached, verbose=0, callbacks=[Watch()]), told()
    assert first == (model.evaluate(cached, verbose=0, callbacks=[Watch()]), told())


@pytest.mark.parametrize("rows, size, more", [(12, 3, {}), (10, 3, {}), (10, 20, {}), (7, 1, {}), (10, 3, {"validation_split": 0.2}), (10, 3, {"class_weight": {0: 2.0, 1: 3.0}}),
                                              (10, None, {"steps_per_epoch": 4})])
@pytest.mark.parametrize("shuffle", ["batch", "BATCH"])
def test_shuffled_batches(rows, size, more, shuffle):
    """shuffle="batch": whole batches in another order each epoch, every sample with its label."""
    seen = []

    class Model(tf.keras.Model):
        def train_step(self, data):
            seen.append([np.asarray(part).ravel().tolist() for part in data])
            return {"a": 0.0}

        def test_step(self, data):
            return {"a": 0.0}

    tf.keras.utils.set_random_seed(rows)
    model = Model()
    model.compile(run_eagerly=True)
    x = np.arange(float(rows))[:, None]
    model.fit(x, x % 2, batch_size=size, epochs=8, shuffle=shuffle, verbose=0, **more)
    rows -= 2 if "validation_split" in more else 0
    size = size or 3
    wanted = [list(map(float, range(i, min(i + size, rows)))) for i in range(0, rows, size)]
    orders = set()
    for epoch in range(8):
        part = seen[epoch * len(wanted):(epoch + 1) * len(wanted)]
        assert sorted(p[0] for p in part) == wanted and all(p[1] == [v % 2 for v in p[0]] for p in part)
        assert "class_weight" not in more or all(p[2] == [2 + v % 2 for v in p[0]] for p in part)
        orders.add(tuple(p[0][0] for p in part))
    assert len(seen) == 8 * len(wanted) and len(orders) > 3 or len(wanted) == 1


def test_print_of_a_text(capfd):
    """One text alone is printed as it is, in other company in quotes."""
    import sys
    tf.print(tf.strings.format("Epoch={}", (tf.constant(1),)), output_stream=sys.stdout)
    tf.print(tf.constant("abc"), 1, output_stream=sys.stdout)
    tf.print([tf.constant("abc")], output_stream=sys.stdout)
    assert capfd.readouterr().out == 'Epoch=1\n"abc" 1\n["abc"]\n'
