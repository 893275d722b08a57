"""Promise: Ctrl-C ends every long call of the table within a second or so, and other Python threads run meanwhile."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import interrupt_program  # noqa: E402
import test_interrupts as short  # noqa: E402


def test_interrupts(tmp_path):
    for name in interrupt_program.CASES:
        short.interrupted(name, tmp_path)
    print("PROMISE: Ctrl-C ends a long call, and other threads run meanwhile: %d tried" % len(interrupt_program.CASES))
