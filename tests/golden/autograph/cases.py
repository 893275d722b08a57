"""Small functions whose converted text is compared with TensorFlow's: what tests/golden/autograph.py asks, what the tests convert.

They are only converted here, never called, so the names in them need not mean anything."""
# ruff: noqa
# pylint: skip-file
import functools


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0
    return x


def nothing(x):
    pass


def bare_return(x):
    return


def documented(x):
    """What it does.

    More of it.
    """
    # a comment
    return x + 1


def if_without_else(x):
    if x > 0:
        x = x * x
    return x


def elif_chain(x, y):
    if x > 0:
        z = 1
    elif x < -1:
        z = 2
    elif y:
        z = 3
    else:
        z = 4
        y = 5
    return z


def nested_if(x, y):
    if x > 0:
        if y > 0:
            z = x
        else:
            z = y
        w = z
    else:
        z = 0
    return z


def return_in_if(x):
    if x > 0:
        return x
    return -x


def return_in_both(x):
    if x > 0:
        return x
    else:
        return -x


def return_nested(x, y):
    if x > 0:
        if y > 0:
            return x
        x = x + 1
    y = y + x
    return y


def while_simple(n):
    i = 0
    while i < n:
        i += 1
    return i


def while_break_continue(n):
    i = 0
    s = 0
    while i < n:
        if i == 3:
            i += 1
            continue
        if i > 7:
            break
        s = s + i
        i += 1
    return s


def while_two_variables(n):
    i, s = 0, 1.0
    while i < n and s < 100:
        s = s * 2
        i = i + 1
    return s


def while_true(n):
    while True:
        n = n - 1
        if n < 0:
            break
    return n


def while_nested(n):
    i = 0
    total = 0
    while i < n:
        j = 0
        while j < i:
            if j == 2:
                break
            total += j
            j += 1
        if total > 10:
            break
        i += 1
    return total


def while_return(n):
    while n > 0:
        n = n - 1
        if n == 5:
            return n
    return 0


def for_range(n):
    s = 0
    for i in range(n):
        s += i
    return s


def for_break(xs):
    s = 0
    for x in xs:
        if x < 0:
            break
        s += x
    return s


def for_continue(xs):
    s = 0
    for x in xs:
        if x < 0:
            continue
        s += x
    return s


def for_return(xs):
    for x in xs:
        if x < 0:
            return x
    return None


def for_pairs(xs):
    """Pairs."""
    r = []
    for a, (b, c) in xs:
        r.append(a + b)
        if a > 3 and b < 2 or not a:
            return r
    return c


def for_nested(xs):
    s = 0
    for row in xs:
        for x in row:
            if x:
                continue
            s = s + x
    return s


def for_enumerate(xs):
    last = None
    for i, x in enumerate(xs):
        last = x
    return i, last


def for_attribute(self, xs):
    for self.x in xs:
        self.total = self.total + self.x
    return self.total


def for_unused(n):
    s = 0
    for _ in tf.range(n):
        s = s + 1
    return s


def logical(a, b, c):
    return (a and b and c) or not (a or b)


def comparisons(a, b, c):
    return a < b < c, a == b, a != b, a is b, a is not None, a in b, a not in c, a <= b == c


def ternary(x):
    return x if x > 0 else -x


def ternary_nested(x):
    y = (1 if x > 2 else 2) if x > 0 else 3
    return y


def lambdas(x):
    f = lambda z: z + x if z > 0 else -z
    g = lambda: f(x)
    return f(x) + g()


def local_function(x):
    def g(t):
        if t > 0:
            return t
        return x
    return g(x)


def local_nonlocal(x):
    y = 0

    def g(t):
        nonlocal y
        y = t
        return t + y
    g(x)
    return y


def local_defaults(x):
    def g(t, u=x, *rest, v=2, **more):
        return t + u + v
    return g(x, *[1], v=3, **{})


def arguments(x, y=2, *rest, k=3, **more):
    return x + y + k


def only_keywords(x, *, k):
    return x + k


def positional_only(x, /, y):
    return x + y


def annotated(x: int, y: "float" = 1.0) -> int:
    z: int = x
    return z


def calls(f, x):
    f(x)
    f(x, 2, k=3)
    f(*x)
    f(*x, **f.more)
    f(1, *x, k=2, **f.more)
    f.method(x).other[0](x)
    return tf.reduce_sum(tf.abs(x), axis=0)


def attributes(self, x):
    if x > 0:
        self.a = x
        self.b.c = 2
        self.d[0] = x
    return self.a


def subscripts(x, i):
    if i > 0:
        x[i] = 1
        x[0] = x[1]
    y = x[1:i]
    y[2] += 1
    return x[i], y[::2], x[..., None], x[i][0], x[1:2, i]


def augmented(x, y):
    x += y
    x *= 2
    x.a -= 1
    x[0] /= y
    return x


def assertion(x):
    assert x > 0, 'bad'
    assert x
    return x


