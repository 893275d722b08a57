"""Small programs of tf.debugging, tf.group and their kin, whose results and errors are compared in full. Each is a function of the module tf that gives
a structure of tensors, numbers and texts. tests/golden/checks.py runs them under TensorFlow and keeps what they give; test_checks.py compares."""
import re

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def told(text):
    """An error's text without what TensorFlow adds around it: where the node stands, its own frames, numbers of functions."""
    text = re.sub(r"\{\{function_node [^}]*\}\} ", "", text)
    text = re.sub(r"^node [\w/]+: ", "", text)
    text = re.sub(r"^Graph execution error:.*?(?=!!!|assertion failed)", "", text, flags=re.S)
    text = re.sub(r"\s*\[?\[\[?\{\{(function_)?node .*", "", text, flags=re.S)
    text = re.sub(r" \[Op:[^\]]*\]( name:)?", "", text)
    text = re.sub(r"    \+ .*\n    \|   \n", "", text)  # frames of the library
    text = re.sub(r"    \+ \S*/(\w+\.py) \(L\d+\)", r"    + \1", text)
    text = re.sub(r"    \+ (?!checks_cases).*\n -> \|   \n", "", text)
    text = re.sub(r"    \+ \.\.\. \(Omitted \d+ frames\)\n", "", text)
    text = re.sub(r"__inference_(\w+)_\d+", r"__inference_\1", text)
    text = re.sub(r"<(class|dtype:)? ?'(thalweg|tensorflow)[\w.]*\.", r"<\1 '", text)
    return text.strip()


def fails(program):
    """The class and text of what a program raises."""
    try:
        program()
    except Exception as error:
        return [type(error).__name__, told(str(getattr(error, "message", None) or error))]
    return "no error"


# ---- every number is checked ----

def checked(program):
    """A case that runs with the check on."""
    def run(tf):
        tf.debugging.enable_check_numerics()
        try:
            return program(tf)
        finally:
            tf.debugging.disable_check_numerics()
    run.__name__ = program.__name__
    return case(run)


@checked
def numerics_eager(tf):
    x = tf.constant([0.0, -1.0, 1.0])
    big = tf.constant([[3e38], [1.0]])
    return [fails(lambda: tf.math.log(x)), fails(lambda: tf.constant(1.0, tf.float64) / tf.constant(0.0, tf.float64)), fails(lambda: big * big),
            fails(lambda: tf.nn.softmax(tf.constant([1.0, np.inf]))), fails(lambda: tf.concat([x, x / 2.0], 0)), tf.math.exp(x)]


@checked
def numerics_passing_on(tf):
    x = tf.constant([np.inf, 1.0])
    return [fails(lambda: tf.reshape(x, [2, 1])), fails(lambda: tf.concat([x, x], 0)), fails(lambda: tf.identity(x)), fails(lambda: tf.maximum(x, 0.0)),
            fails(lambda: tf.abs(x))]


@checked
def numerics_function(tf):
    @tf.function
    def log_plus(x):
        y = tf.math.log(x + 1.0)
        return tf.square(y)

    @tf.function(autograph=False)
    def ratio(x, y):
        return tf.stack([x / y, x])
    return [log_plus(tf.constant(0.0)), fails(lambda: log_plus(tf.constant(-1.0))), fails(lambda: ratio(tf.constant([1.0]), tf.constant([0.0]))),
            ratio(tf.constant([1.0]), tf.constant([2.0]))]


@checked
def numerics_constant(tf):
    @tf.function(autograph=False)
    def bad():
        return tf.reduce_sum(tf.constant([1.0, np.nan]) * 2.0)
    return fails(bad)


@checked
def numerics_unknown_shapes(tf):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec([None, 2], tf.float32)])
    def root(x, y):
        return tf.sqrt(x) + tf.reduce_sum(y)
    return [root(4.0, [[1.0, 2.0]]), fails(lambda: root(tf.constant([-1.0]), tf.constant([[1.0, 2.0]])))]


@checked
def numerics_gradient(tf):
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    return fails(lambda: tape.gradient(y, x))


@case
def numerics_traced_before(tf):
    @tf.function(autograph=False)
    def inverse(x):
        return 1.0 / x
    before = inverse(tf.constant(0.0))
    tf.debugging.enable_check_numerics(stack_height_limit=2, path_length_limit=20)
    tf.debugging.enable_check_numerics()
    during = fails(lambda: inverse(tf.constant(0.0)))
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()
    return [before, during, inverse(tf.constant(0.0)), tf.math.log(0.0)]


