"""Small programs of control flow whose results (or errors) in TensorFlow are in control.json; see tests/golden/control.py. Each takes the
library and gives tensors; `graph` cases run inside a tf.function, too."""


def gradient(tf, f, *xs):
    """f's value and gradients."""
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [y] + tape.gradient(y, xs)


EAGER, GRAPH = {}, {}


def both(case):
    EAGER[case.__name__] = GRAPH[case.__name__] = case
    return case


def graph(case):
    GRAPH[case.__name__] = case
    return case


def eager(case):
    EAGER[case.__name__] = case
    return case


# ---- cond ----

@both
def cond_values(tf):
    x, y = tf.constant(2.0), tf.constant([1.0, 5.0])
    return (tf.cond(x < 3.0, lambda: x + y, lambda: x * y), tf.cond(x > 3.0, lambda: x + y, lambda: x * y),
            tf.cond(tf.reduce_any(y > 4.0), lambda: {"a": x, "b": [y, (x,)]}, lambda: {"a": x, "b": [y * 2.0, (x,)]}))


@both
def cond_gradient(tf):
    def f(x):
        return tf.cond(x > 1.0, lambda: x * x * 3.0, lambda: tf.sin(x))
    return gradient(tf, f, 2.0) + gradient(tf, f, 0.5)


@both
def cond_number(tf):
    return tf.cond(tf.constant(3), lambda: tf.constant(1), lambda: tf.constant(2)), tf.cond(tf.constant(0.0), lambda: tf.constant(1), lambda: tf.constant(2))


@both
def cond_not_callable(tf):
    return tf.cond(tf.constant(True), tf.constant(1), lambda: tf.constant(2))


@both
def cond_false_not_callable(tf):
    return tf.cond(tf.constant(True), lambda: tf.constant(1), 3)


@both
def cond_python_bool(tf):
    return tf.cond(True, lambda: tf.constant(1), lambda: tf.constant(2))


@graph
def cond_structure(tf):
    x = tf.constant(1.0)
    return tf.cond(x > 0.0, lambda: (x, x), lambda: x)


@graph
def cond_count(tf):
    x = tf.constant(1.0)
    return tf.cond(x > 0.0, lambda: (x, x), lambda: (x, x, x))


@graph
def cond_dtype(tf):
    x = tf.constant(1.0)
    return tf.cond(x > 0.0, lambda: tf.constant(1), lambda: tf.constant(1.0))


@graph
def cond_keys(tf):
    x = tf.constant(1.0)
    return tf.cond(x > 0.0, lambda: {"a": x}, lambda: {"b": x})


@graph
def cond_none(tf):
    x = tf.constant(1.0)
    return tf.cond(x > 0.0, lambda: x, lambda: None)


@graph
def cond_nones(tf):
    x = tf.constant(1.0)
    return [tf.cond(x > 0.0, lambda: None, lambda: None) is None]


# ---- while_loop ----

@both
def while_values(tf):
    i, s = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), (tf.constant(0), tf.constant(0.0)))
    d = tf.while_loop(lambda d: d["n"] < 3, lambda d: [{"n": d["n"] + 1, "x": d["x"] * 2.0}], [{"n": tf.constant(0), "x": tf.constant([1.0, 2.0])}])
    return i, s, d


@both
def while_single(tf):
    return tf.while_loop(lambda i: i < 10, lambda i: i * 2 + 1, [tf.constant(0)])


@both
def while_maximum(tf):
    return tf.while_loop(lambda i: True, lambda i: (i + 2,), (tf.constant(0),), maximum_iterations=4)


@both
def while_maximum_tensor(tf):
    return tf.while_loop(lambda i: True, lambda i: (i + 2,), (tf.constant(0),), maximum_iterations=tf.constant(3), parallel_iterations=2,
                         swap_memory=True, name="loop")


@both
def while_gradient(tf):
    return gradient(tf, lambda x, w: tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * w + x), (tf.constant(0), x))[1], 0.5, 1.5)


@both
def while_no_gradient(tf):
    def f(x):
        return tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * x), (tf.constant(0), x), back_prop=False)[1]
    return gradient(tf, f, 1.5)


@both
def while_cond_not_callable(tf):
    return tf.while_loop(True, lambda i: i, (tf.constant(0),))


@both
def while_body_not_callable(tf):
    return tf.while_loop(lambda i: True, 3, (tf.constant(0),))


@both
def while_parallel(tf):
    return tf.while_loop(lambda i: i < 3, lambda i: i + 1, (tf.constant(0),), parallel_iterations=0)


@both
def while_structure(tf):
    return tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1,), (tf.constant(0), tf.constant(1)))


