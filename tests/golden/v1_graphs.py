"""Makes tests/golden/v1_graphs/: graphs as TensorFlow 1 wrote them, with variables that are references and control flow made of Switch and Merge,
and what a session of TensorFlow 2.15.1 computes of them.

graphs.zip has a GraphDef per case; values.json has, per case, runs one after the other: feeds, fetches (names), and their values. Every case's graph
has an operation `init`.

Run it with TensorFlow's Python: python tests/golden/v1_graphs.py [names of cases, to print what they give]"""
import json
import os
import shutil
import sys
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()
v1.disable_control_flow_v2()
v1.disable_resource_variables()
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "v1_graphs")
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def place(name, shape=None, dtype=tf.float32):
    return v1.placeholder(dtype, shape, name=name)


X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@case
def variables():
    v = v1.get_variable("v", initializer=tf.constant([1.0, 2.0, 3.0]))
    n = v1.get_variable("n", initializer=7, trainable=False)
    w = v1.get_variable("scope/w", shape=[2, 2], initializer=v1.ones_initializer())
    twice = tf.multiply(v, 2.0, name="twice")
    a = v1.assign(v, [4.0, 5.0, 6.0], name="a")
    with tf.control_dependencies([a]):
        tf.identity(v, name="same")
    v1.assign_add(n, 3, name="more")
    tf.add(v1.assign_sub(v, [0.5, 0.5, 0.5]), 10.0, name="less")
    v1.assign(v1.assign(w, [[1.0, 2.0], [3.0, 4.0]]), [[5.0, 6.0], [7.0, 8.0]], name="chain")
    tf.identity(v1.is_variable_initialized(n), name="known")
    tf.identity(v1.report_uninitialized_variables(), name="unknown")
    del twice
    yield {}, ["unknown:0"]
    yield {}, ["init"]
    yield {}, ["unknown:0", "known:0", "v:0", "v/read:0", "twice:0", "n:0", "scope/w:0"]
    yield {}, ["same:0"]
    yield {}, ["more:0"]
    yield {}, ["less:0"]
    yield {}, ["v:0", "n:0"]
    yield {}, ["chain:0"]
    yield {"v:0": [9.0, 9.0, 9.0]}, ["twice:0"]


@case
def scatters():
    v = v1.get_variable("v", initializer=tf.reshape(tf.range(12.0), [4, 3]) + 1)
    for name in ("update", "add", "sub", "mul", "div", "min", "max"):
        getattr(v1, "scatter_" + name)(v, [1, 3], [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]], name=name)
    for name in ("update", "add", "sub"):
        getattr(v1, "scatter_nd_" + name)(v, [[0, 1], [2, 2]], [10.0, 20.0], name="nd_" + name)
    yield {}, ["init"]
    for name in ("update", "add", "sub", "mul", "div", "min", "max", "nd_update", "nd_add", "nd_sub"):
        yield {}, [name + ":0"]
    yield {}, ["v:0"]


@case
def branches():
    x, p, q = place("x", [3]), place("p", [], tf.bool), place("q", [], tf.bool)
    v = v1.get_variable("v", initializer=1.0)
    y = v1.cond(p, lambda: x * 2, lambda: tf.stack([x[0], x[1], 7.0]), name="one")
    v1.cond(p, lambda: v1.cond(q, lambda: x + y, lambda: x - y), lambda: v1.cond(q, lambda: y * 3, lambda: x * x * x), name="nested")
    v1.cond(p, lambda: v1.assign_add(v, 1.0), lambda: v1.assign_sub(v, 10.0), name="effect")
    v1.cond(p, lambda: (x, tf.constant([1, 2])), lambda: (x + 1, tf.constant([3])), name="several")
    tf.add(v1.cond(p, lambda: tf.reduce_sum(x), lambda: v + 0.5), v1.cond(q, lambda: v * 5, lambda: x[0]), name="sum")
    v1.case([(tf.reduce_sum(x) > 10, lambda: x), (p, lambda: -x)], default=lambda: x * 0, exclusive=False, name="chosen")
    yield {}, ["init"]
    for a in (False, True):
        for b in (False, True):
            yield ({"x:0": [1.0, 2.0, 3.0], "p:0": a, "q:0": b},
                   ["one/Merge:0", "nested/Merge:0", "several/Merge:0", "several/Merge_1:0", "sum:0", "one/Merge:1"])
    yield {"x:0": [1.0, 2.0, 3.0], "p:0": True}, ["effect/Merge:0"]
    yield {}, ["v:0"]
    yield {"x:0": [1.0, 2.0, 3.0], "p:0": False}, ["effect/Merge:0"]
    yield {}, ["v:0"]
    yield {"x:0": [1.0, 2.0, 3.0], "p:0": True}, ["chosen/cond/Merge:0"]
    yield {"x:0": [5.0, 6.0, 7.0], "p:0": True}, ["chosen/cond/Merge:0"]


