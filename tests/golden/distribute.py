"""Makes tests/golden/distribute/distribute.txt: what tests/python/distribute_program.py prints under TensorFlow.

usage: python3 tests/golden/distribute.py"""
import os
import subprocess
import sys

import golden

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
text = subprocess.run([sys.executable, os.path.join(TESTS, "distribute_program.py")], env=environment, check=True, capture_output=True, text=True).stdout
with open(golden.path(__file__, "distribute.txt"), "w", encoding="utf-8") as f:
    f.write(text)
