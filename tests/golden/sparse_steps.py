"""What steps by gradients of gathered rows give in TensorFlow: makes tests/golden/sparse_steps/sparse_steps.json. Usage: sparse_steps.py (needs tensorflow)"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import sparse_steps_cases as cases
import golden


def main():
    import tensorflow as tf
    results = {"%s %s" % (name, "traced" if traced else "eager"): cases.run(tf, name, traced)
               for name in cases.optimizers(tf) for traced in (False, True)}
    with open(golden.path(__file__, "sparse_steps.json"), "w") as f:
        f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in results.items()) + "\n}\n")


if __name__ == "__main__":
    main()
