"""Cross-entropies of a softmax or sigmoid: in a function they work on what went into it, as TensorFlow's do. Values from
tests/golden/traced_losses.py."""
import json
import os
import sys

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import traced_losses  # noqa: E402

with open(golden_file("traced_losses", "traced_losses.json")) as file:
    EXPECTED = json.load(file)


@pytest.mark.parametrize("way", ["eager", "traced"])
def test_values(way):
    x, y = tf.constant(EXPECTED["x"]), tf.constant(EXPECTED["y"])
    for function in traced_losses.functions(tf):
        results = (tf.function(function, autograph=False) if way == "traced" else function)(x, y)
        for name, value in results.items():
            np.testing.assert_allclose(value.numpy(), EXPECTED[way][name], rtol=2e-6, atol=1e-7, err_msg=name)
