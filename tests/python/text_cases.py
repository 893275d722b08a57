"""Layers that encode categories and look words up: CategoryEncoding, Hashing, HashedCrossing, Discretization, StringLookup, IntegerLookup, TextVectorization."""
import os
import tempfile

import numpy as np

TEXTS = ["The quick brown fox!", "the lazy dog; the end", "Quick, quick dog", "", "über fox"]
WORDS = [["a", "b", "c"], ["c", "a", "d"], ["e", "c", ""]]
NUMBERS = [[1, 5, 2], [2, 2, 7], [5, 9, 1]]


def shown(value):
    """Any result: of composites their parts, and dtypes."""
    if hasattr(value, "dense_shape"):
        return ["sparse", value.dtype.name, shown(value.indices), shown(value.values), shown(value.dense_shape)]
    if hasattr(value, "row_splits"):
        return ["ragged", value.dtype.name, str(value.to_list())]
    return [value.dtype.name, list(value.shape), value] if hasattr(value, "shape") else value


def settings(layer):
    """The config without the name, which counts layers."""
    return {key: value for key, value in sorted(layer.get_config().items()) if key != "name"}


def cases(tf):
    out = {}
    k = tf.keras
    L = k.layers

    def call(make, *inputs, **kwargs):
        def run():
            layer = make()
            traced = tf.function(layer)(*inputs, **kwargs)
            return [shown(layer(*inputs, **kwargs)), shown(traced), settings(layer)]
        return run

    ragged = tf.ragged.constant([[1, 2], [], [3, 3, 0]])
    sparse = tf.sparse.from_dense([[1, 2, 0], [0, 3, 3]])
    # ---- CategoryEncoding ----
    for mode in ("one_hot", "multi_hot", "count", "binary", "wrong"):
        for is_sparse in (False, True):
            for name, x in {"matrix": [[0, 1], [3, 3]], "column": [[1], [2]], "vector": [1, 2], "scalar": 2, "ragged": ragged, "sparse": sparse,
                            "floats": [[1., 2.]], "cube": [[[1, 2]]], "int64": np.int64([[1, 2]])}.items():
                out["category %s %s %s" % (mode, is_sparse, name)] = call(lambda m=mode, s=is_sparse: L.CategoryEncoding(num_tokens=4, output_mode=m, sparse=s), x)
    weights = np.array([[.5, 1.5], [2, 3]])
    for is_sparse in (False, True):
        out["category weights %s" % is_sparse] = call(lambda s=is_sparse: L.CategoryEncoding(num_tokens=4, output_mode="count", sparse=s), [[0, 1], [3, 3]], count_weights=weights)
    out["category weights refused"] = call(lambda: L.CategoryEncoding(num_tokens=4), [[0, 1], [3, 3]], count_weights=weights)
    out["category int output"] = call(lambda: L.CategoryEncoding(num_tokens=4, dtype="int64"), [[0, 1]])
    for name, x in {"high": [[4]], "low": [[-1]]}.items():
        out["category range " + name] = lambda x=x: L.CategoryEncoding(num_tokens=4)(x)  # traced, TensorFlow counts beyond its memory
    for count in (None, 0, -1):
        out["category tokens %s" % count] = call(lambda c=count: L.CategoryEncoding(num_tokens=c), [[0]])

    # ---- Hashing, HashedCrossing ----
    for name, x in {"texts": [["A"], ["B"], [""]], "numbers": [[1, 2], [3, 4]], "ragged": tf.ragged.constant([["a", "b"], []]), "vector": ["a", "b"],
                    "sparse": tf.SparseTensor([[0, 1], [1, 0]], ["a", "b"], [2, 2]), "scalar": "x"}.items():
        for options in (dict(), dict(salt=133), dict(salt=[133, 137]), dict(output_mode="one_hot"), dict(output_mode="multi_hot", sparse=True),
                        dict(output_mode="count"), dict(dtype="int32"), dict(dtype="float32")):
            out["hashing %s %s" % (name, options)] = call(lambda o=options: L.Hashing(num_bins=3, **o), x)
    out["hashing mask text"] = call(lambda: L.Hashing(num_bins=3, mask_value=""), [["A"], ["B"], [""]])
    out["hashing mask number"] = call(lambda: L.Hashing(num_bins=3, mask_value=2), [[1, 2], [3, 4]])
    for options in (dict(num_bins=0), dict(num_bins=None), dict(num_bins=2, salt="a"), dict(num_bins=2, salt=[1, 2, 3]), dict(num_bins=2, sparse=True),
                    dict(num_bins=2, output_mode="tf_idf")):
        out["hashing error %s" % options] = call(lambda o=options: L.Hashing(**o), [["a"]])
    pairs = {"vectors": (tf.constant(["A", "B", "A"]), tf.constant([1, 2, 2])), "columns": (tf.constant([["A"], ["B"]]), tf.constant([["x"], ["y"]])),
             "scalars": (tf.constant("A"), tf.constant(5)), "one": (tf.constant(["A"]),), "shapes": (tf.constant(["A"]), tf.constant([["x"]])),
             "floats": (tf.constant([1.]), tf.constant(["a"])), "wide": (tf.constant([[1, 2]]), tf.constant([[1, 2]])), "three": tuple(tf.constant([i, 2]) for i in range(3))}
    for name, x in pairs.items():
        for options in (dict(), dict(output_mode="one_hot"), dict(output_mode="one_hot", sparse=True), dict(output_mode="count"), dict(dtype="float32")):
            out["crossing %s %s" % (name, options)] = call(lambda o=options: L.HashedCrossing(num_bins=5, **o), x)

    # ---- Discretization ----
    x = np.array([[-1.5, 1.0, 3.4, .5], [0.0, 3.0, 1.3, 0.0]])
    for options in (dict(), dict(output_mode="one_hot"), dict(output_mode="multi_hot"), dict(output_mode="count", sparse=True), dict(dtype="int32"), dict(dtype="float32")):
        for name, data in {"matrix": x, "column": x[:, :1], "integers": np.int32([[1, 2]]), "ragged": tf.ragged.constant([[1., 5.], [0.]]),
                           "sparse": tf.sparse.from_dense([[1., 5.], [0., 3.]])}.items():
            out["discretization %s %s" % (options, name)] = call(lambda o=options: L.Discretization(bin_boundaries=[0., 1., 2.], **o), data)
    out["discretization array"] = call(lambda: L.Discretization(bin_boundaries=np.array([0., 1.])), x)
    for options in (dict(bin_boundaries=[1.], num_bins=2), dict(num_bins=-1), dict(bin_boundaries=[1.], sparse=True), dict(bin_boundaries=[1.], output_mode="x"),
                    dict(bin_boundaries=[2., 1.])):
        out["discretization error %s" % options] = call(lambda o=options: L.Discretization(**o), x)
    values = (np.sin(np.arange(500) * 1.7) * 3 + np.arange(500) % 7).astype(np.float32)

    def binned(data, bins, epsilon=0.01, mode="int", **kwargs):
        def run():
            layer = L.Discretization(num_bins=bins, epsilon=epsilon, output_mode=mode)
            layer.adapt(data(), **kwargs)
            return [layer.get_weights(), layer(values[:20]), settings(layer)]
        return run

    for bins in (2, 4, 10):
        for epsilon in (0.01, 0.1, 0.3):
            out["bins %d %g" % (bins, epsilon)] = binned(lambda: values, bins, epsilon)
    out["bins batches"] = binned(lambda: values, 4, batch_size=400)
    out["bins dataset"] = binned(lambda: tf.data.Dataset.from_tensor_slices(values.reshape(50, 10)).batch(8), 4, mode="one_hot")
    out["bins of integers"] = binned(lambda: np.arange(100), 3)
    out["bins given"] = lambda: L.Discretization(bin_boundaries=[1.]).adapt(values)

    # ---- lookups ----
    def looked(cls, inputs, adapt=None, **options):
        def run():
            layer = cls(**options)
            if adapt is not None:
                layer.adapt(adapt)
            x = inputs() if callable(inputs) else inputs
            return [shown(layer(x)), shown(tf.function(layer)(x)), [str(w) for w in layer.get_vocabulary()], [str(w) for w in layer.get_vocabulary(include_special_tokens=False)],
                    layer.vocabulary_size(), settings(layer)]
        return run

    forms = {"matrix": lambda: tf.constant(WORDS), "list": lambda: WORDS, "vector": lambda: ["a", "z"], "scalar": lambda: tf.constant("c"), "column": lambda: tf.constant([["a"], ["q"]]),
             "ragged": lambda: tf.ragged.constant([["a", "z"], [], ["c"]]), "sparse": lambda: tf.SparseTensor([[0, 1], [2, 0]], ["a", "z"], [3, 2])}
    numbers = {"matrix": lambda: tf.constant(NUMBERS), "list": lambda: NUMBERS, "int64": lambda: np.int64(NUMBERS), "ragged": lambda: tf.ragged.constant([[1, 99], [], [2]]),
               "sparse": lambda: tf.sparse.from_dense([[1, 99], [0, 2]])}
    modes = {"int": {}, "two": dict(num_oov_indices=2), "one_hot": dict(output_mode="one_hot"), "multi_hot": dict(output_mode="multi_hot"), "count": dict(output_mode="count"),
             "padded": dict(output_mode="count", max_tokens=8, pad_to_max_tokens=True), "sparse": dict(output_mode="multi_hot", sparse=True), "few": dict(max_tokens=3),
             "int32": dict(dtype="int32"), "binary": dict(output_mode="binary")}
    for mode, options in modes.items():
        for form, x in forms.items():
            out["string %s %s" % (mode, form)] = looked(L.StringLookup, x, vocabulary=["a", "c"][:options.get("max_tokens", 9) - 1], **options)
            out["string masked %s %s" % (mode, form)] = looked(L.StringLookup, x, vocabulary=["a"], mask_token="c", **options)
            out["string adapted %s %s" % (mode, form)] = looked(L.StringLookup, x, adapt=np.array(WORDS), **options)
        for form, x in numbers.items():
            out["integer %s %s" % (mode, form)] = looked(L.IntegerLookup, x, vocabulary=[1, 5][:options.get("max_tokens", 9) - 1], **options)
            out["integer masked %s %s" % (mode, form)] = looked(L.IntegerLookup, x, adapt=np.array(NUMBERS), mask_token=5, **options)
    for form in ("matrix", "vector", "ragged", "sparse"):
        for is_sparse in (False, True):
            out["string tf_idf %s %s" % (form, is_sparse)] = looked(L.StringLookup, forms[form], vocabulary=["a", "c"], idf_weights=[.5, 2.], output_mode="tf_idf", sparse=is_sparse)
            out["string tf_idf padded %s %s" % (form, is_sparse)] = looked(L.StringLookup, forms[form], vocabulary=["[UNK]", "a", "c"], idf_weights=[1., .5, 2.], output_mode="tf-idf",
                                                                          max_tokens=6, pad_to_max_tokens=True, sparse=is_sparse)
    for name, data in {"ragged": lambda: tf.ragged.constant(WORDS), "dataset": lambda: tf.data.Dataset.from_tensor_slices(WORDS).batch(2), "rows": lambda: tf.data.Dataset.from_tensor_slices(WORDS),
                       "tensor": lambda: tf.constant(WORDS), "array": lambda: np.array(WORDS), "list": lambda: WORDS}.items():
        out["adapt " + name] = lambda d=data: looked(L.StringLookup, forms["matrix"], adapt=d())()
    out["adapt tf_idf"] = looked(L.StringLookup, forms["matrix"], adapt=np.array([["a", "b"], ["c", "a"]]), output_mode="tf_idf")
    out["adapt tf_idf ragged"] = looked(L.StringLookup, forms["matrix"], adapt=tf.ragged.constant([["a", "a", "b"], [], ["c", "a"]]), output_mode="tf_idf")
    out["adapt tf_idf padded"] = looked(L.StringLookup, forms["matrix"], adapt=np.array([["a", "b"], ["c", "a"]]), output_mode="tf_idf", max_tokens=7, pad_to_max_tokens=True)
    out["adapt ties"] = looked(L.StringLookup, forms["matrix"], adapt=np.array(["b", "a", "ab", "B", "é"]))
    out["adapt again"] = lambda: [(layer := L.StringLookup(), layer.adapt(["a", "b"]), layer.adapt(["c"]), layer.get_vocabulary())[-1]]
    out["not adapted"] = looked(L.StringLookup, forms["matrix"])
    out["not adapted, count"] = looked(L.StringLookup, forms["matrix"], output_mode="count")
    out["no places"] = looked(L.StringLookup, lambda: ["a", "c"], vocabulary=["a", "c"], num_oov_indices=0)
    out["no places, unknown"] = looked(L.StringLookup, lambda: ["a", "z"], vocabulary=["a", "c"], num_oov_indices=0)
    out["invert string"] = looked(L.StringLookup, lambda: [[0, 1, 2, 9]], vocabulary=["a", "c"], invert=True)
    out["invert masked"] = looked(L.StringLookup, lambda: [[0, 1, 2, 9]], vocabulary=["", "[UNK]", "a"], mask_token="", invert=True)
    out["invert integer"] = looked(L.IntegerLookup, lambda: [[0, 1, 2, 9]], vocabulary=[5, 7], invert=True)
    for name, options in {"max 1": dict(max_tokens=1), "pad": dict(pad_to_max_tokens=True), "oov": dict(num_oov_indices=-1), "mode": dict(output_mode="x"), "invert": dict(invert=True, output_mode="count"),
                          "sparse": dict(sparse=True), "idf": dict(idf_weights=[1.]), "empty": dict(vocabulary=[]), "repeated": dict(vocabulary=["a", "b", "a"]), "float": dict(dtype="float32"),
                          "mask inside": dict(vocabulary=["a", "m"], mask_token="m"), "oov inside": dict(vocabulary=["a", "[UNK]"], invert=True), "many": dict(vocabulary=["a", "b"], max_tokens=2),
                          "no idf": dict(vocabulary=["a"], output_mode="tf_idf"), "file": dict(vocabulary="/nowhere/words.txt"), "short idf": dict(vocabulary=["a", "b"], output_mode="tf_idf", idf_weights=[1.])}.items():
        out["string error " + name] = looked(L.StringLookup, forms["matrix"], **options)
    out["integer error dtype"] = looked(L.IntegerLookup, numbers["matrix"], vocabulary_dtype="float32")
    out["adapt given"] = lambda: L.StringLookup(vocabulary=["a"]).adapt(["b"])

    def from_file():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "words.txt")
            with open(path, "w") as file:
                file.write("a\nc\n")
            return [looked(L.StringLookup, forms["matrix"], vocabulary=path)()[:5], looked(L.StringLookup, lambda: [1, 2, 3], vocabulary=path, invert=True)()[:5],
                    looked(L.TextVectorization, lambda: ["a b c"], vocabulary=path)()[:5]]

    def set_later():
        layer = L.StringLookup()
        layer.set_vocabulary(["x", "y"])
        first = layer(["y", "z"])
        layer.set_vocabulary(tf.constant(["[UNK]", "z"]))
        return [first, layer(["y", "z"]), layer.get_vocabulary()]

    out["file"], out["set vocabulary"] = from_file, set_later
    out["map"] = lambda: list(tf.data.Dataset.from_tensor_slices(WORDS).map(L.StringLookup(vocabulary=["a", "c"])).as_numpy_iterator())

    # ---- TextVectorization ----
    texts = {"column": lambda: tf.constant([[t] for t in TEXTS]), "vector": lambda: TEXTS, "scalar": lambda: tf.constant(TEXTS[0])}
    for name, options in {"plain": {}, "lower": dict(standardize="lower"), "strip": dict(standardize="strip_punctuation"), "none": dict(standardize=None), "character": dict(split="character"),
                          "own": dict(standardize=lambda x: tf.strings.upper(x), split=lambda x: tf.strings.split(x, "U")), "ngrams": dict(ngrams=2), "some ngrams": dict(ngrams=(1, 3)),
                          "count": dict(output_mode="count"), "multi_hot": dict(output_mode="multi_hot"), "tf_idf": dict(output_mode="tf_idf"), "words": dict(output_mode=None),
                          "length": dict(output_sequence_length=3), "long": dict(output_sequence_length=9), "few": dict(max_tokens=4), "ragged": dict(ragged=True),
                          "padded": dict(output_mode="count", max_tokens=12, pad_to_max_tokens=True), "sparse": dict(output_mode="multi_hot", sparse=True)}.items():
        for form, x in texts.items():
            configless = "own" == name
            run = looked(L.TextVectorization, x, adapt=TEXTS, **options)
            out["text %s %s" % (name, form)] = (lambda r=run: r()[:5]) if configless else run
    out["text whole"] = looked(L.TextVectorization, lambda: [["a", "b"], ["c", "a"]], vocabulary=["a", "b"], split=None, output_sequence_length=4)
    out["text whole cut"] = looked(L.TextVectorization, lambda: [["a", "b"], ["c", "a"]], vocabulary=["a", "b"], split=None, output_sequence_length=1)
    out["text wide"] = looked(L.TextVectorization, lambda: [["a", "b"]], vocabulary=["a", "b"])
    out["text dataset"] = looked(L.TextVectorization, texts["column"], adapt=tf.data.Dataset.from_tensor_slices(TEXTS).batch(2))
    for name, options in {"standardize": dict(standardize="x"), "split": dict(split="x"), "mode": dict(output_mode="one_hot"), "ngrams": dict(ngrams="2"), "length": dict(output_mode="count", output_sequence_length=2),
                          "ragged": dict(ragged=True, output_mode="count"), "both": dict(ragged=True, output_sequence_length=2)}.items():
        out["text error " + name] = looked(L.TextVectorization, texts["vector"], vocabulary=["a"], **options)

    # ---- in models and files ----
    def kept(make, x, shape, dtype, file):
        def run():
            layer = make()
            i = k.Input(shape, dtype=dtype)
            model = k.Model(i, layer(i))
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, file)
                model.save(path)
                again = k.models.load_model(path)
                return [shown(model(x)), shown(again(x)), shown(tf.constant(again.predict(x, verbose=0)))]
        return run

    def adapted(layer, data):
        layer.adapt(data)
        return layer

    for file in ("m.keras", "m", "m.h5"):
        for name, make in {"given": lambda: L.StringLookup(vocabulary=["a", "c"]), "learnt": lambda: adapted(L.StringLookup(), np.array(WORDS)),
                           "counted": lambda: adapted(L.StringLookup(output_mode="count"), np.array(WORDS)), "tf_idf": lambda: adapted(L.StringLookup(output_mode="tf_idf"), np.array(WORDS[:2]))}.items():
            out["file %s string %s" % (file, name)] = kept(make, tf.constant(WORDS), (3,), "string", file)
        out["file %s integer" % file] = kept(lambda: adapted(L.IntegerLookup(mask_token=5), np.array(NUMBERS)), tf.constant(NUMBERS), (3,), "int32", file)
        for name, options in {"plain": {}, "count": dict(output_mode="count"), "tf_idf": dict(output_mode="tf_idf"), "length": dict(output_sequence_length=4)}.items():
            out["file %s text %s" % (file, name)] = kept(lambda o=options: adapted(L.TextVectorization(**o), TEXTS), tf.constant([[t] for t in TEXTS]), (1,), "string", file)
    return out
