"""tf.compat.v1.metrics: rows (src/v1/metrics*.c), but for those whose update is the change of a variable itself."""
import thalweg as tf

_v1 = tf.compat.v1
_rows = _v1.metrics


def _changed(parts, updates_collections):
    """The value, and the operation that adds a batch's part to the variable: it stands in the value's scope."""
    value, variable, change = parts
    with tf.name_scope(value.op.name.rpartition("/")[0] + "/"):
        update = variable.assign_add(change)
    if updates_collections:
        _v1.add_to_collections(updates_collections, update)
    return value, update


def _counting(kind):
    def metric(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return _changed(_rows._count(kind, labels, predictions, weights, metrics_collections, name), updates_collections)
    metric.__name__, metric.__doc__ = kind, "The number of %s." % kind.replace("_", " ")
    return metric


def _counting_at(kind):
    def metric(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return _changed(_rows._count_at(kind, labels, predictions, list(thresholds), weights, metrics_collections, name), updates_collections)
    metric.__name__, metric.__doc__ = kind + "_at_thresholds", "The number of %s at every threshold." % kind.replace("_", " ")
    return metric


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean over classes of intersection over union."""
    return _changed(_rows._mean_iou(labels, predictions, num_classes, weights, metrics_collections, name), updates_collections)


def install():
    """Puts the names into tf.compat.v1.metrics."""
    kinds = "true_positives", "false_positives", "true_negatives", "false_negatives"
    for function in [mean_iou] + [_counting(kind) for kind in kinds] + [_counting_at(kind) for kind in kinds]:
        setattr(_rows, function.__name__, function)
