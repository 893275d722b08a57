"""tf.SparseTensor and tf.sparse give what they give in TensorFlow (tests/golden/sparse.py)."""
import replay
import thalweg as tf

test_expression = replay.test_of("sparse", own_setup=True)


def test_slices_from_far_below():
    """A start that is far below zero: the box ends before the values, or holds them all; no sum overflows."""
    least, most = -2 ** 63, 2 ** 63 - 1
    x = tf.sparse.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 4])
    assert tf.raw_ops.SparseSlice(indices=x.indices, values=x.values, shape=x.dense_shape, start=[least, 0], size=[1, 4])[1].shape == (0,)
    found = tf.raw_ops.SparseSlice(indices=x.indices, values=x.values, shape=x.dense_shape, start=[least, least], size=[most, most])
    assert found[2].numpy().tolist() == [most, most]
