"""What a setting does that is changed after its object was made: of every class of config_cases.py, with every argument of its constructor.

`tf` is TensorFlow (tests/golden/settings.py) or thalweg (test_settings.py). A row says whether the attribute can be set, what the config says afterwards, and
what the object gives if it is set before its first use and after it."""
import inspect
import json

import numpy as np

import config_cases as cases

COMMON = ("self", "args", "kwargs", "name", "dtype", "trainable", "dynamic", "layer", "cell", "cells", "backward_layer", "jit_compile", "cache")
NEW = {"units": 5, "noise_shape": (2, 1), "seed": 11, "axis": 1, "axes": 1, "padding": "same", "data_format": "channels_first", "interpolation": "nearest", "rate": 0.6,
       "merge_mode": "ave", "score_mode": "concat", "reduction": "sum", "groups": 1, "strides": (1, 1), "pool_size": (2, 2), "kernel_size": (2, 2),
       "dilation_rate": (1, 1), "output_padding": None, "max_value": 1.5, "weight_decay": 0.05, "clipnorm": 0.1, "clipvalue": 0.05, "global_clipnorm": 0.1,
       "momentum": 0.5, "epsilon": 0.5, "target_shape": (4, 1), "dims": (1, 2), "n": 2, "height": 2, "width": 2, "size": (1, 1), 
       "shared_axes": [1], "equation": "ab,bc->ac", "output_shape": 2, "bias_axes": None, "input_length": 3, "value_dim": 3, "attention_axes": (1,), "mode": "rows",
       "distribution": "truncated_normal", "ema_momentum": 0.5, "ema_overwrite_frequency": 1, "class_id": 0, "top_k": 1, "thresholds": [0.4], "threshold": 0.4,
       "num_thresholds": 5, "summation_method": "majoring", "curve": "ROC", "ignore_class": 0, "target_class_ids": [1], "class_aggregation": "variance_weighted_average",
       "average": "macro", "normalizer": 3.0, "multi_label": True, "num_labels": 2, "label_weights": [1.0], "learning_rate": 0.25, "gamma": 1.0, "alpha": 0.6,
       "warmup_target": 0.3, "warmup_steps": 2, "decay_steps": 7, "boundaries": [1], "values": [0.7, 0.4], "shape": (3,), "initial_accumulator_value": 0.5}
LISTS = ("thresholds", "target_class_ids", "boundaries", "values", "label_weights", "shared_axes")
SIZES = ("strides", "pool_size", "kernel_size", "dilation_rate")
ENDS = {"activation": lambda k: k.activations.exponential, "initializer": lambda k: k.initializers.Constant(0.25), "regularizer": lambda k: k.regularizers.L2(0.5),
        "constraint": lambda k: k.constraints.NonNeg()}


def changed(name, old, one_axis):
    """Another value for an argument; None where it is one of the objects of ENDS."""
    if name.rsplit("_", 1)[-1] in ENDS:
        return None
    if name in ("cropping", "padding") and not isinstance(old, str):
        return (2, 1) if one_axis else ((2, 1), (1, 0))
    if name == "size" and one_axis:
        return 3
    if isinstance(old, bool):
        return not old
    if name in NEW:
        return NEW[name][:1] if one_axis and name in SIZES else NEW[name]
    if isinstance(old, int):
        return old + 1
    return old * 0.5 + 0.25 if isinstance(old, float) else 0.3


def value(tf, name, new):
    """What is set: the value that `changed` gave, also as JSON text has it."""
    end = name.rsplit("_", 1)[-1]
    if end in ENDS:
        return ENDS[end](tf.keras)
    return tuple(value(tf, "", one) for one in new) if isinstance(new, (list, tuple)) and name not in LISTS else new


def number(value):
    """One number of all that a call gave, and how many there are."""
    flat = []

    def walk(part):
        if isinstance(part, (list, tuple)):
            for one in part:
                walk(one)
        elif isinstance(part, dict):
            for one in part.values():
                walk(one)
        elif part is not None:
            flat.append(np.asarray(part, np.float64).ravel())

    walk(value)
    if not flat:
        return [0, 0.0]
    flat = np.concatenate(flat)
    return [len(flat), float("%.6g" % float(np.sum(flat * np.cos(np.arange(len(flat)) * 0.3))))]


def tried(body):
    try:
        return body()
    except Exception as error:  # noqa: BLE001 - its class is the result
        return type(error).__name__


