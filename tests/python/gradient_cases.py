"""Gradients as programs: each case is a function of the module tf (TensorFlow's or thalweg) that gives a structure of tensors, numbers and
strings. tests/golden/gradients.py runs them under TensorFlow and keeps what they give; test_gradients.py compares."""
import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def derivatives(tf, f, x, order):
    """f and its derivatives up to an order, by nested tapes."""
    def at(n):
        if n == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = at(n - 1)
        return tape.gradient(y, x)
    return [at(n) for n in range(order + 1)]


def loop(tf, x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x) + x), [tf.constant(0), tf.constant(1.0)])[1]


def branch(tf, x):
    return tf.cond(x > 0, lambda: tf.sin(x) * x * x, lambda: tf.exp(x) + x)


def mixed(tf, x):
    inner = tf.function(lambda y: tf.sin(y) * y, autograph=False)

    def body(i, y):
        y = tf.cond(tf.equal(i % 2, 0), lambda: inner(y) * x, lambda: y + tf.sin(y * x))
        return i + 1, y
    return tf.while_loop(lambda i, y: i < 3, body, [tf.constant(0), x])[1]


def _orders(f):
    def of_function(tf):
        x = tf.constant(0.7)
        return derivatives(tf, tf.function(lambda x: f(tf, x), autograph=False), x, 3)

    def inside_function(tf):
        return tf.function(lambda x: derivatives(tf, lambda v: f(tf, v), x, 3), autograph=False)(tf.constant(0.7))

    def nested(tf):
        outer = tf.function(lambda x: f(tf, x), autograph=False)
        return tf.function(lambda x: derivatives(tf, outer, x, 2), autograph=False)(tf.constant(0.7))
    for made in (of_function, inside_function, nested):
        CASES["%s_%s" % (f.__name__, made.__name__)] = made


for _f in (loop, branch, mixed):
    _orders(_f)


@case
def negative_branch(tf):
    return derivatives(tf, tf.function(lambda x: branch(tf, x), autograph=False), tf.constant(-0.3), 3)


@case
def loop_in_branch(tf):
    f = tf.function(lambda x: tf.cond(x > 0, lambda: loop(tf, x) * x, lambda: x), autograph=False)
    return derivatives(tf, f, tf.constant(0.7), 2) + derivatives(tf, f, tf.constant(-0.7), 1)


@case
def loop_with_limit(tf):
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda i, y: True, lambda i, y: (i + 1, y * x), [tf.constant(0), x], maximum_iterations=4)[1]
    return derivatives(tf, f, tf.constant(1.5), 3)


@case
def loop_of_no_rounds(tf):
    @tf.function(autograph=False)
    def f(x):
        return tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * x), [tf.constant(0), x * 2])[1]
    return derivatives(tf, f, tf.constant(1.5), 2)


@case
def loop_not_connected(tf):
    a, b, whole = tf.constant(2.0), tf.constant(3.0), tf.constant(4)

    @tf.function(autograph=False)
    def f(a, b, whole):
        return tf.while_loop(lambda i, x, y, n: i < 3, lambda i, x, y, n: (i + 1, x * x, y + 1.0, n + 1), [tf.constant(0), a, b, whole])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        _, x, y, n = f(a, b, whole)
    return [x, y, n, tape.gradient(x, a), tape.gradient(y, b)]


@case
def loop_with_variable(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function(autograph=False)
    def f(x):
        return tf.reduce_sum(tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v + x), [tf.constant(0), x])[1])
    x = tf.constant([0.5, 0.25])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, [x, v])
        total = tf.reduce_sum(d[0] * d[1])
    return [y, d, outer.gradient(total, [x, v])]


@case
def loop_with_array(tf):
    @tf.function(autograph=False)
    def f(x):
        array = tf.TensorArray(tf.float32, 4)
        _, array = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32) * x)), [tf.constant(0), array])
        rows = array.stack()
        return tf.reduce_sum(rows * rows)
    return derivatives(tf, f, tf.constant(1.5), 2)


@case
def loop_with_rows(tf):
    @tf.function(autograph=False)
    def f(x):
        array = tf.TensorArray(tf.float32, 3).unstack(x)
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * array.read(i) + s), [tf.constant(0), tf.constant(1.0)])[1]
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, x)
        s = tf.reduce_sum(d * d)
    return [y, d, outer.gradient(s, x)]


@case
def penalty_through_loop(tf):
    """A gradient penalty, as it is used: the norm of a gradient is part of what is differentiated."""
    w = tf.Variable([[0.5, -0.25], [0.75, 1.0]])

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [tf.constant(0), x])[1]
            d = tape.gradient(y, x)
            loss = tf.reduce_sum(y) + tf.reduce_sum(d * d)
        return loss, outer.gradient(loss, w)
    return step(tf.constant([[1.0, 2.0], [0.5, -1.0]]))


