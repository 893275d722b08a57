"""tf.SparseTensor and tf.sparse give what they give in TensorFlow (tests/golden/sparse.py)."""
import replay

test_expression = replay.test_of("sparse", own_setup=True)
