"""Small programs over datasets whose results in TensorFlow are in data.json; see tests/golden/data.py. `programs(tf, folder)` gives names with
functions of no arguments; `outcome` writes down what one gives, or the error that it raises."""
import gzip
import os
import zlib

import numpy as np

# The ops that the programs run.
OPS = ["AnonymousIteratorV3", "AssertCardinalityDataset", "BatchDatasetV2", "CSVDatasetV2", "CacheDatasetV2", "ConcatenateDataset",
       "DatasetCardinality", "DatasetToSingleElement", "DenseToSparseBatchDataset", "DirectedInterleaveDataset", "DummyMemoryCache", "DummySeedGenerator",
       "FilterDataset", "FixedLengthRecordDatasetV2", "FlatMapDataset", "GeneratorDataset", "GroupByReducerDataset", "GroupByWindowDataset",
       "IgnoreErrorsDataset",       "InterleaveDataset", "IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync", "MakeIterator", "MapDataset",
       "OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone", "OptionsDataset", "PaddedBatchDatasetV2",
       "ParallelBatchDataset", "ParallelInterleaveDatasetV4", "ParallelMapDatasetV2", "PrefetchDataset", "RandomDatasetV2",
       "RangeDataset", "ReduceDataset", "RepeatDataset", "ScanDataset", "ShardDataset", "ShuffleDatasetV3", "SkipDataset",
       "TFRecordDataset", "TakeDataset", "TakeWhileDataset", "TensorDataset", "TensorSliceDataset", "TextLineDataset", "UnbatchDataset",
       "UniqueDataset", "WindowDataset", "ZipDataset"]


