"""Promise: what oneDNN computes for us (convolutions of 1-7 pixels, strides 1-3, dilations, 1-40 channels, groups, with both gradients; products) has the
bits of our own loops at every instruction set that the processor has, and is written nowhere else."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")), "tests", "kernel_test_onednn")


def test_sweep(promise):
    done = subprocess.run([PROGRAM, "--full"], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = re.findall(r"^PROMISE: (.*): (\d+) tried$", done.stdout, re.M)
    assert found
    for sentence, count in found:
        promise(sentence, int(count))
