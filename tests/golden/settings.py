#!/usr/bin/env python3
"""Makes tests/golden/settings/settings.json.gz: for every row of tests/python/config_cases.py and every argument of its constructor what TensorFlow does if the
attribute of that name is changed after the object was made. Run under TensorFlow 2.15."""
import gzip
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import tensorflow as tf  # noqa: E402
import golden  # noqa: E402
import setting_cases as cases  # noqa: E402

out = {}
for key, outcome, case, class_, keywords in cases.every_case(tf):
    row = out[key] = {"same": outcome(tf, case, "_no_such_setting", None)}
    row["random"] = outcome(tf, case, "_no_such_setting", None) != row["same"]
    for argument, old in cases.arguments_of(class_, keywords).items():
        new = cases.changed(argument, old, "1D" in key)
        row[argument] = dict(outcome(tf, case, argument, cases.value(tf, argument, new)), new=new)
out["callbacks"] = [cases.callback_outcome(tf, *row) for row in cases.CALLBACKS]
with gzip.GzipFile(golden.path(__file__, "settings.json.gz"), "wb", mtime=0) as file:
    file.write(json.dumps(out, sort_keys=True).encode())
print(len(out), sum(len(row) for row in out.values()))
