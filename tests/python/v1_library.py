"""Programs in the manner of TensorFlow 1 over what tf.compat.v1 holds besides sessions: iterators, layers, metrics, moving averages, monitored
sessions, recurrent cells, flags, frozen graphs. tests/golden/v1_library.py runs them under TensorFlow and writes v1_library.json; test_v1_library.py
runs them here. A program tells texts and arrays to `show`."""
import os
import tempfile

import numpy as np

import v1_parts


def told(error):
    """An error's kind, and the first line of what the operation said."""
    lines = [line for line in str(error).split("\n") if line and not line.startswith(("Graph execution", "Detected at", "    File", "Node:"))]
    return type(error).__name__ + ": " + (lines[0] if lines else "")


def iterators(tf, show):
    v1 = tf.compat.v1
    dataset = tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2)
    once = v1.data.make_one_shot_iterator(dataset)
    element = once.get_next()
    again = v1.data.make_initializable_iterator(dataset)
    other = again.get_next(name="other")
    show(element.name, other.name, again.initializer.name, str(once.output_types), str(again.output_shapes))
    for sessions in range(2):
        with v1.Session() as session:
            try:
                while True:
                    show(session.run(element))
            except tf.errors.OutOfRangeError as e:
                show(told(e))
            try:
                session.run(other)
            except tf.errors.FailedPreconditionError as e:
                show(told(e))
            for _ in range(2):
                session.run(again.initializer)
                show(session.run(other))
    try:
        show(once.initializer.name)
    except ValueError as e:
        show(told(e))


def structures(tf, show):
    v1 = tf.compat.v1
    iterator = v1.data.Iterator.from_structure((tf.int64, {"a": tf.float32}), (tf.TensorShape([]), {"a": tf.TensorShape([2])}))
    number, parts = iterator.get_next()
    count = v1.placeholder(tf.int64, [])
    one = tf.data.Dataset.range(count).map(lambda x: (x, {"a": tf.fill([2], tf.cast(x, tf.float32))}))
    two = tf.data.Dataset.from_tensors((tf.constant(9, tf.int64), {"a": [1., 2.]}))
    first, second = iterator.make_initializer(one), iterator.make_initializer(two, name="second")
    show(first.name, second.name, number.name, parts["a"].name)
    handle = v1.placeholder(tf.string, [])
    fed = v1.data.Iterator.from_string_handle(handle, v1.data.get_output_types(two), v1.data.get_output_shapes(two))
    following = fed.get_next()
    with v1.Session() as session:
        session.run(first, {count: 2})
        show(*session.run([number, parts["a"]]), *session.run([number, parts["a"]]))
        session.run(second)
        show(session.run(following, {handle: session.run(iterator.string_handle())})[0])
        try:
            session.run(following, {handle: "nonsense"})
        except tf.errors.InvalidArgumentError as e:
            show(told(e))
    variable = v1.get_variable("v", [], tf.int64)
    for bad in (tf.data.Dataset.range(count), tf.data.Dataset.range(2).map(lambda x: x + variable)):
        try:
            v1.data.make_one_shot_iterator(bad)
        except ValueError as e:
            show(told(e))
    old = v1.data.Dataset.from_tensor_slices([1., 2.]).repeat(2).make_one_shot_iterator().get_next()
    with v1.Session() as session:
        show([session.run(old) for _ in range(3)])


