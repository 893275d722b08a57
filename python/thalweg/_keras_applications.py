"""keras.applications: functions with Keras's arguments over the table of networks."""
import inspect
import types

import thalweg as tf

_DEFAULTS = {"include_top": True, "weights": "imagenet", "input_tensor": None, "input_shape": None, "pooling": None, "classes": 1000,
             "classifier_activation": "softmax", "alpha": 1.0, "depth_multiplier": 1, "dropout": 0.001,
             "minimalistic": False, "dropout_rate": 0.2, "include_preprocessing": True, "model_name": None}
_MODES = {"vgg16": "caffe", "vgg19": "caffe", "resnet": "caffe", "resnet50": "caffe", "densenet": "torch", "efficientnet": None, "efficientnet_v2": None,
          "mobilenet_v3": None, "convnext": None, "regnet": None, "resnet_rs": None}  # the others: tf; None: the networks do it themselves


def _network(name, arguments):
    names = arguments.split()
    defaults = {**_DEFAULTS, "model_name": name.lower().replace("convnext", "convnext_")}
    parameters = [inspect.Parameter(a, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults[a]) for a in names if a[:2] != "**"]
    more = names[-1][2:] if names[-1][:2] == "**" else ""
    if names[-1][:2] == "**":
        parameters.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    signature = inspect.Signature(parameters)

    def make(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError("%s() %s" % (name, e)) from None
        bound.apply_defaults()
        given = bound.arguments
        others = given.pop("kwargs", {})
        given.setdefault("classifier_activation", others.pop("classifier_activation", "softmax"))
        if more in others:
            given[more] = others.pop(more)
        elif more and others:
            raise TypeError("EfficientNet() got an unexpected keyword argument '%s'" % next(iter(others)))
        if others:
            raise ValueError("Unknown argument(s): %s" % others)
        return tf.keras.applications._model(name, **given)
    make.__name__ = make.__qualname__ = name
    make.__signature__ = signature
    make.__doc__ = "The network %s, as keras.applications has it." % name
    return make


def _preprocess(x, data_format, mode):
    if mode is None:
        return x
    if tf.is_tensor(x) or isinstance(x, tf.keras.__internal__.KerasTensor):
        return tf.keras.applications.imagenet_utils._preprocess(x, data_format, mode)
    import numpy
    x = numpy.asarray(x)
    result = tf.keras.applications.imagenet_utils._preprocess(x, data_format, mode).numpy()
    if not issubclass(x.dtype.type, numpy.floating):
        return result
    if mode == "caffe":  # blue, green, red: a view of the same numbers
        x = x[..., ::-1] if data_format != "channels_first" else x[::-1] if x.ndim == 3 else x[:, ::-1]
    x[...] = result  # Keras writes over arrays of floats
    return x


def preprocess_input(x, data_format=None, mode="caffe"):
    """Pictures of 0 to 255 in the range that networks of this kind were trained on."""
    return _preprocess(x, data_format, mode)


def decode_predictions(preds, top=5):
    """Per picture the classes of ImageNet with the highest scores: (code, name, score)."""
    found = tf.keras.applications.imagenet_utils._decode(preds, top)
    return [[(code, name, row[index]) for code, name, index, _ in best] for row, best in zip(preds, found)]


def _preprocessing(module):
    mode = _MODES.get(module, "tf")

    def preprocess_input(x, data_format=None):
        return _preprocess(x, data_format, mode)
    preprocess_input.__doc__ = globals()["preprocess_input"].__doc__
    return preprocess_input


def _table():
    prefix = tf.keras.applications.__name__ + "."
    table = {}
    for line in tf.keras.applications._list().splitlines():
        name, modules, arguments = line.split("|")
        table[name] = _network(name, arguments)
        for place in modules.split():
            bare = place.endswith("-")
            place = place.rstrip("-")
            if place not in table:
                module = table[place] = types.ModuleType(prefix + place, "keras.applications." + place)
                module.preprocess_input, module.decode_predictions = _preprocessing(place), decode_predictions
            if not bare:
                setattr(table[place], name, table[name])
    return table


APPLICATIONS = _table()
