"""What tf.ragged expressions give in TensorFlow: makes tests/golden/ragged/ragged.json for tests/python/test_ragged.py.

Usage: ragged.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

SETUP = """
r = tf.ragged.constant([[1,2],[3],[],[4,5,6]])
r2 = tf.ragged.constant([[[1,2],[3]],[],[[4,5,6]]])
f = tf.ragged.constant([[1.,2.5],[1e-5]])
u = tf.RaggedTensor.from_uniform_row_length(tf.range(6),3)
t = tf.RaggedTensor.from_tensor([[1,2],[3,4]])
s = tf.ragged.constant([['a','bb'],['c']])
big = tf.ragged.constant([list(range(i*7)) for i in range(12)])
inner = tf.RaggedTensor.from_row_splits(tf.reshape(tf.range(8),[4,2]),[0,1,4])
def total(y):
    return tf.reduce_sum(tf.square(y.flat_values if isinstance(y, tf.RaggedTensor) else y))
def grad(f, x):
    return tf.convert_to_tensor(gradient(lambda v: total(f(v)), x))
def traced(f, x):
    return tf.function(f)(x)
def traces(*values):
    count = []
    f = tf.function(lambda x: count.append(1) or x.flat_values)
    for value in values:
        f(value)
    return len(count)
"""

EXPRESSIONS = r"""
r
str(r)
r2
f
u
t
s
big
inner
tf.ragged.constant([[[1., 2.], [3., 4.]], [[5., 6.]]], ragged_rank=1)
tf.ragged.constant([])
tf.ragged.constant([[], []])
tf.ragged.constant([[1, 2], [3, 4]])
tf.ragged.constant([[[1], [2]], [[3], [4]]])
tf.ragged.constant([[[1], [2, 5]], [[3], [4, 6]]])
tf.ragged.constant([[True], [False, True]])
tf.ragged.constant(5)
tf.ragged.constant([1, 2])
tf.ragged.constant([[1],[2,'a']])
tf.ragged.constant([[1], 2])
tf.ragged.constant([[1, 2], [3]], ragged_rank=2)
tf.ragged.constant([[[1, 2]], []], inner_shape=(2, ))
tf.ragged.constant([[1, 2.5], [3]])
tf.ragged.constant([[2**40], [3]])
tf.ragged.constant([[1]], row_splits_dtype=tf.int32).row_splits
r.shape, u.shape, t.shape, r2.shape, inner.shape
r.uniform_row_length, u.uniform_row_length, t.uniform_row_length
r._type_spec
r2._type_spec
u._type_spec
inner._type_spec
tf.nest.flatten(r2, expand_composites=True)
tf.nest.flatten(u, expand_composites=True)
tf.nest.map_structure(lambda x: x + 1, {'a': r, 'b': tf.constant(1)})
tf.nest.map_structure(tf.identity, {'a': r, 'b': tf.constant(1)}, expand_composites=True)
tf.nest.pack_sequence_as([r, 1], [tf.range(6) * 2, tf.constant([0, 2, 3, 3, 6], tf.int64), 5], expand_composites=True)
tf.nest.flatten([r, 1])
tf.RaggedTensorSpec([2, None, None], tf.int32, 2)
tf.RaggedTensorSpec([2, 3, None], tf.int32, 1)
tf.RaggedTensorSpec(ragged_rank=1)
tf.RaggedTensorSpec()
r.numpy(), r2.numpy(), u.numpy()
r.to_list(), s.to_list(), f.to_list()
len(r)
bool(r)
hash(r)
[x for x in r]
r[0], r[1:], r[:, 0:1], r[-1], r[::2], r[:, ::-1], r[:, -1:], r[3, 1]
r[:, 0]
r[10]
u[:, 0]
u[:, 1:]
r2[0], r2[0, 1], r2[:, :1], r2[:, :, :1], r2[..., 0:1], r2[0][0]
r[tf.newaxis]
r[:, tf.newaxis]
r['a']
r+1
1+r
r+r
r*2.
r+[[10], [20], [30], [40]]
r+tf.constant([[10], [20], [30], [40]])
tf.constant([[10], [20], [30], [40]])+r
r2+tf.ragged.constant([[[1], [2]], [], [[3]]])
r+tf.ragged.constant([[1]])
r+tf.ragged.constant([[1, 2], [3], [], [4, 5]])
r<3
r==r
r==3
r!=r
-r
~(r<3)
abs(-r)
r**2, r//2, r%2, r/2
tf.reduce_sum(r), tf.reduce_sum(r, axis=0), tf.reduce_sum(r, axis=1), tf.reduce_sum(r, axis=-1), tf.reduce_sum(r, axis=1, keepdims=True)
tf.reduce_mean(f, axis=1), tf.reduce_max(r, axis=1), tf.reduce_min(r, axis=1), tf.reduce_prod(r, axis=1)
tf.reduce_any(r>2, axis=1), tf.reduce_all(r>2, axis=1)
tf.reduce_sum(r2, axis=1), tf.reduce_sum(r2, axis=2), tf.reduce_sum(r2, axis=[1, 2]), tf.reduce_sum(r2, axis=0), tf.reduce_sum(r2, axis=[0, 1])
tf.math.reduce_std(f, axis=1), tf.math.reduce_variance(f, axis=1)
tf.concat([r, r], axis=0), tf.concat([r, r], axis=1)
tf.concat([r, tf.constant([[7], [8], [9], [10]])], axis=1)
tf.stack([r, r]), tf.stack([r, r], axis=1)
tf.ragged.stack([r[0], r[1]]), tf.ragged.stack([[1, 2], [3]])
tf.gather(r, [0, 3]), tf.gather(r, [[0], [3]]), tf.gather(tf.range(10)*2, r), tf.gather(r, tf.ragged.constant([[0], [1, 3]]))
tf.where(r>2, r, -r)
tf.expand_dims(r, 0), tf.expand_dims(r, 1), tf.expand_dims(r, 2), tf.expand_dims(r, -1)
tf.squeeze(tf.expand_dims(r, 0), 0)
tf.tile(r, [1, 2]), tf.tile(r, [2, 1])
tf.zeros_like(r), tf.ones_like(r)
tf.cast(r, tf.float32)
tf.one_hot(r, 7)
tf.reverse(r, [0]), tf.reverse(r, [1])
tf.nn.softmax(f)
tf.strings.join([s,s],'-'), tf.strings.length(s), tf.strings.reduce_join(s,axis=-1,separator=' ')
tf.strings.split(['a b','c'])
tf.strings.split([['a b','c'],['d e f','']])
tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
tf.ragged.boolean_mask(r, r>2)
tf.ragged.boolean_mask(r, [True, False, False, True])
tf.ragged.range([3, 5, 2]), tf.ragged.range([0, 5], [3, 7], [1, 2]), tf.ragged.range(0., 2., .5)
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]), tf.ragged.segment_ids_to_row_splits([0, 0, 2])
tf.ragged.map_flat_values(tf.square, r)
tf.ragged.stack_dynamic_partitions(['a','b','c'],[0,1,0],3)
r.to_tensor(), r.to_tensor(default_value=-1, shape=[None, 5]), r2.to_tensor(), r.to_tensor(shape=[2, 2])
r.to_sparse()
tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[1, 0], [2, 3]]))
tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[0, 1], [2, 3]]))
r.bounding_shape(), r.bounding_shape(axis=1), r2.bounding_shape(), inner.bounding_shape()
r.row_lengths(), r2.row_lengths(2), r.value_rowids(), r.row_starts(), r.row_limits(), r.nrows(), r2.nested_row_lengths(), r2.nested_value_rowids()
r2.merge_dims(0, 1), r2.merge_dims(1, 2), r2.merge_dims(0, 2)
inner.merge_dims(1, 2)
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 4])
tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 2, 3])
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 2])
tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 1])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [-1, 4])
tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2)
tf.RaggedTensor.from_row_splits([1, 2, 3], [0., 3.])
tf.RaggedTensor.from_row_splits([1, 2, 3], [[0, 3]])
tf.convert_to_tensor(r)
tf.constant(r)
tf.RaggedTensor([1], [0, 1])
tf.exp(f)
tf.maximum(r, 2)
tf.clip_by_value(r, 2, 4)
tf.nn.relu(f)
tf.reshape(r, [6])
tf.cumsum(r, axis=1)
tf.identity(r)
tf.is_tensor(r)
tf.add_n([r, r])
tf.nn.embedding_lookup(tf.ones([8, 2]), r)
r.with_values(tf.range(6)*10), r2.with_flat_values(tf.range(6)*2)
r.with_row_splits_dtype(tf.int32).row_splits
r.consumers()
tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(r), tf.RaggedTensorSpec([None, None], tf.float32).is_compatible_with(r)
tf.map_fn(lambda x: x*2, r)
tf.map_fn(lambda x: x*2, r, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.map_fn(lambda n: tf.range(n), tf.constant([1, 3, 2]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
tf.gather_nd(r, [[0, 1], [3, 2]])
tf.size(r), tf.rank(r)
grad(lambda v: r.with_values(v).to_tensor(), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.reduce_sum(r.with_values(v), axis=1), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.reduce_mean(r.with_values(v)[:2], axis=1), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.gather(r.with_values(v), [3, 0, 3]), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.concat([r.with_values(v), r.with_values(2 * v)], axis=1), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.nn.softmax(r.with_values(v)), tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: r.with_values(v)[:, :1], tf.constant([1., 2., 3., 4., 5., 6.]))
grad(lambda v: tf.reduce_max(r.with_values(v), axis=1)[:2], tf.constant([1., 2., 3., 4., 5., 6.]))
traced(lambda x: x + 1, r)
traced(lambda x: tf.reduce_sum(x, axis=1), r)
traced(lambda x: x[1:], r)
traced(lambda x: x.to_tensor(), r)
traced(lambda x: tf.concat([x, x], 1), r)
traced(lambda x: {'a': x, 'b': [x.row_lengths()]}, r)
traced(lambda x: x.row_splits, r2)
traced(lambda x: tf.strings.split(x), ['a b', 'c'])
traced(lambda x: tf.RaggedTensor.from_row_lengths(x, [1, 2]), [1, 2, 3])
traces(r, r + 1, r[:2], r2)
traces(s, s)
traced(lambda x: tf.map_fn(lambda y: y * 2, x), r)
traced(lambda x: tf.map_fn(lambda y: tf.reduce_sum(y), x, fn_output_signature=tf.int32), r)
tf.map_fn(lambda x: tf.reduce_sum(x), r, fn_output_signature=tf.int32)
tf.map_fn(lambda x: x[:1], r2)
tf.map_fn(lambda x: x[0] + x[1], (r, r * 2), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
traced(lambda x: tf.map_fn(lambda n: tf.range(n), x, fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)), tf.constant([1, 3, 2]))
tf.function(lambda x: x.to_tensor(), input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])(r)
tf.ragged.map_flat_values(tf.add, r, r)
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 2])
tf.RaggedTensor.from_tensor([[[1, 0], [2, 3]]], ragged_rank=2)
tf.RaggedTensor.from_tensor([[[1, 0], [2, 3]]], padding=0, ragged_rank=2)
tf.strings.bytes_split(['ab', ''])
tf.strings.split(s)
tf.strings.upper(s)
tf.gather(r, [[0, 1], [0, 0], [], [2]], batch_dims=1)
tf.gather(r, tf.ragged.constant([[1, 0], [0], [], [2]]), batch_dims=1)
tf.where(tf.ragged.constant([[True, False], [True]]))
tf.math.unsorted_segment_max([1, 5, 3], [0, 0, 2], 3)
tf.type_spec_from_value(r), tf.type_spec_from_value(tf.constant([1., 2.]))
tf.RaggedTensorSpec([None, None], tf.int32)._component_specs
tf.compat.v1.sparse_tensor_to_dense(r.to_sparse())
tf.split(r, 2)
tf.split(r, [1, 3])
tf.math.bincount(r)
tf.ragged.cross([s, s])
tf.ragged.cross_hashed([s, s], num_buckets=100)
tf.ragged.cross_hashed([s, tf.cast(tf.ragged.constant([[1, 2], [3]]), tf.int64)])
"""


def main():
    sys.path.insert(0, HERE)
    import expressions
    import tensorflow as tf
    answers = [expressions.answer(e, tf, SETUP) for e in EXPRESSIONS.strip().split("\n")]
    import golden
    with open(golden.path(__file__, "ragged.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
