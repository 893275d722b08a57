"""Promise: a public function gives the same bits eagerly, in tf.function, with dimensions or ranks unknown, and in a session (tests/python/test_modes.py)."""
import pytest

import test_modes as ordinary


@pytest.mark.parametrize("name", sorted(ordinary.THEIRS))
def test_same_in_every_mode(name, promise):
    promise("functions give the same bits eagerly, traced, with unknown shapes and in sessions (calls)", len(ordinary.modes.MODES))
    ordinary.check(name)
