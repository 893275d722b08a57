"""tf.function: when it traces, what it gives, what it refuses. The printed texts are TensorFlow 2.15's."""
import collections
import gc
import logging
import threading
import weakref

import numpy as np
import pytest

import thalweg as tf
from steady import SANITIZED, resident
from thalweg import _core


@pytest.fixture
def warnings():
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    tf.get_logger().addHandler(handler)
    yield records
    tf.get_logger().removeHandler(handler)


# ---- the specification's quizzes ----

def test_quiz_of_types(capsys):
    @tf.function
    def f(x):
        print("The function is running in Python")
        return x

    a = tf.constant(1, dtype=tf.int32)
    f(a)
    b = tf.constant(2, dtype=tf.int32)
    f(b)
    b_ = np.array(2, dtype=np.int32)
    f(b_)
    c = tf.constant(0.1, dtype=tf.float32)
    f(c)
    d = tf.constant(0.2, dtype=tf.float32)
    f(d)
    assert capsys.readouterr().out == "The function is running in Python\n" * 2


def test_quiz_of_python_numbers(capsys):
    @tf.function
    def f(x):
        print("The function is running in Python")
        return x

    f(1)
    f(2)
    f(1)
    f(0.1)
    f(0.2)
    f(0.1)
    assert capsys.readouterr().out == "The function is running in Python\n" * 4


def test_quiz_of_a_variable(capsys):
    a = tf.Variable(0.0)

    @tf.function
    def g():
        a.assign(a + 1.0)
        return a

    print(g())
    print(g())
    print(g())
    assert capsys.readouterr().out == ("tf.Tensor(1.0, shape=(), dtype=float32)\ntf.Tensor(2.0, shape=(), dtype=float32)\n"
                                       "tf.Tensor(3.0, shape=(), dtype=float32)\n")
    assert a.numpy() == 3.0


# ---- keys ----

def test_keys():
    f = tf.function(lambda x: None, autograph=False)
    counts = []
    for x in (1, 1.0, True, np.int32(1), np.int64(1), np.array(1, np.int32), tf.constant(1), "a", b"a", None, (1, 2), [1, 2], {"a": 1},
              (tf.constant(1),), [tf.constant(1)], (np.array(1),)):
        f(x)
        counts.append(f.experimental_get_tracing_count())
    assert counts == [1, 1, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]


def test_objects_by_identity_and_weakly():
    class Thing:
        pass
    f = tf.function(lambda thing: 1, autograph=False)
    a, b = Thing(), Thing()
    for thing in (a, a, b, b, a):
        f(thing)
    assert f.experimental_get_tracing_count() == 2
    gone = weakref.ref(a)
    del a, thing
    gc.collect()
    assert gone() is None


def test_shapes_and_relaxing():
    seen = []

    @tf.function(reduce_retracing=True, autograph=False)
    def f(x):
        seen.append(str(x.shape))
        return x
    for shape in ([1], [2], [3], [2, 2], [2, 3]):
        assert f(tf.zeros(shape)).shape == shape
    assert seen == ["(1,)", "(None,)", "<unknown>"]


def test_keywords_and_defaults_share_a_graph():
    f = tf.function(lambda x, y=2, *, z=None: x + y, autograph=False)
    one = tf.constant(1)
    assert [int(v) for v in (f(one), f(one, 2), f(x=one), f(y=2, x=one), f(one, z=None))] == [3] * 5
    assert f.experimental_get_tracing_count() == 1
    subtract = tf.function(lambda a, b: a - b, autograph=False)
    for _ in range(3):
        assert int(subtract(b=tf.constant(1), a=tf.constant(5))) == 4
        assert int(subtract(tf.constant(5), b=tf.constant(1))) == 4


def test_the_cache_is_bounded():
    tf.get_logger().setLevel(logging.ERROR)
    f = tf.function(lambda n: tf.constant(n), autograph=False)
    for i in range(3000):
        f(i)
    before = resident()
    for i in range(3000, 10000):
        assert int(f(i)) == i
    tf.get_logger().setLevel(logging.NOTSET)
    assert SANITIZED or resident() - before < 8 << 20


