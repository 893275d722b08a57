"""Every format that is read: checkpoints, Keras models of three kinds, SavedModels, records, events, arrays of NumPy, pictures.

    python3 -m thalweg read_formats.py DIRECTORY"""
import glob
import os
import sys

import numpy as np
import tensorflow as tf


def inside(name):
    return os.path.join(sys.argv[1], name)


def write_all():
    tf.train.Checkpoint(step=tf.Variable(7), weights=tf.Variable([1.0, 2.0])).write(inside("checkpoint"))
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(3,), name="dense")])
    for name in ("model.h5", "model.keras", "saved"):
        model.save(inside(name))
    with tf.io.TFRecordWriter(inside("lines.tfrecord")) as writer:
        for line in (b"one", b"two"):
            writer.write(line)
    writer = tf.summary.create_file_writer(inside("logs"))
    with writer.as_default():
        tf.summary.scalar("loss", 0.25, step=5)
    writer.close()
    np.save(inside("array.npy"), np.arange(6, dtype=np.int32).reshape(2, 3))
    picture = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.uint8)
    tf.io.write_file(inside("picture.png"), tf.io.encode_png(picture))
    tf.io.write_file(inside("picture.jpg"), tf.io.encode_jpeg(picture))


write_all()
for name, shape in tf.train.list_variables(inside("checkpoint")):
    if name.startswith(("step", "weights")):
        print("checkpoint: %s %s %s" % (name, shape, tf.train.load_variable(inside("checkpoint"), name)))
x = tf.constant([[1.0, 2.0, 3.0]])
for name in ("model.h5", "model.keras", "saved"):
    model = tf.keras.models.load_model(inside(name))
    print("%s: %s of %d layers gives %s" % (name, model.name, len(model.layers), model(x).numpy()))
serve = tf.saved_model.load(inside("saved")).signatures["serving_default"]
print("signature: %s" % serve(x)["dense"].numpy())
for record in tf.data.TFRecordDataset(inside("lines.tfrecord")):
    print("record:", record.numpy().decode())
for path in glob.glob(inside("logs/events.*")):
    for event in tf.compat.v1.train.summary_iterator(path):
        for value in event.summary.value:
            print("event: step %d, %s is %.2f" % (event.step, value.tag, tf.make_ndarray(value.tensor)))
array = np.load(inside("array.npy"))
print("array: %s %s, sum %d" % (array.dtype, array.shape, array.sum()))
for name in ("picture.png", "picture.jpg"):
    picture = tf.io.decode_image(tf.io.read_file(inside(name)))
    print("%s: %s, first %s" % (name, picture.shape, picture[0, 0].numpy() // 16))
