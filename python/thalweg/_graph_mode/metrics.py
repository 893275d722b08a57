"""tf.compat.v1.metrics: each is a pair of tensors, the value so far and the operation that takes in a batch and gives the new value. What is
counted stands in local variables of the graph."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keys = _variables.GraphKeys


def _local(name, shape=(), dtype=tf.float32):
    """A local variable of zeros."""
    return _v1.Variable(lambda: tf.zeros(shape, dtype), trainable=False, collections=[_keys.LOCAL_VARIABLES, _keys.METRIC_VARIABLES], name=name)


def _ratio(one, other, name):
    """one / other, 0 where other is not positive."""
    return tf.math.divide_no_nan(one, tf.maximum(other, tf.zeros_like(other)), name=name)


def _collected(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        _v1.add_to_collections(metrics_collections, value)
    if updates_collections:
        _v1.add_to_collections(updates_collections, update)
    return value, update


def _refuse_eager(name):
    if _core.executing_eagerly():
        raise RuntimeError("tf.metrics.%s is not supported when eager execution is enabled." % name)


def _floats(*values):
    return [None if v is None else tf.cast(v, tf.float32) for v in values]


def _matched(labels, predictions):
    """Both of one rank: a last dimension of 1 that only one of them has is left out."""
    labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
    a, b = labels.shape.rank, predictions.shape.rank
    if a is not None and b is not None and a == b + 1:
        labels = tf.squeeze(labels, [-1])
    elif a is not None and b is not None and b == a + 1:
        predictions = tf.squeeze(predictions, [-1])
    return labels, predictions


def _wide(weights, values):
    """The weights for every element of the values."""
    weights = tf.cast(weights, tf.float32)
    if weights.shape.rank is not None and values.shape.rank is not None and weights.shape.rank and weights.shape.rank + 1 == values.shape.rank:
        weights = tf.expand_dims(weights, -1)
    return weights * tf.ones_like(tf.cast(values, tf.float32))


def _mean(values, weights, metrics_collections, updates_collections, name, usual):
    with _v1.variable_scope(name, usual, (values, weights)):
        values = tf.cast(values, tf.float32)
        total, count = _local("total"), _local("count")
        if weights is None:
            number = tf.cast(tf.size(values), tf.float32)
        else:
            weights = _wide(weights, values)
            values, number = values * weights, tf.reduce_sum(weights)
        more = total.assign_add(tf.reduce_sum(values))
        with _v1.control_dependencies([values]):
            counted = count.assign_add(number)
        value = _ratio(total, count, "value")
        update = _ratio(more, counted, "update_op")
        return _collected(value, update, metrics_collections, updates_collections)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of all values, weighted."""
    _refuse_eager("mean")
    return _mean(values, weights, metrics_collections, updates_collections, name, "mean")


def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How often predictions are the labels."""
    _refuse_eager("accuracy")
    labels, predictions = _matched(labels, predictions)
    if labels.dtype != predictions.dtype:
        predictions = tf.cast(predictions, labels.dtype)
    return _mean(tf.cast(tf.equal(predictions, labels), tf.float32), weights, metrics_collections, updates_collections, name or "accuracy", "accuracy")


def _error(usual, of_elements, root=False):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _refuse_eager(usual)
        labels, predictions = _floats(*_matched(labels, predictions))
        if root:
            value, update = _mean(of_elements(labels, predictions), weights, None, None, None, name or usual)
            return _collected(tf.sqrt(value), tf.sqrt(update), metrics_collections, updates_collections)
        return _mean(of_elements(labels, predictions), weights, metrics_collections, updates_collections, name or usual, usual)
    metric.__name__, metric.__doc__ = usual, "The mean over all elements."
    return metric


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of |labels - predictions| / normalizer."""
    _refuse_eager("mean_relative_error")
    labels, predictions, normalizer = _floats(labels, predictions, normalizer)
    errors = tf.where(tf.equal(normalizer, 0.0), tf.zeros_like(labels), tf.abs(labels - predictions) / normalizer)
    return _mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error", "mean_relative_error")


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """1 - the mean of the products along a dimension."""
    _refuse_eager("mean_cosine_distance")
    labels, predictions = _floats(labels, predictions)
    similar = tf.reduce_sum(labels * predictions, [dim], keepdims=True)
    value, update = _mean(similar, weights, None, None, name or "mean_cosine_distance", "mean_cosine_distance")
    return _collected(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How many values are below a threshold."""
    _refuse_eager("percentage_below")
    return _mean(tf.cast(tf.less(values, threshold), tf.float32), weights, metrics_collections, updates_collections, name or "percentage_below_threshold",
                 "percentage_below_threshold")


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of every element of the values."""
    _refuse_eager("mean_tensor")
    with _v1.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, tf.float32)
        total, count = _local("total_tensor", values.shape), _local("count_tensor", values.shape)
        number = tf.ones_like(values)
        if weights is not None:
            number = _wide(weights, values)
            values = values * number
        more = total.assign_add(values)
        with _v1.control_dependencies([values]):
            counted = count.assign_add(number)
        return _collected(_ratio(total, count, "value"), _ratio(more, counted, "update_op"), metrics_collections, updates_collections)


