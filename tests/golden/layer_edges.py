#!/usr/bin/env python3
"""Makes tests/golden/layer_edges/layer_edges.json: what TensorFlow gives for the cases of tests/python/layer_edge_cases.py. Run under TensorFlow 2.15."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import tensorflow as tf  # noqa: E402
import golden  # noqa: E402
import layer_edge_cases as cases  # noqa: E402

out = {}
for name, body in cases.cases(tf).items():
    tf.keras.backend.clear_session()
    try:
        out[name] = cases.told(body())
    except Exception as error:  # noqa: BLE001 - it is the result
        out[name] = {"error": type(error).__name__, "text": str(error).split("\n")[0]}
        print(name, out[name], file=sys.stderr)
with open(golden.path(__file__, "layer_edges.json"), "w") as file:
    file.write(json.dumps(out, indent=0, sort_keys=True) + "\n")
print(len(out))
