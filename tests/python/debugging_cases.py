"""Small programs of tf.debugging and of control dependencies; see control_cases.py."""
import types

EAGER, GRAPH = {}, {}


def both(case):
    EAGER[case.__name__] = GRAPH[case.__name__] = case
    return case


def add(name, program, modes=(EAGER, GRAPH)):
    for mode in modes:
        mode[name] = program


def _pairs(tf):
    return tf.constant([1, 2, 3]), tf.constant([1, 2, 4])


for _name in ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal", "near"):
    def _good(tf, name=_name):
        x = tf.constant([1.0, 2.0])
        y = {"equal": x, "near": x, "none_equal": x + 1.0, "less": x + 1.0, "less_equal": x, "greater": x - 1.0, "greater_equal": x}[name]
        getattr(tf.debugging, "assert_" + name)(x, y)
        return x

    def _bad(tf, name=_name):
        x = tf.constant([1.0, 2.0])
        y = {"equal": x + 1.0, "near": x + 1.0, "none_equal": x, "less": x, "less_equal": x - 1.0, "greater": x, "greater_equal": x + 1.0}[name]
        getattr(tf.debugging, "assert_" + name)(x, y, message="a message")
        return x

    def _dtypes(tf, name=_name):
        getattr(tf.debugging, "assert_" + name)(tf.constant([1.0]), tf.constant([1]))
        return tf.constant(1)
    add("assert_%s_good" % _name, _good)
    add("assert_%s_bad" % _name, _bad)
    add("assert_%s_dtypes" % _name, _dtypes)

for _name, _values in (("positive", [1, 0]), ("negative", [-1, 0]), ("non_positive", [0, 1]), ("non_negative", [0, -1])):
    def _sign_good(tf, name=_name, values=_values):
        getattr(tf.debugging, "assert_" + name)(tf.constant(values[:1]))
        return tf.constant(1)

    def _sign_bad(tf, name=_name, values=_values):
        getattr(tf.debugging, "assert_" + name)(tf.constant(values), message="a message")
        return tf.constant(1)
    add("assert_%s_good" % _name, _sign_good)
    add("assert_%s_bad" % _name, _sign_bad)


def _simple(name, expression):
    def program(tf, expression=expression):
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        result = eval(expression, {"tf": tf, "x": x, "i": tf.constant([1, 2]), "s": tf.constant(3.0), "types": types})  # pylint: disable=eval-used
        return result if tf.is_tensor(result) else tf.constant(1)
    add(name, program)


for _number, _expression in enumerate([
        "tf.debugging.assert_rank(x, 2)", "tf.debugging.assert_rank(x, 1)", "tf.debugging.assert_rank(x, 3, message='a message')",
        "tf.debugging.assert_rank(x, 1.5)", "tf.debugging.assert_rank_at_least(x, 1)", "tf.debugging.assert_rank_at_least(x, 3)",
        "tf.debugging.assert_rank_in(x, (1, 2))", "tf.debugging.assert_rank_in(x, (0, 1))", "tf.debugging.assert_scalar(s)",
        "tf.debugging.assert_scalar(x)", "tf.debugging.assert_type(x, tf.float32)", "tf.debugging.assert_type(x, tf.int32)",
        "tf.debugging.assert_type(x, tf.int32, message='a message')", "tf.debugging.assert_integer(i)", "tf.debugging.assert_integer(x)",
        "tf.debugging.assert_same_float_dtype([x, s])", "tf.debugging.assert_same_float_dtype([x, i])",
        "tf.debugging.assert_same_float_dtype([i])",
        "tf.debugging.assert_shapes([(x, (2, 2))])", "tf.debugging.assert_shapes([(x, ('N', 'M')), (i, ('N',))])",
        "tf.debugging.assert_shapes([(x, (2, 3))])", "tf.debugging.assert_shapes([(x, ('N',))])",
        "tf.debugging.assert_shapes([(x, ('N', 'N')), (i, (3,))])", "tf.debugging.assert_shapes([(x, ('N', '...')), (i, ('N',))])",
        "tf.debugging.assert_shapes([(x, ('N', 'M')), (tf.constant([1, 2, 3]), ('N',))])", "tf.debugging.assert_shapes({'a': 3})",
        "tf.debugging.assert_all_finite(x, 'bad')", "tf.debugging.assert_all_finite(x / 0.0, 'bad')",
        "tf.debugging.assert_all_finite(tf.math.log(x - 5.0), 'bad')", "tf.debugging.check_numerics(x, 'bad')",
        "tf.debugging.check_numerics(x / 0.0, 'bad')", "tf.debugging.check_numerics(tf.math.log(x - 5.0), 'bad')",
        "tf.debugging.check_numerics(i, 'bad')",
        "tf.debugging.assert_proper_iterable([1])", "tf.debugging.assert_proper_iterable(x)", "tf.debugging.assert_proper_iterable('abc')",
        "tf.debugging.assert_proper_iterable(3)", "tf.constant(tf.debugging.is_numeric_tensor(x))",
        "tf.constant(tf.debugging.is_numeric_tensor(tf.constant('a')))", "tf.constant(tf.debugging.is_numeric_tensor(3))",
        "tf.debugging.Assert(s > 1.0, [x])", "tf.debugging.Assert(s < 1.0, [x])", "tf.debugging.Assert(s < 1.0, ['text', x, i], summarize=2)",
        "tf.Assert(s < 1.0, [x, i], summarize=-1)", "tf.debugging.Assert(True, [x])", "tf.debugging.Assert(s < 1.0, [1.5, 2])",
        "tf.debugging.assert_equal(x, x + 1.0, summarize=2)", "tf.debugging.assert_equal(i, [1, 2])", "tf.debugging.assert_less(i, 2)",
        "tf.debugging.assert_near(x, x + 1e-9)", "tf.debugging.assert_near(x, x + 0.1, rtol=0.2)", "tf.debugging.assert_near(i, i)",
        "tf.debugging.assert_near(x, x + 0.1, atol=0.01)",
        "tf.group(x, s)", "tf.group()", "tf.no_op()", "tf.identity_n([x, s])[1]", "tf.tuple([x, s])[0]",
        "tf.grad_pass_through(tf.math.round)(x)", "tf.constant(tf.debugging.assert_scalar(s) is None)",
        "tf.compat.v1.assert_equal(1, 1)"]):
    if "compat" not in _expression:
        _simple("expression %02d %s" % (_number, _expression), _expression)


@both
def dependencies(tf):
    v = tf.Variable(1.0)
    with tf.init_scope():
        w = tf.Variable(5.0)
    with tf.control_dependencies([v.assign_add(2.0)]):
        x = tf.identity(v)
    with tf.control_dependencies(None):
        y = w * 2.0
    return x, y, v + 0.0


del EAGER["dependencies"], GRAPH["dependencies"]
EAGER["dependencies"] = dependencies


@both
def pass_through(tf):
    x = tf.constant([1.4, 2.6])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.math.round)(x) * 3.0
    return y, tape.gradient(y, x)


@both
def identity_gradient(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        a, b = tf.identity_n([x * x, y * x])
        z = a * b
    return [z] + tape.gradient(z, [x, y])


@both
def numerics_gradient(tf):
    x = tf.constant([1.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(tf.sqrt(x), "bad")
    return tape.gradient(y, x)
