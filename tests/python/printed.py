"""Printed text compared: words exactly, fractions within a few units of a float's last place.

What TensorFlow prints was recorded on one processor. Its own last digit depends on the instruction set: exp, sums and products are rounded elsewhere with
AVX2 than with AVX-512. So a number with a fraction is compared as a number, and the blanks that line columns up with it do not count. Everything else,
integers included, is compared as text."""
import re

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d*(?:[eE][-+]?\d+)?(?![\w.])")
LAST_PLACES = 4 * 2.0 ** -23


def words(text):
    """The text without its numbers, and without the blanks that depend on their lengths."""
    return re.sub(r"[ \t]+", "", NUMBER.sub("#", text))


def same_text(got, expected, relative=LAST_PLACES, absolute=0.0):
    if got == expected:
        return True
    if words(got) != words(expected):
        return False
    pairs = zip(NUMBER.findall(got), NUMBER.findall(expected))
    return all(abs(float(a) - float(b)) <= absolute + relative * max(abs(float(a)), abs(float(b))) for a, b in pairs)


def check(got, expected, relative=LAST_PLACES, absolute=0.0):
    """Fails, with both texts shown, unless they are the same line by line. Structures of texts and numbers are walked."""
    if isinstance(got, str) and isinstance(expected, str):
        mine, theirs = got.splitlines(), expected.splitlines()
        for a, b in zip(mine, theirs):
            assert a == b or same_text(a, b, relative, absolute)
        assert len(mine) == len(theirs)
    elif isinstance(expected, float) and type(got) is float:
        assert got == expected or abs(got - expected) <= absolute + relative * abs(expected)
    elif isinstance(expected, list) and isinstance(got, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            check(a, b, relative, absolute)
    elif isinstance(expected, dict) and isinstance(got, dict):
        assert list(got) == list(expected)
        for key in expected:
            check(got[key], expected[key], relative, absolute)
    else:
        assert got == expected
