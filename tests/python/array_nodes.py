"""Programs whose nodes in graphs (names, ops, inputs, in order) are TensorFlow's: TensorArrays, loops over rows, loops and choices. In a graph that a
program builds and in a tf.function. See tests/golden/array_cases.py."""


def arrays(tf, x):
    a = tf.TensorArray(tf.float32, 3)
    a = a.write(0, [1.0, 2.0])
    a = a.write(tf.constant(1), x[0], name="mine")
    b = tf.TensorArray(tf.float32, tf.shape(x)[0], name="arr").unstack(x)
    return [a.read(0), b.read(1, name="rd"), b.stack("st"), b.gather([0, 1]), b.concat(), a.size()]


def more_arrays(tf, x):
    h = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    h = h.write(0, 1.0)
    n = tf.TensorArray(tf.float32, 2).split([1.0, 2.0], [1, 1])
    return [h.size(), h.stack(), h.gather([0]), n.concat("cc"), tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, 2]).concat(),
            tf.TensorArray(tf.int32, 3).scatter([1, 0], [5, 6]).identity().stack()]


def maps(tf, x):
    return [tf.map_fn(lambda a: a * 2.0, x),
            tf.map_fn(lambda a: (a[0] + 1, a[1]), (tf.ones([3]), tf.constant([1, 2, 3])), fn_output_signature=(tf.float32, tf.int32), name="mine"),
            tf.map_fn(lambda a: a, x, fn_output_signature=tf.TensorSpec([2]))]


def folds(tf, x):
    return [tf.foldl(lambda a, b: a + b, x), tf.foldr(lambda a, b: a + b, x),
            tf.foldl(lambda a, b: a + b, tf.ones([3, 2]), initializer=tf.constant([1.0, 2.0]), name="mine"),
            tf.foldr(lambda a, b: a + b, tf.ones([3, 2]), initializer=tf.zeros([2]))]


def scans(tf, x):
    return [tf.scan(lambda a, b: a + b, x), tf.scan(lambda a, b: a + b, x, reverse=True),
            tf.scan(lambda a, b: a + b, tf.ones([3, 2]), initializer=tf.constant([1.0, 2.0]), name="mine"),
            tf.scan(lambda a, b: (a[0] + b, a[1]), tf.ones([3, 2]), initializer=(tf.zeros([2]), 0.0), reverse=True)]


def loops(tf, x):
    return [tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, x), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])))[1],
            tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,), maximum_iterations=4, name="mine")[0]]


def array_in_loop(tf, x):
    a = tf.TensorArray(tf.float32, 3)
    return [tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i])), (tf.constant(0), a))[1].stack()]


def cases(tf, x):
    y = tf.reduce_sum(x)
    return [tf.case([(y > 1.0, lambda: y), (y > 2.0, lambda: y * 2.0)]),
            tf.case([(y > 1.0, lambda: y), (y > 2.0, lambda: y * 2.0)], default=lambda: y * 3.0),
            tf.switch_case(tf.cast(y, tf.int32), [lambda: y, lambda: y * 2.0])]


PROGRAMS = {f.__name__: f for f in (arrays, more_arrays, maps, folds, scans, loops, array_in_loop, cases)}


def rows_of(graph):
    return [[o.name, o.type, [i.name for i in o.inputs], [c.name for c in o.control_inputs]] for o in graph.get_operations()]


def in_graph(tf, name):
    with tf.Graph().as_default() as graph:
        PROGRAMS[name](tf, tf.compat.v1.placeholder(tf.float32, [None, 2], name="x"))
        return rows_of(graph)


def in_function(tf, name):
    f = tf.function(lambda x: PROGRAMS[name](tf, x), autograph=False)
    return rows_of(f.get_concrete_function(tf.TensorSpec([None, 2], name="x")).graph)
