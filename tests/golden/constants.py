"""Makes tests/golden/constants/constants.json: what the cases of tests/python/constant_cases.py give in TensorFlow 2.15.1, at once, in functions and in
sessions."""
import json
import os
import sys

import tensorflow as tf

import golden

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from constant_cases import cases, eager, in_function, in_session  # noqa: E402

known, table = {}, {}
for name, how in (("eager", eager), ("function", in_function), ("session", in_session)):
    table[name] = [known.setdefault(how(tf, *case), len(known)) for case in cases() if name == "eager" or case[0] != "variable" or name == "session"]
with open(golden.path(__file__, "constants.json"), "w") as file:
    json.dump({"lines": list(known), **table}, file, separators=(",", ":"))
    file.write("\n")
