"""Every function of the C headers that takes a pointer is among those that tests/spec/test_handles_written.c and test_handles_own.c try with NULL and with other handles; rows
are tried by tests/spec/test_handles.c, by their tables."""
import glob
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)


def written():
    """Names of the functions in the headers that take a pointer, or a list of them."""
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "thalweg", "*.h"))):
        with open(path) as file:
            text = file.read()
        for name, arguments in re.findall(r"^TW_API_FUNCTION [^;(]*?\b(tw_\w+)\(([^;]*)\);", text, re.M):
            if "*" in arguments or re.search(r"tw_(tensors|objects|named_tensors)\b", arguments):
                yield name


def test_every_function_is_tried():
    text = ""
    for name in ("written", "own"):
        with open(os.path.join(ROOT, "tests", "spec", "test_handles_%s.c" % name)) as file:
            text += file.read()
    names = list(written())
    assert len(names) > 70
    missing = [name for name in names if not re.search(r"\b%s\(" % name, text)]
    assert not missing, missing