@case
def branch_gradients():
    x, p = place("x", [2]), place("p", [], tf.bool)
    w = v1.get_variable("w", initializer=[2.0, 3.0])
    y = v1.cond(p, lambda: tf.exp(w * x) * x, lambda: v1.cond(x[0] > 2, lambda: w * w * x, lambda: tf.sin(w)))
    loss = tf.reduce_sum(y * y, name="loss")
    gw, gx = tf.gradients(loss, [w, x])
    tf.identity(gw, name="gw")
    tf.identity(gx, name="gx")
    yield {}, ["init"]
    for a in (False, True):
        for first in (1.0, 3.0):
            yield {"x:0": [first, 0.5], "p:0": a}, ["loss:0", "gw:0", "gx:0"]


@case
def loops():
    n, x = place("n", [], tf.int32), place("x", [2])
    w = v1.get_variable("w", initializer=[[0.5, 0.25], [0.125, 1.0]])
    i, s = v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.cast(i, tf.float32) * x), [0, x], name="plain")
    tf.identity(i, name="i")
    tf.identity(s, name="s")

    def inner(k, total):
        return v1.while_loop(lambda j, t: j < k, lambda j, t: (j + 1, t + tf.linalg.matvec(w, x) * tf.cast(j, tf.float32)), [0, total])[1]
    _, nested = v1.while_loop(lambda k, t: k < n, lambda k, t: (k + 1, inner(k, t)), [0, x])
    tf.identity(nested, name="nested")
    _, mixed = v1.while_loop(lambda k, t: k < n, lambda k, t: (k + 1, v1.cond(tf.equal(k % 2, 0), lambda: t + x, lambda: t * 2)), [0, x])
    tf.identity(mixed, name="mixed")
    v1.cond(n > 2, lambda: v1.while_loop(lambda k, t: k < 3, lambda k, t: (k + 1, t * x), [0, x])[1], lambda: -x, name="inside")
    _, grown = v1.while_loop(lambda k, t: k < n, lambda k, t: (k + 1, tf.concat([t, t], 0)), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
    tf.identity(grown, name="grown")
    yield {}, ["init"]
    for count in (0, 1, 4):
        yield {"n:0": count, "x:0": [1.0, -2.0]}, ["i:0", "s:0", "nested:0", "mixed:0", "inside/Merge:0", "grown:0", "plain/Exit:0"]


@case
def loop_gradients():
    n, x = place("n", [], tf.int32), place("x", [2])
    w = v1.get_variable("w", initializer=[1.5, 0.5])
    _, y = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y * w) + x), [0, x])
    gw, gx = tf.gradients(tf.reduce_sum(y), [w, x])
    tf.identity(y, name="y")
    tf.identity(gw, name="gw")
    tf.identity(gx, name="gx")
    _, z = v1.while_loop(lambda i, z: i < n, lambda i, z: (i + 1, v1.cond(i % 2 > 0, lambda: z * w, lambda: z * z + x)), [0, x])
    tf.identity(tf.gradients(tf.reduce_sum(z), w)[0], name="gz")

    def row(k, t):
        return v1.while_loop(lambda j, u: j < k, lambda j, u: (j + 1, u * w), [0, t])[1]
    _, u = v1.while_loop(lambda k, t: k < n, lambda k, t: (k + 1, row(k, t) + x), [0, x])
    tf.identity(tf.gradients(tf.reduce_sum(u), w)[0], name="gu")
    yield {}, ["init"]
    for count in (0, 1, 3):
        yield {"n:0": count, "x:0": [0.5, -0.75]}, ["y:0", "gw:0", "gx:0", "gz:0", "gu:0"]


