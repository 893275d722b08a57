"""Make tests/golden/op_cases/math.json: arithmetic, functions, comparisons, casts and selection, by TensorFlow 2.15.1. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("math")
rng = np.random.RandomState(7)
REAL = [np.float16, tf.bfloat16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4,), ()), ((), (2, 2)), ((0,), (1,)), ((2, 0), (1, 1)),
          ((2, 1, 3), (1, 2, 1)), ((2, 1, 3, 1), (2, 1, 4)), ((1,), (1, 1, 1))]
FEW_SHAPES = SHAPES[:1] + SHAPES[3:4] + SHAPES[6:7]  # for ops that share their loops with one that has them all


def add(op, **arguments):
    try:
        c.add(op, **arguments)
    except tf.errors.NotFoundError:  # a dtype that TensorFlow has no kernel for
        pass


def values(shape, dtype, low=-3.0, high=3.0):
    kind = tf.as_dtype(dtype)
    x = np.round(rng.uniform(low, high, shape), 2)
    if kind.is_complex:
        x = x + 1j * np.round(rng.uniform(low, high, shape), 2)
    if kind.is_unsigned:
        x = np.abs(x)
    if kind.is_integer:
        x = np.round(x)
    return tf.cast(tf.constant(np.asarray(x)), kind)


def nonzero(shape, dtype, low=0.5, high=3.0):
    kind = tf.as_dtype(dtype)
    x = values(shape, dtype, low, high)
    if kind.is_integer:
        return tf.maximum(x, 1) if kind.size > 4 or kind in (tf.int32,) else tf.cast(tf.maximum(tf.cast(x, tf.int32), 1), kind)
    return x


def binary(op, dtypes, y_of=values, names=("x", "y"), gradient=True, x_of=values, tolerance=None, **attrs):
    """Every dtype once with broadcasting, and float64 in several pairs of shapes."""
    for d in dtypes:
        kind = tf.as_dtype(d)
        differentiable = gradient and (kind.is_floating or kind.is_complex) and kind.size >= 4
        add(op, **{names[0]: x_of((2, 2), d), names[1]: y_of((2,), d)}, gradient=differentiable,
              tolerance=tolerance or (1e-4 if differentiable and kind.size == 4 else None), **attrs)
    for a, b in SHAPES if op in ("AddV2", "Mul", "Pow", "Less") else FEW_SHAPES:
        d = np.float64 if np.float64 in dtypes else np.int32 if np.int32 in dtypes else dtypes[0]
        add(op, **{names[0]: x_of(a, d), names[1]: y_of(b, d)}, gradient=gradient and d == np.float64, tolerance=tolerance, **attrs)
    d = np.float32 if np.float32 in dtypes else dtypes[0]
    c.error(op, **{names[0]: x_of((2,), d), names[1]: y_of((3,), d)}, code="InvalidArgumentError", text="Incompatible shapes", **attrs)


ALL = REAL + SIGNED + UNSIGNED + COMPLEX
binary("AddV2", ALL)
binary("Add", REAL + [np.uint8] + SIGNED + COMPLEX)
add("Add", x=np.array([b"a", b"", b"x\0y"], object), y=np.array(b"tail", object))
binary("Sub", ALL)
binary("Mul", ALL)
binary("Div", REAL + SIGNED + [np.uint8, np.uint16] + COMPLEX, nonzero, gradient=True)
binary("RealDiv", REAL + COMPLEX, nonzero)
binary("FloorDiv", REAL + SIGNED + UNSIGNED, nonzero, gradient=False)
binary("FloorMod", REAL + SIGNED + UNSIGNED, nonzero, gradient=False, tolerance=2e-2)
binary("Mod", [np.int32, np.int64, np.float32, np.float64], nonzero, gradient=False)
binary("TruncateDiv", SIGNED + UNSIGNED, nonzero, gradient=False)
binary("TruncateMod", [np.int32, np.int64, np.float32, np.float64], nonzero, gradient=False)
binary("Maximum", REAL + SIGNED + UNSIGNED)
binary("Minimum", REAL + SIGNED + UNSIGNED)
binary("Pow", [np.float16, np.float32, np.float64, tf.bfloat16] + COMPLEX, nonzero, x_of=nonzero, tolerance=None)
add("Pow", x=np.int32([2, -3, 0, 7]), y=np.int32([10, 3, 0, 1]))
add("Pow", x=np.int64([3, 2]), y=np.int64([30, 62]))
add("Pow", x=np.float64([0, 0, 2, -2, -2]), y=np.float64([0, 2, 0, 3, 2]), note="zero and negative bases")
add("Pow", x=np.float32([np.inf, -np.inf, 0, np.nan, 1, -8, 0]), y=np.float32([2, 3, -1, 0, np.nan, 1 / 3, np.inf]))
binary("SquaredDifference", REAL + [np.int32, np.int64] + COMPLEX, gradient=True)
binary("DivNoNan", REAL + COMPLEX, nonzero)
binary("MulNoNan", REAL + COMPLEX)
binary("Xdivy", REAL + COMPLEX, nonzero)
binary("Xlogy", REAL + COMPLEX, nonzero)
binary("Xlog1py", REAL + COMPLEX, nonzero)
binary("Atan2", [np.float32, np.float64, tf.bfloat16, np.float16], nonzero, names=("y", "x"), x_of=nonzero)
binary("NextAfter", [np.float32, np.float64], names=("x1", "x2"), gradient=False)
for op in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"):
    add(op, x=np.float32([0, 1, 0, np.nan, np.inf, 2]), y=np.float32([0, 0, 5, 0, 0, 4]))
    add(op, x=np.complex64([0, 1, 2j]), y=np.complex64([0, 0, 1 + 1j]))
for op in ("Maximum", "Minimum"):
    add(op, x=np.float32([np.nan, 1, 2, np.inf, 3]), y=np.float32([1, np.nan, 2, -np.inf, np.inf]))
    add(op, x=np.float64([1, 2, 3]), y=np.float64([1, 1, 4]), gradient=False, note="equal values")
for op in ("Div", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod"):
    add(op, x=np.int32([7, -7, 7, -7, 0]), y=np.int32([2, 2, -2, -2, 5]))
    if op not in ("TruncateDiv", "TruncateMod"):  # whose error TensorFlow calls an internal one
        c.error(op, x=np.int32([1, 2]), y=np.int32([1, 0]), code="InvalidArgumentError", text="Integer division by zero")
        c.error(op, x=np.int64([[1], [2]]), y=np.int64(0), code="InvalidArgumentError", text="Integer division by zero")
    add(op, x=np.int32(np.zeros((0,))), y=np.int32([0]), note="nothing is divided")
for op in ("FloorMod", "Mod", "TruncateMod"):
    add(op, x=np.float32([7.5, -7.5, 7.5, -7.5, 0, -0.5, 4]), y=np.float32([2, 2, -2, -2, 5, 1, 2]))
add("FloorDiv", x=np.float32([7.5, -7.5, 7.5, -7.5, 1, 0]), y=np.float32([2, 2, -2, -2, 0, 0]))
add("FloorMod", x=np.float64([5.5, -5.5]), y=np.float64([2, 2]), gradient=True)
c.error("Pow", x=np.int32([1, 2]), y=np.int32([-1, 2]), code="InvalidArgumentError", text="Integers to negative integer powers are not allowed")
for op in ("AddV2", "Sub", "Mul"):
    add(op, x=np.int8([127, -128, 100]), y=np.int8([1, -1, 100]), note="integers wrap around")
    add(op, x=np.uint16([65535, 0]), y=np.uint16([65535, 1]))
    add(op, x=np.int64([2**63 - 1, -2**63]), y=np.int64([2, -1]))
    add(op, x=np.float32([np.inf, -np.inf, np.nan, 0.0]), y=np.float32([np.inf, np.inf, 1, -0.0]))
    add(op, x=values((7, 5), np.float32), y=values((5,), np.float32), gradient=True, tolerance=1e-5)
    add(op, x=values((3, 60), np.float32), y=values((3, 1), np.float32), gradient=True, tolerance=1e-4)
c.error("AddV2", x=tf.constant([True]), y=tf.constant([True]), code="InvalidArgumentError", text="is not in the list of allowed values")
c.error("AddV2", x=np.int32([1]), y=np.float32([1]), code="InvalidArgumentError", text="was expected to be a int32 tensor but is a float tensor")

# ---- functions of one value: (op, low, high) where they are smooth
SMOOTH = [("Abs", 0.1, 3), ("Neg", -3, 3), ("Square", -3, 3), ("Sqrt", 0.1, 4), ("Rsqrt", 0.2, 4), ("Exp", -4, 4), ("Expm1", -2, 2), ("Log", 0.1, 5),
          ("Log1p", -0.5, 3), ("Sin", -4, 4), ("Cos", -4, 4), ("Tan", -1.2, 1.2), ("Asin", -0.9, 0.9), ("Acos", -0.9, 0.9), ("Atan", -3, 3), ("Sinh", -3, 3),
          ("Cosh", -3, 3), ("Asinh", -3, 3), ("Acosh", 1.2, 4), ("Atanh", -0.9, 0.9), ("Tanh", -3, 3), ("Sigmoid", -5, 5), ("Erf", -2, 2), ("Erfc", -2, 2),
          ("Lgamma", 0.3, 6), ("Reciprocal", 0.3, 3), ("Inv", 0.3, 3)]
SPECIAL = np.float32([0.0, -0.0, 1, -1, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 1e30, 88, -88, 100, -104, 20, -20])
NO_COMPLEX = {"Abs", "Erf", "Erfc", "Lgamma"}
for op, low, high in SMOOTH:
    for d in REAL + ([] if op in NO_COMPLEX else COMPLEX):
        kind = tf.as_dtype(d)
        add(op, x=values((3,), d, low, high), gradient=kind.size >= 4, tolerance=2e-5 if kind in (tf.float32, tf.complex64) else None)
    for shape in ((), (2, 0), (1, 2, 2, 1)) if op != "Exp" else ((), (0,), (2, 1, 0), (1, 2, 2, 1), (33,)):
        add(op, x=values(shape, np.float64, low, high), gradient=True)
    # Eigen's own approximations differ from libm's near the ends of the range: infinite in one, huge in the other.
    ends = {"Sin", "Cos", "Tan", "Sinh", "Cosh", "Lgamma", "Expm1", "Exp", "Asinh"}
    special = SPECIAL[np.abs(np.nan_to_num(SPECIAL, posinf=1, neginf=1)) < 50] if op in ends else SPECIAL
    if op == "Lgamma":
        special = special[special > -0.1]
    add(op, x=special, tolerance=2e-6, note="special values")
    add(op, x=tf.constant(np.tile(values((17,), np.float32, low, high), 1)), tolerance=2e-6)
for op in ("Abs", "Neg", "Sign", "Square"):
    for d in SIGNED + (UNSIGNED if op == "Square" else []):
        add(op, x=values((5,), d, -9, 9))
add("Abs", x=np.int8([-128, 127, 0]))
add("Abs", x=np.float64([-2, 3, -0.5]), gradient=True)
add("Neg", x=np.int32([-2**31, 5]))
for op in ("Floor", "Ceil", "Rint", "Round"):
    for d in REAL:
        add(op, x=tf.cast(tf.constant([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4, -0.6, 3.0]), d))
    add(op, x=np.float32([np.inf, -np.inf, np.nan, 1e20, -0.0]))
    add(op, x=np.float64([1.5, 2.25]), gradient=True)
add("Round", x=np.int32([1, -5]))
add("Sign", x=np.float32([-2, 0, 3, np.inf, np.nan]))
add("Sign", x=np.float64([-2, 1, 3]), gradient=True)
add("Sign", x=np.complex64([3 + 4j, 0, -2j]))
for d in REAL:
    add("Sign", x=tf.cast(tf.constant([-2.5, 0, 7]), d))
    for op in ("IsNan", "IsInf", "IsFinite"):
        add(op, x=tf.cast(tf.constant([1.0, np.nan, np.inf, -np.inf, 0.0]), d))
for op in ("IsNan", "IsInf", "IsFinite"):
    add(op, x=np.float32(np.nan))
    add(op, x=np.zeros((2, 0), np.float64))
for d in REAL:
    add("Digamma", x=tf.cast(tf.constant([0.5, 1.0, 2.5, 10.0, 30.0]), d))
add("Digamma", x=np.float64([-0.5, -1.5, 1e-3, 100]), tolerance=1e-9)
for op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "TanhGrad", "SigmoidGrad"):
    for d in REAL + COMPLEX:
        big = tf.as_dtype(d).size >= 4 and op != "InvGrad"
        add(op, y=nonzero((2, 2), d), dy=values((2, 2), d), gradient=big, tolerance=2e-5 if tf.as_dtype(d).size == 4 or d == np.complex64 else None)
    add(op, y=nonzero((), np.float64), dy=values((), np.float64))
    add(op, y=nonzero((0, 2), np.float32), dy=values((0, 2), np.float32))
for d in SIGNED + UNSIGNED:
    add("Invert", x=values((2, 2), d, -9, 9))
add("LogicalNot", x=np.array([True, False]))
add("LogicalNot", x=np.array(True))

# ---- complex numbers
for d, r in ((np.complex64, tf.float32), (np.complex128, tf.float64)):
    z = values((2, 2), d)
    for op in ("Real", "Imag", "Angle"):
        add(op, input=z, Tout=r, gradient=True, tolerance=1e-5)
    add("ComplexAbs", x=z, Tout=r, gradient=True, tolerance=1e-5)
    add("ComplexAbs", x=np.array([0, 3 + 4j], d), Tout=r)
    add("Conj", input=z, gradient=True)
    add("Complex", real=values((2, 1), r), imag=values((3,), r), Tout=tf.as_dtype(d), gradient=d is np.complex64)

# ---- comparison, logic, bits
for op in ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"):
    binary(op, REAL + SIGNED + UNSIGNED, gradient=False)
    add(op, x=np.float32([1, 2, np.nan, 0.0, np.inf]), y=np.float32([1, 1, np.nan, -0.0, np.inf]))
for op in ("Equal", "NotEqual"):
    add(op, x=np.complex64([1 + 1j, 2]), y=np.complex64([1 + 1j, 2j]))
    add(op, x=np.array([True, False]), y=np.array(True))
    add(op, x=np.array([[b"a", b"bc"], [b"", b"x"]], object), y=np.array([b"a", b"x"], object))
    add(op, x=np.float32([1, 2]), y=np.float32([1, 2, 3]), incompatible_shape_error=False)
    add(op, x=np.float32([1, 2]), y=np.float32([1, 3]), incompatible_shape_error=False)
for op in ("LogicalAnd", "LogicalOr"):
    add(op, x=np.array([[True], [False]]), y=np.array([True, False]))
    add(op, x=np.array(True), y=np.array(False))
    add(op, x=np.zeros((0,), bool), y=np.array(False))
    c.error(op, x=np.array([True, False]), y=np.array([True, False, True]), code="InvalidArgumentError", text="Incompatible shapes")
for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    binary(op, SIGNED + UNSIGNED, gradient=False)
for op in ("LeftShift", "RightShift"):
    for d in SIGNED + UNSIGNED:
        add(op, x=values((2, 3), d, -9, 9), y=tf.cast(tf.constant([0, 1, 3]), d))
    add(op, x=np.int8([-1, 64, 5]), y=np.int8([7, 1, 2]))
    add(op, x=np.int32([1, -8, 3, 3]), y=np.int32([31, 2, -1, 40]), note="shifts beyond the width")
for d in (np.float32, np.float64, np.complex64, tf.bfloat16, np.float16):
    add("ApproximateEqual", x=tf.cast(tf.constant([1.0, 2.0, 3.0]), d), y=tf.cast(tf.constant([1.0, 2.5, 3.0]), d), tolerance=0.25)
add("ApproximateEqual", x=np.float32([1, 2]), y=np.float32([1.000001, 2.1]))
c.error("ApproximateEqual", x=np.float32([1, 2]), y=np.float32([1]), code="InvalidArgumentError", text="must be of the same shape")

# ---- casts
EVERY = [np.bool_] + REAL + SIGNED + UNSIGNED + COMPLEX
for a in EVERY:
    source = np.array([0, 1, 2, 100.75, 3.5]) if tf.as_dtype(a).is_unsigned or a == np.bool_ else np.array([0, 1, -2, 100.75, -3.5])
    x = tf.cast(tf.constant(source), a)
    for b in EVERY:
        if tf.as_dtype(b).is_unsigned and not tf.as_dtype(a).is_unsigned and a != np.bool_ and tf.as_dtype(a).size != 4:
            x_used = tf.cast(tf.abs(tf.cast(x, tf.float32)), a)
        else:
            x_used = x
        add("Cast", x=x_used, DstT=tf.as_dtype(b))
add("Cast", x=np.float32([3e9, -3e9, np.inf, np.nan, 2147483520]), DstT=tf.int32)
add("Cast", x=np.float32([1e30, -1e30, np.inf, np.nan, 9e18]), DstT=tf.int64)
add("Cast", x=np.float32([300, -129, 1e10, np.nan]), DstT=tf.uint8)
add("Cast", x=np.float32([300, -129, 1e10, np.nan]), DstT=tf.int8)
add("Cast", x=np.float32([70000, -70000, np.inf]), DstT=tf.int16)
add("Cast", x=np.float64([1.8e19, 2e19, -1, 5]), DstT=tf.uint64)
add("Cast", x=np.int64([2**40 + 5, -1, 2**31]), DstT=tf.int32)
add("Cast", x=np.int32([300, -129, 65536]), DstT=tf.uint8)
add("Cast", x=np.float32([65504, 65520, 1e-8, 6e-8, 1 + 2**-11, -np.inf, np.nan]), DstT=tf.float16)
add("Cast", x=np.float32([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, np.nan]), DstT=tf.bfloat16)
for a, b in ((np.float32, tf.float16), (np.float32, tf.bfloat16), (np.float64, tf.float32), (np.float64, tf.float16), (np.float64, tf.bfloat16), (np.float64, tf.int32)):
    add("Cast", x=np.array([1.99999999, -3.1415926535, 1e-3, 7], a), DstT=b, Truncate=True, note="bits cut off")
add("Cast", x=values((2, 2), np.float32), DstT=tf.float64, gradient=True)
add("Cast", x=values((2, 2), np.float32), DstT=tf.float32, gradient=True)
add("Cast", x=values((2,), np.float32), DstT=tf.complex64, gradient=True)
add("Cast", x=np.zeros((0, 3), np.float32), DstT=tf.int32)
c.error("Cast", x=np.int32([1]), DstT=tf.string, code="UnimplementedError", text="Cast int32 to string is not supported")
c.error("Cast", x=np.array([b"1"], object), DstT=tf.int32, code="UnimplementedError", text="Cast string to int32 is not supported")

# ---- choosing
for d in ALL + [np.bool_]:
    add("SelectV2", condition=np.array([True, False, True]), t=tf.cast(values((2, 3), np.float32), d), e=tf.cast(values((2, 1), np.float32), d))
add("SelectV2", condition=np.array([[True], [False]]), t=np.array([b"x", b"y"], object), e=np.array(b"none", object))
for s in (((), (), ()), ((3,), (3,), (3,)), ((2, 1), (3,), ()), ((), (2, 2), (2, 2)), ((0,), (1,), ()), ((2, 1, 1), (1, 3, 1), (1, 1, 2)), ((50,), (50,), (50,))):
    add("SelectV2", condition=rng.rand(*s[0]) > 0.5, t=values(s[1], np.float64), e=values(s[2], np.float64), gradient=True)
c.error("SelectV2", condition=np.array([True, False]), t=np.float32([1, 2, 3]), e=np.float32([1, 2, 3]), code="InvalidArgumentError", text="must be broadcastable")
for d in (np.float32, np.int64, np.float16, np.complex128, np.bool_):
    for s in ((), (2,), (2, 3)):
        add("Select", condition=rng.rand(*s) > 0.5, t=tf.cast(values((2, 3), np.float32), d), e=tf.cast(values((2, 3), np.float32), d))
add("Select", condition=np.array([True, False]), t=values((2, 2), np.float64), e=values((2, 2), np.float64), gradient=True)
for d in (np.bool_, np.float32, np.int32, np.uint8, np.complex64, tf.bfloat16):
    add("Where", input=tf.cast(tf.constant([[1, 0, 3], [0, 0, -0.0]] if d != np.uint8 else [[1, 0, 3.0], [0, 0, 0]]), d))
c.error("Where", input=np.array(True), code="InvalidArgumentError", text="WhereOp : Unhandled input dimensions: 0")
add("Where", input=np.zeros((0, 2), bool))
add("Where", input=rng.rand(2, 2, 2, 2) > 0.5)
for d in REAL + SIGNED + UNSIGNED:
    add("ClipByValue", t=values((2, 3), d, -5, 5), clip_value_min=tf.cast(1, d), clip_value_max=tf.cast(2, d))
add("ClipByValue", t=values((2, 3), np.float64, -5, 5), clip_value_min=np.float64(-1), clip_value_max=np.float64(1), gradient=True)
add("ClipByValue", t=values((3,), np.float64, -5, 5), clip_value_min=np.float64([-1, -1, 0]), clip_value_max=np.float64(1))
add("ClipByValue", t=np.float32([[1, 2]]), clip_value_min=np.float32(5), clip_value_max=np.float32(3))
c.error("ClipByValue", t=np.float32([1, 2]), clip_value_min=np.float32([1]), clip_value_max=np.float32(3), code="InvalidArgumentError",
        text="must be either of the same shape as input, or a scalar")

# ---- sums of many, axes of broadcasts
for d in ALL:
    add("AddN", inputs=[values((2, 2), d) for _ in range(3)], tolerance=3e-2 if tf.as_dtype(d).size == 2 else None)
add("AddN", inputs=[values((3,), np.float64) for _ in range(2)], gradient=True)
add("AddN", inputs=[values((3,), np.float64) for _ in range(20)], gradient=True)
add("AddN", inputs=[values((), np.float64)], gradient=True)
c.error("AddN", inputs=[np.float32([1, 2]), np.float32([1])], code="InvalidArgumentError", text="must have the same size and shape")
for a, b in (([2, 3], [2, 3]), ([2, 3], [3]), ([2, 1, 3], [1]), ([], [4]), ([1], []), ([5, 1], [1, 7]), ([1, 1], [1, 1]), ([2, 0], [1, 1])):
    for d in (np.int32, np.int64):
        add("BroadcastGradientArgs", s0=np.array(a, d), s1=np.array(b, d))
c.error("BroadcastGradientArgs", s0=np.int32([2, 3]), s1=np.int32([4]), code="InvalidArgumentError", text="Incompatible shapes")

# ---- handing on
for op in ("Identity", "StopGradient", "PreventGradient", "Snapshot"):
    for d in (np.float32, np.int32, np.bool_):
        add(op, input=tf.cast(values((2, 2), np.float32), d))
    add(op, input=np.array([b"text", b""], object))
    add(op, input=np.float64(3))
add("Identity", input=values((2,), np.float64), gradient=True)
add("StopGradient", input=values((2,), np.float64), gradient=True)
add("IdentityN", input=[np.float64([1, 2]), np.float64(3)], gradient=True)
add("IdentityN", input=[np.int32([1, 2]), np.array(b"s", object)])
for d in REAL:
    add("CheckNumerics", tensor=values((2, 2), d), message="all is well", gradient=tf.as_dtype(d).size >= 4)
c.error("CheckNumerics", tensor=np.float32([1, np.nan]), message="look", code="InvalidArgumentError", text="look : Tensor had NaN values")
c.error("CheckNumerics", tensor=np.float64([np.inf, 1]), message="look", code="InvalidArgumentError", text="look : Tensor had Inf")
c.error("CheckNumerics", tensor=np.float32([np.inf, np.nan]), message="look", code="InvalidArgumentError", text="look : Tensor had Inf and NaN values")
for d in REAL:
    add("CheckNumericsV2", tensor=values((2, 2), d), message="all is well", gradient=tf.as_dtype(d).size >= 4)
for bad, words in (([1, np.nan], "NaN"), ([np.inf, 1], "+Inf"), ([-np.inf, 1], "-Inf"), ([-np.inf, np.inf], "-Inf and +Inf"), ([np.inf, np.nan], "+Inf and NaN"),
                   ([-np.inf, np.nan], "-Inf and NaN"), ([np.nan, np.inf, -np.inf], "-Inf, +Inf, and NaN")):
    c.error("CheckNumericsV2", tensor=np.float32(bad), message="look", code="InvalidArgumentError", text="look : Tensor had %s values" % words)
c.write()
