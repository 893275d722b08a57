"""Further programs as in function_programs.py: variables whose first values depend on a call's arguments, input_signature of methods."""
import functools

from function_programs import attempt

PROGRAMS = []


def program(function):
    @functools.wraps(function)
    def quiet(tf):
        """Without warnings of traces, which are counted by code: programs share some."""
        logger = tf.get_logger()
        level = logger.level
        logger.setLevel("ERROR")
        try:
            function(tf)
        finally:
            logger.setLevel(level)
    PROGRAMS.append(quiet)
    return quiet


def made_by(tf, first_value, **options):
    """An object with a function that makes its variable at the first call."""
    class Made(tf.Module):
        def __init__(self):
            super().__init__()
            self.v, self.w, self.count = None, tf.Variable(5.0), 0

        @tf.function(**options)
        def f(self, x):
            self.count += 1
            self.w.assign_add(1.0)
            if self.v is None:
                self.v = tf.Variable(first_value(self, x))
            self.v.assign_add(x)
            return self.v * 1.0
    return Made()


@program
def first_value_of_argument(tf):
    made = made_by(tf, lambda self, x: tf.zeros_like(x) + tf.reduce_sum(x))
    for _ in range(3):
        print(made.f(tf.constant([1.0, 2.0])), made.f.experimental_get_tracing_count())
    print(made.count, made.v, made.w.numpy(), [v.shape for v in made.variables])


@program
def first_value_after_effects(tf):
    made = made_by(tf, lambda self, x: self.w + x)
    print(made.f(tf.constant(1.0)), made.f(tf.constant(1.0)), made.w.numpy())
    made = made_by(tf, lambda self, x: self.w * 2.0)
    print(made.f(tf.constant(1.0)), made.f(tf.constant(1.0)), made.w.numpy())


@program
def first_value_by_function(tf):
    made = made_by(tf, lambda self, x: lambda: x * 2.0)
    print(made.f(tf.constant([1.0, 3.0])), made.f(tf.constant([1.0, 3.0])))


@program
def first_value_of_unknown_shape(tf):
    made = made_by(tf, lambda self, x: x * 2.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    print(made.f(tf.constant([1.0, 2.0])), made.f(tf.constant([1.0, 3.0])), made.v.shape)


@program
def first_value_in_parts(tf):
    """In a function that is called inside, in a branch, of another such variable, of a variable among the arguments."""
    class Made:
        u = v = w = y = None

        @tf.function
        def inner(self, x):
            if self.v is None:
                self.v = tf.Variable(x * 3.0)
            return self.v + x

        @tf.function
        def outer(self, x):
            return self.inner(x + 1.0)

        @tf.function
        def branch(self, x):
            def then():
                if self.w is None:
                    self.w = tf.Variable(x * 3.0)
                return self.w + x
            return tf.cond(x[0] > 0, then, lambda: x)

        @tf.function
        def two(self, x, z):
            if self.u is None:
                self.u = tf.Variable(x + z)
                self.y = tf.Variable(self.u * 2.0)
            return self.u + self.y
    made = Made()
    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        print(made.outer(x), made.inner(x), made.branch(x), made.two(x, tf.Variable(1.0)))
    print(made.v.numpy(), made.w.numpy(), made.u.numpy(), made.y.numpy())


@program
def first_value_on_tape(tf):
    made = made_by(tf, lambda self, x: x * 2.0)
    x = tf.constant(1.5)
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = made.f(x) ** 2
        print(y, tape.gradient(y, [x, made.v]))


@program
def first_value_without_a_call(tf):
    for argument in (tf.TensorSpec([2], tf.float32), tf.constant([1.0, 2.0])):
        made = made_by(tf, lambda self, x: tf.zeros_like(x) + tf.reduce_sum(x))
        try:
            made.f.get_concrete_function(argument)
        except Exception as e:
            text = str(e)
            print(text[text.index("Unable"):].strip())
    made = made_by(tf, lambda self, x: tf.ones([]) * 2.0)
    print(made.f.get_concrete_function(tf.TensorSpec([], tf.float32))(tf.constant(1.0)), made.v.numpy())


@program
def variables_after_the_first_call(tf):
    made = made_by(tf, lambda self, x: x * 2.0)
    made.f(tf.constant(1.0))
    made.v = None
    try:
        made.f(tf.constant([1.0]))
    except ValueError as e:
        print("singleton tf.Variables" in str(e))


@program
def signatures_of_methods(tf):
    vector, scalar = tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)

    class A(tf.Module):
        k = 2.0

        @tf.function(input_signature=[vector])
        def f(self, x):
            return x * self.k

        @tf.function(input_signature=())
        def g(self):
            return tf.constant(self.k)

        @tf.function(input_signature=[vector, scalar])
        def h(self, x, y):
            return x * self.k * y

        @tf.function(input_signature=[scalar] * 3)
        def r(self, *x):
            return tf.add_n(x)
    a = A()
    print(a.f([1.0]), a.f.get_concrete_function()(tf.constant([1.0])), a.g(), a.h([1.0], 2.0), a.h(y=2.0, x=[1.0]), a.r(1.0, 2.0, 3.0))
    attempt(a.h, [[1.0]], 2.0)
    attempt(a.h, [1.0])


