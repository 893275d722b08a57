"""ImageDataGenerator.flow_from_directory, against Keras 2.15 (tests/golden/pictures.py)."""
import json
import os

import numpy as np
import pytest

import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
EXPECTED = json.load(open(GOLDEN + "/pictures/pictures.json"))


def generator():
    return tf.keras.preprocessing.image.ImageDataGenerator(rescale=1.0 / 255, validation_split=0.5)


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_batches(case, capsys):
    expected = EXPECTED[case]
    arguments = {key: tuple(value) if isinstance(value, list) else value for key, value in expected["arguments"].items()}
    flow = generator().flow_from_directory(GOLDEN + "/pictures", **arguments)
    assert capsys.readouterr().out == "Found %d images belonging to 2 classes.\n" % expected["samples"]
    assert (flow.samples, flow.class_indices, flow.filenames, len(flow)) == tuple(
        expected[key] for key in ("samples", "class_indices", "filenames", "length"))
    for batch in expected["batches"]:
        got = next(flow)
        got = got if isinstance(got, tuple) else (got,)
        assert len(got) == len(batch)
        for a, b in zip(got, batch):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a * 255, np.array(b, np.float32) * 255, atol=0.01)


def test_training(capsys):
    flow = generator().flow_from_directory(GOLDEN + "/pictures", target_size=(6, 6), batch_size=2, class_mode="binary")
    model = tf.keras.Sequential([tf.keras.layers.Flatten(input_shape=(6, 6, 3)), tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(flow, epochs=2, verbose=0).history
    assert sorted(history) == ["accuracy", "loss"] and len(history["loss"]) == 2


def test_refused():
    with pytest.raises(NotImplementedError, match="rotation_range"):
        tf.keras.preprocessing.image.ImageDataGenerator(rotation_range=40)
    with pytest.raises(TypeError, match="unexpected keyword argument 'odd'"):
        tf.keras.preprocessing.image.ImageDataGenerator(odd=1)
    with pytest.raises(ValueError, match="Invalid class_mode"):
        generator().flow_from_directory(GOLDEN + "/pictures", class_mode="odd")
