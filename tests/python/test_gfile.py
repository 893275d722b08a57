"""tf.io.gfile on real files: what is written is read back, in text and in bytes; trees are copied, walked and deleted."""
import os
import pathlib

import pytest
import thalweg as tf

gfile = tf.io.gfile


def test_text_and_bytes(tmp_path):
    path = tmp_path / "a.txt"
    with gfile.GFile(path, "w") as file:
        file.write("één\n")
        file.write(b"two\n")
        assert file.tell() == 10 and file.size() == 10
    with gfile.GFile(str(path)) as file:
        assert file.name == str(path) and file.mode == "r" and file.seekable()
        assert file.readline() == "één\n"
        assert list(file) == ["two\n"] and file.read() == ""
        file.seek(6)
        assert file.read(2) == "tw"
        file.seek(-2, 2)
        assert file.read() == "o\n"
        with pytest.raises(tf.errors.OutOfRangeError):
            file.seek(11)
        with pytest.raises(tf.errors.InvalidArgumentError):
            file.seek(-1)
        with pytest.raises(tf.errors.InvalidArgumentError):
            file.seek(0, 3)
    with gfile.GFile(path, "rb") as file:
        assert file.readlines() == ["één\n".encode(), b"two\n"]
    with gfile.GFile(path, "a") as file:
        file.write("three")
    assert gfile.GFile(path).read().endswith("two\nthree")


def test_update_mode_switches_between_reading_and_writing(tmp_path):
    path = str(tmp_path / "a")
    with gfile.GFile(path, "w+") as file:
        file.write("abcdef")
        file.seek(0)
        assert file.read(2) == "ab"
        file.write("XY")
        assert file.read() == "ef"
    assert gfile.GFile(path).read() == "abXYef"


def test_never_used_is_never_made(tmp_path):
    with gfile.GFile(tmp_path / "a", "w") as file:
        file.flush()
    assert not gfile.exists(tmp_path / "a")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile(tmp_path / "a").size()
    with pytest.raises(tf.errors.FailedPreconditionError):
        gfile.GFile(tmp_path).read()
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        gfile.GFile(tmp_path / "a", "w").write(3)


def test_trees(tmp_path):
    top = str(tmp_path / "x")
    gfile.makedirs(top + "/y/z/")
    gfile.mkdir(top + "/y")
    for name in ("b.txt", "a.txt", "y/c.txt"):
        with gfile.GFile(os.path.join(top, name), "w") as file:
            file.write(name)
    assert gfile.glob(top + "/*.txt") == [top + "/a.txt", top + "/b.txt"]
    assert gfile.glob([top + "/b*", top + "/y/*"]) == [top + "/b.txt", top + "/y/c.txt", top + "/y/z"]
    assert sorted(gfile.listdir(top)) == ["a.txt", "b.txt", "y"]
    assert [(one, sorted(two), sorted(three)) for one, two, three in gfile.walk(top)] == [
        (top, ["y"], ["a.txt", "b.txt"]), (top + "/y", ["z"], ["c.txt"]), (top + "/y/z", [], [])]
    assert [one for one, _, _ in gfile.walk(top, topdown=False)] == [top + "/y/z", top + "/y", top]
    status = gfile.stat(pathlib.Path(top + "/a.txt"))
    assert status.length == 5 and not status.is_directory and abs(status.mtime_nsec - os.stat(top + "/a.txt").st_mtime_ns) < 2
    assert gfile.stat(top).is_directory
    gfile.copy(top + "/a.txt", top + "/d.txt")
    assert gfile.GFile(top + "/d.txt").read() == "a.txt"
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(top + "/b.txt", top + "/d.txt")
    gfile.copy(top + "/b.txt", top + "/d.txt", overwrite=True)
    gfile.copy(top + "/d.txt", top + "/d.txt", overwrite=True)
    with pytest.raises(tf.errors.FailedPreconditionError):
        gfile.remove(top)
    assert gfile.GFile(top + "/d.txt").read() == "b.txt"
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename(top + "/a.txt", top + "/b.txt")
    gfile.rename(top + "/a.txt", top + "/e.txt")
    assert not gfile.exists(top + "/a.txt")
    os.symlink(str(tmp_path), top + "/link")
    gfile.remove(top + "/e.txt")
    gfile.rmtree(top)
    assert not gfile.exists(top) and tmp_path.exists()
    seen = []
    assert list(gfile.walk(top, onerror=seen.append)) == [] and isinstance(seen[0], tf.errors.NotFoundError)
