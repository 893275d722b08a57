"""Write tests/golden/v1_library/v1_library.json: what the programs of tests/python/v1_library.py show under TensorFlow 2.15.1."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import v1_library
import golden

tf.get_logger().setLevel("ERROR")
with open(golden.path(__file__, "v1_library.json"), "w") as f:
    json.dump({p.__name__: v1_library.run(tf, p.__name__) for p in v1_library.PROGRAMS}, f, indent=0)
    f.write("\n")
