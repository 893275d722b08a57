"""Makes tests/golden/saved_model_v1/: a SavedModel that TensorFlow 1's builder wrote (variables that are references, a Switch, a batch normalization of
the first form), and what it computes.

Run it with TensorFlow's Python: python tests/golden/saved_model_v1.py"""
import json
import os
import shutil
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()
v1.disable_control_flow_v2()
v1.disable_resource_variables()
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved_model_v1")
X = (np.arange(16, dtype="float32").reshape(1, 2, 2, 4) / 10).tolist()


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as scratch:
        x, training = v1.placeholder(tf.float32, [None, 2, 2, 4], name="x"), v1.placeholder_with_default(False, [], name="training")
        w = v1.get_variable("w", initializer=np.arange(8, dtype="float32").reshape(1, 1, 4, 2) / 10)
        scale = v1.get_variable("scale", initializer=2.0, trainable=False)
        y = tf.nn.conv2d(x, w, 1, "SAME") * scale
        normal = tf.raw_ops.FusedBatchNorm(x=y, scale=[1.0, 2.0], offset=[0.5, 0.25], mean=[0.1, 0.2], variance=[1.0, 4.0], is_training=False)[0]
        z = v1.cond(training, lambda: y * 2, lambda: normal)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(v1.assign(scale, 3.0))
            path = os.path.join(scratch, "model")
            v1.saved_model.simple_save(session, path, {"x": x}, {"y": y, "z": z})
            values = dict(zip("yz", (v.tolist() for v in session.run([y, z], {x: X}))))
            values["gradient"] = session.run(tf.gradients(tf.reduce_sum(z), w)[0], {x: X}).tolist()
        with zipfile.ZipFile(os.path.join(HERE, "model.zip"), "w", zipfile.ZIP_LZMA) as archive:
            for folder, _, files in sorted(os.walk(path)):
                for file in sorted(files):
                    archive.write(os.path.join(folder, file), os.path.relpath(os.path.join(folder, file), path))
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump({"x": X, **values}, file)


main()
