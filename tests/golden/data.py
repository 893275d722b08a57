"""Write tests/golden/data/data.json: what the programs of tests/python/data_cases.py give in TensorFlow 2.15.1. Run by hand under TensorFlow."""
import json
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, PYTHON)
from data_cases import outcome, programs  # noqa: E402
import golden  # noqa: E402

tf.get_logger().setLevel("ERROR")
with tempfile.TemporaryDirectory() as folder:
    results = {name: outcome(tf, program, folder) for name, program in programs(tf, folder).items()}
with open(golden.path(__file__, "data.json"), "w") as out:
    json.dump(results, out, indent=0, sort_keys=True)
    out.write("\n")