@case
def scans(tf):
    @tf.function(autograph=False)
    def f(x):
        return tf.reduce_sum(tf.scan(lambda a, v: a * v + v, x) ** 2) + tf.reduce_sum(tf.map_fn(lambda v: v * v * v, x))
    x = tf.constant([0.5, 1.5, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, x)
        s = tf.reduce_sum(d * d)
    return [y, d, outer.gradient(s, x)]


# ---- gradients that users define ----

def _log1pexp(tf):
    @tf.custom_gradient
    def f(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))
        return tf.math.log(1 + e), grad
    return f


@case
def custom(tf):
    f = _log1pexp(tf)
    x = tf.constant(1.5)
    traced = tf.function(f, autograph=False)
    return derivatives(tf, f, x, 3) + derivatives(tf, traced, x, 3) + derivatives(tf, lambda v: traced(v) * f(v), x, 2)


@case
def custom_in_loop(tf):
    f = _log1pexp(tf)

    @tf.function(autograph=False)
    def g(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, f(y) * x), [tf.constant(0), x])[1]
    return derivatives(tf, g, tf.constant(0.4), 2)


@case
def custom_variables(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            return dy * 10.0, [dy * 20.0 for _ in variables]
        return x * v, grad
    x = tf.constant(3.0)
    out = []
    for g in (f, tf.function(f, autograph=False)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        out += [y, tape.gradient(y, [x, v])]
    return out


@case
def custom_several(tf):
    @tf.custom_gradient
    def f(a, b):
        def grad(first, second):
            return first * 2 + second, second * 3
        return (a + b, a * b), grad

    class Holder:
        factor = 7.0

        @tf.custom_gradient
        def method(self, x):
            return x * 1.0, lambda dy: dy * self.factor
    a, b = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        s, p = f(a, b)
        q = Holder().method(a)
    return [s, p, tape.gradient([s, p], [a, b]), tape.gradient(p, [a, b]), tape.gradient(q, a)]


@case
def custom_errors(tf):
    x, v = tf.constant(1.0), tf.Variable(2.0)

    def message(f):
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f()
            tape.gradient(y, x)
            return "none"
        except Exception as e:  # noqa: BLE001
            return "%s: %s" % (type(e).__name__, e)

    @tf.custom_gradient
    def few(a, b):
        return a + b, lambda dy: dy

    @tf.custom_gradient
    def unseen(a):
        return a * v, lambda dy: dy

    @tf.custom_gradient
    def keyword(a, *, scale=1.0):
        return a * scale, lambda dy: dy * scale
    try:
        tf.gradients(x, x)
        eager = "none"
    except RuntimeError as e:
        eager = str(e)
    return [message(lambda: few(x, x)), message(lambda: unseen(x)), message(lambda: keyword(x, scale=3.0)), eager]


@case
def recomputed(tf):
    v = tf.Variable(2.0)
    f = tf.recompute_grad(lambda x: tf.sin(x) * v)
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, [x, v])]


@case
def python_function(tf):
    @tf.function(autograph=False)
    def f(x):
        return tf.py_function(lambda v: v * v * v, [x], tf.float32) * 2.0
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return [y, tape.gradient(y, x)]


# ---- in graphs ----

@case
def graph_gradients(tf):
    @tf.function(autograph=False)
    def f(x, w):
        y = x * x
        z = y * 3 + w
        first = tf.gradients(z, [x, y, w])
        partial = tf.gradients(z, [x, y], stop_gradients=[y])
        seeded = tf.gradients([z, y], x, grad_ys=[2 * tf.ones_like(z), None])
        zero = tf.gradients(y, w, unconnected_gradients="zero")
        second = tf.gradients(first[0], x)
        return first, [-1.0 if p is None else p for p in partial], seeded, zero, second
    return f(tf.constant([1.0, 3.0]), tf.constant([2.0, 5.0]))


@case
def graph_gradients_of_loops(tf):
    @tf.function(autograph=False)
    def f(x):
        y = loop(tf, x) + branch(tf, x)
        first = tf.gradients(y, x)[0]
        return y, first, tf.gradients(first, x)[0]
    return f(tf.constant(0.7))


@case
def graph_gradients_inside(tf):
    """tf.gradients in a branch, of what stands outside of it."""
    @tf.function(autograph=False)
    def f(x):
        y = x * x * x
        return tf.cond(x > 0, lambda: tf.gradients(y * x, x)[0], lambda: tf.gradients(y, x)[0])
    return [f(tf.constant(2.0)), f(tf.constant(-2.0))]


@case
def hessian(tf):
    f = tf.function(lambda x: tf.hessians(tf.reduce_sum(x * x * x) * x[0], x)[0], autograph=False)
    return f(tf.constant([1.0, 2.0, 3.0]))


