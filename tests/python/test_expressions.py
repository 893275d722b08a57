"""Python expressions give what they give in TensorFlow: values by their text, exceptions by class and text (tests/golden/expressions.py)."""
import replay

test_expression = replay.test_of("expressions")