@checked
def numerics_session(tf):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        with tf.name_scope("inner"):
            y = tf.math.log(x)
        names = [x.name, y.name, y.op.type]
        with tf.compat.v1.Session() as session:
            return [names, session.run(y, {x: [1.0]}), fails(lambda: session.run(y, {x: [0.0, -1.0]})), fails(lambda: session.run(y, {x: [np.nan]}))]


# ---- nearly equal ----

def nodes(tf, build):
    """What was built in a graph of its own: the result, and every node with its inputs."""
    with tf.Graph().as_default() as graph:
        result = build()
        return [[getattr(r, "name", None) for r in (result if isinstance(result, (list, tuple)) else [result])],
                [[o.name, o.type, [t.name for t in o.inputs], [c.name for c in o.control_inputs]] for o in graph.get_operations()]]


def traced(tf, signature, program, *values):
    """A function with a signature, called with values of several kinds: results or errors."""
    f = tf.function(program, input_signature=[tf.TensorSpec(shape, tf.float32) for shape in signature], autograph=False)
    return [fails(lambda given=given: f(*[tf.constant(v, tf.float32) for v in given])) for given in values]


@case
def near_eager(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    i = tf.constant([1, 2])
    return [fails(lambda: tf.debugging.assert_near(x, x + 1e-9)), fails(lambda: tf.debugging.assert_near(x, x + 1.0, message="said")),
            fails(lambda: tf.debugging.assert_near(x, x + 1.0, summarize=1)), fails(lambda: tf.debugging.assert_near(x, x + 1.0, summarize=-1)),
            fails(lambda: tf.debugging.assert_near(tf.constant(1j), tf.constant(2j))),
            fails(lambda: tf.debugging.assert_near(tf.constant(1.0, tf.float16), 1.5)), fails(lambda: tf.debugging.assert_near(tf.constant(1.0, tf.float64), 1.1)),
            fails(lambda: tf.debugging.assert_near(x, x + 1.0, rtol=0.1, atol=tf.constant(0.2))), fails(lambda: tf.debugging.assert_near(x, x + 1.0, rtol=2)),
            fails(lambda: tf.debugging.assert_near(x, x + 1.0, rtol=[0.1, 0.2], atol=0)), fails(lambda: tf.debugging.assert_near(i, i + 3, rtol=1, atol=1)),
            fails(lambda: tf.debugging.assert_near(x, 3)), fails(lambda: tf.debugging.assert_near(x, i)), fails(lambda: tf.debugging.assert_near(x, [[1.0, 2.0, 3.0]])),
            tf.debugging.assert_near(x, x)]


@case
def near_traced(tf):
    return [traced(tf, [[None], [None]], lambda a, b: tf.debugging.assert_near(a, b, message="said", summarize=2) and 1, ([1, 2, 3], [1, 2, 4]), ([1, 2], [1, 2])),
            traced(tf, [None, None], lambda a, b: tf.debugging.assert_near(a, b, rtol=0.5) and 1, (1, 2), (1, 9))]


# ---- shapes ----

@case
def shapes_eager(tf):
    x, i, s = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1, 2]), tf.constant(3.0)
    check = tf.debugging.assert_shapes
    return [check([(x, None)]), check([(x, "NM")]), check([(x, ("*", "M")), (i, ("M",))]), check([(x, (".", None))]), check([(x, tf.TensorShape([None, 2]))]),
            check([(x, ("N", "...")), (i, ("N",))]),
            fails(lambda: check([(x, (..., 3))])), fails(lambda: check([(x, (..., "a", "b", "c"))])), fails(lambda: check([(x, (2, "*"))], message="said")),
            fails(lambda: check([(x, tf.TensorShape([2, 3]))])), fails(lambda: check([(np.zeros((2, 3)), np.array([2, 4]))])),
            fails(lambda: check([(s, ()), (s, (1,)), (s, ("Q",)), (i, ("Q",))])), fails(lambda: check([(s, (2,))], message="said")), fails(lambda: check([(i, ())])),
            fails(lambda: check([(x, ("2", "3"))])), fails(lambda: check([(x, (2.0, 3.5))])), fails(lambda: check([(x, (2, 3))], data=["data"])),
            fails(lambda: check([(tf.Variable([1.0, 2.0]), ("N",)), (x, ("M", "N")), (3.0, ("M",))])), fails(lambda: check([(x, ("N", "M", "K"))], message="said")),
            fails(lambda: check([(x, ("N", "M")), (tf.zeros([2, 3]), ("N", "N"))])), fails(lambda: check([(x, 3)])), fails(lambda: check({"a": 3})),
            fails(lambda: check([(tf.sparse.from_dense([[1, 0]]), (1, 3))])), check([(tf.sparse.from_dense([[1, 0]]), (1, 2))])]


