"""Saves that are killed leave the old content or the new, and nothing over (kill_cases.py): some moments of each writer; tests/long/test_kills.py has
all of them."""
import kill_cases
import pytest

pytestmark = [pytest.mark.filterwarnings("ignore"),
              pytest.mark.skipif(not kill_cases.can_trace(), reason="strace is not installed, or processes can't be traced here")]


@pytest.mark.parametrize("name", kill_cases.CASES)
def test_old_or_new(name, tmp_path):
    stride = 1 if name in ("saved_model", "dataset") else 4
    assert kill_cases.kill_everywhere(name, str(tmp_path), stride, ("write", "rename", "renameat2"), (False,)) >= 2


@pytest.mark.parametrize("name", kill_cases.GROWING)
def test_beginnings(name, tmp_path):
    assert kill_cases.kill_growing(name, str(tmp_path), 3) >= 2
