"""Makes tests/golden/v1train_values/v1_train.json: small programs of TensorFlow 1's kind and what they give under TensorFlow 2.15.1.

A case is Python code that sets `result`; it runs inside a new default graph, with tf, v1, np and a folder tmp. `run` gives values of fetches in a new
session with all variables initialized; `error` gives the class and the beginning of the text of what a function raises."""
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
v1 = tf.compat.v1
v1.disable_eager_execution()

CASES = []


def add(name, code):
    CASES.append({"name": name, "code": code})


MODEL = """
x = v1.placeholder(tf.float32, [None, 2], name="x")
w = v1.get_variable("w", initializer=tf.constant([[1.0], [2.0]]))
b = v1.get_variable("b", shape=[1], initializer=v1.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
feed = {x: [[1.0, 2.0], [3.0, -4.0]]}
"""
TRAIN = """
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    for _ in range(3):
        sess.run(train, feed)
    values = sess.run(v1.global_variables())
result = {"values": values, "names": [v.name for v in v1.global_variables()], "trainable": [v.name for v in v1.trainable_variables()]}
"""
OPTIMIZERS = ["GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)", "MomentumOptimizer(0.1, 0.9, use_nesterov=True)",
              "AdamOptimizer(0.1)", "AdamOptimizer()", "AdamOptimizer(learning_rate=0.01, beta1=0.8, beta2=0.9, epsilon=0.1, name='other')",
              "AdagradOptimizer(0.1)", "AdagradOptimizer(0.1, initial_accumulator_value=1.0)", "RMSPropOptimizer(0.1)",
              "RMSPropOptimizer(0.1, decay=0.8, momentum=0.5, epsilon=1e-3)", "RMSPropOptimizer(0.1, momentum=0.5, centered=True)",
              "AdadeltaOptimizer(1.0)", "AdadeltaOptimizer()", "FtrlOptimizer(0.1)",
              "FtrlOptimizer(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.2)"]
for optimizer in OPTIMIZERS:
    add(optimizer, MODEL + "optimizer = v1.train.%s\ntrain = optimizer.minimize(loss)\n" % optimizer + TRAIN + """
result.update(train=[train.name, train.type], slots=optimizer.get_slot_names(), own=[v.name for v in optimizer.variables()],
              name=optimizer.get_name(), controls=sorted(c.name for c in train.control_inputs),
              inner=[o.name for o in v1.get_default_graph().get_operations() if o.name.startswith(optimizer.get_name() + "/")
                     and o.type in ("Const", "Mul", "NoOp") and optimizer.get_name() != "Ftrl" or "update_" in o.name],
              none=optimizer.get_slot(w, "nothing"), first=[optimizer.get_slot(w, n).name for n in optimizer.get_slot_names()])
""")
for optimizer in ("GradientDescentOptimizer(0.1)", "AdamOptimizer(0.1)"):
    add("global step, " + optimizer, MODEL + "step = v1.train.get_or_create_global_step()\ntrain = v1.train.%s.minimize(loss, global_step=step)\n"
        % optimizer + TRAIN + """
result.update(train=[train.name, train.type], same=v1.train.get_or_create_global_step() is step, found=v1.train.get_global_step().name,
              inputs=[i.name for i in train.inputs])
""")
add("two optimizers", MODEL + """
one, two = v1.train.AdamOptimizer(0.1), v1.train.AdamOptimizer(0.2)
a, train = one.minimize(loss, var_list=[w]), two.minimize(loss, name="mine")
""" + TRAIN + "result.update(trains=[a.name, train.name], own=[[v.name for v in o.variables()] for o in (one, two)])")
add("var_list", MODEL + "train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, var_list=[b])\n" + TRAIN)
add("scopes", """
with v1.variable_scope("net"):
    w = v1.get_variable("w", initializer=tf.constant([1.0, 2.0]))
loss = tf.reduce_sum(w * w)
feed = None
with v1.name_scope("training"):
    train = v1.train.AdamOptimizer(0.1).minimize(loss)
""" + TRAIN + "result['train'] = train.name")
add("clipped", MODEL + """
optimizer = v1.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
train = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in pairs])
""" + TRAIN + "result.update(pairs=[v.name for _, v in pairs])")
add("decayed", MODEL + """
step = v1.train.get_or_create_global_step()
rate = v1.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
train = v1.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
""" + TRAIN)
add("rate in a variable", MODEL + """
rate = v1.get_variable("rate", initializer=0.1, trainable=False)
train = v1.train.GradientDescentOptimizer(rate).minimize(loss)
""" + TRAIN)
add("double", """
w = v1.get_variable("w", initializer=tf.constant([1.0, 2.0], tf.float64))
loss = tf.reduce_sum(w * w)
feed = None
train = v1.train.AdamOptimizer(0.1).minimize(loss)
""" + TRAIN)
for optimizer in ("GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.9)", "AdamOptimizer(0.1)", "AdagradOptimizer(0.1)", "RMSPropOptimizer(0.1)",
                  "AdadeltaOptimizer(1.0)", "FtrlOptimizer(0.1)"):
    add("rows, " + optimizer, """
table = v1.get_variable("table", initializer=tf.reshape(tf.range(8.0), [4, 2]))
loss = tf.reduce_sum(tf.square(tf.gather(table, [1, 3, 1])))
feed = None
train = v1.train.%s.minimize(loss)
""" % optimizer + TRAIN)
add("optimizer errors", MODEL + """
o = v1.train.GradientDescentOptimizer(0.1)
other = v1.get_variable("other", shape=[1])
result = [error(lambda: o.apply_gradients([])), error(lambda: o.apply_gradients([(None, w)])), error(lambda: o.minimize(loss, var_list=[])),
          error(lambda: o.minimize(tf.constant(1.0), var_list=[w])), error(lambda: v1.train.AdagradOptimizer(0.1, -1.0)),
          error(lambda: o.compute_gradients(loss, gate_gradients=7)), error(lambda: v1.train.GradientDescentOptimizer(0.1, name=""))]
""")
DECAYS = ["exponential_decay(0.1, s, 4, 0.9)", "exponential_decay(0.1, s, 4, 0.9, staircase=True)", "natural_exp_decay(0.1, s, 4, 0.5)",
          "inverse_time_decay(0.1, s, 4, 0.5)", "inverse_time_decay(0.1, s, 4, 0.5, staircase=True)", "polynomial_decay(0.1, s, 4)",
          "polynomial_decay(0.1, s, 4, 0.01, power=2.0)", "polynomial_decay(0.1, s, 4, 0.01, cycle=True)", "cosine_decay(0.1, s, 8)",
          "cosine_decay(0.1, s, 8, alpha=0.3)", "piecewise_constant(s, [2, 5], [1.0, 0.5, 0.1])", "piecewise_constant_decay(s, [2, 5], [1.0, 0.5, 0.1])"]
