"""Promise: eight Python threads give what one gives, for every call of training and inference, and every name can first be used by eight at once."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import test_threads as short  # noqa: E402


@pytest.mark.parametrize("owner", ["own", "shared"])
@pytest.mark.parametrize("kind", short.KINDS)
def test_calls(kind, owner):
    tried = sum(short.calls(kind, owner, 4) for _ in range(5))
    print("PROMISE: training and inference from eight threads give what one thread gives: %d tried" % (8 * tried))


def test_first_use_of_all_names_at_once():
    names = short.public_names()
    tried = sum(short.first_use(names, seed) for seed in range(30))
    print("PROMISE: a name is first used by eight threads at once: %d tried" % (8 * tried))


def test_first_use_of_one_name():
    """One name of every module, and those that the package itself loads late, each in a fresh process."""
    names, chosen = short.public_names(), {}
    for name in names:
        module = name.rpartition(".")[0]
        chosen.setdefault(module, name) if module else chosen.setdefault(name, name)
    for name in chosen.values():
        assert short.first_use([name], 0) == 1
    print("PROMISE: a name is first used by eight threads at once: %d tried" % (8 * len(chosen)))