# ---- Jacobians ----

@case
def jacobians(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    v = tf.Variable([[0.5, 1.5], [2.5, -1.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z, n = tf.matmul(x, v), x ** 2 * tf.reduce_sum(v), tf.reduce_sum(x)
    out = [tape.jacobian(y, x), tape.jacobian(y, {"a": v, "b": [x]}), tape.batch_jacobian(z, x), tape.jacobian(n, x)]
    other = tf.constant([[1.0, 1.0], [1.0, 1.0]])
    out.append(tape.jacobian(z, other, unconnected_gradients="zero"))
    out.append("none" if tape.jacobian(z, other) is None else "some")
    out.append(tape.jacobian(y, x, experimental_use_pfor=False))
    return out


@case
def jacobians_in_functions(tf):
    @tf.function(autograph=False)
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = tf.matmul(x, x), x ** 3
        return tape.jacobian(y, x, experimental_use_pfor=False), tape.batch_jacobian(z, x, experimental_use_pfor=False)
    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@case
def hessian_by_tapes(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x ** 3) * x[0]
        d = tape.gradient(y, x)
    return outer.jacobian(d, x)


@case
def jacobian_errors(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    out = []
    for source in (tf.constant(1.0), tf.constant([[1.0], [2.0], [3.0]])):
        try:
            tape.batch_jacobian(y, source)
        except ValueError as e:
            out.append(str(e))
    return out


@case
def forward_products(tf):
    x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator((x, v), (tf.constant([1.0, 0.5]), tf.constant([0.25, 2.0]))) as outer:
        y = tf.sin(x) * v
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.reduce_sum(x * x * v)
        d = tape.gradient(z, x)
    away = tf.constant(1.0) * 2.0
    return [outer.jvp(y), outer.jvp(d), "none" if outer.jvp(away) is None else "some", outer.jvp(away, unconnected_gradients="zero"),
            outer.jvp({"a": y, "b": [z]})]


@case
def forward_through_function(tf):
    f = tf.function(lambda x: loop(tf, x) * tf.sin(x), autograph=False)
    x = tf.constant(0.7)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as accumulator:
        y = f(x)
    return [y, accumulator.jvp(y)]


# ---- tapes ----

@case
def tape_features(tf):
    x, v, w = tf.constant(3.0), tf.Variable(2.0, name="v"), tf.Variable(5.0, trainable=False, name="w")
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * v + w
        with tape.stop_recording():
            hidden = x * v
        z = hidden * x
    out = [tape.gradient(y, {"x": x, "v": [v, w]} if False else [x, v]), tape.gradient(z, x), [u.name for u in tape.watched_variables()]]
    out.append("none" if tape.gradient(y, w) is None else "some")
    out.append(tape.gradient(y, {"a": x, "b": (v,)}))
    out.append(tape.gradient([y, z], x, output_gradients=[2.0, 3.0]))
    out.append(tape.gradient(y, tf.constant(1.0), unconnected_gradients=tf.UnconnectedGradients.ZERO))
    with tf.GradientTape() as again:
        again.watch(x)
        y = x * x
        again.reset()
        again.watch(x)
        y = x * x * x
    return out + [again.gradient(y, x)]


# ---- slices ----

def _table():
    return np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def _text(g):
    return str(g)


@case
def slices(tf):
    v, x = tf.Variable(_table()), tf.constant(_table())
    out = []
    for f in (lambda: tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 2), lambda: tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 2) + tf.reduce_sum(tf.gather(v, [0])),
              lambda: tf.reduce_sum(tf.gather(v, [1, 2])) + tf.reduce_sum(v), lambda: tf.reduce_sum(tf.gather(v, [[0, 1], [1, 2]]) ** 2),
              lambda: tf.reduce_sum(tf.gather(v, 2)), lambda: tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 0]) ** 2),
              lambda: tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 0], max_norm=0.5)), lambda: tf.reduce_sum(v.sparse_read([1, 0])),
              lambda: tf.reduce_sum(tf.gather_nd(v, [[1, 0]]))):
        with tf.GradientTape() as tape:
            y = f()
        g = tape.gradient(y, v)
        out += [_text(g), tf.convert_to_tensor(g)]
    for f in (lambda: tf.gather(x, [1, 1, 2]) ** 2, lambda: tf.gather(x * 2, [1, 1, 2]) ** 2, lambda: tf.gather(x, [1, 1, 2], axis=1) ** 2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f()
        out.append(_text(tape.gradient(y, x)))
    traced = tf.function(lambda: tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 2), autograph=False)
    with tf.GradientTape() as tape:
        y = traced()
    g = tape.gradient(y, v)
    out += [_text(g), _text(-g), g.shape.as_list(), g.dtype.name, tf.linalg.global_norm([g, None, x]), tf.add_n([g, g])]
    clipped, norm = tf.clip_by_global_norm([g, None], 0.5)
    return out + [_text(clipped[0]), norm, _text(tf.clip_by_norm(g, 0.5))]


