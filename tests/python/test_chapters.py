"""The programs of tests/python/chapters print what they print under TensorFlow 2.15.1 (tests/golden/chapters.py)."""
import glob
import os
import subprocess
import sys

import pytest

import printed
from golden_files import golden_file
import thalweg as tf

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chapters")
PROGRAMS = sorted(os.path.basename(path)[:-4] for path in glob.glob(golden_file("chapters", "*.txt")))


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    done = subprocess.run([sys.executable, "-m", "thalweg", os.path.join(HERE, program + ".py")], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    with open(golden_file("chapters", program + ".txt")) as file:
        printed.check(done.stdout, file.read())
