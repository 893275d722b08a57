"""Promise: no value in any argument of any row ends the process. Symbolic tensors of functions, graphs and Keras, and every dtype, are passed to every
argument of every row, three times with other values around them (tests/python/slots.py)."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "python"))
import slots  # noqa: E402

TIMEOUT = 2400


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("table", slots.TABLES)
def test_every_argument(table, seed, tmp_path):
    tmp_path.chmod(0o777)
    calls, wrong = slots.sweep(table, tmp_path, seed=seed)
    print("PROMISE: no symbolic tensor and no dtype in any argument of any row ends the process: %d tried" % calls)
    assert not wrong, "\n".join(wrong)