def plain(value):
    """Tensors as lists, datasets as lists of elements."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [plain(v) for v in value]
    if isinstance(value, (list, tuple)):
        return type(value)(plain(v) for v in value)
    if hasattr(value, "element_spec") and hasattr(value, "cardinality"):
        return [plain(v) for v in value]
    return plain(value.numpy()) if hasattr(value, "numpy") else value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def outcome(tf, program, folder):
    tf.random.set_seed(11)
    try:
        return repr(plain(program())).replace(folder, "FOLDER")
    except Exception as error:  # noqa: BLE001: whatever it is, it is compared
        text = str(error).split("}} ")[-1].split(" [Op:")[0].split(" name:")[0].split("\n")[0]
        return "! %s %s" % (type(error).__name__, text.replace(folder, "FOLDER"))


def files(folder):
    with open(os.path.join(folder, "l1.txt"), "w", newline="") as f:
        f.write("a\nb\r\n\nc")
    with open(os.path.join(folder, "l2.txt"), "w") as f:
        f.write("d\n")
    with gzip.open(os.path.join(folder, "l1.gz"), "wb") as f:
        f.write(b"x\ny\n")
    with open(os.path.join(folder, "l1.z"), "wb") as f:
        f.write(zlib.compress(b"abcdefg"))
    with open(os.path.join(folder, "t.csv"), "w") as f:
        f.write("survived,sex,age,fare,n\n0,male,22.0,7.25,1\n1,female,38.0,71.2833,\n1,female,26.0,7.925,3\n0,male,28.0,8.4583,4\n0,,2.0,x,5\n")


def generate(n=3):
    for i in range(n):
        yield i, [float(i)] * i


def fail_later():
    yield 1
    raise KeyError("x")


def programs(tf, folder):
    files(folder)
    cases = {}
    cases.update(steps(tf))
    cases.update(orders(tf))
    cases.update(windows(tf))
    cases.update(sources(tf, folder))
    cases.update(shown(tf, folder))
    cases.update(values(tf, folder))
    cases.update(mistakes(tf, folder))
    cases.update(traced(tf))
    return cases


def orders(tf):
    D = tf.data.Dataset
    out = {}
    for n in (1, 2, 3, 5, 7, 10, 100, 1000):
        for buffer in (1, 2, 3, 10, 64, 1000):
            out["shuffle %d of %d" % (n, buffer)] = lambda n=n, buffer=buffer: list(D.range(n).shuffle(buffer, seed=5))[:60]

    def twice(dataset):
        return [list(dataset), list(dataset), list(dataset)]
    out["shuffle again"] = lambda: twice(D.range(7).shuffle(3, seed=2))
    out["shuffle once"] = lambda: twice(D.range(7).shuffle(3, seed=2, reshuffle_each_iteration=False))
    out["shuffle repeated"] = lambda: D.range(5).shuffle(5, seed=1).repeat(3)
    out["shuffle all"] = lambda: D.range(9).shuffle(tf.data.UNKNOWN_CARDINALITY, seed=1)

    def globally():
        tf.random.set_seed(3)
        return [list(D.range(7).shuffle(3)), list(D.range(7).shuffle(3)), list(D.range(7).shuffle(3, seed=4))]
    out["shuffle by the global seed"] = globally
    out["random"] = lambda: D.random(seed=4).take(5)
    out["random again"] = lambda: twice(D.random(seed=4, rerandomize_each_iteration=True).take(3))
    out["sample"] = lambda: D.sample_from_datasets([D.range(10), D.range(100, 110)], weights=[.3, .7], seed=7).take(12)
    out["sample evenly"] = lambda: D.sample_from_datasets([D.range(3), D.range(100, 103), D.range(200, 210)], seed=7)
    choice = np.array([0, 1, 1, 0, 0, 0, 1, 1], np.int64)
    for stop in (True, False):
        out["choose %s" % stop] = lambda stop=stop: D.choose_from_datasets([D.range(3), D.range(10, 15)], D.from_tensor_slices(choice), stop)
    for cycle in (1, 2, 3, 5):
        for block in (1, 2, 3):
            for parallel in (None, 2, -1):
                out["interleave %d %d %s" % (cycle, block, parallel)] = lambda c=cycle, b=block, p=parallel: D.range(1, 6).interleave(
                    lambda x: D.from_tensors(x).repeat(x + 1), cycle_length=c, block_length=b, num_parallel_calls=p)
    return out


def steps(tf):
    D = tf.data.Dataset
    r = D.range(10)
    variable = tf.Variable(2, dtype=tf.int64)

    def cached():
        c = r.map(lambda x: x + 1).cache()
        return [list(c), list(c), c.cardinality()]

    def branch(x):
        if x % 2 == 0:
            return x * 10
        return -x
    return {
        "map": lambda: r.map(lambda x: x * 2), "map tuple": lambda: D.from_tensor_slices(([1, 2], [3., 4.])).map(lambda a, b: (b, {"k": a})),
        "map list": lambda: r.take(2).map(lambda x: [x, x + 1]), "map parallel": lambda: r.map(lambda x: x * x, num_parallel_calls=3),
        "map any order": lambda: sorted(plain(D.range(100).map(lambda x: x * x, num_parallel_calls=3, deterministic=False))),
        "map variable": lambda: r.take(3).map(lambda x: x * variable), "map branch": lambda: r.map(branch),
        "map expression": lambda: r.map(lambda x: x if x > 5 else -x), "map none": lambda: D.from_tensors((1, None)).map(lambda a, b: (a, b)),
        "batch": lambda: r.batch(3), "batch dropped": lambda: r.batch(3, drop_remainder=True), "batch strings": lambda: D.from_tensor_slices(["a", "b"]).map(
            lambda s: s + "!").batch(2), "batch of batch": lambda: r.batch(2).batch(2), "parallel batch": lambda: r.batch(4, num_parallel_calls=2),
        "take skip": lambda: [list(r.take(3)), list(r.take(-1)), list(r.skip(7)), list(r.skip(-1)), list(r.take(0))],
        "repeat": lambda: [list(D.range(2).repeat(3)), list(D.range(2).repeat().take(5)), list(D.range(0).repeat().take(5)), list(D.range(2).repeat(0))],
        "shard": lambda: [list(r.shard(3, i)) for i in range(3)], "filter": lambda: r.filter(lambda x: x % 3 == 0),
        "zip": lambda: D.zip((r, {"a": D.range(3), "b": D.range(20)})), "concatenate": lambda: r.concatenate(D.range(3)),
        "flat_map": lambda: D.range(4).flat_map(lambda x: D.range(x)), "enumerate": lambda: D.from_tensor_slices(["a", "b"]).enumerate(5),
        "scan": lambda: r.scan(np.int64(1), lambda s, x: (s + x, s * x)), "take_while": lambda: r.take_while(lambda x: x < 4),
        "reduce": lambda: r.reduce(np.int64(0), lambda s, x: s + x),
        "reduce pair": lambda: r.reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * 2)),
        "reduce shape": lambda: D.range(3).reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0)),
        "cache": cached, "prefetch": lambda: r.prefetch(2), "prefetch some": lambda: r.prefetch(tf.data.AUTOTUNE), "prefetch none": lambda: r.prefetch(0),
        "unique": lambda: [list(D.from_tensor_slices([1, 2, 1, 3, 2]).unique()), list(D.from_tensor_slices(["a", "b", "a"]).unique())],
        "counter": lambda: D.counter(3, 2).take(4), "single": lambda: D.from_tensors((1, {"a": 2.})).get_single_element(),
        "ignore_errors": lambda: D.from_tensor_slices([1., 0., 2.]).map(lambda x: tf.debugging.check_numerics(1 / x, "e")).ignore_errors(),
        "options": lambda: r.with_options(tf.data.Options()).take(2), "apply": lambda: r.apply(lambda d: d.take(2)),
        "range": lambda: [list(D.range(2, 9, 3)), list(D.range(5, 0, -2)), list(D.range(3, output_type=tf.float32)), list(D.range(5, 5))],
        "py_function": lambda: r.take(3).map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64)),
        "numpy": lambda: list(D.from_tensor_slices({"a": [[1, 2], [3, 4]], "b": ["x", "y"]}).as_numpy_iterator()),
        "cardinality": lambda: [d.cardinality() for d in (
            r, r.repeat(), r.filter(lambda x: True), r.batch(3), r.batch(3, drop_remainder=True), r.take(3), r.take(30), r.repeat().take(4), r.skip(3),
            r.repeat(2), r.shard(3, 2), D.zip((r, D.range(4))), D.zip((r, r.repeat())), r.concatenate(r), r.flat_map(lambda x: D.range(3)),
            r.batch(4).unbatch(), r.batch(5, drop_remainder=True).unbatch(), r.window(3), r.window(3, 1), r.window(3, 1, drop_remainder=True),
            r.cache(), r.prefetch(1), r.shuffle(3), r.map(lambda x: x), r.scan(np.int64(0), lambda s, x: (s, x)), r.take_while(lambda x: True),
            r.enumerate(), D.random(1), r.padded_batch(3), D.range(0).filter(lambda x: True), r.repeat().batch(2), r.repeat(0), r.take(-1),
            r.apply(tf.data.experimental.assert_cardinality(10)))],
    }


def windows(tf):
    D = tf.data.Dataset
    r = D.range(10)
    out = {"window %s" % (a,): lambda a=a: [list(D.range(7).window(*a)), D.range(7).window(*a).cardinality()]
           for a in ((3,), (3, 1), (3, 2, 2), (2, 5), (2, 1, 3, True), (3, None, 1, True))}
    lengths = D.from_tensor_slices([1, 5, 2, 7, 3, 9, 1]).map(lambda n: tf.range(n))

    def reduced(key, *functions):
        return tf.data.experimental.group_by_reducer(key, tf.data.experimental.Reducer(*functions))
    out.update({
        "window pairs": lambda: [[list(x), list(y["k"])] for x, y in D.from_tensor_slices(([1, 2, 3], {"k": [4, 5, 6]})).window(2)],
        "window flat": lambda: D.range(7).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3)),
        "window zip": lambda: D.from_tensor_slices(([1, 2, 3], [4, 5, 6])).window(2).flat_map(lambda a, b: D.zip((a, b))),
        "unbatch": lambda: [list(D.range(7).batch(3).unbatch()), list(D.from_tensors([[1, 2], [3, 4]]).unbatch())],
        "padded": lambda: lengths.padded_batch(3), "padded to": lambda: D.range(1, 6).map(lambda x: (tf.range(x), x)).padded_batch(
            3, padded_shapes=([7], []), padding_values=(tf.constant(-1, tf.int64), tf.constant(9, tf.int64))),
        "padded matrix": lambda: D.range(1, 4).map(lambda x: tf.ones([x, 4 - x])).padded_batch(3, padded_shapes=[None, None]),
        "padded strings": lambda: D.from_tensor_slices([["a", "b"], ["c", "d"]]).padded_batch(2, padded_shapes=[3], padding_values="?"),
        "padded too small": lambda: lengths.padded_batch(2, padded_shapes=[3]),
        "group_by_window": lambda: r.group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), window_size=2),
        "group_by_window sizes": lambda: r.group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), window_size_func=lambda k: k + 1),
        "group_by_reducer": lambda: r.apply(reduced(lambda x: 2 - x % 3, lambda k: (0., k), lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1] + 1),
                                                    lambda total, count: {"mean": total / tf.cast(count, tf.float32)})),
        "group_by_reducer pairs": lambda: D.zip((r, r)).apply(reduced(lambda x, y: x % 2, lambda k: k, lambda s, pair: s + pair[1], lambda s: s)),
        "group_by_reducer growing": lambda: r.apply(reduced(lambda x: x % 4, lambda k: tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0),
                                                            lambda s: s)),
        "group_by_reducer none": lambda: r.take(0).apply(reduced(lambda x: x, lambda k: k, lambda s, x: s, lambda s: s)),
        "group_by_reducer key": lambda: r.apply(reduced(lambda x: tf.cast(x, tf.int32), lambda k: 0, lambda s, x: s, lambda s: s)),
        "group_by_reducer state": lambda: r.apply(reduced(lambda x: x, lambda k: 0, lambda s, x: tf.cast(s, tf.float32), lambda s: s)),
        "group_by_reducer fails": lambda: r.apply(reduced(lambda x: x, lambda k: k, lambda s, x: 1 // s, lambda s: s)),
        "group_by_reducer in a function": tf.function(lambda: r.apply(reduced(lambda x: x % 3, lambda k: k, lambda s, x: s + x, lambda s: s)).reduce(
            tf.constant(0, tf.int64), lambda a, b: a * 100 + b)),
        "bucket": lambda: lengths.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 6], [2, 2, 2]),
        "bucket boundary": lambda: lengths.filter(lambda e: tf.shape(e)[0] < 6).bucket_by_sequence_length(
            lambda e: tf.shape(e)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True),
        "bucket beyond": lambda: lengths.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 6], [9, 9, 9], pad_to_bucket_boundary=True),
        "bucket shown": lambda: [str(lengths.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 6], [2, 2, 2], **more)) for more in (
            {}, {"pad_to_bucket_boundary": True}, {"no_padding": True}, {"drop_remainder": True})],
        "bucket pairs": lambda: lengths.map(lambda e: (e, {"n": tf.size(e)})).bucket_by_sequence_length(
            lambda e, n: tf.size(e), [3], [2, 3], padded_shapes=([10], {"n": []}), padding_values=(-1, {"n": 0})),
        "bucket whole": lambda: D.range(7).map(lambda x: tf.fill([2], x)).bucket_by_sequence_length(
            lambda e: tf.cast(e[0], tf.int32), [3], [2, 3], no_padding=True),
        "bucket int64": lambda: lengths.bucket_by_sequence_length(lambda e: tf.size(e, tf.int64), [3], [2, 3]),
    })
    to_dense = tf.sparse.to_dense
    for name, make in {"open": lambda: lengths.sparse_batch(3, [None]), "closed": lambda: lengths.sparse_batch(2, [10]),
                       "large": lambda: lengths.sparse_batch(3, [4]), "ranks": lambda: lengths.sparse_batch(2, [2, None]),
                       "size": lambda: lengths.sparse_batch(0, [10]), "pair": lambda: D.zip((r, r)).sparse_batch(2, [3]),
                       "tuple": lambda: D.from_tensors((1,)).sparse_batch(2, []), "scalars": lambda: r.sparse_batch(4, []),
                       "texts": lambda: D.from_tensor_slices([["a", "b"], ["c", "d"]]).sparse_batch(3, [3]),
                       "matrices": lambda: D.range(1, 4).map(lambda x: tf.ones([x, 4 - x])).sparse_batch(2, [3, None])}.items():
        out["sparse " + name] = lambda make=make: [to_dense(batch, default_value="" if batch.dtype == tf.string else None) for batch in make()]
        out["sparse spec " + name] = lambda make=make: (make().element_spec, make().cardinality())
    return out


def sources(tf, folder):
    D = tf.data.Dataset

    def at(name):
        return os.path.join(folder, name)
    one, two = at("l1.txt"), at("l2.txt")
    signature = (tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32))
    repeated = D.from_generator(generate, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
    return {
        "generator": lambda: D.from_generator(generate, output_types=(tf.int32, tf.float32)),
        "generator signature": lambda: D.from_generator(generate, output_signature=signature, args=(4,)),
        "generator twice": lambda: [list(repeated), list(repeated)],
        "generator dict": lambda: D.from_generator(lambda: iter([{"a": 1, "b": "x"}]), output_types={"a": tf.int32, "b": tf.string}),
        "generator batch": lambda: D.from_generator(lambda: iter(range(5)), tf.int64, []).batch(2),
        "generator wrong": lambda: D.from_generator(lambda: iter(["a"]), tf.int32),
        "generator shape": lambda: D.from_generator(lambda: iter([[1, 2]]), tf.int32, output_shapes=[3]),
        "generator raises": lambda: D.from_generator(fail_later, tf.int32),
        "lines": lambda: tf.data.TextLineDataset([one, two]), "lines skipped": lambda: tf.data.TextLineDataset(one).skip(1),
        "lines of names": lambda: tf.data.TextLineDataset(D.from_tensor_slices([one, two])),
        "lines parallel": lambda: tf.data.TextLineDataset([one, two], num_parallel_reads=2),
        "lines gzip": lambda: tf.data.TextLineDataset(at("l1.gz"), compression_type="GZIP"), "lines missing": lambda: tf.data.TextLineDataset("/nonexist"),
        "pieces": lambda: tf.data.FixedLengthRecordDataset(one, 2, header_bytes=1), "pieces odd": lambda: tf.data.FixedLengthRecordDataset(one, 3, header_bytes=1),
        "pieces footer": lambda: tf.data.FixedLengthRecordDataset([one], 2, header_bytes=1, footer_bytes=2),
        "pieces zlib": lambda: tf.data.FixedLengthRecordDataset(at("l1.z"), 2, footer_bytes=1, compression_type="ZLIB"),
        "records missing": lambda: tf.data.TFRecordDataset("/nonexist"),
        "list_files": lambda: D.list_files(at("l?.txt"), shuffle=False), "list_files seed": lambda: D.list_files([at("l*")], seed=3),
        "list_files none": lambda: D.list_files(at("none*")),
    }


def shown(tf, folder):
    D = tf.data.Dataset
    d = D.from_tensor_slices([1, 2, 3])
    made = {
        "from_tensor_slices": lambda: d, "from_tensors": lambda: D.from_tensors({"a": 1, "b": (2., [3])}), "range": lambda: D.range(5),
        "map": lambda: d.map(lambda x: x + 1), "parallel map": lambda: d.map(lambda x: x + 1, num_parallel_calls=-1), "batch": lambda: d.batch(2),
        "batch dropped": lambda: d.batch(2, drop_remainder=True), "parallel batch": lambda: d.batch(2, num_parallel_calls=2), "take": lambda: d.take(1),
        "skip": lambda: d.skip(1), "repeat": lambda: d.repeat(), "shuffle": lambda: d.shuffle(3), "filter": lambda: d.filter(lambda x: x > 1),
        "zip": lambda: D.zip((d, d)), "zip more": lambda: D.zip(d, d), "concatenate": lambda: d.concatenate(d), "flat_map": lambda: d.flat_map(
            lambda x: D.from_tensors(x)), "interleave": lambda: d.interleave(lambda x: D.from_tensors(x)), "parallel interleave": lambda: d.interleave(
            lambda x: D.from_tensors(x), num_parallel_calls=2), "padded_batch": lambda: d.padded_batch(2), "window": lambda: d.window(2),
        "shard": lambda: d.shard(2, 0), "unbatch": lambda: d.batch(2).unbatch(), "cache": lambda: d.cache(), "prefetch": lambda: d.prefetch(1),
        "options": lambda: d.with_options(tf.data.Options()), "enumerate": lambda: d.enumerate(), "scan": lambda: d.scan(0, lambda s, x: (s + x, s)),
        "take_while": lambda: d.take_while(lambda x: x < 2), "group_by_window": lambda: d.group_by_window(
            lambda x: tf.cast(x, tf.int64), lambda k, w: w.batch(2), 2), "ignore_errors": lambda: d.ignore_errors(), "unique": lambda: d.unique(),
        "random": lambda: D.random(1), "counter": lambda: D.counter(), "assert": lambda: d.apply(tf.data.experimental.assert_cardinality(3)),
        "choose": lambda: D.choose_from_datasets([d, d], D.range(2)), "sample": lambda: D.sample_from_datasets([d, d], [.5, .5]),
        "generator": lambda: D.from_generator(lambda: iter([1]), tf.int32), "generator signature": lambda: D.from_generator(
            lambda: iter([1]), output_signature=tf.TensorSpec((), tf.int32)), "lines": lambda: tf.data.TextLineDataset("x"),
        "records": lambda: tf.data.TFRecordDataset("x"), "pieces": lambda: tf.data.FixedLengthRecordDataset("x", 2),
        "csv": lambda: tf.data.experimental.CsvDataset("x", [tf.int32]), "bucket": lambda: d.bucket_by_sequence_length(lambda x: x, [2], [1, 2]),
        "list_files": lambda: D.list_files(os.path.join(folder, "l*")), "nested": lambda: D.from_tensor_slices(([1, 2], {"a": [3, 4]})),
        "none": lambda: D.from_tensors((1, None)), "arrays": lambda: D.from_tensor_slices(np.zeros((3, 2, 4))), "empty": lambda: D.from_tensor_slices([]),
        "spec": lambda: tf.data.DatasetSpec.from_value(d), "window pair": lambda: D.zip((d, d)).window(2),
    }
    return {"shown " + name: lambda make=make: str(make()) for name, make in made.items()}


def values(tf, folder):
    """Comma-separated values."""
    path = os.path.join(folder, "x.csv")

    def csv(text, defaults, **options):
        def run():
            with open(path, "w", newline="") as f:
                f.write(text)
            return tf.data.experimental.CsvDataset(path, defaults, **options)
        return run
    i, s = tf.int32, tf.string
    texts = [("1,2\n3,4\n", [i, i], {}), ("1,2\n\n3,4", [i, i], {}), ("1,\n", [i, [7]], {}), ("1,\n", [i, i], {}), ("1,a\n", [i, i], {}), ("1\n", [i, i], {}),
             ("1,2,3\n", [i, i], {}), ('"a,b",c\r\n"d""e",f\r\n', [s, s], {}), ("a,b\n1,2\n", [i, i], {"header": True}), ("", [i], {"header": True}),
             ("1;2\n", [i, i], {"field_delim": ";"}), ("1,NA\n", [i, [5]], {"na_value": "NA"}), ("1,2,3\n4,5,6\n", [i, i], {"select_cols": [0, 2]}),
             ("1.5,2\n", [tf.float32, tf.int64], {}), ('a"b,2\n', [s, i], {}), ('"a', [s], {}), ('"a\nb",3\n', [s, i], {}), (" 1, 2\n", [i, i], {}),
             ("1,2", [i, i], {}), ('"a', [s], {"use_quote_delim": False}), ("\n", [[3]], {}), ("\n\n1\n", [[3]], {}), ("9999999999\n", [i], {}),
             ("1,2\n", [i, i], {"select_cols": [1, 0]}), ("1,2,3\n", [i], {"exclude_cols": [0, 2]}), ("1e3,inf\n", [tf.float32, tf.float32], {})]
    out = {"csv %r %s" % (text, sorted(options)): csv(text, defaults, **options) for text, defaults, options in texts}
    table = os.path.join(folder, "t.csv")
    make = tf.data.experimental.make_csv_dataset
    out["table"] = lambda: [(dict(x), y) for x, y in make([table], batch_size=3, label_name="survived", na_value="", num_epochs=1, ignore_errors=True,
                                                          shuffle=False)]
    out["table shown"] = lambda: str(make(table, 3, label_name="survived", num_epochs=1, shuffle=False))
    out["table columns"] = lambda: [dict(x) for x in make(table, 2, select_columns=["age", "sex"], num_epochs=1, shuffle=False)]
    out["table shuffled"] = lambda: [x["age"] for x, _ in make(table, 2, label_name="survived", num_epochs=1, shuffle=True, shuffle_seed=3,
                                                               shuffle_buffer_size=10, column_defaults=[0, "", 0., "", 0])]
    out["table names"] = lambda: [dict(x) for x in make(table, 3, column_names=["v", "w", "x", "y", "z"], header=True, num_epochs=1, shuffle=False)]
    out["table defaults"] = lambda: [dict(x) for x in make(table, 2, column_defaults=[tf.int64, "?", tf.float64, tf.string, [7]], num_epochs=1,
                                                           shuffle=False).take(1)]
    out["table of one"] = lambda: [dict(x) for x in make(table, 5, select_columns=[2], num_epochs=1, shuffle=False, prefetch_buffer_size=1)]
    out["table na"] = lambda: [dict(x) for x in make(table, 5, select_columns=["fare", "n"], na_value="x", num_epochs=1, shuffle=False)]
    out["table rows"] = lambda: str(make(table, 5, num_rows_for_inference=2, num_epochs=2, shuffle=False))
    out["table for ever"] = lambda: str(make(table, 2, label_name="n"))
    columns = {"select": {"select_columns": ["age", "weight"]}, "number": {"select_columns": [9]}, "twice": {"select_columns": ["age", 2]},
               "label": {"label_name": "weight"}, "label left out": {"label_name": "n", "select_columns": ["age"]}, "no header": {"header": False},
               "same names": {"column_names": ["a", "b", "a", "c", "d"]}, "few names": {"column_names": ["a", "b"]},
               "defaults": {"column_defaults": [1], "select_columns": ["age", "n"]}}
    for name, more in columns.items():
        out["table mistake " + name] = lambda more=more: make(table, 2, **more)
    kinds = os.path.join(folder, "k.csv")

    def kinds_table():
        with open(kinds, "w") as f:
            f.write('a,b,c,d,e,f,g,"h ""i"""\n1,2147483648,1e39,1e400,0x1,, 1,-inf\n2,1,1,1,1,,2.5 ,nan\n')
        return str(make(kinds, 1, num_epochs=1, shuffle=False))
    out["table kinds"] = kinds_table
    out["table files"] = lambda: kinds_table() and make(os.path.join(folder, "[kt].csv"), 2)
    return out