@case
def shapes_traced(tf):
    def both(a, b):
        tf.debugging.assert_shapes([(a, ("N", 3)), (b, ("N", "M"))], message="said")
        return 1

    def one(a):
        tf.debugging.assert_shapes([(a, ("N",))])
        return 1

    def inner(a, b):
        tf.debugging.assert_shapes([(a, ("*", "N", 2)), (b, ("N",))])
        return 1
    return [traced(tf, [None, [None, None]], both, (np.zeros((2, 3)), np.zeros((2, 4))), (np.zeros(2), np.zeros((2, 4))), (np.zeros((2, 4)), np.zeros((2, 4))),
                   (np.zeros((2, 3)), np.zeros((5, 4)))), traced(tf, [None], one, (1.0,), (np.zeros(4),), (np.zeros((2, 2)),)),
            traced(tf, [None, [None]], inner, (np.zeros((7, 3, 2)), np.zeros(3)), (np.zeros((3, 2)), np.zeros(4)), (np.zeros(3), np.zeros(3)))]


@case
def ranks_traced(tf):
    return [traced(tf, [None], lambda a: tf.debugging.assert_rank(a, 2, message="said") and 1, (np.zeros((2, 2)),), (np.zeros(2),)),
            traced(tf, [None], lambda a: tf.debugging.assert_rank_at_least(a, 2) and 1, (np.zeros((2, 2, 1)),), (np.zeros(2),)),
            traced(tf, [None], lambda a: tf.debugging.assert_rank_in(a, (0, 2)) and 1, (np.zeros((2, 2)),), (np.zeros(2),))]


# ---- dtypes ----

@case
def same_float_dtype(tf):
    x, i = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    check = tf.debugging.assert_same_float_dtype
    return [str(check([x, None, x * 2.0])), str(check()), str(check(dtype=tf.float16)), fails(lambda: check([x, i])), fails(lambda: check([x], tf.float64)),
            fails(lambda: check(dtype=tf.int32)), fails(lambda: check([i])), fails(lambda: check([tf.Variable(1, name="v"), x])), fails(lambda: check([3.0]))]


@case
def numeric(tf):
    return [tf.debugging.is_numeric_tensor(v) for v in (tf.constant(1.0), tf.constant(1), tf.constant(True), tf.constant("a"), tf.constant(1j), tf.Variable(1.0), 3,
                                                        np.zeros(2), None, object())]


@case
def proper_iterables(tf):
    check = tf.debugging.assert_proper_iterable
    return [fails(lambda value=value: check(value)) for value in ([1], {1: 2}, (), b"a", "a", np.zeros(2), None, 3, range(3))]


@case
def all_finite(tf):
    x = tf.constant([1.0, np.inf])
    return [tf.debugging.assert_all_finite(x[:1], "bad"), fails(lambda: tf.debugging.assert_all_finite(x, "bad")),
            nodes(tf, lambda: tf.debugging.assert_all_finite(tf.compat.v1.placeholder(tf.float32, name="p"), "bad")),
            nodes(tf, lambda: tf.debugging.assert_all_finite(tf.compat.v1.placeholder(tf.float32, name="p"), "bad", name="named"))]


# ---- order ----

@case
def order_eager(tf):
    x = tf.constant(1.0)
    return [tf.no_op(), tf.group(x, [x, (x,)]), tf.group(), tf.tuple([x, None]), tf.tuple([x], control_inputs=[x])]


@case
def order_nodes(tf):
    def p():
        return tf.compat.v1.placeholder(tf.float32, name="p")
    return [nodes(tf, program) for program in (
        lambda: tf.no_op(), lambda: tf.no_op(name="q"), lambda: tf.compat.v1.no_op(), lambda: tf.group(), lambda: tf.group(p(), tf.constant(1)),
        lambda: tf.group(p(), [p()], name="gg"), lambda: tf.tuple([p(), tf.constant(1.0), None]), lambda: tf.tuple([p()], control_inputs=[tf.constant(1).op], name="tt"))]


