"""if, while and for over tensors outside eager execution, against a stand-in for the graph: both branches of a cond run, loops
and scratch functions run their bodies once more than needed, on tensors that have values. So what the statements do with their
variables, and what they refuse, is seen without tracing. The texts of errors are TensorFlow 2.15.1's."""
import re
import types

import pytest

import thalweg as tf


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    def cond(pred, true_fn, false_fn):
        first, second = true_fn(), false_fn()
        return first if bool(pred) else second

    def while_loop(test, body, loop_vars, shape_invariants=None, maximum_iterations=None):
        assert shape_invariants is None or len(shape_invariants) == len(loop_vars)
        test(*loop_vars)
        body(*loop_vars)
        count = 0
        while bool(test(*loop_vars)) and (maximum_iterations is None or count < maximum_iterations):
            loop_vars = body(*loop_vars)
            count += 1
        return loop_vars

    def function(f, autograph=True):
        assert not autograph or f.autograph_do_not_convert
        return types.SimpleNamespace(get_concrete_function=f)
    for name, value in (("cond", cond), ("while_loop", while_loop), ("function", function), ("executing_eagerly", lambda: False)):
        monkeypatch.setattr(tf, name, value, raising=False)


def run(function, *values):
    """The results of a converted function called with tensors, as Python values."""
    def plain(value):
        if isinstance(value, (list, tuple)):
            return type(value)(plain(v) for v in value)
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        return value.numpy().tolist() if tf.is_tensor(value) else value
    return plain(tf.autograph.convert(function)(*[tf.constant(v) for v in values]))


def branch(x, y):
    if x > 0:
        x = x * x
        z = {"a": [x, 1]}
    elif y:
        z = {"a": [x * 2, 2]}
    else:
        z = {"a": [-1, 3]}
    return x, z


def returns(x, _):
    if x > 2:
        return x, 1
    if x > 0:
        return -x, 2
    return x * 10, 3


def while_loops(n, _):
    i, s = 0, 0
    while i < n:
        i += 1
        if i == 2:
            continue
        if s > 20:
            break
        j = 0
        while j < i and not j > 3:
            s += j
            j += 1
        last = s
    return s, last


def for_loops(n, _):
    s = 0
    for i in range(n):
        if i > 4:
            break
        for k in tf.constant([[1, 2], [3, 4]]):
            s += i * k[1]
    return s


def python_loops(n, flag):
    s = n
    for i in range(3):
        if flag:
            s = s + i
    items = [s]
    while len(items) < 3:
        items.append(items[-1] * 2)
    return items


def expressions(x, y):
    return x if x > 0 and y > 0 else (-x), x > 0 or y > 0, not x > 0, 0 < x < 3, abs(x), int(x), len(tf.zeros([3, 2])), max(1, 2)


def attributes(x, y):
    box = types.SimpleNamespace(value=0, items=[1])
    while x > 0:
        box.value += x
        x -= 1
    if y > 0:
        box.items[0] = y
    return box.value, box.items


@pytest.mark.parametrize("function", [branch, returns, while_loops, for_loops, python_loops, expressions, attributes])
@pytest.mark.parametrize("x", [-1, 1, 3, 8])
@pytest.mark.parametrize("y", [-1, 2])
def test_as_python(function, x, y):
    if function in (branch, python_loops):
        values = (x, y > 0)
    else:
        values = (x, y)
    if function in (while_loops, for_loops) and x < 1:
        x = 1
        values = (1, y)
    if function is for_loops:
        s = sum(i * k for i in range(min(x, 5)) for k in (2, 4))
        assert run(function, *values) == s
        return
    if function is expressions:
        assert run(function, *values) == (x if x > 0 and y > 0 else -x, x > 0 or y > 0, not x > 0, 0 < x < 3, abs(x), x, 3, 2)
        return
    assert run(function, *values) == function(*values)


def undefined_else(x):
    if x > 0:
        y = 1
    return y


def undefined_main(x):
    if x > 0:
        pass
    else:
        y = 1
    return y


def dtypes_differ(x):
    if x > 0:
        y = 1
    else:
        y = 2.0
    return y


def none_in_branch(x):
    if x > 0:
        y = None
    else:
        y = 2.0
    return y


def no_return(x):
    if x > 0:
        return 1


def structures_differ(x):
    y = [1, 2]
    if x > 0:
        y = [1]
    return y


def expression_dtypes(x):
    return 1 if x > 0 else 2.0


def loop_dtype(x):
    while x > 0:
        x = tf.cast(x, tf.float32)
    return x


def loop_shape(x):
    v = tf.constant([1])
    while x > 0:
        x -= 1
        v = tf.concat([v, v], 0)
    return v


def loop_return(x):
    while x > 0:
        x -= 1
        if x == 3:
            return x
    return x


def loop_none(x):
    y = None
    while x > 0:
        x -= 1
        y = None
    return y


def loop_structure(x):
    items = []
    for i in tf.range(x):
        items = items + [i]
    return items


