"""tf.RaggedTensor and tf.ragged give what they give in TensorFlow (tests/golden/ragged.py)."""
import replay

test_expression = replay.test_of("ragged", own_setup=True)