for decay in DECAYS:
    add(decay, "s = v1.placeholder(tf.int64, [])\nrate = v1.train.%s\nwith v1.Session() as sess:\n"
        "    result = [sess.run(rate, {s: n}) for n in (0, 1, 2, 4, 5, 7, 9, 20)]" % decay)

PAIR = "a, p = tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.constant([[0.8, 0.3], [0.4, 0.9]])\n"
LOSSES = ["mean_squared_error(a, p)", "absolute_difference(a, p)", "hinge_loss(a, p)", "huber_loss(a, p)", "huber_loss(a, p, delta=0.2)", "log_loss(a, p)",
          "cosine_distance(a, p, axis=1)", "sigmoid_cross_entropy(a, p)", "sigmoid_cross_entropy(a, p, label_smoothing=0.1)",
          "softmax_cross_entropy(a, p)", "softmax_cross_entropy(a, p, label_smoothing=0.1)", "softmax_cross_entropy(a, p, weights=[1.0, 0.0])",
          "sparse_softmax_cross_entropy([1, 0], p)", "sparse_softmax_cross_entropy([[1], [0]], p)",
          "sparse_softmax_cross_entropy([1, 0], p, weights=[0.5, 2.0])", "mean_squared_error(a, p, weights=2.0)",
          "mean_squared_error(a, p, weights=[[1.0], [0.0]])", "mean_squared_error(a, p, weights=0.0)",
          "compute_weighted_loss(p)"] + ["mean_squared_error(a, p, weights=[[1.0], [0.5]], reduction=v1.losses.Reduction.%s)" % r for r in
                                         ("NONE", "SUM", "SUM_OVER_BATCH_SIZE", "MEAN", "SUM_OVER_NONZERO_WEIGHTS", "SUM_BY_NONZERO_WEIGHTS")]
for loss in LOSSES:
    add(loss, PAIR + "l = v1.losses.%s\nresult = [run(l), run(v1.losses.get_total_loss()) if l.shape.rank == 0 else None, len(v1.losses.get_losses())]" % loss)
add("loss errors", PAIR + """
result = [error(lambda: v1.losses.mean_squared_error(a, tf.constant([1.0, 2.0, 3.0]))), error(lambda: v1.losses.mean_squared_error(None, p)),
          error(lambda: v1.losses.mean_squared_error(a, p, weights=[1.0, 2.0])), error(lambda: v1.losses.mean_squared_error(a, p, reduction="x"))]
""")

