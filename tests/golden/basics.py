"""What expressions on tensors, variables, random generators, ragged tensors and strings give in TensorFlow: makes tests/golden/basics/basics.json for
tests/python/test_basics.py.

Usage: basics.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions
import golden

# ---- floats that are too large for float32
LARGE = r"""
tf.constant(1e39)
tf.constant([1e39])
tf.constant([1.0, -1e39])
tf.constant([1, 1e39])
tf.constant(3.4028235e38)
tf.constant(3.4028235677973362e+38)
tf.constant(3.4028235677973366e+38)
tf.constant(float('inf'))
tf.constant([float('nan'), -float('inf')])
tf.constant(1e39, tf.float32)
tf.constant([1e39], tf.float32)
tf.constant(1e39, tf.float64)
tf.constant(1e5, tf.float16)
tf.constant([1e39], tf.bfloat16)
tf.constant(1e39, tf.complex64)
tf.constant(1e39+1j)
tf.convert_to_tensor(1e39)
tf.convert_to_tensor(1e39, tf.float32)
tf.convert_to_tensor(1e39, dtype_hint=tf.float32)
t + 1e39
1e39 * t
t < 1e39
tf.add(1e39, 1.0)
tf.add(t, 1e39)
tf.maximum(t, 1e39)
tf.Variable(1e39)
tf.Variable(1.0).assign(1e39)
v + 1e39
tf.fill([2], 1e39)
tf.reduce_sum([1e39, 1.0])
tf.constant([1.0, 10**39])
tf.constant(10**39, tf.float32)
tf.constant([1.0, 10**400])
tf.constant(np.float64(1e39))
tf.constant(np.float64(1e39), tf.float32)
tf.constant([np.float64(1e39)])
tf.constant([np.float64(1e39)], tf.float32)
tf.constant([1.0, np.float64(1e39)])
tf.constant([np.float32(1), 1e39])
tf.stack([t, [1e39, 1e39]])
tf.cast(1e39, tf.float64)
tf.clip_by_value(t, -1e39, 1e39)
tf.where([True], 1e39, 1.0)
tf.raw_ops.Add(x=1e39, y=1.0)
tf.raw_ops.Add(x=t, y=1e39)
tf.sqrt(1e39)
"""

EINSUM = r"""
tf.einsum('ij,jk->ik', m, tf.transpose(m))
tf.einsum('ij,kj', m, m)
tf.einsum('ji', m)
tf.einsum('bA', m)
tf.einsum('ij->', m)
tf.einsum('ii', m[:, :2])
tf.einsum('...i,i', m, tf.range(3.))
tf.einsum('...i,i->...', m, tf.range(3.))
tf.einsum('ij,jk,kl->il', m, tf.ones([3, 2]), tf.ones([2, 2]))
tf.einsum('i,j,k->ijk', t, t, t)
tf.einsum('ij,ij,ij->i', m, m, m)
tf.einsum('ij,jk,kl->il', m, tf.ones([3, 2]), tf.ones([2, 2]), optimize='optimal')
tf.einsum('...ij,...jk,...kl->...il', tf.ones([2, 2, 3]), tf.ones([3, 2]), tf.ones([2, 2, 2]))
tf.einsum(' i j , k j -> i k ', m, m, name='x')
tf.einsum('i->ii', t)
tf.einsum('ij,jk->ik', m)
tf.einsum('ij->ij', m, m)
tf.einsum('ij,jk->iz', m, m)
tf.einsum('ij,jk->ik', m, m)
tf.einsum('ijk->i', m)
tf.einsum('i1->i', m)
tf.einsum('ij.->i', m)
tf.einsum('ij->i->j', m)
tf.einsum('ij-i', m)
tf.einsum('', tf.constant(2.))
tf.einsum(',->', tf.constant(2.), tf.constant(3.))
tf.linalg.einsum('ij,ij->i', m, m)
tf.einsum('ij,kj->ik', n64[None], n64[None])
gradient(lambda x: tf.einsum('ij,kj->ik', x, x), m)
gradient(lambda x: tf.einsum('ij,jk,kl->il', x, tf.transpose(x), x), m)
tf.function(lambda x: tf.einsum('ij,kj->ik', x, x), input_signature=[tf.TensorSpec([None, 3])])(m)
tf.function(lambda x: tf.einsum('...j,...j->...', x, x), input_signature=[tf.TensorSpec(None)])(m)
tf.function(lambda x: tf.tensordot(x, x, [[1], [1]]), input_signature=[tf.TensorSpec([None, None])])(m)
tf.tensordot(m, m, -1)
tf.tensordot(m, m, 2)
tf.tensordot(m, tf.ones([3, 2]), 1)
tf.tensordot(t, t, 0)
"""

VARIABLES = r"""
tf.Variable(m).scatter_nd_add([[0], [1]], [[1., 2., 3.], [3., 4., 5.]])
tf.Variable(m).scatter_nd_sub([[0, 1], [1, 0]], [10., 20.])
tf.Variable(m).scatter_nd_update([[0, 1], [1, 0]], [10, 20])
tf.Variable(m).scatter_nd_max([[0, 1], [1, 0]], [10., 2.])
tf.Variable(m).scatter_nd_min([[0, 1], [1, 0]], [10., 2.])
tf.Variable(m).scatter_nd_update([[5]], [[1., 2., 3.]])
tf.Variable(m).scatter_add(tf.IndexedSlices([[1., 2., 3.]], [1]))
tf.Variable(m).scatter_div(tf.IndexedSlices([[1., 2., 0.]], [1]))
tf.Variable(m).scatter_add([[1., 2., 3.]])
tf.Variable(m).batch_scatter_update(tf.IndexedSlices([[9.], [8.]], [[0], [1]]))
tf.Variable([[[1., 2.], [3., 4.]], [[5., 6.], [7., 8.]]]).batch_scatter_update(tf.IndexedSlices([[[9., 9.]], [[8., 8.]]], [[0], [1]]))
tf.Variable([1., 2.]).batch_scatter_update(tf.IndexedSlices([9.], [1]))
tf.Variable(2).count_up_to(3)
tf.Variable(3).count_up_to(3)
tf.Variable([1]).count_up_to(3)
tf.Variable(1., shape=tf.TensorShape(None))
tf.Variable([1., 2.], shape=tf.TensorShape(None)).assign([[1.]])
tf.Variable([1., 2.], shape=tf.TensorShape(None)).shape
tf.Variable([1., 2.], shape=tf.TensorShape(None)) + 1.
tf.Variable([1., 2.], shape=[None]).assign([1.])
tf.Variable([1., 2.], shape=[None]).assign([[1.]])
tf.Variable([1., 2.], shape=[3])
tf.Variable([1., 2.], shape=None).shape
tf.Variable(1., synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM).aggregation
tf.Variable(1., synchronization=tf.VariableSynchronization.ON_READ).synchronization
tf.Variable(1., synchronization=tf.VariableSynchronization.ON_READ).trainable
tf.Variable(1., synchronization=tf.VariableSynchronization.ON_READ, trainable=True).trainable
tf.Variable(1., synchronization=tf.VariableSynchronization.NONE).synchronization
tf.Variable(1., aggregation='sum')
tf.Variable(1., trainable=None).trainable
tf.Variable(1., caching_device='cpu')
tf.Variable(1., constraint=abs).constraint
tf.Variable(-1., constraint=abs).assign(-5.)
tf.Variable(1., constraint=3)
copy.deepcopy(tf.Variable(1., constraint=abs)).constraint
pickle.loads(pickle.dumps(tf.Variable(1., constraint=abs))).constraint
tf.Variable(1., None, True, None, 'x').name
v.__iadd__(1.)
v.__isub__(1.)
v.__imul__(1.)
v.__itruediv__(1.)
v.__ipow__(1.)
v.eval()
v.to_proto()
v.initial_value
v.op
v.graph
v._shared_name
v.load([1.])
v.load([3., 4.])
v.assign([5., 6.], read_value=False)
v.assign_add([5., 6.], read_value=False)
v.assign([[1.]])
tf.keras.constraints.MaxNorm(1.5)(m)
tf.keras.constraints.NonNeg()(-m)
tf.keras.constraints.UnitNorm(axis=[0, 1])(m)
tf.keras.constraints.MinMaxNorm(0.5, 1., 0.7, axis=1)(m)
tf.keras.constraints.Constraint()(t)
tf.keras.constraints.MaxNorm(1.5).get_config()
tf.keras.constraints.UnitNorm(axis=[0, 1]).get_config()
tf.keras.constraints.serialize(tf.keras.constraints.NonNeg())
tf.keras.constraints.get({'class_name': 'MinMaxNorm', 'config': {'rate': 0.5}}).get_config()
tf.keras.constraints.get('foo')
tf.keras.constraints.get(3)
tf.keras.constraints.get(None)
tf.keras.constraints.get(abs)
tf.keras.layers.Dense(2, kernel_constraint='foo')
tf.keras.layers.Dense(2, kernel_constraint=tf.keras.constraints.MaxNorm(1.5)).get_config()['kernel_constraint']
"""

RANDOM = r"""
tf.random.Generator.from_seed(7).state
tf.random.Generator.from_seed(7).key
tf.random.Generator.from_seed(7).algorithm
tf.random.Generator.from_seed(-5).state
tf.random.Generator.from_seed(2**63).state
tf.random.Generator.from_seed(2**64-1).state
tf.random.Generator.from_seed(2**64).state
tf.random.Generator.from_seed(1.5).state
tf.random.Generator.from_seed([1,2]).state
tf.random.Generator.from_seed([1,2,3]).state
tf.random.Generator.from_seed([1,2,3,4]).state
tf.random.Generator.from_seed(7, alg='threefry').normal([3])
tf.random.Generator.from_seed(7, alg=2).normal([3])
tf.random.Generator.from_seed(7, alg=1).normal([3])
tf.random.Generator.from_seed(7, alg='philox').normal([3])
tf.random.Generator.from_seed(7, alg='auto_select').normal([3])
tf.random.Generator.from_seed(7, alg='auto_select').algorithm
tf.random.Generator.from_seed(7, alg=3).algorithm
tf.random.Generator.from_seed(7, alg='foo')
tf.random.Algorithm.PHILOX
tf.random.Generator.from_seed(7, alg=tf.random.Algorithm.PHILOX).normal([3])
list(tf.random.Algorithm)
stream(lambda g: g.normal([3]))
stream(lambda g: g.normal([2,3], mean=1., stddev=2.))
stream(lambda g: g.normal([5], dtype=tf.float64))
stream(lambda g: g.normal([5], dtype=tf.float16))
stream(lambda g: g.normal([]))
stream(lambda g: g.normal([0]))
stream(lambda g: g.uniform([3]))
stream(lambda g: g.uniform([3], 1., 5.))
stream(lambda g: g.uniform([3], dtype=tf.float64))
stream(lambda g: g.uniform([3], 0, 10, dtype=tf.int32))
stream(lambda g: g.uniform([3], -5, 10, dtype=tf.int64))
stream(lambda g: g.uniform([3], dtype=tf.int32))
stream(lambda g: g.uniform([3], maxval=10, dtype=tf.int32))
stream(lambda g: g.uniform([300], maxval=10, dtype=tf.int32)[-3:])
stream(lambda g: g.uniform_full_int([3]))
stream(lambda g: g.uniform_full_int([3], dtype=tf.int32))
stream(lambda g: g.uniform_full_int([3], dtype=tf.int64))
stream(lambda g: g.truncated_normal([5]))
stream(lambda g: g.truncated_normal([5], 1., 2., dtype=tf.float64))
stream(lambda g: g.truncated_normal([300])[-4:])
stream(lambda g: g.make_seeds(2))
stream(lambda g: g.make_seeds())
stream(lambda g: g.skip(10))
tf.random.Generator.from_seed(7).skip(-1)
[g.state.numpy().tolist() for g in tf.random.Generator.from_seed(7).split(3)]
(lambda g: (g.split(2), g.state.numpy().tolist()))(tf.random.Generator.from_seed(7))[1]
(lambda g: (g.reset(g.state*2) , g.state.numpy().tolist()))(tf.random.Generator.from_seed(7))
(lambda g: (g.reset_from_seed(3) , g.state.numpy().tolist()))(tf.random.Generator.from_seed(7))
(lambda g: (g.reset_from_key_counter(5,[1,2]) , g.state.numpy().tolist()))(tf.random.Generator.from_seed(7))
tf.random.Generator.from_state([1,2,3], alg='philox').normal([2])
tf.random.Generator.from_state([1,2,3], alg=1).state
tf.random.Generator.from_state([1,2], alg='philox')
tf.random.Generator.from_state([1,2], alg='threefry').normal([2])
tf.random.Generator.from_state(tf.Variable([1,2,3],dtype=tf.int64), alg='philox').normal([2])
tf.random.Generator.from_state(tf.random.Generator.from_seed(7).state, 'philox').normal([2])
tf.random.Generator(state=[1,2,3], alg='philox').state
tf.random.Generator(copy_from=tf.random.Generator.from_seed(7)).state
tf.random.Generator.from_key_counter(key=3, counter=[1,2], alg='philox').state
tf.random.Generator.from_key_counter(key=3, counter=1, alg='philox').state
tf.random.Generator.from_key_counter(key=3, counter=[1,2,3], alg='philox').state
tf.random.Generator.from_non_deterministic_state().state.shape
tf.random.Generator.from_non_deterministic_state().state.dtype
tf.random.create_rng_state(7, 'philox')
tf.random.create_rng_state(7, 1)
tf.random.create_rng_state([1,2], 'threefry')
tf.random.create_rng_state(7, 'foo')
tf.random.experimental.create_rng_state(7, 'philox')
tf.random.experimental.Generator is tf.random.Generator
(lambda g: g.state.name)(tf.random.Generator.from_seed(7))
(lambda g: g.state.trainable)(tf.random.Generator.from_seed(7))
tf.random.stateless_uniform([3], [1,2])
tf.random.stateless_uniform([3], [1,2], alg='philox')
tf.random.stateless_uniform([3], [1,2], alg=1)
tf.random.stateless_uniform([3], [1,2], alg='foo')
tf.random.split([1,2], 3)
tf.random.experimental.stateless_split([1,2], 3)
tf.random.experimental.stateless_split(tf.constant([1,2],tf.int64), 3)
tf.random.fold_in([1,2], 3)
tf.random.experimental.stateless_fold_in([1,2], 3)
tf.random.experimental.stateless_fold_in([1,2], tf.constant(3,tf.int64))
tf.random.Generator.from_seed(7, alg='threefry').state
stream(lambda g: g.uniform_full_int([3], dtype=tf.uint32))
"""

RAGGED = r"""
(lambda rows, deep, parts: rows)(*ragged())
(lambda rows, deep, parts: str(rows))(*ragged())
(lambda rows, deep, parts: deep)(*ragged())
(lambda rows, deep, parts: parts)(*ragged())
tf.strings.split(['a,b','c'], ',')
tf.strings.split(['a b c','d e'], maxsplit=1)
tf.strings.split([['a b','c'],['d','e f g']])
tf.strings.split('a b')
tf.strings.split(tf.strings.split(['a,b c','d']), ',')
tf.strings.bytes_split('hello')
tf.strings.bytes_split(['hello','','ab'])
tf.strings.bytes_split([['a','bc'],['def','']])
tf.strings.bytes_split(tf.ragged.constant([['ab','c'],[]]))
(lambda rows, deep, parts: rows.values)(*ragged())
(lambda rows, deep, parts: rows.row_splits)(*ragged())
(lambda rows, deep, parts: rows.flat_values)(*ragged())
(lambda rows, deep, parts: deep.flat_values)(*ragged())
(lambda rows, deep, parts: deep.values)(*ragged())
(lambda rows, deep, parts: deep.nested_row_splits)(*ragged())
(lambda rows, deep, parts: deep.row_splits)(*ragged())
(lambda rows, deep, parts: rows.shape)(*ragged())
(lambda rows, deep, parts: deep.shape)(*ragged())
(lambda rows, deep, parts: parts.shape)(*ragged())
(lambda rows, deep, parts: rows.dtype)(*ragged())
(lambda rows, deep, parts: parts.dtype)(*ragged())
(lambda rows, deep, parts: rows.ragged_rank)(*ragged())
(lambda rows, deep, parts: deep.ragged_rank)(*ragged())
(lambda rows, deep, parts: rows.nrows())(*ragged())
(lambda rows, deep, parts: rows.row_lengths())(*ragged())
(lambda rows, deep, parts: deep.row_lengths(axis=2))(*ragged())
(lambda rows, deep, parts: deep.nested_row_lengths())(*ragged())
(lambda rows, deep, parts: rows.value_rowids())(*ragged())
(lambda rows, deep, parts: rows.row_starts())(*ragged())
(lambda rows, deep, parts: rows.row_limits())(*ragged())
(lambda rows, deep, parts: rows.bounding_shape())(*ragged())
(lambda rows, deep, parts: deep.bounding_shape())(*ragged())
(lambda rows, deep, parts: rows.to_list())(*ragged())
(lambda rows, deep, parts: deep.to_list())(*ragged())
(lambda rows, deep, parts: parts.to_list())(*ragged())
(lambda rows, deep, parts: rows.to_tensor())(*ragged())
(lambda rows, deep, parts: rows.to_tensor(default_value=-1))(*ragged())
(lambda rows, deep, parts: rows.to_tensor(shape=[None,2]))(*ragged())
(lambda rows, deep, parts: rows.to_tensor(shape=[2,5]))(*ragged())
(lambda rows, deep, parts: deep.to_tensor())(*ragged())
(lambda rows, deep, parts: parts.to_tensor())(*ragged())
(lambda rows, deep, parts: parts.to_tensor('x'))(*ragged())
(lambda rows, deep, parts: rows.numpy())(*ragged())
tf.ragged.constant([[1,2],[3,4]]).numpy()
(lambda rows, deep, parts: deep.numpy())(*ragged())
(lambda rows, deep, parts: rows[0])(*ragged())
(lambda rows, deep, parts: rows[-1])(*ragged())
(lambda rows, deep, parts: rows[1])(*ragged())
(lambda rows, deep, parts: rows[1:])(*ragged())
(lambda rows, deep, parts: rows[:, 0])(*ragged())
(lambda rows, deep, parts: rows[:, :1])(*ragged())
(lambda rows, deep, parts: rows[:, -1:])(*ragged())
(lambda rows, deep, parts: rows[2, 1])(*ragged())
(lambda rows, deep, parts: rows[5])(*ragged())
(lambda rows, deep, parts: deep[0])(*ragged())
(lambda rows, deep, parts: deep[0, 1])(*ragged())
(lambda rows, deep, parts: deep[0][1])(*ragged())
(lambda rows, deep, parts: deep[:, :1])(*ragged())
(lambda rows, deep, parts: deep[2, 0, 1])(*ragged())
(lambda rows, deep, parts: rows[..., 0:1])(*ragged())
(lambda rows, deep, parts: len(rows))(*ragged())
[x.numpy().tolist() for x in r]
tf.RaggedTensor.from_row_splits([1,2,3],[0,2,3])
tf.RaggedTensor.from_row_lengths([1,2,3],[2,0,1])
tf.RaggedTensor.from_row_starts([1,2,3],[0,2])
tf.RaggedTensor.from_row_limits([1,2,3],[2,3])
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2])
tf.RaggedTensor.from_value_rowids([1,2,3],[0,0,2], nrows=5)
tf.RaggedTensor.from_uniform_row_length([1,2,3,4], 2)
tf.RaggedTensor.from_uniform_row_length([1,2,3,4], 2).shape
tf.RaggedTensor.from_nested_row_splits([1,2,3],[[0,1,1],[0,3]])
tf.RaggedTensor.from_nested_row_lengths([1,2,3],[[1],[3]])
tf.RaggedTensor.from_tensor([[1,2],[3,4]])
tf.RaggedTensor.from_tensor([[1,2,0],[3,0,0]], padding=0)
tf.RaggedTensor.from_tensor([[1,2,0],[3,0,0]], lengths=[2,1])
tf.RaggedTensor.from_row_splits([1,2,3],[0,2])
tf.RaggedTensor.from_row_splits([1,2,3],[1,3])
tf.RaggedTensor.from_row_lengths([1,2,3],[2,2])
tf.RaggedTensor.from_row_splits([1,2,3],[[0,3]])
tf.RaggedTensor.from_row_splits([1,2,3], np.array([0,3],np.int32)).row_splits
(lambda rows, deep, parts: rows.with_values([10,20,30,40,50]))(*ragged())
(lambda rows, deep, parts: deep.with_flat_values([10,20,30,40,50,60]))(*ragged())
(lambda rows, deep, parts: rows + 1)(*ragged())
(lambda rows, deep, parts: rows * rows)(*ragged())
(lambda rows, deep, parts: rows + rows.with_values([1,1,1,1,1]))(*ragged())
(lambda rows, deep, parts: 1 + rows)(*ragged())
(lambda rows, deep, parts: -rows)(*ragged())
(lambda rows, deep, parts: rows == rows)(*ragged())
(lambda rows, deep, parts: rows > 2)(*ragged())
(lambda rows, deep, parts: tf.ragged.map_flat_values(tf.add, rows, 1))(*ragged())
(lambda rows, deep, parts: tf.ragged.map_flat_values(lambda x: x*2, deep))(*ragged())
tf.ragged.range([2,3])
tf.ragged.range([1,2],[3,5])
tf.ragged.range([0,5],[6,0],[2,-2])
tf.ragged.constant([])
tf.ragged.constant([1,2])
tf.ragged.constant([['a'],['b','c']])
tf.ragged.constant([[1.5],[2,3]], dtype=tf.float64)
tf.ragged.constant([[],[]])
tf.ragged.constant([[],[]], dtype=tf.string)
tf.ragged.constant([[1,[2]]])
tf.ragged.constant([[[1,2]],[[3,4],[5,6]]], ragged_rank=1)
tf.ragged.constant([[[1,2]],[[3,4],[5,6]]], inner_shape=(2,))
tf.ragged.constant(5)
tf.ragged.constant([[1],[2,3]], row_splits_dtype=tf.int32).row_splits
(lambda rows, deep, parts: isinstance(rows, tf.RaggedTensor))(*ragged())
(lambda rows, deep, parts: rows.merge_dims(0, 1))(*ragged())
(lambda rows, deep, parts: deep.merge_dims(0, 1))(*ragged())
(lambda rows, deep, parts: deep.merge_dims(1, 2))(*ragged())
(lambda rows, deep, parts: deep.merge_dims(0, 2))(*ragged())
(lambda rows, deep, parts: tf.function(lambda x: x.with_values(x.values*2))(rows))(*ragged())
(lambda rows, deep, parts: tf.function(lambda x: x.to_tensor())(rows))(*ragged())
tf.function(lambda x: tf.strings.split(x))(tf.constant(['a b','c']))
tf.function(lambda x: tf.strings.split(x).row_lengths())(tf.constant(['a b','c']))
(lambda rows, deep, parts: tf.strings.length(parts))(*ragged())
(lambda rows, deep, parts: tf.strings.upper(parts))(*ragged())
tf.strings.to_number(tf.strings.split(['1 2','3']))
(lambda rows, deep, parts: rows.consumers())(*ragged())
(lambda rows, deep, parts: rows.get_shape())(*ragged())
(lambda rows, deep, parts: bool(rows))(*ragged())
(lambda rows, deep, parts: hash(rows))(*ragged())
(lambda rows, deep, parts: rows.uniform_row_length)(*ragged())
(lambda rows, deep, parts: rows.with_row_splits_dtype(tf.int32).row_splits)(*ragged())
(lambda rows, deep, parts: rows._type_spec)(*ragged())
tf.RaggedTensorSpec([None, None], tf.int32)
"""

GROUPS = {"large": LARGE, "einsum": EINSUM, "variables": VARIABLES, "random": RANDOM, "ragged": RAGGED}


def main():
    import tensorflow as tf
    answers = [dict(expressions.answer(e, tf), group=g) for g, text in GROUPS.items() for e in text.strip().split("\n")]
    with open(golden.path(__file__, "basics.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
