"""Tables of small programs whose results are compared with TensorFlow's: a module has cases(tf), names to functions without arguments."""
import numpy as np


def plain(value):
    """A result as JSON knows it; arrays with their shapes' nesting, numbers to six digits."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind in "SUO":
        return str(array.tolist())
    if array.dtype.kind == "V" or array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind == "f":
        array = np.vectorize(lambda v: float("%.6g" % v), otypes=[float])(array) if array.size else array
    return array.tolist()


def run(function):
    """What it gives; of an error, the class's name."""
    try:
        return plain(function())
    except Exception as error:
        return {"error": type(error).__name__}


def same(got, expected, rtol=2e-4, atol=2e-5):
    """Whether two results are equal, numbers nearly. Wrong shapes and values are a ValueError where TensorFlow sees them early, else the kernel's."""
    early = ("ValueError", "InvalidArgumentError")
    if isinstance(expected, dict) and isinstance(got, dict) and got.get("error") in early and expected.get("error") in early:
        return True
    if isinstance(expected, dict):
        return isinstance(got, dict) and list(got) == list(expected) and all(same(got[k], v, rtol, atol) for k, v in expected.items())
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(same(a, b, rtol, atol) for a, b in zip(got, expected))
    if isinstance(expected, float) and not isinstance(got, bool) and isinstance(got, (int, float)):
        return bool(np.isclose(got, expected, rtol=rtol, atol=atol, equal_nan=True))
    return type(got) is type(expected) and got == expected
