"""Results do not depend on the number of threads, to the last bit: every case of thread_cases.py with one thread and with another number of them."""
import os
import subprocess
import sys

import thalweg as tf

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "thread_cases.py")


def bits(threads):
    """Checksums of all cases, by name."""
    environment = dict(os.environ, THALWEG_NUM_THREADS=str(threads), PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    done = subprocess.run([sys.executable, PROGRAM], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(line.split("\t") for line in done.stdout.splitlines())


def compare(counts):
    """How many results were compared."""
    expected = bits(1)
    assert len(expected) > 150
    for count in counts:
        assert bits(count) == expected, "%d threads" % count
    return len(expected) * len(counts)


def test_number_of_threads():
    compare([3])