def plain(config):
    return json.loads(json.dumps(config, sort_keys=True, default=lambda x: x.tolist() if hasattr(x, "tolist") else type(x).__name__))


# ---- uses ----

def use_layer(tf, name, made, shapes):
    if shapes is None:
        x = cases.values_for((2, 4), 1)
        state = made.get_initial_state(batch_size=2, dtype="float32")
        return lambda: made(x, state, training=True)
    inputs = [tf.constant(x) for x in cases.inputs_of(name, shapes)]
    if name == "MultiHeadAttention":
        return lambda: made(*inputs, training=True)
    x = inputs if isinstance(shapes, list) else inputs[0]
    return lambda: made(x, training=True) if name in TRAINING else made(x)


TRAINING = {"Dropout", "AlphaDropout", "SpatialDropout1D", "SpatialDropout2D", "GaussianDropout", "GaussianNoise", "BatchNormalization", "Attention",
            "AdditiveAttention", "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional"}


def layer_numbers(tf, made, use):
    """Of the output, the losses, weights as their constraints leave them, and moving averages."""
    tf.random.set_seed(7)
    out = number(use())
    losses = number(made.losses)
    kept = number([w.numpy() for w in made.non_trainable_variables if "moving" in w.name])
    held = number([w.constraint(tf.constant(cases.values_for(w.shape, i))) for i, w in enumerate(made.trainable_variables) if getattr(w, "constraint", None)])
    return [out, losses, held, kept]


def settle(made):
    made.set_weights([np.abs(cases.values_for(w.shape, i)) + 0.1 for i, w in enumerate(made.get_weights())])


def layer_outcome(tf, case, argument, value):
    name, keywords, shapes = case

    def fresh():
        tf.keras.backend.clear_session()
        tf.random.set_seed(7)
        made = getattr(tf.keras.layers, name)(**keywords)
        return made, use_layer(tf, name, made, shapes)

    made, use = fresh()
    row = {"exists": tried(lambda: getattr(made, argument) is None or True) is True, "set": tried(lambda: setattr(made, argument, value))}
    if row["set"] is not None:
        return row
    row["config"] = tried(lambda: plain(made.get_config()))

    def first():
        use()
        if "initializer" not in argument:
            settle(made)
        return layer_numbers(tf, made, use)
    row["before"] = tried(first)
    made, use = fresh()

    def later():
        use()
        settle(made)
        setattr(made, argument, value)
        return layer_numbers(tf, made, use)
    row["after"] = tried(later)
    return row


LABELS = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32)
GUESSES = np.array([[0.1, 0.7, 0.2], [0.45, 0.3, 0.25], [0.3, 0.3, 0.4], [0.6, 0.25, 0.15]], np.float32)


def labels_for(tf, name, keywords):
    if name == "Accuracy":
        return np.array([[1], [2], [3], [4]], np.float32), np.array([[0], [2], [3], [4]], np.float32)
    if name.startswith("Sparse"):
        return np.argmax(LABELS, -1).astype(np.int32), GUESSES
    if name in ("IoU", "MeanIoU"):
        if keywords.get("sparse_y_true") is False or keywords.get("sparse_y_pred") is False:
            return None
        return np.array([0, 1, 2, 1]), np.array([0, 1, 1, 2])
    if name.startswith("OneHot"):
        return None if keywords.get("sparse_y_pred") else (LABELS, GUESSES)
    if name == "MeanRelativeError":
        return None
    return LABELS, GUESSES


def use_object(tf, kind, name, made, keywords):
    x = tf.constant(cases.values_for((3, 4), 1))
    if kind == "losses":
        pair = labels_for(tf, name, keywords)
        return lambda: number(made(*pair))
    if kind == "metrics":
        pair = labels_for(tf, name, keywords)
        if name in ("Mean", "Sum", "MeanTensor"):
            pair = (GUESSES[:, 0] if "shape" not in keywords else GUESSES[:2],)
        if pair is None:
            return None
        return lambda: (made.update_state(*pair), number(made.result()))[1]
    if kind == "optimizers":
        variable = tf.Variable(cases.values_for((3,), 2) + 1.5)

        def step():
            for i in range(2):
                made.apply_gradients([(tf.constant(cases.values_for((3,), i)), variable)])
            return number(variable.numpy())
        return step
    if kind == "schedules":
        return lambda: number([made(3), made(8)])
    if kind == "initializers":
        return lambda: number(made((3, 4)))
    return lambda: number(made(x))


