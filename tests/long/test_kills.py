"""Promise: whatever writes files may be killed at any system call: the old content or the new is there, and the next save leaves nothing over."""
import kill_cases
import pytest

TIMEOUT = 1800
pytestmark = [pytest.mark.filterwarnings("ignore"),
              pytest.mark.skipif(not kill_cases.can_trace(), reason="strace is not installed, or processes can't be traced here")]


@pytest.mark.parametrize("name", kill_cases.CASES)
def test_old_or_new(name, tmp_path, promise):
    promise("a save that is killed leaves the old or the new, and no litter (%s)" % name, kill_cases.kill_everywhere(name, str(tmp_path)))


@pytest.mark.parametrize("name", kill_cases.GROWING)
def test_beginnings(name, tmp_path, promise):
    promise("a file that grows when its writer is killed has its beginning (%s)" % name, kill_cases.kill_growing(name, str(tmp_path)))
