"""Make tests/golden/signatures/signatures.txt: the signatures of TensorFlow 2.15.1's public functions, classes and methods, with the defaults.

    python tests/golden/signatures.py
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import signature_walk

with open(golden.path(__file__, "signatures.txt"), "w", encoding="utf-8") as file:
    for path, text in sorted(signature_walk.signatures(tf).items()):
        file.write(path + text + "\n")
