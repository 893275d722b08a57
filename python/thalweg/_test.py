"""tf.test: test cases with asserts about tensors, numeric gradients. Loaded when first asked for."""
import contextlib
import functools
import io
import math
import operator
import re
import sys
import threading
import unittest
from unittest import mock  # noqa: F401

import numpy as np

import thalweg as tf
from thalweg import _core
from thalweg._test_general import General


def _value(value):
    """What a tensor, a variable or anything else holds, as an array."""
    if isinstance(value, (tf.RaggedTensor,)):
        return np.array(value.to_list(), dtype=object)
    if isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value)
    if _core.is_tensor(value):
        return value.numpy()
    return value


def _differences(a, b, aname, bname):
    """Where two structures differ; lists and tuples with the same members are the same."""
    if isinstance(a, dict) and isinstance(b, dict):
        places = [(key, key in a, key in b) for key in dict.fromkeys([*a, *b])]
    elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        places = [(i, i < len(a), i < len(b)) for i in range(max(len(a), len(b)))]
    elif isinstance(a, (set, frozenset)) and isinstance(b, (set, frozenset)):
        for value in sorted(a ^ b, key=repr):
            yield "%s has %r but %s does not" % ((aname, value, bname) if value in a else (bname, value, aname))
        return
    else:
        if type(a) is not type(b) and isinstance(a, (list, tuple, dict, set, frozenset)) != isinstance(b, (list, tuple, dict, set, frozenset)):
            yield "%s is a %r but %s is a %r" % (aname, type(a), bname, type(b))
        elif a != b:
            yield "%s is %r but %s is %r" % (aname, a, bname, b)
        return
    for key, first, second in places:
        if first and second:
            yield from _differences(a[key], b[key], "%s[%r]" % (aname, key), "%s[%r]" % (bname, key))
        elif first:
            yield "%s has [%r] with value %r but it's missing in %s" % (aname, key, a[key], bname)
        else:
            yield "%s lacks [%r] but %s has it with value %r" % (aname, key, bname, b[key])


