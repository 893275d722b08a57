"""Small programs of tf.function: traces, signatures, arguments of all kinds; see control_cases.py. They give texts and numbers."""
import functools

EAGER, GRAPH = {}, {}


def eager(case):
    EAGER[case.__name__] = case
    return case


def _counted(tf, **options):
    traces = []

    @tf.function(autograph=False, **options)
    def f(*args, **kwargs):
        traces.append(1)
        return tf.constant(len(traces))
    return f, traces


@eager
def keys(tf):
    """How many traces calls of these arguments make."""
    counts = []
    for calls in ([1, 1, 2], [1.0, 1, True], ["a", "b", "a"], [tf.constant(1), tf.constant(2)], [tf.constant(1), tf.constant(1.0)],
                  [tf.constant([1]), tf.constant([1, 2])], [[1, 2], (1, 2), [1, 2]], [{"a": 1}, {"a": 2}, {"a": 1}], [None, None],
                  [[tf.constant(1), 2], [tf.constant(3), 2]]):
        f, traces = _counted(tf)
        for value in calls:
            f(value)
        counts.append(len(traces))
    return counts


@eager
def reduce_retracing(tf):
    f, traces = _counted(tf, reduce_retracing=True)
    counts = []
    for shape in ([1], [2], [3], [4], [4, 4], [5, 5], [6, 7]):
        f(tf.zeros(shape))
        counts.append(len(traces))
    return counts


@eager
def variable_arguments(tf):
    counts = []
    f, traces = _counted(tf)
    v, w, u = tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0])
    for value in (v, v, w, u, u, w):
        f(value)
        counts.append(len(traces))
    return counts


@eager
def variable_pairs(tf):
    """The same variable twice is another kind of call than two."""
    counts = []
    f, traces = _counted(tf)
    v, w, u = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    for pair in ((v, w), (w, v), (v, v), (u, v), (u, u)):
        f(*pair)
        counts.append(len(traces))
    return counts


@eager
def variable_argument_value(tf):
    @tf.function
    def f(v):
        v.assign_add(1.0)
        return v * 2.0
    v, w = tf.Variable(1.0), tf.Variable(10.0)
    return f(v), f(w), f(v), v + 0.0, w + 0.0


@eager
def signatures(tf):
    @tf.function
    def f(x, n=3, *, scale=2.0):
        return {"y": x * scale, "z": (x, tf.constant(n))}
    c = f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32, name="rows"))
    return [c.pretty_printed_signature(verbose=False), c.pretty_printed_signature(), str(c.structured_input_signature), str(c.inputs[0].name),
            len(c.captured_inputs), str(c.structured_outputs["y"].shape), str(sorted(c.structured_outputs)), c.name.decode().rsplit("_", 1)[0]]


@eager
def concrete_call(tf):
    @tf.function
    def f(x, y):
        return x + 2 * y
    c = f.get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
    return c(tf.constant(1.0), tf.constant(2.0)), c(x=tf.constant(1.0), y=tf.constant(5.0)), c(tf.constant(1.0), y=tf.constant(5.0))


@eager
def concrete_missing(tf):
    c = tf.function(lambda x, y: x + y).get_concrete_function(tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32))
    return c(tf.constant(1.0))


@eager
def concrete_captures(tf):
    v = tf.Variable(2.0)
    big = tf.constant([float(i) for i in range(200)])
    c = tf.function(lambda x: x * v + big).get_concrete_function(tf.TensorSpec([], tf.float32))
    return [len(c.captured_inputs), len(c.variables), len(c.trainable_variables), len(c.inputs), c.captured_inputs[0].dtype.name]


@eager
def input_signature(tf):
    f, traces = _counted(tf)
    g = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int32)])
    return g(tf.constant([1])), g(tf.constant([1, 2])), g([3, 4])


@eager
def input_signature_wrong(tf):
    return tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int32)])(tf.constant([1.0]))


@eager
def input_signature_rank(tf):
    return tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int32)])(tf.constant(1))


