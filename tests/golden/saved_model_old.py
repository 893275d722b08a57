"""Makes tests/golden/saved_model_old/: SavedModels as older TensorFlows wrote them, with the slots of optimizers, and what they hold.

models.zip has, for each of Keras's former optimizers, a model that was compiled and trained (`slots_NAME`), one with a class that nobody knows (`custom`),
one whose metadata stand in the object graph (`inside`), and one without any (`bare`). checkpoints.zip has checkpoints with slots. values.json says what
is in them.

Run it with TensorFlow's Python: python tests/golden/saved_model_old.py"""
import json
import os
import shutil
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from keras.protobuf import saved_metadata_pb2

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved_model_old")
k, legacy, values = tf.keras, tf.keras.optimizers.legacy, {}
X = np.arange(12, dtype="float32").reshape(4, 3) / 10
OPTIMIZERS = {"SGD": legacy.SGD(0.01, momentum=0.9), "Adam": legacy.Adam(0.01, amsgrad=True), "RMSprop": legacy.RMSprop(0.01, momentum=0.5, centered=True),
              "Adagrad": legacy.Adagrad(0.01), "Adadelta": legacy.Adadelta(0.01), "Adamax": legacy.Adamax(0.01), "Nadam": legacy.Nadam(0.01),
              "Ftrl": legacy.Ftrl(0.01)}


def trained(optimizer):
    k.utils.set_random_seed(3)
    model = k.Sequential([k.layers.Dense(2, input_shape=(3,))])
    model.compile(optimizer, "mse")
    model.fit(X, X[:, :2], epochs=2, verbose=0, shuffle=False)
    return model


@k.utils.register_keras_serializable("golden")
class Twice(k.layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight("scale", (shape[-1],), initializer="ones")

    def call(self, x):
        return 2 * x * self.scale


def contents(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {key: reader.get_tensor(key).tolist() for key in sorted(reader.get_variable_to_shape_map()) if not key.startswith("_CHECKPOINTABLE")}


def specs(folder):
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {name: [spec.shape.as_list(), spec.dtype.name, spec.name] for name, spec in signature.structured_outputs.items()}


def metadata_inside(folder):
    """As TensorFlow before 2.5 wrote it."""
    model, metadata = saved_model_pb2.SavedModel(), saved_metadata_pb2.SavedMetadata()
    path, extra = os.path.join(folder, "saved_model.pb"), os.path.join(folder, "keras_metadata.pb")
    with open(path, "rb") as file:
        model.ParseFromString(file.read())
    with open(extra, "rb") as file:
        metadata.ParseFromString(file.read())
    for node in metadata.nodes:
        model.meta_graphs[0].object_graph_def.nodes[node.node_id].user_object.metadata = node.metadata
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    os.remove(extra)


def pack(scratch, name):
    with zipfile.ZipFile(os.path.join(HERE, name), "w", zipfile.ZIP_LZMA) as archive:
        for folder, _, files in sorted(os.walk(scratch)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                archive.write(path, os.path.relpath(path, scratch))


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as points:
        for name, optimizer in OPTIMIZERS.items():
            model = trained(optimizer)
            folder = os.path.join(scratch, "slots_" + name)
            model.save(folder, save_format="tf")
            tf.train.Checkpoint(model=model, opt=optimizer).write(os.path.join(points, name))
            values["slots_" + name] = {"y": model(X).numpy().tolist(), "variables": contents(folder + "/variables/variables"), "specs": specs(folder)}
            model.fit(X, X[:, :2], epochs=2, verbose=0, shuffle=False)
            values["slots_" + name]["later"] = model(X).numpy().tolist()
            model = k.models.load_model(folder)  # the optimizer begins anew
            model.fit(X, X[:, :2], epochs=3, verbose=0, shuffle=False)
            values["slots_" + name]["loaded"] = model(X).numpy().tolist()
        for name in ("custom", "inside", "bare"):
            k.utils.set_random_seed(5)
            model = k.Sequential([k.layers.Dense(2, input_shape=(3,), name="first"), *([Twice(name="twice")] if name == "custom" else [])])
            folder = os.path.join(scratch, name)
            model.save(folder, save_format="tf")
            values[name] = {"y": model(X).numpy().tolist(), "specs": specs(folder), "layers": [layer.name for layer in model.layers]}
        metadata_inside(os.path.join(scratch, "inside"))
        os.remove(os.path.join(scratch, "bare", "keras_metadata.pb"))
        pack(scratch, "models.zip")
        pack(points, "checkpoints.zip")
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump(values, file)


main()