def layers(tf, show):
    v1 = tf.compat.v1
    layer, constant = v1.layers, v1.constant_initializer
    x = v1.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    training = v1.placeholder(tf.bool, [])
    with v1.variable_scope("net"):
        y = layer.conv2d(x, 3, 3, padding="same", activation=tf.nn.relu, kernel_initializer=constant(.1), kernel_regularizer=tf.keras.regularizers.l2(.1),
                         name="c")
    y = layer.max_pooling2d(y, 2, 2)
    y = layer.batch_normalization(y, training=training, momentum=.5)
    y = layer.flatten(y)
    y = layer.dense(y, 4, activation=tf.nn.tanh, kernel_initializer=constant(.02), bias_initializer=tf.keras.initializers.Constant(.1))
    y = layer.dropout(y, .5, training=False)
    one = layer.dense(y, 2, name="out", kernel_initializer=constant(.3))
    two = layer.dense(y, 2, name="out", reuse=True)
    more = [layer.conv1d(x[:, :, :, 0], 2, 2, kernel_initializer=constant(.2)), layer.average_pooling2d(x, 2, 2, "same"),
            layer.separable_conv2d(x, 2, 2, depthwise_initializer=constant(.2), pointwise_initializer=constant(.3)),
            layer.conv2d_transpose(x, 1, 2, 2, kernel_initializer=constant(.1))]
    show(y.name, one.name, two.name, *(m.name for m in more))
    show(*(v.name + str(v.shape) for v in v1.global_variables()), len(v1.trainable_variables()))
    show([str(t.name) for t in v1.losses.get_regularization_losses()], len(v1.get_collection("update_ops")))
    try:
        layer.dense(y, 2, name="out")
    except ValueError as e:
        show(type(e).__name__ + str(e)[:90])

    class Own(layer.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", [int(shape[-1]), 2], initializer=v1.ones_initializer())

        def call(self, inputs):
            return tf.matmul(inputs, self.w)
    own = Own()
    result = own(y)
    show(result.name, own.w.name)
    data = np.sin(np.arange(144.)).reshape(2, 6, 6, 2)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for step in range(2):
            updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
            show(session.run([one, updates], {x: data, training: True})[0])
        show(*session.run([one, two, result] + more, {x: data, training: False}))
        show(session.run(v1.losses.get_regularization_loss()), *session.run([v for v in v1.global_variables() if "moving" in v.name]))


def metrics(tf, show):
    v1 = tf.compat.v1
    m = v1.metrics
    labels, scores, weights = v1.placeholder(tf.int32, [None]), v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [None])
    found, real = tf.cast(scores > .5, tf.int32), tf.cast(labels, tf.float32)
    pairs = [m.accuracy(labels, found), m.accuracy(labels, found, weights=weights), m.mean(scores), m.mean_squared_error(real, scores),
             m.root_mean_squared_error(real, scores, weights=weights), m.mean_absolute_error(real, scores), m.precision(labels, found),
             m.recall(labels, found, weights=weights), m.true_positives(labels, found), m.false_positives(labels, found),
             m.true_negatives(labels, found), m.false_negatives(labels, found), m.auc(labels, scores),
             m.auc(labels, scores, curve="PR", num_thresholds=10, summation_method="minoring"), m.mean_iou(labels, found, 2),
             m.mean_per_class_accuracy(labels, found, 2), m.percentage_below(scores, .5), m.precision_at_thresholds(labels, scores, [.3, .6]),
             m.recall_at_thresholds(labels, scores, [.3, .6]), m.mean_relative_error(real, scores, tf.ones_like(scores) * 2.),
             m.auc(labels, scores, weights, curve="PR", summation_method="careful_interpolation"),
             m.auc(labels, scores, weights, summation_method="careful_interpolation")]
    show(*(v.name for v in v1.local_variables()), len(v1.global_variables()))
    with v1.Session() as session:
        session.run(v1.local_variables_initializer())
        for i in range(2):
            show(*session.run([update for _, update in pairs], {labels: [0, 1, 1, 0][i:], scores: [.2, .7, .4, .9][i:], weights: [1., 2., 0., 1.][i:]}))
        show(*session.run([value for value, _ in pairs]))


def averages(tf, show):
    v1 = tf.compat.v1
    w, steps = v1.get_variable("w", initializer=[1., 2.]), v1.Variable(0, name="steps", trainable=False)
    average = v1.train.ExponentialMovingAverage(.9)
    with v1.control_dependencies([w.assign_add([1., 1.])]):
        follow = average.apply([w])
    total = tf.reduce_sum(w)
    follow_total = average.apply([total])
    other = v1.train.ExponentialMovingAverage(.9, num_updates=steps, name="other")
    follow_other = other.apply()
    show(follow.name, average.average_name(w), average.average(w).name, sorted(average.variables_to_restore()))
    show(*(v.name for v in v1.global_variables()))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(follow)
            session.run(follow_total)
            session.run([follow_other, v1.assign_add(steps, 1)])
        show(*session.run([w, average.average(w), average.average(total)]))


