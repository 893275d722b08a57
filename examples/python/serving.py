"""Serving: a module with signatures and further functions is saved as a SavedModel, loaded, and called.

    python3 -m thalweg serving.py DIRECTORY"""
import os
import sys

import tensorflow as tf

path = os.path.join(sys.argv[1], "scaler")


class Scaler(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0, name="factor")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def scale(self, x):
        return {"scaled": x * self.factor}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def statistics(self, x):
        return {"mean": tf.reduce_mean(x), "largest": tf.reduce_max(x)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="factor")])
    def set_factor(self, factor):
        return self.factor.assign(factor)


module = Scaler()
tf.saved_model.save(module, path, signatures={"serving_default": module.scale, "statistics": module.statistics})

loaded = tf.saved_model.load(path)
print("signatures:", ", ".join(sorted(loaded.signatures)))
x = tf.constant([1.0, 2.0, 6.0])
serve = loaded.signatures["serving_default"]
print("scaled:", serve(x=x)["scaled"].numpy())
found = loaded.signatures["statistics"](x=x)
print("mean %.1f, largest %.1f" % (found["mean"], found["largest"]))
loaded.set_factor(tf.constant(0.5))
print("factor %.1f" % loaded.factor.numpy())
print("scaled:", serve(x=x)["scaled"].numpy())
print("called by name:", loaded.scale(x)["scaled"].numpy())
