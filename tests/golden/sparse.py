"""What tf.sparse expressions give in TensorFlow: makes tests/golden/sparse/sparse.json for tests/python/test_sparse.py.

Usage: sparse.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

SETUP = """
s = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1., 2., 3.], [3, 4])
s2 = tf.SparseTensor([[0, 0], [0, 3], [1, 1]], [10., -2., 30.], [3, 4])
si = tf.SparseTensor([[0, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 4])
un = tf.SparseTensor([[2, 3], [0, 1]], [1., 2.], [3, 4])
words = tf.SparseTensor([[0, 1], [2, 0]], ['a', 'b'], [3, 2])
d = tf.constant([[1., 2., 3., 4.], [5., 6., 7., 8.], [9., 10., 11., 12.]])
def total(y):
    return tf.reduce_sum(tf.square(y if isinstance(y, tf.Tensor) else y.values))
def by_values(f):
    return gradient(lambda v: total(f(tf.SparseTensor([[0, 1], [0, 3], [2, 0]], v, [3, 4]))), tf.constant([1., 2., 3.]))
def by_dense(f):
    return tf.convert_to_tensor(gradient(lambda w: total(f(w)), d))
def traced(f, *x):
    return tf.function(f)(*x)
def traces(*values):
    count = []
    f = tf.function(lambda x: count.append(1) or x.values)
    for value in values:
        f(value)
    return len(count)
"""

EXPRESSIONS = r"""
s
str(s)
s.shape, s.dtype, s.dense_shape, s.get_shape(), s.consumers()
s._type_spec
s.with_values([5., 6., 7.])
tf.SparseTensor([[0, 1], [2, 3]], [1., 2., 3.], [3, 4])
tf.SparseTensor([[0, 1], [2, 3]], [1., 2.], [3, 4, 5])
tf.SparseTensor([0, 1], [1., 2.], [3])
bool(s), s == s, s == s2
len(s)
s[0]
list(s)
s + 1.
-s
tf.is_tensor(s)
tf.sparse.to_dense(s)
tf.sparse.to_dense(s, default_value=-1.)
tf.sparse.to_dense(words)
tf.sparse.to_dense(words, default_value='z')
tf.sparse.to_dense(un, validate_indices=False)
tf.sparse.reorder(un)
tf.sparse.from_dense([[0, 1], [2, 0]])
tf.sparse.from_dense(['', 'a'])
tf.sparse.add(s, s2)
tf.sparse.add(s, s2, 0.5)
tf.sparse.add(s, d)
tf.sparse.add(d, s)
tf.sparse.add(d, d)
tf.sparse.concat(0, [s, s2])
tf.sparse.concat(1, [s, s2])
tf.sparse.concat(-1, [s, s2])
tf.sparse.concat(0, [s, tf.SparseTensor([[0, 0]], [5.], [1, 2])], expand_nonconcat_dims=True)
tf.sparse.expand_dims(s, 0)
tf.sparse.expand_dims(s, 1)
tf.sparse.expand_dims(s)
tf.sparse.eye(3)
tf.sparse.eye(2, 3, dtype=tf.int32)
tf.sparse.fill_empty_rows(s, -1.)
tf.sparse.maximum(s, s2)
tf.sparse.minimum(s, s2)
tf.sparse.reduce_max(s, axis=1)
tf.sparse.reduce_sum(s)
tf.sparse.reduce_sum(s, axis=0, keepdims=True)
tf.sparse.reduce_sum(s, axis=1, output_is_sparse=True)
tf.sparse.reduce_max(s, axis=1, output_is_sparse=True)
tf.sparse.reset_shape(s)
tf.sparse.reset_shape(s, [4, 5])
tf.sparse.reset_shape(s, [2, 5])
tf.sparse.reshape(s, [2, 6])
tf.sparse.reshape(s, [2, -1])
tf.sparse.retain(s, [True, False, True])
tf.sparse.segment_sum(d, [0, 2], [0, 0])
tf.sparse.segment_mean(d, [0, 2, 1], [0, 0, 2])
tf.sparse.segment_sqrt_n(d, [0, 2, 1], [0, 0, 2], num_segments=4)
tf.sparse.slice(s, [0, 1], [2, 2])
tf.sparse.softmax(s)
tf.sparse.sparse_dense_matmul(s, tf.transpose(d))
tf.sparse.sparse_dense_matmul(s, d, adjoint_a=True)
tf.sparse.sparse_dense_matmul(s, d, adjoint_b=True)
tf.sparse.sparse_dense_matmul(d, s, adjoint_a=True)
tf.sparse.split(sp_input=s, num_split=2, axis=1)
tf.sparse.split(sp_input=s, num_split=2, axis=0)
tf.sparse.to_indicator(si, 5)
tf.sparse.transpose(s)
tf.sparse.transpose(s, [1, 0])
s * d, s / d, si / 2, s * 2.
by_values(lambda x: tf.sparse.to_dense(x))
by_values(lambda x: tf.sparse.add(x, s2))
by_values(lambda x: tf.sparse.add(x, d))
by_values(lambda x: tf.sparse.reduce_sum(x, axis=1))
by_values(lambda x: tf.sparse.sparse_dense_matmul(x, tf.transpose(d)))
by_values(lambda x: tf.sparse.sparse_dense_matmul(x, d, adjoint_a=True))
by_values(lambda x: tf.sparse.transpose(x))
by_values(lambda x: tf.sparse.slice(x, [0, 1], [3, 3]))
by_values(lambda x: tf.sparse.softmax(x))
by_values(lambda x: x * d)
by_values(lambda x: x / d)
by_values(lambda x: tf.sparse.fill_empty_rows(x, 2.)[0])
by_dense(lambda w: tf.sparse.sparse_dense_matmul(s, tf.transpose(w)))
by_dense(lambda w: tf.sparse.sparse_dense_matmul(s, w, adjoint_a=True))
by_dense(lambda w: s * w)
by_dense(lambda w: s / w)
by_dense(lambda w: tf.sparse.add(w, s))
by_dense(lambda w: tf.sparse.segment_mean(w, [0, 2, 1], [0, 0, 2]))
by_dense(lambda w: tf.sparse.segment_sqrt_n(w, [0, 2, 1], [0, 0, 2]))
by_dense(lambda w: tf.sparse.from_dense(w))
tf.sparse.bincount([1, 1, 3])
tf.sparse.bincount([[1, 1, 3], [0, 0, 2]], axis=-1)
tf.sparse.bincount([[1, 1, 3], [0, 0, 2]])
tf.sparse.bincount([[1, 1, 3], [0, 0, 2]], axis=-1, minlength=6)
tf.sparse.bincount([[1, 1, 3], [0, 0, 2]], axis=-1, maxlength=2)
tf.sparse.bincount([[1, 1, 3], [0, 0, 2]], axis=-1, binary_output=True)
tf.sparse.bincount([1, 1, 3], weights=[.5, 1., 2.])
tf.sparse.bincount(si)
tf.sparse.bincount(si, axis=-1)
tf.sparse.bincount(si, axis=-1, weights=s)
tf.sparse.bincount(tf.ragged.constant([[1, 2], [1], [], [4, 4, 6]]), axis=-1)
tf.sparse.bincount([1, 1], axis=1)
tf.sparse.cross([words, words])
tf.sparse.cross([words, words], separator='-')
tf.sparse.cross([words, tf.cast(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 2]), tf.int64), tf.constant([['x'], ['y'], ['z']])])
tf.sparse.cross_hashed([words, words])
tf.sparse.cross_hashed([words, tf.cast(tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [1, 2, 3], [3, 2]), tf.int64)], num_buckets=100)
tf.sparse.cross_hashed([words], num_buckets=0, hash_key=7)
tf.sparse.mask(tf.IndexedSlices(tf.constant([[1.], [2.], [3.]]), tf.constant([12, 26, 37]), tf.constant([40, 1])), [12, 37]).values
tf.sparse.map_values(tf.add, s, 5.)
tf.abs(s), tf.negative(s), tf.square(s), tf.cast(s, tf.int32), tf.identity(s)
tf.shape(s), tf.rank(s), tf.size(s)
tf.nest.flatten(s)
tf.nest.flatten(s, expand_composites=True)
traced(lambda x: x, s)
traced(lambda x: tf.sparse.to_dense(x), s)
traced(lambda x: tf.sparse.add(x, x), s)
traced(lambda x: tf.sparse.from_dense(x), d)
tf.function(lambda x: tf.sparse.reduce_sum(x), input_signature=[tf.SparseTensorSpec([None, 4], tf.float32)])(s)
traces(s, s2, un)
"""


def main():
    sys.path.insert(0, HERE)
    import expressions
    import tensorflow as tf
    answers = [expressions.answer(e, tf, SETUP) for e in EXPRESSIONS.strip().split("\n")]
    import golden
    with open(golden.path(__file__, "sparse.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
