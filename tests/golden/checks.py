"""Write tests/golden/checks/checks.json: what the programs of tests/python/checks_cases.py give in TensorFlow 2.15.1. Run by hand under TensorFlow."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, PYTHON)
import checks_cases  # noqa: E402
from checks_values import outcome  # noqa: E402
import golden  # noqa: E402

tf.get_logger().setLevel("ERROR")
with open(golden.path(__file__, "checks.json"), "w") as out:
    json.dump({name: outcome(tf, case) for name, case in checks_cases.CASES.items()}, out, indent=0, sort_keys=True)
    out.write("\n")