def object_outcome(tf, case, argument, value):
    kind, name, keywords = case

    def fresh():
        tf.keras.backend.clear_session()
        tf.random.set_seed(7)
        made = getattr(cases.module_of(tf, kind), name)(**keywords)
        return made, use_object(tf, kind, name, made, keywords)

    made, use = fresh()
    row = {"exists": tried(lambda: getattr(made, argument) is None or True) is True, "set": tried(lambda: setattr(made, argument, value))}
    if row["set"] is not None:
        return row
    row["config"] = tried(lambda: plain(made.get_config()))
    row["before"] = tried(use) if use else None
    made, use = fresh()

    def later():
        use()
        setattr(made, argument, value)
        return use()
    row["after"] = tried(later) if use else None
    return row


def arguments_of(class_, keywords):
    """The constructor's arguments with the values they have: name -> value."""
    out = {}
    for one in inspect.signature(class_.__init__).parameters.values():
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) and one.name not in COMMON:
            out[one.name] = keywords.get(one.name, None if one.default is one.empty else one.default)
    out.update({name: value for name, value in keywords.items() if name not in COMMON})
    return out


# Layers whose settings are not tried: TensorFlow's process ends on some of them.
UNTRIED = ("3D", "ConvLSTM", "LocallyConnected", "SpectralNormalization")


def every_case(tf):
    """(key, outcome function, case, class, keywords) of all rows, of schedules of learning rates too."""
    for key, name, keywords, shapes in cases.layer_cases(tf):
        if not any(part in name for part in UNTRIED):
            yield "layers." + key, layer_outcome, (name, keywords, shapes), getattr(tf.keras.layers, name), keywords
    for key, kind, name, keywords in cases.object_cases(tf):
        yield key, object_outcome, (kind, name, keywords), getattr(cases.module_of(tf, kind), name), keywords


# ---- callbacks ----

LOSSES = [1.0, 0.9, 0.95, 0.93, 0.91, 0.85, 0.86, 0.87, 0.88, 0.89]
CALLBACKS = [("EarlyStopping", dict(patience=1), dict(patience=3)), ("EarlyStopping", dict(patience=3), dict(patience=1)),
             ("EarlyStopping", dict(patience=2), dict(min_delta=0.2)), ("EarlyStopping", dict(patience=2, min_delta=0.2), dict(min_delta=-0.01)),
             ("EarlyStopping", dict(patience=2), dict(monitor="loss")), ("EarlyStopping", dict(patience=2), dict(baseline=0.5)),
             ("EarlyStopping", dict(patience=1), dict(start_from_epoch=6)), ("EarlyStopping", dict(patience=1), dict(mode="max")),
             ("ReduceLROnPlateau", dict(patience=1), dict(factor=0.25)), ("ReduceLROnPlateau", dict(patience=1), dict(patience=3)),
             ("ReduceLROnPlateau", dict(patience=1), dict(min_lr=0.04)), ("ReduceLROnPlateau", dict(patience=1), dict(cooldown=2)),
             ("ReduceLROnPlateau", dict(patience=1), dict(min_delta=0.5)), ("ReduceLROnPlateau", dict(patience=1), dict(monitor="loss")),
             ("ReduceLROnPlateau", dict(patience=1), dict(mode="max")), ("LearningRateScheduler", dict(schedule=lambda epoch: 0.5), dict(schedule=lambda epoch: 0.25))]


def callback_outcome(tf, name, keywords, changes):
    """Epoch by epoch the learning rate, and where the training was stopped, of losses that are given by hand."""
    k = tf.keras
    k.backend.clear_session()
    model = k.Sequential([k.layers.Dense(1, input_shape=(1,))])
    model.compile(k.optimizers.SGD(0.1), "mse")
    made = getattr(k.callbacks, name)(**keywords)
    for argument, new in changes.items():
        setattr(made, argument, new)
    made.set_model(model)
    model.stop_training = False
    made.on_train_begin()
    rates = []
    for epoch, loss in enumerate(LOSSES):
        made.on_epoch_begin(epoch)
        made.on_epoch_end(epoch, {"val_loss": loss, "loss": 1 - loss})
        rates.append(float("%.6g" % float(model.optimizer.learning_rate.numpy())))
        if model.stop_training:
            break
    return rates