@case
def arrays():
    n, x = place("n", [], tf.int32), place("x", [None, 3])
    start = tf.TensorArray(tf.float32, size=n, element_shape=[3])
    _, squares = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, x[i] * x[i])), [0, start])
    stacked = tf.identity(squares.stack(), name="stacked")
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False).unstack(x)
    tf.identity(rows.read(1) + rows.read(1), name="second")
    tf.identity(rows.gather([1, 0]), name="turned")
    tf.identity(rows.size(), name="size")
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [1, tf.shape(x)[0] - 1])
    tf.identity(parts.concat(), name="joined")
    tf.identity(tf.gradients(tf.reduce_sum(stacked * stacked), x)[0], name="gx")
    tf.identity(tf.gradients(rows.gather([1, 0, 1]) * [[1.0], [2.0], [3.0]], x)[0], name="gr")
    tf.identity(v1.map_fn(lambda r: r * tf.reduce_sum(r), x), name="mapped")
    tf.identity(v1.scan(lambda a, r: a + r, x), name="scanned")
    tf.identity(v1.foldl(lambda a, r: a * 0.5 + r, x), name="folded")
    yield {}, ["init"]
    yield {"n:0": 2, "x:0": X}, ["stacked:0", "second:0", "turned:0", "size:0", "joined:0", "gx:0", "gr:0", "mapped:0", "scanned:0", "folded:0"]


@case
def recurrent():
    x, lengths = place("x", [None, 4, 3]), place("lengths", [None], tf.int32)
    with v1.variable_scope("rnn", initializer=v1.constant_initializer(0.1)):
        cell = v1.nn.rnn_cell.BasicLSTMCell(2)
        out, state = v1.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    loss = tf.reduce_sum(out * out, name="loss")
    tf.identity(out, name="out")
    tf.identity(state.h, name="h")
    v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="step")
    yield {}, ["init"]
    feeds = {"x:0": (np.arange(24).reshape(2, 4, 3) / 10).tolist(), "lengths:0": [4, 2]}
    yield feeds, ["out:0", "h:0", "loss:0"]
    yield feeds, ["step"]
    yield feeds, ["loss:0"]


