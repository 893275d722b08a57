"""Makes tests/python/MODULE.json: what TensorFlow 2.15.1 gives for the cases of tests/python/MODULE.py.

usage: tables.py MODULE…"""
import importlib
import json
import os
import sys

import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import table  # noqa: E402

for module in sys.argv[1:]:
    results = {name: table.run(case) for name, case in importlib.import_module(module).cases(tf).items()}
    with open(os.path.join(FOLDER, module + ".json"), "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in results.items()) + "\n}\n")
