"""Small files of every format, and what is read of them. With checksums: a changed byte is an error, or the values are the same. Without: an error,
or some values, and the program goes on."""
import glob
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


def _events(path):
    writer = tf.summary.create_file_writer(path)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.5 + step, step=step)
    writer.close()


def _events_read(path):
    return [(event.step, value.tag, tf.make_ndarray(value.tensor).tolist()) for event in tf.compat.v1.train.summary_iterator(path)
            for value in event.summary.value]


def _numbers():
    return tf.data.Dataset.range(5).map(lambda x: (x, tf.strings.as_string(x * 1111)))


def _values(dataset):
    return [[np.asarray(part).tolist() for part in element] for element in dataset.as_numpy_iterator()]


def _saved(path):
    class Two(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([2.0, 3.0])

        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def f(self, x):
            return tf.nn.relu(x * self.w) if tf.reduce_sum(x) > 0 else x
    tf.saved_model.save(Two(), path)


def _saved_read(path):
    return tf.saved_model.load(os.path.dirname(path)).f(tf.constant([1.0, 2.0])).numpy().tolist()


def _graph(path):
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        tf.reduce_sum(tf.concat([x, x], 0), name="y")
    with open(path, "wb") as file:
        file.write(graph.as_graph_def().SerializeToString())


def _graph_read(path):
    with open(path, "rb") as file:
        definition = tf.compat.v1.GraphDef.FromString(file.read())
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        tf.import_graph_def(definition, name="")
        return float(session.run("y:0", {"x:0": [1.0, 2.0]}))


def _picture(encode):
    pixels = tf.reshape(tf.cast(tf.range(192), tf.uint8), [8, 8, 3])
    return lambda folder: tf.io.write_file(folder + "/p", encode(pixels))


def _sound(folder):
    tf.io.write_file(folder + "/s", tf.audio.encode_wav(tf.reshape(tf.linspace(-1.0, 1.0, 20), [10, 2]), 8000))


# name -> (writes, the file that is damaged, reads, bytes that nothing covers and nothing is read of are the same)
CASES = {
    "keras": (lambda folder: _model().save(folder + "/m.keras"), "m.keras", _keras_read),
    "records": (lambda folder: _records("")(folder + "/r"), "r", _records_read("")),
    "records_gzip": (lambda folder: _records("GZIP")(folder + "/r"), "r", _records_read("GZIP")),
    "records_zlib": (lambda folder: _records("ZLIB")(folder + "/r"), "r", _records_read("ZLIB")),
    "bundle_data": (lambda folder: _checkpoint(folder + "/c"), "c.data-00000-of-00001", _checkpoint_read),
    "bundle_index": (lambda folder: _checkpoint(folder + "/c"), "c.index", _checkpoint_read),
    "events": (lambda folder: _events(folder + "/logs"), "logs/events*", _events_read),
    "saved_dataset": (lambda folder: _numbers().save(folder + "/d"), "d/*/*/*.snapshot", lambda path: _values(tf.data.Dataset.load(path.split("/d/")[0] + "/d"))),
    "cache_data": (lambda folder: list(_numbers().cache(folder + "/c")), "c*.data*", lambda path: _values(_numbers().cache(path[:path.rindex("/")] + "/c"))),
    "png": (lambda folder: _png(folder + "/p.png"), "p.png", lambda path: tf.io.decode_png(tf.io.read_file(path)).numpy().tolist()),
}


# The same of formats without checksums.
UNCHECKED = {
    "h5": (lambda folder: _model().save(folder + "/m.h5"), "m.h5", _keras_read),
    "h5_weights": (lambda folder: _model().save_weights(folder + "/w.h5"), "w.h5", lambda path: _model().load_weights(path)),
    "saved_model": (lambda folder: _saved(folder), "saved_model.pb", _saved_read),
    "graph": (lambda folder: _graph(folder + "/g.pb"), "g.pb", _graph_read),
    "jpeg": (_picture(tf.io.encode_jpeg), "p", lambda path: tf.io.decode_jpeg(tf.io.read_file(path)).numpy().tolist()),
    "wav": (_sound, "s", lambda path: tf.audio.decode_wav(tf.io.read_file(path)).audio.numpy().tolist()),
    "dataset_spec": (lambda folder: _numbers().save(folder + "/d"), "d/dataset_spec.pb", lambda path: _values(tf.data.Dataset.load(os.path.dirname(path)))),
    "dataset_metadata": (lambda folder: _numbers().save(folder + "/d"), "d/snapshot.metadata", lambda path: _values(tf.data.Dataset.load(os.path.dirname(path)))),
}


def damage(name, folder, stride, offset=0):
    """Changes every stride-th byte in turn; gives (tried, list of (byte, what was read) that are wrong)."""
    write, file, read = CASES.get(name) or UNCHECKED[name]
    write(folder)
    path, = glob.glob(os.path.join(folder, file))
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
