"""Branches, loops and TensorArrays, eagerly and in functions; gradients through them. Expected values are worked out by
hand."""
import pytest
import thalweg as tf


def both(function):
    """The function as it is, and traced."""
    return [function, tf.function(function, autograph=False)]


def test_cond():
    def f(x):
        return tf.cond(x > 0, lambda: x * x, lambda: -x)
    for g in both(f):
        assert float(g(tf.constant(3.0))) == 9 and float(g(tf.constant(-3.0))) == 3


def test_cond_gradient():
    w = tf.Variable(2.0)

    def f(x):
        return tf.cond(x > 0, lambda: x * x * w, lambda: -x)
    for g in both(f):
        for x, dx, dw in ((3.0, 12.0, 9.0), (-3.0, -1.0, None)):
            x = tf.constant(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(x)
            a, b = tape.gradient(y, [x, w])
            assert float(a) == dx
            assert (0 if b is None else float(b)) == (dw or 0)


def test_cond_structures():
    @tf.function(autograph=False)
    def f(x):
        return tf.cond(x > 0, lambda: {"a": x, "b": (x, None)}, lambda: {"a": -x, "b": (x, None)})
    r = f(tf.constant(-2.0))
    assert float(r["a"]) == 2 and float(r["b"][0]) == -2 and r["b"][1] is None


def test_cond_errors():
    @tf.function(autograph=False)
    def f(x):
        return tf.cond(x > 0, lambda: (x, x), lambda: x)
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        f(tf.constant(1.0))


def test_while():
    def f(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), (tf.constant(0), tf.constant(0.0)))
    for g in both(f):
        i, s = g(tf.constant(5))
        assert int(i) == 5 and float(s) == 10


def test_while_maximum():
    def f(x):
        return tf.while_loop(lambda v: True, lambda v: (v * 2,), (x,), maximum_iterations=3)
    for g in both(f):
        assert float(g(tf.constant(1.0))[0]) == 8


def test_while_gradient():
    w = tf.Variable(2.0)
    c = tf.constant(3.0)

    def f(x):
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w * c), (tf.constant(0), x))[1]
    for g in both(f):
        x = tf.constant(0.5)
        with tf.GradientTape() as tape:
            tape.watch([x, c])
            y = g(x)
        a, b, d = tape.gradient(y, [x, w, c])
        assert float(y) == 108
        assert float(a) == 216 and float(b) == 162
        assert float(d) == 108


def test_gradient_inside():
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (tf.constant(0), x))[1]
        return tape.gradient(y, x)
    assert float(f(tf.constant(2.0))) == 32


def test_nested_gradient():
    def f(x):
        def outer(i, v):
            v = tf.while_loop(lambda j, u: j < 2, lambda j, u: (j + 1, tf.cond(u > 10.0, lambda: u + x, lambda: u * x)), (tf.constant(0), v))[1]
            return i + 1, v
        return tf.while_loop(lambda i, v: i < 2, outer, (tf.constant(0), x))[1]
    values = []
    for g in both(f):
        x = tf.constant(2.5)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        values.append((float(y), float(tape.gradient(y, x))))
    assert values[0] == pytest.approx(values[1])


def test_second_derivative():
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (tf.constant(0), x))[1]
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, x)
    assert float(d) == 4 * 8 and float(outer.gradient(d, x)) == 12 * 4


def test_shape_invariants():
    def grow(v):
        return (tf.concat([v, v], 0),)

    @tf.function(autograph=False)
    def bad(x):
        return tf.while_loop(lambda v: tf.shape(v)[0] < 10, grow, (x,))

    @tf.function(autograph=False)
    def good(x):
        return tf.while_loop(lambda v: tf.shape(v)[0] < 10, grow, (x,), shape_invariants=(tf.TensorShape([None]),))
    with pytest.raises(ValueError, match="shape_invariants"):
        bad(tf.constant([1.0]))
    assert good(tf.constant([1.0]))[0].shape == (16,)


def test_tensor_array():
    def f():
        a = tf.TensorArray(tf.float32, size=3)
        a = a.write(0, tf.constant(0.0))
        a = a.write(1, tf.constant(1.0))
        a = a.write(2, tf.constant(2.0))
        return a.read(0), a.read(1), a.read(2)
    for g in both(f):
        assert [float(v) for v in g()] == [0, 1, 2]


