"""What functions give in TensorFlow, called as users call them: makes tests/golden/api_values/api_values.json for tests/python/test_api_values.py.

The expressions stand in tests/golden/api_values/*.txt, one per line, by family; `#` begins a comment. Each is evaluated with the names of `names`
below; what it gives is kept as arrays, or the class of its error. Usage: api_values.py (needs tensorflow)"""
import glob
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def names(tf):
    """What expressions may use; the test has the same."""
    import numpy as np
    r = np.random.RandomState(11)

    def gradient(f, *xs):
        """Of the sum of the results' squares."""
        xs = [tf.constant(x) for x in xs]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            total = 0.0
            for y in tf.nest.flatten(f(*xs)):
                total = total + tf.cast(tf.reduce_sum(tf.square(tf.abs(y))), tf.float64)
        return tape.gradient(total, xs)

    def static(f, *shapes, dtype=tf.float32):
        """The shapes that a traced function's results have, for arguments of these shapes (a pair with a dtype if it is another)."""
        specs = [tf.TensorSpec(*s) if isinstance(s, tuple) else tf.TensorSpec(s, dtype) for s in shapes]
        outputs = tf.nest.flatten(tf.function(f, input_signature=specs).get_concrete_function().outputs)
        return [str(o.shape) for o in outputs]

    def traced(f, *xs):
        """The same function, traced with shapes unknown, then called."""
        specs = [tf.TensorSpec(None, tf.convert_to_tensor(x).dtype) for x in xs]
        return tf.function(f, input_signature=specs)(*xs)

    def train(optimizer, in_function=False, steps=4):
        """Two variables under gradients that change: their values, and the optimizer's variables."""
        a, b = tf.Variable([1.0, -2.0, 3.0], name="a"), tf.Variable([[0.5], [-0.25]], name="b")

        def step(k):
            optimizer.apply_gradients([(tf.sin(a * k) + 0.1, a), (b * b - 0.3 * k, b)])

        run = tf.function(step) if in_function else step
        for k in range(steps):
            run(tf.constant(float(k + 1)))
        return [a, b] + [x for v in optimizer.variables for x in (v.name, v)]

    def saved(optimizer):
        """The names in a checkpoint of the optimizer after a step."""
        import tempfile
        train(optimizer, steps=1)
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(o=optimizer).write(folder + "/c")
            return sorted(str(entry) for entry in tf.train.list_variables(path))

    def metric(m, *batches):
        """Results after each batch, then after a reset and the last batch again, and the variables' names and shapes."""
        results = []
        for batch in batches:
            m.update_state(*batch)
            results.append(m.result())
        names = [x for v in m.variables for x in (v.name, str(v.shape), v.dtype.name)]
        m.reset_state()
        return results + [m(*batches[-1])] + names

    square = np.round(r.uniform(-2, 2, (2, 3, 3)), 2)
    definite = square @ np.swapaxes(square, -1, -2) + np.eye(3)
    return dict(tf=tf, np=np, train=train, saved=saved, metric=metric, gradient=gradient, static=static, traced=traced, square=square, definite=definite,
                tall=np.round(r.uniform(-2, 2, (2, 4, 2)), 2), image=np.round(r.uniform(-2, 2, (2, 4, 6, 3)), 2).astype(np.float32),
                volume=np.round(r.uniform(-2, 2, (2, 4, 5, 3, 2)), 2).astype(np.float32), vector=np.float32([0.3, -1.2, 2.5, 0.8]),
                positive=np.float64([0.25, 1.0, 3.5, 7.0]), one=np.float64([0.05, 0.4, 0.75]), rows=np.round(r.uniform(-2, 2, (6, 3)), 2),
                wave=np.round(r.uniform(-1, 1, (2, 8)), 2).astype(np.float32), i0=np.int32([0, 0, 1, 3, 3, 3]))


def flatten(v):
    if isinstance(v, dict):
        return [x for k in sorted(v) for x in flatten(v[k])]
    if isinstance(v, (list, tuple)):
        return [x for i in v for x in flatten(i)]
    if hasattr(v, "nested_row_splits"):
        return [v.flat_values, *v.nested_row_splits]
    if type(v).__name__ == "SparseTensor":
        return [v.indices, v.values, v.dense_shape]
    return [v]


def number(v):
    if isinstance(v, bytes):
        return v.decode("latin-1")
    if isinstance(v, complex):
        return [number(v.real), number(v.imag)]
    if isinstance(v, float) and not abs(v) < float("inf"):
        return str(v)
    return v


def one(v, tf):
    """A result as plain data."""
    import numpy as np
    if v is None or isinstance(v, (bool, int, float, str)):
        return {"plain": number(v)}
    if not isinstance(v, (np.ndarray, np.generic)):
        v = tf.convert_to_tensor(v)
        kind = v.dtype.name
        v = tf.cast(v, tf.float32).numpy() if kind == "bfloat16" else v.numpy()
    else:
        kind = v.dtype.name
    v = np.asarray(v)
    return {"dtype": kind, "shape": list(v.shape), "values": [number(x) for x in v.reshape(-1).tolist()]}


def answer(expression, tf):
    try:
        return {"value": [one(v, tf) for v in flatten(eval(expression, names(tf)))]}
    except Exception as e:
        return {"error": type(e).__name__, "text": str(e)}


def expressions():
    for path in sorted(glob.glob(os.path.join(HERE, "api_values", "*.txt"))):
        with open(path) as file:
            for line in file:
                line = line.split("  #")[0].strip()
                if line and not line.startswith("#"):
                    yield os.path.basename(path)[:-4], line


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    import tensorflow as tf
    made = []
    for family, line in expressions():
        result = answer(line, tf)
        if "error" in result:
            print("%-10s %s: %s: %s" % (family, line, result["error"], result.pop("text").split("\n")[0][:100]))
        made.append([family, line, result])
    import golden
    path = golden.path(__file__, "api_values.json")
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(m, separators=(",", ":")) for m in made) + "\n]\n")
    print("%s: %d expressions, %d bytes" % (path, len(made), os.path.getsize(path)))


if __name__ == "__main__":
    main()