@case
def slices_twice(tf):
    v = tf.Variable(_table())
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 3)
        d = tf.convert_to_tensor(tape.gradient(y, v))
        s = tf.reduce_sum(d * d)
    return [d, tf.convert_to_tensor(outer.gradient(s, v))]


@case
def slices_in_loops(tf):
    v = tf.Variable(_table())

    @tf.function(autograph=False)
    def f(p):
        a = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.gather(v, [i, 1]) ** 2)), [tf.constant(0), tf.constant(0.0)])[1]
        return tf.cond(p, lambda: a + tf.reduce_sum(tf.gather(v, [1, 3])), lambda: a)
    out = []
    for p in (True, False):
        with tf.GradientTape() as tape:
            y = f(tf.constant(p))
        out += [y, tf.convert_to_tensor(tape.gradient(y, v))]
    return out


@case
def slices_of_functions(tf):
    v = tf.Variable(_table())

    @tf.function(autograph=False)
    def f():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 2)
        return tape.gradient(y, v)
    twice = tf.function(lambda g: tf.IndexedSlices(g.values * 2.0, g.indices, g.dense_shape), autograph=False)
    g = f()
    return [_text(g), _text(twice(g))]


@case
def slices_in_optimizers(tf):
    out = []
    make = tf.keras.optimizers
    for optimizer in (make.SGD(0.1), make.SGD(0.1, momentum=0.9), make.SGD(0.1, momentum=0.9, nesterov=True), make.Adam(0.1), make.SGD(0.1, clipnorm=0.5),
                      make.SGD(0.1, global_clipnorm=0.5), make.SGD(0.1, clipvalue=0.3), make.SGD(0.1, weight_decay=0.1)):
        v = tf.Variable(_table())
        for i in range(3):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.gather(v, [1, 1, 2]) ** 2 * (i + 1.0))
            optimizer.apply_gradients([(tape.gradient(y, v), v)])
        out.append(v.numpy())
    return out


# ---- gradients that were missing ----

@case
def digamma(tf):
    x = tf.constant([0.3, 1.5, 4.0, -0.5], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.math.digamma(x)
        d = tape.gradient(y, x)
    return [y, d, outer.gradient(d, x), tf.math.polygamma(tf.constant([0.0, 1.0, 2.0, 3.0]), tf.constant([1.5, 1.5, 2.5, 0.5])),
            tf.math.zeta(tf.constant([2.0, 3.5, 4.0]), tf.constant([1.0, 2.5, -0.5]))]


@case
def next_after(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([2.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = tf.math.nextafter(x, y)
    return tape.gradient(z, [x, y])


def _batch_norm(tf, training, data_format):
    rng = np.random.RandomState(3)
    shape = [2, 3, 2, 2] if data_format == "NHWC" else [2, 2, 3, 2]
    x, c = tf.constant(rng.randn(*shape).astype("f")), tf.constant(rng.randn(*shape).astype("f"))
    scale, offset = tf.constant([0.5, 1.5]), tf.constant([0.25, -0.5])
    given = {} if training else {"mean": tf.constant([0.1, -0.2]), "variance": tf.constant([0.5, 2.0])}
    with tf.GradientTape() as outer:
        outer.watch([x, scale, offset])
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            y = tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=given.get("mean", tf.zeros([0])),
                                            variance=given.get("variance", tf.zeros([0])), is_training=training, data_format=data_format,
                                            epsilon=0.001)[0]
            loss = tf.reduce_sum(y * y * c)
        d = tape.gradient(loss, [x, scale, offset])
        s = tf.reduce_sum(d[0] * d[0] * c) + tf.reduce_sum(d[1] ** 3) + tf.reduce_sum(d[2] ** 2)
    return [d, outer.gradient(s, [x, scale, offset])]


@case
def batch_norm_training(tf):
    return _batch_norm(tf, True, "NHWC")


@case
def batch_norm_given(tf):
    return _batch_norm(tf, False, "NHWC")


def flat(value):
    """The leaves: arrays as lists of numbers, None and texts as they are."""
    if value is None or isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [leaf for k in sorted(value) for leaf in flat(value[k])]
    if isinstance(value, (list, tuple)):
        if all(isinstance(v, (int, float)) for v in value):
            return [{"shape": [len(value)], "values": [float(v) for v in value]}]
        return [leaf for v in value for leaf in flat(v)]
    array = np.asarray(value)
    return [{"shape": list(array.shape), "values": [float(v) for v in array.reshape(-1)]}]
