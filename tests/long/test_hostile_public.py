"""Promise: no public name of tf crashes, hangs or eats the memory, whatever it is called with.

hostile_public.py calls every function, constructor, method and property in child processes. To look at one name:
    PYTHONPATH=build/python:tests/python python3 tests/long/hostile_public.py SEED CALLS 0 1 FOLDER NAME
"""
import os
import re
import subprocess
import sys

import pytest

TIMEOUT = 2400
HERE = os.path.dirname(os.path.abspath(__file__))
SHARDS, CALLS = 16, 20


@pytest.mark.parametrize("shard", range(SHARDS))
def test_hostile_public(shard, promise, tmp_path):
    environment = dict(os.environ, PYTHONPATH=os.environ["PYTHONPATH"] + ":" + os.path.join(os.path.dirname(HERE), "python"))
    done = subprocess.run([sys.executable, os.path.join(HERE, "hostile_public.py"), "1", str(CALLS), str(shard), str(SHARDS), str(tmp_path)], env=environment,
                          capture_output=True, text=True, errors="replace", timeout=1200)
    counts = re.search(r"(\d+) names, (\d+) calls, (\d+) findings", done.stdout)
    promise("public names survive arguments that make no sense (calls)", int(counts[2]) if counts else 0)
    assert counts and counts[3] == "0", done.stdout[-6000:] + done.stderr[-2000:]
