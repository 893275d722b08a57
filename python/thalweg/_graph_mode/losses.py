"""tf.compat.v1.losses: each is the loss of every element, weighted and reduced (src/v1/losses.c), and a member of a collection."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keys = _variables.GraphKeys


class Reduction:
    """How the losses of a batch become one."""
    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        """All of them."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        """ValueError unless it is one of them."""
        if key not in cls.all():
            raise ValueError("Invalid Reduction Key %s. Key should be one of %s." % (key, cls.all()))


_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


def add_loss(loss, loss_collection=_keys.LOSSES):
    """Adds a loss to a collection of the default graph."""
    if loss_collection and not _core.executing_eagerly():
        _v1.add_to_collection(loss_collection, loss)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """The losses weighted and reduced."""
    Reduction.validate(reduction)
    with _v1.name_scope(scope or "weighted_loss"):
        loss = _v1.losses._compute_weighted_loss(losses, weights, reduction)
        if reduction not in (Reduction.NONE, Reduction.SUM) and not _core.executing_eagerly():
            loss = tf.identity(loss, name="value")
    add_loss(loss, loss_collection)
    return loss


def _pair(labels, predictions, what="predictions"):
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    if predictions is None:
        raise ValueError("Argument `%s` must not be None." % what)
    predictions = tf.cast(predictions, tf.float32)
    labels = tf.cast(labels, tf.float32)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError("Shapes %s and %s are incompatible" % (predictions.shape, labels.shape))
    return labels, predictions


def _loss(name, of_elements):
    def loss(labels, predictions, weights=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
        with _v1.name_scope(scope or name) as scope:
            labels, predictions = _pair(labels, predictions)
            return compute_weighted_loss(of_elements(labels, predictions), weights, scope, loss_collection, reduction)
    loss.__name__, loss.__doc__ = name, of_elements.__doc__
    return loss


def _absolute(labels, predictions):
    """|predictions - labels|."""
    return tf.abs(predictions - labels)


def _squared(labels, predictions):
    """(predictions - labels)^2."""
    return tf.math.squared_difference(predictions, labels)


absolute_difference = _loss("absolute_difference", _absolute)
mean_squared_error = _loss("mean_squared_error", _squared)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """max(0, 1 - (2 labels - 1) logits)."""
    with _v1.name_scope(scope or "hinge_loss") as scope:
        labels, logits = _pair(labels, logits, "logits")
        losses = tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """Half the square of errors up to delta, linear beyond."""
    with _v1.name_scope(scope or "huber_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        error = tf.abs(predictions - labels)
        quadratic = tf.minimum(error, tf.constant(delta, dtype=tf.float32))
        losses = 0.5 * quadratic * quadratic + delta * (error - quadratic)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """-labels log(predictions) - (1 - labels) log(1 - predictions)."""
    with _v1.name_scope(scope or "log_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = -labels * tf.math.log(predictions + epsilon) - (1.0 - labels) * tf.math.log(1.0 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO, dim=None):
    """1 - the sum of labels * predictions along an axis."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    with _v1.name_scope(scope or "cosine_distance_loss") as scope:
        labels, predictions = _pair(labels, predictions)
        losses = 1.0 - tf.reduce_sum(predictions * labels, axis=axis, keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=_keys.LOSSES):
    """The mean over pairs of elements of the squared difference between their errors."""
    with _v1.name_scope(scope or "mean_pairwise_squared_error"):
        labels, predictions = _pair(labels, predictions)
        weights = tf.cast(weights, tf.float32)
        errors = predictions - labels
        axes = list(range(1, errors.shape.rank))
        present = tf.reduce_sum(tf.cast(tf.not_equal(weights, 0), tf.float32) * tf.ones_like(errors), axes, keepdims=True)
        squares = tf.reduce_sum(tf.square(errors), axes, keepdims=True)
        first = 2.0 * tf.math.divide_no_nan(squares, tf.maximum(present - 1, 0))
        whole = tf.square(tf.reduce_sum(errors, axes, keepdims=True))
        second = 2.0 * tf.math.divide_no_nan(whole, tf.maximum(present * (present - 1), 0))
        total = tf.reduce_sum((first - second) * weights)
        loss = tf.where(tf.reduce_sum(present) > 0, total, tf.zeros_like(total), name="value")
    add_loss(loss, loss_collection)
    return loss


def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """The cross-entropy of independent classes."""
    with _v1.name_scope(scope or "sigmoid_cross_entropy_loss") as scope:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """The cross-entropy of distributions over classes."""
    with _v1.name_scope(scope or "softmax_cross_entropy_loss") as scope:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = labels.shape[-1]
            labels = labels * (1 - label_smoothing) + label_smoothing / classes
        losses = tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(labels), logits=logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection=_keys.LOSSES, reduction=_BY_NONZERO):
    """The cross-entropy of distributions with classes given by number."""
    with _v1.name_scope(scope or "sparse_softmax_cross_entropy_loss") as scope:
        labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
        if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
            labels = tf.squeeze(labels, [-1])
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank and labels.shape.rank and weights.shape.rank == labels.shape.rank + 1:
            weights = tf.squeeze(weights, [-1])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def get_losses(scope=None, loss_collection=_keys.LOSSES):
    """The losses of the default graph."""
    return _v1.get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The regularization losses of the default graph."""
    return _v1.get_collection(_keys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the regularization losses."""
    losses = get_regularization_losses(scope)
    return tf.add_n([_tensor(loss) for loss in losses], name=name) if losses else tf.constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return tf.add_n([_tensor(loss) for loss in losses], name=name)


def _tensor(loss):
    return loss._as_graph_element() if hasattr(loss, "_as_graph_element") else loss


def install():
    """Fills tf.compat.v1.losses."""
    for value in (Reduction, add_loss, compute_weighted_loss, absolute_difference, mean_squared_error, hinge_loss, huber_loss, log_loss,
                  cosine_distance, sigmoid_cross_entropy, softmax_cross_entropy, sparse_softmax_cross_entropy, mean_pairwise_squared_error, get_losses,
                  get_regularization_losses, get_regularization_loss, get_total_loss):
        setattr(_v1.losses, value.__name__, value)
