"""The book's programs with sessions print what they print under TensorFlow."""
import json
import os
import subprocess
import sys

import pytest

import printed
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = "import json, sys; sys.path.insert(0, %r); import thalweg as tf, v1_examples; json.dump(v1_examples.run(tf, sys.argv[1]), sys.stdout)" % HERE
with open(golden_file("v1_examples", "v1_examples.json")) as f:
    EXPECTED = json.load(f)


@pytest.mark.parametrize("program", EXPECTED)
def test_program(program):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    done = subprocess.run([sys.executable, "-c", RUN, program], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    printed.check(json.loads(done.stdout), EXPECTED[program])