OPTIMIZERS = {
    "descent": lambda: v1.train.GradientDescentOptimizer(0.1), "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), "adam": lambda: v1.train.AdamOptimizer(0.1),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1), "adadelta": lambda: v1.train.AdadeltaOptimizer(0.1),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5), "centered": lambda: v1.train.RMSPropOptimizer(0.1, centered=True),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.1)}


@case
def optimizers():
    x = place("x", [None, 3])
    table = v1.get_variable("table", initializer=tf.reshape(tf.range(8.0), [4, 2]) / 10)
    for name, make in OPTIMIZERS.items():
        with v1.variable_scope(name):
            w = v1.get_variable("w", initializer=[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
            t = v1.get_variable("t", initializer=tf.reshape(tf.range(8.0), [4, 2]) / 10)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + tf.gather(t, [1, 3]) + table[0]), name=name + "_loss")
        make().minimize(loss, var_list=[w, t], name=name + "_step")
    yield {}, ["init"]
    for _ in range(2):
        for name in OPTIMIZERS:
            yield {"x:0": X}, [name + "_step"]
            yield {"x:0": X}, [name + "_loss:0", name + "/w:0", name + "/t:0"]


@case
def old_forms():
    x, i = place("x", [None, 3]), place("i", [None], tf.int32)
    raw = tf.raw_ops
    w = v1.get_variable("w", initializer=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = raw.Concat(concat_dim=1, values=[x, x * 2, w], name="joined")
    raw.Gather(params=w, indices=i, name="rows")
    raw.Gather(params=y, indices=tf.constant([[0], [1]], tf.int64), validate_indices=False, name="deep")
    raw.Reverse(tensor=y, dims=[True, False], name="turned")
    raw.Reverse(tensor=y, dims=[True, True], name="turned_twice")
    raw.InTopK(predictions=x, targets=i, k=2, name="within")
    raw.AccumulateNV2(inputs=[x, x, w], shape=[2, 3], name="sum")
    raw.BiasAddV1(value=x, bias=[1.0, 2.0, 3.0], name="biased")
    raw.GuaranteeConst(input=x, name="same")
    gradient = tf.gradients(raw.Gather(params=w, indices=i) * tf.slice(raw.Concat(concat_dim=0, values=[x, w]), [0, 0], [2, 3]), w)[0]
    tf.identity(tf.convert_to_tensor(gradient), name="gradient")
    yield {}, ["init"]
    yield {"x:0": X, "i:0": [1, 0]}, ["joined:0", "rows:0", "deep:0", "turned:0", "turned_twice:0", "within:0", "sum:0", "biased:0", "same:0", "gradient:0"]


@case
def newer_ops():
    x, boxes = place("x", [1, 4, 4, 4]), place("boxes", [None, 4])
    v = v1.get_variable("v", initializer=tf.reshape(tf.range(16.0), [2, 2, 2, 1, 2]) / 16)
    deep = tf.raw_ops.DepthToSpace(input=x, block_size=2, name="wide")
    tf.raw_ops.SpaceToDepth(input=deep, block_size=2, name="back")
    parts = tf.raw_ops.SpaceToBatchND(input=x, block_shape=[2, 2], paddings=[[0, 0], [2, 0]], name="parts")
    tf.raw_ops.BatchToSpaceND(input=parts, block_shape=[2, 2], crops=[[0, 0], [2, 0]], name="whole")
    volume = tf.nn.conv3d(tf.expand_dims(x, -1), v, [1, 1, 1, 1, 1], "SAME")
    pooled = tf.nn.max_pool3d(volume, 2, 2, "VALID", name="pooled")
    tf.nn.avg_pool3d(volume, 2, 2, "SAME", name="mean")
    tf.identity(tf.gradients(pooled, v)[0], name="gradient")
    tf.raw_ops.NonMaxSuppressionV3(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=2, iou_threshold=0.5, score_threshold=0.0, name="chosen")
    tf.raw_ops.NonMaxSuppressionV5(boxes=boxes, scores=[0.9, 0.8, 0.7], max_output_size=3, iou_threshold=0.5, score_threshold=0.0, soft_nms_sigma=0.5, name="soft")
    yield {}, ["init"]
    yield ({"x:0": (np.arange(64).reshape(1, 4, 4, 4) / 10).tolist(), "boxes:0": [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 3, 1, 4]]},
           ["wide:0", "back:0", "parts:0", "whole:0", "pooled:0", "mean:0", "gradient:0", "chosen:0", "soft:0", "soft:1", "soft:2"])


@case
def steps():
    x = place("x", [None, 3])
    makers = {"proximal": v1.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02), "proximal_adagrad": v1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01)}
    step = v1.train.get_or_create_global_step()
    makers["dual"] = v1.train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02)
    for name, optimizer in makers.items():
        with v1.variable_scope(name):
            w = v1.get_variable("w", initializer=[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
            t = v1.get_variable("t", initializer=tf.reshape(tf.range(8.0), [4, 2]) / 10)
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + tf.gather(t, [1, 3])), name=name + "_loss")
        optimizer.minimize(loss, var_list=[w, t], global_step=step, name=name + "_step")
    yield {}, ["init"]
    for _ in range(2):
        for name in makers:
            yield {"x:0": X}, [name + "_step"]
            yield {"x:0": X}, [name + "_loss:0", name + "/w:0", name + "/t:0"]


@case
def asserts():
    x = place("x", [2])
    with tf.control_dependencies([v1.Assert(tf.reduce_all(x > 0), [x])]):
        tf.sqrt(x, name="root")
    yield {}, ["init"]
    yield {"x:0": [4.0, 9.0]}, ["root:0"]


