"""Make tests/golden/estimators/estimators.json: what the cases of tests/python/estimator_cases.py give under TensorFlow 2.15.1.

    python tests/golden/estimators.py
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import estimator_cases
import golden

tf.get_logger().setLevel("ERROR")
with open(golden.path(__file__, "estimators.json"), "w") as file:
    json.dump({name: case(tf) for name, case in estimator_cases.CASES.items()}, file, indent=1)
    file.write("\n")