@graph
def while_dtype(tf):
    return tf.while_loop(lambda i: i < 3, lambda i: (tf.cast(i, tf.float32) + 1.0,), (tf.constant(0),))


@graph
def while_shape(tf):
    return tf.while_loop(lambda v: tf.shape(v)[0] < 10, lambda v: (tf.concat([v, v], 0),), (tf.constant([1.0]),))


@graph
def while_cond_number(tf):
    return tf.while_loop(lambda i: i, lambda i: (i - 1,), (tf.constant(3),))


@graph
def while_cond_vector(tf):
    return tf.while_loop(lambda v: v < 3.0, lambda v: (v + 1.0,), (tf.constant([1.0, 2.0]),))


@both
def while_invariant(tf):
    return tf.while_loop(lambda v: tf.shape(v)[0] < 10, lambda v: (tf.concat([v, v], 0),), (tf.constant([1.0]),),
                         shape_invariants=(tf.TensorShape([None]),))


@graph
def while_wrong_invariant(tf):
    return tf.while_loop(lambda v: tf.constant(False), lambda v: (v,), (tf.constant([1.0]),), shape_invariants=(tf.TensorShape([3]),))


@graph
def while_invariant_structure(tf):
    return tf.while_loop(lambda v, w: tf.constant(False), lambda v, w: (v, w), (tf.constant([1.0]), tf.constant(1.0)),
                         shape_invariants=(tf.TensorShape([None]),))


@both
def while_python_numbers(tf):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.5))


# ---- case, switch_case ----

