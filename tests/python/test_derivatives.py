"""What tapes connect, derivatives of derivatives, and numbers of rarely used dtypes are TensorFlow's (tests/golden/derivatives.py)."""
import replay

test_expression = replay.test_of("derivatives", own_setup=True)
