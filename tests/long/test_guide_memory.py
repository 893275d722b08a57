"""Promise: the C programs of docs/guide use memory rightly, and leave nothing behind. Under valgrind, all of them."""
import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import pages  # noqa: E402

TIMEOUT = 3600


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="built with a sanitizer, which finds the same")
@pytest.mark.parametrize("subject", pages.subjects())
def test_guide_leaves_nothing(subject, tmp_path, promise):
    promise("C programs of the guide leave nothing behind", 1)
    assert pages.check_memory(pages.block(subject, "c"), tmp_path) == pages.block(subject, "text")
