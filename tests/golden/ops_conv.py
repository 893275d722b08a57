"""Op cases of convolution, pooling and batch normalization: writes tests/golden/op_cases/conv.json. See op_cases.py.
TensorFlow's own kernels are asked, not oneDNN's: their messages are the ones that users know."""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("conv")
rng = np.random.RandomState(11)
f32 = np.float32
ONE = [1, 1, 1, 1]
R = tf.raw_ops


def r(*shape, t=np.float32):
    return np.round(rng.randn(*shape), 1).astype(t)


def i32(*v):
    return np.array(v, np.int32)


def small(x):
    return tf.cast(x, tf.bfloat16)


# ---- Conv2D and its gradients ----
GEOMETRY = [  # input, filter, strides, padding, more
    ((2, 4, 5, 2), (3, 3, 2, 3), (1, 1), "SAME", {}),
    ((2, 4, 4, 2), (3, 2, 2, 3), (1, 1), "VALID", {}),
    ((1, 6, 7, 1), (5, 4, 1, 2), (2, 2), "SAME", {}),
    ((1, 7, 8, 3), (2, 3, 3, 2), (2, 3), "VALID", {}),
    ((1, 4, 4, 3), (1, 1, 3, 5), (1, 1), "SAME", {}),
    ((1, 5, 5, 2), (1, 1, 2, 2), (3, 2), "VALID", {}),
    ((3, 3, 4, 2), (3, 3, 2, 2), (1, 2), "EXPLICIT", {"explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}),
    ((1, 3, 3, 1), (5, 5, 1, 1), (1, 1), "SAME", {}),
    ((3, 3, 3, 17), (2, 1, 17, 3), (1, 1), "SAME", {}),
]
for shape, filt, (s1, s2), padding, more in GEOMETRY:
    for t in (np.float32, np.float64):
        x, w, strides = r(*shape, t=t), r(*filt, t=t), [1, s1, s2, 1]
        if t == np.float64 and shape[3] > 10:
            continue
        grad = t == np.float64
        if grad and shape[0] == 1 and padding == "VALID":
            continue
        tol = {"tolerance": 1e-9 if grad else 1e-5}
        c.add("Conv2D", input=x, filter=w, strides=strides, padding=padding, gradient=grad, **tol, **more)
        y = R.Conv2D(input=x, filter=w, strides=strides, padding=padding, **more)
        g = r(*y.shape, t=t)
        c.add("Conv2DBackpropInput", input_sizes=i32(*shape), filter=w, out_backprop=g, strides=strides, padding=padding, gradient=grad, **tol, **more)
        c.add("Conv2DBackpropFilter", input=x, filter_sizes=i32(*filt), out_backprop=g, strides=strides, padding=padding, gradient=grad, **tol, **more)
x, w = r(2, 5, 5, 2), r(3, 3, 2, 3)
for t in (np.float16, "bfloat16"):
    q = small if t == "bfloat16" else (lambda v: v.astype(np.float16))
    tol = 0.2 if t == "bfloat16" else 0.02
    c.add("Conv2D", input=q(x), filter=q(w), strides=ONE, padding="SAME", tolerance=tol)
    c.add("Conv2DBackpropInput", input_sizes=i32(2, 5, 5, 2), filter=q(w), out_backprop=q(r(2, 5, 5, 3)), strides=ONE, padding="SAME", tolerance=tol)
    c.add("Conv2DBackpropFilter", input=q(x), filter_sizes=i32(3, 3, 2, 3), out_backprop=q(r(2, 5, 5, 3)), strides=ONE, padding="SAME", tolerance=tol)
xi, wi = rng.randint(-5, 5, (1, 4, 4, 2)).astype(np.int32), rng.randint(-3, 3, (2, 2, 2, 2)).astype(np.int32)
c.add("Conv2D", input=xi, filter=wi, strides=ONE, padding="SAME")
c.add("Conv2DBackpropInput", input_sizes=i32(1, 4, 4, 2), filter=wi, out_backprop=xi, strides=ONE, padding="SAME")
for dilations, strides, padding in (([1, 2, 2, 1], ONE, "SAME"), ([1, 2, 3, 1], ONE, "VALID"), ([1, 2, 2, 1], [1, 2, 2, 1], "SAME")):
    c.add("Conv2D", input=r(2, 7, 8, 2), filter=r(3, 3, 2, 3), strides=strides, padding=padding, dilations=dilations, tolerance=1e-5)
    c.add("Conv2D", input=r(1, 7, 8, 2, t=np.float64), filter=r(3, 2, 2, 3, t=np.float64), strides=strides, padding=padding, dilations=dilations)
for t in (np.float32, np.float64):
    c.add("Conv2D", input=r(2, 4, 4, 4, t=t), filter=r(3, 3, 2, 6, t=t), strides=ONE, padding="SAME", tolerance=1e-5, note="groups")
c.add("Conv2DBackpropInput", input_sizes=i32(4, 4), filter=r(3, 3, 1, 2), out_backprop=r(1, 4, 4, 2), strides=ONE, padding="SAME", tolerance=1e-5)
for shape, filt in (((0, 4, 4, 1), (3, 3, 1, 2)), ((1, 4, 4, 1), (3, 3, 1, 0)), ((1, 2, 2, 1), (3, 3, 1, 1))):
    c.add("Conv2D", input=np.zeros(shape, f32), filter=np.zeros(filt, f32), strides=ONE, padding="VALID")
c.add("Conv2DBackpropInput", input_sizes=i32(0, 4, 4, 1), filter=r(3, 3, 1, 2), out_backprop=np.zeros((0, 4, 4, 2), f32), strides=ONE, padding="SAME")
c.add("Conv2DBackpropFilter", input=np.zeros((0, 4, 4, 1), f32), filter_sizes=i32(3, 3, 1, 2), out_backprop=np.zeros((0, 4, 4, 2), f32), strides=ONE, padding="SAME")


def bad(code, text, op="Conv2D", x=(1, 4, 4, 1), w=(3, 3, 1, 1), strides=ONE, padding="SAME", **more):
    c.error(op, input=np.ones(x, f32), filter=np.ones(w, f32), strides=strides, padding=padding, code=code, text=text, **more)


INVALID, MISSING = "InvalidArgumentError", "UnimplementedError"
bad(INVALID, "convolution input must be 4-dimensional: [4,4,1]", x=(4, 4, 1))
bad(INVALID, "convolution filter must be 4-dimensional: [3,3,1]", w=(3, 3, 1))
bad(INVALID, "input depth must be evenly divisible by filter depth: 3 vs 2", x=(1, 4, 4, 3), w=(3, 3, 2, 1))
bad(INVALID, "output depth must be evenly divisible by number of groups: 3 vs 2", x=(1, 4, 4, 4), w=(3, 3, 2, 3))
bad(INVALID, "filter must not have zero elements", w=(0, 3, 1, 1))
bad(INVALID, "filter depth must be stricly positive, got 0", x=(1, 4, 4, 0), w=(3, 3, 0, 1))
bad(INVALID, "Sliding window strides field must specify 4 dimensions", strides=[1, 1])
bad(INVALID, "Row and column strides should be larger than 0.", strides=[1, -1, 1, 1])
bad(INVALID, "Row and column strides should be larger than 0.", strides=[1, 1, 0, 1])
bad(MISSING, "does not yet support strides in the batch and depth dimensions", strides=[2, 1, 1, 1])
bad(INVALID, "Sliding window dilations field must specify 4 dimensions", dilations=[1, 1])
bad(MISSING, "does not yet support dilations in the batch and depth dimensions", dilations=[1, 1, 1, 2])
bad(INVALID, "Dilated rates should be larger than 0.", dilations=[1, 0, 1, 1])
bad(INVALID, "Computed output size would be negative: -2 [input_size: 2, effective_filter_size: 5, stride: 1]", x=(1, 2, 2, 1), w=(5, 5, 1, 1), padding="VALID")
bad(INVALID, "explicit_paddings attribute must contain 8 values, but got: 4", padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2])
bad(INVALID, "All elements of explicit_paddings must be nonnegative", padding="EXPLICIT", explicit_paddings=[0, 0, -1, 2, 0, 1, 0, 0])
bad(INVALID, "Nonzero explicit padding in the batch or depth dimensions is not supported", padding="EXPLICIT", explicit_paddings=[1, 0, 1, 2, 0, 1, 0, 0])
bad(INVALID, "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
bad(MISSING, "The Conv2D op currently only supports the NHWC tensor format on the CPU", x=(1, 1, 4, 4), data_format="NCHW")
bad(INVALID, "is not in the list of allowed values", padding="FOO")


def bad_input(text, sizes=(1, 4, 4, 1), w=(3, 3, 1, 2), g=(1, 4, 4, 2), op="Conv2DBackpropInput", code=INVALID, **more):
    c.error(op, input_sizes=i32(*sizes), filter=np.ones(w, f32), out_backprop=np.ones(g, f32), strides=ONE, padding="SAME", code=code, text=text, **more)


bad_input("requires input_sizes to contain 4 values or 2 values, but got: 3", sizes=(4, 4, 1))
bad_input("Size of out_backprop doesn't match computed: actual = 3, computed = 4 spatial_dim: 1 input: 4 filter: 3 output: 3 stride: 1 dilation: 1", g=(1, 3, 4, 2))
bad_input("input and out_backprop must have the same batch size. Input batch: 2, outbackprop batch: 1, batch_dim: 0", sizes=(2, 4, 4, 1))
bad_input("filter and out_backprop must have the same out_depth", g=(1, 4, 4, 3))
bad_input("input depth must be evenly divisible by filter depth", sizes=(1, 4, 4, 3), w=(3, 3, 2, 2))
bad_input("filter must be 4-dimensional", w=(3, 3, 2))
bad_input("Dimension -4 must be >= 0", sizes=(1, -4, 4, 1))
bad_input("Conv2DCustomBackpropInputOp only supports NHWC.", sizes=(1, 1, 4, 4), g=(1, 2, 4, 4), data_format="NCHW")


def bad_filter(text, x=(1, 4, 4, 1), sizes=(3, 3, 1, 2), g=(1, 4, 4, 2), op="Conv2DBackpropFilter", code=INVALID, **more):
    c.error(op, input=np.ones(x, f32), filter_sizes=i32(*sizes), out_backprop=np.ones(g, f32), strides=ONE, padding="SAME", code=code, text=text, **more)


bad_filter("filter must be 4-dimensional", sizes=(3, 3, 1))
bad_filter("input must be 4-dimensional", x=(4, 4, 1))
bad_filter("Size of out_backprop doesn't match computed: actual = 3, computed = 4", g=(1, 3, 4, 2))
bad_filter("input and out_backprop must have the same batch size. Input batch: 2, outbackprop batch: 1", x=(2, 4, 4, 1))
bad_filter("Conv2DCustomBackpropFilterOp only supports NHWC.", x=(1, 1, 4, 4), g=(1, 2, 4, 4), data_format="NCHW")

# ---- depthwise ----
for shape, filt, stride, padding, more in [
        ((2, 5, 6, 2), (3, 3, 2, 1), 1, "SAME", {}), ((1, 6, 5, 3), (3, 2, 3, 2), 2, "VALID", {}), ((2, 5, 5, 1), (2, 2, 1, 3), 1, "VALID", {}),
        ((1, 4, 4, 2), (3, 3, 2, 1), 1, "EXPLICIT", {"explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}), ((1, 4, 4, 17), (3, 3, 17, 1), 2, "SAME", {})]:
    for t in (np.float32, np.float64):
        x, w, strides = r(*shape, t=t), r(*filt, t=t), [1, stride, stride, 1]
        grad = t == np.float64
        if grad and shape[3] > 10:
            continue
        tol = {"tolerance": 1e-9 if t == np.float64 else 1e-5}
        c.add("DepthwiseConv2dNative", input=x, filter=w, strides=strides, padding=padding, gradient=grad, **tol, **more)
        y = R.DepthwiseConv2dNative(input=x, filter=w, strides=strides, padding=padding, **more)
        g = r(*y.shape, t=t)
        c.add("DepthwiseConv2dNativeBackpropInput", input_sizes=i32(*shape), filter=w, out_backprop=g, strides=strides, padding=padding, gradient=grad, **tol, **more)
        c.add("DepthwiseConv2dNativeBackpropFilter", input=x, filter_sizes=i32(*filt), out_backprop=g, strides=strides, padding=padding, gradient=grad, **tol, **more)
x, w = r(1, 4, 4, 2), r(3, 3, 2, 2)
for q, tol in ((lambda v: v.astype(np.float16), 0.01), (small, 0.05)):
    c.add("DepthwiseConv2dNative", input=q(x), filter=q(w), strides=ONE, padding="SAME", tolerance=tol)
c.add("DepthwiseConv2dNative", input=np.zeros((0, 4, 4, 2), f32), filter=w, strides=ONE, padding="SAME")
DW = "DepthwiseConv2dNative"
bad(INVALID, "input must be 4-dimensional", op=DW, x=(4, 4, 1))
bad(INVALID, "filter must be 4-dimensional: [3,3,1]", op=DW, w=(3, 3, 1))
bad(INVALID, "input and filter must have the same depth: 3 vs 2", op=DW, x=(1, 4, 4, 3), w=(3, 3, 2, 1))
bad(INVALID, "only supports equal length strides in the row and column dimensions", op=DW, strides=[1, 2, 1, 1])
bad(INVALID, "Stride must be > 0, but got -1", op=DW, strides=[1, -1, -1, 1])
bad(INVALID, "Sliding window strides field must specify 4 dimensions", op=DW, strides=[1, 1])
bad(INVALID, "does not yet support strides in the batch and depth dimensions", op=DW, strides=[2, 1, 1, 1])
bad(MISSING, "Depthwise convolution on CPU is only supported for NHWC format", op=DW, x=(1, 1, 4, 4), data_format="NCHW")
bad_input("Number of cols of out_backprop doesn't match computed: actual = 3, computed = 4", op=DW + "BackpropInput", sizes=(1, 4, 4, 2), w=(3, 3, 2, 1), g=(1, 4, 3, 2))
bad_input("DepthwiseConv2DBackpropInput: input must be 4-dimensional", op=DW + "BackpropInput", sizes=(4, 4, 2), w=(3, 3, 2, 1), g=(1, 4, 4, 2))
bad_filter("Number of cols of out_backprop doesn't match computed: actual = 3, computed = 4", op=DW + "BackpropFilter", x=(1, 4, 4, 2), sizes=(3, 3, 2, 1), g=(1, 4, 3, 2))

# ---- pooling ----
WINDOWS = [((2, 4, 4, 2), (2, 2), (2, 2), "VALID"), ((1, 5, 5, 3), (2, 2), (2, 2), "SAME"), ((1, 5, 6, 2), (3, 2), (1, 1), "SAME"), ((2, 5, 5, 1), (3, 3), (2, 1), "VALID"),
           ((1, 6, 6, 1), (2, 2), (3, 3), "SAME"), ((1, 3, 3, 2), (3, 3), (1, 1), "VALID"), ((1, 2, 2, 1), (3, 3), (1, 1), "VALID"), ((0, 5, 5, 2), (2, 2), (2, 2), "SAME"), ((1, 3, 3, 1), (7, 7), (1, 1), "SAME")]
for shape, k, s, padding in WINDOWS:
    w = {"ksize": [1, *k, 1], "strides": [1, *s, 1], "padding": padding}
    for t in (np.float32, np.float64):
        # every value once: a maximum that is not the only one has no derivative
        x = (rng.permutation(int(np.prod(shape))).reshape(shape) / 8 - 3).astype(t)
        grad = t == np.float64 and x.size > 0
        c.add("MaxPool", input=x, gradient=grad, **w)
        c.add("AvgPool", value=x, gradient=grad, tolerance=1e-9 if grad else 1e-5, **w)
        y = R.MaxPool(input=tf.constant(x), **w).numpy()
        g, gg = r(*y.shape, t=t), r(*shape, t=t)
        c.add("MaxPoolGrad", orig_input=x, orig_output=y, grad=g, tolerance=1e-5, values=y.size > 0, **w)  # TensorFlow leaves it unset
        c.add("MaxPoolGradGrad", orig_input=x, orig_output=y, grad=gg, tolerance=1e-5, **w)
        c.add("AvgPoolGrad", orig_input_shape=i32(*shape), grad=g, gradient=grad, tolerance=1e-5, **w)
w = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
for t in (np.float16, np.int32, np.int64, np.uint8, np.int16, np.int8, np.uint16, np.uint32, np.uint64):
    x = np.abs(rng.permutation(25)).reshape(1, 5, 5, 1).astype(t)
    y = np.float64(x).reshape(1, 5, 5, 1)
    y = R.MaxPool(input=tf.constant(y), **w).numpy().astype(t)
    if t not in (np.uint32, np.uint64):
        c.add("MaxPool", input=x, **w)
    c.add("MaxPoolGrad", orig_input=x, orig_output=y, grad=y, **w)
    c.add("MaxPoolGradGrad", orig_input=x, orig_output=y, grad=x, **w)
for q in (small, lambda v: v.astype(np.float16)):
    x = q(r(1, 5, 5, 2))
    c.add("MaxPool", input=x, **w)
    c.add("AvgPool", value=x, tolerance=0.02, **w)
    c.add("AvgPoolGrad", orig_input_shape=i32(1, 5, 5, 2), grad=q(r(1, 3, 3, 2)), tolerance=0.02, **w)
x = f32([[1, 3, 3, 2], [3, 1, 1, 1], [0, 0, 5, 5], [0, 0, 5, 5]]).reshape(1, 4, 4, 1)
for s in (1, 2):
    v = {"ksize": [1, 2, 2, 1], "strides": [1, s, s, 1], "padding": "VALID"}
    y = R.MaxPool(input=x, **v).numpy()
    c.add("MaxPoolGrad", orig_input=x, orig_output=y, grad=r(*y.shape), tolerance=1e-6, note="the first of equals", **v)
    c.add("MaxPoolGradGrad", orig_input=x, orig_output=y, grad=r(1, 4, 4, 1), tolerance=1e-6, note="the first of equals", **v)
c.add("MaxPool", input=f32([np.nan, 1, 2, np.nan, 3, np.nan, np.nan, np.nan, -np.inf, -np.inf]).reshape(1, 1, 10, 1), ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
c.add("MaxPool", input=r(1, 2, 2, 6), ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID", note="over channels")
c.add("MaxPool", input=-np.abs(r(1, 5, 5, 2)), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 1, 0, 1, 0, 0])
x = (rng.permutation(50).reshape(1, 5, 5, 2)).astype(f32)
e = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 0, 1, 0, 0]}
y = R.MaxPool(input=x, **e).numpy()
c.add("MaxPoolGrad", orig_input=x, orig_output=y, grad=r(*y.shape), tolerance=1e-5, **e)


def bad_pool(code, text, shape=(1, 5, 5, 2), ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="SAME", ops=("MaxPool", "AvgPool"), **more):
    for op in ops:
        c.error(op, **{"input" if op == "MaxPool" else "value": np.ones(shape, f32)}, ksize=list(ksize), strides=list(strides), padding=padding, code=code, text=text, **more)


bad_pool(INVALID, "tensor_in_shape must have 2 spatial dimensions. 3 0", shape=(5, 5, 2))
bad_pool(INVALID, "Sliding window ksize for dimension 1 was zero.", ksize=(1, 0, 2, 1), ops=("MaxPool",))
bad_pool(INVALID, "ksize must be a postive int32 value, got:0", ksize=(1, 0, 2, 1), ops=("AvgPool",))
bad_pool(INVALID, "Stride must be > 0, but got 0", strides=(1, 0, 1, 1))
bad_pool(MISSING, "Pooling is not yet supported on the batch dimension.", ksize=(2, 2, 2, 1), strides=(2, 2, 2, 1), shape=(2, 5, 5, 2))
bad_pool(MISSING, "supports exactly one of pooling across depth or pooling across width/height", ksize=(1, 2, 2, 2), strides=(1, 1, 1, 2), shape=(1, 5, 5, 4))
bad_pool(MISSING, "requires the depth window to evenly divide the input depth", ksize=(1, 1, 1, 2), strides=(1, 1, 1, 2), shape=(1, 5, 5, 3), ops=("MaxPool",))
bad_pool(MISSING, "requires the depth window to equal the depth stride", ksize=(1, 1, 1, 2), strides=(1, 1, 1, 1), shape=(1, 5, 5, 4), ops=("MaxPool",))
bad_pool(MISSING, "Non-spatial pooling is not yet supported", ksize=(1, 1, 1, 2), strides=(1, 1, 1, 2), shape=(1, 5, 5, 4), ops=("AvgPool",))
bad_pool(INVALID, "Computed output size would be negative: -1 [input_size: 2, effective_filter_size: 6, stride: 2]", shape=(1, 2, 2, 1), ksize=(1, 6, 6, 1), padding="VALID")
bad_pool(INVALID, "PoolingOp only supports NHWC on device type CPU", shape=(1, 2, 5, 5), ksize=(1, 1, 2, 2), strides=(1, 1, 2, 2), data_format="NCHW")
bad_pool(INVALID, "Top padding 2 needs to be smaller than the window size 2", padding="EXPLICIT", explicit_paddings=[0, 0, 2, 1, 0, 1, 0, 0], ops=("MaxPool",))
o = lambda *s: np.ones(s, f32)
w = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
for op, g in (("MaxPoolGrad", (1, 3, 3, 2)), ("MaxPoolGradGrad", (1, 5, 5, 2))):
    c.error(op, orig_input=o(1, 5, 5, 2), orig_output=o(1, 2, 3, 2), grad=o(*g), code=INVALID, text="Expected orig_output shape to be [1,3,3,2], but got [1,2,3,2]", **w)
    c.error(op, orig_input=o(1, 5, 5, 2), orig_output=o(1, 3, 3, 2), grad=o(1, 3, 4, 2), code=INVALID, text="Expected grad shape to be", **w)
    c.error(op, orig_input=o(5, 5, 2), orig_output=o(1, 3, 3, 2), grad=o(*g), code=INVALID, text="tensor_in must be 4-dimensional", **w)
c.error("AvgPoolGrad", orig_input_shape=i32(5, 5, 2), grad=o(1, 3, 3, 2), code=INVALID, text="out_backprop must be 1-dimensional and 4 elements", **w)
c.error("AvgPoolGrad", orig_input_shape=i32(1, 5, 5, 2), grad=o(3, 3, 2), code=INVALID, text="out_backprop must be 4-dimensional", **w)
c.error("AvgPoolGrad", orig_input_shape=i32(1, -5, 5, 2), grad=o(1, 3, 3, 2), code=INVALID, text="Expected a non-negative size, got -5", **w)

# ---- batch normalization ----
E = np.zeros(0, f32)
for shape, fmt in (((2, 3, 3, 4), "NHWC"), ((1, 1, 3, 2), "NHWC"), ((2, 4, 3, 2), "NCHW"), ((2, 2, 2, 2, 3), "NDHWC"), ((2, 3, 2, 2, 2), "NCDHW"), ((2, 2, 2, 19), "NHWC")):
    n = shape[1] if fmt[1] == "C" else shape[-1]
    x, g = r(*shape) * 2 + 3, r(*shape)
    scale, offset, mean, variance = r(n), r(n), r(n), np.abs(r(n)) + f32(0.5)
    c.add("FusedBatchNormV3", x=x, scale=scale, offset=offset, mean=E, variance=E, data_format=fmt, epsilon=0.001, tolerance=1e-4)
    c.add("FusedBatchNormV3", x=x, scale=scale, offset=offset, mean=mean, variance=variance, data_format=fmt, exponential_avg_factor=0.25, tolerance=1e-4)
    y = R.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=E, variance=E, data_format=fmt)
    c.add("FusedBatchNormGradV3", y_backprop=g, x=x, scale=scale, reserve_space_1=y[3], reserve_space_2=y[4], reserve_space_3=y[5], data_format=fmt, tolerance=2e-4)
    if fmt in ("NHWC", "NDHWC"):
        c.add("FusedBatchNormGradV3", y_backprop=g, x=x, scale=scale, reserve_space_1=mean, reserve_space_2=variance, reserve_space_3=y[5], data_format=fmt,
              is_training=False, epsilon=0.01, tolerance=1e-4)
x, s4, v4 = r(2, 3, 3, 4), r(4), np.abs(r(4)) + f32(0.5)
for q, tol in ((small, 0.05), (lambda v: v.astype(np.float16), 0.01)):
    c.add("FusedBatchNormV3", x=q(x), scale=s4, offset=s4, mean=E, variance=E, tolerance=tol)
    c.add("FusedBatchNormGradV3", y_backprop=q(r(2, 3, 3, 4)), x=q(x), scale=s4, reserve_space_1=s4, reserve_space_2=v4, reserve_space_3=E, tolerance=tol)
c.add("FusedBatchNormV3", x=np.zeros((0, 3, 3, 4), f32), scale=s4, offset=s4, mean=E, variance=E, values=False)
c.add("FusedBatchNormGradV3", y_backprop=np.zeros((0, 3, 3, 4), f32), x=np.zeros((0, 3, 3, 4), f32), scale=s4, reserve_space_1=s4, reserve_space_2=v4, reserve_space_3=E)
c.add("FusedBatchNormV3", x=np.full((2, 2, 2, 1), 1e4, f32), scale=o(1), offset=o(1), mean=E, variance=E, tolerance=1e-5, note="no spread, far from 0")


def bad_norm(text, x=(2, 3, 3, 4), s=(4,), b=(4,), m=(0,), v=(0,), **more):
    c.error("FusedBatchNormV3", x=o(*x), scale=o(*s), offset=o(*b), mean=o(*m), variance=o(*v), code=INVALID, text=text, **more)


bad_norm("input must be 4 or 5-dimensional[3,3,4]", x=(3, 3, 4))
bad_norm("scale must be 1-dimensional[1,4]", s=(1, 4))
bad_norm("scale must have the same number of elements as the channels of x, got 3 and 4", s=(3,))
bad_norm("offset must have the same number of elements as the channels of x, got 3 and 4", b=(3,))
bad_norm("When is_training=false, mean must have the same number of elements as the channels of x, got 0 and 4", is_training=False)
bad_norm("When exponential_avg_factor != 1, mean must have the same number of elements as the channels of x, got 0 and 4", exponential_avg_factor=0.3)
k = {"scale": o(4), "reserve_space_1": o(4), "reserve_space_2": o(4), "reserve_space_3": E, "code": INVALID}
c.error("FusedBatchNormGradV3", y_backprop=o(2, 3, 2, 4), x=o(2, 3, 3, 4), text="x and y_backprop must have same shape, but x has shape [2,3,3,4] and y_backprop has shape [2,3,2,4]", **k)
c.error("FusedBatchNormGradV3", y_backprop=o(2, 3, 3, 4), x=o(2, 3, 3, 4), text="scale must have the same number of elements as the channels of x, got 3 and 4", **{**k, "scale": o(3)})
c.error("FusedBatchNormGradV3", y_backprop=o(2, 3, 3, 4), x=o(2, 3, 3, 4), text="reserve_space_1 must have the same number of elements", **{**k, "reserve_space_1": o(3)})
c.error("FusedBatchNormGradV3", y_backprop=o(2, 4, 3, 3), x=o(2, 4, 3, 3), text="only support NHWC tensor format for now", is_training=False, data_format="NCHW", **k)
c.write()
