"""Make tests/golden/queues/queues.json: what the cases of tests/python/queue_cases.py give under TensorFlow 2.15.1.

    python tests/golden/queues.py
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import queue_cases

tf.get_logger().setLevel("ERROR")
made = {kind: {name: queue_cases.shown(tf, kind, name) for name in getattr(queue_cases, "graphs" if kind == "graph" else kind)(tf)} for kind in ("eager", "graph")}
with open(golden.path(__file__, "queues.json"), "w") as file:
    json.dump(made, file, indent=1)
    file.write("\n")
