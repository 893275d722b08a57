#!/usr/bin/env python3
"""Run tests/pjrt on a PJRT plug-in: that of THALWEG_PJRT_PLUGIN, or the one for processors, installed from PyPI into BUILD/pjrt.

usage: test_pjrt.py BUILD [pytest's arguments]

Where the package can't be had, says so and succeeds: nothing else needs it.
"""
import glob
import os
import subprocess
import sys
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = "xla-cpu-pjrt==0.0.1"


def plugin(build):
    """The path of the plug-in; None: there is none."""
    named = os.environ.get("THALWEG_PJRT_PLUGIN")
    if named:
        return named
    folder = os.path.join(build, "pjrt")
    found = glob.glob(os.path.join(folder, "**", "xla_cpu_pjrt.so"), recursive=True)
    if not found:
        venv.create(folder, with_pip=True)
        subprocess.run([os.path.join(folder, "bin", "pip"), "install", "-q", "--no-deps", PACKAGE])
        found = glob.glob(os.path.join(folder, "**", "xla_cpu_pjrt.so"), recursive=True)
    return found[0] if found else None


def main():
    build = os.path.abspath(sys.argv[1])
    path = plugin(build)
    if not path:
        print("skipped: there is no PJRT plug-in, and %s can't be installed here" % PACKAGE)
        return 0
    environment = dict(os.environ, THALWEG_PJRT_PLUGIN=path, PYTHONPATH=os.path.join(build, "python"), THALWEG_BUILD=build)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(ROOT, "tests", "pjrt"), *sys.argv[2:]],
                          env=environment, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
