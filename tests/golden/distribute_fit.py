"""Makes tests/python/distribute_fit_*.txt: what tests/python/distribute_fit_program.py prints under TensorFlow with 1, 2 and 3 replicas.

usage: python3 tests/golden/distribute_fit.py"""
import os
import subprocess
import sys
import tempfile

import golden

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
for count in "123":
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, os.path.join(TESTS, "distribute_fit_program.py"), count, folder], env=environment, check=True,
                              capture_output=True, text=True)
    with open(golden.path(__file__, "distribute_fit_%s.txt" % count), "w", encoding="utf-8") as f:
        f.write(done.stdout)