def test_calls_do_not_grow_memory():
    f = tf.function(lambda x: x + 1.0, autograph=False)
    x = tf.constant(1.0)
    for _ in range(1000):
        f(x)
    before = resident()
    for _ in range(300000):
        f(x)
    assert SANITIZED or resident() - before < 2 << 20


def test_retracing_warning(warnings):
    @tf.function(autograph=False)
    def f(x, y):
        return y
    for i in range(7):
        f(i, tf.constant(1))
    assert len(warnings) == 2
    assert warnings[0].startswith("5 out of the last 5 calls to <function test_retracing_warning.<locals>.f at 0x")
    assert "triggered tf.function retracing. Tracing is expensive" in warnings[0] and warnings[0].endswith("since the last call: 'x'.")


def test_traces_asked_for_are_not_retracing(warnings):
    f = tf.function(lambda x: x, autograph=False)
    for i in range(12):
        f.get_concrete_function(i)
    assert f.experimental_get_tracing_count() == 12 and not warnings


def test_arrays_are_not_kept():
    """Large NumPy arguments are read in place: what outlives the call must be a copy."""
    variable = tf.Variable(tf.zeros([4, 512]))
    held = []

    @tf.function(autograph=False)
    def f(x):
        variable.assign(x)
        tf.py_function(lambda t: held.append(t), [x], [])
        return x, tf.identity(x), tf.reshape(x, [-1]), x[1:], tf.transpose(x), {"sum": tf.reduce_sum(x)}
    for _ in range(3):
        x = np.arange(2048, dtype=np.float32).reshape(4, 512)
        expected = x.copy()
        same, identity, flat, rest, turned, total = f(x)
        x[:] = -1
        del x
        for got in same, identity, tf.reshape(flat, [4, 512]), tf.transpose(turned), variable, held.pop():
            assert np.array_equal(got.numpy(), expected)
        assert np.array_equal(rest.numpy(), expected[1:]) and total["sum"].numpy() == 2048 * 2047 / 2
    x = np.ones([64, 64], np.float32)
    double = tf.function(lambda a, b, c, d, e: a + b + c + d + e, autograph=False)
    for scale in 1, 2, 3:
        assert double(x * scale, x, x, x, x).numpy()[3, 3] == 4 + scale
    gathered = tf.function(lambda a: tf.TensorArray(tf.float32, 1).write(0, a).stack(), autograph=False)
    for _ in range(3):
        y = x.copy()
        stacked = gathered(y)
        y[:] = 5
        assert stacked.numpy().max() == 1


# ---- structures ----

Pair = collections.namedtuple("Pair", "left right")


def test_structures():
    @tf.function(autograph=False)
    def f(data):
        return {"z": data["b"], "a": (data["a"], [None, 1]), "pair": Pair(data["b"] + 1.0, None)}
    for _ in range(2):
        out = f({"b": tf.constant(2.0), "a": np.float32(1)})
        assert list(out) == ["z", "a", "pair"] and out["z"].numpy() == 2 and out["a"][0].numpy() == 1
        assert out["a"][1][0] is None and int(out["a"][1][1]) == 1 and out["pair"].left.numpy() == 3 and out["pair"].right is None


def test_results():
    v = tf.Variable(2.0)
    assert tf.function(lambda: None)() is None
    assert tf.function(lambda: v)().numpy() == 2 and not isinstance(tf.function(lambda: v)(), tf.Variable)
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.function(lambda: tf.float32)()


# ---- signatures ----