def old_function(*dtypes):
    """A function whose body has the control flow of TensorFlow 1, called in the graph."""
    def make(function):
        from tensorflow.python.ops import control_flow_util
        concrete = tf.function(function, autograph=False)
        given = [v1.placeholder(dtype, shape) for dtype, shape in dtypes]
        enabled, control_flow_util.EnableControlFlowV2 = control_flow_util.EnableControlFlowV2, lambda graph: False
        try:
            return concrete.get_concrete_function(*given)
        finally:
            control_flow_util.EnableControlFlowV2 = enabled
    return make


@case
def function_ops():
    raw = tf.raw_ops

    @old_function((tf.float32, [2, 3]), (tf.float32, [2, 2, 2, 3]))
    def body(x, images):
        y, mean, variance, _, _ = raw.FusedBatchNorm(x=images, scale=[1.0, 2.0, 3.0], offset=[0.5, 0.0, -0.5], mean=[], variance=[])
        z = raw.FusedBatchNormV2(x=images, scale=[1.0, 2.0, 3.0], offset=[0.5, 0.0, -0.5], mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0],
                                 is_training=False).y
        within = raw.InTopK(predictions=x, targets=[2, 0], k=1)
        joined = raw.Concat(concat_dim=1, values=[x, raw.Gather(params=x, indices=[1, 0])])
        first, second = tf.split(raw.Reverse(tensor=joined, dims=[False, True]), 2, axis=1)
        return y, mean, variance, z, within, raw.AccumulateNV2(inputs=[first, second], shape=[2, 3]), x

    x, images = place("x", [2, 3]), place("images", [2, 2, 2, 3])
    for i, value in enumerate(body(x, images)):
        tf.identity(value, name="y%d" % i)
    yield {}, ["init"]
    yield {"x:0": X, "images:0": (np.arange(24.0) ** 1.5).reshape(2, 2, 2, 3).tolist()}, ["y%d:0" % i for i in range(7)]


@case
def norm_gradients():
    """What the gradient takes of the forward op may come from anywhere: an op of any form, a placeholder, another op's fourth output, an argument, a branch."""
    raw, shape = tf.raw_ops, [2, 2, 2, 3]
    dy, x, scale = place("dy", shape), place("x", shape), tf.constant([1.0, 2.0, 3.0])
    mean, variance, wide = place("mean", [3]), place("variance"), place("wide", [15])
    forms = [(raw.FusedBatchNorm, raw.FusedBatchNormGrad, {}), (raw.FusedBatchNormV2, raw.FusedBatchNormGradV2, {}),
             (raw.FusedBatchNormV3, raw.FusedBatchNormGradV3, {"reserve_space_3": place("reserve")})]
    for i, (norm, grad, more) in enumerate(forms):
        for training in (True, False):
            def named(source, first, second, name="", more=more, grad=grad, i=i, training=training):
                made = grad(y_backprop=dy, x=x, scale=scale, reserve_space_1=first, reserve_space_2=second, is_training=training, epsilon=0.01, **more)
                for k, value in enumerate(made[:3]):
                    tf.identity(value, name="%s%d%d%d" % (source, i, training, k))
            forward = norm(x=x, scale=scale, offset=scale, mean=[] if training else mean, variance=[] if training else variance, is_training=training)
            named("own", forward[3], forward[4])
            with tf.control_dependencies([v1.assert_positive(variance)]):
                named("placed", mean, variance)
            named("split", tf.split(wide, 5)[3], variance)
            named("mixed", forward[3], variance)

        @old_function((tf.float32, shape), (tf.float32, shape), (tf.float32, [3]), (tf.float32, [3]), (tf.bool, []))
        def body(dy, x, mean, variance, p):
            def one():
                return grad(y_backprop=dy, x=x, scale=[1.0, 2.0, 3.0], reserve_space_1=mean, reserve_space_2=variance,
                            **({"reserve_space_3": tf.zeros([0])} if more else {}))[0]
            return one(), v1.cond(p, one, lambda: dy)
        for k, value in enumerate(body(dy, x, mean, variance, place("p%d" % i, [], tf.bool))):
            tf.identity(value, name="body%d%d" % (i, k))
        tf.identity(v1.cond(tf.reduce_sum(dy) > 1.0, lambda: grad(y_backprop=dy, x=x, scale=scale, reserve_space_1=mean, reserve_space_2=variance, **more)[0],
                            lambda: x), name="branch%d" % i)
    yield {}, ["init"]
    values = (np.arange(24.0) ** 1.5).reshape(shape)
    feeds = {"dy:0": (values % 2 - 0.6).tolist(), "x:0": (values % 3).tolist(), "mean:0": [0.5, 1.0, 1.5], "variance:0": [1.0, 0.5, 2.0], "reserve:0": [],
             "wide:0": (np.arange(15.0) / 10).tolist(), **{"p%d:0" % i: True for i in range(3)}}
    yield feeds, ["%s%d%d%d:0" % (source, i, training, k) for source in ("own", "placed", "split", "mixed") for i in range(3) for training in (0, 1) for k in range(3)]
    yield feeds, ["body%d%d:0" % (i, k) for i in range(3) for k in range(2)] + ["branch%d:0" % i for i in range(3)]


