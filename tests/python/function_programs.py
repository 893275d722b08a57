"""Programs for the rows F150 to F175 of the features, tf.function and AutoGraph: each prints what is to be the same here and under TensorFlow.
tests/golden/function_programs.py runs them under TensorFlow 2.15.1 and writes what they print to function_programs.json; test_function_programs.py
runs them here."""
import collections
import contextlib
import io
import logging
import re
import sys

import numpy as np

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


def attempt(function, *args, **kwargs):
    """Prints what it gives, or the error."""
    try:
        print(function(*args, **kwargs))
    except Exception as e:
        print(type(e).__name__, str(getattr(e, "message", None) or e).split("\n\n<tf.Tensor")[0])


def run(function, tf):
    """What a program prints, and the warnings; addresses and places left out."""
    out, logger = io.StringIO(), tf.get_logger()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    kept, logger.handlers = logger.handlers, [handler]
    try:
        with contextlib.redirect_stdout(out):
            function(tf)
    finally:
        logger.handlers = kept
    text = re.sub(r"0x[0-9A-Fa-f]+", "0x…", out.getvalue())
    text = re.sub(r"^  \d+: TensorSpec", "  …: TensorSpec", text, flags=re.M)
    text = re.sub(r'File "[^"]*"', 'File "…"', text)
    text = re.sub(r" The argument that changed since the last call: [^\n]*", "", text)
    return re.sub(r"(__\w*inference_\w+?_)\d+", r"\1…", text)


def train_data():
    rng = np.random.RandomState(3)
    return rng.randn(8, 4).astype(np.float32), np.array([0, 1, 2, 0, 1, 2, 0, 1])


@program
def f150_same_results_as_eager(tf):
    def f(x, y):
        return tf.reduce_sum(tf.matmul(x, y) + 1.0), tf.nn.softmax(x)
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[0.5], [0.25]])
    print(f(x, y))
    print(tf.function(f)(x, y))
    print(type(tf.function(f)).__name__, tf.function(f).__name__)


@program
def f151_training_step(tf):
    x, y = train_data()
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, kernel_initializer="zeros", input_shape=(4,))])
    optimizer = tf.keras.optimizers.SGD(0.5)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
        gradients = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(grads_and_vars=zip(gradients, model.variables))
        return loss
    for _ in range(4):
        print("%.4f" % step(x, y).numpy())
    print(step.experimental_get_tracing_count(), optimizer.iterations.numpy())


@program
def f152_prints(tf):
    @tf.function
    def f(x):
        print("Python", x.shape, x.dtype)
        tf.print("graph", x, output_stream=sys.stdout)
        return x + 1
    print(f(tf.constant([1, 2])))
    print(f(tf.constant([3, 4])))


@program
def f154_symbolic(tf):
    @tf.function
    def f(x):
        y = x * 2
        print(x, y, tf.executing_eagerly(), tf.inside_function())
        print(hasattr(y, "numpy"), y.op.type, [i.name for i in y.op.inputs][:1], y.graph == x.graph)
        try:
            y.numpy()
        except AttributeError as e:
            print("numpy" in str(e))
        try:
            bool(y > 1)
        except Exception as e:
            print(type(e).__name__)
        return y
    f(tf.constant(3))
    print([op.type for op in f.get_concrete_function(tf.constant(1)).graph.get_operations()])
    print([op.name for op in f.get_concrete_function(tf.constant(1)).graph.get_operations()])


@program
def f155_control_flow_is_converted(tf):
    @tf.function
    def f(x):
        while x < 10:
            x += 3
        if x > 11:
            x = x * 2
        for i in tf.range(2):
            x += i
        return x
    graph = f.get_concrete_function(tf.constant(0)).graph
    print(sorted({op.type for op in graph.get_operations() if op.type in ("While", "StatelessWhile", "If", "StatelessIf")}))
    print(f(tf.constant(0)), f(tf.constant(2)))


@program
def f156_order_of_effects(tf):
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.print("a", v, output_stream=sys.stdout)
        v.assign_add(1)
        tf.print("b", v, output_stream=sys.stdout)
        v.assign(v * 5)
        tf.print("c", v, output_stream=sys.stdout)
    f()
    f()


