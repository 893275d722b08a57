"""Write a SavedModel whose saved_model.pb stands there as text, saved_model.pbtxt, with TensorFlow 2.15.1: tests/golden/saved_model_text/saved_model_text.zip, which
tests/python/test_saved_model_text.py loads. Texts with all bytes, infinities, loops and branches are in it."""
import os
import shutil
import tempfile
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

import golden



class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def f(self, x):
        total = tf.zeros([2])
        for row in x:
            total += tf.linalg.matvec(self.w, row) if tf.reduce_sum(row) > 0 else tf.constant([-1.0, float("inf")])
        return {"total": total, "bytes": tf.constant(bytes(range(256))), "odd": tf.constant([float("nan"), 1e-30, -2.5])}


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Model(), folder)
    model = saved_model_pb2.SavedModel()
    with open(folder + "/saved_model.pb", "rb") as f:
        model.ParseFromString(f.read())
    os.remove(folder + "/saved_model.pb")
    shutil.rmtree(folder + "/assets", ignore_errors=True)
    for meta in model.meta_graphs:
        meta.meta_info_def.ClearField("stripped_op_list")
    with open(folder + "/saved_model.pbtxt", "w") as f:
        f.write(text_format.MessageToString(model))
    with zipfile.ZipFile(golden.path(__file__, "saved_model_text.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for root, _, files in os.walk(folder):
            for name in files:
                if name != "fingerprint.pb":
                    archive.write(os.path.join(root, name), os.path.relpath(os.path.join(root, name), folder))