@both
def case_values(tf):
    def f(x):
        x = tf.constant(x)
        return tf.case([(x < 0, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    return f(-1), f(6), f(2)


@both
def case_exclusive(tf):
    x = tf.constant(1)
    return tf.case([(x < 0, lambda: tf.constant(1)), (x > 0, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)


@both
def case_not_exclusive(tf):
    x = tf.constant(1)
    return tf.case([(x > -1, lambda: tf.constant(1)), (x > 0, lambda: tf.constant(2))], default=lambda: tf.constant(3), exclusive=True)


@both
def case_none_true(tf):
    x = tf.constant(1)
    return tf.case([(x < 0, lambda: tf.constant(1)), (x < -1, lambda: tf.constant(2))])


@both
def case_last_true(tf):
    x = tf.constant(1)
    return tf.case([(x < 0, lambda: tf.constant(1)), (x > 0, lambda: tf.constant(2))])


@both
def case_one(tf):
    x = tf.constant(1)
    return tf.case([(x > 0, lambda: tf.constant(1))])


@both
def case_empty(tf):
    return tf.case([])


@both
def case_not_pairs(tf):
    return tf.case([tf.constant(True)])


@both
def case_not_bool(tf):
    return tf.case([(tf.constant(1), lambda: tf.constant(1))])


@both
def case_not_callable(tf):
    return tf.case([(tf.constant(True), 3)])


@both
def case_default_not_callable(tf):
    return tf.case([(tf.constant(True), lambda: tf.constant(1))], default=3)


@both
def case_not_list(tf):
    return tf.case(3)


@both
def switch_values(tf):
    def f(i):
        return tf.switch_case(tf.constant(i), [lambda: tf.constant(1.0), lambda: tf.constant(2.0), lambda: tf.constant(3.0)])
    return f(0), f(1), f(2), f(5), f(-1)


@both
def switch_default(tf):
    def f(i):
        return tf.switch_case(tf.constant(i), {0: lambda: tf.constant(1.0), 1: lambda: tf.constant(2.0)}, default=lambda: tf.constant(9.0))
    return f(0), f(1), f(2), f(-3)


@both
def switch_pairs(tf):
    return tf.switch_case(tf.constant(1), [(1, lambda: tf.constant(1.0)), (0, lambda: tf.constant(2.0))])


@both
def switch_gradient(tf):
    def f(i):
        return lambda x: tf.switch_case(tf.constant(i), [lambda: x * x, lambda: tf.sin(x), lambda: tf.constant(3.0) * x])
    return gradient(tf, f(0), 2.0) + gradient(tf, f(1), 2.0) + gradient(tf, f(2), 2.0)


@both
def switch_gap(tf):
    return tf.switch_case(tf.constant(1), {0: lambda: tf.constant(1.0), 2: lambda: tf.constant(2.0)})


@both
def switch_empty(tf):
    return tf.switch_case(tf.constant(1), [])


@both
def switch_not_callable(tf):
    return tf.switch_case(tf.constant(1), [1, 2])


@both
def switch_not_list(tf):
    return tf.switch_case(tf.constant(1), 3)


@both
def switch_key(tf):
    return tf.switch_case(tf.constant(1), {"a": lambda: tf.constant(1.0)})


@graph
def switch_dtype(tf):
    return tf.switch_case(tf.constant(1), [lambda: tf.constant(1.0), lambda: tf.constant(2)])


@graph
def switch_structure(tf):
    return tf.switch_case(tf.constant(1), [lambda: tf.constant(1.0), lambda: (tf.constant(2.0), tf.constant(1.0))])


@both
def switch_float(tf):
    return tf.switch_case(tf.constant(1.5), [lambda: tf.constant(1.0), lambda: tf.constant(2.0)])


# ---- map_fn and kin ----

@both
def map_values(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return (tf.map_fn(lambda v: v * v, x), tf.map_fn(lambda v: tf.reduce_sum(v), x), tf.map_fn(lambda p: p[0] + p[1], (x, x), fn_output_signature=tf.float32),
            tf.map_fn(lambda v: (tf.cast(v, tf.int32), v), x, fn_output_signature=(tf.int32, tf.float32)))


@both
def map_gradient(tf):
    return gradient(tf, lambda x: tf.reduce_sum(tf.map_fn(lambda v: v * v * v, x)), [1.0, 2.0, 3.0])


@both
def map_not_callable(tf):
    return tf.map_fn(3, tf.constant([1.0]))


@both
def map_scalar(tf):
    return tf.map_fn(lambda v: v, tf.constant(1.0))


@both
def map_structure(tf):
    return tf.map_fn(lambda v: (v, v), tf.constant([1.0, 2.0]))


@both
def map_dtype(tf):
    return tf.map_fn(lambda v: tf.cast(v, tf.int32), tf.constant([1.0, 2.0]))


@both
def map_none(tf):
    return tf.map_fn(lambda v: v, [])


@both
def scan_values(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    return (tf.scan(lambda a, v: a + v, x), tf.scan(lambda a, v: a * v, x, initializer=tf.constant(2.0)), tf.scan(lambda a, v: a + v, x, reverse=True),
            tf.scan(lambda a, v: (a[0] + v, a[1] * v), x, initializer=(tf.constant(0.0), tf.constant(1.0))))


@both
def scan_gradient(tf):
    return gradient(tf, lambda x: tf.reduce_sum(tf.scan(lambda a, v: a * v, x)), [1.0, 2.0, 3.0])


@both
def scan_scalar(tf):
    return tf.scan(lambda a, v: a, tf.constant(1.0))


@both
def scan_not_callable(tf):
    return tf.scan(1, tf.constant([1.0]))


@both
def scan_structure(tf):
    return tf.scan(lambda a, v: (a, v), tf.constant([1.0, 2.0]))


@both
def fold_values(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    return (tf.foldl(lambda a, v: a - v, x), tf.foldr(lambda a, v: a - v, x), tf.foldl(lambda a, v: a - v, x, initializer=tf.constant(10.0)),
            tf.foldr(lambda a, v: a * 2.0 + v, x, initializer=tf.constant(1.0)))


@both
def fold_not_callable(tf):
    return tf.foldl(1, tf.constant([1.0]))


@both
def fold_scalar(tf):
    return tf.foldr(lambda a, v: a, tf.constant(1.0))


@both
def vectorized_values(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return tf.vectorized_map(lambda v: tf.reduce_sum(v * v), x), tf.vectorized_map(lambda v: {"a": v + 1.0, "b": v[0]}, x)


# ---- TensorArray ----

@both
def array_values(tf):
    a = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
    for i in range(3):
        a = a.write(i, tf.constant([1.0, 2.0]) * i)
    return a.stack(), a.read(1), a.gather([2, 0]), a.concat(), a.size()


@both
def array_split(tf):
    a = tf.TensorArray(tf.float32, size=2, infer_shape=False, clear_after_read=False).split(tf.constant([1.0, 2.0, 3.0]), [1, 2])
    return a.read(0), a.read(1), a.concat()


@both
def array_scatter(tf):
    a = tf.TensorArray(tf.int32, size=3).scatter([2, 0, 1], tf.constant([5, 6, 7]))
    return a.stack()


@eager
def array_twice(tf):
    a = tf.TensorArray(tf.float32, size=1).write(0, 1.0)
    a.read(0)
    return a.read(0)


@eager
def array_outside(tf):
    return tf.TensorArray(tf.float32, size=1).write(3, 1.0).stack()


@eager
def array_negative(tf):
    return tf.TensorArray(tf.float32, size=1).read(-1)


@eager
def array_shape(tf):
    return tf.TensorArray(tf.float32, size=2).write(0, [1.0]).write(1, [1.0, 2.0]).stack()


@eager
def array_dtype(tf):
    return tf.TensorArray(tf.float32, size=2).write(0, tf.constant(1))


@eager
def array_unwritten(tf):
    return tf.TensorArray(tf.float32, size=2).read(0)
