"""Makes tests/golden/layer_values/layer_values.json: what TensorFlow's layers give for the cases of tests/python/layer_cases.py."""
import json
import os
import sys

import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import layer_cases  # noqa: E402
import golden  # noqa: E402

out = {}
for name in layer_cases.cases(tf):
    try:
        out[name] = layer_cases.run(tf, name)
    except Exception as error:
        print(name, type(error).__name__, str(error)[:300], file=sys.stderr)
with open(golden.path(__file__, "layer_values.json"), "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in out.items()) + "\n}\n")
