"""Promise: an iterator that is restored from a checkpoint goes on with the elements that would have followed: every step of datasets, saved at every
place of one and of two passes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "python"))
import iterator_pipelines as table  # noqa: E402
from test_iterator_checkpoint import cut_and_compare  # noqa: E402


def test_every_place(tmp_path):
    table.make_files(str(tmp_path))
    tried = 0
    for name in table.PIPELINES:
        for twice in (False, True):
            tried += cut_and_compare(name, twice, str(tmp_path), tmp_path, lambda count: list(range(count + 2)))
    print("PROMISE: iterators go on exactly where they were saved: %d tried" % tried)