class TestCase(General):
    """A unittest.TestCase with asserts about tensors."""

    def setUp(self):
        super().setUp()
        tf.random.set_seed(87654321)
        np.random.seed(87654321)

    def get_temp_dir(self):
        """A folder for the test's files."""
        return self._folder()

    # ---- values ----

    def evaluate(self, tensors):
        """The arrays of tensors, by a session if the program has a graph."""
        if not tf.executing_eagerly():
            session = tf.compat.v1.get_default_session()
            if session is None:
                with self.cached_session() as session:
                    return session.run(tensors)
            return session.run(tensors)
        return tf.nest.map_structure(self._one, tensors)

    def _one(self, value):
        if value is None or isinstance(value, (tf.RaggedTensor, tf.SparseTensor)) and hasattr(value, "_replace"):
            return value
        if callable(value) and not _core.is_tensor(value):
            return self.evaluate(value())
        if isinstance(value, tf.SparseTensor):
            return tf.compat.v1.SparseTensorValue(value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy())
        if isinstance(value, tf.IndexedSlices):
            return tf.convert_to_tensor(value).numpy()
        return value.numpy() if hasattr(value, "numpy") else value

    def _array(self, value):
        """A value as an array, whether eager or of a graph."""
        if isinstance(value, tf.RaggedTensor):
            return value
        if _core.is_tensor(value) and not tf.executing_eagerly():
            value = self.evaluate(value)
        if isinstance(value, (list, tuple)) and any(map(_core.is_tensor, value)):
            value = [self._array(v) for v in value]
        value = _value(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    def evaluate_if_both_tensors(self, a, b):
        """Both as arrays, if both are tensors."""
        both = _core.is_tensor(a) and _core.is_tensor(b)
        return (self.evaluate(a), self.evaluate(b)) if both else (a, b)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        """A session over a graph; nothing if the program is eager."""
        del use_gpu, force_gpu
        if tf.executing_eagerly():
            yield _Eager(self)
            return
        with tf.compat.v1.Session(graph=graph, config=config) as session:
            yield session

    cached_session = test_session = session

    # ---- asserts ----

    def assertAllEqual(self, a, b, msg=None):
        """The same shape and elements."""
        if isinstance(a, tf.RaggedTensor) or isinstance(b, tf.RaggedTensor):
            self.assertEqual(*(v.to_list() if isinstance(v, tf.RaggedTensor) else _value(v).tolist() if hasattr(v, "shape") else list(v) for v in (a, b)), msg)
            return
        a, b = self._texts(a), self._texts(b)
        self.assertEqual(a.shape, b.shape, self._told("Shape mismatch: expected %s, got %s" % (a.shape, b.shape), msg))
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if not np.all(same):
            self.fail(self._told("Arrays are not equal: %r != %r, different at %s" % (a, b, np.argwhere(np.logical_not(same))[:10].tolist()), msg))

    @staticmethod
    def _told(standard, msg):
        return "%s : %s" % (standard, msg) if msg else standard

    def _texts(self, value):
        """An array; texts as bytes."""
        array = self._array(value)
        if array.dtype.kind == "U" or array.dtype == object:
            array = np.array([v.encode() if isinstance(v, str) else v for v in array.reshape(-1)], object).reshape(array.shape)
        return array.astype(object) if array.dtype.kind == "S" else array

    def assertNotAllEqual(self, a, b, msg=None):
        """Not all elements are the same."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(self._told("The two values are equal at all elements. a: %r b: %r" % (a, b), msg))

    def _close(self, a, b, rtol, atol, path, msg):
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertTrue(isinstance(a, dict) and isinstance(b, dict), self._told("Can't compare dict to %s at %s" % (type(b), path), msg))
            self.assertEqual(set(a), set(b), self._told("mismatched keys at %s" % path, msg))
            for key in a:
                self._close(a[key], b[key], rtol, atol, "%s[%r]" % (path, key), msg)
            return
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            try:
                left, right = self._array(a), self._array(b)
                plain = left.dtype != object and right.dtype != object
            except ValueError:
                plain = False
            if not plain:
                self.assertEqual(len(a), len(b), self._told("Mismatched length at %s" % path, msg))
                for i, (x, y) in enumerate(zip(a, b)):
                    self._close(x, y, rtol, atol, "%s[%d]" % (path, i), msg)
                return
        if isinstance(a, tf.RaggedTensor) or isinstance(b, tf.RaggedTensor):
            self._close(*(v.to_list() if isinstance(v, tf.RaggedTensor) else v for v in (a, b)), rtol, atol, path, msg)
            return
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, self._told("Shape mismatch at %s: expected %s, got %s" % (path, a.shape, b.shape), msg))
        a, b = (v.astype(np.float32) if v.dtype.name == "bfloat16" else v for v in (a, b))
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            far = np.abs(a.astype(complex) - b) if a.dtype.kind == "c" else np.abs(a.astype(float) - b.astype(float))
            self.fail(self._told("Not equal to tolerance rtol=%s, atol=%s at %s: a = %r, b = %r, greatest difference %s" % (
                rtol, atol, path, a, b, np.max(far) if far.size else 0), msg))

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Arrays, or structures of them, that are nearly the same."""
        self._close(a, b, rtol, atol, "a", msg)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3, half_atol=1e-3,
                                      bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """The same; the tolerance is that of the narrower dtype."""
        kinds = {self._array(v).dtype.name for v in (a, b)}
        for name, r, t in (("float32", float_rtol, float_atol), ("complex64", float_rtol, float_atol), ("float16", half_rtol, half_atol),
                           ("bfloat16", bfloat16_rtol, bfloat16_atol)):
            if name in kinds:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Not nearly the same."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(self._told("The two values are close at all elements. a: %r b: %r" % (a, b), msg))

    def _all(self, value, good, words):
        array = self._array(value)
        if not np.all(good(array)):
            self.fail("%s, but got %r" % (words, array))

    def _compared(sign, good, doc):
        def check(self, a, comparison_target):
            self._all(a, lambda v: good(v, _value(comparison_target)), "all elements must be %s %s" % (sign, comparison_target))
        check.__doc__ = doc
        return check

    assertAllGreater, assertAllGreaterEqual = _compared(">", operator.gt, "All greater."), _compared(">=", operator.ge, "None less.")
    assertAllLess, assertAllLessEqual = _compared("<", operator.lt, "All less."), _compared("<=", operator.le, "None greater.")
    del _compared

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """All between two bounds."""
        def good(v):
            if v.dtype.kind == "f" and np.any(np.isnan(v)):
                return False
            return np.logical_and(v > lower_bound if open_lower_bound else v >= lower_bound, v < upper_bound if open_upper_bound else v <= upper_bound)
        array = self._array(target)
        if array.dtype.kind not in "iuf":
            raise AssertionError("The value of %s does not have an ordered numeric type, instead it has type: %s" % (target, array.dtype))
        self._all(array, good, "all elements must be in the range %s%s, %s%s" % ("(" if open_lower_bound else "[", lower_bound, upper_bound,
                                                                               ")" if open_upper_bound else "]"))

    def assertAllInSet(self, target, expected_set):
        """All are members of a set."""
        array = self._array(target)
        extra = set(array.reshape(-1).tolist()) - set(expected_set)
        if extra:
            self.fail("%d unique element(s) are not in the set %r: %r" % (len(extra), expected_set, extra))

    def assertNear(self, f1, f2, err, msg=None):
        """Numbers that are nearly the same."""
        self.assertTrue(f1 == f2 or math.fabs(f1 - f2) <= err, "%f != %f +/- %f%s" % (f1, f2, err, " (%s)" % msg if msg is not None else ""))

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """The same for lists of numbers."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for a, b in zip(farray1, farray2):
            self.assertNear(float(a), float(b), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """The distance of two arrays, as vectors, is less than err."""
        self.assertTrue(np.linalg.norm(self._array(ndarray1) - self._array(ndarray2)) < err, msg=msg)

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Two arrays or tensors of the same shape."""
        shapes = [tuple(v.shape) for v in (input_a, input_b)]
        self.assertEqual(*shapes, msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """The dtype is that one."""
        dtype = tf.as_dtype(self._array(target).dtype if not _core.is_tensor(target) else target.dtype)
        expected = tf.as_dtype(expected_dtype)
        self.assertEqual(dtype, expected, "Unexpected data type: target dtype %s, expected dtype %s" % (dtype, expected))

    def assertDeviceEqual(self, device1, device2, msg=None):
        """Names of the same device."""
        names = [tf.DeviceSpec.from_string(d).to_string() if d else "" for d in (device1, device2)]
        self.assertEqual(*names, msg)

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):
        """Lists, tuples, dicts and sets that hold equal values in the same places; `aname` and `bname` are their names in the message."""
        problems = list(_differences(a, b, aname, bname))
        if problems:
            self.fail(self._told("; ".join(problems), msg))

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None, relative_tolerance=None):
        """Messages with the same contents; the first may be a text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            self.assertMultiLineEqual("".join(expected.split()), "".join(str(message).split()), msg)
        else:
            self.assertIs(type(expected), type(message), msg)
            self.assertMultiLineEqual(str(expected), str(message), msg)
        del relative_tolerance

    def assertProtoEqualsVersion(self, expected, actual, producer=1645, min_consumer=0, msg=None):
        """The same with the versions of graphs added to the text."""
        self.assertProtoEquals("versions { producer: %d min_consumer: %d };\n%s" % (producer, min_consumer, expected), actual, msg)

    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """An error whose text an expression matches, or which a function likes."""
        given = expected_err_re_or_predicate
        good = given if callable(given) else lambda error: re.search(given, str(error)) is not None
        return self._raising(exception_type, good, given)

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """The same for errors of ops."""
        return self.assertRaisesWithPredicateMatch(tf.errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=None, **kwargs):
        """An error about shapes that do not fit."""
        return self.assertRaisesWithPredicateMatch(exception_type or tf.errors.InvalidArgumentError, kwargs.get("regex", r"(?i)shape"))

    def assertEqual(self, first, second, msg=None):
        """The same; tensors by their elements."""
        if _core.is_tensor(first) or _core.is_tensor(second):
            if not bool(np.all(self._array(first) == self._array(second))):
                self.fail(self._told("%r != %r" % (first, second), msg))
            return
        super().assertEqual(first, second, msg)

    assertEquals = assertEqual

    # ---- threads and streams ----

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread whose errors fail the test when it is joined."""
        return _Thread(self, target, args or (), kwargs or {})

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """What is written to sys.stdout or sys.stderr; contents() gives it."""
        name = "stdout" if stream is sys.stdout else "stderr"
        kept, written = getattr(sys, name), io.StringIO()
        written.contents = written.getvalue
        setattr(sys, name, written)
        try:
            yield written
        finally:
            setattr(sys, name, kept)