def test_lost_write():
    @tf.function(autograph=False)
    def f():
        a = tf.TensorArray(tf.float32, size=1, element_shape=())
        a.write(0, tf.constant(5.0))
        return a.read(0)
    assert float(f()) == 0


def test_tensor_array_in_loop():
    def f(x):
        a = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=())
        _, a = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))), (tf.constant(0), a))
        return tf.reduce_sum(a.stack() ** 2)
    for g in both(f):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        assert float(y) == 56 and float(tape.gradient(y, x)) == 56


def test_tensor_array_whole():
    def f(x):
        a = tf.TensorArray(tf.float32, size=3).unstack(x)
        b = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, 2])
        return a.gather([2, 0]), a.size(), b.concat()
    for g in both(f):
        r = g(tf.constant([1.0, 2.0, 3.0]))
        assert r[0].numpy().tolist() == [3, 1] and int(r[1]) == 3 and r[2].numpy().tolist() == [1, 2, 3]


def test_maps():
    x = tf.constant([1.0, 2.0, 3.0])
    for g in both(lambda x: (tf.map_fn(lambda v: v * v, x), tf.foldl(lambda a, v: a - v, x), tf.foldr(lambda a, v: a - v, x),
                             tf.scan(lambda a, v: a + v, x), tf.vectorized_map(lambda v: v + 1, x))):
        m, left, right, s, v = g(x)
        assert m.numpy().tolist() == [1, 4, 9] and float(left) == -4 and float(right) == 0
        assert s.numpy().tolist() == [1, 3, 6] and v.numpy().tolist() == [2, 3, 4]


def test_cases():
    for g in both(lambda i: tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant(2), lambda: tf.constant(3)])):
        assert [int(g(tf.constant(i))) for i in (0, 1, 2, 7)] == [1, 2, 3, 3]
    for g in both(lambda x: tf.case([(x < 0, lambda: tf.constant(1)), (x > 5, lambda: tf.constant(2))], default=lambda: tf.constant(3))):
        assert [int(g(tf.constant(i))) for i in (-1, 6, 2)] == [1, 2, 3]


# ---- arrays as results of functions ----

def filled(x, **options):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, **options)
    for i in tf.range(3):
        array = array.write(i, x * tf.cast(i + 1, tf.float32))
    return array


RESULTS = {
    "alone": (lambda x: filled(x, element_shape=()), lambda r: [r], [[2.0, 4.0, 6.0]]),
    "in a structure": (lambda x: {"a": filled(x, element_shape=()), "b": (x, tf.TensorArray(tf.float32, 1).write(0, x))}, lambda r: [r["a"], r["b"][1]], [[2.0, 4.0, 6.0], [2.0]]),
    "of unlike shapes": (lambda x: tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [x]).write(1, [x, x]), lambda r: [r], [[2.0, 2.0, 2.0]]),
    "empty": (lambda x: tf.TensorArray(tf.float32, 0, element_shape=()), lambda r: [r], [[]]),
}


@pytest.mark.parametrize("what", RESULTS)
def test_arrays_as_results(what):
    body, arrays, expected = RESULTS[what]
    made = arrays(tf.function(body)(tf.constant(2.0)))
    assert all(isinstance(array, tf.TensorArray) for array in made)
    assert [(array.concat() if what == "of unlike shapes" else array.stack()).numpy().tolist() for array in made] == expected
    inner = tf.function(body)
    outer = tf.function(lambda x: [a.concat() if what == "of unlike shapes" else a.stack() for a in arrays(inner(x))])
    assert [value.numpy().tolist() for value in outer(tf.constant(2.0))] == expected


def test_an_array_goes_on_outside_of_its_function():
    x = tf.Variable(3.0)
    body = tf.function(lambda: tf.TensorArray(tf.float32, 2).write(0, x * x))
    with tf.GradientTape() as tape:
        array = body().write(1, 5.0 * x)
        total = tf.reduce_sum(array.stack())
    assert total.numpy() == 24.0 and tape.gradient(total, x).numpy() == 11.0 and array.size().numpy() == 2


def test_arrays_through_functions():
    put = tf.function(lambda array, i, x: array.write(i, x))
    assert tf.function(lambda x: put(put(tf.TensorArray(tf.float32, 2), 0, x), 1, 2.0 * x).stack())(3.0).numpy().tolist() == [3.0, 6.0]
