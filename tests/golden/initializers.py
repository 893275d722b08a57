"""Write tests/golden/initializers/initializers.txt with TensorFlow 2.15.1: what Keras's initializers give, bit for bit. A line is
class name, dtype, seed, rank, dimensions, the values' bytes in hex. Seed 0 stands for: none given, after set_random_seed(9)."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import tensorflow as tf

import golden

RANDOM = ["RandomUniform", "RandomNormal", "TruncatedNormal", "VarianceScaling", "GlorotUniform", "GlorotNormal", "HeUniform", "HeNormal",
          "LecunUniform", "LecunNormal"]
SHAPES = [[2, 3], [5], [], [3, 2, 2, 3], [0, 4]]

lines = []


def line(name, initializer, dtype, seed, shape):
    value = initializer(shape, dtype=dtype)
    lines.append(" ".join([name, value.dtype.name, str(seed), str(len(shape))] + [str(d) for d in shape]
                          + [value.numpy().tobytes().hex() or "-"]))


for name in RANDOM:
    make = getattr(tf.keras.initializers, name)
    for shape in SHAPES:
        line(name, make(seed=7), tf.float32, 7, shape)
    for dtype in (tf.float64, tf.float16, tf.bfloat16):
        line(name, make(seed=-3), dtype, -3, [3, 3])
    line(name, make(seed=2**40), tf.float32, 2**40, [9])
for shape in ([4, 4], [2, 5], [5, 2], [2, 2, 3]):
    line("Orthogonal", tf.keras.initializers.Orthogonal(seed=7), tf.float32, 7, shape)
for name in ("Zeros", "Ones", "Constant"):
    for dtype in (tf.float32, tf.float16, tf.int32):
        line(name, getattr(tf.keras.initializers, name)(), dtype, 7, [2, 2])
line("Identity", tf.keras.initializers.Identity(), tf.float32, 7, [2, 3])
tf.keras.utils.set_random_seed(9)
for name in RANDOM:
    line(name, getattr(tf.keras.initializers, name)(), tf.float32, 0, [2, 2])
with open(golden.path(__file__, "initializers.txt"), "w") as f:
    f.write("\n".join(lines) + "\n")
print(len(lines), "lines")
