"""Small programs of TensorArrays and of the functions that are loops over rows (map_fn, foldl, foldr, scan, vectorized_map, case, hessians), whose
results or errors in TensorFlow are in array_cases.json; see tests/golden/array_cases.py."""
from control_cases import gradient

EAGER, GRAPH = {}, {}


def array(tf, size=3, dtype=None, **kwargs):
    kwargs.setdefault("clear_after_read", False)
    return tf.TensorArray(dtype or tf.float32, size=size, **kwargs)


def numbers(tf):
    return tf.reshape(tf.range(6.0), [3, 2])


def in_loop(tf, a, count, value):
    return tf.while_loop(lambda i, a: i < count, lambda i, a: (i + 1, a.write(i, value(i))), (tf.constant(0), a))[1]


def grows(tf):
    a = in_loop(tf, array(tf, 0, dynamic_size=True), 4, lambda i: tf.cast(i, tf.float32) * [1.0, 2.0])
    return a.stack(), a.size()


def properties(tf):
    a = array(tf, 2, tf.int64, element_shape=[None, 3])
    return a.dtype.name, str(a.element_shape), bool(a.dynamic_size), a.handle, a.dtype == tf.int64


def shapes_are_merged(tf):
    a = array(tf, 2, element_shape=[None, 3])
    b = a.write(0, tf.ones([2, 3]))
    return str(a.element_shape), str(b.element_shape)


def shapes_are_not_merged(tf):
    a = array(tf, 2, infer_shape=False, element_shape=[None, 3])
    b = a.write(0, tf.ones([2, 3])).write(1, tf.ones([1, 3]))
    return str(a.element_shape), str(b.element_shape), b.concat(), b.read(1)


def shape_after_loop(tf):
    a = in_loop(tf, array(tf, 4), 4, lambda i: tf.cast(i, tf.float32) * [1.0, 2.0])
    return str(a.element_shape), str(a.stack().shape)


def closed(tf):
    a = array(tf)
    a.close()
    return a.size()


def reads_twice(tf):
    a = tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, 2.0)
    return a.read(0), a.stack(), a.read(0)


def write_again(tf):
    a = tf.TensorArray(tf.float32, 2).write(0, 1.0).write(1, 2.0).write(0, 3.0)
    return a.read(0), a.read(1)


def identity(tf):
    return array(tf).unstack(numbers(tf)).identity().stack()


def no_sizes(tf):
    return tf.TensorArray(tf.float32)


def grad(tf):
    return array(tf).grad("source")


def with_handle(tf):
    return tf.TensorArray(tf.float32, 3, handle=tf.constant(1))


def with_flow(tf):
    a = array(tf).unstack(numbers(tf))
    return tf.TensorArray(tf.float32, flow=a.flow).read(1) if a.flow.dtype == tf.variant else str(a.flow.dtype)


def with_wrong_flow(tf):
    return tf.TensorArray(tf.float32, size=2, flow=tf.constant(1.0)).size()


def gradient_of_writes(tf):
    def f(x, y):
        a = array(tf, 3).write(0, x * x).write(1, y * x).write(2, y)
        return tf.reduce_sum(a.stack() * [1.0, 2.0, 3.0]) + a.read(1)
    return gradient(tf, f, 2.0, 3.0)