# ---- counts of right and wrong answers ----

def _count(found, weights, name):
    """A local variable that counts; gives its value and the operation that adds."""
    with _v1.variable_scope(None, name):
        variable = _local("count")
        found = tf.cast(found, tf.float32)
        if weights is not None:
            found = found * _wide(weights, found)
        return tf.identity(variable), variable.assign_add(tf.reduce_sum(found))


_KINDS = {"true_positives": (True, True), "false_positives": (False, True), "true_negatives": (False, False), "false_negatives": (True, False)}


def _kind(kind, labels, predictions, weights):
    label, prediction = _KINDS[kind]
    return _count(tf.logical_and(tf.equal(labels, label), tf.equal(predictions, prediction)), weights, kind)


def _booleans(labels, predictions):
    labels, predictions = _matched(labels, predictions)
    return tf.cast(labels, tf.bool), tf.cast(predictions, tf.bool)


def _counting(kind):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _refuse_eager(kind)
        with _v1.variable_scope(name, kind, (predictions, labels, weights)):
            labels, predictions = _booleans(labels, predictions)
            found = tf.logical_and(tf.equal(labels, _KINDS[kind][0]), tf.equal(predictions, _KINDS[kind][1]))
            variable = _local("count")
            found = tf.cast(found, tf.float32)
            if weights is not None:
                found = found * _wide(weights, found)
            return _collected(tf.identity(variable), variable.assign_add(tf.reduce_sum(found)), metrics_collections, updates_collections)
    metric.__name__, metric.__doc__ = kind, "The number of %s." % kind.replace("_", " ")
    return metric


def _of_two(name, other):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _refuse_eager(metric.__name__)
        with _v1.variable_scope(name, metric.__name__, (predictions, labels, weights)):
            labels, predictions = _booleans(labels, predictions)
            right, right_update = _kind("true_positives", labels, predictions, weights)
            wrong, wrong_update = _kind(other, labels, predictions, weights)
            value = _ratio(right, right + wrong, "value")
            update = _ratio(right_update, right_update + wrong_update, "update_op")
            return _collected(value, update, metrics_collections, updates_collections)
    metric.__name__, metric.__doc__ = name, "true positives / (true positives + %s)" % other.replace("_", " ")
    return metric


# ---- by thresholds ----

def _at_thresholds(labels, predictions, thresholds, weights, kinds):
    """Counts of the kinds at every threshold: values and updates by kind."""
    predictions = tf.reshape(tf.cast(predictions, tf.float32), [1, -1])
    labels = tf.reshape(tf.cast(labels, tf.bool), [1, -1])
    places = tf.expand_dims(tf.constant(thresholds, tf.float32), 1)
    positive = tf.greater(predictions, places)
    weight = None if weights is None else tf.reshape(tf.cast(weights, tf.float32) * tf.ones_like(tf.cast(labels, tf.float32)), [1, -1])
    values, updates = {}, {}
    for kind in kinds:
        label, prediction = _KINDS[kind]
        found = tf.cast(tf.logical_and(tf.equal(positive, prediction), tf.equal(labels, label)), tf.float32)
        if weight is not None:
            found = found * weight
        variable = _local(kind, [len(thresholds)])
        values[kind], updates[kind] = tf.identity(variable), variable.assign_add(tf.reduce_sum(found, 1))
    return values, updates


def _spread(count):
    """Thresholds from a bit below 0 to a bit above 1."""
    return [0.0 - 1e-7] + [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)] + [1.0 + 1e-7]


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None, curve="ROC", name=None,
        summation_method="trapezoidal", thresholds=None):
    """The area under the curve."""
    _refuse_eager("auc")
    if curve not in ("ROC", "PR"):
        raise ValueError("curve must be either ROC or PR, %s unknown" % curve)
    if summation_method not in ("trapezoidal", "minoring", "majoring"):
        raise NotImplementedError("tf.compat.v1.metrics.auc: the summation_method %r is not supported" % summation_method)
    places = _spread(num_thresholds) if thresholds is None else [0.0 - 1e-7] + sorted(thresholds) + [1.0 + 1e-7]
    with _v1.variable_scope(name, "auc", (labels, predictions, weights)):
        values, updates = _at_thresholds(labels, predictions, places, weights, ("true_positives", "false_negatives", "true_negatives", "false_positives"))

        def area(counts, title):
            tp, fn, tn, fp = (tf.convert_to_tensor(counts[k]) for k in ("true_positives", "false_negatives", "true_negatives", "false_positives"))
            recall = (tp + 1e-6) / (tp + fn + 1e-6)
            x, y = (fp / (fp + tn + 1e-6), recall) if curve == "ROC" else (recall, (tp + 1e-6) / (tp + fp + 1e-6))
            heights = {"trapezoidal": lambda a, b: (a + b) / 2.0, "minoring": tf.minimum, "majoring": tf.maximum}[summation_method](y[:-1], y[1:])
            return tf.reduce_sum((x[:-1] - x[1:]) * heights, name=title)
        return _collected(area(values, "value"), area(updates, "update_op"), metrics_collections, updates_collections)


