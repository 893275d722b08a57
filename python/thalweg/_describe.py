"""Signatures of rows for inspect and help()."""
import inspect
import re


def split(text, mark=","):
    """The parts of a text between marks that stand in no brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
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
    if text[0] in "([":
        return tuple(default_of(t) for t in split(text[1:-1]))
    return text.strip("'")


def parameters_of(text):
    """inspect.Parameter objects of a row's text: "nn.softmax(logits: tensor, axis: int = -1) -> tensor"."""
    inner = text[text.index("(") + 1:text.rindex(")")]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    out, keyword_rest = [], False
    for part in split(inner):
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        m = re.match(r"(\*{0,2})(\w+)(?:\s*:\s*.+?(?:\s=\s(.+))?)?$", part)
        stars, name, default = m.groups()
        if stars == "**":
            keyword_rest = True
        elif stars == "*":
            out.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            out.append(inspect.Parameter(name, kind, default=default_of(default) if default else inspect.Parameter.empty))
    if keyword_rest:
        out.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    return out


def signature_of(text):
    return inspect.Signature(parameters_of(text))


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


def minimize(optimizer, loss, variables, tape):
    """Optimizer.minimize: the gradients of a loss, applied."""
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
    optimizer.apply_gradients(zip(gradients, variables))