def test_input_signature():
    spec = _core_spec([None, 2], tf.float32)

    @tf.function(input_signature=[spec], autograph=False)
    def k(x):
        return x + 1
    assert k(tf.zeros([2, 2])).shape == [2, 2] and k(tf.zeros([3, 2])).shape == [3, 2] and k([[1, 2]]).numpy().tolist() == [[2, 3]]
    assert k.experimental_get_tracing_count() == 1
    text = "TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)"
    with pytest.raises(TypeError) as error:
        k(tf.zeros([3]))
    assert str(error.value) == (
        "Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape=(3,), dtype=tf.float32, name=None) to %s`. Received "
        "args: (<tf.Tensor: shape=(3,), dtype=float32, numpy=array([0., 0., 0.], dtype=float32)>,) and kwargs: {} for signature: (x: %s)."
        % (text, text))
    with pytest.raises(TypeError) as error:
        k()
    assert str(error.value) == ("Binding inputs to tf.function failed due to `missing a required argument: 'x'`. Received args: () and "
                                "kwargs: {} for signature: (x: %s)." % text)
    concrete = k.get_concrete_function()
    assert concrete.pretty_printed_signature() == ("Input Parameters:\n  x (POSITIONAL_OR_KEYWORD): %s\nOutput Type:\n  %s\nCaptures:\n  None"
                                                   % (text, text))
    assert concrete(tf.ones([1, 2])).numpy().tolist() == [[2, 2]]
    assert str(concrete.inputs) == "[<tf.Tensor 'x:0' shape=(None, 2) dtype=float32>]"
    assert [o.name for o in concrete.graph.get_operations()][0] == "x"
    assert concrete.graph.get_tensor_by_name("x:0").op.type == "Placeholder"


def _core_spec(shape, dtype):
    return tf.TensorSpec(shape, dtype)


# ---- symbolic tensors ----

def test_symbolic_tensors():
    seen = {}

    def refused(name, call):
        try:
            seen[name] = call()
        except Exception as error:
            seen[name] = (type(error).__name__, str(error))

    @tf.function(autograph=False)
    def f(x):
        y = x + 1
        seen["str"], seen["repr"], seen["name"] = str(y), repr(y), y.name
        seen["eager"] = tf.executing_eagerly(), tf.inside_function(), _core.is_symbolic(y)
        refused("bool", lambda: bool(y))
        refused("iter", lambda: list(y))
        refused("len", lambda: len(y))
        refused("int", lambda: int(y))
        refused("array", lambda: np.array(y))
        refused("numpy", lambda: y.numpy())
        with tf.init_scope():
            seen["init"] = tf.executing_eagerly(), str(tf.constant(1))
        return y
    f(tf.constant(1))
    assert seen["str"] == 'Tensor("add:0", shape=(), dtype=int32)' and seen["repr"] == "<tf.Tensor 'add:0' shape=() dtype=int32>"
    assert seen["name"] == "add:0" and seen["eager"] == (False, True, True)
    assert seen["bool"][0] == "OperatorNotAllowedInGraphError"
    assert seen["bool"][1].startswith("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt")
    assert seen["iter"][1].startswith("Iterating over a symbolic `tf.Tensor` is not allowed.")
    assert seen["len"][1] == ("len is not well defined for a symbolic Tensor (add:0). Please call `x.shape` rather than `len(x)` for shape "
                              "information.")
    assert seen["int"][0] == "TypeError" and seen["int"][1].startswith("int() argument must be a string, a bytes-like object or a real number")
    assert seen["array"][0] == "NotImplementedError" and seen["array"][1].startswith("Cannot convert a symbolic tf.Tensor (add:0) to a numpy")
    assert seen["numpy"][0] == "AttributeError"
    assert seen["init"] == (True, "tf.Tensor(1, shape=(), dtype=int32)") and tf.executing_eagerly() and not tf.inside_function()


def test_indices():
    f = tf.function(lambda x, i: (x[i], x[i:], x[:-1, ...], x[i:i + 1]), autograph=False)
    out = f(tf.constant([1, 2, 3]), tf.constant(1))
    assert [o.numpy().tolist() for o in out] == [2, [2, 3], [1, 2], [2]]
    assert f(tf.constant([1, 2, 3]), tf.constant(-1, tf.int64))[0].numpy() == 3