INITIALIZERS = ["zeros_initializer()", "ones_initializer()", "constant_initializer(2.5)", "constant_initializer([[1, 2, 3], [4, 5, 6]])",
                "random_uniform_initializer(-1.0, 1.0, seed=5)", "random_uniform_initializer(seed=5)", "random_normal_initializer(seed=5)",
                "random_normal_initializer(1.0, 0.5, seed=0)", "truncated_normal_initializer(stddev=0.1, seed=5)", "glorot_uniform_initializer(seed=5)",
                "glorot_normal_initializer(seed=5)", "variance_scaling_initializer(scale=2.0, mode='fan_out', distribution='uniform', seed=5)",
                "variance_scaling_initializer(distribution='untruncated_normal', seed=5)", "variance_scaling_initializer(seed=5)",
                "initializers.he_normal(seed=5)", "initializers.he_uniform(seed=5)", "initializers.lecun_normal(seed=5)", "initializers.lecun_uniform(seed=5)"]
for initializer in INITIALIZERS:
    for seed in ("", "v1.set_random_seed(7)\n"):
        add(initializer + (", seeded" if seed else ""), seed + "i = v1.%s\nw = v1.get_variable('w', shape=[2, 3], initializer=i)\n"
            "result = [run(w), run(i([2, 3])), run(i([3], dtype=tf.float64)) if %r else None]" % (initializer, "[[" not in initializer))

FORMS = ["v1.reduce_sum([[1.0, 2.0]], reduction_indices=[1], keep_dims=True)", "v1.reduce_mean([[1.0, 2.0]], 1, True)", "v1.argmax([[1, 3, 2]], dimension=1)",
         "v1.argmin([[1, 3, 2]], 1)", "v1.arg_max([[1, 3], [4, 2]], 0)", "v1.expand_dims([1, 2], dim=0)", "v1.squeeze([[1, 2]], squeeze_dims=[0])",
         "v1.nn.softmax([[1.0, 2.0]], dim=-1)", "v1.nn.log_softmax([[1.0, 2.0]])", "v1.to_float([1, 2])", "v1.to_int32([1.7])", "v1.div(7, 2)",
         "v1.div(7.0, 2.0)", "v1.log([1.0, 2.0])", "v1.norm([3.0, 4.0], keep_dims=True)", "v1.count_nonzero([[1, 0], [2, 3]], reduction_indices=[1])",
         "v1.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[1.0, 2.0]])", "v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[1.0, 2.0]])",
         "v1.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[2.0])", "v1.nn.dropout([1.0, 2.0], keep_prob=1.0)",
         "v1.nn.max_pool(np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1), [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
         "v1.nn.conv2d(np.ones((1, 3, 3, 1), np.float32), np.ones((2, 2, 1, 1), np.float32), [1, 1, 1, 1], 'VALID')",
         "v1.nn.embedding_lookup(np.arange(6.0).reshape(3, 2).astype(np.float32), [2, 0])", "v1.random_normal([2, 2], seed=3)", "v1.random_uniform([2], seed=3)",
         "v1.truncated_normal([3], seed=3)", "v1.nn.moments(tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0], keep_dims=True)[1]", "v1.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [2.0]], [3.0])"]
for form in FORMS:
    add(form, "result = run(%s)" % form)
add("form errors", """
result = [error(lambda: v1.reduce_sum([1.0], 0, reduction_indices=[0])), error(lambda: v1.expand_dims([1])), error(lambda: v1.nn.dropout([1.0]))]
""")

