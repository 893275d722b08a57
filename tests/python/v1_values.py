"""Losses, metrics, recurrent cells and functions of tf.compat.v1: the names of what they give, its values in a session, and what joins collections.
tests/golden/v1_values.py runs them under TensorFlow and writes values.json; test_v1_values.py runs them here."""
import numpy as np


def losses(tf, p):
    own = tf.compat.v1.losses
    reductions = own.Reduction
    return {
        "absolute_difference": lambda: own.absolute_difference(p(), p()),
        "absolute_difference, mean": lambda: own.absolute_difference(p((3, 4)), p((3, 4)), weights=p((3, 1)), scope="mine", reduction=reductions.MEAN),
        "absolute_difference, none": lambda: own.absolute_difference(p((3, 4)), p((3, 4)), weights=2.0, reduction=reductions.NONE),
        "absolute_difference, sum": lambda: own.absolute_difference(p((3, 4)), p((3, 4)), weights=2.0, reduction=reductions.SUM),
        "absolute_difference, batch": lambda: own.absolute_difference(p((3, 4)), p((3, 4)), 2.0, reduction=reductions.SUM_OVER_BATCH_SIZE),
        "mean_squared_error": lambda: own.mean_squared_error(p(), p()),
        "mean_squared_error, integers": lambda: own.mean_squared_error(p((2, 3), "int32"), p((2, 3)), loss_collection="other"),
        "hinge_loss": lambda: own.hinge_loss(p(), p(), loss_collection=None),
        "huber_loss": lambda: own.huber_loss(p(), p(), delta=0.3),
        "log_loss": lambda: own.log_loss(p(), p()),
        "cosine_distance": lambda: own.cosine_distance(p((3, 4)), p((3, 4)), axis=1),
        "mean_pairwise_squared_error": lambda: own.mean_pairwise_squared_error(p((3, 4)), p((3, 4))),
        "mean_pairwise_squared_error, weights": lambda: own.mean_pairwise_squared_error(p((3, 4)), p((3, 4)), weights=p((3, 1))),
        "mean_pairwise_squared_error, unknown": lambda: own.mean_pairwise_squared_error(p(), p()),
        "sigmoid_cross_entropy": lambda: own.sigmoid_cross_entropy(p(), p()),
        "sigmoid_cross_entropy, smooth": lambda: own.sigmoid_cross_entropy(p((3, 4), "int32"), p((3, 4)), label_smoothing=.1),
        "softmax_cross_entropy": lambda: own.softmax_cross_entropy(p(), p()),
        "softmax_cross_entropy, smooth": lambda: own.softmax_cross_entropy(p((3, 4)), p((3, 4)), label_smoothing=.1),
        "softmax_cross_entropy, unknown": lambda: own.softmax_cross_entropy(p((3, None)), p((3, None)), label_smoothing=.1),
        "sparse_softmax_cross_entropy": lambda: own.sparse_softmax_cross_entropy(p((None,), "int64"), p()),
        "sparse_softmax_cross_entropy, columns": lambda: own.sparse_softmax_cross_entropy(p((3, 1), "int64"), p((3, 4)), weights=p((3, 1))),
        "total": lambda: (own.mean_squared_error(p(), p()), own.log_loss(p(), p()), own.get_total_loss()),
        "compute_weighted_loss": lambda: own.compute_weighted_loss(p(), p((None, 1))),
        "compute_weighted_loss, double": lambda: own.compute_weighted_loss(p((3,), "float64"), 0.5),
    }


