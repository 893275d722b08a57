#!/usr/bin/env python3
"""Makes tests/golden/image_shapes/image_shapes.json: what TensorFlow 2.15.1 knows of the shapes of pictures whose own are not known (image_shape_cases.py). Run with
TensorFlow's Python, from the root of the tree."""
import json
import os
import sys

sys.path.insert(0, os.path.join("tests", "python"))
import tensorflow as tf  # noqa: E402

import image_shape_cases  # noqa: E402
import golden  # noqa: E402

with open(golden.path(__file__, "image_shapes.json"), "w") as file:
    file.write("[\n%s\n]\n" % ",\n".join(json.dumps(row) for row in image_shape_cases.run(tf)))
