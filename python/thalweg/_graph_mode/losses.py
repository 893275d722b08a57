"""tf.compat.v1.losses: what is asked of the graph's collections. The losses themselves are rows (src/v1/losses.c)."""
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


def add_loss(loss, loss_collection=_keys.LOSSES):
    """Adds a loss to a collection of the default graph."""
    if loss_collection and not _core.executing_eagerly():
        _v1.add_to_collection(loss_collection, loss)


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
    losses = get_losses(scope=scope) + (get_regularization_losses(scope=scope) if add_regularization_losses else [])
    return tf.add_n([_tensor(loss) for loss in losses], name=name)


def _tensor(loss):
    return loss._as_graph_element() if hasattr(loss, "_as_graph_element") else loss
