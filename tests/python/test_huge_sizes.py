"""Sizes are checked before memory is taken: calls whose results cannot be say so, at once and without having touched much memory (huge_cases.py)."""
import os
import subprocess
import sys

import thalweg as tf
from steady import SANITIZED

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"ResourceExhaustedError", "InvalidArgumentError", "ValueError"}
MOST = 400  # MB


def outcomes(limit, *cases):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    done = subprocess.run([sys.executable, os.path.join(HERE, "huge_cases.py"), str(limit), *cases], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


def check(limit, *cases):
    if SANITIZED:  # its shadow memory does not fit under a limit
        return []
    found = outcomes(limit, *cases)
    wrong = [(case, kind, peak, text) for case, kind, peak, text in found if kind not in KINDS or int(peak) > MOST or not text]
    assert not wrong, "\n".join(map(str, wrong))
    return found


def test_all():
    if not SANITIZED:
        assert len(check(6)) > 80


def test_eye_makes_no_row_of_ones_first():
    check(12, "tf.eye(N)", "tf.eye(2 ** 31, 2 ** 31 + 1)", "tf.eye(2 ** 31, batch_shape=[1, 1])")
