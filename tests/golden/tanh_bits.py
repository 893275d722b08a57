"""Makes tests/golden/tanh_bits/tanh_bits.inc: floats and their tanh, as bits, as TensorFlow's kernel gives them on vectors."""

import numpy as np
import tensorflow as tf

import golden

random = np.random.default_rng(7)
x = np.concatenate([random.normal(size=60) * 3, random.normal(size=30) * 1e-3, [0.0, -0.0, np.inf, -np.inf, 4e-4, -4e-4, 7.9, 8, 1e-30, -9]])
x = x.astype(np.float32)
y = tf.tanh(tf.constant(np.tile(x, 16))).numpy()[: len(x)]
with open(golden.path(__file__, "tanh_bits.inc"), "w") as out:
    out.write("/* A float and its tanh; made by tests/golden/tanh_bits.py. */\n")
    for a, b in zip(x.view(np.uint32), y.view(np.uint32)):
        out.write("{ 0x%08xu, 0x%08xu },\n" % (a, b))
