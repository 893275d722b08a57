"""keras.utils: labels by number. The values and messages are TensorFlow 2.15.1's."""
import os
import subprocess
import sys

import numpy as np
import pytest

import thalweg as tf


@pytest.mark.parametrize("labels, classes, expected", [
    ([0, 2], None, [[1, 0, 0], [0, 0, 1]]),
    ([[0], [1]], 3, [[1, 0, 0], [0, 1, 0]]),
    ([-1], 3, [[0, 0, 1]]),
    ([0.7, 1.2], 3, [[1, 0, 0], [0, 1, 0]]),
    (1, 3, [0, 1, 0]),
    (np.zeros((2, 3), int), None, np.ones((2, 3, 1))),
    ([], 3, np.zeros((0, 3))),
])
def test_to_categorical(labels, classes, expected):
    rows = tf.keras.utils.to_categorical(labels, classes)
    assert isinstance(rows, np.ndarray) and rows.dtype == np.float32
    assert rows.shape == np.shape(expected) and np.array_equal(rows, expected)
    assert tf.keras.utils.to_categorical(labels, num_classes=classes, dtype="int32").dtype == np.int32


def test_to_categorical_refuses():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 3"):
        tf.keras.utils.to_categorical([5], 3)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        tf.keras.utils.to_categorical([])
    with pytest.raises(ValueError, match="num_classes is -3"):
        tf.keras.utils.to_categorical([1], -3)
    with pytest.raises(ValueError, match="below 2"):
        tf.keras.utils.to_categorical([2 ** 40])

    @tf.function
    def traced(y):
        return tf.keras.utils.to_categorical(y, 3)

    with pytest.raises(ValueError, match="symbolic"):
        traced(tf.constant([1]))


def test_get_file(tmp_path):
    import tarfile
    source = tmp_path / "words.txt"
    source.write_text("some words\n")
    cache = str(tmp_path / "cache")
    path = tf.keras.utils.get_file("w.txt", "file://" + str(source), cache_dir=cache)
    assert path == cache + "/datasets/w.txt" and open(path).read() == "some words\n"
    assert tf.keras.utils.get_file("w.txt", "https://example.org/w.txt", cache_dir=cache) == path  # it is there
    with pytest.raises(OSError, match="URL fetch failure on https://example.org/other.txt"):
        tf.keras.utils.get_file("other.txt", "https://example.org/other.txt", cache_dir=cache)
    with pytest.raises(ValueError, match="Incomplete or corrupted"):
        tf.keras.utils.get_file("bad.txt", "file://" + str(source), cache_dir=cache, file_hash="0" * 64)
    path = tf.keras.utils.get_file(origin="file://" + str(source), cache_dir=cache, cache_subdir="sub")
    assert path == cache + "/sub/words.txt"
    with pytest.raises(ValueError, match="Please specify the .origin. argument"):
        tf.keras.utils.get_file("x")
    with pytest.raises(ValueError, match="Can't parse the file name from the origin provided: 'https://example.org/'."):
        tf.keras.utils.get_file(origin="https://example.org/", cache_dir=cache)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 127, 128, 70000])
def test_get_file_checks_hashes(tmp_path, size, capsys):
    import hashlib
    data, source, cache = bytes(i * 31 % 251 for i in range(size)), tmp_path / "data", str(tmp_path / "cache")
    source.write_bytes(data)
    md5, sha256 = hashlib.md5(data).hexdigest(), hashlib.sha256(data).hexdigest()
    for n, hashes in enumerate((dict(md5_hash=md5), dict(file_hash=md5), dict(file_hash=sha256), dict(file_hash=sha256, hash_algorithm="sha256"))):
        path = tf.keras.utils.get_file("f%d" % n, "file://" + str(source), cache_dir=cache, **hashes)
        assert open(path, "rb").read() == data
        assert capsys.readouterr().out == "Downloading data from file://%s\n" % source
        with open(path, "ab") as f:
            f.write(b"more")
        assert tf.keras.utils.get_file("f%d" % n, "file://" + str(source), cache_dir=cache, **hashes) == path
        assert open(path, "rb").read() == data
        assert capsys.readouterr().out.startswith("A local file was found, but it seems to be incomplete or outdated because the ")
    for wrong in (dict(file_hash=md5[:-1] + "x"), dict(file_hash=sha256, hash_algorithm="md5"), dict(file_hash="0" * 64)):
        with pytest.raises(ValueError, match="Incomplete or corrupted file detected. The .* file hash does not match the provided value of "):
            tf.keras.utils.get_file("wrong", "file://" + str(source), cache_dir=cache, **wrong)


