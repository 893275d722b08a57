"""Makes tests/golden/keras_configs/keras_configs.json: the JSON text of models, written by TensorFlow. Run under TensorFlow 2.15."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
import tensorflow as tf  # noqa: E402
import keras_models  # noqa: E402
import golden  # noqa: E402

out = {}
for name, make in keras_models.SEQUENTIAL.items():
    tf.keras.backend.clear_session()
    out[name] = make(tf).to_json()
with open(golden.path(__file__, "keras_configs.json"), "w") as file:
    json.dump(out, file, indent=0)
