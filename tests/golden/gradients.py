"""Makes tests/golden/gradients/gradients.json: what the cases of tests/python/gradient_cases.py give under TensorFlow 2.15.
Run from the root of the repository by a Python that has TensorFlow."""
import json
import sys

import tensorflow as tf

sys.path.insert(0, "tests/python")
import golden  # noqa: E402
import gradient_cases  # noqa: E402

found = {name: gradient_cases.flat(function(tf)) for name, function in gradient_cases.CASES.items()}
with open(golden.path(__file__, "gradients.json"), "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in sorted(found.items())) + "\n}\n")
