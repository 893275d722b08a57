"""All kinds of summaries, with a trace of a function; then the event file is read back.

    python3 -m thalweg summaries.py DIRECTORY"""
import glob
import os
import sys

import tensorflow as tf

directory = sys.argv[1]


@tf.function
def doubled(x):
    return x * 2.0


writer = tf.summary.create_file_writer(directory)
with writer.as_default():
    for step in range(3):
        tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
    values = tf.constant([1.0, 2.0, 2.5, 3.0])
    tf.summary.histogram("weights", values, step=3, buckets=4)
    tf.summary.image("square", tf.ones([1, 8, 8, 1]), step=3)
    tf.summary.audio("tone", tf.sin(tf.range(100, dtype=tf.float32))[tf.newaxis, :, tf.newaxis], 1000, step=3)
    tf.summary.text("note", "all is *well*", step=3)
    tf.summary.write("raw", values, step=3)
    tf.summary.trace_on(graph=True)
    doubled(values)
    tf.summary.trace_export("doubled", step=4)
writer.close()

for path in sorted(glob.glob(os.path.join(directory, "events.*"))):
    for event in tf.compat.v1.train.summary_iterator(path):
        for value in event.summary.value:
            tensor = tf.make_ndarray(value.tensor)
            print("step %d, %s: plugin '%s', shape %s" % (event.step, value.tag, value.metadata.plugin_data.plugin_name, list(tensor.shape)))
            if value.tag == "loss":
                print("  %.3f" % tensor)
