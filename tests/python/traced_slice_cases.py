"""Slices whose bounds are tensors: the shape that is known while a function is traced, and the values."""
import numpy as np

ROWS = np.arange(24, dtype=np.float32).reshape(4, 6)


def cases(tf):
    slices = {
        ":n": lambda p, n: p[:n], "n:": lambda p, n: p[n:], "n": lambda p, n: p[n], "None, :n, :": lambda p, n: p[tf.newaxis, :n, :],
        ":n, None": lambda p, n: p[:n, tf.newaxis], "..., :n": lambda p, n: p[..., :n], "..., n:, None": lambda p, n: p[..., n:, None],
        "::n": lambda p, n: p[::n], "n, 1:": lambda p, n: p[n, 1:], "1:n, 2:4": lambda p, n: p[1:n, 2:4], ":, :n": lambda p, n: p[:, :n],
        ":, n, None": lambda p, n: p[:, n, None], ":n, ...": lambda p, n: p[:n, ...], ":-1, n:": lambda p, n: p[:-1, n:], "::2, :n": lambda p, n: p[::2, :n],
        "::-1, :n": lambda p, n: p[::-1, :n], ":n, :n": lambda p, n: p[:n, :n], "n-1:n+1": lambda p, n: p[n - 1:n + 1],
    }
    lengths = {"a known size": (tf.TensorSpec([None, 3]), lambda x: tf.shape(x)[1]), "an unknown size": (tf.TensorSpec([None, None]), lambda x: tf.shape(x)[1]),
               "an unknown rank": (tf.TensorSpec(None), lambda x: tf.shape(x)[-1]), "an argument": (tf.TensorSpec([], tf.int32), lambda x: x)}
    tables = {"known": tf.TensorSpec([4, 6]), "partly known": tf.TensorSpec([None, 6]), "of unknown rank": tf.TensorSpec(None)}
    out = {}
    for text, cut in slices.items():
        for name, (spec, length) in lengths.items():
            for kind, table in tables.items():
                def case(cut=cut, spec=spec, length=length, table=table):
                    shapes = []

                    def function(p, x):
                        found = cut(p, length(x))
                        shapes.append(str(found.shape))
                        return found
                    value = tf.function(function, input_signature=[table, spec])(ROWS, tf.constant(3) if spec.dtype == tf.int32 else tf.ones([2, 3]))
                    return [shapes[0], value]
                out["[%s] by %s, table %s" % (text, name, kind)] = case
    return out
