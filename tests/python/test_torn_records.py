"""Damage in TFRecord files is told, a header that was torn off too, and reading goes on behind it, as ignore_errors and those who ask again see."""
import gzip
import os
import zlib

import pytest
import thalweg as tf

RECORDS = [b"record %d " % i * (i + 1) for i in range(6)]
PACK = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a file, and where its records begin."""
    path = str(tmp_path_factory.mktemp("whole") / "r")
    with tf.io.TFRecordWriter(path) as writer:
        for record in RECORDS:
            writer.write(record)
    with open(path, "rb") as file:
        begins = [0]
        for record in RECORDS:
            begins.append(begins[-1] + len(record) + 16)
        return file.read(), begins


def read(records):
    """(what was read, the errors that were met between)"""
    found, errors, iterator = [], 0, iter(records)
    while True:
        try:
            found.append(next(iterator).numpy())
        except StopIteration:
            return found, errors
        except tf.errors.DataLossError:
            errors += 1
            assert errors < 20


def write(path, kind, data):
    path.write_bytes(PACK[kind](data))
    return str(path)


@pytest.mark.parametrize("kind", PACK)
def test_torn_ends(whole, kind, tmp_path, monkeypatch):
    data, begins = whole
    for last in (0, 3):
        for size in range(begins[last], begins[last + 1]):
            path = write(tmp_path / "r", kind, data[:size])
            torn = size > begins[last]
            assert read(tf.data.TFRecordDataset(path, kind)) == (RECORDS[:last], int(torn)), size
            assert read(tf.data.TFRecordDataset([path, path], kind)) == (RECORDS[:last] * 2, 2 * torn), size
            assert [x.numpy() for x in tf.data.TFRecordDataset([path, path], kind).ignore_errors()] == RECORDS[:last] * 2
            if not torn:
                continue
            with pytest.raises(tf.errors.DataLossError, match="truncated record at %d" % begins[last]):
                list(tf.compat.v1.io.tf_record_iterator(path, tf.io.TFRecordOptions(kind)))
            if size < begins[last] + 12:
                monkeypatch.setenv("THALWEG_TORN_RECORDS", "ignore")
                assert read(tf.data.TFRecordDataset(path, kind)) == (RECORDS[:last], 0)
                assert list(tf.compat.v1.io.tf_record_iterator(path, tf.io.TFRecordOptions(kind))) == RECORDS[:last]
                monkeypatch.delenv("THALWEG_TORN_RECORDS")


@pytest.mark.parametrize("kind", PACK)
def test_behind_damage(whole, kind, tmp_path):
    """Any byte of the file: all records but that one are read."""
    data, begins = whole
    for at in range(len(data)):
        path = write(tmp_path / "r", kind, data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:])
        hurt = max(i for i in range(6) if begins[i] <= at)
        wanted = RECORDS[:hurt] + RECORDS[hurt + 1:]
        assert read(tf.data.TFRecordDataset(path, kind)) == (wanted, 1), at
        assert [x.numpy() for x in tf.data.TFRecordDataset(path, kind).ignore_errors()] == wanted
        assert [x.numpy() for x in tf.data.TFRecordDataset(path, kind).map(tf.strings.length).ignore_errors()] == [len(r) for r in wanted]


def test_damaged_streams_end(whole, tmp_path):
    """Compressed bytes that can't be read any more: an error, then the next file."""
    data, _ = whole
    good = write(tmp_path / "good", "ZLIB", data)
    packed = zlib.compress(data)
    for at in range(len(packed)):
        (tmp_path / "bad").write_bytes(packed[:at] + bytes([packed[at] ^ 0x10]) + packed[at + 1:])
        found, errors = read(tf.data.TFRecordDataset([str(tmp_path / "bad"), good], "ZLIB"))
        assert found[-6:] == RECORDS and (errors > 0 or len(found) == 12) and all(record in RECORDS for record in found), at


def test_an_iterator_that_stands_behind_damage(whole, tmp_path):
    data, begins = whole
    path = write(tmp_path / "r", "", data[:begins[2]] + b"?" + data[begins[2] + 1:])
    iterator = iter(tf.data.TFRecordDataset(path).ignore_errors())
    assert [next(iterator).numpy() for _ in range(3)] == [RECORDS[0], RECORDS[1], RECORDS[3]]
    saved = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    other = iter(tf.data.TFRecordDataset(path).ignore_errors())
    tf.train.Checkpoint(iterator=other).read(saved)
    assert [x.numpy() for x in other] == RECORDS[4:]


def test_saved_datasets(tmp_path):
    tf.data.Dataset.range(5).save(str(tmp_path / "d"))
    file, = [os.path.join(where, name) for where, _, names in os.walk(tmp_path) for name in names if name.endswith(".snapshot")]
    with open(file, "ab") as target:
        target.write(b"torn")
    with pytest.raises(tf.errors.DataLossError):
        list(tf.data.Dataset.load(str(tmp_path / "d")))
