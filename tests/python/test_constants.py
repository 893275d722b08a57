"""Constants of lists, numbers and arrays of every kind (constant_cases.py), at once, in functions and in sessions: what TensorFlow gives
(constants.json), and the same in all three places."""
import json

import pytest

import constant_cases
from golden_files import golden_file
import thalweg as tf

with open(golden_file("constants", "constants.json")) as file:
    GOLDEN = json.load(file)
PLACES = {"eager": constant_cases.eager, "function": constant_cases.in_function, "session": constant_cases.in_session}


def differs(place, way, source, dtype):
    """Where TensorFlow gives no value, or one that none can want, and a value is given here; or the other way round."""
    graph = place != "eager"
    return (source == "swapped" and graph  # TensorFlow's graphs take the bytes for numbers
            or source == "list of arrays" and (graph or way == "initializer")  # it refuses them in graphs
            or source == "list of floats" and dtype is None and graph  # float64 at once, float32 in graphs
            or source == "bool" and dtype in ("uint8", "complex64")  # True is 1
            or way == "initializer" and (source in ("text", "texts", "complex") or dtype == "bool"  # numbers alone
                                         or source == "numpy number"))  # fractions are never cut off


def cases(place):
    return [case for case in constant_cases.cases() if place != "function" or case[0] != "variable"]


@pytest.mark.parametrize("way", constant_cases.WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_as_tensorflow(place, way):
    wrong, tried = [], 0
    for case, at in zip(cases(place), GOLDEN[place], strict=True):
        if case[0] != way:
            continue
        got = PLACES[place](tf, *case)
        expected = PLACES["eager"](tf, *case) if differs(place, *case[:3]) and place != "eager" else GOLDEN["lines"][at]
        tried += 1
        if got != expected and not (place == "eager" and differs(place, *case[:3])):
            wrong.append("%s: %s, expected %s" % (case, got, expected))
    assert tried > 20 or place == "function"
    assert not wrong, "%d of %d:\n%s" % (len(wrong), tried, "\n".join(wrong[:40]))