LONG = "/".join("folder_%d" % i for i in range(30)) + "/words.txt"


def _tar(path, mode, names, format=None):
    import io
    import tarfile
    with tarfile.open(path, mode, format=format) as archive:
        for name, text in names.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text), 0o755
            archive.addfile(member, io.BytesIO(text))


def _zip(path, names):
    import zipfile
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in names.items():
            archive.writestr(name, text)


@pytest.mark.parametrize("kind", ["tar", "gz", "bz2", "xz", "gnu", "pax", "zip"])
def test_get_file_unpacks(tmp_path, kind):
    import os
    import tarfile
    names = {"a/words.txt": b"some words\n" * 1000, "a/empty": b"", "a/" + LONG: b"x" * 513}
    archive, cache = tmp_path / "archive", str(tmp_path / "cache")
    if kind == "zip":
        _zip(archive, names)
    else:
        _tar(archive, "w:" + (kind if kind in ("gz", "bz2", "xz") else ""), names, tarfile.PAX_FORMAT if kind == "pax" else tarfile.GNU_FORMAT)
    path = tf.keras.utils.get_file("a.x", "file://" + str(archive), extract=True, cache_dir=cache)
    assert path == cache + "/datasets/a.x"
    for name, text in names.items():
        assert open(os.path.join(cache, "datasets", name), "rb").read() == text
    if kind != "zip":
        assert os.access(os.path.join(cache, "datasets/a/empty"), os.X_OK)
        path = tf.keras.utils.get_file("a.tar.gz", "file://" + str(archive), untar=True, cache_dir=cache, cache_subdir="untar")
        assert open(cache + "/untar/a/words.txt", "rb").read() == names["a/words.txt"]
    for formats, there in (("zip" if kind != "zip" else "tar", False), ([], False), (["tar", "zip"], True)):
        folder = "only_%s" % there
        tf.keras.utils.get_file("b", "file://" + str(archive), extract=True, archive_format=formats, cache_dir=cache, cache_subdir=folder)
        assert os.path.exists(os.path.join(cache, folder, "a/words.txt")) == there


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/tmp/thalweg_out", "a/../b/../../out"])
@pytest.mark.parametrize("kind", ["tar", "bz2", "zip"])
def test_get_file_refuses_members_elsewhere(tmp_path, name, kind):
    import os
    archive, cache = tmp_path / "archive", str(tmp_path / "cache")
    if kind == "zip":
        _zip(archive, {"good": b"1", name: b"x"})
    else:
        _tar(archive, "w:" + kind.replace("tar", ""), {"good": b"1", name: b"x"})
    with pytest.raises(ValueError, match="which is no file or directory below the archive's"):
        tf.keras.utils.get_file("a", "file://" + str(archive), extract=True, cache_dir=cache)
    assert os.listdir(cache + "/datasets") == ["a"] and not os.path.exists("/tmp/thalweg_out")


