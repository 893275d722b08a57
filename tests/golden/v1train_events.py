"""Makes tests/golden/v1train_events/events.tfevents: an event file as TensorFlow 1's FileWriter writes it (a graph, two scalars, a session log).

Run under TensorFlow 2.15.1."""
import glob
import shutil
import tempfile

import tensorflow as tf

import golden

v1 = tf.compat.v1
v1.disable_eager_execution()

graph = v1.Graph()
with graph.as_default():
    x = v1.placeholder(tf.float32, [None], name="x")
    tf.add(x, 1.0, name="y")
with tempfile.TemporaryDirectory() as folder:
    writer = v1.summary.FileWriter(folder, graph)
    for step, value in ((3, 0.5), (4, -2.0)):
        writer.add_summary(v1.Summary(value=[v1.Summary.Value(tag="loss", simple_value=value)]), step)
    writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 5)
    writer.close()
    shutil.copy(glob.glob(folder + "/events*")[0], golden.path(__file__, "events.tfevents"))