@program
def f157_cached_by_types(tf):
    traces = []

    @tf.function
    def f(*args, **kwargs):
        traces.append(1)
        return tf.constant(len(traces))
    Point = collections.namedtuple("Point", "x y")
    one = tf.constant(1.0)
    for args, kwargs in (((one,), {}), ((tf.constant(2.0),), {}), ((tf.constant(1),), {}), ((tf.constant([1.0]),), {}), (([one, one],), {}),
                         (((one, one),), {}), ((Point(one, one),), {}), ((), {"k": one}), ((), {"k": tf.constant(5.0)}), (({"a": one, "b": 2},), {}),
                         (({"b": 2, "a": one},), {}), (({"a": one, "b": 3},), {}), ((None,), {}), (("a",), {}), ((b"a",), {}), ((1.5,), {}), ((1,), {}),
                         ((True,), {}), ((1.0,), {}), ((np.float32(1),), {}), ((float("nan"),), {}), ((float("nan"),), {}), ((2 ** 70,), {}), ((2 ** 70,), {}),
                         ((tf.float32,), {}), ((tf.TensorShape([1]),), {}), ((tf.TensorShape([1]),), {})):
        f(*args, **kwargs)
        print(len(traces), end=" ")
    print(f.experimental_get_tracing_count())


@program
def f157_variables_as_arguments(tf):
    traces = []

    @tf.function
    def f(v, w):
        traces.append((v.name, v is w, v.shape, v.dtype.name, v.trainable))
        v.assign_add(tf.zeros_like(v) + w * 2.0)
        return v + w
    a, b, c, d = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), tf.Variable([1.0, 2.0]), tf.Variable(1.0, trainable=False)
    for pair in ((a, b), (b, a), (a, a), (c, a), (d, a), (a, b)):
        print(f(*pair).numpy(), len(traces), a.numpy(), b.numpy())
    print(traces)
    for concrete in f._list_all_concrete_functions():
        print(concrete)
        print(concrete.structured_input_signature, concrete.inputs, len(concrete.captured_inputs), concrete.variables)
    with tf.GradientTape() as tape:
        y = tf.function(lambda v, x: v * v * x)(a, tf.constant(3.0))
    print(tape.gradient(y, a).numpy())


@program
def f158_get_concrete_function(tf):
    Point = collections.namedtuple("Point", "x y")

    @tf.function
    def f(x, l=None, *, scale=2.0):
        return {"a": x * scale, "b": [x, None, Point(x, tf.constant(1))]}
    for args, kwargs in (((tf.TensorSpec([None, 2], tf.float32),), {}), ((tf.constant([1.0]), [tf.constant(1), (tf.constant("s"), "t")]), {}),
                         ((tf.TensorSpec([], tf.float32, name="given"), Point(tf.constant(1), 2)), {"scale": tf.constant(3.0)})):
        c = f.get_concrete_function(*args, **kwargs)
        print(repr(c))
        print(c)
        print(c.structured_input_signature)
        print(c.structured_outputs)
        print(c.inputs, c.outputs)
        print(c.name)
    print(c(tf.constant(1.0), Point(tf.constant(1), 2), scale=tf.constant(3.0)))
    print(f.pretty_printed_concrete_signatures())


@program
def f158_arguments_of_all_kinds(tf):
    @tf.function
    def f(p, d, s, *args, k=3, **kw):
        return p, d["z"], s
    c = f.get_concrete_function((tf.constant(1), 2), {"z": tf.constant(1), "a": "t"}, "str", 1, tf.constant(2), k=tf.constant(1), u=tf.constant(9))
    print(c)
    print(repr(c))
    print(c.structured_input_signature)
    print(c.structured_outputs)
    print(f.get_concrete_function(1, {"z": 2.5}, s=None).pretty_printed_signature())
    print(f.get_concrete_function(p=1, d={"z": 2.5}, s=True).pretty_printed_signature(verbose=False))


@program
def f159_has_a_graph(tf):
    f = tf.function(lambda x, y: tf.add(x, y, name="sum"))
    c = f.get_concrete_function(tf.constant(1), tf.constant(2))
    print(type(c).__name__, type(c.graph).__name__)
    print([(op.name, op.type) for op in c.graph.get_operations()])
    print([i.name for i in c.inputs], [o.name for o in c.outputs], c.output_dtypes, c.output_shapes)