@case
def order_traced(tf):
    kinds = []

    def program(x):
        kinds.append([tf.no_op().type, tf.group(x).type, tf.group(x, name="named").name, fails(lambda: tf.group(3)), fails(lambda: tf.group(None)),
                      fails(lambda: tf.group(x, other=3))])
        return tf.tuple([x, None, x + 1.0])[2]
    return [tf.function(program, autograph=False)(tf.constant(1.0)), kinds]


# ---- values that are known ----

STATIC = {
    "stack": lambda tf, a: tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]]),
    "known stack": lambda tf, a: tf.raw_ops.Pack(values=[tf.constant(2), tf.constant(3)]),
    "member": lambda tf, a: tf.unstack(tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]]))[1],
    "known member": lambda tf, a: tf.unstack(tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]]))[0],
    "split": lambda tf, a: tf.split(tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]]), 2)[0],
    "stack of stacks": lambda tf, a: tf.raw_ops.Pack(values=[tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]]), tf.constant([5, 6])]),
    "identity": lambda tf, a: tf.identity(tf.raw_ops.Pack(values=[tf.constant(2), tf.cast(a, tf.int32)[0]])),
    "shape": lambda tf, a: tf.shape(a), "long shape": lambda tf, a: tf.shape(a, tf.int64), "rank": lambda tf, a: tf.rank(a), "size": lambda tf, a: tf.size(a),
    "range": lambda tf, a: tf.range(0, 6, 2), "cast": lambda tf, a: tf.cast(tf.constant(1.7), tf.int32),
    "concat": lambda tf, a: tf.concat([tf.constant([1]), tf.constant([2])], 0), "fill": lambda tf, a: tf.fill([2, 2], 3.0),
    "equal": lambda tf, a: tf.raw_ops.Equal(x=tf.constant(1), y=tf.constant(2)), "not equal": lambda tf, a: tf.raw_ops.NotEqual(x=tf.constant(1), y=tf.constant(2)),
    "add": lambda tf, a: tf.constant(1) + tf.constant(2), "stop": lambda tf, a: tf.stop_gradient(tf.constant(4.0)), "argument": lambda tf, a: a,
    "second axis": lambda tf, a: tf.stack([tf.constant([1, 2]), tf.constant([2, 3])], axis=1), "reshape": lambda tf, a: tf.reshape(tf.constant([1, 2]), [2, 1]),
}


@case
def static_values(tf):
    found = {}
    for name, make in STATIC.items():
        for shape in ([None], [3]):
            def look(a):
                tensor = make(tf, a)
                found["%s %s" % (name, shape)] = [tf.get_static_value(tensor), tf.get_static_value(tensor, partial=True)]
                return 1
            tf.function(look, input_signature=[tf.TensorSpec(shape, tf.float32)], autograph=False).get_concrete_function()
    return found


@case
def static_values_eager(tf):
    return [tf.get_static_value(v) for v in (tf.constant([1.0, 2.0]), 3, [1, 2], np.zeros(1), tf.Variable(1.0), tf.constant("a"), None)]


# ---- gradients ----

@case
def recomputed(tf):
    w = tf.Variable(3.0)

    @tf.recompute_grad
    def block(x, y, scale=2.0):
        return tf.sin(x) * w * scale, [y * x]

    def run(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            a, (b,) = block(x, y)
            z = a * b
        return [z] + tape.gradient(z, [x, y, w])
    x, y = tf.constant(0.7), tf.constant(0.3)
    return [run(x, y), tf.function(run, autograph=False)(x, y)]


@case
def passed_through(tf):
    x = tf.constant([1.4, 2.6])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.math.round)(x) * 3.0
    return [y, tape.gradient(y, x)]


# ---- printing ----

@case
def printed(tf):
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.txt")
        x = tf.reshape(tf.range(24.0), [4, 6])

        def run(x):
            tf.print("x:", x, output_stream="file://" + path)
            tf.print(x, "and", {"b": x[0], "a": [1, "two", (x[0, 0],)]}, summarize=1, sep="|", end="!\n", output_stream="file://" + path)
            tf.print(tf.constant("text"), output_stream="file://" + path)
            tf.print(x[:1], summarize=-1, output_stream="file://" + path)
            tf.print(3, 4.5, True, None, output_stream="file://" + path)
            return x
        run(x)
        tf.function(run, autograph=False)(x)
        with open(path) as file:
            lines = file.read()
        return [lines, fails(lambda: tf.print("x", output_stream="nowhere"))]
