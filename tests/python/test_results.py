"""What functions give and which errors they raise (src/spec/results.txt) is tried: shapes and dtypes of results, errors of arguments that do not fit."""
import os
import re
import sys

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import collect_rows  # noqa: E402

VALUES = [tf.constant([[.1, .2, .3], [.4, .5, .6]]), tf.constant([[1, 2, 3], [3, 4, 5]]), tf.constant([[True, False, True]] * 2)]
TEXTS = collect_rows.described(os.path.join(ROOT, "src"))[2]
ROWS = [(TEXTS.paths(row)[0], row) for row in TEXTS.rows.values() if row.role == "FUNCTION" and TEXTS.paths(row)]


def found(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def first_that_fits(function, make):
    """(value, result) of the first kind of numbers that a function takes."""
    for value in VALUES:
        try:
            return value, function(*make(value))
        except (tf.errors.InvalidArgumentError, TypeError, ValueError):
            continue
    raise AssertionError("no kind of numbers fits")


def said(words):
    return [(path, row) for path, row in ROWS if not TEXTS.texts[row.id].returns and re.search(words, TEXTS.returns(row) or "")]


@pytest.mark.parametrize("path, row", said("^an? (tensor|array) .*of the (shape|shape and dtype) of "), ids=lambda v: v if isinstance(v, str) else "")
def test_the_shape_stays(path, row):
    value, result = first_that_fits(found(path), lambda v: [v])
    assert result.shape == value.shape
    if "shape and dtype" in TEXTS.returns(row):
        assert result.dtype == value.dtype
    if "booleans" in TEXTS.returns(row):
        assert result.dtype == tf.bool


@pytest.mark.parametrize("path, row", said("of the shape that (they|the operands) have together"), ids=lambda v: v if isinstance(v, str) else "")
def test_shapes_are_joined(path, row):
    value, result = first_that_fits(found(path), lambda v: [v, v[0]])
    assert result.shape == value.shape
    if "the operands' dtype" in TEXTS.returns(row):
        assert result.dtype == value.dtype


@pytest.mark.parametrize("path, row", said("without the reduced dimensions"), ids=lambda v: v if isinstance(v, str) else "")
def test_dimensions_are_reduced(path, row):
    value, result = first_that_fits(lambda v: (found(path)(v, axis=0), found(path)(v, axis=0, keepdims=True)), lambda v: [v])
    assert [r.shape for r in result] == [value.shape[1:], [1] + value.shape[1:]]


ERRORS = [(path, error, when) for path, row in ROWS if not TEXTS.texts[row.id].raises for error, when in TEXTS.raises(row)]


@pytest.mark.parametrize("path, error, when", [e for e in ERRORS if e[2] in (
    "the shapes can't be broadcast", "`axis` names a dimension that is not there") or "such as strings" in e[2]])
def test_errors_are_raised_as_said(path, error, when):
    function = found(path)
    kind = getattr(tf.errors, error, None) or {"TypeError": TypeError, "ValueError": ValueError}[error]
    with pytest.raises(kind):
        if "broadcast" in when:
            value, _ = first_that_fits(function, lambda v: [v, v[0]])
            function(value[:, :2], value)
        elif "axis" in when:
            value, _ = first_that_fits(lambda v: function(v, axis=0), lambda v: [v])
            function(value, axis=7)
        else:
            function(tf.constant([["a", "b"]]))


@pytest.mark.parametrize("path, arguments", [
    ("debugging.assert_equal", lambda: (1, 2)), ("debugging.assert_positive", lambda: (-1,)), ("debugging.assert_rank", lambda: (tf.ones([2]), 2)),
    ("debugging.assert_scalar", lambda: (tf.ones([2]),)), ("debugging.assert_type", lambda: (tf.ones([]), tf.int32)),
    ("debugging.assert_integer", lambda: (tf.ones([]),)), ("debugging.Assert", lambda: (False, ["x"])),
    ("keras.layers.concatenate", lambda: ([tf.ones([2, 3]), tf.ones([3, 3])],)), ("linalg.cholesky", lambda: (tf.ones([2, 3]),)),
    ("linalg.matmul", lambda: (tf.ones([2, 3]), tf.ones([2, 3]))), ("reshape", lambda: (tf.ones([2, 3]), [7])), ("gather", lambda: ([1, 2], [5])),
    ("concat", lambda: ([tf.ones([2, 3]), tf.ones([3, 2])], 0)), ("io.decode_png", lambda: (b"no picture",)), ("strings.to_number", lambda: ("x",)),
    ("strings.regex_replace", lambda: ("x", "(", "y")), ("train.list_variables", lambda: ("no/such/checkpoint",)),
])
def test_other_errors_are_raised_as_said(path, arguments):
    row = next(row for _, row in ROWS if path in row.path.split("|"))
    errors = TEXTS.raises(row)
    assert errors, path
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the text says which
        found(path)(*arguments())
    assert type(caught.value).__name__ in [error for error, _ in errors]
