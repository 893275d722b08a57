"""Make tests/golden/readers/readers.json: what the cases of tests/python/reader_cases.py give under TensorFlow 2.15.1.

    python tests/golden/readers.py
"""
import json
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import reader_cases

tf.get_logger().setLevel("ERROR")
made = []
for kind, case in reader_cases.cases():
    with tempfile.TemporaryDirectory() as folder:
        made.append([kind, case, reader_cases.run(tf, folder, kind, case)])
with open(golden.path(__file__, "readers.json"), "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(m) for m in made) + "\n]\n")