def monitored(tf, show):
    v1 = tf.compat.v1
    folder = tempfile.mkdtemp()
    w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
    step = v1.train.get_or_create_global_step()
    loss = tf.reduce_sum(w * w)
    train = v1.train.GradientDescentOptimizer(.1).minimize(loss, global_step=step)
    v1.summary.scalar("loss", loss)

    class Hook(v1.train.SessionRunHook):
        def begin(self):
            show("begin")

        def after_create_session(self, session, coord):
            show("created")

        def before_run(self, context):
            return v1.train.SessionRunArgs(loss)

        def after_run(self, context, values):
            show(values.results)

        def end(self, session):
            show("end", session.run(step))
    hooks = [v1.train.StopAtStepHook(last_step=4), Hook(), v1.train.NanTensorHook(loss)]
    with v1.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2, save_summaries_steps=1) as session:
        while not session.should_stop():
            session.run(train)
    show(sorted(f for f in os.listdir(folder) if not f.startswith("events")))
    with v1.Graph().as_default():
        w, step = v1.get_variable("w", [2]), v1.train.get_or_create_global_step()
        with v1.train.SingularMonitoredSession(checkpoint_dir=folder) as session:
            show(*session.run([w, step]))
    coordinator = v1.train.Coordinator()
    with coordinator.stop_on_exception():
        raise ValueError("told")
    try:
        coordinator.join([])
    except ValueError as e:
        show(str(e), coordinator.should_stop())


def recurrent(tf, show):
    v1 = tf.compat.v1
    cells = v1.nn.rnn_cell
    x = v1.placeholder(tf.float32, [3, 4, 2])
    lstm, lstm_state = v1.nn.dynamic_rnn(cells.BasicLSTMCell(3), x, dtype=tf.float32, sequence_length=[4, 2, 1])
    with v1.variable_scope("g"):
        gru, gru_state = v1.nn.dynamic_rnn(cells.GRUCell(3), x, dtype=tf.float32)
    with v1.variable_scope("r"):
        several = cells.MultiRNNCell([cells.BasicRNNCell(3), cells.LSTMCell(2, use_peepholes=True, num_proj=2)])
        static, static_state = v1.nn.static_rnn(several, tf.unstack(x, axis=1), dtype=tf.float32)
    with v1.variable_scope("b"):
        both, _ = v1.nn.bidirectional_dynamic_rnn(cells.GRUCell(2), cells.GRUCell(2), x, dtype=tf.float32, sequence_length=[4, 2, 1])
    show(*(v.name + str(v.shape) for v in v1.global_variables()))
    loss = sum(tf.reduce_sum(t) for t in (lstm, gru, static[-1]) + tuple(both))
    gradients = v1.gradients(loss, v1.trainable_variables())
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for i, v in enumerate(v1.global_variables()):
            v.load(np.reshape(np.cos(np.arange(np.prod(v.shape)) + i), v.shape).astype("f"), session)
        feeds = {x: np.sin(np.arange(24.)).reshape(3, 4, 2)}
        show(*session.run([lstm, lstm_state.c, lstm_state.h, gru, gru_state, static[-1]] + list(both) + gradients, feeds))


def averages_without_bias(tf, show):
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [2], name="x")
    average = v1.train.ExponentialMovingAverage(.9, zero_debias=True, name="mean")
    follow = average.apply([x])
    show(follow.name, average.average(x).name, average.average(tf.constant(1.)), sorted(v.name for v in v1.global_variables()))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for i in range(3):
            session.run(follow, {x: [1. + i, 2.]})
            show(session.run(average.average(x)))
    try:
        average.apply([v1.placeholder(tf.int32, [2], name="i")])
    except TypeError as e:
        show(str(e))