class _Eager:
    """What stands for a session in an eager program."""

    def __init__(self, test):
        self._test = test

    def run(self, fetches, *args, **kwargs):
        """The arrays."""
        return self._test.evaluate(fetches)


class _Thread(threading.Thread):
    """A thread that tells its test what went wrong."""

    def __init__(self, test, target, args, kwargs):
        super().__init__(daemon=True)
        self._test, self._call, self._error = test, functools.partial(target, *args, **kwargs), None

    def run(self):
        try:
            self._call()
        except Exception as error:
            self._error = error

    def join(self, timeout=None):
        super().join(timeout)
        if self._error is not None:
            self._test.fail("Error in checkedThread: %s" % self._error)

    check_termination = join


# ---- gradients ----

def _jacobian_of_code(f, xs, at, shape, dtype):
    """By the gradient code: a row of the result for each element of the argument."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = f(*xs)
        y = tf.convert_to_tensor(y)
        parts = [tf.reshape(y, [-1])]
    rows = []
    size = int(np.prod(y.shape.as_list()))
    kind = np.complex128 if y.dtype.is_complex else None
    for i in range(size):
        for unit in ([1, 1j] if kind else [1]):
            upstream = np.zeros(size, y.dtype.as_numpy_dtype)
            upstream[i] = unit
            gradient = tape.gradient(y, xs[at], output_gradients=tf.reshape(tf.constant(upstream), y.shape))
            if gradient is None:
                gradient = tf.zeros(shape, dtype)
            if isinstance(gradient, tf.IndexedSlices):
                gradient = tf.convert_to_tensor(gradient)
            rows.append(_as_reals(gradient.numpy()))
    del parts
    return np.stack(rows, 1).T if rows else np.zeros((0, int(np.prod(shape))))


def _as_reals(array):
    """A vector of real numbers; complex ones are two each."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _jacobian_of_numbers(f, xs, at, delta):
    """By differences."""
    base = [x.numpy() for x in xs]
    reals = _as_reals(base[at])
    columns = []

    def value(moved):
        whole = list(base)
        whole[at] = (moved.view(base[at].dtype) if base[at].dtype.kind == "c" else moved).reshape(base[at].shape)
        return _as_reals(tf.convert_to_tensor(f(*[tf.constant(v) for v in whole])).numpy()).astype(np.float64)
    for i in range(reals.size):
        up, down = np.array(reals), np.array(reals)
        up[i] += delta
        down[i] -= delta
        columns.append((value(up) - value(down)) / (2 * delta))
    return np.stack(columns, 1) if columns else np.zeros((value(reals).size, 0))


