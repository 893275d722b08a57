"""Write tests/golden/v1_programs/v1_programs.json: what the programs of tests/python/v1_programs.py note under TensorFlow 2.15.1."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "python")
sys.path.insert(0, FOLDER)
import v1_programs
import golden

tf.compat.v1.disable_eager_execution()
with open(golden.path(__file__, "v1_programs.json"), "w") as f:
    json.dump({p.__name__: v1_programs.run(p, tf) for p in v1_programs.PROGRAMS}, f, indent=0)
    f.write("\n")
