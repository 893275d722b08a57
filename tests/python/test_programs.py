"""The programs of tests/programs, after the subjects of TensorFlow's guides: what they give is TensorFlow's for the same seeds (tests/golden/programs.py)."""
import json
import os
import subprocess
import sys

import pytest

from golden_files import golden_file

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
NAMES = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and name != "run.py")
with open(golden_file("programs", "programs.json")) as _file:
    EXPECTED = json.load(_file)


def differences(got, expected, path=""):
    """Where two results differ, numbers by more than a thousandth."""
    if isinstance(expected, dict) and isinstance(got, dict) and sorted(got) == sorted(expected):
        return [d for key in expected for d in differences(got[key], expected[key], path + "/" + key)]
    if isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
        return [d for i, item in enumerate(expected) for d in differences(got[i], item, "%s/%d" % (path, i))]
    if isinstance(expected, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        limit = 1e-2 if path == "/iou" else 1e-3  # classes of pixels: some are nearly as likely as another one
        return [] if abs(got - expected) <= limit * max(1, abs(expected)) else ["%s: %r, expected %r" % (path, got, expected)]
    return [] if got == expected and type(got) is type(expected) else ["%s: %r, expected %r" % (path, got, expected)]


@pytest.mark.parametrize("name", NAMES)
def test_program(name):
    done = subprocess.run([sys.executable, "-m", "thalweg", os.path.join(FOLDER, "run.py"), name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert differences(json.loads(done.stdout.splitlines()[-1]), EXPECTED[name]) == []