@eager
def input_signature_count(tf):
    return tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int32)])(tf.constant([1]), tf.constant([1]))


@eager
def unknown_keyword(tf):
    return tf.function(lambda x: x)(tf.constant(1), z=2)


@eager
def missing_argument(tf):
    return tf.function(lambda x, y: x)(tf.constant(1))


@eager
def argument_kinds(tf):
    @tf.function
    def f(a, b=tf.constant(2.0), *rest, c, d=4.0, **named):
        return a + 10.0 * b + 100.0 * sum(rest) + 1000.0 * c + 10000.0 * d + 100000.0 * named.get("e", 0.0)
    one = tf.constant(1.0)
    return f(one, c=one), f(one, one, one, one, c=one, e=one), f(a=one, c=one, d=one), f(one, d=0.0, c=2.0)


@eager
def partials(tf):
    def f(x, y, z=1.0):
        return x + 10.0 * y + 100.0 * z
    one = tf.constant(1.0)
    g = tf.function(functools.partial(f, one))
    h = tf.function(functools.partial(f, z=one * 3.0))
    return g(one * 2.0), g(y=one), h(one, one), tf.function(functools.partial(f, y=2.0))(one)


class _Holder:
    pass


@eager
def methods(tf):
    class Scaler(_Holder):
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def scale(self, x):
            return x * self.factor

        @classmethod
        def make(cls, n):
            return cls(n)
    a, b = Scaler(2.0), Scaler.make(3.0)
    return a.scale(tf.constant(1.0)), b.scale(tf.constant(1.0)), Scaler.scale(a, tf.constant(5.0)), a.scale(x=tf.constant(4.0))


@eager
def creates_variables(tf):
    state = []

    @tf.function
    def f(x):
        if not state:
            state.append(tf.Variable(3.0))
        return x * state[0]
    return f(tf.constant(1.0)), f(tf.constant(2.0))


@eager
def creates_each_time(tf):
    @tf.function
    def f(x):
        return tf.Variable(1.0) * x
    return f(tf.constant(1.0))


@eager
def run_eagerly(tf):
    log = []

    @tf.function
    def f(x):
        log.append(1)
        return x + 1
    f(tf.constant(1))
    f(tf.constant(2))
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    f(tf.constant(1))
    return [len(log)]


@eager
def not_tensors(tf):
    return tf.function(lambda: object())()


@eager
def nothing(tf):
    return [tf.function(lambda: None)() is None, str(tf.function(lambda: (None, tf.constant(1)))()[0])]


@eager
def not_hashable(tf):
    class Odd:
        __hash__ = None
        __slots__ = ()
    return tf.function(lambda x: tf.constant(1))(Odd())


@eager
def tracing_count(tf):
    f = tf.function(lambda x: x * 2)
    for v in (1, 2, tf.constant(1), tf.constant(2), tf.constant([1])):
        f(v)
    return [f.experimental_get_tracing_count()]


@eager
def graph_of(tf):
    c = tf.function(lambda x: tf.sin(x) + 1.0).get_concrete_function(tf.TensorSpec([2], tf.float32))
    types = sorted({op.type for op in c.graph.get_operations()} - {"Identity"})
    return [str(types)]


@eager
def deep_nesting(tf):
    f = tf.function(lambda x: x + 1.0)
    for _ in range(20):
        f = tf.function(lambda x, g=f: g(x) + 1.0)
    return f(tf.constant(0.0))


@eager
def decorated_twice(tf):
    return tf.function(tf.function(lambda x: x + 1))(tf.constant(1))


@eager
def not_callable(tf):
    return tf.function(3)


@eager
def signature_not_list(tf):
    return tf.function(lambda x: x, input_signature=tf.TensorSpec([], tf.float32))


@eager
def loop_state(tf):
    @tf.function
    def f(n):
        a = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            a = a.write(i, tf.cast(i, tf.float32) ** 2)
        return a.stack()
    return f(tf.constant(4))
