"""Signatures of rows for inspect and help()."""
import inspect
import re

from thalweg import _core


def split(text, mark=","):
    """The parts of a text between marks that stand in no brackets."""
    parts, depth, last, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        quoted ^= c == "'"
        if quoted:
            continue
        if c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and depth):
            depth -= 1
        elif c == mark and not depth:
            parts.append(text[last:i])
            last = i + 1
    return [p.strip() for p in parts + [text[last:]] if p.strip()]


def default_of(text):
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        pass
    if text[0] in "([" and (not text[1:2].isalpha()):
        return tuple(default_of(t) for t in split(text[1:-1]))
    return text.strip("'").replace("\\t", "\t").replace("\\n", "\n")


def parameters_of(text):
    """inspect.Parameter objects of a row's text: "nn.softmax(logits: tensor, axis: int = -1) -> tensor"."""
    inner = text[text.index("(") + 1:text.rindex(")")]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    out, keyword_rest = [], False
    for part in split(inner):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        m = re.match(r"(\*{0,2})(\w+)(?:\s*:\s*(.+?)(?:\s=\s(.+))?)?$", part)
        stars, name, kind_word, default = m.groups()
        if stars == "**":
            keyword_rest = True
        elif stars == "*":
            out.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            value = default_of(default) if default else inspect.Parameter.empty
            if kind_word == "dtype" and default not in (None, "None") and not default.startswith("'"):
                value = _core.as_dtype(value)
            out.append(inspect.Parameter(name, kind, default=value))
    if keyword_rest:
        out.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    return out


def signature_of(text):
    return inspect.Signature(parameters_of(text))


def any_arguments():
    """(*args, **kwargs)"""
    return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL), inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])


def class_signature(cls, owner, text):
    """Of a class made from a row (owner), or one below it: that of the row where both are made alike, else of the class's own __init__."""
    new = cls.__new__ is owner.__new__ or getattr(cls.__new__, "passes_on", False)
    if cls is owner or new and cls.__init__ is owner.__init__:
        return signature_of(text)
    if not new:
        raise AttributeError("__signature__")  # inspect looks at __new__
    own = inspect.signature(cls.__init__)
    return own.replace(parameters=list(own.parameters.values())[1:])


def call_of(function):
    """What a layer's `call` takes: (function, 1 if `training` + 2 if `mask`, name of the first argument, places of `training` and `mask` among the
    positional arguments behind the first or -1, default of `training`)."""
    parameters = list(inspect.signature(function).parameters.values())
    named = {p.name: p for p in parameters}
    any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
    places = [p.name for p in parameters[2:] if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes = ["training" in named or any_name, "mask" in named or any_name]
    at = [places.index(name) if name in places else -1 for name in ("training", "mask")]
    default = named["training"].default if "training" in named else None
    return (function, takes[0] + 2 * takes[1], parameters[1].name if len(parameters) > 1 else "inputs", *at,
            None if default is inspect.Parameter.empty else default)


def names_of(function):
    """The names of a function's arguments; None: it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return tuple(p.name for p in parameters)


def positional_names_of(function):
    """The names of those that may be given by position, too: `mask` and `training` count only there for Lambda."""
    try:
        return tuple(inspect.getfullargspec(function).args)
    except TypeError:
        return ()


# Layers that do the same whether they train or not are called as they are.
_TRAINED = set("AdditiveAttention AlphaDropout Attention BatchNormalization SyncBatchNormalization Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D DenseFeatures "
               "Dropout GRU GRUCell GaussianDropout GaussianNoise LSTM LSTMCell Lambda MultiHeadAttention RNN RandomBrightness RandomContrast RandomCrop "
               "RandomFlip RandomHeight RandomRotation RandomTranslation RandomWidth RandomZoom SimpleRNN SimpleRNNCell SpatialDropout1D SpatialDropout2D "
               "SpatialDropout3D SpectralNormalization StackedRNNCells TimeDistributed CuDNNGRU CuDNNLSTM".split())


def call_on_condition(layer, args, kwargs, training):
    """A call of a layer that is told by a symbolic tensor whether it trains: both ways, of which a graph runs one."""
    import thalweg as tf
    names = [name for name, _ in inspect.signature(layer.call).parameters.items()]
    place = names.index("training") if "training" in names else len(args)
    args, kwargs = list(args), dict(kwargs)
    if kwargs.pop("training", None) is None and place < len(args):
        args[place] = None

    def call(said):
        return layer(*args[:place], said, *args[place + 1:], **kwargs) if place < len(args) else layer(*args, training=said, **kwargs)
    model = isinstance(layer, tf.keras.Model)
    if not model and type(layer).__name__ not in _TRAINED:
        return call(False)
    if type(layer) is tf.keras.Sequential and len(args) == 1 and not kwargs and layer.built:
        value = args[0]
        for inner in layer.layers:
            value = inner(value, training=training)
        return value
    result = tf.cond(tf.cast(training, tf.bool), lambda: call(True), lambda: call(False))
    first = args[0] if args else None
    mask = getattr(first, "_keras_mask", None)
    if mask is not None and tf.is_tensor(result):
        result._keras_mask = layer.compute_mask(first, mask)
    return result


def compute_gradients(optimizer, loss, variables, tape):
    """Optimizer.compute_gradients: pairs of the gradients of a loss and their variables."""
    import thalweg
    if not callable(loss) and tape is None:
        raise ValueError("`tape` is required when a `Tensor` loss is passed. Received: loss=%s, tape=%s." % (loss, tape))
    tape = thalweg.GradientTape() if tape is None else tape
    if callable(loss):
        with tape:
            if not callable(variables):
                tape.watch(variables)
            loss = loss()
    variables = variables() if callable(variables) else variables
    if hasattr(optimizer, "get_scaled_loss"):
        with tape:
            scaled = optimizer.get_scaled_loss(loss)
        gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, variables))
    else:
        gradients = tape.gradient(loss, variables)
    return list(zip(gradients, variables))


def minimize(optimizer, loss, variables, tape):
    """Optimizer.minimize: the gradients of a loss, applied."""
    import thalweg
    legacy = isinstance(optimizer, thalweg.keras.optimizers.legacy.Optimizer)
    found = optimizer._compute_gradients if legacy else optimizer.compute_gradients
    optimizer.apply_gradients(found(loss, variables, tape=tape))
