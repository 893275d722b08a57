#!/usr/bin/env python3
"""Asks TensorFlow again: runs the scripts of tests/golden under a Python that has TensorFlow 2.15.1, one after the other, and says which files changed.
Archives and SavedModels hold times and random names: they change with every run. A script that fails, or writes outside of its folder, is told.

usage: run_golden.py PYTHON [SCRIPT…]     all scripts, or those of these names"""
import glob
import hashlib
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = os.path.join("tests", "golden")
HELPERS = ("golden", "op_cases")  # imported by the scripts
FAMILIES = {"ops_": "op_cases"}  # scripts whose names begin so share a folder


def folders(script):
    """The folders that a script may write to."""
    shared = [folder for start, folder in FAMILIES.items() if script.startswith(start)]
    return tuple(os.path.join(GOLDEN, name) + os.sep for name in [script] + shared)


def contents():
    """Every file of the tests and the sources, with the hash of what is in it."""
    found = {}
    for top in ("tests", "src", "python"):
        for folder, _, names in os.walk(top):
            if not folder.endswith("__pycache__"):
                for name in names:
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        found[path] = hashlib.sha256(file.read()).digest()
    return found


def run(python, script):
    """Runs one script: whether it went well and kept to its folder."""
    before, start = contents(), time.time()
    done = subprocess.run([python, os.path.join(GOLDEN, script + ".py")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
    after = contents()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    outside = [path for path in changed if not path.startswith(folders(script))]
    print("%s: %s in %.0f s" % (script, "failed" if done.returncode else "%d changed" % len(changed) if changed else "same", time.time() - start))
    for path in changed:
        print("    " + path + (" (not its folder)" if path in outside else ""))
    if done.returncode:
        print(done.stdout[-2000:])
    sys.stdout.flush()
    return not done.returncode and not outside


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.chdir(ROOT)
    known = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(GOLDEN, "*.py")))
    scripts = sys.argv[2:] or [name for name in known if name not in HELPERS]
    unknown = [name for name in scripts if name not in known]
    if unknown:
        sys.exit("there is no tests/golden/%s.py" % unknown[0])
    bad = [name for name in scripts if not run(sys.argv[1], name)]
    sys.exit("not well: " + " ".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