def metrics(tf, p):
    own = tf.compat.v1.metrics

    def integers():
        return p((3,), "int32")
    return {
        "mean": lambda: own.mean(p()),
        "mean, weights": lambda: own.mean(p((3, 4)), weights=p((3, 1)), name="mine"),
        "two means": lambda: (own.mean(p()), own.mean(p())),
        "accuracy": lambda: own.accuracy(p((None,), "int64"), p((None,), "int64")),
        "accuracy, weights": lambda: own.accuracy(integers(), integers(), p((3,))),
        "mean_absolute_error": lambda: own.mean_absolute_error(p(), p()),
        "mean_squared_error": lambda: own.mean_squared_error(p((3, 4)), p((3, 4)), p((3, 4))),
        "root_mean_squared_error": lambda: own.root_mean_squared_error(p((3, 4)), p((3, 4))),
        "mean_relative_error": lambda: own.mean_relative_error(p((3, 4)), p((3, 4)), p((3, 4))),
        "mean_cosine_distance": lambda: own.mean_cosine_distance(p((3, 4)), p((3, 4)), 1),
        "percentage_below": lambda: own.percentage_below(p((3, 4)), .5),
        "mean_tensor": lambda: own.mean_tensor(p((3, 4))),
        "mean_tensor, weights": lambda: own.mean_tensor(p((3, 4)), p((3, 4))),
        "true_positives": lambda: own.true_positives(integers(), integers()),
        "false_positives": lambda: own.false_positives(p((3,), "bool"), p((3,), "bool"), p((3,))),
        "true_negatives": lambda: own.true_negatives(integers(), integers()),
        "false_negatives": lambda: own.false_negatives(integers(), integers(), updates_collections=["other"]),
        "precision": lambda: own.precision(integers(), integers(), updates_collections="other"),
        "recall": lambda: own.recall(integers(), integers(), p((3,)), metrics_collections=["other", "losses"]),
        "auc": lambda: own.auc(p((3,)), p((3,))),
        "auc, PR": lambda: own.auc(p((3,)), p((3,)), p((3,)), num_thresholds=5, curve="PR", summation_method="minoring"),
        "auc, thresholds": lambda: own.auc(p((3,)), p((3,)), thresholds=[.7, .2], summation_method="majoring"),
        "precision_at_thresholds": lambda: own.precision_at_thresholds(p((3,)), p((3,)), [.2, .5]),
        "recall_at_thresholds": lambda: own.recall_at_thresholds(p((3,)), p((3,)), [.2, .5], p((3,))),
        "true_positives_at_thresholds": lambda: own.true_positives_at_thresholds(p((3,)), p((3,)), [.2, .5]),
        "false_negatives_at_thresholds": lambda: own.false_negatives_at_thresholds(p((3,)), p((3,)), [.2, .5]),
        "mean_iou": lambda: own.mean_iou(integers(), integers(), 3),
        "mean_iou, weights": lambda: own.mean_iou(integers(), integers(), 3, p((3,))),
        "mean_per_class_accuracy": lambda: own.mean_per_class_accuracy(integers(), integers(), 3),
        "mean_per_class_accuracy, weights": lambda: own.mean_per_class_accuracy(integers(), integers(), 3, p((3,))),
    }


