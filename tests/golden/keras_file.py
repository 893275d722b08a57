"""Makes tests/golden/keras_file/*.keras, models that TensorFlow saved after some training, and keras_file.json: what they give when TensorFlow loads
them again.

usage: python3 tests/golden/keras_file.py"""
import json
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)
import keras_file_cases as cases  # noqa: E402
import golden  # noqa: E402

cases.tf.keras.utils.set_random_seed(5)
expected = {}
for name, make in cases.CASES.items():
    model, labels = make()
    model.fit(cases.X, labels, epochs=2, verbose=0)
    path = golden.path(__file__, "keras_file_%s.keras" % name)
    model.save(path)
    expected[name] = cases.say(cases.load(path), labels)
with open(golden.path(__file__, "keras_file.json"), "w", encoding="utf-8") as f:
    json.dump(expected, f)
