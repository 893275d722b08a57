"""Functions with gradients that users define, for tests/golden/custom_gradients.py (TensorFlow) and test_saved_gradients.py (thalweg): both give `tf`."""

SCALAR = 2.0
VECTOR = [2.0, -1.0]


def functions(tf):
    """The functions with a gradient of their own."""
    @tf.custom_gradient
    def inner(x):
        square = x * x
        return square * x, lambda dy: dy * 100.0 * square / x

    @tf.custom_gradient
    def several(x, y, n):
        return (x + y, x * y * tf.cast(n, tf.float32)), lambda a, b: (a * 3.0 + b * y, None, None)

    @tf.custom_gradient
    def twice(x):
        return x * x, lambda dy: dy * inner(x)

    @tf.custom_gradient
    def reverse(x):
        return tf.identity(x), lambda dy: -0.5 * dy
    return inner, several, twice, reverse


def scaled_by(tf, value):
    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda dy: dy * value
    return f


def module(tf):
    inner, several, twice, reverse = functions(tf)
    scalar = tf.TensorSpec([], tf.float32)
    constant = tf.constant([float(i) for i in range(1, 513)])

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v, self.w = tf.Variable(3.0), tf.Variable(5.0)

        @tf.function(input_signature=[scalar])
        def plain(self, x):
            return inner(x)

        @tf.function(input_signature=[scalar])
        def Upper(self, X):
            return inner(X)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def swish(self, x):
            return tf.nn.swish(x)

        @tf.function(input_signature=[scalar])
        def nested(self, x):
            return 2.0 * self.plain(x + 1.0)

        @tf.function(input_signature=[scalar])
        def several(self, x):
            a, b = several(x, 2.0 * x, tf.constant(4))
            return a + 3.0 * b

        @tf.function(input_signature=[scalar])
        def one_of_several(self, x):
            return several(x, 2.0 * x, tf.constant(4))[1]

        @tf.function(input_signature=[scalar])
        def variable(self, x):
            @tf.custom_gradient
            def scaled(x):
                def grad(dy, variables=None):
                    return dy * 7.0 * self.v, [dy * 11.0]
                return x * self.v, grad
            return scaled(x) * self.w

        @tf.function(input_signature=[scalar])
        def loop(self, x):
            return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, reverse(y) * 2.0), (0, x))[1]

        @tf.function(input_signature=[scalar])
        def loop_inner(self, x):
            return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, inner(y) * 0.5), (0, x))[1]

        @tf.function(input_signature=[scalar])
        def loop_outer(self, x):
            k = x * 5.0

            @tf.custom_gradient
            def shifted(y):
                return y + k, lambda dy: dy * k
            return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, shifted(y)), (0, x))[1]

        @tf.function(input_signature=[scalar])
        def branch(self, x):
            return tf.cond(x > 0.0, lambda: reverse(x), lambda: 3.0 * x)

        @tf.function(input_signature=[scalar])
        def branch_inner(self, x):
            return tf.cond(x > 0.0, lambda: inner(x), lambda: 3.0 * x)

        @tf.function(input_signature=[scalar])
        def recomputed(self, x):
            return tf.recompute_grad(lambda y: tf.sin(y) * y)(x)

        # Gradients that use a value of a function around, which the one that they stand in is not given.
        @tf.function(input_signature=[scalar])
        def around(self, x):
            square = x * x
            return tf.function(lambda y: scaled_by(tf, square)(y))(x)

        @tf.function(input_signature=[scalar])
        def around_two(self, x):
            square = x * x * self.v
            inner = tf.function(lambda y: tf.function(lambda z: scaled_by(tf, square)(z) * 2.0)(y))
            return inner(x) + inner(2.0 * x)

        @tf.function(input_signature=[scalar])
        def around_between(self, x):
            def inner(y):
                square = y * y
                return tf.function(lambda z: scaled_by(tf, square)(z) * 2.0)(y)
            inner = tf.function(inner)
            return inner(x) + inner(2.0 * x)

        @tf.function(input_signature=[scalar])
        def around_loop(self, x):
            square = x * x
            return tf.function(lambda y: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, scaled_by(tf, square)(y)), (0, y))[1])(x)

    class More(tf.Module):
        """What TensorFlow does not save, or not with all of its gradients."""

        @tf.function(input_signature=[scalar])
        def twice(self, x):
            return twice(x)

        @tf.function(input_signature=[scalar])
        def constant(self, x):
            @tf.custom_gradient
            def summed(x):
                return x * 2.0, lambda dy: dy * tf.reduce_sum(constant)
            return summed(x)

        @tf.function(input_signature=[scalar])
        def around_branch(self, x):
            square = x * x
            return tf.function(lambda y: tf.cond(y > 0.0, lambda: scaled_by(tf, square)(y), lambda: y * 7.0))(x)
    return Model(), More()


NAMES = ["plain", "Upper", "swish", "nested", "several", "one_of_several", "variable", "loop", "loop_inner", "loop_outer", "branch", "branch_inner",
         "recomputed", "around", "around_two", "around_between", "around_loop"]
MORE = ["twice", "constant", "around_branch"]


def keras_model(tf):
    reverse = functions(tf)[3]

    class Reverse(tf.keras.layers.Layer):
        def call(self, x):
            return reverse(x)
    return tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(4, activation="swish", kernel_initializer="ones"), Reverse(),
                                tf.keras.layers.Dense(1, kernel_initializer="ones")])


def keras_answer(tf, call):
    x = tf.constant([[0.1, 0.2, 0.3]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    return {"y": y.numpy().tolist(), "g": tape.gradient(y, x).numpy().tolist()}


def _value(tensor):
    return None if tensor is None else tensor.numpy().tolist()


def answer(tf, model, name):
    """The value, the gradient and, if there is one, the second derivative; of variables the gradient."""
    x, function = tf.constant(VECTOR if name == "swish" else SCALAR), getattr(model, name)
    out = {}
    try:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(x)
        out["y"], out["g"] = _value(y), _value(tape.gradient(y, x))
        if name == "variable":
            out["v"] = [_value(tape.gradient(y, v)) for v in (model.v, model.w)]
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            g = tape.gradient(y, x)
        out["h"] = _value(outer.gradient(g, x))
    except Exception as error:
        out["error"] = type(error).__name__
    return out
