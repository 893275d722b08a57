"""usage: run.py NAME: runs the program NAME of this folder and prints what it gives as one line of JSON, the last one."""
import importlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def plain(value):
    """Numbers of NumPy's and TensorFlow's as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


print(json.dumps(importlib.import_module(sys.argv[1]).main(), default=plain))
