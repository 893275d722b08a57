"""Op cases of convolution and pooling of volumes: writes tests/golden/op_cases/volume.json. See op_cases.py."""
import os

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("volume")
rng = np.random.RandomState(7)
R = tf.raw_ops


def r(*shape, t=np.float64):
    return np.round(rng.randn(*shape), 1).astype(t)


def i32(*v):
    return np.array(v, np.int32)


GEOMETRY = [((2, 3, 4, 3, 2), (2, 3, 2, 2, 3), (1, 1, 1), "SAME"), ((1, 4, 3, 4, 1), (2, 2, 3, 1, 2), (2, 1, 1), "VALID"),
            ((1, 5, 4, 3, 2), (3, 1, 1, 2, 1), (2, 3, 2), "SAME"), ((2, 2, 2, 2, 1), (1, 1, 1, 1, 2), (1, 2, 2), "VALID")]
for shape, filt, stride, padding in GEOMETRY:
    for t in (np.float64, np.float32):
        x, w = r(*shape, t=t), r(*filt, t=t)
        more = {"strides": [1, *stride, 1], "padding": padding, "tolerance": 1e-9 if t == np.float64 else 1e-5}
        attrs = {k: more[k] for k in ("strides", "padding")}
        g = r(*R.Conv3D(input=x, filter=w, **attrs).shape, t=t)
        wide = t == np.float64
        c.add("Conv3D", input=x, filter=w, gradient=wide, **more)
        c.add("Conv3DBackpropInputV2", input_sizes=i32(*shape), filter=w, out_backprop=g, gradient=wide, **more)
        c.add("Conv3DBackpropFilterV2", input=x, filter_sizes=i32(*filt), out_backprop=g, gradient=wide, **more)
c.add("Conv3D", input=r(1, 3, 3, 3, 2, t=np.float16), filter=r(2, 2, 2, 2, 2, t=np.float16), strides=[1] * 5, padding="SAME", tolerance=0.02)
c.error("Conv3D", "InvalidArgumentError", "evenly divisible by filter depth", input=r(1, 3, 3, 3, 3), filter=r(2, 2, 2, 2, 2), strides=[1] * 5, padding="SAME")
c.error("Conv3D", "InvalidArgumentError", "strides in the batch and depth dimensions", input=r(1, 3, 3, 3, 2), filter=r(2, 2, 2, 2, 2), strides=[1, 1, 1, 1, 2], padding="SAME")
POOLS = [((2, 3, 4, 5, 2), (2, 2, 2), (1, 2, 3), "SAME"), ((1, 4, 4, 4, 1), (3, 2, 1), (1, 1, 1), "VALID"), ((1, 2, 5, 3, 2), (2, 3, 3), (2, 2, 2), "SAME")]
for shape, window, stride, padding in POOLS:
    attrs = {"ksize": [1, *window, 1], "strides": [1, *stride, 1], "padding": padding}
    x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32)
    y = R.MaxPool3D(input=x, **attrs).numpy()
    g = r(*y.shape, t=np.float32)
    c.add("MaxPool3D", input=x, gradient=True, **attrs)
    c.add("MaxPool3DGrad", orig_input=x, orig_output=y, grad=g, gradient=True, **attrs)
    c.add("MaxPool3DGradGrad", orig_input=x, orig_output=y, grad=r(*shape, t=np.float32), **attrs)
    c.add("AvgPool3D", input=r(*shape, t=np.float32), gradient=True, **attrs)
    c.add("AvgPool3DGrad", orig_input_shape=i32(*shape), grad=g, gradient=True, **attrs)
same = np.ones((1, 3, 3, 3, 1), np.float32)  # which of equal elements gets the gradient
attrs = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}
c.add("MaxPool3DGrad", orig_input=same, orig_output=R.MaxPool3D(input=same, **attrs).numpy(), grad=np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1), **attrs)
c.write()
