"""Exceptions out of layers in Keras's words: which layer it was, what was said, and what the layer was called with. The innermost layer tells."""
import inspect

import thalweg as tf


def with_words(error, head, tail):
    """The exception with words around its own; itself, if a layer further inside has told already."""
    if getattr(error, "_thalweg_told", False):
        return error
    of_op = isinstance(error, tf.errors.OpError)
    text = head + str(error.message if of_op else error.args[0] if error.args else "") + tail
    try:
        made = type(error)(error.node_def, error.op, text) if of_op else type(error)(text)
    except TypeError:  # a class whose objects are made of something else
        made = RuntimeError(text)
    made._thalweg_told = True
    return made


def shown(value):
    """A tensor as Keras shows it among arguments."""
    return "tf.Tensor(shape=%s, dtype=%s)" % (value.shape, value.dtype.name) if isinstance(value, tf.Tensor) else value


def of_call(error, layer, arguments, keywords):
    """What the layer's own `call` raised, with the arguments it was called with."""
    signature = inspect.signature(layer.call)
    try:
        bound = signature.bind(*arguments, **keywords).arguments
    except TypeError:  # it is about the arguments themselves
        return error
    lines = []
    for name, parameter in signature.parameters.items():
        value = tf.nest.map_structure(shown, bound[name]) if name in bound else parameter.default
        lines.append("\n  • %s=%s" % (name, value))
    if not lines:
        return error
    whose = "layer '%s' (type %s)" % (layer.name, type(layer).__name__)
    return with_words(error, "Exception encountered when calling %s.\n\n" % whose, "\n\nCall arguments received by %s:%s" % (whose, "".join(lines)))