def unpacking(x):
    a, b = x
    (c, d), *e = x, a
    [f, g] = x
    return a + b, c, d, e, f, g


def multiple_targets(x):
    a = b = x
    return a, b


def deletion(x):
    y = x
    del y
    return x


def with_statement(x):
    with tf.name_scope('a') as s, tf.device('b'):
        if x:
            y = s
    return y


def try_statement(x):
    try:
        y = x + 1
        print(y)
    except ValueError as e:
        raise
    except (TypeError, KeyError):
        raise ValueError('a') from None
    else:
        y = 3
    finally:
        x = 2
    return x


def raising(x):
    if x:
        raise ValueError('no %s' % x)
    return x


def comprehensions(xs):
    a = [x + 1 for x in xs if x > 0]
    b = {k: v for k, v in xs}
    c = {x for x in xs}
    d = sum(x * y for x in xs for y in x)
    return a, b, c, d


def displays(x):
    return [x, 1], (x,), {x, 2}, {'a': x, 'b': [x]}, (), [], {}


def strings(x):
    print('a "quoted" \'text\'', "it's", """long
text""", f'{x} and {x + 1:.2f} {x!r}', b'bytes', 'back\\slash\n')
    return 'a' 'b'


def numbers(x):
    return 1, 1.5, 1e10, 1e-7, 2j, -3, +x, ~x, 0x10, True, None, ..., 10 ** 20


def arithmetic(a, b):
    return a + b * a - b / a // b % a ** b, (a + b) * a, -a ** b, (-a) ** b, a @ b, a << 1 | b & a ^ b, (a | b) >> 1


def global_statement(x):
    global counter
    counter = x
    if x:
        counter = 2
    return counter


def import_inside(x):
    import math
    from os import path as p
    return math.sqrt(x), p


def builtin_calls(x):
    return len(x), range(3), int(x), float(x), print(x), abs(x), max(x), min(x), sum(x), any(x), all(x), zip(x, x), map(x, x)


def undefined_after_if(x):
    if x > 0:
        y = x
    return x


def undefined_used(x):
    if x > 0:
        y = x
    z = y
    return z


def defined_in_loop(n):
    for i in range(n):
        y = i
    return y


def dead_variables(n, obj):
    a = bb = z = q1 = m = s = 0
    i = 0
    while i < n:
        z = z + 1
        a += 1
        m = a
        bb = m + bb
        obj.x = 3
        obj.y.c = 2
        s = s + 1
        i += 1
        unk = 3
        unk2 = 4
    if z:
        z = z + 1
        a += 1
        m = a
        bb = m + bb
        obj.x = 3
        s = s + 1
        new = 2
        nn = 3
        kk = 2
    else:
        k2 = 2
    return z, a, q1, s, nn


def name_clashes(get_state, if_body):
    do_return = 1
    if get_state:
        retval_ = 3
        loop_body = if_body
        break_ = 2
    for itr in loop_body:
        vars_ = itr
        if vars_:
            break
        continue_ = 2
        if continue_:
            continue
        do_return = 3
    return do_return + retval_ + break_


def closure_in_branch(x):
    if x > 0:
        f = lambda y: x + y

        def g(y):
            return f(y)
        z = g(x)
    else:
        z = x
    return z


def loop_with_comprehension(xs):
    for x in xs:
        y = [x + z for z in x]
        x = y
    return x


def chained_methods(self, x):
    return self.layer(self.other(x)).numpy()


def super_call(self, x):
    super().call(x)
    return self.z


def walrus(x):
    if (y := x + 1) > 0:
        x = y
    return x


def set_options(n):
    i = 0
    while i < n:
        tf.autograph.experimental.set_loop_options(maximum_iterations=10)
        i += 1
    return i


def continue_in_else(n):
    i = 0
    while i < n:
        i += 1
        if i > 3:
            n -= 1
        else:
            if i == 2:
                continue
            n += 1
        n -= 2
    return n


def two_loops(n):
    for i in range(n):
        if i > 3:
            break
    for j in range(n):
        if j > 3:
            break
        if j:
            continue
        return j
    else_ = 3
    return else_


def return_in_with(x):
    with tf.name_scope('a'):
        if x:
            return x
        x = 2
    return x


def return_in_try(x):
    try:
        return x
    except ValueError:
        x = 2
    return x


def return_tuple(x):
    return x, x + 1


def decorated_inner(x):
    @functools.wraps(x)
    def g(y):
        return y
    return g


def star_print(x):
    print(*x, sep='')
    print(x, end='')


def long_text(x):
    message = 'a very long text that goes on and on, and on, beyond what anyone would read in one line of a terminal, ' + x + 'end'
    return message


simple_lambda = lambda x: x + 1
ternary_lambda = lambda x: x + 1 if x else 3
calling_lambda = lambda x, *y, k=2: simple_lambda(x) and len(y)
nested_lambda = lambda x: (lambda y: x + y)(2)
