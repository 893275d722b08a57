"""Make tests/golden/features/features.json: what the cases of tests/python/feature_cases.py give under TensorFlow 2.15.1, and a SavedModel of a model
with columns.

    python tests/golden/features.py
"""
import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import feature_cases
import golden

tf.get_logger().setLevel("ERROR")
values, given = {}, feature_cases.features(tf)
for name, column in feature_cases.columns(tf).items():
    layer = tf.keras.layers.DenseFeatures(column)
    made = layer(given)
    values[name] = {"about": feature_cases.described(column), "value": made.numpy().tolist(), "weights": [[w.name, w.trainable] for w in layer.weights],
                    "config": None if "normalized" in name or "file" in name else layer.get_config()["feature_columns"],
                    "shape": list(layer.compute_output_shape((3, 1)))}
every = feature_cases.columns(tf)
picked = ["numeric pair", "bucketized", "embedding", "hash", "weighted"]
layer = tf.keras.layers.DenseFeatures([every[name] for name in picked])
values["several"] = {"names": picked, "value": layer(given).numpy().tolist()}
tf.random.set_seed(1)
drawn = tf.keras.layers.DenseFeatures(tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_hash_bucket("word", 10), 3))
values["drawn"] = {"value": drawn(given).numpy().tolist()}
model = tf.keras.Sequential([tf.keras.layers.DenseFeatures([every["embedding"], every["list"], every["numeric"]]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse")
few = {key: given[key] for key in ("words", "word", "age")}
dataset = tf.data.Dataset.from_tensors((few, tf.constant([[1.], [2.], [3.]])))
history = model.fit(dataset, epochs=2, verbose=0)
values["model"] = {"loss": history.history["loss"], "predicted": model(few).numpy().tolist(), "names": [w.name.split("/", 1)[-1] for w in model.weights]}
shutil.rmtree(golden.path(__file__, "model"), ignore_errors=True)
model.save(golden.path(__file__, "model"))
values = {"cases": values, "errors": {name: feature_cases.failure(call) for name, call in feature_cases.errors(tf).items()}}
with open(golden.path(__file__, "features.json"), "w") as file:
    json.dump(values, file, indent=1)
    file.write("\n")
