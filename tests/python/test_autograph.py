"""Converted functions do what the functions do: with plain values, with eager tensors; calls, closures, methods, errors."""
import functools
import os
import subprocess
import sys

import pytest

import thalweg as tf


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0
    return x


def loops(n):
    total, seen = 0, []
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        if i > 11:
            break
        for j in range(i):
            if j == 4:
                break
            total += j
        else_seen = total
        seen.append(else_seen)
    return total, seen


def early(xs):
    for x in xs:
        if x > 2 and not x > 5:
            return x
        if 0 < x < 2:
            continue
        if x == 9:
            return None
    return -1


def nested(x):
    y = 2

    def inner(z):
        nonlocal y
        if z:
            y = z
            return y + x
        return y
    return inner(x), inner(0), (lambda q: q * y if q > 1 else -q)(x), y


def attributes(x):
    class Box:
        value = 1
    box = Box()
    items = {"a": 1}
    if x:
        box.value = x
        items["a"] = x
        items["b"] = 2
    while box.value > 3:
        box.value -= 1
    del x
    return box.value, sorted(items.items())


def handlers(x):
    try:
        if x:
            raise KeyError(x)
        result = "none"
    except KeyError as e:
        result = e.args
    finally:
        done = True
    with tf.GradientTape() as tape:
        if done:
            del tape
    return result, done


def keywords(a, b=2, *rest, c=3, **more):
    def inner(*args, **kwargs):
        return args, kwargs
    return inner(a, *rest, b, c=c, **more)


def annotated(x):
    if x:
        y: int = 3
    else:
        y = 4
    return y


CALLS = [(square_if_positive, (3,)), (square_if_positive, (-2,)), (loops, (4,)), (loops, (30,)), (early, ([1, 8, 4, 3],)),
         (early, ([9],)), (early, ([],)), (nested, (5,)), (nested, (0,)), (attributes, (7,)), (attributes, (0,)), (handlers,
                                                                                                                   (1,)),
         (handlers, (0,)), (keywords, (1,)), (keywords, (1, 5, 6, 7)), (annotated, (1,)), (annotated, (0,))]


@pytest.mark.parametrize("function, arguments", CALLS, ids=["%s%s" % (f.__name__, a) for f, a in CALLS])
def test_same_as_python(function, arguments):
    assert tf.autograph.to_graph(function)(*arguments) == function(*arguments)
    assert tf.autograph.convert(function)(*arguments) == function(*arguments)


def test_eager_tensors():
    converted = tf.autograph.to_graph(square_if_positive)
    assert int(converted(tf.constant(4))) == 16
    assert int(converted(tf.constant(-4))) == 0
    total, seen = tf.autograph.to_graph(loops)(tf.constant(8))
    assert (int(total), [int(s) for s in seen]) == loops(8)

    def sums(x):
        s = 0.0
        for row in x:
            for v in row:
                if v < 0 or not v < 10:
                    continue
                s += v
        return s
    assert float(tf.autograph.to_graph(sums)(tf.constant([[1.0, -2.0], [3.0, 20.0]]))) == 4.0


def test_eager_branch_without_value():
    def function(x):
        if x > 0:
            y = 1
        return y
    with pytest.raises(ValueError, match="^'y' must also be initialized in the else branch$"):
        tf.autograph.to_graph(function)(tf.constant(-1))
    with pytest.raises(UnboundLocalError, match="^'y' is used before assignment$"):
        tf.autograph.to_graph(function)(-1)


class Base:
    def scaled(self, x):
        return x * self.factor


class Derived(Base):
    factor = 3

    def scaled(self, x):
        total = 0
        for i in range(x):
            if i:
                total += super().scaled(i)
        return total

    def __call__(self, x):
        return self.scaled(x) if x else sorted(locals())

    @staticmethod
    def double(x):
        return x * 2 if x else None


def test_methods_and_super():
    instance = Derived()
    assert tf.autograph.to_graph(instance.scaled)(4) == instance.scaled(4) == 18
    assert tf.autograph.convert(instance)(3) == 9
    assert tf.autograph.convert(instance)(0) == ["self", "x"]
    assert tf.autograph.convert(Derived.double)(4) == 8
    assert tf.autograph.convert(functools.partial(instance.scaled, 4))() == 18


def test_closures_share_cells():
    def make(step):
        count = 0

        def function(times):
            nonlocal count
            for _ in range(times):
                count += step
            return count
        return function, lambda: count
    first, read = make(2)
    second, _ = make(5)
    assert tf.autograph.convert(first)(3) == 6
    assert tf.autograph.convert(second)(3) == 15
    assert read() == 6


def helper_called(x):
    if x > 1:
        return sys._getframe().f_code.co_name
    return None


