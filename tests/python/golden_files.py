"""Where the answers of TensorFlow are: tests/golden/SCRIPT.py made the files of tests/golden/SCRIPT/."""
import os

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")


def golden_file(script, name):
    return os.path.join(GOLDEN, script, name)
