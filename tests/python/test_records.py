"""tf.io.TFRecordWriter and the iterator of records: TensorFlow's bytes (tests/golden/records.py), options, errors."""
import os

import pytest
import thalweg as tf

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "records")
KINDS = {"plain": None, "zlib": "ZLIB", "gzip": "GZIP", "gzip9": tf.io.TFRecordOptions("GZIP", compression_level=9)}


@pytest.mark.parametrize("name", KINDS)
def test_bytes(tmp_path, name):
    path = tmp_path / name
    records = [b"abc%d" % i * i for i in range(50)]
    with tf.io.TFRecordWriter(path, KINDS[name]) as writer:
        for record in records:
            writer.write(record)
    with open(os.path.join(GOLDEN, name + ".tfrecord"), "rb") as file:
        assert path.read_bytes() == file.read()
    assert list(tf.compat.v1.io.tf_record_iterator(path, KINDS[name])) == records
    assert list(tf.compat.v1.python_io.tf_record_iterator(str(path), options=KINDS[name])) == records


def test_writer(tmp_path):
    path = str(tmp_path / "x.tfrecords/")
    writer = tf.io.TFRecordWriter(path)
    writer.write("text")
    writer.write(bytearray(b"qq"))
    writer.flush()
    assert os.path.getsize(path.rstrip("/")) == 38
    with pytest.raises(TypeError):
        writer.write(3)
    writer.close()
    writer.close()
    for use in (writer.flush, lambda: writer.write(b"x")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed."):
            use()
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        tf.io.TFRecordWriter(str(tmp_path / "none" / "x"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.io.TFRecordWriter(str(tmp_path))
    for bad in ("FOO", 3, tf.compat.v1.io):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            tf.io.TFRecordWriter(str(tmp_path / "x"), bad)
    assert tf.io.TFRecordOptions.get_compression_type_string(tf.compat.v1.io.TFRecordCompressionType.GZIP) == "GZIP"


def test_large(tmp_path):
    path = str(tmp_path / "large")
    with tf.io.TFRecordWriter(path, "ZLIB") as writer:
        for i in range(40):
            writer.write(os.urandom(30000))
    sizes = [len(r) for r in tf.compat.v1.io.tf_record_iterator(path, "ZLIB")]
    assert sizes == [30000] * 40
    os.truncate(path, 500000)
    with pytest.raises(tf.errors.DataLossError, match="truncated record at"):
        list(tf.compat.v1.io.tf_record_iterator(path, "ZLIB"))
