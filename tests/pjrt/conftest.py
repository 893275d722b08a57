"""Tests that need a PJRT plug-in: THALWEG_PJRT_PLUGIN names one (`make test-pjrt` gets the CPU's). Without it they are skipped."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))


def pytest_collection_modifyitems(items):
    if not os.environ.get("THALWEG_PJRT_PLUGIN"):
        for item in (i for i in items if os.path.dirname(str(i.path)) == os.path.dirname(os.path.abspath(__file__))):
            item.add_marker(pytest.mark.skip(reason="THALWEG_PJRT_PLUGIN names no plug-in"))
