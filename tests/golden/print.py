"""How TensorFlow 2.15.1 prints tensors: writes tests/golden/print/print.txt, read by tests/tensor/test_print.c.

Each record: a line "tensor DTYPE RANK DIM… DATA" with the elements' bytes as hex digits (strings: hex separated by "/"; an empty tensor: "-"),
then "str N" and N lines, "repr N" and N lines."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import golden

rng = np.random.RandomState(3)
tensors = []


def add(value, dtype=None):
    tensors.append(tf.constant(value, dtype) if not isinstance(value, tf.Tensor) else value)


NUMBERS = [0.0, -0.0, 3.0, 0.1, -2.5, 1 / 3, 1e-5, 1.5e-7, 123456.789, 1e15, 1e16, 1.2345e20, 1e100, 5e-324, 0.0001, 0.00012345678, 99999999.0,
           float("nan"), float("inf"), float("-inf"), 2.0**53, 1e22, 0.30000000000000004]
for d in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
    for x in NUMBERS:
        with np.errstate(over="ignore"):
            add(tf.cast(tf.constant(x, tf.float64), d))
LISTS = [[1, 2], [1.5, 2.25, -3], [0.1, 100], [1e-5, 1], [1e8, 1], [1e7, 1e5], [1, 1001], [1, 1000], [0.0001, 0.05], [0.00009, 0.05],
         [float("nan"), 1], [float("nan")], [float("inf"), -1.5], [float("-inf"), float("nan"), 0], [float("-inf")], [-0.0, 0.0], [0, 0, 0],
         [1 / 3, 2 / 3, 1], [1e-10, 1e10], [1e-100, 1e100], [123456.789, 0.5], [1e-30, 1e-25, 5], [99999.99, 1.123456789],
         [1.123456789012, 22.1], [1e30, float("nan"), float("-inf")], [5e-8, 0.001], [0.00000001234567, 0.000001], [1e20, 3e20, -1e20],
         [0.99999999999, 2], [9.9999999999e9, 1e9], [16777216, 16777217], [100, 200, 300], [-1, -20, -300.5]]
for d in (tf.float32, tf.float64, tf.float16, tf.complex64, tf.complex128):
    for x in LISTS:
        if d == tf.float16 and any(abs(v) > 60000 for v in x if np.isfinite(v)):
            continue
        add(tf.cast(tf.constant(x, tf.float64), d))
for d in (tf.complex64, tf.complex128):
    for x in ([1 + 2j, -3.5 - 4j], [1e-5j, 1], [complex(float("nan"), 1), 2j], [complex(1, float("-inf")), complex(float("inf"), float("nan"))],
              [1e10 + 1j, 2 - 0.5j], [[1 + 1j, 2.25 + 3j], [0, -1j]]):
        add(x, d)
    for x in (0.1 + 2j, 2j, 1e20 + 1j, complex(float("nan"), 1), complex(1, float("-inf")), 0j, 1 - 2j, -1.5j):
        add(x, d)
for d in (tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64):
    add(5, d)
    add([1, 20, 100], d)
    add([d.min, d.max], d)
    add([[1, 2], [30, 4]], d)
    add(np.arange(24).reshape(2, 3, 4), d)
add(tf.constant([-1, 10, -100]))
add(True)
add([True, False])
add([[False], [False]])
add([b"a", b"bb'\"\n\x00\xff\t\r\\", b"", b"it's", b'say "x"'])
add(b"scalar")
add(b"x'y")
add([[b"one", b"two"], [b"three", b"a longer string than the others"]])
add([b"word%d" % i for i in range(30)])
for shape in ((0,), (2, 0), (0, 3), (1, 0, 2)):
    for d in (tf.float32, tf.float64, tf.int64, tf.bool, tf.string):
        add(tf.zeros(shape, d) if d != tf.string else tf.constant([], tf.string, shape=shape))
for shape in ((30,), (2, 20), (3, 1, 4), (2, 2, 2, 2), (1, 1, 1, 1, 3), (5, 12), (1,), (1, 1), (40, 1)):
    n = int(np.prod(shape))
    add(tf.constant(rng.randn(*shape), tf.float32))
    add(tf.constant(rng.randn(*shape) * 10.0 ** rng.randint(-6, 6, shape), tf.float64))
    add(tf.constant(np.round(rng.randn(*shape) * 50), tf.float32))
    add(tf.constant(np.arange(n).reshape(shape) * 7 - 20, tf.int32))
    add(tf.constant(rng.randn(*shape), tf.float16))
    add(tf.constant(rng.rand(*shape) > 0.5))
    add(tf.cast(rng.randn(*shape), tf.bfloat16))
    add(tf.constant((rng.randn(*shape) + 1j * rng.randn(*shape)), tf.complex64))
add(tf.constant(np.arange(1001), tf.int16))
add(tf.constant(np.arange(1000), tf.int16))
add(tf.constant(np.arange(1200).reshape(30, 40), tf.int16))
add(tf.constant(np.arange(1200).reshape(2, 600) / 8, tf.float16))
add(tf.constant(np.arange(1080).reshape(3, 9, 40) % 100, tf.uint8))
add(tf.constant(np.arange(1056).reshape(11, 8, 12) % 7 / 4, tf.float16))
add(tf.constant(np.arange(1100) % 3 == 0))
for n in range(1, 24):
    add(tf.constant(np.arange(n) * 1111, tf.int32))


def data(t):
    if t.dtype == tf.string:
        return "/".join(b.hex() for b in t.numpy().reshape(-1)) if t.shape.rank else t.numpy().hex()
    return t.numpy().tobytes().hex()


with open(golden.path(__file__, "print.txt"), "w") as f:
    for t in tensors:
        f.write("tensor %s %d %s %s\n" % (t.dtype.name, t.shape.rank, " ".join(map(str, t.shape)), data(t) or "-"))
        for name, text in (("str", str(t)), ("repr", repr(t))):
            lines = text.split("\n")
            f.write("%s %d\n%s\n" % (name, len(lines), "\n".join(lines)))