SAVE = MODEL + "step = v1.train.get_or_create_global_step()\n"
add("saver's nodes", SAVE + """
v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
before = len(v1.get_default_graph().get_operations())
saver, second = v1.train.Saver(), v1.train.Saver({"other": w}, name="mine", max_to_keep=1)
result = {"nodes": [[o.name, o.type, [i.name for i in o.inputs], sorted(c.name for c in o.control_inputs)]
                    for o in v1.get_default_graph().get_operations()[before:]], "defs": [str(saver.saver_def), str(second.saver_def)]}
""")
add("saver's files", SAVE + """
saver = v1.train.Saver(max_to_keep=2)
train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    paths = []
    for n in range(3):
        sess.run(train, feed)
        paths.append(saver.save(sess, os.path.join(tmp, "m"), global_step=step))
    paths.append(saver.save(sess, os.path.join(tmp, "n"), write_meta_graph=False))
    paths.append(saver.save(sess, os.path.join(tmp, "o"), write_state=False, global_step=12, meta_graph_suffix="graph"))
    values = sess.run([w, b, step])
    saver.restore(sess, os.path.join(tmp, "m-3"))
    again = sess.run([w, b, step])
    last = saver.last_checkpoints
    saver.recover_last_checkpoints([os.path.join(tmp, "m-3"), os.path.join(tmp, "gone")])
result = {"paths": [os.path.basename(p) for p in paths], "files": sorted(os.listdir(tmp)), "values": values, "again": again,
          "state": open(os.path.join(tmp, "checkpoint")).read().replace(tmp, "TMP"), "last": [os.path.basename(p) for p in last],
          "recovered": [os.path.basename(p) for p in saver.last_checkpoints], "latest": os.path.basename(v1.train.latest_checkpoint(tmp)),
          "variables": v1.train.list_variables(os.path.join(tmp, "m-3")), "exists": v1.train.checkpoint_exists(os.path.join(tmp, "m-3"))}
""")
add("saver, relative", SAVE + """
os.chdir(tmp)
saver = v1.train.Saver([w], max_to_keep=3, pad_step_number=True)
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    os.mkdir("d")
    paths = [saver.save(sess, "d/m", global_step=n) for n in (1, 2)] + [saver.save(sess, "./d/m", latest_filename="newest")]
result = {"paths": paths, "files": sorted(os.listdir("d")), "state": open("d/checkpoint").read(), "newest": open("d/newest").read()}
""")
add("saver, deferred", SAVE + """
saver = v1.train.Saver(defer_build=True)
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    first = error(lambda: saver.save(sess, os.path.join(tmp, "m")))
    saver.build()
    saver.save(sess, os.path.join(tmp, "m"))
result = [first, v1.train.list_variables(os.path.join(tmp, "m"))]
""")
add("saver errors", SAVE + """
saver = v1.train.Saver()
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    result = [error(lambda: saver.restore(sess, None)), error(lambda: saver.save(None, os.path.join(tmp, "m"))),
              error(lambda: saver.save(sess, os.path.join(tmp, "m"), latest_filename="a/b"))[0], error(lambda: v1.train.Saver([w, w])),
              error(lambda: v1.train.Saver([])), error(lambda: v1.train.Saver({"x": w, "y": w})), error(lambda: v1.train.Saver(3)),
              error(lambda: saver.save(sess, os.path.join(tmp, "checkpoint")))[0], error(lambda: saver.restore(sess, os.path.join(tmp, "x")))[0]]
    v1.train.Saver({"other": w}).save(sess, os.path.join(tmp, "o"))
    result.append(error(lambda: saver.restore(sess, os.path.join(tmp, "o")))[0])
    result.append(error(lambda: v1.train.Saver({"other": step}).restore(sess, os.path.join(tmp, "o")))[0])
""")
add("summaries", MODEL + """
with v1.name_scope("part"):
    a = v1.summary.scalar("loss", loss)
h = v1.summary.histogram("w", w, family="group")
m = v1.summary.merge_all()
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    data = sess.run(m, feed)
result = [a.name, h.name, m.name, [v.tag for v in v1.Summary.FromString(data).value], len(v1.get_collection("summaries"))]
""")
add("checkpoints in graphs", """
w = tf.Variable([1.0, 2.0], name="w")
c = tf.train.Checkpoint(w=w)
train = v1.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(w * w))
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    first = c.save(os.path.join(tmp, "c"))
    sess.run(train)
    second = c.save(os.path.join(tmp, "c"))
    status = c.restore(first)
    before = sess.run(w)
    status.assert_consumed().run_restore_ops(session=sess)
    after = sess.run(w)
    c.restore(second).initialize_or_restore(session=sess)
    last = sess.run(w)
result = {"paths": [os.path.basename(first), os.path.basename(second)], "before": before, "after": after, "last": last,
          "keys": [k for k, _ in v1.train.list_variables(second)]}
""")


def plain(value):
    """What JSON can hold."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return {"array": np.asarray(value).tolist(), "dtype": str(value.dtype)} if value.dtype != object else plain(value.tolist())
    return value


def run(fetches):
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        return sess.run(fetches)


def error(function):
    try:
        function()
    except Exception as e:
        return [type(e).__name__, str(e)[:60]]
    return None


if __name__ == "__main__":
    for case in CASES:
        with tempfile.TemporaryDirectory() as tmp, v1.Graph().as_default():
            space = {"tf": tf, "v1": v1, "np": np, "os": os, "tmp": tmp, "run": run, "error": error}
            try:
                exec(case["code"], space)
            except Exception as e:
                raise RuntimeError(case["name"]) from e
            case["result"] = plain(space["result"])
            os.chdir(HERE)
    with open(golden.path(__file__, "v1_train.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES), "cases")