def training_nodes(tf, show):
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [2], name="x")
    y = tf.identity(tf.identity(tf.exp(x), name="a"), name="c")
    with v1.control_dependencies([y]):
        z = tf.sqrt(tf.identity(x, name="d") + y, name="z")
    graph_def = v1.get_default_graph().as_graph_def()
    for kept in (None, ["a", "d"]):
        show([[n.name, n.op, list(n.input)] for n in v1.graph_util.remove_training_nodes(graph_def, kept).node])
    for wrong in (lambda: v1.graph_util.extract_sub_graph(graph_def, ["nobody"]), lambda: v1.graph_util.extract_sub_graph(graph_def, "z")):
        try:
            wrong()
        except (AssertionError, TypeError) as e:
            show(type(e).__name__, str(e))


def uninitialized(tf, show):
    v1 = tf.compat.v1
    v1.get_variable("v", initializer=[1.])
    w = v1.get_variable("w", initializer=[1.], collections=["local_variables"])
    every, none = v1.report_uninitialized_variables(), v1.report_uninitialized_variables([])
    show(every.name, v1.train.get_global_step())
    step = v1.train.get_or_create_global_step()
    show(step.name, v1.train.get_global_step() is step, [v.name for v in v1.get_collection("global_step")])
    with v1.Session() as session:
        show(session.run(every), session.run(none))
        session.run(w.initializer)
        show(session.run(every))


def frozen(tf, show):
    v1 = tf.compat.v1
    graph = v1.get_default_graph()
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    w = v1.get_variable("w", initializer=[[1.], [2.]])
    tf.identity(tf.matmul(x, w), name="y")
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        constant = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    show([n.name + " " + n.op for n in constant.node], [n.name for n in v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["MatMul"]).node])
    with v1.Graph().as_default():
        y, = tf.import_graph_def(constant, return_elements=["y:0"], name="")
        show(v1.Session().run(y, {"x:0": [[1., 1.]]}))


def old_names(tf, show):
    v1 = tf.compat.v1
    a = tf.constant([[1., 2.], [3., 4.]])
    sparse = v1.sparse_placeholder(tf.float32, [2, 2], name="sp")
    v = v1.get_variable("v", initializer=[1., 2., 3.])
    template = v1.make_template("t", lambda x: x * v1.get_variable("k", [], initializer=v1.ones_initializer()))
    show(sparse.values.name, sparse.indices.name, template(a).name, template(a).name, *(w.name for w in v1.global_variables()))
    with v1.colocate_with(a):
        show(tf.identity(a).op.colocation_groups()[0].decode(), [o.type for o in a.consumers()])
    update, add = v1.scatter_update(v, [0], [9.]), v1.scatter_add(v, [1, 2], [1., 1.])
    show(update.op.type, v1.assign(v, [0., 0., 0.]).name)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        show(*session.run([v1.sparse_tensor_dense_matmul(sparse, a), v1.sparse_reduce_sum(sparse, 1)], {sparse: v1.SparseTensorValue([[0, 1]], [5.], [2, 2])}))
        show(session.run(update), session.run(add), session.run(v.assign_add([1., 1., 1.]) * 2.))
        show(*session.run([v1.reduce_sum(a, reduction_indices=1, keep_dims=True), v1.argmax(a, dimension=1), v1.py_func(lambda z: z + 1, [a], tf.float32),
                           v1.trace(a), v1.matrix_transpose(a), v1.diag([1., 2.]), v1.lin_space(0., 1., 3), v1.cumprod([1., 2., 3.]), v1.div(7, 2),
                           v1.sparse_to_dense([1], [3], 5), v1.substr("abc", 0, 2), v1.to_float(1), v1.nn.xw_plus_b(a, a, [1., 1.])]))
    try:
        v1.Session(graph=tf.Graph()).run(a)
    except RuntimeError as e:
        show(str(e))


PROGRAMS = (iterators, structures, layers, metrics, averages, averages_without_bias, monitored, recurrent, training_nodes, uninitialized, frozen, old_names) + v1_parts.PROGRAMS


def plain(value):
    """As JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def run(tf, name):
    """What the program shows."""
    lines = []
    program = {p.__name__: p for p in PROGRAMS}[name]
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(1)
        program(tf, lambda *values: lines.append([plain(v) for v in values]))
    return lines
