"""What a program of checks_cases.py gives, as plain values: the same for TensorFlow, whose results are in checks.json, and thalweg."""
import numpy as np


def plain(value):
    """Tensors and arrays as dtype, shape and values; structures as lists and dicts."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, np.ndarray) and value.dtype == object:
        return {"objects": [plain(v) for v in value.reshape(-1)], "shape": list(value.shape)}
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": [repr(float(v)) if array.dtype.kind == "f" else v if array.dtype.kind != "S" else
                                                                              v.decode("latin-1") for v in array.reshape(-1).tolist()]}


def outcome(tf, case):
    """The value, or {"error": class, "text": …}."""
    from checks_cases import told
    try:
        return plain(case(tf))
    except Exception as error:
        return {"error": type(error).__name__, "text": told(str(getattr(error, "message", None) or error))}
