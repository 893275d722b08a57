"""Feature columns and DenseFeatures: what columns say of themselves, the numbers they give, their errors. tests/golden/features.py runs the cases under
TensorFlow and writes features.json; test_features.py runs them here, at once and in a function."""
import os
import tempfile

FEATURES = {"age": [[20.], [30.], [17.]], "pair": [[1., 2.], [3., 4.], [5., 6.]], "word": [["fixed"], ["zzz"], ["normal"]], "id": [[0], [7], [3]],
            "number": [[3], [9], [1]], "weight": [[1.], [20.], [.5]]}


def features(tf):
    """The features of all cases, dense and sparse ones."""
    made = {key: tf.constant(value, tf.int64 if key in ("id", "number") else None) for key, value in FEATURES.items()}
    made["words"] = tf.sparse.from_dense([["fixed", "normal"], ["", ""], ["normal", "normal"]])
    made["weights"] = tf.sparse.from_dense([[1., 2.], [0., 0.], [.5, 3.]])
    made["flat"] = tf.constant([1., 2., 3.])
    made["flat words"] = tf.constant(["fixed", "", "other"])
    return made


def vocabulary_file():
    path = os.path.join(tempfile.gettempdir(), "thalweg_vocabulary.txt")
    with open(path, "w") as file:
        file.write("fixed\nnormal\nreversible\n")
    return path


def columns(tf):
    """Columns by name, each made anew."""
    fc = tf.feature_column
    weights = tf.keras.initializers.Constant([[.1, .2], [.3, .4], [.5, .6]])

    def words(key="word", **options):
        return fc.categorical_column_with_vocabulary_list(key, ["fixed", "normal", "reversible"], **options)
    age = fc.numeric_column("age")
    buckets = fc.bucketized_column(age, [18, 25.5, 30])
    return {
        "numeric": age, "numeric pair": fc.numeric_column("pair", shape=(2,), default_value=.5), "numeric flat": fc.numeric_column("flat"),
        "numeric defaults": fc.numeric_column("pair", shape=[2], default_value=[1., 2.], dtype=tf.float64),
        "numeric normalized": fc.numeric_column("age", normalizer_fn=lambda x: (x - 20.) / 10.),
        "bucketized": buckets, "bucketized pair": fc.bucketized_column(fc.numeric_column("pair", shape=2), boundaries=[2., 4.5]),
        "list": fc.indicator_column(words()), "list default": fc.indicator_column(words(default_value=2)),
        "list more": fc.indicator_column(words(num_oov_buckets=3)), "list flat": fc.indicator_column(words("flat words")),
        "list numbers": fc.indicator_column(fc.categorical_column_with_vocabulary_list("number", [1, 2, 3])),
        "list numbers more": fc.indicator_column(fc.categorical_column_with_vocabulary_list("number", [1, 2, 3], num_oov_buckets=2)),
        "file": fc.indicator_column(fc.categorical_column_with_vocabulary_file("word", vocabulary_file())),
        "file more": fc.indicator_column(fc.categorical_column_with_vocabulary_file("word", vocabulary_file(), vocabulary_size=2, num_oov_buckets=2)),
        "hash": fc.indicator_column(fc.categorical_column_with_hash_bucket("word", 7)),
        "hash numbers": fc.indicator_column(fc.categorical_column_with_hash_bucket("number", 5, dtype=tf.int64)),
        "identity": fc.indicator_column(fc.categorical_column_with_identity("id", 4)),
        "identity default": fc.indicator_column(fc.categorical_column_with_identity("id", 4, default_value=1)),
        "several words": fc.indicator_column(words("words")),
        "weighted": fc.indicator_column(fc.weighted_categorical_column(words("words"), "weights")),
        "weighted dense": fc.indicator_column(fc.weighted_categorical_column(words(), "weight")),
        "crossed": fc.indicator_column(fc.crossed_column(["word", "id"], 11)), "crossed columns": fc.indicator_column(fc.crossed_column([buckets, "word"], 20)),
        "crossed words": fc.indicator_column(fc.crossed_column([buckets, words()], 20, hash_key=5)),
        "crossed crossed": fc.indicator_column(fc.crossed_column([fc.crossed_column(["word", "id"], 5), buckets], 13)),
        "embedding": fc.embedding_column(words("words"), 2, initializer=weights),
        "embedding sum": fc.embedding_column(words("words"), 2, combiner="sum", initializer=weights),
        "embedding sqrtn": fc.embedding_column(words("words"), 2, combiner="sqrtn", initializer=weights),
        "embedding norm": fc.embedding_column(words("words"), 2, initializer=weights, max_norm=.4),
        "embedding weighted": fc.embedding_column(fc.weighted_categorical_column(words("words"), "weights"), 2, initializer=weights),
        "embedding weighted sum": fc.embedding_column(fc.weighted_categorical_column(words("words"), "weights"), 2, combiner="sum", initializer=weights),
        "embedding weighted sqrtn": fc.embedding_column(fc.weighted_categorical_column(words("words"), "weights"), 2, combiner="sqrtn", initializer=weights),
        "embedding fixed": fc.embedding_column(words(), 2, initializer=weights, trainable=False),
        "embedding buckets": fc.embedding_column(buckets, 1, initializer=tf.keras.initializers.Ones()),
    }


