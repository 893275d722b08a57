"""AutoGraph inside tf.function: values, dtypes and errors are what TensorFlow 2.15.1 gives for the same functions."""
import pytest

import thalweg as tf

needs_control_flow = pytest.mark.skipif(not hasattr(tf, "cond") or not hasattr(tf, "while_loop"), reason="no graph control flow")


def call(function, *values):
    return tf.function(function)(*[tf.constant(v) for v in values])


def test_python_control_flow():
    def function(x):
        i = 0
        while i < 3:
            x = x + i
            i += 1
        for j in range(3):
            if j == 1:
                continue
            x = x * 2
        while x.shape.rank == 0:
            x = tf.reshape(x, [1])
        return x
    assert call(function, 3).numpy().tolist() == [24]


def test_error_names_the_line():
    def function(x):
        y = x
        return y.nothing
    with pytest.raises(AttributeError,
                       match=r'in user code:\n\n    File ".*", line %d, in function  \*\n        return y.nothing\n' % (
            function.__code__.co_firstlineno + 2)):
        call(function, 3)


def test_assertion_stays_python():
    def function(x):
        assert x > 5
        return x
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="Using a symbolic `tf.Tensor` as a Python `bool` is not "
                       "allowed"):
        call(function, 3)


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0
    return x


@needs_control_flow
def test_square_if_positive():
    f = tf.function(square_if_positive)
    assert "%s %s" % (f(tf.constant(1)),
                      f(tf.constant(-1))) == "tf.Tensor(1, shape=(), dtype=int32) tf.Tensor(0, shape=(), dtype=int32)"
    assert f.python_function is square_if_positive
    assert f.experimental_get_tracing_count() == 1


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 200:
            break
    return steps


def sums(xs):
    total = 0
    for x in xs:
        if x < 0:
            continue
        if x > 100:
            break
        total += x
    return total


def last(n):
    for i in tf.range(n):
        y = i * 2
    return y


def early(x):
    if x > 10:
        return x
    if x > 0:
        return -x
    return x * 100


def structures(x):
    items = [tf.constant(0)]
    while x > 0:
        x -= 1
        items = [items[0] + 1]
    d = {"a": x}
    if x >= 0:
        d["a"] = x + 5
    return items[0] * 10 + d["a"]


def ternary(x):
    return 1 if x > 0 and not x > 5 else 2


CASES = [(collatz, 27, 111), (collatz, 1, 0), (sums, [1, -2, 3, 200, 7], 4), (sums, [-1], 0),
         (last, 3, 4), (early, 11, 11),
         (early, 3, -3),
         (early, -2, -200), (structures, 3, 35), (ternary, 3, 1), (ternary, 9, 2)]


@needs_control_flow
@pytest.mark.parametrize("function, value, expected", CASES, ids=["%s %s" % (v[0].__name__, v[1]) for v in (getattr(c, "values", c) for c in CASES)])
def test_values(function, value, expected):
    assert int(call(function, value)) == expected


@needs_control_flow
def test_gradient():
    def function(x):
        y = x
        for _ in tf.range(3):
            if y < 100.0:
                y = y * x
        return y
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(function)(x)
    assert (float(y), float(tape.gradient(y, x))) == (16.0, 32.0)


@needs_control_flow
def test_undefined_symbol():
    def function(x):
        if x > 0:
            y = 1
        return y
    with pytest.raises(ValueError) as caught:
        call(function, 3)
    assert str(caught.value) == ('in user code:\n\n    File "%s", line %d, in function  *\n        if x > 0:\n\n'
                                 "    ValueError: 'y' must also be initialized in the else branch\n" % (
                                     __file__, function.__code__.co_firstlineno + 1))


@needs_control_flow
def test_return_in_elif():
    """As in TensorFlow: what follows the statement is not moved into the inner branches."""
    def function(x):
        if x > 10:
            return x
        elif x > 0:
            return -x
        return x * 100
    with pytest.raises(ValueError, match="the else branch must also have a return statement."):
        call(function, 3)


def double_if_positive(x):
    if x > 0:
        return x * 2
    return x


def test_call_in_a_scratch_body():
    def function(n):
        for i in tf.range(n):
            y = double_if_positive(i)
        return y
    assert int(call(function, 4)) == 6


class Branching(tf.keras.layers.Layer):
    def call(self, x, training=None):
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        for _ in tf.range(2):
            x = x + 1.0
        return x


class Looping(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = Branching()

    def call(self, x):
        y = tf.zeros_like(x)
        for i in tf.range(3):
            y = y + self.inner(x) * tf.cast(i, tf.float32)
        return y


def test_layers_are_converted():
    layer = Branching()
    f = tf.function(lambda x: layer(x))
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [4.0, 6.0] and f(tf.constant([-1.0, -2.0])).numpy().tolist() == [1.0, 0.0]
    assert layer(tf.constant([1.0])).numpy().tolist() == [4.0]
    model = Looping()
    assert tf.function(model)(tf.constant([1.0])).numpy().tolist() == [12.0]
    x = tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(model)(x)
    assert tape.gradient(y, x).numpy().tolist() == [6.0]


def test_layers_are_not_converted_where_functions_are_not():
    layer = Branching()
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: layer(x), autograph=False)(tf.constant([1.0]))

    @tf.autograph.experimental.do_not_convert
    def marked(x):
        return layer(x)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(lambda x: marked(x))(tf.constant([1.0]))