def gradient_of_wholes(tf):
    def f(x):
        a = array(tf, 3).unstack(x)
        b = array(tf, 3).scatter([2, 0, 1], a.stack() * x)
        return tf.reduce_sum(b.gather([0, 2]) * 2.0) + tf.reduce_sum(a.concat() ** 2)
    return gradient(tf, f, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def gradient_of_pieces(tf):
    def f(x):
        a = array(tf, 2, infer_shape=False).split(x, [1, 2])
        return tf.reduce_sum(a.read(1) * x[1:]) + tf.reduce_sum(a.concat())
    return gradient(tf, f, [1.0, 2.0, 3.0])


def gradient_of_loop(tf):
    def f(x):
        a = in_loop(tf, array(tf, 4), 4, lambda i: x * tf.cast(i, tf.float32) * x)
        return tf.reduce_sum(a.stack() ** 2)
    return gradient(tf, f, 1.5)


def rows_of_unknown_number(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    def f(x):
        return tf.map_fn(lambda v: v * 2.0, x), tf.scan(lambda a, v: a + v, x), tf.foldl(lambda a, v: a + v, x), tf.foldr(lambda a, v: a - v, x)
    return f(numbers(tf)), [str(s.shape) for s in f.get_concrete_function().structured_outputs]


def no_rows(tf):
    x = tf.zeros([0, 2])
    return tf.map_fn(lambda v: v * 2.0, x, fn_output_signature=tf.TensorSpec([2])), tf.foldl(lambda a, v: a + v, x, initializer=tf.ones([2]))


def scan_no_rows(tf):
    return tf.scan(lambda a, v: a + v, tf.zeros([0, 2]), initializer=tf.ones([2]))


def foldl_no_rows(tf):
    return tf.foldl(lambda a, v: a + v, tf.zeros([0, 2]))


def map_signature(tf):
    return tf.map_fn(lambda v: tf.reduce_sum(v), numbers(tf), fn_output_signature=tf.TensorSpec([], tf.float32))


def map_wrong_shape(tf):
    return tf.map_fn(lambda v: v, numbers(tf), fn_output_signature=tf.TensorSpec([3], tf.float32))


def map_of_two_lengths(tf):
    return tf.map_fn(lambda p: p[0] + p[1], (tf.zeros([3]), tf.zeros([2])), fn_output_signature=tf.float32)


def map_variable(tf):
    return tf.map_fn(lambda v: v + 1.0, tf.constant([1.0, 2.0])), tf.map_fn(lambda d: {"a": d["a"] * 2}, {"a": tf.range(3)})


def map_no_gradient(tf):
    return gradient(tf, lambda x: tf.reduce_sum(tf.map_fn(lambda v: v * v, x, back_prop=False)), [1.0, 2.0])


def map_strings(tf):
    return tf.map_fn(lambda s: tf.strings.join([s, "!"]), tf.constant(["a", "b"])), tf.map_fn(tf.strings.length, tf.constant(["a", "bcd"]), fn_output_signature=tf.int32)


def map_lists(tf):
    return tf.map_fn(lambda v: [v[0] + 1], [tf.range(3)])


def map_ragged(tf):
    r = tf.ragged.constant([[1, 2], [], [3]])
    return (tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.int32),
            tf.map_fn(lambda n: tf.range(n), tf.constant([2, 0, 1]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32)).to_tensor())


def map_nested(tf):
    return tf.map_fn(lambda row: tf.map_fn(lambda v: v * 3.0, row), numbers(tf))


def scan_shape_changes(tf):
    return tf.scan(lambda a, v: tf.concat([a, v], 0), numbers(tf))


def scan_more(tf):
    x = numbers(tf)
    return (tf.scan(lambda a, v: (a[0] + v[0], a[1] * v[1]), (x, x * 2.0)), tf.scan(lambda a, v: a + v[0] * v[1], (x, x), initializer=tf.zeros([2])),
            tf.scan(lambda a, v: a - v, x, initializer=tf.zeros([2]), reverse=True))


def scan_two_lengths(tf):
    return tf.scan(lambda a, v: a + v[0] * v[1], (tf.zeros([3]), tf.zeros([2])), initializer=0.0)


def scan_counts(tf):
    return tf.scan(lambda a, v: (a[0], a[1], v), tf.constant([1.0, 2.0]), initializer=(0.0, 1.0))


def fold_structures(tf):
    x = numbers(tf)
    return tf.foldl(lambda a, v: (a[0] + v[0], a[1] * v[1]), (x, x)), tf.foldr(lambda a, v: {"s": a["s"] + v}, x, initializer={"s": tf.zeros([2])})


def fold_gradient(tf):
    return gradient(tf, lambda x: tf.foldl(lambda a, v: a * v + v, x), [1.0, 2.0, 3.0]) + gradient(tf, lambda x: tf.foldr(lambda a, v: a * v + v, x), [1.0, 2.0, 3.0])


def fold_dtype(tf):
    return tf.foldl(lambda a, v: tf.cast(v, tf.int32), tf.constant([1.0, 2.0]))


def fold_structure_changes(tf):
    return tf.foldl(lambda a, v: (a, v), tf.constant([1.0, 2.0]))


def vectorized_more(tf):
    x = numbers(tf)
    return tf.vectorized_map(lambda p: p[0] + p[1], (x, x)), gradient(tf, lambda x: tf.reduce_sum(tf.vectorized_map(lambda v: v * v * v, x)), [1.0, 2.0])


def vectorized_broadcast(tf):
    return tf.vectorized_map(lambda p: p[0] + p[1], (numbers(tf), tf.constant([[10.0, 20.0]])))


def case_of_many(tf):
    x = tf.constant(4)
    return tf.case([(tf.equal(x, i), lambda i=i: (tf.constant(i), {"a": tf.constant([i, i])})) for i in range(6)])


def case_gradient(tf):
    def f(x):
        return tf.case([(x < 1.0, lambda: x * 2.0), (x < 3.0, lambda: x * x)], default=lambda: x * x * x)
    return gradient(tf, f, 0.5) + gradient(tf, f, 2.0) + gradient(tf, f, 4.0)


def hessian_values(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0]])
    z = tf.reduce_sum(x * x * x) + tf.reduce_sum(tf.matmul(y, y, transpose_a=True) * y)
    return tf.hessians(z, [x, y])


def hessian_unconnected(tf):
    return tf.hessians(tf.constant([1.0]) * 2.0, tf.constant([1.0]))


