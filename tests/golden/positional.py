#!/usr/bin/env python3
"""Makes tests/golden/positional/positional.json: what TensorFlow gives for the calls of tests/python/positional_cases.py. Run under TensorFlow 2.15."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import tensorflow as tf  # noqa: E402
import golden  # noqa: E402
import positional_cases as cases  # noqa: E402

with open(golden.path(__file__, "positional.json"), "w", encoding="utf-8") as file:
    json.dump({name: cases.outcome(tf, function) for name, function in cases.CASES}, file, indent=1, sort_keys=True)
    file.write("\n")
