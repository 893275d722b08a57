#!/usr/bin/env python3
"""Makes tests/golden/config_values/config_values.json.gz: for every row of tests/python/config_cases.py the config that TensorFlow gives, of layers also the
JSON text of a model of it, and its output for a given input. Run under TensorFlow 2.15."""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import config_cases as cases  # noqa: E402
import golden  # noqa: E402


def plain(value):
    """As JSON text has it."""
    return json.loads(json.dumps(value, default=lambda x: x.tolist() if hasattr(x, "tolist") else repr(x)))


out = {"layers": {}, "objects": {}}
for key, name, keywords, shapes in cases.layer_cases(tf):
    tf.keras.backend.clear_session()
    row = out["layers"][key] = {}
    if shapes is None:
        row["config"] = plain(getattr(tf.keras.layers, name)(**keywords).get_config())
        continue
    model = cases.model_of(tf, name, keywords, shapes)
    row["json"] = json.loads(model.to_json())
    row["shapes"] = [list(w.shape) for w in model.get_weights()]
    row["names"] = [w.name for w in model.weights]
    y = np.asarray(model(cases.inputs_of(name, shapes)))
    row["output"] = [float("%.6g" % v) for v in y.ravel()[:24]]
    row["output_shape"] = list(y.shape)
for key, kind, name, keywords in cases.object_cases(tf):
    tf.keras.backend.clear_session()
    made = getattr(cases.module_of(tf, kind), name)(**keywords)
    out["objects"][key] = {"config": plain(made.get_config()), "serialized": plain(tf.keras.saving.serialize_keras_object(made))}
with gzip.GzipFile(golden.path(__file__, "config_values.json.gz"), "wb", mtime=0) as file:
    file.write(json.dumps(out, sort_keys=True).encode())
print(len(out["layers"]), len(out["objects"]))
