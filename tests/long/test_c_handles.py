"""Promise: a NULL or a handle of another class in any slot of any exported C function is an error. Every class there is, in every slot of every row
(tests/spec/test_handles.c); the functions that are no rows are tried by the ordinary tests."""
import os
import subprocess

BUILD = os.environ.get("THALWEG_BUILD") or os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "build")
TIMEOUT = 2400


def test_every_class_in_every_slot(tmp_path):
    done = subprocess.run([os.path.join(BUILD, "tests", "spec_test_handles"), "full"], cwd=tmp_path, capture_output=True, text=True, errors="replace")
    print(done.stdout[-3000:])
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
