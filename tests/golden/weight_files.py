#!/usr/bin/env python3
"""Makes tests/golden/weight_files/: NAME.h5, NAME.weights.h5 of the models of tests/python/weight_models.py, and expected.json: the weights and predictions
of a new model that loads them, per file."""
import json
import os
import sys

import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden  # noqa: E402
import weight_models  # noqa: E402

expected = {}
for name, make in weight_models.models(tf).items():
    for ending in (".h5", ".weights.h5"):
        path = golden.path(__file__, name + ending)
        weight_models.numbered(make()).save_weights(path)
        model = make()
        model.load_weights(path)
        expected[name + ending] = [w.tolist() for w in model.get_weights()], model.predict(weight_models.X, verbose=0).tolist()
with open(golden.path(__file__, "expected.json"), "w") as file:
    json.dump(expected, file)
