"""What the modules of tests/long share. `promise(sentence, count)` tells the long run what was tried and how often, also when the test then fails."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))  # the tables of the ordinary tests


@pytest.fixture
def promise():
    def tell(sentence, count):
        print("\nPROMISE: %s: %d tried" % (" ".join(sentence.split()), count), flush=True)
    return tell
