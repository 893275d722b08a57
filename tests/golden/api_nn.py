"""Write tests/golden/api_nn/api_nn.json with TensorFlow 2.15.1: calls of tf.matmul, tf.nn, keras.activations and tf.random with their results, and for
some the gradient of the result's sum by the first tensor. tests/python/test_api_nn.py replays them in this order."""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf

import golden

rng = np.random.RandomState(3)
cases = []


def values(*shape):
    return tf.constant(np.round(rng.randn(*shape) * 2, 2) + 0.003, tf.float32)


def number(v):
    if isinstance(v, (complex, np.complexfloating)):
        return [float(v.real), float(v.imag)]
    return v.item() if hasattr(v, "item") else v


def tensor(t):
    data = tf.cast(t, tf.float32) if t.dtype in (tf.bfloat16, tf.half) else t
    return {"tensor": [number(v) for v in data.numpy().reshape(-1)], "shape": t.shape.as_list(), "dtype": t.dtype.name}


def plain(v):
    if isinstance(v, tf.Tensor):
        return tensor(v)
    return {"dtype": v.name} if isinstance(v, tf.DType) else v


def resolve(path):
    at = tf
    for part in path.split("."):
        at = getattr(at, part)
    return at


def add(path, *args, gradient=False, tolerance=None, **kwargs):
    case = {"path": path, "args": [plain(a) for a in args], "kwargs": {k: plain(v) for k, v in kwargs.items()}}
    if tolerance is not None:
        case["tolerance"] = tolerance
    try:
        with tf.GradientTape() as tape:
            watched = [a for a in list(args) + list(kwargs.values()) if isinstance(a, tf.Tensor) and a.dtype.is_floating]
            tape.watch(watched)
            result = resolve(path)(*args, **kwargs)
            total = tf.reduce_sum(result * tf.cast(tf.reshape(tf.range(1, tf.size(result) + 1), tf.shape(result)), result.dtype)) if gradient else None
    except Exception as e:
        case["error"] = type(e).__name__
        case["text"] = str(e).split("}} ")[-1].split(" [Op:")[0].split("Received:")[0].split(" Received")[0].split(" allowed values:")[0].split("\n")[0].strip()
    else:
        case["result"] = None if result is None else tensor(result)
        if gradient:
            case["gradient"] = tensor(tape.gradient(total, watched[0]))
    cases.append(case)


a, b, c = values(2, 3), values(3, 4), values(2, 3, 4)
add("matmul", a, b, gradient=True)
add("matmul", a, tf.identity(a), transpose_a=True, gradient=True)
add("matmul", a, tf.identity(a), transpose_b=True, gradient=True)
add("matmul", a, a, adjoint_b=True)
add("matmul", c, tf.identity(c), transpose_b=True, gradient=True)
add("matmul", c, c, adjoint_a=True)
add("matmul", a, c[0], transpose_a=False, transpose_b=True)
add("matmul", a, b, transpose_a=True, adjoint_a=True)
add("matmul", a, b, a_is_sparse=True)
add("matmul", tf.cast(a, tf.int8), tf.cast(b, tf.int8), output_type=tf.int32)
z = tf.complex(a, a + 1)
add("matmul", z, z, adjoint_b=True, tolerance=1e-5)
add("matmul", z, z, transpose_a=True, tolerance=1e-5)
add("matmul", tf.stack([z, z]), tf.stack([z, z]), transpose_b=True, tolerance=1e-5)
add("linalg.matvec", a, b[:, 0], gradient=True)
add("linalg.matvec", a, b[:2, 0], transpose_a=True)
add("tensordot", a, b, 1, gradient=True)
add("tensordot", a, b, 0)
add("tensordot", c, tf.identity(c), [[0, 1], [0, 1]], gradient=True)
add("tensordot", c, c, [[1, 0], [1, 0]])
add("tensordot", c, c, 3)
add("tensordot", c, b, [[1], [0]], gradient=True)
add("tensordot", c, a, [[0], [0]])

for path in ("nn.relu", "nn.relu6", "nn.elu", "nn.selu", "nn.softplus", "nn.softsign", "nn.silu", "nn.swish", "nn.gelu", "nn.leaky_relu", "nn.softmax",
             "nn.log_softmax", "nn.l2_loss", "keras.activations.relu", "keras.activations.softmax", "keras.activations.sigmoid",
             "keras.activations.tanh", "keras.activations.linear", "keras.activations.elu", "keras.activations.selu",
             "keras.activations.softplus", "keras.activations.softsign", "keras.activations.swish", "keras.activations.gelu",
             "keras.activations.exponential", "keras.activations.hard_sigmoid", "keras.activations.mish"):
    add(path, values(3, 4), gradient=True, tolerance=1e-5)
add("nn.leaky_relu", tf.constant([1, -2]))
add("nn.leaky_relu", values(5), 0.0)
add("nn.leaky_relu", values(5), alpha=0.5)
add("nn.silu", values(5), 2.0, gradient=True)
add("nn.gelu", values(5), True, gradient=True, tolerance=1e-5)
add("nn.gelu", tf.constant([1, 2]))
for path in ("nn.softmax", "nn.log_softmax", "keras.activations.softmax"):
    for axis in (0, 1, 2, -2, -3):
        add(path, c, axis=axis, gradient=True, tolerance=1e-5)