def mistakes(tf, folder):
    D = tf.data.Dataset
    d = D.from_tensor_slices([1, 2, 3])
    return {"mistake " + name: program for name, program in {
        "rows": lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])), "scalar": lambda: D.from_tensor_slices(3), "batch 0": lambda: d.batch(0),
        "map of 3": lambda: d.map(3), "filter": lambda: d.filter(lambda x: x), "concatenate": lambda: d.concatenate(D.from_tensors(1.)),
        "batch 2.5": lambda: plain(d.batch(2.5)), "range": lambda: D.range(), "zip": lambda: D.zip(3), "shard": lambda: d.shard(2, 3),
        "single": lambda: d.get_single_element(), "single of none": lambda: D.range(0).get_single_element(), "end": lambda: next(iter(D.range(0))),
        "shapes": lambda: list(D.from_tensor_slices([[1, 2], [3, 4]]).map(lambda x: x[:x[0]]).batch(2)), "reduce": lambda: d.reduce(0, lambda s, x: 1.),
        "index": lambda: d[0], "choice": lambda: D.choose_from_datasets([d], d), "weights": lambda: D.sample_from_datasets([d, d], [.5]),
        "padded": lambda: d.padded_batch(2, padded_shapes=[3]), "unbatch": lambda: d.unbatch(), "window 0": lambda: d.window(0),
        "dict rows": lambda: D.from_tensor_slices({"a": [1, 2], "b": [1]}), "shuffle 0": lambda: list(d.shuffle(0)),
        "generator": lambda: D.from_generator(3, tf.int32), "generator types": lambda: D.from_generator(lambda: iter([])),
        "prefetch": lambda: d.prefetch(-2), "apply": lambda: d.apply(lambda x: 3), "few": lambda: list(d.apply(tf.data.experimental.assert_cardinality(4))),
        "many": lambda: list(d.apply(tf.data.experimental.assert_cardinality(2))), "infinite": lambda: len(d.repeat()),
        "unknown": lambda: len(d.filter(lambda x: x > 1)), "scan": lambda: d.scan(0, lambda s, x: s),
        "interleave": lambda: d.interleave(lambda x: D.range(2), cycle_length=0), "parallel": lambda: d.map(lambda x: x, num_parallel_calls=0),
        "python": lambda: list(d.map(lambda x: tf.py_function(lambda v: [][1], [x], tf.int32))),
    }.items()}


