"""Op cases of neural networks: writes tests/golden/op_cases/nn.json. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("nn")
rng = np.random.RandomState(5)
f32 = np.float32
z = np.zeros
REALS = [np.float16, np.float32, np.float64]
INTS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
SPECIAL = f32([np.nan, -0.0, 0.0, np.inf, -np.inf, 1e-30, -1e-30, 100, -100, 6, 5.5, 7, -13.9, -14.5, 13.9, 14.5])


def values(*shape):
    return np.round(rng.randn(*shape) * 2, 2) + 0.003


for op in ("Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"):
    for t in REALS:
        c.add(op, features=values(3, 4).astype(t), gradient=True)
    c.add(op, features=tf.cast(values(5), tf.bfloat16), gradient=True)
    if op in ("Relu", "Relu6"):
        for t in INTS:
            c.add(op, features=np.array([-7, -1, 0, 1, 5, 6, 7, 100]).astype(t))
    for shape in ((), (0,), (2, 0, 3), (1,), (2, 1, 3, 2), (37,)):
        c.add(op, features=values(*shape) if shape else np.float64(-0.7), gradient=True)
    c.add(op, features=SPECIAL)
    c.error(op, features=np.array([1 + 2j]), code="InvalidArgumentError", text="is not in the list of allowed values")
for alpha in (0.0, 0.5, 1.0, 2.0, -1.0):
    c.add("LeakyRelu", features=values(7), alpha=alpha, gradient=True)
    c.add("LeakyReluGrad", gradients=values(7), features=values(7), alpha=alpha, gradient=True)

for op, second in (("ReluGrad", "features"), ("Relu6Grad", "features"), ("EluGrad", "outputs"), ("SeluGrad", "outputs"),
                   ("SoftplusGrad", "features"), ("SoftsignGrad", "features"), ("LeakyReluGrad", "features")):
    derived = op != "SoftsignGrad"
    for t in REALS:
        c.add(op, gradients=values(3, 4).astype(t), gradient=derived, **{second: values(3, 4).astype(t)})
    c.add(op, gradients=tf.cast(values(5), tf.bfloat16), **{second: tf.cast(values(5), tf.bfloat16)})
    if op in ("ReluGrad", "Relu6Grad"):
        for t in INTS:
            c.add(op, gradients=np.array([1, 2, 3, 4, 5, 6, 7, 8]).astype(t), features=np.array([-7, -1, 0, 1, 5, 6, 7, 100]).astype(t))
    c.add(op, gradients=f32(range(16)), **{second: SPECIAL})
    for shape in ((), (0,), (2, 1, 3)):
        c.add(op, gradients=values(*shape) if shape else np.float64(2), gradient=derived, **{second: values(*shape) if shape else np.float64(-0.3)})
    c.error(op, gradients=z(2), code="InvalidArgumentError", text="must have the same size and shape.  Input 0: [2] != input 1: [3]", **{second: z(3)})
    c.error(op, gradients=z((2, 1)), code="InvalidArgumentError", text="must have the same size and shape.  Input 0: [2,1] != input 1: [2]", **{second: z(2)})

# biases
for t in REALS + INTS + [np.complex64, np.complex128]:
    x = np.arange(12).reshape(4, 3)
    c.add("BiasAdd", value=x.astype(t), bias=np.array([1, 2, 3]).astype(t), gradient=t in REALS)
    c.add("BiasAddGrad", out_backprop=x.astype(t), gradient=t in REALS)
c.add("BiasAdd", value=tf.cast(values(2, 3), tf.bfloat16), bias=tf.cast(values(3), tf.bfloat16))
c.add("BiasAddGrad", out_backprop=tf.cast(values(2, 3), tf.bfloat16))
for form in ("NHWC", "NCHW"):
    for shape in ((2, 3), (2, 3, 2), (2, 3, 2, 4), (2, 3, 1, 2, 2), (0, 3), (3, 0, 2, 2)):
        n = shape[1] if form == "NCHW" and len(shape) > 2 else shape[-1]
        c.add("BiasAdd", value=values(*shape), bias=values(n), data_format=form, gradient=True)
        c.add("BiasAddGrad", out_backprop=values(*shape), data_format=form, gradient=True)
c.error("BiasAdd", value=z((2, 3)), bias=z(2), code="InvalidArgumentError", text="Must provide as many biases as the last dimension of the input tensor: [2] vs. [2,3]")
c.error("BiasAdd", value=z(3), bias=z(3), code="InvalidArgumentError", text="Input tensor must be at least 2D: [3]")
c.error("BiasAdd", value=z((2, 3)), bias=z((3, 1)), code="InvalidArgumentError", text="Biases must be 1D: [3,1]")
c.error("BiasAddGrad", out_backprop=z(3), code="InvalidArgumentError", text="Input tensor must be at least 2D: [3]")

# softmax
for op in ("Softmax", "LogSoftmax"):
    for t in REALS:
        c.add(op, logits=values(3, 5).astype(t), gradient=True)
    c.add(op, logits=tf.cast(values(2, 4), tf.bfloat16), gradient=True)
    for shape in ((4,), (1,), (2, 1), (0, 3), (2, 0), (2, 2, 3), (1, 2, 2, 3), (3, 17), (2, 70)):
        c.add(op, logits=values(*shape), gradient=True)
    c.add(op, logits=f32([1000, -1000, 999]))
    c.add(op, logits=f32([[-np.inf, 1, 2], [0, 0, 0]]))
    c.error(op, logits=np.float64(1), code="InvalidArgumentError", text="logits must have >= 1 dimension, got []")
    c.error(op, logits=np.int32([1]), code="InvalidArgumentError", text="is not in the list of allowed values")

# cross-entropies
op = "SparseSoftmaxCrossEntropyWithLogits"
for t in REALS:
    for labels in (np.int32([0, 2, 1]), np.int64([2, 0, 0])):
        c.add(op, features=values(3, 3).astype(t), labels=labels, gradient=True)
c.add(op, features=tf.cast(values(2, 4), tf.bfloat16), labels=np.int32([3, 1]), gradient=True)
c.add(op, features=values(1, 1), labels=np.int32([0]), gradient=True)
c.add(op, features=values(0, 3), labels=np.int32([]))
c.add(op, features=values(4, 40), labels=np.int64([39, 0, 20, 17]), gradient=True)
c.add(op, features=f32([[1000, -1000, 0], [-np.inf, 1, 2]]), labels=np.int32([1, 2]))
c.error(op, features=z((2, 3)), labels=np.int32([0, 3]), code="InvalidArgumentError", text="Received a label value of 3 which is outside the valid range of [0, 3).  Label values: 0 3")
c.error(op, features=z((2, 3)), labels=np.int64([0, -1]), code="InvalidArgumentError", text="Received a label value of -1 which is outside the valid range of [0, 3).  Label values: 0 -1")
c.error(op, features=z((2, 3)), labels=np.int32([0, 1, 2]), code="InvalidArgumentError", text="logits and labels must have the same first dimension, got logits shape [2,3] and labels shape [3]")
c.error(op, features=z(3), labels=np.int32([0, 1, 2]), code="InvalidArgumentError", text="logits must be 2-D, but got shape [3]")
c.error(op, features=z((2, 3)), labels=np.int32([[0, 1]]), code="InvalidArgumentError", text="labels must be 1-D, but got shape [1,2]")
c.error(op, features=z((2, 0)), labels=np.int32([0, 1]), code="InvalidArgumentError", text="Must have at least one class, but got logits shape [2,0]")
c.error(op, features=z((2, 3)), labels=f32([0, 1]), code="InvalidArgumentError", text="is not in the list of allowed values")
op = "SoftmaxCrossEntropyWithLogits"
p = np.float64([[.2, .3, .5], [1, 0, 0], [0, .5, .5]])
for t in REALS:
    c.add(op, features=values(3, 3).astype(t), labels=p.astype(t), gradient=t == f32)  # of the labels TensorFlow derives the loss alone
c.add(op, features=tf.cast(values(3, 3), tf.bfloat16), labels=tf.cast(p, tf.bfloat16))
c.add(op, features=values(2, 3), labels=p[:1])
c.add(op, features=values(2, 3), labels=p[0])
c.add(op, features=values(1, 3), labels=p[:2])
c.add(op, features=values(2, 1), labels=p[:2])
c.add(op, features=values(0, 3), labels=z((0, 3)))
c.add(op, features=values(1, 33).astype(f32), labels=np.full((1, 33), 1 / 33, f32), gradient=True)
c.add(op, features=f32([[-np.inf, 1, 2], [1000, -1000, 5]]), labels=f32([[0, .5, .5], [1, 0, 0]]))
c.error(op, features=z((2, 3)), labels=z((2, 2)), code="InvalidArgumentError", text="logits and labels must be broadcastable: logits_size=[2,3] labels_size=[2,2]")
c.error(op, features=z(3), labels=z(3), code="InvalidArgumentError", text="logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional")

for t in REALS:
    c.add("L2Loss", t=values(3, 5).astype(t), gradient=True)
c.add("L2Loss", t=tf.cast(values(4), tf.bfloat16), gradient=True)
c.add("L2Loss", t=z((0,)))
c.add("L2Loss", t=np.float64(3), gradient=True)
c.add("L2Loss", t=values(2, 3, 37), gradient=True)
c.write()
