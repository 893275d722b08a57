"""tf.print, tf.py_function, tf.numpy_function: what leaves the graph."""
import os
import pprint
import re
import sys

from thalweg import _core


def _checked(function, dtypes):
    """What the ops PyFunc and EagerPyFunc call: a function of a list that gives a list of tensors."""
    import thalweg

    def call(inputs):
        results = function(*inputs)
        if dtypes and not isinstance(results, (list, tuple)):
            results = [results]
        elif not dtypes:
            results = []
        if len(results) != len(dtypes):
            return list(results)  # which is refused
        return [thalweg.convert_to_tensor(v) if _core.is_tensor(v) else thalweg.convert_to_tensor(v, t) for v, t in zip(results, dtypes)]
    return call


def traceback_of(exception):
    """Where it was raised, as text; frames of this package are left out."""
    import traceback
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    frames = [f for f in traceback.extract_tb(exception.__traceback__) if not f.filename.startswith(own)]
    parts = traceback.format_list(frames) + ["".join(traceback.format_exception_only(type(exception), exception))]
    return "Traceback (most recent call last):\n\n%s\n" % "\n".join(parts)


def _in_graph(function, inputs, dtypes, arrays):
    """The results of a node that calls the function; py_function's has a gradient, over the tape of the last call (src/function/host.c)."""
    import thalweg
    single = not isinstance(dtypes, (list, tuple))
    wanted = [_core.as_dtype(t) for t in ([dtypes] if single else dtypes)]
    results = _core.host_in_graph(_checked(function, wanted), [thalweg.convert_to_tensor(t) for t in inputs or ()], wanted, arrays)
    return results[0] if single else results


def _decorator(host, Tout, **kwargs):
    """@tf.py_function(Tout=…): calls go through the host function."""
    import functools

    def decorate(func):
        @functools.wraps(func)
        def call(*args):
            return host(func, args, Tout, **kwargs)
        return call
    return decorate


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function with eager tensors, also from a graph. Without the function it is a decorator."""
    import thalweg
    if func is None:
        return _decorator(py_function, Tout, name=name)
    if thalweg.executing_eagerly():
        tensors = [thalweg.convert_to_tensor(t) for t in inp or ()]
        try:
            results = func(*tensors)
        except Exception as error:
            raise _core.told(error) from error
        if isinstance(Tout, (list, tuple)):
            results = results if isinstance(results, (list, tuple)) else ([] if results is None else [results])
            return [thalweg.convert_to_tensor(r, t) for r, t in zip(results, Tout)]
        return thalweg.convert_to_tensor(results, Tout)
    return _in_graph(func, inp, Tout, False)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls a Python function with NumPy arrays, also from a graph. Without the function it is a decorator."""
    import thalweg
    if func is None:
        return _decorator(numpy_function, Tout, stateful=stateful, name=name)
    if thalweg.executing_eagerly():
        import numpy
        result = func(*[t.numpy() if _core.is_tensor(t) else numpy.array(t) for t in inp or ()])
        made = [None if r is None else thalweg.convert_to_tensor(r) for r in thalweg.nest.flatten(result)]  # of its own dtype, as in TensorFlow
        return made[0] if len(made) == 1 else made
    return _in_graph(func, inp, Tout, True)


# ---- printing ----

class _Hole:
    """The place of a tensor in a printed structure, or of a text that is made already."""

    def __init__(self, text="{}"):
        self.text = text

    def __repr__(self):
        return self.text


def _rows_text(texts, lengths, summarize):
    """A text for each row of some texts; of long rows the ends."""
    from thalweg import RaggedTensor, strings, where
    rows = RaggedTensor.from_row_lengths(texts, lengths)
    whole = strings.reduce_join(rows, axis=-1, separator=", ")
    if summarize >= 0:
        ends = [strings.reduce_join(part, axis=-1, separator=", ") for part in (rows[:, :summarize], rows[:, -summarize:])]
        whole = where(rows.row_lengths() > 2 * summarize, strings.join([ends[0], "...", ends[1]], separator=", "), whole)
    return strings.join(["[", whole, "]"])


def _ragged_texts(value, summarize):
    """The texts of the rows of a ragged tensor, or of the elements of a tensor."""
    import thalweg
    if not isinstance(value, thalweg.RaggedTensor) and value.shape.rank > 1:
        value = thalweg.RaggedTensor.from_tensor(value, ragged_rank=value.shape.rank - 1)
    if isinstance(value, thalweg.RaggedTensor):
        return _rows_text(_ragged_texts(value.values, summarize), value.row_lengths(), summarize)
    if value.dtype != thalweg.string:
        return thalweg.strings.as_string(value)
    return thalweg.strings.join(["'", thalweg.strings.regex_replace(value, r"(['\\])", r"\\\1"), "'"])


def _filled(template, tensors, texts, summarize):
    """One text of all: each NUL of the template stands for the next text."""
    from thalweg import strings
    parts, at, made = [], 0, iter(texts)
    for piece in re.split(r"(\0|\{\{\}\})", template):
        holes = 0 if piece == "{{}}" else piece.count("{}")
        if holes:
            parts.append(strings.format(piece, tensors[at:at + holes], summarize=summarize))
        else:
            parts.append(next(made) if piece == "\0" else "{}" if piece == "{{}}" else piece)
        at += holes
    return strings.join(parts)


def _with_holes(value, tensors, texts, summarize):
    import thalweg
    if isinstance(value, thalweg.RaggedTensor):
        rows = _ragged_texts(value, summarize)
        texts.append(_rows_text(rows, [thalweg.size(rows)], summarize)[0])
        return _Hole("\0")
    if isinstance(value, thalweg.SparseTensor):
        tensors += [value.indices, value.values, value.dense_shape]
        return "SparseTensor(indices={}, values={}, shape={})"
    if _core.is_tensor(value):
        tensors.append(value)
        return _Hole()
    if isinstance(value, dict):
        return {k: _with_holes(value[k], tensors, texts, summarize) for k in sorted(value, key=repr)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_with_holes(v, tensors, texts, summarize) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_with_holes(v, tensors, texts, summarize) for v in value])
    return value


def _stream_name(stream):
    """What C calls a stream; log levels are numbers or functions of their names."""
    if stream is None or stream is sys.stderr:
        return "stderr"
    if stream is sys.stdout:
        return "stdout"
    level = {20: "info", 30: "warning", 40: "error"}.get(stream) if isinstance(stream, int) else getattr(stream, "__name__", None)
    return "log(%s)" % {"warn": "warning"}.get(level, level) if level else str(stream)


def _print(*inputs, output_stream=None, summarize=3, sep=" ", end=os.linesep, name=None):
    """Prints strings, numbers, tensors and structures of them, also from a graph, in program order."""
    import thalweg
    parts, tensors, texts = [], [], []
    ends = -1 if summarize is None else summarize
    for value in inputs:
        if isinstance(value, str):
            parts.append(value.replace("{}", "{{}}") if "{}" in value else value)
        elif _core.is_tensor(value) or isinstance(value, (dict, list, tuple, thalweg.RaggedTensor, thalweg.SparseTensor)):
            held = _with_holes(value, tensors, texts, ends)
            parts.append(held.text if isinstance(held, _Hole) else pprint.pformat(held))
        else:
            parts.append(str(value))
    stream = _stream_name(output_stream)
    (sys.stdout if stream == "stdout" else sys.stderr).flush()
    template = sep.join(parts)
    if texts:
        template, tensors = "{}", [_filled(template, tensors, texts, ends)]
    return thalweg._print(template, tensors, stream, summarize, end, name)


globals()["print"] = _print