def described(column):
    """What a column says of itself."""
    asked = {}
    for name in ("name", "num_buckets", "variable_shape", "parse_example_spec"):
        try:
            value = getattr(column, name)
            asked[name] = list(value) if name == "variable_shape" else str(value) if name == "parse_example_spec" else value
        except AttributeError:
            asked[name] = "AttributeError"
    return asked


def errors(tf):
    """Calls that fail."""
    fc, dense = tf.feature_column, tf.keras.layers.DenseFeatures
    num, words, hashed = fc.numeric_column("age"), fc.categorical_column_with_vocabulary_list("word", ["a"]), fc.categorical_column_with_hash_bucket("word", 3)
    return {
        "categorical in a layer": lambda: dense([words]), "empty": lambda: dense([]), "no column": lambda: dense([num, 3]),
        "twice": lambda: dense([num, fc.numeric_column("age")])({"age": [1.]}), "missing": lambda: dense(num)({"agx": tf.constant([1.])}),
        "no dict": lambda: dense(num)(tf.constant([1.])), "scalar": lambda: dense(num)({"age": tf.constant(3.)}),
        "shape 0": lambda: fc.numeric_column("a", shape=(0,)), "texts": lambda: fc.numeric_column("a", dtype=tf.string),
        "boundaries of words": lambda: fc.bucketized_column(words, [1]), "no boundaries": lambda: fc.bucketized_column(num, []),
        "unsorted": lambda: fc.bucketized_column(num, [3, 1]), "matrix": lambda: fc.bucketized_column(fc.numeric_column("q", shape=(2, 2)), [3, 4]),
        "no words": lambda: fc.categorical_column_with_vocabulary_list("a", []),
        "both": lambda: fc.categorical_column_with_vocabulary_list("a", ["a"], default_value=0, num_oov_buckets=1),
        "negative": lambda: fc.categorical_column_with_vocabulary_list("a", ["a"], num_oov_buckets=-1),
        "other dtype": lambda: fc.categorical_column_with_vocabulary_list("a", ["a"], dtype=tf.int64),
        "bucket size": lambda: fc.categorical_column_with_hash_bucket("a", 0), "no size": lambda: fc.categorical_column_with_hash_bucket("a", None),
        "hash floats": lambda: fc.categorical_column_with_hash_bucket("a", 3, dtype=tf.float32),
        "no buckets": lambda: fc.categorical_column_with_identity("a", 0), "default": lambda: fc.categorical_column_with_identity("a", 3, default_value=5),
        "one key": lambda: fc.crossed_column(["a"], 3), "cross size": lambda: fc.crossed_column(["a", "b"], 0), "cross numeric": lambda: fc.crossed_column(["a", num], 3),
        "cross hash": lambda: fc.crossed_column(["a", hashed], 3), "dimension": lambda: fc.embedding_column(words, 0),
        "indicator": lambda: fc.indicator_column(num), "half a checkpoint": lambda: fc.embedding_column(words, 3, ckpt_to_load_from="a"),
        "no file": lambda: fc.categorical_column_with_vocabulary_file("a", ""), "lost file": lambda: fc.categorical_column_with_vocabulary_file("a", "/nonexistent"),
        "file size": lambda: fc.categorical_column_with_vocabulary_file("a", vocabulary_file(), vocabulary_size=0),
        "weight dtype": lambda: fc.weighted_categorical_column(words, "a", dtype=tf.string),
        "spec": lambda: fc.make_parse_example_spec([num, "words"]), "specs": lambda: fc.make_parse_example_spec([num, fc.numeric_column("age", shape=(2,))]),
        "shared": lambda: fc.shared_embeddings([words], 2), "dtype of words": lambda: dense(fc.indicator_column(words))({"word": tf.constant([1, 2])}),
        "sparse numbers": lambda: dense(num)({"age": tf.sparse.from_dense([[1.]])}),
    }


def failure(call):
    """The class and the first line that tells what is wrong."""
    try:
        call()
    except Exception as error:
        lines = [line for line in str(error).split("\n") if line and not line.startswith("Exception encountered")]
        return [type(error).__name__, lines[0]]
    return None