@program
def f160_quiz(tf):
    @tf.function
    def f(x):
        print("The function is running in Python")
        tf.print(x, output_stream=sys.stdout)
    f(tf.constant(1, dtype=tf.int32))
    f(tf.constant(2, dtype=tf.int32))
    f(np.array(2, dtype=np.int32))
    f(tf.constant(0.1, dtype=tf.float32))
    f(tf.constant(0.2, dtype=tf.float32))


@program
def f161_arrays(tf):
    @tf.function
    def f(x):
        print("traced", x)
        return x * 2
    print(f(np.ones((2, 3))), f(np.zeros((2, 3))), f(np.ones((2, 3), np.float32)), f(tf.ones((2, 3))), f(np.int64(3)))


@program
def f162_python_numbers(tf):
    @tf.function
    def f(x):
        print("The function is running in Python")
        return tf.constant(x)
    for x in (1, 2, 1, 0.1, 0.2, 0.1):
        print(f(x))


@program
def f163_retracing_warning(tf):
    @tf.function
    def f(n):
        return tf.constant(n)
    for n in range(9):
        f(n)
    for n in range(20):
        tf.function(lambda x: x)(tf.constant(n))


@program
def f163_reduce_retracing(tf):
    @tf.function(reduce_retracing=True)
    def f(x, y):
        print("traced", x.shape, y.shape)
        return tf.shape(x)
    for shape in ([1], [2], [3], [2, 2], [4, 4]):
        f(tf.zeros(shape), tf.zeros([2]))
    print(f.experimental_get_tracing_count())


@program
def f164_quiz_2(tf):
    a = tf.Variable(0.0)

    @tf.function
    def g():
        a.assign(a + 1.0)
        return a
    print(g())
    print(g())
    print(g())
    print(a)


@program
def f165_implicit_arguments(tf):
    v, big = tf.Variable([1.0, 2.0]), tf.constant(np.arange(200, dtype=np.float32))
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 2))
    f = tf.function(lambda x: layer(x * v) + big[3])
    c = f.get_concrete_function(tf.TensorSpec([1, 2]))
    print(c)
    print(len(c.captured_inputs), [x.name for x in c.variables][:1], len(c.trainable_variables))
    print(f(tf.ones([1, 2])))
    v.assign([0.0, 1.0])
    print(f(tf.ones([1, 2])))


@program
def f166_restrictions(tf):
    @tf.function
    def makes(x):
        return tf.Variable(1.0) * x
    attempt(makes, tf.constant(1.0))

    @tf.function
    def leaks(x):
        leaks.kept = x + 1
        return x
    leaks_kept = []
    g = tf.function(lambda x: leaks_kept.append(x + 1))
    g(tf.constant(1.0))
    attempt(lambda: leaks_kept[0] + 1)
    attempt(tf.function(lambda x: object()), tf.constant(1))
    attempt(tf.function(lambda x: x), tf.constant(1), 2)
    attempt(tf.function(lambda x, y: x), tf.constant(1))
    attempt(tf.function(lambda x: x), tf.constant(1), z=3)
    attempt(tf.function(lambda x: x), slice(1, 2))

    @tf.function
    def mixes(x):
        return x + "a"
    attempt(mixes, tf.constant(1))
    attempt(tf.function, 3)

    class Maker:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return self.v * x
    m = Maker()
    print(m(tf.constant(2.0)), m(tf.constant([3.0])), m.v.numpy())

    @tf.function
    def undefined(x):
        if x > 0:
            y = 1
        return y
    attempt(undefined, tf.constant(1))


@program
def f167_input_signature(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([], tf.int32, name="n")])
    def f(x, n):
        print("traced", x, n)
        return tf.reduce_sum(x) * tf.cast(n, tf.float32)
    print(f(tf.ones([1, 2]), 2), f(tf.ones([5, 2]), tf.constant(3)), f([[1.0, 2.0]], n=4))
    print(f.experimental_get_tracing_count(), f.input_signature)
    print(f.get_concrete_function())
    attempt(f, tf.ones([2, 3]), 1)
    attempt(f, tf.ones([2, 2], tf.float64), 1)
    attempt(f, tf.ones([2, 2]))
    attempt(f, tf.ones([2, 2]), 1, 2)
    attempt(f, tf.ones([2, 2]), tf.constant(1.5))

    @tf.function(input_signature=[{"a": tf.TensorSpec([None]), "b": [tf.TensorSpec([], tf.int32)]}])
    def g(d):
        return d["a"], d["b"][0]
    print(g({"a": [1.0, 2.0], "b": [3]}))
    attempt(g, {"a": [1.0, 2.0]})


