"""Files of every format that has checksums, made small, and what is read of them: a changed byte is an error, or the values are the same."""
import os

import numpy as np
import thalweg as tf


def _model():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,))])
    model.set_weights([np.arange(4, dtype=np.float32).reshape(2, 2) + 1, np.array([5, 6], np.float32)])
    return model


def _keras_read(path):
    return [w.tolist() for w in tf.keras.models.load_model(path, compile=False).get_weights()]


def _records(kind):
    def write(path):
        with tf.io.TFRecordWriter(path, kind) as writer:
            for i in range(4):
                writer.write(b"record %d " % i * 3)
    return write


def _records_read(kind):
    return lambda path: [x.numpy() for x in tf.data.TFRecordDataset(path, compression_type=kind)]


def _checkpoint(path):
    tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0]), s=tf.Variable(["one", "two"])).write(path)


def _checkpoint_read(path):
    reader = tf.train.load_checkpoint(path[:path.rindex(".data")] if ".data" in path else path[:-len(".index")])
    return [(name, np.asarray(reader.get_tensor(name)).tolist()) for name in sorted(reader.get_variable_to_shape_map())]


def _png(path):
    tf.io.write_file(path, tf.io.encode_png(tf.reshape(tf.cast(tf.range(48), tf.uint8), [4, 4, 3])))


# name -> (writes, the file that is damaged, reads, bytes that nothing covers and nothing is read of are the same)
CASES = {
    "keras": (lambda folder: _model().save(folder + "/m.keras"), "m.keras", _keras_read),
    "records": (lambda folder: _records("")(folder + "/r"), "r", _records_read("")),
    "records_gzip": (lambda folder: _records("GZIP")(folder + "/r"), "r", _records_read("GZIP")),
    "records_zlib": (lambda folder: _records("ZLIB")(folder + "/r"), "r", _records_read("ZLIB")),
    "bundle_data": (lambda folder: _checkpoint(folder + "/c"), "c.data-00000-of-00001", _checkpoint_read),
    "bundle_index": (lambda folder: _checkpoint(folder + "/c"), "c.index", _checkpoint_read),
    "png": (lambda folder: _png(folder + "/p.png"), "p.png", lambda path: tf.io.decode_png(tf.io.read_file(path)).numpy().tolist()),
}


def damage(name, folder, stride, offset=0):
    """Changes every stride-th byte in turn; gives (tried, list of (byte, what was read) that are wrong)."""
    write, file, read = CASES[name]
    write(folder)
    path = os.path.join(folder, file)
    with open(path, "rb") as source:
        whole = source.read()
    expected, wrong, tried = read(path), [], 0
    for at in range(offset, len(whole), stride):
        for bit in (1 << at % 8,):
            with open(path, "wb") as target:
                target.write(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
            tried += 1
            try:
                got = read(path)
            except Exception:
                continue
            if got != expected:
                wrong.append((at, got))
    return tried, wrong