# ---- variables, methods, errors ----

def test_variables_are_made_once():
    class Layer:
        v = None

        @tf.function(autograph=False)
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.ones([2]) * 3.0)
            return self.v * x
    layer, other = Layer(), Layer()
    assert layer(tf.constant(2.0)).numpy().tolist() == [6, 6] and other(tf.constant(1.0)).numpy().tolist() == [3, 3]
    layer.v.assign([1.0, 2.0])
    assert layer(tf.constant(2.0)).numpy().tolist() == [2, 4]
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None
    with pytest.raises(ValueError, match="only supports singleton tf.Variables created on the first call"):
        tf.function(lambda: tf.Variable(1.0))()


def test_errors_leave_nothing_behind():
    @tf.function(autograph=False)
    def f(x, error):
        y = x + 1
        if error:
            raise error("inside")
        return y
    for error in (KeyError, KeyboardInterrupt):
        with pytest.raises(error, match="inside"):
            f(tf.constant(1), error)
    assert tf.executing_eagerly() and int(f(tf.constant(1), None)) == 2
    keep = []
    tf.function(lambda x: keep.append(x + 1), autograph=False)(tf.constant(1))
    with pytest.raises(TypeError, match="out of scope"):
        keep[0] + 1


def test_functions_in_functions_and_gradients():
    inner = tf.function(lambda x: x * x, autograph=False)
    outer = tf.function(lambda x: inner(x) + inner(x + 1.0), autograph=False)
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = outer(x)
    assert y.numpy() == 25 and tape.gradient(y, x).numpy() == 14

    @tf.function(autograph=False)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)
    assert slope(tf.constant(4.0)).numpy() == 8


def test_run_functions_eagerly():
    calls = []
    f = tf.function(lambda x: calls.append(1) or x + 1, autograph=False)
    f(1.0), f(1.0)
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly() and f(1.0) == 2.0 and len(calls) == 2
    finally:
        tf.config.run_functions_eagerly(False)


def test_threads():
    f = tf.function(lambda x, n: tf.reduce_sum(x) * n, autograph=False)
    wrong = []

    def work():
        for i in range(200):
            if float(f(tf.ones([100]), tf.constant(float(i)))) != 100.0 * i:
                wrong.append(i)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("argument, error", [("experimental_attributes", ValueError), ("experimental_autograph_options", NotImplementedError)])
def test_arguments_without_effect_are_refused(argument, error):
    with pytest.raises(error, match="attribute|" + argument):
        tf.function(lambda x: x, **{argument: {"a": "b"}})


def test_implements():
    """The name of what a function implements is for compilers that have a better one; there is none."""
    assert tf.function(lambda x: x + 1, experimental_implements="own:Plus")(tf.constant(2)).numpy() == 3
    with pytest.raises(TypeError, match="experimental_implements"):
        tf.function(lambda x: x, experimental_implements=3)


def test_plan():
    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([4, 4])])
    def f(x, w):
        return tf.reduce_sum(tf.reshape(tf.tanh(tf.matmul(x, w)) + 1.0, [-1]))

    text = f.plan(tf.ones([8, 4]), tf.ones([4, 4]))
    assert text.startswith("plan of ") and "float32 [8,4]" in text and "MatMul" in text and "128 bytes at 0" in text
    general = f.get_concrete_function().plan()
    assert "float32 [?,4]" in general
    assert f.get_concrete_function().plan(tf.ones([8, 4]), tf.ones([4, 4])) == text
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError):
        f.get_concrete_function().plan(tf.ones([8, 4]))


def test_shapes_that_are_not_known():
    """The same function with many shapes, each twice: plans come and go."""
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None])])
    def f(x, y):
        flat = tf.reshape(x, [-1])
        return tf.reshape(flat * 2.0, tf.shape(x)) + tf.reduce_sum(y[1:]), tf.size(x) * tf.shape(y)[0]

    for _ in range(2):
        for n in range(1, 30):
            for shape in ([n], [n, 2], [1, n, 3]):
                a, b = f(tf.ones(shape), tf.ones([n]))
                assert a.shape == shape and float(tf.reduce_max(a)) == n + 1 and int(b) == np.prod(shape) * n