def test_get_file_refuses_links_and_damage(tmp_path):
    import tarfile
    archive, cache = tmp_path / "archive", str(tmp_path / "cache")
    with tarfile.open(archive, "w") as f:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        f.addfile(link)
    with pytest.raises(ValueError, match="has a member 'link'"):
        tf.keras.utils.get_file("a", "file://" + str(archive), extract=True, cache_dir=cache)
    _tar(archive, "w:gz", {"words": b"some words" * 1000})
    whole = archive.read_bytes()
    for size in (1, 10, 20, len(whole) // 2, len(whole) - 1):
        archive.write_bytes(whole[:size])
        try:
            tf.keras.utils.get_file("cut%d" % size, "file://" + str(archive), extract=True, cache_dir=cache)
        except tf.errors.OpError:
            pass


def test_a_dataset_of_a_directory_is_iterated_first_thing(tmp_path):
    for kind in ("a", "b"):
        os.makedirs(tmp_path / kind)
        (tmp_path / kind / "one.txt").write_text(kind)
    program = ("import sys, thalweg as tf\n"
               "for x, y in tf.keras.utils.text_dataset_from_directory(sys.argv[1], shuffle=False): print(x.numpy().tolist(), y.numpy().tolist())\n"
               "print([x.shape for x in tf.keras.utils.timeseries_dataset_from_array([1., 2., 3.], None, 2)])\n")
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["Found 2 files belonging to 2 classes.", "[b'a', b'b'] [0, 1]", "[TensorShape([2, 2])]"]


class Numbers(tf.keras.utils.Sequence):
    def __init__(self):
        self.ends = 0

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.full(2, index)

    def on_epoch_end(self):
        self.ends += 1


def test_enqueuers():
    """Batches come in their order, round after round; generators end; errors arrive."""
    numbers = Numbers()
    ahead = tf.keras.utils.OrderedEnqueuer(numbers)
    ahead.start(workers=2, max_queue_size=3)
    batches = ahead.get()
    assert [int(next(batches)[0]) for _ in range(10)] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1] and numbers.ends >= 1
    ahead.stop()
    assert not ahead.is_running()
    made = tf.keras.utils.GeneratorEnqueuer(iter(range(5)))
    made.start()
    assert list(made.get()) == [0, 1, 2, 3, 4]
    made.stop()

    def failing():
        yield 1
        raise KeyError("odd")
    made = tf.keras.utils.GeneratorEnqueuer(failing())
    made.start()
    with pytest.raises(KeyError, match="odd"):
        list(made.get())


def test_timed_thread():
    class Ticks(tf.keras.utils.TimedThread):
        count = 0

        def on_interval(self):
            self.count += 1
    with Ticks(0.001, daemon=True) as ticks:
        while ticks.count < 3:
            pass
    assert not ticks.is_alive()


def test_sidecar_evaluator(tmp_path):
    """The newest checkpoint is evaluated."""
    def compiled():
        made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        made.compile("sgd", "mse")
        return made
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    model, other = compiled(), compiled()
    model.fit(x, y, verbose=0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=model.optimizer), str(tmp_path), max_to_keep=2)
    manager.save(checkpoint_number=1)
    tf.keras.utils.SidecarEvaluator(other, tf.data.Dataset.from_tensor_slices((x, y)).batch(2), str(tmp_path), max_evaluations=1).start()
    assert (other.get_weights()[0] == model.get_weights()[0]).all()


def test_export_archive(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    archive = tf.keras.export.ExportArchive()
    with pytest.raises(ValueError, match="No endpoints"):
        archive.write_out(str(tmp_path / "m"))
    with pytest.raises(ValueError, match="Invalid resource type"):
        archive.track(3)
    archive.track(model)
    spec = tf.TensorSpec((None, 2), tf.float32)
    archive.add_endpoint("serve", lambda x: model(x), [spec])
    archive.add_endpoint("twice", lambda x: model(x) * 2, [spec])
    archive.add_variable_collection("mine", model.trainable_variables)
    with pytest.raises(ValueError, match="already taken"):
        archive.add_endpoint("serve", lambda x: x, [spec])
    with pytest.raises(ValueError, match="input_signature"):
        archive.add_endpoint("other", lambda x: x)
    with pytest.raises(ValueError, match="never been called"):
        archive.add_endpoint("other", tf.function(lambda x: x))
    archive.write_out(str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    x = tf.ones((1, 2))
    np.testing.assert_allclose(loaded.twice(x), model(x) * 2)
    np.testing.assert_allclose(list(loaded.signatures["serving_default"](x=x).values())[0], model(x))
    assert len(loaded.mine) == 2 and set(loaded.signatures) == {"serve", "twice", "serving_default"}


def test_dataset_creator():
    made = tf.keras.utils.experimental.DatasetCreator(lambda context: tf.data.Dataset.range(3))
    assert [int(v) for v in made(None)] == [0, 1, 2]
    with pytest.raises(TypeError, match="must be a `callable`"):
        tf.keras.utils.experimental.DatasetCreator(3)
    with pytest.raises(TypeError, match="must return a Dataset"):
        tf.keras.utils.experimental.DatasetCreator(lambda: 3)()


def test_former_configs():
    u = tf.keras.utils.legacy
    entry = u.serialize_keras_object(tf.keras.layers.Dense(2, name="d"))
    assert set(entry) == {"class_name", "config"} and u.deserialize_keras_object(entry).name == "d"