def traced(tf):
    """Datasets inside of functions."""
    D = tf.data.Dataset
    r = D.range(10)
    variable = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def total(n):
        s = tf.constant(0, tf.int64)
        for x in D.range(n).map(lambda v: v * 2):
            s += x
        return s

    @tf.function
    def leaving(ds):
        s, n = tf.constant(0, tf.int64), tf.constant(0)
        for x in ds:
            if x > 5:
                break
            if x % 2 == 0:
                continue
            s += x
            n += 1
        return s, n

    @tf.function
    def returning(ds):
        for x in ds:
            if x > 5:
                return x
        return tf.constant(-1, tf.int64)

    @tf.function
    def numbered(ds):
        m = tf.constant(0, tf.int64)
        for i, (a, b) in ds.batch(2).enumerate():
            m += tf.reduce_sum(a) * i + tf.reduce_sum(b["k"])
        return m

    @tf.function
    def two(it):
        return next(it) + next(it)

    @tf.function
    def inside(ds):
        it, s = iter(ds), tf.constant(0, tf.int64)
        for _ in tf.range(3):
            s += next(it)
        return s

    @tf.function
    def over(it):
        s = tf.constant(0, tf.int64)
        for x in it:
            s += x
        return s

    @tf.function
    def over_until(it):
        s = tf.constant(0, tf.int64)
        for x in it:
            if x > 3:
                break
            s += x
        return s

    @tf.function
    def adding():
        for x in r:
            variable.assign_add(x)

    @tf.function
    def nested():
        s = tf.constant(0, tf.int64)
        for x in D.range(4):
            for y in D.range(3):
                s += x * y
        return s

    @tf.function
    def collecting(ds):
        array = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        i = 0
        for x in ds:
            array = array.write(i, x * x)
            i += 1
        return array.stack()

    @tf.function
    def several():
        return D.range(5).map(lambda x: x + 1).batch(5).get_single_element(), D.range(4).reduce(np.int64(0), lambda a, b: a + b), D.range(7).cardinality()

    def iterator():
        it = iter(r)
        return [two(it), two(it), next(it)]

    def optionals():
        it = iter(D.range(1))
        found, end = it.get_next_as_optional(), it.get_next_as_optional()
        return [found.has_value(), found.get_value(), end.has_value()]

    def shuffled():
        @tf.function
        def order(ds):
            s = tf.constant(0, tf.int64)
            for x in ds.shuffle(5, seed=3):
                s = s * 10 + x
            return s
        return [order(D.range(6)), order(D.range(6))]
    return {"traced " + name: program for name, program in {
        "sum": lambda: total(tf.constant(5, tf.int64)), "break": lambda: leaving(r), "return": lambda: [returning(r), returning(D.range(2))],
        "enumerate": lambda: numbered(D.zip((r, {"k": D.range(10)}))), "iterator": iterator, "next": lambda: inside(r), "over": lambda: over(iter(r)),
        "over until": lambda: over_until(iter(r)), "variable": lambda: (adding(), variable), "nested": nested,
        "array": lambda: collecting(D.range(4)), "several": several, "optional": optionals, "shuffled": shuffled,
        "over empty": lambda: total(tf.constant(0, tf.int64)),
    }.items()}
