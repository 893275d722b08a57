"""Datasets that go on behind errors, and caches that are read to their last element and no further."""


def cases(tf):
    out = {}

    def inverse(x):
        return tf.debugging.check_numerics(1. / x, "no number")

    def numbers(values):
        return tf.data.Dataset.from_tensor_slices([float(v) for v in values])

    def listed(dataset):
        return [[v.numpy().tolist() for v in e] if isinstance(e, tuple) else e.numpy().tolist() for e in dataset.ignore_errors()]

    first, second = numbers([1, 0, 2, 4, 0, 5]).map(inverse), numbers([1, 2, 3, 4, 5, 6])
    third = second.map(lambda x: inverse(x - 2))
    zipped = {"first": (first, second), "second": (second, first), "twice": (first, first), "both": (first, third), "three": (second, first, second),
              "longer": (first, second.concatenate(second)), "shorter": (first, second.take(4)), "ends with an error": (first.take(5), second.take(4)),
              "prepared ahead": (first.prefetch(2), second)}
    for name, parts in zipped.items():
        out["zip %s" % name] = lambda parts=parts: listed(tf.data.Dataset.zip(parts))
    out["zip in parallel"] = lambda: listed(tf.data.Dataset.zip((numbers([1, 0, 2, 4, 0, 5]).map(inverse, num_parallel_calls=2), second)))
    out["concatenate"] = lambda: listed(first.concatenate(third))
    out["flat_map"] = lambda: listed(second.flat_map(lambda x: tf.data.Dataset.from_tensors(x - 2).map(inverse)))
    out["enumerate"] = lambda: listed(first.enumerate())
    out["filter"] = lambda: listed(first.filter(lambda x: x > .1))

    def cached(make, reads):
        def run():
            calls = []

            def count(x):
                calls.append(1)
                return x
            dataset = make(second.map(lambda x: tf.py_function(count, [x], tf.float32)))
            iterator, counts = iter(dataset), []
            for _ in range(reads):
                next(iterator)
            counts.append(len(calls))
            values = [v.numpy().tolist() for v in dataset]
            return counts + [len(calls), values]
        return run
    for name, make, reads in (("plain", lambda d: d.cache(), 6), ("batch", lambda d: d.cache().batch(2), 3), ("take", lambda d: d.cache().take(6), 6),
                              ("some", lambda d: d.cache().take(3), 3), ("repeat", lambda d: d.cache().repeat(2), 12),
                              ("prefetch", lambda d: d.cache().prefetch(1), 6)):
        out["cache %s" % name] = cached(make, reads)
    return out
