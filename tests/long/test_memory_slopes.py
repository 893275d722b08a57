"""Promise: whatever is done a thousand times leaves no memory, no open file and no thread behind.

Every body of memory_bodies.py is one kind of work, done once, in a process of its own. What C and Python hold is counted exactly (steady.slopes), so a leak of
one small object per call shows. To look at one: PYTHONPATH=build/python:tests/python python3 tests/long/memory_bodies.py NAME
"""
import os
import subprocess
import sys

import pytest

from memory_bodies import BODIES

HERE = os.path.dirname(os.path.abspath(__file__))
# Per call, and once per window for what the allocators and the collector do on their own; malloc's smallest block is 24 bytes.
LIMITS = {"bytes of C": (16, 6000), "blocks of Python": (0.5, 200), "files": (0.01, 0), "threads": (0.01, 0)}


@pytest.mark.parametrize("name", BODIES)
def test_slope(name, promise, tmp_path):
    promise("repeated work leaves no memory, file or thread behind (calls)", BODIES[name][1] * 3)
    environment = dict(os.environ, THALWEG_FSYNC="0", PYTHONPATH=os.environ["PYTHONPATH"] + ":" + os.path.join(os.path.dirname(HERE), "python"))
    done = subprocess.run([sys.executable, os.path.join(HERE, "memory_bodies.py"), name], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=400, errors="replace")
    assert done.returncode == 0, "%d: %s" % (done.returncode, done.stderr[-3000:])
    grown = dict(zip(LIMITS, map(float, done.stdout.split()[-len(LIMITS):])))
    assert all(grown[what] < limit + once / BODIES[name][1] for what, (limit, once) in LIMITS.items()), "%s leaves behind per call: %s" % (name, grown)