def compute_gradient(f, x, delta=None):
    """(jacobians by gradients, jacobians by differences): lists with a matrix for each argument."""
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), not a %s" % type(x))
    xs = [tf.convert_to_tensor(v) for v in x]
    if not xs:
        raise ValueError("`x` must hold at least one argument of `f`")
    if delta is None:
        delta = 1.0 / 1024
    by_code, by_numbers = [], []
    for i, t in enumerate(xs):
        if not (t.dtype.is_floating or t.dtype.is_complex):
            raise TypeError("compute_gradient: the argument %d has dtype %s; floats and complex numbers have gradients" % (i, t.dtype.name))
        kind = t.dtype.real_dtype.as_numpy_dtype
        by_code.append(_jacobian_of_code(f, xs, i, t.shape, t.dtype).astype(kind))
        by_numbers.append(_jacobian_of_numbers(f, xs, i, delta).astype(kind))
    return by_code, by_numbers


# ---- the rest ----

def main(argv=None):
    """Runs the tests of the program."""
    unittest.main(argv=argv)


class Benchmark:
    """Measures how long ops take."""

    def is_abstract(self):
        """Whether it is a base alone."""
        return type(self) is Benchmark

    def evaluate(self, tensors):
        """The arrays."""
        return TestCase().evaluate(tensors)

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None):
        """Prints what was measured."""
        entry = dict(iters=iters, cpu_time=cpu_time, wall_time=wall_time, throughput=throughput, extras=extras, metrics=metrics)
        print("entry { name: %r %s }" % (name or type(self).__name__, " ".join("%s: %s" % pair for pair in entry.items() if pair[1] is not None)))


def benchmark_config():
    """The settings of sessions that measure."""
    return tf.compat.v1.ConfigProto()


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """There are no servers."""
    raise NotImplementedError("tf.test.create_local_cluster is not supported: thalweg has no servers that sessions could connect to")


def assert_equal_graph_def(expected, actual):
    """Whether graphs have the same nodes."""
    for which, given in (("expected", expected), ("actual", actual)):
        if not hasattr(given, "node"):
            raise TypeError("Expected tf.GraphDef for %s, got %s" % (which, type(given).__name__))
    left, right = ({n.name: n.SerializeToString() for n in g.node} for g in (expected, actual))
    if left != right:
        different = sorted(k for k in left.keys() | right.keys() if left.get(k) != right.get(k))
        raise AssertionError("the graphs differ at the nodes %s" % ", ".join(different[:10]))


def disable_with_predicate(pred, skip_message):
    """A decorator: the test is skipped if pred() is true."""
    def decorate(function):
        @functools.wraps(function)
        def call(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            return function(self, *args, **kwargs)
        return call
    return decorate


def with_eager_op_as_function(cls=None, only_as_function=False):
    """The class itself: every op is a function already."""
    del only_as_function
    return cls if cls is not None else lambda given: given


def is_built_with_xla():
    """There is no XLA."""
    return False


def is_built_with_rocm():
    """There is no ROCm."""
    return False


def sync_devices():
    """Waits for devices: the processor is done when a call returns."""


TEST = ("TestCase mock compute_gradient main Benchmark benchmark_config create_local_cluster assert_equal_graph_def disable_with_predicate "
        "with_eager_op_as_function is_built_with_xla is_built_with_rocm").split()
