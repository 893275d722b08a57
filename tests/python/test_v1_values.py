"""Losses, metrics, recurrent cells and functions of tf.compat.v1 give what TensorFlow gives, under its names."""
import json

import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

import v1_values

with open(golden_file("v1_values", "values.json")) as f:
    EXPECTED = json.load(f)


def test_every_case_was_run_by_tensorflow():
    assert list(EXPECTED) == [family + ": " + name for family, cases in v1_values.FAMILIES.items() for name in cases(tf, None)]


@pytest.mark.parametrize("name", EXPECTED)
def test_case(name):
    found, expected = v1_values.shown(tf, *name.split(": ")), EXPECTED[name]
    assert found["names"] == expected["names"] and found["variables"] == expected["variables"] and found["counts"] == expected["counts"]
    for mine, theirs in zip(found["values"], expected["values"]):
        if theirs and isinstance(theirs, list) and isinstance(theirs[0], str):
            assert mine == theirs
        else:
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)
    assert len(found["values"]) == len(expected["values"])


@pytest.mark.parametrize("call, kind, words", [
    (lambda v1: v1.losses.absolute_difference([1.], [2.], reduction="all"), ValueError, "Invalid Reduction Key all."),
    (lambda v1: v1.losses.mean_squared_error([1., 2.], [2.]), ValueError, "Shapes (1,) and (2,) are incompatible"),
    (lambda v1: v1.losses.log_loss([1., 2.], [2., 3.], weights=[1., 2., 3.]), ValueError, "weights can not be broadcast to values"),
    (lambda v1: v1.losses.cosine_distance([1.], [2.]), ValueError, "You must specify argument `axis`."),
    (lambda v1: v1.metrics.mean([1.]), RuntimeError, "tf.metrics.mean is not supported when eager execution is enabled."),
    (lambda v1: v1.metrics.mean_iou([1], [1], 2), RuntimeError, "tf.metrics.mean_iou is not supported when eager execution is enabled."),
    (lambda v1: v1.reverse_sequence([[1.]], [1], seq_dim=0, seq_axis=1), ValueError, "Cannot specify both 'seq_dim' and 'seq_axis'."),
    (lambda v1: v1.reverse_sequence([[1.]], [1]), TypeError, "Expected int for argument 'seq_dim' not None."),
    (lambda v1: v1.where([True], [1.]), ValueError, "x and y must both be non-None or both be None."),
])
def test_errors(call, kind, words):
    with pytest.raises(kind) as found:
        call(tf.compat.v1)
    assert words in str(found.value)


def test_losses_in_eager_execution():
    losses = tf.compat.v1.losses
    assert float(losses.mean_squared_error([1., 2.], [2., 4.])) == 2.5
    assert float(losses.huber_loss([1.], [4.], weights=2.)) == 5.0
