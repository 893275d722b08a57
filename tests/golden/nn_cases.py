"""Write tests/golden/nn_cases/nn_cases.json: what the calls of tests/python/nn_cases.py give in TensorFlow 2.15.1, eagerly, and the gradients. Run by hand under TensorFlow."""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
sys.modules.pop("nn_cases", None)
import importlib.util  # noqa: E402

import golden  # noqa: E402

spec = importlib.util.spec_from_file_location("cases", os.path.join(golden.HERE, "..", "python", "nn_cases.py"))
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


def number(v):
    if isinstance(v, bytes):
        return v.decode()
    v = v.item()
    return float("%.9g" % v) if isinstance(v, float) and np.isfinite(v) else str(v) if isinstance(v, float) else v


def array(a):
    a = np.asarray(a)
    return {"shape": list(a.shape), "dtype": a.dtype.name, "values": [number(v) for v in a.reshape(-1)]}


results = {}
for text, inputs in cases.CASES.items():
    try:
        outputs, gradients = cases.run(tf, text, inputs)
        results[text] = {"outputs": [array(a) for a in outputs], "gradients": [array(a) for a in gradients]}
    except Exception as e:
        results[text] = {"error": type(e).__name__}
        print(text, type(e).__name__, " ".join(str(e).split())[:200])
with open(golden.path(__file__, "nn_cases.json"), "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(r, separators=(",", ":"))) for k, r in results.items()) + "\n}\n")
print(len(results), "calls,", sum("error" in r for r in results.values()), "errors")
