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
    with pytest.raises(tf.errors.UnimplementedError, match="order 3 is not supported, expected 0 or 1"):
        tf.keras.preprocessing.image.apply_affine_transform(np.zeros((3, 4, 4), np.float32), theta=3, order=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'odd'"):
        tf.keras.preprocessing.image.ImageDataGenerator(odd=1)
    with pytest.raises(ValueError, match="Invalid class_mode"):
        generator().flow_from_directory(GOLDEN + "/pictures", class_mode="odd")


class Plain:
    """A model of three layers, drawn."""

    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2, name="first"), tf.keras.layers.Dense(1, name="<last>")])


@pytest.mark.parametrize("across", ["TB", "LR"])
def test_plot_model(tmp_path, across):
    model = Plain().model
    for kind in ("png", "svg", "dot"):
        path = str(tmp_path / ("model." + kind))
        tf.keras.utils.plot_model(model, path, show_shapes=True, rankdir=across)
        data = open(path, "rb").read()
        if kind == "png":
            pixels = tf.io.decode_png(data).numpy()
            assert 0 in pixels and 255 in pixels and (across == "TB" or pixels.shape[1] > 2 * pixels.shape[0])
        else:
            assert b"first" in data and (b"&lt;last&gt;" in data) == (kind == "svg")
    with pytest.raises(ValueError, match="plot_model writes png, svg and dot, not 'pdf'"):
        tf.keras.utils.plot_model(model, str(tmp_path / "model.pdf"))


def test_drawing_refuses():
    for labels, edges in (([3], []), (["a"], [(0, 1)]), (["a"], [0]), ("a", [])):
        with pytest.raises(ValueError, match="labels must be texts, edges pairs of their numbers"):
            tf.keras.utils._draw_graph(labels, edges)
    for label in ("", "{", "}", "|", "{|}", "a{b", "{" * 200, "\\", "\\{|\\}"):
        assert tf.keras.utils._draw_graph([label, label], [(0, 1), (1, 0), (0, 0)], "png").numpy()[1:4] == b"PNG"


def test_pictures_without_pillow(tmp_path, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "PIL", None)
    img = tf.keras.utils.load_img(GOLDEN + "/pictures/cats/a.png")
    pixels = np.asarray(img)
    assert (img.size, img.mode, img.width, img.height, img.getbands()) == ((7, 5), "RGB", 7, 5, ("R", "G", "B"))
    assert np.array_equal(img.crop((1, 2, 4, 5)), pixels[2:5, 1:4]) and np.array_equal(img.transpose(0), pixels[:, ::-1])
    assert img.crop((-1, 0, 3, 2)).size == (4, 2) and img.convert("L").mode == "L" and img.getpixel((2, 1)) == tuple(pixels[1, 2])
    img.save(tmp_path / "a.png")
    assert np.array_equal(tf.keras.utils.load_img(tmp_path / "a.png"), pixels)
    copy = img.copy()
    copy.thumbnail((3, 3))
    assert copy.size == (3, 2) and copy != img and img == img.copy()
    with pytest.raises(ValueError, match="TIFF needs Pillow"):
        img.save(str(tmp_path / "a.tiff"), format="tiff")
    with pytest.raises(OSError, match="cannot write mode RGBA as JPEG"):
        img.convert("RGBA").save(str(tmp_path / "a.jpg"))


def test_pickles_with_code_are_refused(tmp_path, monkeypatch):
    import pickle

    class Odd:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    os.makedirs(tmp_path / "datasets" / "cifar-100-python")
    for name in ("train", "test"):
        (tmp_path / "datasets" / "cifar-100-python" / name).write_bytes(pickle.dumps({b"data": Odd()}))
    with pytest.raises(pickle.UnpicklingError, match="expected only numbers, texts, lists, dicts and arrays"):
        tf.keras.datasets.cifar100.load_data()
    assert not os.path.exists(tmp_path / "made")
    for load in (tf.keras.datasets.cifar10.load_data, tf.keras.datasets.imdb.load_data, tf.keras.datasets.imdb.get_word_index):
        with pytest.raises(tf.errors.NotFoundError, match="neither %s/datasets/.* is there" % tmp_path):
            load()


def test_tensors_join_to_an_array():
    for joined in ([tf.constant([1, 2]), tf.constant([3, 4])], (tf.constant([[1, 2]]), tf.constant([[3, 4]]))):
        assert np.array(joined).tolist() == [t.numpy().tolist() for t in joined]
