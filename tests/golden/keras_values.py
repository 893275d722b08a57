#!/usr/bin/env python3
"""Make tests/golden/keras_values/keras_values.txt with TensorFlow 2.15: losses and their gradients, optimizers' steps, schedules, metrics, activations.

One line per result: a name, a colon, the values. tests/keras compares with them."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

import golden

K = tf.keras
out = open(golden.path(__file__, "keras_values.txt"), "w")


def put(name, value):
    out.write("%s: %s\n" % (name, " ".join("%.9g" % v for v in np.asarray(value, np.float64).ravel())))


P = np.array([[.1, .7, .2], [.25, .25, .5], [1e-9, 1.0, 0.0], [.9, .05, .05]], np.float32)
X = np.array([[1., -2., .5], [0., 3., -1.], [30., -30., 0.], [.1, .2, .3]], np.float32)
LABELS = np.array([1, 0, 2, 0], np.int32)
ONE_HOT = np.eye(3, dtype=np.float32)[LABELS]
WEIGHTS = np.array([1., 2., 0., .5], np.float32)


def loss(name, function, prediction):
    p = tf.constant(prediction)
    with tf.GradientTape() as tape:
        tape.watch(p)
        value = function(p)
        total = tf.reduce_sum(value)
    put(name, value)
    put(name + ".gradient", tape.gradient(total, p))


L = K.losses
loss("sparse", lambda p: L.sparse_categorical_crossentropy(LABELS, p), P)
loss("sparse.logits", lambda p: L.sparse_categorical_crossentropy(LABELS, p, from_logits=True), X)
loss("sparse.softmax", lambda p: L.sparse_categorical_crossentropy(LABELS, K.activations.softmax(p)), X)
loss("sparse.nn_softmax", lambda p: L.sparse_categorical_crossentropy(LABELS, tf.nn.softmax(p)), X)
loss("sparse.column", lambda p: L.sparse_categorical_crossentropy(LABELS[:, None], p), P)
loss("sparse.ignore", lambda p: L.sparse_categorical_crossentropy(LABELS, p, ignore_class=0), P)
loss("sparse.axis", lambda p: L.sparse_categorical_crossentropy(np.array([[0, 1, 2]]), p[None], axis=1), P)
loss("sparse.rank3", lambda p: L.sparse_categorical_crossentropy(LABELS.reshape(2, 2), tf.reshape(p, [2, 2, 3])), P)
loss("categorical", lambda p: L.categorical_crossentropy(ONE_HOT, p), P)
loss("categorical.smooth", lambda p: L.categorical_crossentropy(ONE_HOT, p, label_smoothing=.1), P)
loss("categorical.logits", lambda p: L.categorical_crossentropy(ONE_HOT, p, from_logits=True), X)
loss("binary", lambda p: L.binary_crossentropy(ONE_HOT, p), P)
loss("binary.smooth", lambda p: L.binary_crossentropy(ONE_HOT, p, label_smoothing=.1), P)
loss("binary.logits", lambda p: L.binary_crossentropy(ONE_HOT, p, from_logits=True), X)
loss("binary.sigmoid", lambda p: L.binary_crossentropy(ONE_HOT, K.activations.sigmoid(p)), X)
loss("squared", lambda p: L.mean_squared_error(ONE_HOT, p), X)
for reduction in ("auto", "sum", "none", "sum_over_batch_size"):
    loss("class.sparse." + reduction, lambda p: L.SparseCategoricalCrossentropy(reduction=reduction)(LABELS, p), P)
    loss("class.sparse.weighted." + reduction,
         lambda p: L.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)(LABELS, p, sample_weight=WEIGHTS), X)
loss("class.squared", lambda p: L.MeanSquaredError()(ONE_HOT, p, sample_weight=WEIGHTS[:, None]), X)
loss("class.categorical", lambda p: L.CategoricalCrossentropy(label_smoothing=.2)(ONE_HOT, p), P)
loss("class.binary", lambda p: L.BinaryCrossentropy(from_logits=True)(ONE_HOT, p), X)


def steps(name, optimizer, count=6):
    a = tf.Variable([[1., -2.], [.5, 3.]], name="a")
    b = tf.Variable([.1, -.1, 4.], name="b")
    for i in range(count):
        x = np.float32(i + 1)
        grads = [tf.constant([[.1, -.2], [3., 0.]]) * x, tf.constant([1., -1e-3, 20.]) / x]
        optimizer.apply_gradients(zip(grads, [a, b]))
    put(name + ".a", a)
    put(name + ".b", b)
    for i, v in enumerate(optimizer.variables):
        put("%s.%d" % (name, i), v)
    put(name + ".rate", optimizer.learning_rate)


O, S = K.optimizers, K.optimizers.schedules
steps("adam", O.Adam())
steps("adam.fast", O.Adam(learning_rate=.1, beta_1=.8, beta_2=.9, epsilon=1e-3))
steps("adam.amsgrad", O.Adam(learning_rate=.1, amsgrad=True))
steps("adam.clipnorm", O.Adam(learning_rate=.1, clipnorm=1.))
steps("adam.clipvalue", O.Adam(learning_rate=.1, clipvalue=.5))
steps("adam.global", O.Adam(learning_rate=.1, global_clipnorm=2.))
steps("adam.decay", O.Adam(learning_rate=.1, weight_decay=.01))
steps("adam.schedule", O.Adam(S.ExponentialDecay(.1, 3, .5)))
steps("sgd", O.SGD())
steps("sgd.momentum", O.SGD(learning_rate=.1, momentum=.9))
steps("sgd.nesterov", O.SGD(learning_rate=.1, momentum=.9, nesterov=True))

STEPS = (0, 1, 2, 3, 5, 9, 10, 11, 25, 1000)
for name, schedule in (
        ("exponential", S.ExponentialDecay(.1, 10, .9)), ("exponential.stairs", S.ExponentialDecay(.1, 10, .9, staircase=True)),
        ("piecewise", S.PiecewiseConstantDecay([2, 5], [1., .5, .1])),
        ("polynomial", S.PolynomialDecay(.1, 10, .01, power=2.)), ("polynomial.cycle", S.PolynomialDecay(.1, 10, .01, cycle=True)),
        ("cosine", S.CosineDecay(.1, 10, alpha=.1)), ("cosine.warm", S.CosineDecay(0., 10, warmup_target=.3, warmup_steps=4)),
        ("inverse", S.InverseTimeDecay(.1, 10, .5)), ("inverse.stairs", S.InverseTimeDecay(.1, 10, .5, True))):
    put("schedule." + name, [schedule(s) for s in STEPS])


def metric(name, m, *batches):
    for batch in batches:
        m.update_state(*batch)
    put("metric." + name, list(m.variables) + [m.result()])


M = K.metrics
metric("mean", M.Mean(), ([1., 2., 6.],), (10.,))
metric("mean.weighted", M.Mean(), ([1., 2., 6.], [1., 0., 2.]), ([[1., 3.], [5., 7.]], [1., 3.]))
metric("sparse", M.SparseCategoricalAccuracy(), (LABELS, P), (LABELS[:, None], X))
metric("sparse.weighted", M.SparseCategoricalAccuracy(), (LABELS, P, WEIGHTS))
metric("categorical", M.CategoricalAccuracy(), (ONE_HOT, P))
metric("accuracy", M.Accuracy(), ([1, 2, 3], [1, 0, 3]), ([[1], [2]], [[1], [3]]))

D = np.array([[1., 2.], [-3., .5]], np.float32)
W = np.array([[.5, -1., 2.], [1., .25, -.5]], np.float32)
B = np.array([.1, -.2, .3], np.float32)
for name in ("linear", "relu", "softmax", "sigmoid", "tanh", "elu", "selu", "softplus", "softsign", "swish", "gelu", "exponential",
             "hard_sigmoid"):
    layer = K.layers.Dense(3, activation=name)
    layer.build((None, 2))
    layer.set_weights([W, B])
    put("dense." + name, layer(D))
layer = K.layers.Dense(3)
layer.build((None, 2))
layer.set_weights([W, B])
put("dense.rank3", layer(D[None]))
out.close()
