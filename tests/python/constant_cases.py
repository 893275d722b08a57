"""Constants of everything that a program may have, made in every way: the cases of test_constants.py and tests/golden/constants.py.

A case is a way (tf.constant, …), a source, a dtype and a shape. What it gives is one line: dtype, shape and values, or the word "error". Where the same
stands in a function and in a session, it must give the same.
"""
import numpy as np

NUMBERS = [0, 1, 2, 3, 100, 7]
SOURCES = {
    "scalar int": lambda tf: 3, "scalar float": lambda tf: 2.5, "bool": lambda tf: True, "text": lambda tf: "ab", "complex": lambda tf: 1 + 2j,
    "list int": lambda tf: [[0, 1, 2], [3, 100, 7]], "list float": lambda tf: [[0.0, 1.5, 2], [3, 100, 7]], "list empty": lambda tf: [],
    "list of arrays": lambda tf: [np.array([0.0, 1, 2]), np.array([3.0, 100, 7])], "list of numbers": lambda tf: [np.int64(1), np.int64(2), 3],
    "list of floats": lambda tf: [np.float64(1), np.float32(2), 3.0],
    "turned": lambda tf: np.asarray(NUMBERS, "f8").reshape(3, 2).T, "fortran": lambda tf: np.asfortranarray(np.asarray(NUMBERS, "f8").reshape(2, 3)),
    "steps": lambda tf: np.arange(12.0)[::-2], "zero rank": lambda tf: np.array(5.0), "empty": lambda tf: np.zeros((0, 3), "f8"),
    "swapped": lambda tf: np.asarray(NUMBERS, ">f8").reshape(2, 3), "numpy number": lambda tf: np.float64(2.5), "numpy int": lambda tf: np.int64(4),
    "texts": lambda tf: np.array([["a", "b", "c"], ["d", "e", "f"]]),
}
for _type in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16"):
    SOURCES["array " + _type] = lambda tf, _type=_type: np.asarray(NUMBERS, _type).reshape(2, 3)
DTYPES = [None, "float32", "float64", "int32", "int64", "uint8", "float16", "complex64", "bool", "string"]
SHAPES = [None, [6], [3, 2], [2, 3], [4], []]

WAYS = {
    "constant": lambda tf, value, dtype, shape: tf.constant(value, dtype, shape),
    "convert": lambda tf, value, dtype, shape: tf.convert_to_tensor(value, dtype),
    "variable": lambda tf, value, dtype, shape: tf.Variable(value, dtype=dtype),
    "initializer": lambda tf, value, dtype, shape: tf.constant_initializer(value)(shape, dtype=dtype or "float32"),
    "fill": lambda tf, value, dtype, shape: tf.fill(shape, tf.constant(value, dtype)),
    "cast": lambda tf, value, dtype, shape: tf.cast(value, dtype or "float32"),
}


def cases():
    for way in WAYS:
        for source in SOURCES:
            for dtype in DTYPES:
                for shape in SHAPES if way == "constant" else [[2, 3]] if way == "initializer" else [[2]] if way == "fill" else [None]:
                    yield way, source, dtype, shape


def line(value):
    array = np.asarray(value)
    items = [v.decode() if isinstance(v, bytes) else str(v) for v in array.reshape(-1).tolist()]
    name = "object" if array.dtype.kind in "OSU" else str(array.dtype)
    return "%s %s %s" % (name, list(array.shape), " ".join(items))


def eager(tf, way, source, dtype, shape):
    try:
        return line(WAYS[way](tf, SOURCES[source](tf), dtype, shape).numpy())
    except Exception:
        return "error"


def in_function(tf, way, source, dtype, shape):
    try:
        return line(tf.function(lambda: WAYS[way](tf, SOURCES[source](tf), dtype, shape), autograph=False)().numpy())
    except Exception:
        return "error"


def in_session(tf, way, source, dtype, shape):
    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            made = WAYS[way](tf, SOURCES[source](tf), dtype, shape)
            session.run(tf.compat.v1.global_variables_initializer())
            return line(session.run(made))
    except Exception:
        return "error"
