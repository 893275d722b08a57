"""Ctrl-C ends a long call soon, and other threads run meanwhile. tests/long/test_all_interrupts.py tries every call of the table."""
import os
import subprocess
import sys

import pytest

import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interrupt_program.py")


def interrupted(name, folder):
    done = subprocess.run([sys.executable, PROGRAM, name], cwd=folder, env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, "%s: %s" % (name, done.stderr[-2000:])
    after, still = map(float, done.stdout.split())
    assert after < 5 and still < 5, (name, after, still)  # a second at most, on a machine that has nothing else to do


@pytest.mark.parametrize("name", ["map_fn", "reduce", "fit", "while_loop", "product", "sort", "svd", "inv", "eigh", "convolution", "convolution of one image",
                                  "input's gradient", "filter's gradient", "depthwise convolution"])
def test_interrupt(tmp_path, name):
    interrupted(name, tmp_path)
