"""Write tests/golden/v1_values/values.json: what the cases of tests/python/v1_values.py show under TensorFlow 2.15.1."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import v1_values
import golden

tf.get_logger().setLevel("ERROR")
with open(golden.path(__file__, "values.json"), "w") as f:
    rows = ["%s: %s" % (json.dumps(family + ": " + name), json.dumps(v1_values.shown(tf, family, name), separators=(",", ":")))
            for family, cases in v1_values.FAMILIES.items() for name in cases(tf, None)]
    f.write("{\n" + ",\n".join(rows) + "\n}\n")
