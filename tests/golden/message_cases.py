"""Makes tests/golden/message_cases/example_messages.json: what TensorFlow 2.15.1 makes of the cases of tests/python/message_cases.py."""
import json
import os
import sys

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import message_cases  # noqa: E402
import golden  # noqa: E402

with open(golden.path(__file__, "example_messages.json"), "w") as file:
    json.dump(message_cases.results(tf), file, indent=0)
    file.write("\n")
