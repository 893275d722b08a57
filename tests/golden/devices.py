"""Write tests/golden/devices/devices.json: what the expressions of tests/python/device_cases.py give under TensorFlow 2.15.1 without accelerators."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import device_cases
import golden

with open(golden.path(__file__, "devices.json"), "w") as f:
    json.dump(device_cases.run(tf), f, indent=0)
    f.write("\n")
