"""More functions as in cases.py: flags around flags, liveness, symbols of several parts, directives, methods."""
# ruff: noqa
# pylint: skip-file


def break_inside_only(n):
    i = 0
    while i < n:
        for j in n:
            if j:
                break
        i += 1
    return i


def chained_comparison(a, b, c, d):
    return a < b <= c != d, not a < b < c


def condition_with_call(f, x):
    y = x if f(x) and not x else f(-x)
    return [z if z else x for z in y]


def augmented_expressions(f, x, y):
    x += f(y) if y > 0 else y
    x -= y and not y
    return x


def with_calls(f, x):
    with f(f(x), y=f(2)) as (a, b):
        f(a)
    with f.g(x):
        pass
    return b


def statements_after_both(x):
    if x:
        return 1
    else:
        return 2
    return 3


def return_in_else(x):
    if x:
        y = 1
    else:
        return 2
    y += 1
    return y


def return_elif(x):
    if x > 1:
        return 1
    elif x > 2:
        y = 3
    elif x > 3:
        return 2
    else:
        y = 4
    z = y
    return z


def return_in_loop_then_more(n):
    for i in n:
        if i > 2:
            return i
        n = n + i
    n = n + 1
    if n:
        return n
    n = 2


def break_then_code(n):
    while n:
        if n > 3:
            if n > 4:
                break
            n = 2
        else:
            n = 5
            continue
        n = 3
    return n


def while_return_break(n):
    while n:
        if n > 3:
            break
        if n > 2:
            return n
        n = n - 1
    return 2


def unreachable(n):
    while n:
        n = 1
        break
        n = 2
    return n
    n = 3


def continue_at_end(n):
    for i in n:
        continue


def local_lambda_default(x):
    f = lambda y=x, *z: y
    return sorted(x, key=lambda t: -t), f


def handler_reads(x):
    y = 0
    try:
        if x:
            y = 1
            raise ValueError(x)
        y = 2
    except ValueError:
        print(y)
        z = y
    return x


def if_in_finally(x):
    try:
        f(x)
    finally:
        if x:
            x = 2
    return x


def handler_name(x):
    if x:
        try:
            y = 1
        except ValueError as e:
            y = e
    return y


def class_attribute_of_new_object(x):
    if x:
        o = x.make()
        o.a = 1
        x.b.c.d = o
    return x


def subscript_kinds(x, i):
    while i < 3:
        x[i + 1] = 2
        x['a'] = 1
        x[-1] = 3
        x.y[i].z = 3
        x[i, 1] = 2
        x[i:2] = 3
        i += 1
    return x


def nested_functions(x):
    def outer(y):
        def inner(z):
            return x + y + z
        while y > 0:
            y = inner(y)
        return y
    return outer(x)


def function_after_use(x):
    a = 1
    if x:
        a = 2

    def g():
        return a
    if x:
        a = 3
    return g


def lambda_after_use(x):
    a = 1
    if x:
        a = 2
    g = lambda: a
    if x:
        a = 3
    return g


def directive(n):
    i = 0
    for j in tf.range(n):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1, shape_invariants=[(i, None)])
        i += j
    return i


def debugger(x):
    breakpoint()
    pdb.set_trace()
    return locals(), globals(), eval('x')


def formatted(x):
    return f'{x if x else 2} {x and 3}', '%s' % x, 'a{}'.format(x)


def starred(x):
    return [*x, 1], {**x, 'a': 2}, (*x,)


def conditional_in_test(x, y):
    if (x if y else 2) > 3:
        x = 3
    while x and (y or not x):
        x = y
    return x


def if_returns_nothing(x):
    if x:
        return
    print(x)


def for_else_target(x):
    for i in x:
        for i in i:
            x = x + i
    return x, i


def shadowed_builtin(x):
    len = 3
    if x:
        range = len
    return range


def annotated_in_branch(x):
    if x:
        y: int = 3
        z: float
    return y


def import_in_branch(x):
    if x:
        import os.path
        import math as m
    return os, m


def append_pop(x):
    l = []
    l.append(x)
    x.y.append(2)
    z = l.pop()
    l.pop(0)
    return l[0], z


def while_condition_calls(f, x):
    while f(x):
        x = f(x - 1)
    return x


def while_unchanged(f, x):
    while f(x):
        f(2)


def exponent_assign(x, y):
    x **= y
    x @= y
    x //= x
    return x


def slices_store(x, y):
    x[0][1] = y
    x[y] += 2
    y = x[y]
    return y


def del_attributes(x):
    del x.a, x[0]
    return x


class Holder:
    def method(self, x):
        self.__hidden = x
        if x:
            return self.z
        return super().method(x)

    @staticmethod
    def helper(x):
        return x if x else 1

    @property
    def value(self):
        return self.z


method_of_class = Holder.method
static_of_class = Holder.helper


def return_in_elif(x):
    if x > 10:
        return x
    elif x > 0:
        return -x
    return x * 100


def return_in_three(x):
    if x > 10:
        return x
    y = 2
    if x > 0:
        return -x
    if x < 3:
        return y
    return x * 100


def return_in_nested_else(x):
    if x > 10:
        y = 1
    else:
        if x > 3:
            return 2
        y = 3
    z = y
    return z
