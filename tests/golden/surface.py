"""What names of the wide surface give in TensorFlow (tf.experimental.numpy, tf.data, tf.test, specs, settings): makes tests/golden/surface/surface.json for
tests/python/test_surface.py.

The expressions stand in tests/golden/surface/*.txt, one per line, by family; `#` begins a comment. What each gives is kept as arrays or texts, or
the class of its error. `surface.py FAMILY …` asks only these families again. Usage: surface.py (needs tensorflow)"""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_values  # noqa: E402

ENABLED = ("behavior", "numpy")  # asked after experimental_enable_numpy_behavior(), without which many of these functions fail in TensorFlow
HERE = os.path.dirname(os.path.abspath(__file__))


def names(tf, folder):
    """What expressions may use; the test has the same. folder: an empty one for files."""
    import numpy as np

    def tried(f):
        """What a call gives, or the class of its error."""
        try:
            return f()
        except Exception as e:
            return type(e).__name__

    def operands():
        return [True, 3, -2.5, [1, 2, 3], [0.5, -1.5, 2.0], [[1, -2], [3, 4]], np.int8([1, -2, 3]), np.uint8([1, 2, 250]), np.float32([0.25, -0.5, 1.0]),
                np.float64([[0.1, 0.9], [-0.3, 0.7]]), tf.constant([1, 2, 3]), tf.constant([0.5, 0.75]), np.array([True, False]), tf.constant([1 + 2j, -1j]),
                np.float16([0.5, 2.0]), [], tf.constant([1, -4], tf.int64)]

    def each(f, *more, **named):
        """Of operands of all kinds."""
        return [tried(lambda: f(a, *more, **named)) for a in operands()]

    def pairs(f):
        """Of pairs of operands of all kinds that broadcast."""
        left = [True, 7, 2.5, np.int8([1, 2, 3]), np.float32([0.5, 1.5, 2.0]), tf.constant([4, 5, 6]), tf.constant([1.0, 2.0, 3.0]), [3, 2, 1], [0.5, 2.0, 4.0],
                np.array([True, False, True]), np.uint8([7, 8, 9]), np.int64(5), np.float64(0.5), tf.constant([2, 3, 4], tf.int64)]
        return [tried(lambda: f(a, b)) for a in left for b in left[::3] + [2]]

    def file(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as out:
            out.write(data if isinstance(data, bytes) else data.encode())
        return path

    def records(name, *data):
        path = os.path.join(folder, name)
        with tf.io.TFRecordWriter(path) as writer:
            for d in data:
                writer.write(d)
        return path

    def elements(dataset):
        """The elements, and what they are described by."""
        return [[x for x in dataset.as_numpy_iterator()], repr(dataset.element_spec)]

    def traced(f, *xs):
        return tf.function(f)(*xs)

    def slopes(f, *xs):
        """What a function gives, and its derivatives, both directly and in a graph."""
        def both(*xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = f(*xs)
            return y, tape.gradient(y, xs)
        return both(*xs), tf.function(both)(*xs)

    def var(dataset):
        """The variant of a dataset."""
        return tf.data.experimental.to_variant(dataset)

    def raw(variant, shape, limit=100, dtype=tf.int64, lengths=False):
        """The elements of a dataset that a raw op gave."""
        plain = tf.data.Options()  # TensorFlow's optimizer does not know the earlier forms
        plain.experimental_optimization.apply_default_optimizations = plain.autotune.enabled = False
        made = tf.data.experimental.from_variant(variant, tf.TensorSpec(shape, dtype)).take(limit).with_options(plain)
        return [len(x) if lengths else x for x in made.as_numpy_iterator()]

    def fn(f, count=1):
        """A function of numbers, as raw ops take it."""
        return tf.function(f, input_signature=[tf.TensorSpec([], tf.int64)] * count).get_concrete_function()

    class Masked(tf.experimental.ExtensionType):
        """A tensor with a mask."""
        values: tf.Tensor
        mask: tf.Tensor
        name: str = "x"

        def __validate__(self):
            self.values.shape.assert_is_compatible_with(self.mask.shape)

    def some(*shape, d="float32"):
        """Numbers between -2 and 2, always the same for a shape."""
        return tf.constant(np.random.RandomState(sum(shape) + len(shape)).uniform(-2, 2, shape), d)

    def within(f, xs, spec):
        xs = [tf.convert_to_tensor(x) for x in xs]
        return tf.function(f, input_signature=[spec(x) for x in xs])(*xs)

    def anyrank(f, *xs):
        """In a graph that knows no ranks."""
        return within(f, xs, lambda x: tf.TensorSpec(None, x.dtype))

    def anysize(f, *xs):
        """In a graph that knows ranks, but no sizes."""
        return within(f, xs, lambda x: tf.TensorSpec([None] * len(x.shape), x.dtype))

    def grads(f, *xs):
        xs = [tf.convert_to_tensor(x) for x in xs]
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        return tape.gradient(y, xs)

    cube = np.arange(24.0).reshape(2, 3, 4)
    image = np.random.RandomState(1)
    more = dict(corner=tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0], [2, 3]), some=some, anyrank=anyrank, anysize=anysize, grads=grads, slopes=slopes, sparse=tf.SparseTensor, ragged=tf.ragged.constant, nan=float("nan"), inf=float("inf"),
                image=tf.constant(image.uniform(0, 1, (6, 5, 3)), tf.float32), pixels=tf.constant(image.randint(0, 256, (6, 5, 3)), tf.uint8))
    return dict(more, tf=tf, np=np, tnp=tf.experimental.numpy, tried=tried, each=each, pairs=pairs, file=file, records=records, elements=elements, traced=traced, var=var, raw=raw, fn=fn, Masked=Masked,
                cube=cube, folder=folder, ds=tf.data.Dataset, flat=np.array([3, 1, 2, 1], np.int32), here=lambda *values: list(values), v1=tf.compat.v1)


def evaluate(expression, tf, folder):
    try:
        return {"value": [api_values.one(v, tf) for v in api_values.flatten(eval(expression, names(tf, folder)))]}
    except Exception as e:
        return {"error": type(e).__name__, "text": str(e)}


def answer(expression, tf):
    """What TensorFlow, or its stand-in, gives for an expression."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        return evaluate(expression, tf, folder)


def expressions():
    for path in sorted(glob.glob(os.path.join(HERE, "surface", "*.txt"))):
        with open(path) as file:
            for line in file:
                line = line.split("  #")[0].strip()
                if line and not line.startswith("#"):
                    yield os.path.basename(path)[:-4], line


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    import tensorflow as tf
    import golden
    path, known = golden.path(__file__, "surface.json"), {}
    if len(sys.argv) > 1 and os.path.exists(path):
        with open(path) as file:
            known = {(family, line): result for family, line, result in json.load(file) if family not in sys.argv[1:]}
    made = []
    for family, line in sorted(expressions(), key=lambda e: e[0] in ENABLED):  # stable; enabling can't be undone
        if family in ENABLED:
            tf.experimental.numpy.experimental_enable_numpy_behavior()
        result = known.get((family, line)) or answer(line, tf)
        if "error" in result and "text" in result:
            print("%-10s %s: %s: %s" % (family, line, result["error"], result.pop("text").split("\n")[0][:150]))
        made.append([family, line, result])
    with open(path, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(m, separators=(",", ":")) for m in made) + "\n]\n")
    print("%s: %d expressions, %d bytes" % (path, len(made), os.path.getsize(path)))


if __name__ == "__main__":
    main()
