"""Tables of keys and values as ops, called at once: filled of tensors and files, looked up, changed, and refused."""
import itertools

import numpy as np
import pytest

import thalweg as tf

raw_ops, errors = tf.raw_ops, tf.errors
WHOLE, NUMBER = -2, -1
numbers = itertools.count()


def once(**types):
    """A new table that is filled once: called at once, those of one name are one table, as in TensorFlow."""
    return raw_ops.HashTableV2(shared_name="once %d" % next(numbers), **types)


def changing(**types):
    return raw_ops.MutableHashTableV2(shared_name="changing %d" % next(numbers), **types)


def find(table, keys, otherwise):
    return raw_ops.LookupTableFindV2(table_handle=table, keys=keys, default_value=otherwise).numpy().tolist()


def size(table):
    return int(raw_ops.LookupTableSizeV2(table_handle=table))


@pytest.mark.parametrize("make", [once, raw_ops.AnonymousHashTable])
@pytest.mark.parametrize("fill", [raw_ops.InitializeTableV2, raw_ops.LookupTableImportV2])
def test_filled_once(make, fill):
    table = make(key_dtype=tf.string, value_dtype=tf.int64)
    with pytest.raises(errors.FailedPreconditionError, match="Table not initialized"):
        find(table, tf.constant(["a"]), tf.constant(-1, tf.int64))
    given = dict(table_handle=table, keys=tf.constant(["a", "b", ""]), values=tf.constant([1, 2, 3], tf.int64))
    fill(**given)
    assert find(table, tf.constant([["b", "z"], ["", "a"]]), tf.constant(-1, tf.int64)) == [[2, -1], [3, 1]] and size(table) == 3
    fill(**given)  # the same again
    with pytest.raises(errors.FailedPreconditionError, match="already initialized with different data"):
        fill(table_handle=table, keys=tf.constant(["a"]), values=tf.constant([9], tf.int64))
    with pytest.raises(errors.OpError):
        raw_ops.LookupTableInsertV2(table_handle=table, keys=tf.constant(["a"]), values=tf.constant([9], tf.int64))
    keys, values = raw_ops.LookupTableExportV2(table_handle=table, Tkeys=tf.string, Tvalues=tf.int64)
    assert dict(zip(keys.numpy().tolist(), values.numpy().tolist())) == {b"a": 1, b"b": 2, b"": 3}


def test_a_name_is_a_table():
    one, same, other = (raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name=name) for name in ("name", "name", "other name"))
    raw_ops.InitializeTableV2(table_handle=one, keys=tf.constant([1], tf.int64), values=tf.constant([1], tf.int64))
    assert (size(one), size(same), size(other)) == (1, 1, 0)


def test_a_key_with_two_values():
    table = once(key_dtype=tf.int64, value_dtype=tf.float32)
    with pytest.raises(errors.FailedPreconditionError, match="different value for same key. Key 1 has 1.0 and trying to add value 2.0"):
        raw_ops.InitializeTableV2(table_handle=table, keys=tf.constant([1, 1], tf.int64), values=tf.constant([1.0, 2.0]))
    raw_ops.InitializeTableV2(table_handle=table, keys=tf.constant([1, 1], tf.int64), values=tf.constant([1.0, 1.0]))
    assert size(table) == 1


MUTABLE = [changing, raw_ops.AnonymousMutableHashTable]


@pytest.mark.parametrize("make", MUTABLE)
@pytest.mark.parametrize("keys", [tf.int64, tf.string])
def test_changed(make, keys):
    def key(*values):
        return tf.constant([str(v) for v in values] if keys == tf.string else list(values), keys)
    table = make(key_dtype=keys, value_dtype=tf.string)
    assert find(table, key(1), tf.constant("none")) == [b"none"] and size(table) == 0
    for i in range(300):
        raw_ops.LookupTableInsertV2(table_handle=table, keys=key(i, 0), values=tf.constant(["v%d" % i, "zero"]))
    assert find(table, key(7, 0, 299, 300), tf.constant("none")) == [b"v7", b"zero", b"v299", b"none"] and size(table) == 300
    raw_ops.LookupTableRemoveV2(table_handle=table, keys=key(7, 7, 1000, 0))
    assert find(table, key(7, 0, 8), tf.constant("none")) == [b"none", b"none", b"v8"] and size(table) == 298
    assert find(table, key(7, 8), tf.constant(["x", "y"])) == [b"x", b"v8"]  # a default for each
    raw_ops.LookupTableImportV2(table_handle=table, keys=key(5), values=tf.constant(["five"]))
    assert size(table) == 1 and find(table, key(5), tf.constant("")) == [b"five"]


