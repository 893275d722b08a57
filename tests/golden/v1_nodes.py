"""Write tests/golden/v1_nodes/v1_nodes.json: the nodes that the cases of tests/python/v1_nodes.py make under TensorFlow 2.15.1, and v1_names.json for its
gradient_cases."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import v1_nodes
import golden

tf.compat.v1.disable_eager_execution()
with open(golden.path(__file__, "v1_nodes.json"), "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(v1_nodes.nodes(tf, name), separators=(",", ":")))
                               for name in v1_nodes.cases(tf)) + "\n}\n")
with open(golden.path(__file__, "v1_names.json"), "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(name), json.dumps(v1_nodes.names(tf, name), separators=(",", ":")))
                               for name in v1_nodes.gradient_cases(tf)) + "\n}\n")
