"""Make tests/golden/inner_values/values.json: what the cases of tests/python/inner_value_cases.py give under TensorFlow 2.15.1.

    python tests/golden/inner_values.py
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import inner_value_cases

found = {name: inner_value_cases.answer(function) for name, function in inner_value_cases.cases(tf, "tensorflow").items()}
with open(golden.path(__file__, "values.json"), "w") as file:
    file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(value)) for name, value in found.items()) + "\n}\n")
