"""Write tests/golden/shape_errors/shape_errors.json: what TensorFlow 2.15.1 says of the calls of tests/python/shape_error_cases.py."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import shape_error_cases
import golden

said = {name: shape_error_cases.outcome(tf, call, arguments) for name, call, arguments in shape_error_cases.cases(tf)}
with open(golden.path(__file__, "shape_errors.json"), "w") as f:
    json.dump(said, f, indent=0)
    f.write("\n")
