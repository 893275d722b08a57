"""Write tests/golden/control/control.json: what the programs of tests/python/control_cases.py, debugging_cases.py, function_cases.py and raw_cases.py give in TensorFlow 2.15.1,
eagerly and inside a tf.function. Tensors as dtype, shape and values; errors as class and text. Run by hand under TensorFlow."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(HERE, "..", "python")
sys.path.insert(0, PYTHON)
import control_cases  # noqa: E402
import debugging_cases  # noqa: E402
import function_cases  # noqa: E402
import raw_cases  # noqa: E402
from control_values import outcome  # noqa: E402
import golden  # noqa: E402

tf.get_logger().setLevel("ERROR")
results = {}
for module in (control_cases, debugging_cases, function_cases, raw_cases):
    for mode, cases in (("eager", module.EAGER), ("graph", module.GRAPH)):
        for name, case in cases.items():
            results["%s %s" % (mode, name)] = outcome(tf, case, mode)
with open(golden.path(__file__, "control.json"), "w") as out:
    json.dump(results, out, indent=0, sort_keys=True)
    out.write("\n")