add("nn.softmax", a, axis=5)
add("nn.softmax", tf.constant(1.0))
add("nn.softmax", tf.constant([1, 2]))
add("keras.activations.softmax", values(3))
x = tf.constant([-3.0, -1, 0.25, 1, 7])
for options in ({"alpha": 0.1}, {"max_value": 6.0}, {"max_value": 0.5}, {"threshold": 1.5}, {"alpha": 0.1, "max_value": 5.0, "threshold": 0.5},
                {"threshold": 0.5, "max_value": 6.0}, {"alpha": 0.3, "max_value": 2.0}):
    add("keras.activations.relu", x, gradient=True, **options)
add("keras.activations.elu", x, alpha=0.5, gradient=True)
add("keras.activations.gelu", x, approximate=True)

for form in (None, "NHWC", "NCHW", "N...C", "NC...", "NCW"):
    add("nn.bias_add", values(2, 3, 3), values(3), data_format=form)
add("nn.bias_add", a, values(3), data_format="xyz")

S, D, G = "nn.sparse_softmax_cross_entropy_with_logits", "nn.softmax_cross_entropy_with_logits", "nn.sigmoid_cross_entropy_with_logits"
add(S, labels=tf.constant([1, 2]), logits=a, gradient=True)
add(S, labels=tf.constant([[1, 2, 0], [3, 3, 0]]), logits=c, gradient=True, tolerance=1e-5)
add(S, labels=tf.constant(1), logits=a[0], gradient=True)
add(S, labels=tf.constant([1, 2], tf.int64), logits=tf.cast(a, tf.half))
add(S, labels=tf.constant([1, 2, 0]), logits=a)
add(S, labels=tf.constant([[1, 2, 0]]), logits=a)
add(S, labels=tf.constant([1, 5]), logits=a)
p = tf.nn.softmax(c)
add(D, labels=p[0], logits=c[0], tolerance=1e-5)
add(D, labels=tf.zeros((2, 3)) + 0.5, logits=a, axis=0, tolerance=1e-5)
for axis in (0, 1, 2, -1):
    add(D, labels=tf.zeros_like(c) + 0.25, logits=c, axis=axis, tolerance=1e-5)
add(D, labels=p[0, 0], logits=c[0, 0], tolerance=1e-5)
add(D, labels=p[0], logits=tf.cast(c[0], tf.half), tolerance=2e-3)
add(G, labels=tf.constant([0.0, 1, 0.3]), logits=tf.constant([2.0, -3, 0]), gradient=True)
add(G, labels=tf.constant([0.0, 1]), logits=tf.constant([2.0, -3, 0]))
add(G, logits=tf.constant([2.0, -3, 0]))

add("random.uniform", [3], seed=11, tolerance=0)
add("random.uniform", [3], seed=11, tolerance=0)
add("random.set_seed", 1234)
add("random.uniform", [4], tolerance=0)
add("random.normal", [4], tolerance=0)
add("random.truncated_normal", [4], tolerance=0)
add("random.uniform", [4], 0, 100, tf.int32)
add("random.uniform", [2, 2], -3.0, 5.0, tolerance=0)
add("random.uniform", [3], maxval=10, dtype=tf.float64, tolerance=0)
add("random.normal", [5], 2.0, 3.0, tf.float64, 5, tolerance=0)
add("random.normal", [5], mean=tf.constant([1.0, 2, 3, 4, 5]), stddev=0.5, tolerance=0)
add("random.truncated_normal", [5], 1.0, 0.1, tf.half, tolerance=0)
add("random.shuffle", tf.range(10))
add("random.shuffle", tf.range(10), seed=4)
add("random.shuffle", tf.range(10), seed=4)
add("random.categorical", values(2, 4), 6)
add("random.categorical", values(2, 4), 6, dtype=tf.int32, seed=3)
add("random.uniform", [2], dtype=tf.int32)
add("random.uniform", [2], maxval=5, dtype=tf.uint8)
for seed in (0, -5, 2**31 - 1, 2**31 - 2, 2**40):
    add("random.set_seed", seed)
    add("random.uniform", [2], tolerance=0)
    add("random.uniform", [2], seed=0, tolerance=0)
    add("random.uniform", [2], seed=-7, tolerance=0)
    add("random.uniform", [2], tolerance=0)
add("random.stateless_uniform", [4], [1, 2], tolerance=0)
add("random.stateless_uniform", [4], [1, 2], -2.0, 4.0, tolerance=0)
add("random.stateless_uniform", [4], [1, 2], 0, 50, tf.int64)
add("random.stateless_uniform", [4], [1, 2], None, None, tf.int32)
add("random.stateless_uniform", [4], [1, 2], 3, None, tf.int32)
add("random.stateless_normal", [4], tf.constant([1, 2**40], tf.int64), 1.0, 2.0, tolerance=0)
add("random.stateless_truncated_normal", [4], [-1, 2], dtype=tf.float64, tolerance=0)
add("random.stateless_categorical", values(2, 4), 5, [3, 4])
add("random.stateless_uniform", [4], [1, 2, 3])
add("random.set_seed", 6)
add("nn.dropout", tf.ones((3, 4)), 0.5)
add("nn.dropout", values(10), 0.3, seed=3, gradient=True)
add("nn.dropout", tf.ones((3, 4)), 0.5, noise_shape=[3, 1], seed=1)
add("nn.dropout", tf.ones((3, 4)), 0.5, noise_shape=[None, 1], seed=1)
add("nn.dropout", tf.ones(4, tf.float64), 0.25)
add("nn.dropout", tf.ones(4), 0.0)
add("nn.dropout", tf.ones(4), 1.0)
add("nn.dropout", tf.ones(4, tf.int32), 0.5)
add("random.uniform", [2], tolerance=0)
with open(golden.path(__file__, "api_nn.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
print(len(cases), "calls,", sum("error" in case for case in cases), "errors")
