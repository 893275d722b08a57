"""The comparison of printed text itself: which differences count."""
import pytest

import printed

SAME = [
    ("[0.26894143, 0.73105854]", "[0.26894143, 0.7310586 ]"),
    ("[[1.       2.      ]]", "[[1. 2.]]"),
    ("loss 1.0000001e-05", "loss 1e-05".replace("1e", "1.0e")),
    ([1.0, ["a 0.5"]], [1.0000001, ["a 0.5"]]),
    ("nan inf -0.0", "nan inf 0.0"),
]
DIFFERENT = [
    ("[0.73105]", "[0.73106]"),
    ("step 3 0.5", "step 4 0.5"),
    ("0.5", "0.50001"),
    ("0.5 0.5", "0.5"),
    ("dtype=float32", "dtype=float64"),
    ("v1.0.2", "v1.0.3"),
    ("a\nb", "a"),
    ("-0.25", "0.25"),
    ([1.0, 2.0], [1.0]),
    ({"a": 1}, {"b": 1}),
    (1, 1.5),
]


@pytest.mark.parametrize("got, expected", SAME)
def test_same(got, expected):
    printed.check(got, expected)


@pytest.mark.parametrize("got, expected", DIFFERENT)
def test_different(got, expected):
    with pytest.raises(AssertionError):
        printed.check(got, expected)