def test_calls_are_converted():
    def function(x):
        return helper_called(x)
    assert tf.autograph.convert(function)(2) == "converted_call"

    @tf.autograph.experimental.do_not_convert
    def unconverted(x):
        return helper_called(x)

    def calls_unconverted(x):
        return unconverted(x)
    assert tf.autograph.convert(calls_unconverted)(2) == "helper_called"
    assert tf.autograph.convert(unconverted) is unconverted
    assert tf.autograph.to_graph(function, recursive=False)(2) == "helper_called"


def test_lambdas():
    pair = (lambda x: x + 1 if x > 0 else x, lambda x: x and not x > 3)
    assert [tf.autograph.convert(f)(2) for f in pair] == [3, True]
    spread = functools.reduce(
        lambda a, b: a + b
        if a else b,
        [1, 2])
    assert spread == 3


def test_errors_name_the_users_lines():
    def failing(x):
        y = 1
        if x:
            y = x.nothing
        return y

    def function(x):
        z = failing(x)
        return z
    with pytest.raises(AttributeError) as caught:
        tf.autograph.convert(function)(1)
    first = failing.__code__.co_firstlineno
    second = function.__code__.co_firstlineno
    assert str(caught.value) == (
        'in user code:\n\n    File "%s", line %d, in function  *\n        z = failing(x)\n    File "%s", line %d, in failing  *\n'
        "        y = x.nothing\n\n    AttributeError: 'int' object has no attribute 'nothing'\n" % (
            __file__, second + 1, __file__, first + 3))


class Silent(Exception):
    pass


class Demanding(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


@pytest.mark.parametrize("error, kind, text", [
    (ValueError("v"), "ValueError", "ValueError: v"), (KeyError("k"), "KeyError", "KeyError: 'k'"),
    (Silent("s"), "Silent", "Silent: s"),
    (Demanding("d", 2), "StagingError", "Demanding: d"),
    (tf.errors.NotFoundError(None, None, "n"), "NotFoundError", "NotFoundError: n")])
def test_error_classes(error, kind, text):
    def function():
        raise error
    with pytest.raises(Exception) as caught:
        tf.autograph.convert(function)()
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith("in user code:\n\n    File ") and str(caught.value).endswith("\n\n    %s\n" % text)


def test_what_cannot_be_converted(caplog):
    from thalweg import _log
    _log._logger.propagate = True
    try:
        namespace = {}
        exec("def hidden(x):\n    return x", namespace)
        assert tf.autograph.convert(namespace["hidden"])(3) == 3
        assert "AutoGraph could not transform" in caplog.text

        def while_else(x):
            while x:
                x -= 1
            else:
                x = 5
            return x
        assert tf.autograph.convert(while_else)(3) == 5
        assert "while/else statement not yet supported" in caplog.text
    finally:
        _log._logger.propagate = False

    def generator(x):
        yield x
    assert list(tf.autograph.convert(generator)(3)) == [3]
    with pytest.raises(Exception, match="doesn't expose a __code__ object"):
        tf.autograph.to_code(len)
    with pytest.raises(Exception, match="is not a function or method"):
        tf.autograph.to_graph(3)


def test_settings():
    features = tf.autograph.experimental.Feature
    assert features.ALL in features.all() and features.LISTS not in features.all_but(features.LISTS)
    tf.autograph.set_verbosity(0)
    with pytest.raises(TypeError):
        tf.autograph.to_code(square_if_positive, experimental_optional_features=("LISTS",))
    with pytest.raises(ValueError):
        tf.autograph.experimental.set_loop_options(maximum_iterations=0)


def test_trace(capsys):
    tf.autograph.trace("a", 2)
    assert capsys.readouterr().out == "a 2\n"


def test_imported_when_asked_for():
    code = ("import sys, thalweg; assert 'thalweg.autograph' not in sys.modules; thalweg.autograph; "
            "assert 'thalweg.autograph' in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=":".join(p for p in sys.path if p)))


def test_members_of_dicts_are_told_by_their_keys():
    @tf.function
    def branches(condition):
        if condition:
            made = {"a": 1.0, "b": 2.0}
        else:
            made = {"b": 3.0, "a": 4.0}
        return made["a"], made["b"]

    @tf.function
    def loop(count):
        made = {"a": 1.0, "b": 2.0}
        for _ in tf.range(count):
            made = {"b": made["b"] * 10.0, "a": made["a"] + 1.0}
        return made["a"], made["b"]
    assert [float(v) for v in branches(tf.constant(False))] == [4.0, 3.0] and [float(v) for v in branches(tf.constant(True))] == [1.0, 2.0]
    assert [float(v) for v in loop(tf.constant(3))] == [4.0, 2000.0]
