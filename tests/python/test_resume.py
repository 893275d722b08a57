"""A fit that was interrupted and goes on in new objects gives the weights of one that was not: dropout, shuffled rows and datasets, at epochs and batches."""
import numpy as np
import pytest
import thalweg as tf

X = np.random.RandomState(0).rand(22, 3).astype("float32")
Y = X[:, :1] * 2 + 1


def make():
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu", input_shape=(3,)), tf.keras.layers.Dropout(0.5),
                                 tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def rows(shuffle):
    return lambda: dict(x=X, y=Y, batch_size=4, shuffle=shuffle)


def dataset(change, **more):
    return lambda: dict(x=change(tf.data.Dataset.from_tensor_slices((X, Y))), **more)


FEEDS = {
    "rows": rows(False), "shuffled": rows(True),
    "dataset": dataset(lambda d: d.batch(4)),
    "dataset_shuffled": dataset(lambda d: d.shuffle(9).batch(4)),
    "dataset_cached": dataset(lambda d: d.shuffle(22).cache().shuffle(5).batch(4).prefetch(2)),
    "dataset_endless": dataset(lambda d: d.shuffle(9).repeat().batch(4, drop_remainder=True), steps_per_epoch=5),
    "dataset_unknown": dataset(lambda d: d.filter(lambda x, y: x[0] > 0.2).shuffle(5).batch(4)),
}


class Stop(tf.keras.callbacks.Callback):
    def __init__(self, at):
        super().__init__()
        self.at, self.seen = at, 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen == self.at:
            raise RuntimeError("interrupted")


@pytest.mark.parametrize("save_freq", ("epoch", 1, 4))
@pytest.mark.parametrize("name", FEEDS)
def test_goes_on_exactly(name, save_freq, tmp_path):
    whole = make()
    whole.fit(epochs=4, verbose=0, **FEEDS[name]())
    for at in (7, 10, 13):
        folder = str(tmp_path / ("at%d" % at))
        with pytest.raises(RuntimeError, match="interrupted"):
            make().fit(epochs=4, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(folder, save_freq=save_freq), Stop(at)], **FEEDS[name]())
        model = make()
        tf.random.uniform([3])  # streams that go on by themselves would differ now
        model.fit(epochs=4, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(folder, save_freq=save_freq)], **FEEDS[name]())
        for got, expected in zip(model.get_weights(), whole.get_weights()):
            np.testing.assert_array_equal(got, expected, err_msg="%s %s at %d" % (name, save_freq, at))
        assert int(model.optimizer.iterations) == int(whole.optimizer.iterations)


def test_arguments(tmp_path):
    for bad in (0, None, False):
        with pytest.raises(ValueError, match="Either `save_freq`"):
            tf.keras.callbacks.BackupAndRestore(str(tmp_path), save_freq=bad)
    for bad in (-1, 1.5, "batch", True):
        with pytest.raises(ValueError, match="save_freq"):
            tf.keras.callbacks.BackupAndRestore(str(tmp_path), save_freq=bad)
