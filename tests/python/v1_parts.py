"""Programs of tf.compat.v1 with variables in parts; tests/golden/v1_library.py runs them under TensorFlow, with those of v1_library.py."""
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


PROGRAMS = (partitioned, sparse_gradients_in_graphs)
