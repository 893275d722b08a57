"""Elementwise functions of tf.experimental.numpy, most of them lines of tables."""
import numpy as np

import thalweg as tf
from thalweg._numpy.types import asarray, default_float, floating, promoted

math, bitwise = tf.math, tf.bitwise
MEMBERS = {}


def _public(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, "thalweg.experimental.numpy"
    MEMBERS[name] = function
    return function


def _unary(name, compute, to_float):
    def call(x):
        return compute(floating(x) if to_float else asarray(x))
    return _public(call, name, "numpy.%s of a tensor, element by element." % name)


def _of_kind(truths, numbers):
    """A function of truths where the operands are truths."""
    return lambda a, b: truths(a, b) if a.dtype == tf.bool else numbers(a, b)


def _small(compute):
    """Truths are computed with as int8."""
    return lambda a, b: compute(*(tf.cast(v, tf.int8) if v.dtype == tf.bool else v for v in (a, b)))


def _binary(name, compute):
    def call(x1, x2):
        return compute(*promoted(x1, x2))
    return _public(call, name, "numpy.%s of two tensors, element by element." % name)


def _divided(a, b):
    if a.dtype == tf.bool:
        a, b = tf.cast(a, default_float()), tf.cast(b, default_float())
    return math.truediv(a, b)


def _bits(compute):
    def call(a, b):
        if a.dtype == tf.bool:
            return tf.cast(compute(tf.cast(a, tf.int8), tf.cast(b, tf.int8)), tf.bool)
        return compute(a, b)
    return call


def _degrees(x, factor):
    return x * tf.constant(factor, x.dtype)


def _sinc(x):
    turned = x * tf.constant(np.pi, x.dtype)
    return tf.where(tf.equal(x, 0), tf.ones_like(x), math.sin(turned) / tf.where(tf.equal(x, 0), tf.ones_like(x), turned))


def _log_base(base):
    return lambda x: math.log(x) / tf.constant(np.log(base), x.dtype)


def _infinite(sign):
    def call(x):
        return math.logical_and(math.is_inf(x), tf.greater(x, 0) if sign > 0 else tf.less(x, 0))
    return call


def _sign_bit(x):
    if x.dtype == tf.bool:
        return tf.fill(tf.shape(x), False)
    return tf.less(x, 0)


def _conjugate(x):
    return math.conj(x) if x.dtype.is_complex else x


def _any_finite(x):
    if x.dtype.is_complex:
        return math.logical_and(math.is_finite(math.real(x)), math.is_finite(math.imag(x)))
    return math.is_finite(x)


def _in_parts(compute):
    """Whether one of the parts of complex numbers is so."""
    def call(x):
        if x.dtype.is_complex:
            return math.logical_or(compute(math.real(x)), compute(math.imag(x)))
        return compute(x)
    return call


def _fix(x):
    return tf.where(tf.less(x, 0), math.ceil(x), math.floor(x))


def _complex_zero(real):
    def call(x):
        if x.dtype.is_complex:
            return tf.equal(math.imag(x), 0) if real else tf.not_equal(math.imag(x), 0)
        return tf.fill(tf.shape(x), real)
    return call


def _absolute(x):
    return x if x.dtype == tf.bool else math.abs(x)


def _cbrt(x):
    return math.sign(x) * math.pow(math.abs(x), tf.constant(1 / 3, x.dtype))


# name: (function of a tensor, whether whole numbers become floats first)
_UNARY = dict(
    log=(math.log, True), exp=(math.exp, True), sqrt=(math.sqrt, True), abs=(_absolute, False), absolute=(_absolute, False), fabs=(_absolute, False),
    ceil=(math.ceil, True), floor=(math.floor, True), conj=(_conjugate, False), conjugate=(_conjugate, False), negative=(math.negative, False),
    reciprocal=(math.reciprocal, True), signbit=(_sign_bit, False), sin=(math.sin, True), cos=(math.cos, True), tan=(math.tan, True),
    sinh=(math.sinh, True), cosh=(math.cosh, True), tanh=(math.tanh, True), arcsin=(math.asin, True), arccos=(math.acos, True),
    arctan=(math.atan, True), arcsinh=(math.asinh, True), arccosh=(math.acosh, True), arctanh=(math.atanh, True),
    deg2rad=(lambda x: _degrees(x, np.pi / 180), True), rad2deg=(lambda x: _degrees(x, 180 / np.pi), True), cbrt=(_cbrt, True),
    exp2=(lambda x: math.pow(tf.constant(2, x.dtype), x), True), expm1=(math.expm1, True), fix=(_fix, True), isnan=(_in_parts(math.is_nan), True),
    isfinite=(_any_finite, True), isinf=(_in_parts(math.is_inf), True), isneginf=(_infinite(-1), True), isposinf=(_infinite(1), True),
    log2=(_log_base(2.0), True), log10=(_log_base(10.0), True), log1p=(math.log1p, True), positive=(tf.identity, False), sinc=(_sinc, True),
    square=(math.square, False), iscomplex=(_complex_zero(False), False), isreal=(_complex_zero(True), False))

# name: function of two tensors of one dtype
_BINARY = dict(
    add=_of_kind(math.logical_or, math.add), subtract=math.subtract, multiply=_of_kind(math.logical_and, math.multiply), true_divide=_divided,
    divide=_divided, floor_divide=_small(math.floordiv), mod=_small(math.floormod), remainder=_small(math.floormod),
    maximum=_of_kind(math.logical_or, math.maximum), minimum=_of_kind(math.logical_and, math.minimum), power=math.pow, float_power=math.pow,
    arctan2=math.atan2, nextafter=math.nextafter, bitwise_and=_bits(bitwise.bitwise_and), bitwise_or=_bits(bitwise.bitwise_or),
    bitwise_xor=_bits(bitwise.bitwise_xor), equal=tf.equal, not_equal=tf.not_equal)
_COMPARISONS = dict(greater=tf.greater, greater_equal=tf.greater_equal, less=tf.less, less_equal=tf.less_equal)
_LOGICAL = dict(logical_and=tf.logical_and, logical_or=tf.logical_or, logical_xor=math.logical_xor)


def _truth(x):
    return asarray(x, tf.bool)


def _logical(name, compute):
    def call(x1, x2):
        return compute(_truth(x1), _truth(x2))
    return _public(call, name, "numpy.%s of two tensors, element by element." % name)


for _name, (_compute, _to_float) in _UNARY.items():
    _unary(_name, _compute, _to_float)
for _name, _compute in _BINARY.items():
    _binary(_name, _compute)
for _name, _compute in _COMPARISONS.items():
    _binary(_name, lambda a, b, compute=_compute: compute(*(tf.cast(v, tf.int32) if v.dtype == tf.bool else v for v in (a, b))))
for _name, _compute in _LOGICAL.items():
    _logical(_name, _compute)


def logical_not(x):
    """Whether an element is zero."""
    return tf.logical_not(_truth(x))


def bitwise_not(x):
    """The bits turned around; of truths the opposite."""
    x = asarray(x)
    return tf.logical_not(x) if x.dtype == tf.bool else bitwise.invert(x)


def divmod(x1, x2):
    """The quotient, rounded down, and the remainder."""
    return MEMBERS["floor_divide"](x1, x2), MEMBERS["mod"](x1, x2)


def clip(a, a_min, a_max):
    """The values, none less than a_min or greater than a_max."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return MEMBERS["minimum"](a, a_max)
    if a_max is None:
        return MEMBERS["maximum"](a, a_min)
    a, low, high = promoted(a, a_min, a_max)
    return math.minimum(math.maximum(a, low), high)


def heaviside(x1, x2):
    """0 below zero, 1 above, x2 at zero."""
    a, b = promoted(x1, x2)
    made = tf.where(tf.less(a, 0), tf.zeros_like(b), tf.where(tf.greater(a, 0), tf.ones_like(b), b))
    return made if made.dtype.is_floating else tf.cast(made, default_float())


def hypot(x1, x2):
    """The root of the sum of the squares."""
    a, b = (math.square(v) for v in promoted(x1, x2))
    return math.sqrt(floating(a + b))


def _log_add(x1, x2, exponential, logarithm, factor):
    a, b = (floating(v) for v in promoted(x1, x2))
    delta = a - b
    return tf.where(math.is_nan(delta), a + b, math.maximum(a, b) + logarithm(exponential(-math.abs(delta))) * tf.constant(factor, a.dtype))


def logaddexp(x1, x2):
    """log(exp(x1) + exp(x2))."""
    return _log_add(x1, x2, math.exp, math.log1p, 1)


def logaddexp2(x1, x2):
    """log2(2**x1 + 2**x2)."""
    return _log_add(x1, x2, MEMBERS["exp2"], math.log1p, 1 / np.log(2))


def angle(z, deg=False):
    """The angle of complex numbers."""
    z = floating(z)
    made = math.angle(z) if z.dtype.is_complex else tf.where(tf.less(z, 0), np.float32(np.pi), np.float32(0))
    return _degrees(made, 180 / np.pi) if deg else made


def _whole(name, x1, x2):
    a, b = promoted(x1, x2)
    if not (a.dtype.is_integer or a.dtype == tf.bool):
        raise ValueError("Arguments to %s must be integers." % name)
    return a, b


def gcd(x1, x2):
    """The greatest common divisor."""
    a, b = _whole("gcd", x1, x2)
    shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
    a, b = tf.broadcast_to(math.abs(a), shape), tf.broadcast_to(math.abs(b), shape)

    def step(a, b):
        zero = tf.equal(b, 0)
        rest = math.floormod(a, tf.where(zero, tf.ones_like(b), b))
        return tf.where(zero, a, b), tf.where(zero, tf.zeros_like(b), rest)
    return tf.while_loop(lambda a, b: tf.reduce_any(tf.not_equal(b, 0)), step, [a, b])[0]


def lcm(x1, x2):
    """The least common multiple."""
    a, b = _whole("lcm", x1, x2)
    divisor = gcd(a, b)
    zero = tf.equal(divisor, 0)
    return tf.where(zero, tf.zeros_like(divisor), math.abs(math.floordiv(a, tf.where(zero, tf.ones_like(divisor), divisor)) * b))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|."""
    a, b = promoted(a, b)
    if not a.dtype.is_floating and not a.dtype.is_complex:
        if a.dtype == tf.bool:
            return tf.equal(a, b)
        a, b = floating(a), floating(b)
    distance = math.abs(b)
    near = tf.less_equal(math.abs(a - b), tf.constant(atol, distance.dtype) + tf.constant(rtol, distance.dtype) * distance)
    if equal_nan:
        near = tf.logical_or(near, tf.logical_and(MEMBERS["isnan"](a), MEMBERS["isnan"](b)))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close."""
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2):
    """Whether shapes and elements are the same."""
    a, b = promoted(a1, a2)
    if a.shape.is_fully_defined() and b.shape.is_fully_defined():
        return tf.reduce_all(tf.equal(a, b)) if a.shape == b.shape else tf.constant(False)
    if a.shape.rank is not None and b.shape.rank is not None and a.shape.rank != b.shape.rank:
        return tf.constant(False)
    same = tf.reduce_all(tf.equal(tf.shape(a), tf.shape(b)))
    return tf.cond(same, lambda: tf.reduce_all(tf.equal(a, b)), lambda: tf.constant(False))


def iscomplexobj(x):
    """Whether the dtype is complex."""
    return bool(asarray(x).dtype.is_complex)


def isrealobj(x):
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def sign(x, out=None, where=None, **kwargs):
    """-1, 0 or 1; of complex numbers that of the real part."""
    for name, given in (("out", out), ("where", where), (kwargs.keys(), kwargs or None)):
        if given is not None:
            raise ValueError("tf.numpy doesnt support setting %s" % (name if isinstance(name, str) and name != "out" else "out." if name == "out" else name))
    x = asarray(x)
    if x.dtype.is_complex:
        return tf.cast(math.sign(math.real(x)), x.dtype)
    return math.sign(x)


def around(a, decimals=0):
    """Rounded to a number of decimals, halves to even."""
    a = asarray(a)
    kept = a.dtype
    factor = 10 ** decimals
    if kept.is_integer or kept == tf.bool:
        if decimals >= 0:
            return a
        a = tf.cast(a, default_float())
    scale = tf.constant(float(factor), a.dtype)
    return tf.cast(math.round(a * scale) / scale, kept)


round = around


def imag(val):
    """The imaginary part; zero of other numbers."""
    val = asarray(val)
    return math.imag(val) if val.dtype.is_complex else tf.zeros_like(val)


def real(val):
    """The real part."""
    val = asarray(val)
    return math.real(val) if val.dtype.is_complex else val


for _function in (logical_not, bitwise_not, divmod, clip, heaviside, hypot, logaddexp, logaddexp2, angle, gcd, lcm, isclose, allclose, array_equal,
                  iscomplexobj, isrealobj, sign, around, imag, real):
    MEMBERS[_function.__name__] = _function
MEMBERS["round"] = around
