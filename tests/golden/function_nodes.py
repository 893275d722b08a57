#!/usr/bin/env python3
"""Runs tests/python/function_nodes.py under TensorFlow 2.15.1 and writes function_nodes/function_nodes.json. usage:
function_nodes.py [all]   all: also the cases that are listed as different"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import tensorflow as tf  # noqa: E402

import function_nodes  # noqa: E402
import golden  # noqa: E402


def main():
    found, cases = {}, function_nodes.cases(tf)
    for name in function_nodes.names(tf):
        case, rows = function_nodes.split(name)
        if name not in function_nodes.different() or len(sys.argv) > 1:
            found[name] = function_nodes.nodes(tf, cases[case], rows)
    with open(golden.path(__file__, "function_nodes.json"), "w") as f:
        f.write("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(nodes, separators=(',', ':'))}" for name, nodes in found.items()) + "\n}\n")


main()
