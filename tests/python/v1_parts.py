"""Programs of tf.compat.v1 with variables in parts, gradients by name, distributions; tests/golden/v1_library.py runs them under TensorFlow, with those of v1_library.py."""
import os
import tempfile


def refused(show, *calls):
    """What errors say."""
    for call in calls:
        try:
            show("made", str(call()))
        except (ValueError, TypeError) as e:
            show(type(e).__name__, str(e))


def partitioned(tf, show):
    v1 = tf.compat.v1
    two = v1.fixed_size_partitioner(2)
    w = v1.get_variable("w", [5, 2], partitioner=two, initializer=v1.constant_initializer(2.))
    whole = w.as_tensor()
    show(whole.name, whole.op.inputs[0].name, [v.name for v in w], [str(v.shape) for v in w], len(w), str(w.shape), w.dtype.name, w.name)
    info = list(w)[1]._get_save_slice_info()
    show(info.full_name, info.spec, info.full_shape, info.var_offset, info.var_shape)
    with v1.variable_scope("s", partitioner=v1.fixed_size_partitioner(3), regularizer=lambda v: tf.reduce_sum(v)) as scope:
        k = v1.get_variable("k", [7, 4])
        b = v1.get_variable("b", [])
        c = v1.get_variable("c", initializer=tf.reshape(tf.range(6.), [6, 1]))
        seen = []
        v1.get_variable("d", [4, 3], initializer=lambda shape, dtype, partition_info: (seen.append((partition_info.full_shape, partition_info.var_offset)), tf.ones(shape, dtype))[1])
        show(b.name, [v.name for v in k], scope.partitioner is not None, seen)
    show([v.name for v in v1.global_variables()], [loss.name for loss in v1.losses.get_regularization_losses()])
    show([v.name for v in v1.create_partitioned_variables([4, 2], [2, 1], v1.zeros_initializer(), name="foo")])
    with v1.variable_scope("s", reuse=True):
        show(v1.get_variable("k", [7, 4], partitioner=v1.fixed_size_partitioner(3)) is k, v1.get_variable("k", [7, 4]) is k)
        refused(show, lambda: v1.get_variable("k", [7, 4], partitioner=two), lambda: v1.get_variable("k", [7, 3], partitioner=v1.fixed_size_partitioner(3)),
                lambda: v1.get_variable("n", [7, 3], partitioner=two))
    v1.get_variable("plain", [4])
    refused(show, lambda: v1.get_variable("w", [5, 2]), lambda: v1.get_variable("w", [5, 2], partitioner=two), lambda: v1.get_variable("z", [5, 2], partitioner=3),
            lambda: v1.get_variable("plain", [4], partitioner=two), lambda: v1.get_variable("z", [None, 2], partitioner=two),
            *[lambda p=p: v1.get_variable("z", [5, 2], partitioner=lambda shape, dtype: p) for p in (3, [2, 2], [2], [0, 1])])
    for partitioner in (v1.variable_axis_size_partitioner(32), v1.variable_axis_size_partitioner(32, axis=1, max_shards=2), v1.min_max_variable_partitioner(4, min_slice_size=40)):
        show(list(partitioner(shape=tf.TensorShape([6, 4]), dtype=tf.float32)))
    ids, sparse = tf.constant([[0, 5], [3, 6]]), tf.sparse.from_dense([[1, 0, 3], [6, 2, 0]])
    found = [tf.nn.embedding_lookup(k, ids), v1.nn.embedding_lookup(k, ids), v1.nn.embedding_lookup(k, ids, partition_strategy="div", max_norm=0.5),
             v1.nn.embedding_lookup_sparse(k, sparse, None, combiner="sum"), v1.nn.safe_embedding_lookup_sparse(k, sparse, combiner="mean"),
             tf.nn.embedding_lookup_sparse(k, sparse, None, combiner="sqrtn"), v1.nn.embedding_lookup([tf.ones([2, 2]), tf.zeros([2, 2])], ids[:1] // 2)]
    loss = tf.reduce_sum(found[1] ** 2) + tf.reduce_sum(tf.matmul(w, [[1.], [2.]]))
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
    show([isinstance(g, tf.IndexedSlices) for g, _ in optimizer.compute_gradients(loss, list(k) + list(w))])
    step, saver = optimizer.minimize(loss), v1.train.Saver()
    show([[t.decode() for t in n.attr["value"].tensor.string_val] for n in v1.get_default_graph().as_graph_def().node if "save/SaveV2/" in n.name])
    with tempfile.TemporaryDirectory() as folder, v1.Session() as session:
        session.run(v1.global_variables_initializer())
        show(session.run([k.as_tensor(), c.as_tensor()] + found))
        session.run(step)
        show(session.run([k.as_tensor(), w.as_tensor()]))
        path = saver.save(session, os.path.join(folder, "m"))
        session.run(w.assign(tf.zeros([5, 2])))
        show(session.run(w.as_tensor()))
        saver.restore(session, path)
        show(session.run(w.as_tensor()), tf.train.list_variables(path), tf.train.load_variable(path, "s/k"))
        with tf.Graph().as_default():
            k, w = v1.get_variable("s/k", [7, 4], partitioner=two), v1.get_variable("w", [5, 2])
            saver = v1.train.Saver({"s/k": k, "w": w})
            with v1.Session() as other:
                saver.restore(other, path)
                show(other.run([k.as_tensor(), w]))


def sparse_gradients_in_graphs(tf, show):
    """A graph that trains a table can be written."""
    v1 = tf.compat.v1
    table = v1.get_variable("table", [3, 2])
    rows = tf.nn.embedding_lookup(table, [0, 1])
    v1.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(rows * rows))
    show(len(v1.get_default_graph().as_graph_def().SerializeToString()) > 1000, v1.train.export_meta_graph().graph_def.node[0].name)


def gradients_by_name(tf, show):
    v1 = tf.compat.v1

    @tf.RegisterGradient("GuidedRelu%d" % id(show))
    def guided(op, gradient):
        show(op.type, op.name, len(op.inputs), op.outputs[0].dtype.name)
        return tf.where(gradient > 0., tf.cast(op.outputs[0] > 0., gradient.dtype) * gradient, tf.zeros_like(gradient))

    @tf.RegisterGradient("HalfPyFunc%d" % id(show))
    def half(op, gradient):
        return gradient * op.inputs[1] * 0.5, None
    graph = v1.get_default_graph()
    x = tf.constant([-1., 2., 3.])
    with graph.gradient_override_map({"Relu": "GuidedRelu%d" % id(show)}):
        y = tf.nn.relu(x, name="guided")
        inside, = tf.gradients(tf.reduce_sum(y * [1., -1., 2.]), [x])
    plain = tf.nn.relu(x)
    with graph.gradient_override_map({"PyFunc": "HalfPyFunc%d" % id(show), "Identity": "Nobody"}):
        called = v1.py_func(lambda a, b: a * b, [x, tf.constant(4.)], tf.float32)
        lost = tf.identity(x)
    found = tf.gradients([tf.reduce_sum(y * [1., -1., 2.]), tf.reduce_sum(plain * [1., -1., 2.])], [x])[0]
    through, = tf.gradients(tf.square(called), [x])
    show(graph.get_operation_by_name("guided").get_attr("_gradient_op_type").decode()[:10])
    refused(show, lambda: graph.gradient_override_map(3).__enter__(), lambda: graph.gradient_override_map({"Relu": 3}).__enter__())
    try:
        tf.gradients(lost, x)
    except LookupError as e:
        show(type(e).__name__)
    with v1.Session() as session:
        show(session.run([inside, found, through]))


def distributions(tf, show):
    v1 = tf.compat.v1
    ds = v1.distributions
    made = [ds.Normal([0., 1.], [1., 2.]), ds.Normal(0.5, 3.), ds.Uniform([0., 1.], 3.), ds.Gamma([2., 3.], 1.5), ds.Exponential([1., 2.]), ds.Beta([2., 3.], 1.5),
            ds.Laplace(0.5, [1., 2.]), ds.StudentT([3., 1.5], 0.5, 2.), ds.Bernoulli(logits=[0.5, -1.]), ds.Bernoulli(probs=[0.2, 0.7], dtype=tf.float32),
            ds.Categorical(logits=[[0.1, 0.9, 2.], [1., 1., 1.]]), ds.Categorical(probs=[0.2, 0.8], dtype=tf.int64), ds.Dirichlet([1.5, 2., 3.]),
            ds.Multinomial(4., probs=[0.2, 0.3, 0.5]), ds.DirichletMultinomial(3., [1.5, 2., 3.])]
    session = v1.Session()
    for d in made:
        show(type(d).__name__, d.dtype.name, str(d.batch_shape), str(d.event_shape), str(d.reparameterization_type), d.name, sorted(d.parameters), str(d))
        values = {"Categorical": 1, "Bernoulli": [1, 0], "Multinomial": [1., 1., 2.], "DirichletMultinomial": [1., 1., 1.], "Dirichlet": [0.2, 0.3, 0.5]}.get(type(d).__name__, [0.4, 0.7])
        for name in ("log_prob", "prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile"):
            try:
                show(name, session.run(getattr(d, name)(values if name != "quantile" else [0.3, 0.6])))
            except (NotImplementedError, TypeError) as e:
                show(name, "error")
        for name in ("mean", "variance", "stddev", "mode", "entropy", "covariance", "batch_shape_tensor", "event_shape_tensor", "is_scalar_batch"):
            try:
                show(name, session.run(getattr(d, name)()))
            except NotImplementedError as e:
                show(name, "error")
        drawn = d.sample([2, 3], seed=7)
        show(str(drawn.shape), session.run(drawn), str(d.sample(seed=3).shape), str(d.sample(4).shape))
    pairs = [(made[0], made[1]), (made[3], ds.Gamma(1., 2.)), (made[5], ds.Beta(1., 2.)), (made[8], ds.Bernoulli(probs=0.3)), (made[10], ds.Categorical(logits=[0., 1., 2.])),
             (made[12], ds.Dirichlet([1., 2., 3.])), (made[4], ds.Exponential(3.))]
    show(session.run([ds.kl_divergence(a, b) for a, b in pairs] + [made[0].cross_entropy(made[1])]))
    loc = tf.constant(0.5)
    show(session.run(tf.gradients(ds.Normal(loc, 2.).sample(3, seed=2), loc) + tf.gradients(ds.Normal(loc, 2.).log_prob(1.), loc)))
    for call in (lambda: ds.kl_divergence(made[0], made[2]), lambda: ds.Bernoulli(), lambda: ds.Categorical(logits=[1, 2]), lambda: made[0].copy(loc=[1., 2., 3.]).batch_shape):
        try:
            show(str(call()))
        except (NotImplementedError, ValueError, TypeError) as e:
            show(type(e).__name__)


PROGRAMS = (partitioned, sparse_gradients_in_graphs, gradients_by_name, distributions)