for case in (grows, properties, shapes_are_merged, shapes_are_not_merged, shape_after_loop, reads_twice, write_again, identity, no_sizes, grad,
             with_flow, with_wrong_flow, gradient_of_writes, gradient_of_wholes, gradient_of_pieces, gradient_of_loop, no_rows, scan_no_rows, foldl_no_rows,
             map_signature, map_wrong_shape, map_of_two_lengths, map_variable, map_no_gradient, map_strings, map_lists, map_ragged, map_nested,
             scan_shape_changes, scan_more, scan_two_lengths, scan_counts, fold_structures, fold_gradient, fold_dtype, fold_structure_changes,
             vectorized_more, vectorized_broadcast, case_of_many, case_gradient):
    EAGER[case.__name__] = GRAPH[case.__name__] = case
EAGER.update({case.__name__: case for case in (closed, with_handle, rows_of_unknown_number)})
GRAPH.update({case.__name__: case for case in (hessian_values, hessian_unconnected)})

# One call each on an array: what it gives, or the error.
CALLS = """
array(tf).read(-1)
array(tf).read(3)
array(tf).read(0)
array(tf, element_shape=[2]).read(0)
array(tf, element_shape=[None, 2]).read(0)
array(tf).write(-1, 1.0).stack()
array(tf).write(3, 1.0).stack()
array(tf, 1).write(0, 3).stack()
array(tf, 1).write(0, [1, 2]).stack()
array(tf, 1).write(0, tf.constant(1)).stack()
array(tf, 1).write(0, "a").stack()
array(tf, 1, tf.int32).write(0, 1.5).stack()
array(tf, 1, tf.int32).write(0, [1.5]).stack()
array(tf, 2).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
array(tf, 2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
array(tf, 2, element_shape=[2]).write(0, [1.0]).stack()
array(tf, 2).write(1, [1.0]).stack()
array(tf, 2).stack()
array(tf, 0).stack()
array(tf, 0, element_shape=[2]).stack()
array(tf, 2, element_shape=[2]).stack()
array(tf, 1, dynamic_size=True).write(4, 1.0).stack()
array(tf, 1, dynamic_size=True).write(4, 1.0).size()
array(tf, tf.constant(2)).write(1, 1.0).size()
array(tf, -1).size()
array(tf, 3).write(tf.constant(1), 2.0).read(tf.constant(1))
array(tf, 3).write(tf.constant(1, tf.int64), 2.0).read(tf.constant(1, tf.int64))
array(tf).unstack(numbers(tf)).gather([2, 0])
array(tf).unstack(numbers(tf)).gather([3])
array(tf).unstack(numbers(tf)).gather(tf.constant([1]))
array(tf).gather([1])
array(tf).unstack(numbers(tf)).concat()
array(tf).unstack([1.0, 2.0, 3.0]).concat()
array(tf, 0).concat()
array(tf, 2, element_shape=[1, 2]).concat()
array(tf, 2, infer_shape=False).write(0, [1.0]).write(1, [[2.0]]).concat()
array(tf).unstack(1.0).stack()
array(tf, 2).unstack(numbers(tf)).stack()
array(tf, 4).unstack(numbers(tf)).size()
array(tf, 2, dynamic_size=True).unstack(numbers(tf)).stack()
array(tf, element_shape=[3]).unstack(numbers(tf)).stack()
array(tf).unstack([1.5, 2.5, 3.5]).stack()
array(tf).scatter([2, 0], numbers(tf)[:2]).stack()
array(tf).scatter([3, 0], numbers(tf)[:2]).stack()
array(tf, dynamic_size=True).scatter([4, 0], numbers(tf)[:2]).stack()
array(tf).scatter([0, 1], numbers(tf)).stack()
array(tf).scatter([0, -1], numbers(tf)[:2]).stack()
array(tf, 2).split([1.0, 2.0, 3.0], [1, 2]).read(1)
array(tf, 2).split([1.0, 2.0, 3.0], [1, 1]).read(1)
array(tf, 2).split([1.0, 2.0, 3.0], [2, 2]).read(1)
array(tf, 3).split([1.0, 2.0, 3.0], [1, 2]).read(1)
array(tf, 3, dynamic_size=True).split([1.0, 2.0, 3.0], [1, 2]).size()
array(tf, 2).split(1.0, [1, 2]).read(1)
array(tf, 2).split([1.0, 2.0, 3.0], 3).read(0)
array(tf, 2).split([1.0, 2.0, 3.0, 4.0], [2, 2]).stack()
array(tf, 2).split(numbers(tf), [1, 2]).concat()
array(tf, 1).split(tf.range(3), [3]).read(0)
tf.TensorArray("float32", 2, True, name="mine", tensor_array_name="a", colocate_with_first_write_call=False).write(2, 1.0).size()
tf.TensorArray(tf.string, 2).write(0, "a").write(1, b"b").stack()
tf.TensorArray(tf.float32, 2, element_shape=[]).read(0)
tf.TensorArray(tf.float32, [1, 2]).size()
tf.TensorArray(tf.float32, 1.5).size()
tf.TensorArray("nothing", 1).size()
"""
for line in CALLS.strip().splitlines():
    EAGER["expression " + line] = lambda tf, line=line: eval(line, {"tf": tf, "array": array, "numbers": numbers})
    if "scatter([0, -1]" not in line:  # TensorFlow 2.15.1 crashes
        GRAPH["expression " + line] = EAGER["expression " + line]