def functions(tf, p):
    v1, nn, cells = tf.compat.v1, tf.compat.v1.nn, tf.compat.v1.nn.rnn_cell

    def run(cell, **more):
        with v1.variable_scope("s", initializer=v1.constant_initializer(.3)):
            found = tf.nest.flatten(nn.dynamic_rnn(cell, p((3, 2, 4)), dtype=tf.float32, **more))
        return [tf.identity(value, name="found") for value in found]

    def scoped(layer, *args, **kwargs):
        with v1.variable_scope("s", initializer=v1.constant_initializer(.3)):
            return layer(*args, **kwargs)
    return {
        "xw_plus_b": lambda: (nn.xw_plus_b(p(), p((4, 2)), p((2,))), nn.xw_plus_b(p(), p((4, 2)), p((2,)), name="mine")),
        "relu_layer": lambda: nn.relu_layer(p(), p((4, 2)), p((2,))),
        "crelu": lambda: nn.crelu(p()),
        "fused_batch_norm": lambda: nn.fused_batch_norm(p((2, 3, 3, 4)), p((4,)), p((4,)))[:3],
        "fused_batch_norm, not training": lambda: nn.fused_batch_norm(p((2, 3, 3, 4)), p((4,)), p((4,)), p((4,)), p((4,)), is_training=False)[0],
        "where": lambda: (v1.where(p((3,), "bool"), p((3, 4)), p((3, 4))), v1.where(p((3, 4), "bool"), p((3, 4)), p((3, 4)), name="mine")),
        "where, one": lambda: v1.where(p((3, 4), "bool")),
        "clip_by_average_norm": lambda: v1.clip_by_average_norm(p((3, 4)), .05),
        "sparse_to_dense": lambda: (v1.sparse_to_dense([1, 3], [5], p((2,))), v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], 7, 1)),
        "linear_cosine_decay": lambda: v1.train.linear_cosine_decay(.1, p((), "int64"), 10),
        "forms": lambda: (v1.reduce_sum(p(), reduction_indices=1, keep_dims=True), v1.argmin(p((3, 4)), 1), v1.zeros_like(tensor=p((2,))),
                          v1.gather(p((3, 4)), [1]), v1.shape(p((2,))),
                          v1.matrix_transpose(p((2, 3))), v1.verify_tensor_all_finite(p((2,)), "bad"), v1.arg_max(p((3, 4)), dimension=0)),
        "reverse_sequence": lambda: (v1.reverse_sequence(p((3, 4)), [1, 0, 3], 1), v1.reverse_sequence(p((3, 4)), p((4,), "int64") % 3, seq_dim=0, batch_dim=1, name="mine"),
                                     v1.reverse_sequence(p(), p((3,), "int32") % 3, seq_axis=1, batch_axis=0)),
        "texts": lambda: (v1.substr("hello", 1, 3), tf.identity(v1.reduce_join([["a", "b"]], 1), name="joined"), v1.string_to_number(["1.5"]), v1.decode_raw("ab", tf.uint8)),
        "dense in a scope": lambda: scoped(v1.layers.dense, p(), 2, activation="relu"),
        "conv2d in a scope": lambda: scoped(v1.layers.conv2d, p((3, 4, 4, 2)), 2, 3, bias_initializer="ones"),
        "separable_conv2d in a scope": lambda: scoped(v1.layers.separable_conv2d, p((3, 4, 4, 2)), 2, 3),
        "batch_normalization in a scope": lambda: scoped(v1.layers.batch_normalization, p((3, 4, 4, 2)), beta_initializer=None),
        "BasicRNNCell": lambda: run(cells.BasicRNNCell(2)),
        "GRUCell": lambda: run(cells.GRUCell(2, activation=tf.nn.relu)),
        "LSTMCell": lambda: run(cells.LSTMCell(2), sequence_length=[1, 2, 1]),
        "LSTMCell, all": lambda: run(cells.LSTMCell(3, use_peepholes=True, cell_clip=.5, num_proj=2, proj_clip=.3, forget_bias=.5, activation="sigmoid")),
        "BasicLSTMCell, joined": lambda: run(cells.BasicLSTMCell(2, state_is_tuple=False)),
    }


FAMILIES = {"losses": losses, "metrics": metrics, "functions": functions}


def _value(value):
    value = np.asarray(value)
    return [v.decode() for v in value.reshape([-1])] if value.dtype.kind in "OS" else value.tolist()


def shown(tf, family, name):
    """The names of what a case gives, its values after each of two runs, and how many members collections have."""
    v1 = tf.compat.v1

    def p(shape=(None, 4), dtype="float32"):
        return v1.placeholder(dtype, shape)
    with tf.Graph().as_default() as graph:
        found = tf.nest.flatten(FAMILIES[family](tf, p)[name]())
        random, feeds = np.random.RandomState(3), {}
        for operation in graph.get_operations():
            if operation.type == "Placeholder":
                tensor = operation.outputs[0]
                shape, kind = [3 if d is None else d for d in tensor.shape.as_list()], tensor.dtype.name
                feeds[tensor] = random.rand(*shape) if kind.startswith("float") else random.randint(0, 2 if kind == "bool" else 3, shape)
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            values = [_value(session.run(value, feeds)) for _ in range(2) for value in found[::-1]]
        variables = sorted(v.name for v in v1.global_variables() + v1.local_variables())
        counts = {key: len(v1.get_collection(key)) for key in ("losses", "other", "metric_variables", "trainable_variables")}
    return {"names": [value.name for value in found], "values": values, "variables": variables, "counts": counts}