@program
def f168_structures_gradients_eagerly(tf):
    Point = collections.namedtuple("Point", "x y")

    @tf.function
    def f(x):
        return {"p": Point(x, [x * 2, (x * 3, None)]), "n": 5, "e": [], "d": collections.OrderedDict(b=x, a=x + 1)}
    print(f(tf.constant(1.0)))
    x = tf.Variable(3.0)
    h = tf.function(lambda: x ** 3)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = h()
        g = tape.gradient(y, x)
    print(y, g, outer.gradient(g, x))
    calls = []

    @tf.function
    def counted(x):
        calls.append(1)
        return x + 1
    tf.config.run_functions_eagerly(True)
    print(counted(tf.constant(1)), counted(tf.constant(1)), len(calls), tf.config.functions_run_eagerly())
    tf.config.run_functions_eagerly(False)
    print(counted(tf.constant(1)), counted(tf.constant(1)), len(calls), tf.config.functions_run_eagerly())


@program
def f168_methods(tf):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0)

        @tf.function
        def add(self, n=1):
            print("traced")
            return self.count.assign_add(n)
    a, b = Counter(), Counter()
    print(a.add().numpy(), a.add(1).numpy(), b.add().numpy(), a.add(n=1).numpy(), a.add(tf.constant(5)).numpy(), a.add(tf.constant(6)).numpy())
    print(a.add.experimental_get_tracing_count(), b.add.experimental_get_tracing_count())


@program
def f169_if_on_tensors(tf):
    @tf.function
    def square_if_positive(x):
        if x > 0:
            x = x * x
        else:
            x = 0
        return x
    print(square_if_positive(tf.constant(1)), square_if_positive(tf.constant(-1)))
    print(square_if_positive(3), square_if_positive(-3))


@program
def f172_python_function(tf):
    def plain(x):
        return x + 1
    f = tf.function(plain)
    print(f.python_function is plain, f.python_function(1), f.__wrapped__ is plain)


@program
def f173_statements(tf):
    @tf.function
    def f(n):
        total, i = tf.constant(0), tf.constant(0)
        while i < 100:
            i += 1
            if i % 2 == 0:
                continue
            if i > n or total > 100:
                break
            total += i
        for k in tf.range(n):
            if k == 3 and not total == 0:
                total = total * 10 + k
                break
        if total > 50:
            return -total
        return total
    print([int(f(tf.constant(n))) for n in (0, 3, 4, 9)])

    @tf.function
    def g(x):
        return [c.numpy() if tf.executing_eagerly() else c for c in tf.unstack(x) if True], x[0] > 1 or x[1] > 1
    print(g(tf.constant([1, 2])))


@program
def f174_cond_while_dependencies(tf):
    v = tf.Variable(0)

    @tf.function
    def f(x):
        y = tf.cond(x > 0, lambda: x + 1, lambda: x - 1)
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (0, y))
        with tf.control_dependencies([v.assign_add(1)]):
            return tf.identity(z) + v
    print(f(tf.constant(1)), f(tf.constant(-1)), v.numpy())


@program
def f175_to_graph_and_checks(tf):
    def f(x):
        if x > 0:
            x = x * 2
        return x
    g = tf.autograph.to_graph(f)
    print(g(tf.constant(3)))

    @tf.function
    def checked(x):
        tf.debugging.assert_positive(x, message="must be positive")
        tf.debugging.assert_equal(tf.shape(x)[0], 2)
        tf.debugging.assert_rank(x, 1)
        return tf.sqrt(x)
    print(checked(tf.constant([1.0, 4.0])))
    for value in ([1.0, -4.0], [1.0]):
        try:
            checked(tf.constant(value))
        except tf.errors.InvalidArgumentError as e:
            print(type(e).__name__, "must be positive" in str(e), "assertion failed" in str(e))

    @tf.function
    def loop(n):
        x = tf.zeros([1])
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            x = tf.concat([x, [tf.cast(i, tf.float32)]], 0)
        return x
    print(loop(tf.constant(3)))
    tf.autograph.set_verbosity(0)
