"""Makes tests/golden/tables/MODULE.json: what TensorFlow 2.15.1 gives for the cases of tests/python/MODULE.py.

usage: tables.py              all that are there
       tables.py MODULE…
       tables.py MODULE=TEXT…    only the cases with the text in their names; the others stay as they are"""
import glob
import importlib
import json
import os
import sys

import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import golden  # noqa: E402
import table  # noqa: E402

tf.config.threading.set_inter_op_parallelism_threads(1)  # steps of loops draw their random numbers one after the other
for argument in sys.argv[1:] or sorted(os.path.basename(p)[:-5] for p in glob.glob(golden.path(__file__, "*.json"))):
    module, _, text = argument.partition("=")
    path = golden.path(__file__, module + ".json")
    known = json.load(open(path)) if text else {}
    results = {name: table.run(case) if text in name or name not in known else known[name]
               for name, case in importlib.import_module(module).cases(tf).items()}
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in results.items()) + "\n}\n")