@program
def signatures_that_do_not_fit(tf):
    vector = tf.TensorSpec([None], tf.float32)

    def make(function, signature):
        return type(tf.function(function, input_signature=signature)).__name__
    attempt(make, lambda x, y: x, [vector])
    attempt(make, lambda x: x, [vector, vector])
    attempt(make, lambda self: 1, [vector])
    attempt(make, lambda x: x, [])
    attempt(make, lambda x, y=3: x * y, [vector])
    attempt(make, lambda x, *, y: x * y, [vector])
    attempt(make, lambda x, *, y=2.0: x * y, [vector])
    attempt(make, lambda x: x, [3])
    attempt(make, lambda x: x, [[vector, "a"], None])


@program
def static_shapes(tf):
    """What is known of shapes that are computed from those of arguments."""
    cases = {
        "whole": lambda x: tf.fill(tf.shape(x), 1.0), "part": lambda x: tf.fill([tf.shape(x)[0], 4], 1.0),
        "joined": lambda x: tf.zeros(tf.concat([tf.shape(x)[:1], [7]], 0)), "rest": lambda x: tf.ones(tf.shape(x)[1:]),
        "reshaped": lambda x: tf.reshape(x, [tf.shape(x)[0], 3, 1]), "open": lambda x: tf.reshape(x, [-1, tf.shape(x)[1]]),
        "broadcast": lambda x: tf.broadcast_to(x, tf.stack([2, tf.shape(x)[0], 3])), "tiled": lambda x: tf.tile(x, [tf.shape(x)[0], 2]),
        "random": lambda x: tf.random.normal([tf.shape(x)[0], 2]), "random whole": lambda x: tf.random.uniform(tf.shape(x)),
        "64 bits": lambda x: tf.zeros(tf.shape(x, tf.int64)), "cast": lambda x: tf.zeros(tf.cast(tf.shape(x), tf.int64)),
        "twice": lambda x: tf.zeros(tf.shape(x) * 2), "slice": lambda x: tf.slice(x, [0, 0], [tf.shape(x)[0], 2]),
        "least": lambda x: tf.zeros([tf.minimum(tf.shape(x)[0], 2), 5]), "of number": lambda x: tf.zeros([tf.shape(x)[1] * 2, 1]),
        "last": lambda x: tf.zeros([tf.shape(x)[-1], tf.shape(x)[-2]]), "range": lambda x: tf.zeros(tf.shape(x)[0:2]),
        "in a branch": lambda x: tf.cond(tf.shape(x)[0] > 1, lambda: tf.zeros([tf.shape(x)[0], 2]), lambda: tf.ones([1, 2])),
    }
    def shapes_of(case, shape):
        seen = []

        def body(x):
            y = case(x)
            seen.append(str(y.shape))
            return y
        try:
            tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec(shape, tf.float32))
        except ValueError:
            seen.append("an error")
        return seen
    for name, case in cases.items():
        print(name, [shapes_of(case, shape) for shape in ([None, 3], [2, 3], [None, None], None)])


@program
def switch_case_takes_tensors(tf):
    functions = [lambda: 1, lambda: 2]
    for index in (1, 1.0, True, None, [1], tf.constant(1), tf.constant(1, tf.int64), tf.constant(1.0)):
        attempt(tf.switch_case, index, functions)
