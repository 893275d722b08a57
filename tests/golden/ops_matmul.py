"""Op cases of the matrix products: writes tests/golden/op_cases/matmul.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("matmul")
rng = np.random.RandomState(11)


def values(*shape):
    return np.round(rng.randn(*shape), 2)


def of(t, x):
    if t == tf.bfloat16:
        return tf.cast(x, t)
    kind = np.dtype(t.as_numpy_dtype)
    if kind.kind == "c":
        return (x + 1j * x[..., ::-1]).astype(kind)
    return (np.abs(x * 3) if kind.kind == "u" else x * 3 if kind.kind == "i" else x).astype(kind)


MATMUL = [tf.bfloat16, tf.half, tf.float32, tf.float64, tf.int32, tf.int64, tf.complex64,
          tf.complex128]
for t in MATMUL:
    for ta in (False, True):
        for tb in (False, True):
            gradient = t in (tf.float32, tf.float64, tf.half, tf.complex64) and (t != tf.half or not ta)
            c.add("MatMul", a=of(t, values(3, 2) if ta else values(2, 3)), b=of(t, values(4, 3) if tb else values(3, 4)), transpose_a=ta,
                  transpose_b=tb, gradient=gradient, tolerance=3e-2 if t in (tf.bfloat16, tf.half) else 1e-5)
for m, k, n in ((1, 1, 1), (1, 7, 1), (5, 1, 3), (13, 3, 17), (12, 3, 33), (3, 10, 49)):
    for ta, tb in ((False, False), (True, False), (False, True), (True, True)):
        a, b = values(m, k).astype(np.float32), values(k, n).astype(np.float32)
        c.add("MatMul", a=np.ascontiguousarray(a.T) if ta else a, b=np.ascontiguousarray(b.T) if tb else b, transpose_a=ta, transpose_b=tb,
              tolerance=1e-5)
for a, b in (((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 3), (3, 0)), ((0, 0), (0, 0))):
    for t in (np.float32, np.int32, np.float16, np.complex64):
        c.add("MatMul", a=np.zeros(a, t), b=np.zeros(b, t))
z = np.zeros
c.error("MatMul", a=z((2, 3)), b=z((2, 3)), code="InvalidArgumentError", text="Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]")
c.error("MatMul", a=z((2, 3)), b=z((3, 2)), transpose_a=True, code="InvalidArgumentError", text="Matrix size-incompatible")
c.error("MatMul", a=z((2, 3, 1)), b=z((2, 3)), code="InvalidArgumentError", text="In[0] and In[1] has different ndims: [2,3,1] vs. [2,3]")
c.error("MatMul", a=z(2), b=z(2), code="InvalidArgumentError", text="In[0] and In[1] ndims must be == 2: 1")
c.error("MatMul", a=z((2, 2), np.int8), b=z((2, 2), np.int8), code="InvalidArgumentError", text="is not in the list of allowed values")
c.error("MatMul", a=z((2, 2)), b=z((2, 2), np.float32), code="InvalidArgumentError", text="cannot compute MatMul as input #1(zero-based)")

for op, types in (("BatchMatMul", [tf.bfloat16, tf.half, tf.float32, tf.float64, tf.int32, tf.int64, tf.complex64, tf.complex128]),
                  ("BatchMatMulV2", MATMUL + [tf.int16])):
    for t in types:
        for ax in (False, True):
            for ay in (False, True):
                gradient = t in (tf.float64, tf.complex64)
                c.add(op, x=of(t, values(2, 3, 2) if ax else values(2, 2, 3)), y=of(t, values(2, 4, 3) if ay else values(2, 3, 4)), adj_x=ax,
                      adj_y=ay, gradient=gradient, tolerance=3e-2 if t in (tf.bfloat16, tf.half) else 1e-5)
    c.add(op, x=values(2, 3), y=values(3, 2), gradient=True)
    c.add(op, x=values(2, 1, 2, 3), y=values(2, 1, 3, 2), gradient=True)
    c.add(op, x=z((0, 2, 3)), y=z((0, 3, 2)))
    c.add(op, x=z((2, 2, 0)), y=z((2, 0, 2)))
    c.error(op, x=z((2, 2, 3)), y=z((2, 2, 3)), code="InvalidArgumentError", text="Matrix size-incompatible: In[0]: [2,2,3], In[1]: [2,2,3]")
for x, y in (((2, 2, 3), (3, 2)), ((2, 3), (4, 3, 2)), ((2, 1, 2, 3), (3, 3, 1)), ((1, 2, 3), (2, 3, 2)), ((3, 1, 1, 2), (1, 2, 2, 2)),
             ((1, 1, 2, 3), (3, 2))):
    c.add("BatchMatMulV2", x=values(*x), y=values(*y), gradient=True)
c.add("BatchMatMulV2", x=values(2, 3, 2), y=values(1, 3, 4), adj_x=True, gradient=True)
c.error("BatchMatMulV2", x=z((2, 2, 3)), y=z((3, 3, 2)), code="InvalidArgumentError", text="In[0] and In[1] must have compatible batch dimensions: [2,2,3] vs. [3,3,2]")
c.error("BatchMatMulV2", x=z(3), y=z((3, 2)), code="InvalidArgumentError", text="In[0] ndims must be >= 2: 1")
c.error("BatchMatMul", x=z((2, 2, 3)), y=z((1, 3, 2)), code="InvalidArgumentError", text="In[0].dim(0) and In[1].dim(0) must be the same: [2,2,3] vs [1,3,2]")
c.error("BatchMatMul", x=z((2, 2, 3)), y=z((3, 2)), code="InvalidArgumentError", text="In[0] and In[1] has different ndims: [2,2,3] vs. [3,2]")

for ta, tb, out in ((np.int8, np.int8, tf.int32), (np.uint8, np.int8, tf.int32), (np.float32, np.float32, tf.float32), (np.float64, np.float64, tf.float64)):
    c.add("BatchMatMulV3", x=np.abs(values(2, 2, 3) * 20).astype(ta), y=np.abs(values(1, 3, 2) * 20).astype(tb), Tout=out,
          gradient=out.is_floating, tolerance=1e-5)
c.write()
