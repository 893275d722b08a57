"""Make tests/golden/packages/values.json: what the cases of tests/python/package_cases.py give under TensorFlow 2.15.1.

    python tests/golden/packages.py
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import package_cases

with open(golden.path(__file__, "values.json"), "w") as file:
    file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(case(tf))) for name, case in package_cases.CASES.items()) + "\n}\n")
