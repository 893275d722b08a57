#!/usr/bin/env python3
"""Makes tests/golden/places/places.json: where TensorFlow 2.15.1 puts tensors and variables with three logical devices (place_cases.py). Run with TensorFlow's
Python, from the root of the tree."""
import json
import os
import sys

sys.path.insert(0, os.path.join("tests", "python"))
import tensorflow as tf  # noqa: E402

import place_cases  # noqa: E402
import golden  # noqa: E402

with open(golden.path(__file__, "places.json"), "w") as file:
    file.write("[\n%s\n]\n" % ",\n".join(json.dumps(pair) for pair in place_cases.run(tf)))
