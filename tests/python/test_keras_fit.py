"""Training against TensorFlow: histories, printed text, the order of callbacks."""
import contextlib
import io
import os
import re

import pytest

import keras_fit_cases
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def sections(text):
    return dict(part.split("\n", 1) for part in ("\n" + text).split("\n== ")[1:])


def printed(_made=[]):
    if not _made:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            keras_fit_cases.run(tf)
        _made.append(sections(out.getvalue()))
    return _made[0]


with open(os.path.join(HERE, "keras_fit.txt")) as _f:
    EXPECTED = sections(_f.read())
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


@pytest.mark.parametrize("name", list(EXPECTED))
def test_like_tensorflow(name):
    expected, found = EXPECTED[name], printed()[name]
    assert NUMBER.sub("#", found) == NUMBER.sub("#", expected)
    for a, b in zip(NUMBER.findall(found), NUMBER.findall(expected)):
        assert abs(float(a) - float(b)) <= 1e-4 * max(1, abs(float(b))), (a, b)


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