def _by_thresholds(usual, kinds, of, scope=None):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None):
        _refuse_eager(usual)
        with _v1.variable_scope(name, scope or usual, (predictions, labels, weights)):
            values, updates = _at_thresholds(labels, predictions, list(thresholds), weights, kinds)
            title = usual.replace("_at_thresholds", "")
            value, update = of(*(values[k] for k in kinds), title + "_value"), of(*(updates[k] for k in kinds), title + "_update_op")
            return _collected(value, update, metrics_collections, updates_collections)
    metric.__name__, metric.__doc__ = usual, "At every threshold."
    return metric


# ---- confusion matrices ----

def _confusion(labels, predictions, num_classes, weights):
    matrix = _local("total_confusion_matrix", [num_classes, num_classes], tf.float64)
    labels, predictions = (tf.reshape(tf.cast(t, tf.int64), [-1]) for t in (labels, predictions))
    if weights is not None:
        weights = tf.reshape(tf.cast(weights, tf.float64), [-1])
    batch = tf.math.confusion_matrix(labels, predictions, num_classes, weights=weights, dtype=tf.float64)
    return matrix, matrix.assign_add(batch)


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean over classes of intersection over union."""
    _refuse_eager("mean_iou")
    with _v1.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        matrix, update = _confusion(labels, predictions, num_classes, weights)
        rows, columns = tf.cast(tf.reduce_sum(matrix, 0), tf.float32), tf.cast(tf.reduce_sum(matrix, 1), tf.float32)
        both = tf.cast(tf.linalg.diag_part(matrix), tf.float32)
        union = rows + columns - both
        present = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), tf.float32))
        each = both / tf.where(tf.greater(union, 0), union, tf.ones_like(union))
        value = tf.where(tf.greater(present, 0), tf.reduce_sum(each) / present, 0.0, name="mean_iou")
        return _collected(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean over classes of the accuracy in each."""
    _refuse_eager("mean_per_class_accuracy")
    with _v1.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels, predictions = (tf.reshape(tf.cast(t, tf.int64), [-1]) for t in (labels, predictions))
        total, count = _local("total", [num_classes]), _local("count", [num_classes])
        weight = tf.ones_like(labels, tf.float32) if weights is None else tf.reshape(tf.cast(weights, tf.float32), [-1])
        right = tf.cast(tf.equal(labels, predictions), tf.float32) * weight
        counted = count.assign_add(tf.math.unsorted_segment_sum(weight if weights is not None else tf.ones_like(right), labels, num_classes))
        more = total.assign_add(tf.math.unsorted_segment_sum(right, labels, num_classes))
        value = tf.reduce_mean(_ratio(total, count, None), name="mean_accuracy")
        return _collected(value, _ratio(more, counted, "update_op"), metrics_collections, updates_collections)



def install():
    """Fills tf.compat.v1.metrics."""
    import sys
    module = _v1.metrics = type(sys)(_v1.__name__ + ".metrics")
    sys.modules[module.__name__] = module
    own = [mean, accuracy, mean_relative_error, mean_cosine_distance, percentage_below, mean_tensor, auc, mean_iou, mean_per_class_accuracy,
           _error("mean_absolute_error", lambda a, b: tf.abs(b - a)), _error("mean_squared_error", lambda a, b: tf.math.squared_difference(b, a)),
           _error("root_mean_squared_error", lambda a, b: tf.math.squared_difference(b, a), root=True),
           _of_two("precision", "false_positives"), _of_two("recall", "false_negatives"),
           _by_thresholds("precision_at_thresholds", ("true_positives", "false_positives"), lambda tp, fp, title: tf.divide(tp, 1e-7 + tp + fp, name=title)),
           _by_thresholds("recall_at_thresholds", ("true_positives", "false_negatives"), lambda tp, fn, title: tf.divide(tp, 1e-7 + tp + fn, name=title))]
    own += [_counting(kind) for kind in _KINDS]
    own += [_by_thresholds(kind + "_at_thresholds", (kind,), lambda count, title: count, kind) for kind in _KINDS]
    for function in own:
        setattr(module, function.__name__, function)
