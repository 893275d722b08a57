"""tf.lookup: what tables give, in every place where programs use them. TensorFlow's results are in lookup_cases.json (tests/golden/tables.py); the module of
`module` is what tests/golden/lookup.py saves."""
import os
import tempfile

LINES = "x\ty\nten\t10\ntwenty\t20\n"
WORDS = ["a", "x", "ten\t10", "p", "none"]


def text_file(folder, text=LINES):
    path = os.path.join(folder, "vocabulary.txt")
    with open(path, "w") as file:
        file.write(text)
    return path


def module(tf, folder):
    """Tables of every kind as attributes of a tf.Module, and functions that use them."""
    lookup, ints = tf.lookup, lambda *v: tf.constant(v, tf.int64)

    class Tables(tf.Module):
        def __init__(self):
            super().__init__()
            self.values = lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a", "b"], ints(1, 2)), -1)
            self.lines = lookup.StaticHashTable(lookup.TextFileInitializer(
                text_file(folder), tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64, lookup.TextFileIndex.LINE_NUMBER), -1)
            self.vocabulary = lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a", "b"], ints(0, 1)), 3)
            self.changing = lookup.experimental.MutableHashTable(tf.string, tf.int64, -7)
            self.rows = lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0., 0.5])
            self.dense = lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=0, deleted_key=-1, initial_num_buckets=8)
            self.names = [lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, empty_key="", deleted_key="-", initial_num_buckets=4)]
            self.weight = tf.Variable(2.0)

        def fill(self):
            self.changing.insert(["p", "q"], ints(5, 6))
            self.rows.insert(ints(7), [[1., 2.]])
            self.dense.insert(ints(3, 4, 11), [0.5, 1.5, 2.5])
            self.names[0].insert(["a", "bb", "ccc"], ints(1, 2, 3))
            return self

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look(self, x):
            return {"values": self.values.lookup(x), "lines": self.lines[x], "vocabulary": self.vocabulary.lookup(x),
                    "changing": self.changing.lookup(x), "names": self.names[0].lookup(x)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
        def number(self, x):
            return {"dense": self.dense.lookup(x) * self.weight, "rows": self.rows.lookup(x)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
        def put(self, keys, values):
            self.changing.insert(keys, values)
            return self.changing.size()
    return Tables()


def asked(tf, tables):
    """What the functions of such a module give."""
    def by_name(results):
        return dict(sorted(results.items()))
    return [by_name(tables.look(tf.constant(WORDS))), by_name(tables.number(tf.constant([3, 4, 7, 11, 12], tf.int64))),
            tables.put(tf.constant(["new", "p"]), tf.constant([8, 9], tf.int64)), by_name(tables.look(tf.constant(WORDS + ["new"])))]


def _pairs(table):
    keys, values = (v.numpy().tolist() for v in table.export())
    return sorted(zip(map(str, keys), map(str, values)))


def cases(tf):
    """Names to functions."""
    lookup, experimental = tf.lookup, tf.lookup.experimental
    v1 = tf.compat.v1

    def folder():
        return tempfile.mkdtemp()

    def ints(*values):
        return tf.constant(values, tf.int64)

    def of_values(keys=("a", "b"), values=(1, 2), default=-1, **more):
        return lookup.StaticHashTable(lookup.KeyValueTensorInitializer(list(keys), list(values), **more), default)

    def of_file(key=(tf.string, -2), value=(tf.int64, -1), text=LINES, default=-1, **more):
        return lookup.StaticHashTable(lookup.TextFileInitializer(text_file(folder(), text), key[0], key[1], value[0], value[1], **more), default)

    def vocabulary(keys, **more):
        return lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(keys, tf.range(len(keys), dtype=tf.int64)), 3, **more)

    def in_function():
        table = of_values()
        return tf.function(lambda x: (table.lookup(x), table.size()))(tf.constant(["b", "c"]))

    def made_in_function():
        @tf.function
        def body(x):
            return of_values().lookup(x)
        return body(tf.constant(["b", "c"])), body(tf.constant(["a", "c"]))

    def in_branch():
        table = experimental.MutableHashTable(tf.string, tf.int64, 0)

        @tf.function
        def body(x):
            for i in tf.range(3):
                if i > 0:
                    table.insert(x, tf.cast(i, tf.int64)[tf.newaxis])
            return table.lookup(x)
        return body(tf.constant(["k"])), table.size()

    def in_dataset():
        table = of_values()
        data = tf.data.Dataset.from_tensor_slices(["a", "z", "b"]).map(table.lookup, num_parallel_calls=2).batch(2)
        return list(data.as_numpy_iterator())

    def dense(**more):
        return experimental.DenseHashTable(tf.int64, tf.float32, -1., empty_key=0, deleted_key=-1, initial_num_buckets=4, **more)

    def dense_grows():
        table = dense()
        table.insert(ints(3, 4), [0.5, 1.5])
        small = _pairs(table)
        table.insert_or_assign(ints(5, 6, 7, 8), [1., 2., 3., 4.])
        table.erase(ints(5))
        return small, len(table.export()[0]), table.size(), table.lookup(ints(3, 5, 8))

    def changed():
        table = experimental.MutableHashTable(tf.int64, tf.string, "?")
        table.insert(ints(1, 2, 3), ["a", "b", "c"])
        table.insert(ints(2), ["B"])
        table.remove(ints(3, 99))
        return table.size(), table.lookup(ints(1, 2, 3)), _pairs(table), table.lookup(ints(2, 9), tf.constant(["u", "v"]))

    def restored():
        there, where = module(tf, folder()).fill(), os.path.join(folder(), "c")
        path = tf.train.Checkpoint(m=there).save(where)
        here = module(tf, folder())
        here.changing.insert(["old"], ints(1))
        status = tf.train.Checkpoint(m=here).restore(path)
        status.assert_consumed()
        return asked(tf, here), _pairs(here.changing), here.names[0].size()

    def always_saved():
        table = experimental.MutableHashTable(tf.string, tf.int64, 0, checkpoint=False)
        table.insert(["a"], ints(1))
        where = tf.train.Checkpoint(t=table).save(os.path.join(folder(), "c"))
        return sorted(n for n, _ in tf.train.list_variables(where))

    def saved_names():
        where = tf.train.Checkpoint(m=module(tf, folder()).fill()).save(os.path.join(folder(), "c"))
        return [[n, s] for n, s in tf.train.list_variables(where)]

    def saved_model():
        where = os.path.join(folder(), "m")
        tf.saved_model.save(module(tf, folder()).fill(), where)
        return asked(tf, tf.saved_model.load(where))

    def twice():
        one, two = os.path.join(folder(), "m"), os.path.join(folder(), "m")
        tf.saved_model.save(module(tf, folder()).fill(), one)
        loaded = tf.saved_model.load(one)
        first = asked(tf, loaded)
        tf.saved_model.save(loaded, two)
        return first, asked(tf, tf.saved_model.load(two)), loaded.look(tf.constant(["new"]))["changing"]

    def untracked():
        table = of_values()
        holder = tf.Module()
        holder.f = tf.function(lambda x: table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)])
        tf.saved_model.save(holder, os.path.join(folder(), "m"))

    def keras_model():
        class Words(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.table = of_file()

            def call(self, x):
                return tf.cast(self.table.lookup(x), tf.float32)

        model = tf.keras.Sequential([tf.keras.Input([2], dtype=tf.string), Words(), tf.keras.layers.Dense(1, kernel_initializer="ones")])
        where = os.path.join(folder(), "m")
        model.save(where, save_format="tf")
        loaded = tf.keras.models.load_model(where)
        return model(tf.constant([["x\ty", "ten\t10"]])), loaded(tf.constant([["x\ty", "twenty\t20"]]))

    def session():
        with tf.Graph().as_default(), v1.Session() as running:
            table, lines = of_values(), of_file()
            changing = experimental.MutableHashTable(tf.string, tf.int64, -7)
            put = changing.insert(["k"], ints(3))
            found = [table.lookup(tf.constant(["b", "c"])), lines.lookup(tf.constant(["ten\t10"])), changing.lookup(tf.constant(["k"]))]
            running.run(v1.tables_initializer())
            before = running.run(found)
            running.run(put)
            return before, running.run(found), running.run([table.size(), changing.size()])

    def not_filled():
        with tf.Graph().as_default(), v1.Session() as running:
            return running.run(of_values().lookup(tf.constant(["b", "c"])))

    return {
        "lookup": lambda: of_values().lookup(tf.constant([["a", "b"], ["c", ""]])),
        "item": lambda: of_values()[tf.constant("b")],
        "ragged": lambda: of_values().lookup(tf.ragged.constant([["a"], ["b", "c"]])).to_list(),
        "sparse": lambda: tf.sparse.to_dense(of_values().lookup(tf.sparse.from_dense(["a", "", "b"]))),
        "facts": lambda: [str(t) for t in (of_values().key_dtype, of_values().value_dtype, of_values().size(), of_values().default_value,
                                           of_values().name, of_values().resource_handle.dtype)],
        "export": lambda: _pairs(of_values()),
        "given dtypes": lambda: str(of_values(key_dtype=tf.string, value_dtype=tf.int64).value_dtype),
        "numbers to texts": lambda: of_values((1, 2), ("a", "b"), "?").lookup(tf.constant([2, 3])),
        "floats": lambda: of_values(("a",), (1.5,), 0.5).lookup(tf.constant(["a", "b"])),
        "same key, same value": lambda: of_values(("a", "a"), (1, 1)).size(),
        "same key, other value": lambda: of_values(("a", "a"), (1, 2)),
        "wrong count": lambda: of_values(("a", "b"), (1, 2, 3)),
        "wrong keys": lambda: of_values().lookup(tf.constant([1])),
        "wrong default": lambda: of_values(default="x"),
        "file": lambda: _pairs(of_file()),
        "columns": lambda: _pairs(of_file((tf.string, 0), (tf.int64, 1), "a\t1\nb\t2\n")),
        "delimiter": lambda: _pairs(of_file((tf.string, 1), (tf.float32, 0), "1.5,a\n2.5,b", delimiter=",", default=0.)),
        "part of a file": lambda: _pairs(of_file(vocab_size=2)),
        "offset": lambda: _pairs(of_file(value_index_offset=5)),
        "numbers of lines to texts": lambda: of_file((tf.int64, -1), (tf.string, -2), default="?").lookup(ints(1, 7)),
        "integer keys": lambda: _pairs(of_file((tf.int64, 0), (tf.int64, -1), "30\n10\n")),
        "too few lines": lambda: of_file(vocab_size=9),
        "no such column": lambda: of_file((tf.string, 5)),
        "no number": lambda: of_file((tf.int64, 0)),
        "no file": lambda: lookup.StaticHashTable(lookup.TextFileInitializer("/no/such/file", tf.string, -2, tf.int64, -1), -1),
        "no file name": lambda: lookup.TextFileInitializer("", tf.string, -2, tf.int64, -1),
        "bad index": lambda: lookup.TextFileInitializer("f", tf.string, -3, tf.int64, -1),
        "line number as text": lambda: lookup.TextFileInitializer("f", tf.string, -2, tf.string, -1),
        "bad size": lambda: lookup.TextFileInitializer("f", tf.string, -2, tf.int64, -1, vocab_size=0),
        "vocabulary": lambda: vocabulary(["a", "b"]).lookup(tf.constant(["a", "b", "c", "dd", ""])),
        "vocabulary's size": lambda: vocabulary(["a", "b"]).size(),
        "vocabulary of integers": lambda: vocabulary(ints(11, 12)).lookup(ints(12, 13, 14, 99)),
        "vocabulary of int32": lambda: vocabulary(ints(11, 12), lookup_key_dtype=tf.int32).lookup(tf.constant([12, 13, 14])),
        "nothing but buckets": lambda: [lookup.StaticVocabularyTable(None, 4).lookup(tf.constant(["a", "bb"])), lookup.StaticVocabularyTable(None, 4).size()],
        "no buckets": lambda: lookup.StaticVocabularyTable(None, 0),
        "vocabulary of other values": lambda: lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a"], [0]), 1),
        "ragged vocabulary": lambda: vocabulary(["a"]).lookup(tf.ragged.constant([["a"], ["q", "a"]])).to_list(),
        "changed": changed,
        "defaults of rank 2": lambda: experimental.MutableHashTable(tf.string, tf.float32, [[0.]]),
        "values of a wrong shape": lambda: experimental.MutableHashTable(tf.string, tf.float32, 0.).insert(["a"], [[1.]]),
        "dense": dense_grows,
        "dense: empty key": lambda: dense().insert(ints(0), [1.]),
        "dense: deleted key": lambda: dense().lookup(ints(-1)),
        "dense: equal keys": lambda: experimental.DenseHashTable(tf.string, tf.int64, -1, empty_key="", deleted_key=""),
        "dense: buckets": lambda: experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=1, initial_num_buckets=6),
        "in a function": in_function, "made in a function": made_in_function, "in loops and branches": in_branch, "in a dataset": in_dataset,
        "checkpoint": restored, "always in a checkpoint": always_saved, "names in a checkpoint": saved_names,
        "SavedModel": saved_model, "SavedModel twice": twice, "not tracked": untracked, "Keras model": keras_model,
        "session": session, "not filled": not_filled,
    }
