"""Write tests/golden/array_cases/array_cases.json: what the programs of tests/python/array_cases.py give in TensorFlow 2.15.1, eagerly and inside a tf.function, and the
nodes that such calls make in graphs. Run by hand under TensorFlow."""
import json
import logging
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(HERE, "..", "python")
sys.path.insert(0, PYTHON)
import array_cases  # noqa: E402
import array_nodes  # noqa: E402
from control_values import outcome  # noqa: E402
import golden  # noqa: E402

logging.disable(logging.CRITICAL)
results = {"cases": {}, "nodes": {}}
for mode, cases in (("eager", array_cases.EAGER), ("graph", array_cases.GRAPH)):
    for name, case in cases.items():
        results["cases"]["%s %s" % (mode, name)] = outcome(tf, case, mode)
for name in array_nodes.PROGRAMS:
    results["nodes"][name] = {"graph": array_nodes.in_graph(tf, name), "function": array_nodes.in_function(tf, name)}
with open(golden.path(__file__, "array_cases.json"), "w") as out:
    json.dump(results, out, indent=0, sort_keys=True)
    out.write("\n")