def test_values_and_keys_that_are_tensors():
    table = raw_ops.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.float32, value_shape=[2])
    raw_ops.LookupTableInsertV2(table_handle=table, keys=tf.constant(["a", "b"]), values=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert find(table, tf.constant(["b", "c"]), tf.constant([0.0, 9.0])) == [[3, 4], [0, 9]]
    with pytest.raises(errors.InvalidArgumentError):
        raw_ops.LookupTableInsertV2(table_handle=table, keys=tf.constant(["a"]), values=tf.constant([1.0]))
    dense = raw_ops.MutableDenseHashTableV2(empty_key=tf.constant([0, 0], tf.int64), deleted_key=tf.constant([-1, -1], tf.int64), value_dtype=tf.int64)
    raw_ops.LookupTableInsertV2(table_handle=dense, keys=tf.constant([[1, 2], [3, 4]], tf.int64), values=tf.constant([12, 34], tf.int64))
    assert find(dense, tf.constant([[3, 4], [4, 3]], tf.int64), tf.constant(-1, tf.int64)) == [34, -1]
    with pytest.raises(errors.InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
        raw_ops.LookupTableInsertV2(table_handle=dense, keys=tf.constant([[0, 0]], tf.int64), values=tf.constant([1], tf.int64))


FILES = [  # text, key dtype and index, value dtype and index, more, what is in it
    ("a\nb\nc\n", tf.string, WHOLE, tf.int64, NUMBER, {}, {b"a": 0, b"b": 1, b"c": 2}),
    ("a\r\nb\r\nc", tf.string, WHOLE, tf.int64, NUMBER, {}, {b"a": 0, b"b": 1, b"c": 2}),
    ("a\nb\nc\n", tf.int64, NUMBER, tf.string, WHOLE, {"vocab_size": 2}, {0: b"a", 1: b"b"}),
    ("a\nb\n", tf.int64, NUMBER, tf.string, WHOLE, {"offset": 1}, {1: b"a", 2: b"b"}),
    ("1 one\n2 two\n", tf.int64, 0, tf.string, 1, {"delimiter": " "}, {1: b"one", 2: b"two"}),
    ("x\t1.5\t-3\n", tf.string, 0, tf.float32, 1, {}, {b"x": 1.5}),
    ("x\t1.5\t-3\n", tf.string, 0, tf.int32, 2, {}, {b"x": -3}),
    ("", tf.string, WHOLE, tf.int64, NUMBER, {}, {})]


@pytest.mark.parametrize("text,key,key_index,value,value_index,more,wanted", FILES)
def test_text_files(text, key, key_index, value, value_index, more, wanted, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(text.encode())
    table = once(key_dtype=key, value_dtype=value)
    for _ in range(2):
        raw_ops.InitializeTableFromTextFileV2(table_handle=table, filename=str(path), key_index=key_index, value_index=value_index, **more)
    keys, values = raw_ops.LookupTableExportV2(table_handle=table, Tkeys=key, Tvalues=value)
    assert dict(zip(keys.numpy().tolist(), values.numpy().tolist())) == wanted


BAD = [("a\nb\n", tf.string, WHOLE, tf.int64, NUMBER, {"vocab_size": 3}, "expected 3 but got 2"), ("a\n", tf.int64, WHOLE, tf.int64, NUMBER, {}, "whole line requires string"),
       ("a\n", tf.string, WHOLE, tf.int32, NUMBER, {}, "line number requires int64"), ("a b\n", tf.string, 0, tf.int64, 2, {"delimiter": " "}, "expected at least 3 got 2"),
       ("a x\n", tf.string, 0, tf.int64, 1, {"delimiter": " "}, "is not a valid int64"), ("a 3000000000\n", tf.string, 0, tf.int32, 1, {"delimiter": " "}, "is not a valid int32"),
       ("a \n", tf.string, 0, tf.float32, 1, {"delimiter": " "}, "is not a valid float"), ("a\n", tf.string, WHOLE, tf.int64, NUMBER, {"delimiter": "::"}, "delimiter should be only 1 char"),
       ("a 1\na 2\n", tf.string, 0, tf.int64, 1, {"delimiter": " "}, "different value for same key")]


@pytest.mark.parametrize("text,key,key_index,value,value_index,more,message", BAD)
def test_text_files_that_do_not_fit(text, key, key_index, value, value_index, more, message, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(text.encode())
    table = once(key_dtype=key, value_dtype=value)
    with pytest.raises((errors.InvalidArgumentError, errors.FailedPreconditionError), match=message):
        raw_ops.InitializeTableFromTextFileV2(table_handle=table, filename=str(path), key_index=key_index, value_index=value_index, **more)
    assert size(table) == 0
    with pytest.raises(errors.NotFoundError):
        raw_ops.InitializeTableFromTextFileV2(table_handle=once(key_dtype=tf.string, value_dtype=tf.int64), filename=str(path) + "x", key_index=WHOLE, value_index=NUMBER)


def test_handles_and_dtypes_that_do_not_fit():
    table = once(key_dtype=tf.string, value_dtype=tf.int64)
    variable = tf.Variable(1.0)
    for call in (lambda: raw_ops.LookupTableSizeV2(table_handle=variable.handle),
                 lambda: raw_ops.InitializeTableV2(table_handle=table, keys=tf.constant([1], tf.int64), values=tf.constant([1], tf.int64)),
                 lambda: raw_ops.InitializeTableV2(table_handle=table, keys=tf.constant(["a"]), values=tf.constant([1, 2], tf.int64)),
                 lambda: raw_ops.InitializeTableV2(table_handle=table, keys=tf.constant("a"), values=tf.constant(1, tf.int64))):
        with pytest.raises(errors.InvalidArgumentError):
            call()


def test_in_functions():
    table = raw_ops.AnonymousMutableHashTable(key_dtype=tf.int64, value_dtype=tf.int64)

    @tf.function
    def count(keys):
        old = raw_ops.LookupTableFindV2(table_handle=table, keys=keys, default_value=tf.constant(0, tf.int64))
        raw_ops.LookupTableInsertV2(table_handle=table, keys=keys, values=old + 1)
        return old
    assert [count(tf.constant([1, 2], tf.int64)).numpy().tolist() for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert np.all(np.array(find(table, tf.constant([1, 2], tf.int64), tf.constant(0, tf.int64))) == 3)