@case
def function_flow():
    @old_function((tf.float32, [3]), (tf.bool, []), (tf.int32, []))
    def body(x, p, n):
        low = v1.cond(p, lambda: x * 2.0, lambda: v1.cond(x[0] > 1.0, lambda: x + 10.0, lambda: tf.zeros([3])))

        def step(i, a):
            return i + 1, v1.cond(tf.equal(i % 2, 0), lambda: a + x, lambda: a * 2.0)
        i, total = v1.while_loop(lambda i, a: i < n, step, [0, low])
        double, index = tf.raw_ops.Switch(data=x, pred=p)
        merged = tf.raw_ops.Merge(inputs=[double * 3.0, index - 1.0])
        return low, i, total, merged.output, merged.value_index

    x, p, n = place("x", [3]), place("p", [], tf.bool), place("n", [], tf.int32)
    for i, value in enumerate(body(x, p, n)):
        tf.identity(value, name="y%d" % i)
    yield {}, ["init"]
    for start in (0.5, 1.5):
        for choice in (True, False):
            yield {"x:0": [start, 2.0, 3.0], "p:0": choice, "n:0": 5}, ["y%d:0" % i for i in range(5)]


@case
def function_variables():
    raw = tf.raw_ops

    @old_function((tf.float32, [3]))
    def body(x):
        v = raw.VariableV2(shape=[3], dtype=tf.float32, shared_name="kept")
        with tf.control_dependencies([raw.Assign(ref=v, value=x * 2.0)]):
            more = raw.AssignAdd(ref=v, value=[1.0, 2.0, 3.0])
        with tf.control_dependencies([more]):
            return tf.identity(v) * 10.0, more + 0.5

    x = place("x", [3])
    for i, value in enumerate(body(x)):
        tf.identity(value, name="y%d" % i)
    yield {}, ["init"]
    for start in (1.0, 5.0):
        yield {"x:0": [start, 2.0, 3.0]}, ["y0:0", "y1:0"]


def plain(value):
    value = np.asarray(value)
    if value.dtype == object:
        return {"dtype": "string", "shape": list(value.shape), "values": [v.decode() for v in value.ravel().tolist()]}
    return {"dtype": str(value.dtype), "shape": list(value.shape), "values": [v if v == v else "nan" for v in value.ravel().tolist()]}


def run(function):
    with tf.Graph().as_default() as graph:
        steps = list(function())
        v1.group(v1.global_variables_initializer(), v1.tables_initializer(), name="init")
        found = []
        with v1.Session(graph=graph) as session:
            for feeds, fetches in steps:
                values = session.run(fetches, feeds)
                found.append({"feeds": feeds, "fetches": fetches, "values": [None if v is None else plain(v) for v in values]})
        return graph.as_graph_def(), found


def main():
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            graph_def, found = run(CASES[name])
            print(name, sorted({n.op for n in graph_def.node}))
            print(json.dumps(found)[:2000])
        return
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    values = {}
    with zipfile.ZipFile(os.path.join(HERE, "graphs.zip"), "w", zipfile.ZIP_LZMA) as archive:
        for name, function in CASES.items():
            graph_def, values[name] = run(function)
            archive.writestr(name + ".pb", graph_def.SerializeToString(deterministic=True))
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump(values, file)


main()