def changed_condition(x):
    i = 0
    while i < 3:
        i = tf.constant(i) + 1
    return i


def python_break(x):
    for i in [1, 2, 3]:
        if x > i:
            break
    return i


def wide_condition(x):
    if tf.constant([True, False]):
        x = x + 1
    return x


def number_condition(x):
    while x:
        x = x - 1
    return x


def scalar_loop(x):
    for i in x:
        x = i
    return x


LIMITS = ("\n    See "
          "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md"
          "#consistency-of-control-flow-types for more info.")
ERRORS = [
    (undefined_else, ValueError, 1, "'y' must also be initialized in the else branch"),
    (undefined_main, ValueError, 1, "'y' must also be initialized in the main branch"),
    (dtypes_differ, TypeError, 1, "'y' has dtype int32 in the main branch, but dtype float32 in the else branch"),
    (none_in_branch, ValueError, 1, "'y' is None at the end of the main branch."),
    (no_return, ValueError, 1, "the else branch must also have a return statement."),
    (structures_differ, TypeError, 2, """'y' must have the same nested structure in the main and else branches:

    The two structures don't have the same nested structure.

    First structure: type=list str=[1]

    Second structure: type=list str=[1, 2]

    More specifically: The two structures don't have the same number of elements. First structure: type=list str=[1]. \
Second structure: type=list str=[1, 2]
    Entire first structure:
    [.]
    Entire second structure:
    [., .]""".replace("\n\n", "\n    \n")),
    (expression_dtypes, TypeError, 1, "'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch"),
    (loop_dtype, TypeError, 1, "'x' has dtype int32 before the loop, but dtype float32 after one iteration"),
    (loop_shape, ValueError, 2, "'v' has shape (1,) before the loop, but shape (2,) after one iteration. Use "
     "tf.autograph.experimental.set_loop_options to set shape invariants."),
    (loop_return, NotImplementedError, 1, "a return statement cannot be placed inside this TensorFlow loop; this may happen if "
     "a return "
     "statement depends on a static Python condition such as a hyperparameter"),
    (loop_none, ValueError, 2, "'y' is not allowed to be None before the loop"),
    (changed_condition, NotImplementedError, 2, "The condition of while loop started as non-Tensor, then changed to Tensor. "
     "This may happen "
     "either because variables changed type, or when a break or return statement inside the loop depends on a Tensor condition. "
     "In both "
     "cases, changing to a TF loop should remove the error." + LIMITS),
    (python_break, NotImplementedError, 1, "break and return statements which depend on a TF condition are not supported in "
     "Python for loops. "
     "Did you intend to make it a TF loop?" + LIMITS),
]


@pytest.mark.parametrize("function, kind, line, text", ERRORS, ids=[e[0].__name__ for e in ERRORS])
def test_errors(function, kind, line, text):
    with pytest.raises(kind) as caught:
        run(function, 3)
    with open(__file__) as f:
        lines = f.read().split("\n")
    got = re.sub(r' *File .*, in (cond|while_loop)  \*\*\n.*\n', "", str(caught.value))
    number = function.__code__.co_firstlineno + line
    assert got == 'in user code:\n\n    File "%s", line %d, in %s  *\n        %s\n\n    %s: %s\n' % (
        __file__, number, function.__name__, lines[number - 1].strip(), kind.__name__, text)


@pytest.mark.parametrize("function, start", [
    (wide_condition, "condition of if statement expected to be `tf.bool` scalar, got "),
    (number_condition, "condition of while loop expected to be `tf.bool` scalar, got "),
    (scalar_loop, "len requires a non-scalar tensor, got one of shape "),
    (loop_structure, "'items' does not have the same nested structure after one iteration.")])
def test_errors_that_show_tensors(function, start):
    with pytest.raises((ValueError, TypeError)) as caught:
        run(function, 3)
    assert "Error: " + start in str(caught.value)


def test_loop_options():
    def bounded(x):
        while x > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=2)
            x -= 1
        return x

    def growing(x):
        v = tf.constant([1])
        while x > 0:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
            x -= 1
            v = tf.concat([v, v], 0)
        return v
    assert run(bounded, 5) == 3
    assert run(growing, 2) == [1, 1, 1, 1]


def test_optional_assertions():
    from thalweg.autograph import runtime
    with pytest.raises(AssertionError, match="^no$"):
        runtime.assert_stmt(False, lambda: "no")
    assert runtime.assert_stmt(True, lambda: "no") is None
    assert runtime.new_list([1]) == [1]
    assert runtime.list_append([1], 2) == [1, 2]
    assert runtime.list_pop([1, 2]) == ([1], 2)
    assert runtime.set_item([1, 2], 0, 5) == [5, 2] and runtime.get_item([1, 2], 1) == 2
    assert bool(runtime.eq(tf.constant(1), 1)) and not bool(runtime.not_eq(tf.constant(1), 1))
