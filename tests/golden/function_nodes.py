#!/usr/bin/env python3
"""Runs tests/python/function_nodes.py under TensorFlow 2.15.1 and writes function_nodes.json beside it. usage: function_nodes.py"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import tensorflow as tf  # noqa: E402

import function_nodes  # noqa: E402


def main():
    found = {}
    for rows in (2, None):
        for name, function in function_nodes.cases(tf).items():
            found[f"{name} [{rows}]"] = function_nodes.nodes(tf, function, rows)
    with open(os.path.join(HERE, "..", "python", "function_nodes.json"), "w") as f:
        f.write("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(nodes, separators=(',', ':'))}" for name, nodes in found.items()) + "\n}\n")


main()
