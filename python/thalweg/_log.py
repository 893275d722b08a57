"""Warnings as TensorFlow words them, through the logger "tensorflow"."""
import logging
import sys


class _Handler(logging.StreamHandler):
    """To where sys.stderr goes at that time."""

    stream = property(lambda self: sys.stderr, lambda self, value: None)


_logger = logging.getLogger("tensorflow")
if not _logger.handlers:
    _handler = _Handler()
    _handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    _logger.addHandler(_handler)
    _logger.propagate = False
_seen = {}


def warning(message, *args):
    _logger.warning(message, *args)


def message(level, text):
    """What the library has to say."""
    _logger.log(getattr(logging, level, logging.WARNING), "%s", text)


def warn_dtype(what, dtype):
    """A tensor that can't be differentiated was watched; the first five are told."""
    _seen[what] = _seen.get(what, 0) + 1
    if _seen[what] <= 5:
        warning("The dtype of the %s tensor must be floating (e.g. tf.float32), got tf.%s", what, dtype)


def warn_missing(names):
    warning("Gradients do not exist for variables %s when minimizing the loss. If you're using `model.compile()`, "
            "did you forget to provide a `loss` argument?", names)
