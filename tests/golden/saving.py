#!/usr/bin/env python3
"""Makes tests/golden/saving/: checkpoints of objects as TensorFlow 2.15.1 writes them, for tests/saving.

  plain       variables, nested checkpoints, lists, dicts, shared objects, names that need escapes
  rooted      Checkpoint(root, **kwargs), saved twice
  model       a subclassed Keras model with Adam after one step
  sequential  a Sequential model with SGD after one step
  legacy      a variable with the old Adam: slot variables in the graph
  names       no object graph, as TensorFlow 1 wrote them

usage: saving.py (needs tensorflow; the tests need only what it makes)
"""
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import tensorflow as tf  # noqa: E402

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saving")
V = tf.Variable


def plain():
    shared = V([1.0, 2.0, 3.0], name="shared")
    inner = tf.train.Checkpoint(x=V([[1, 2], [3, 4]], name="matrix"), again=shared)
    dict_of = {"b": V(True, name="flag"), "a": V("text", name="words"), "a.b/c": V(0.5, name="odd")}
    tf.train.Checkpoint(shared=shared, inner=inner, items=[V(1, name="one"), [V(2.5, dtype=tf.float64, name="two")], []],
                        mapping=dict_of, empty=tf.train.Checkpoint(), step=V(7, dtype=tf.int64, name="step")).save(OUT + "/plain")
    os.rename(OUT + "/plain-1.index", OUT + "/plain.index")
    os.rename(OUT + "/plain-1.data-00000-of-00001", OUT + "/plain.data-00000-of-00001")


def rooted():
    module = tf.Module()
    module.weight = V([1.0, 2.0], name="weight")
    module.parts = [V(3.0, name="part")]
    checkpoint = tf.train.Checkpoint(module, extra=V(4.0, name="extra"), apart=V(5.0, name="apart"))
    checkpoint.save(OUT + "/rooted")
    checkpoint.save(OUT + "/rooted")
    for suffix in (".index", ".data-00000-of-00001"):
        os.remove(OUT + "/rooted-1" + suffix)
        os.rename(OUT + "/rooted-2" + suffix, OUT + "/rooted" + suffix)


class Mlp(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(3, activation="relu")
        self.dense2 = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.dense2(self.dense1(self.flatten(x)))


def step(model, optimizer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))


def model():
    tf.keras.utils.set_random_seed(1)
    mlp, optimizer = Mlp(), tf.keras.optimizers.Adam(0.1)
    step(mlp, optimizer, tf.reshape(tf.range(8.0), [2, 2, 2]))
    tf.train.Checkpoint(model=mlp, optimizer=optimizer).write(OUT + "/model")


def sequential():
    tf.keras.utils.set_random_seed(2)
    sequence = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(3), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    step(sequence, optimizer, tf.reshape(tf.range(8.0), [2, 2, 2]))
    tf.train.Checkpoint(model=sequence, optimizer=optimizer).write(OUT + "/sequential")


def legacy():
    weight, optimizer = V([1.0, 2.0], name="weight"), tf.keras.optimizers.legacy.Adam()
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), weight)])
    tf.train.Checkpoint(weight=weight, optimizer=optimizer).write(OUT + "/legacy")


def names():
    tf.raw_ops.SaveV2(prefix=OUT + "/names", tensor_names=["weight", "scope/bias"], shape_and_slices=["", ""],
                      tensors=[tf.constant([1.0, 2.0]), tf.constant(7)])


shutil.rmtree(OUT, ignore_errors=True)
os.makedirs(OUT)
for make in (plain, rooted, model, sequential, legacy, names):
    make()
os.remove(OUT + "/checkpoint")
