"""Derivatives in a direction, ops without a gradient, shapes of unknown rank, kinds of results and special values are TensorFlow's
(tests/golden/corners.py)."""
import replay

test_expression = replay.test_of("corners", own_setup=True)
