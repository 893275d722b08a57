"""What a program of control_cases.py gives, as plain values: the same for TensorFlow, whose results are in control.json, and thalweg."""
import re

import numpy as np


def plain(value):
    """Tensors as dicts, structures as lists and dicts."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    array = np.asarray(value.numpy())
    values = array.tolist() if array.dtype.kind not in "SO" else np.vectorize(lambda b: b.decode("latin-1"), otypes=[object])(array).tolist()
    return {"dtype": value.dtype.name, "shape": list(array.shape), "values": values}


def text_of(error):
    """An error's text without what differs from run to run: addresses, files, names of nodes and of the library."""
    text = str(getattr(error, "message", None) or error)
    if text.startswith("Graph execution error:"):  # the node's own message stands behind the trace
        lines = [line for line in text.split("\n") if line and not re.match(r"Graph execution|Detected at|Stack trace|  |\t|Node:|\(\d|\d+ |File|<stdin>", line)]
        text = lines[-1] if lines else ""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"in user code:\n\n(    File .*\n.*\n)*\n    \w+: ", "", text)  # where it happened is another test's
    text = re.sub(r"\n    ", "\n", text)
    text = re.sub(r"Tensor\(\"[^\"]*\"", 'Tensor("…"', text)
    text = re.sub(r"<function [^>]*>", "<function>", text)
    text = re.sub(r"(<class ')(thalweg|tensorflow)[\w.]*\.(\w+'>)", r"\1\3", text)
    text = re.sub(r"^\{\{function_node [^}]*\}\} ?|^(node [\w/]+: )+", "", text)
    text = re.sub(r"\[?\[\[?\{\{(function_)?node .*", "", text)
    text = re.sub(r" \[Op:[^\]]*\]( name:)?", "", text)
    return text.strip()


def outcome(tf, case, mode):
    """{"value": …} or {"error": class, "text": …}."""
    try:
        if mode == "eager":
            return {"value": plain(case(tf))}
        return {"value": plain(tf.function(lambda: case(tf), autograph=False)())}
    except Exception as error:
        return {"error": type(error).__name__, "text": text_of(error)}