# ---- arrays as arguments: their memory is used for the call alone ----

def test_arrays_are_not_kept():
    kept = tf.Variable(tf.zeros([64, 64]))

    @tf.function
    def given_back(x):
        return x

    @tf.function
    def reshaped(x):
        return tf.reshape(x, [-1])

    @tf.function
    def assigned(x):
        kept.assign(x)
        return tf.reduce_sum(x)

    @tf.function
    def listed(x):
        array = tf.TensorArray(tf.float32, 2)
        return array.write(0, x).write(1, x).stack()

    @tf.function
    def inner(x):
        return given_back(x)

    @tf.function
    def branched(x):
        return tf.cond(x[0, 0] > 0, lambda: x, lambda: x)

    @tf.function(input_signature=[tf.TensorSpec([None, 64])])
    def of_any_length(x):
        return x * 1

    for f in (given_back, reshaped, assigned, listed, inner, branched, of_any_length):
        for _ in range(3):
            x = np.ones([64, 64], np.float32)
            out = f(x)
            x[:] = 7
            assert not np.any(out.numpy() == 7), f
            assert not np.any(kept.numpy() == 7), f


def test_arrays_that_tapes_look_at_are_not_kept():
    v = tf.Variable(tf.ones([64, 64]))

    @tf.function
    def f(x):
        return tf.reduce_sum(x * v)

    for _ in range(3):
        x = np.ones([64, 64], np.float32)
        with tf.GradientTape() as tape:
            out = f(x)
        x[:] = 7
        assert out.numpy() == 64 * 64
        assert np.all(tape.gradient(out, v).numpy() == 1)


def test_arrays_of_all_layouts_are_arguments():
    @tf.function
    def f(x):
        return tf.cast(x, tf.float64) + 1

    base = np.arange(4096.0).reshape(64, 64)
    big = base.astype(">f8")
    unaligned = np.frombuffer(b"x" + base.tobytes() + b"y" * 7, "f8", 4096, 1).reshape(64, 64)
    for x in (base, base.T, base[::2], base[:, 1:], big, base.astype(bool), base.astype("f2"), unaligned):
        for _ in range(2):
            assert np.array_equal(f(x).numpy(), np.asarray(x, "f8") + 1)
    read_only = base.copy()
    read_only.flags.writeable = False
    assert np.array_equal(f(read_only).numpy(), base + 1)


def test_a_variable_both_as_argument_and_from_outside():
    e, a = tf.Variable(3.0), tf.Variable(39.0)

    @tf.function
    def g(v):
        return v * 10.0 + e
    assert g(e).numpy() == 33.0 and g(a).numpy() == 393.0 and g.experimental_get_tracing_count() == 1

    @tf.function
    def h(v):
        with tf.GradientTape() as tape:
            y = v * v
        v.assign_sub(0.25 * tape.gradient(y, v))
        return g(v)
    assert h(e).numpy() == 16.5 and e.numpy() == 1.5 and h(a).numpy() == 196.5 and h.experimental_get_tracing_count() == 1


def test_variables_as_arguments_are_not_kept():
    f = tf.function(lambda v: v + 1.0)
    v = tf.Variable(1.0)
    f(v)
    gone = weakref.ref(v)
    del v
    gc.collect()
    assert gone() is None and f(tf.Variable(5.0)).numpy() == 6.0


def test_diagonals_of_an_unknown_place():
    """What is wrong with the diagonal is said when the call runs, if the sizes are not known before."""
    @tf.function(autograph=False)
    def f(rows):
        return tf.raw_ops.MatrixDiagV3(diagonal=tf.ones([3]), k=[0, 1], num_rows=rows, num_cols=4, padding_value=0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of diagonals"):
        f(tf.constant(3))
