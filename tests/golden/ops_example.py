"""Makes tests/golden/op_cases/example.json: ParseExampleV2. Usage: ops_example.py (needs tensorflow)"""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("example")
none = np.zeros([0], "S")
lists = {float: ("float_list", tf.train.FloatList), int: ("int64_list", tf.train.Int64List), bytes: ("bytes_list", tf.train.BytesList)}


def example(**features):
    made = {}
    for name, value in features.items():
        kind, message = lists[type(value[0]) if value else float]
        made[name] = tf.train.Feature(**{kind: message(value=value)})
    made["a"] = tf.train.Feature()
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString(deterministic=True)


one = example(i=[3], f=[1.0, 2.0], b=[b"x", b"yy"], e=[], n=[-5, 2**62, 0, 127, 128])
two = example(i=[4], f=[5.0, 6.0, 7.0], b=[b"", b"\xff\x00z"], n=[7])
unpacked = b"\x0a\x1e" + b"\x0a\x0e\x0a\x01i\x12\x09\x1a\x07\x08\x01\x08\x02\x08\xff\x01" + b"\x0a\x0c\x0a\x01f\x12\x07\x12\x05\x0d\x00\x00\x80\x3f"
mixed = b"\x0a\x0f" + b"\x0a\x0d\x0a\x01i\x12\x08\x1a\x06\x08\x05\x0a\x02\x01\x02"
behind = b"\x0a\x0f" + b"\x0a\x0d\x0a\x01i\x12\x08\x1a\x06\x0a\x02\x01\x02\x08\x05"
twice = example(i=[1]) + example(i=[2], f=[9.0, 8.0])


def add(serialized, sparse=(), dense=(), ragged=(), error=None, names=none):
    """sparse: (key, dtype); dense: (key, dtype, shape, default); ragged: (key, dtype, dtype of the splits)"""
    arguments = dict(
        serialized=serialized, names=names, sparse_keys=[k.encode() for k, _ in sparse] if sparse else none,
        dense_keys=[d[0].encode() for d in dense] if dense else none, ragged_keys=[r[0].encode() for r in ragged] if ragged else none,
        dense_defaults=[tf.constant(d[3], d[1]) if d[3] is not None else tf.zeros([0], d[1]) if d[1] != tf.string else tf.constant(none) for d in dense],
        num_sparse=len(sparse), sparse_types=[t for _, t in sparse], ragged_value_types=[r[1] for r in ragged],
        ragged_split_types=[r[2] for r in ragged], dense_shapes=[tf.TensorShape(d[2]) for d in dense])
    for name in ("serialized", "names", "sparse_keys", "dense_keys", "ragged_keys"):
        arguments[name] = tf.constant(arguments[name], tf.string)
    if error:
        c.error("ParseExampleV2", code="InvalidArgumentError", text=error, **arguments)
    else:
        c.add("ParseExampleV2", **arguments)


f, i, s = tf.float32, tf.int64, tf.string
everything = dict(sparse=[("f", f), ("n", i), ("q", s)], dense=[("b", s, [2], None), ("i", i, [], None), ("q2", f, [2], [1.5, 2.5]), ("n", i, [None], 0)],
                  ragged=[("f", f, tf.int32), ("b", s, tf.int64)])
for many in ("sparse", "dense", "ragged"):
    for serialized in (one, [one, two]):
        add(serialized, **{many: everything[many]})
mixed_keys = dict(sparse=[("f", f)], dense=[("i", i, [1], None)], ragged=[("n", i, tf.int32)])
add(one, **mixed_keys)
add([one, two, one], **mixed_keys)
add(tf.constant(none), **mixed_keys)
add(b"", dense=[("i", i, [], 9), ("s", s, [2], [b"a", b"b"])], sparse=[("f", f)])
add(unpacked, dense=[("i", i, [3], None), ("f", f, [1], None)])
add(behind, dense=[("i", i, [2], None)])
add(twice, dense=[("i", i, [], None), ("f", f, [2, 1], None)])
add(one, dense=[("f", f, [None, 2], 0), ("e", f, [None, 3], 0)])
add([one, two], dense=[("f", f, [None], [0.5]), ("b", s, [None], [b"pad"]), ("n", i, [None], -1)])
add([one, two], dense=[("b", s, [None, 1], b"")])
for serialized in (one, [one, two]):
    single = serialized is one
    where = "Key: %s.  " if single else "Name: <unknown>, Key: %s, Index: 0.  "
    add(serialized, dense=[("i", f, [], None)], error=where % "i" + "Data types don't match. Data type: int64 but expected type: float")
    add(serialized, sparse=[("f", i)], error=where % "f" + "Data types don't match. Expected type: int64, Actual type: float")
    add(serialized, dense=[("q", f, [], None)], error="Feature: q (data type: float) is required but could not be found.")
    add(serialized, dense=[("a", f, [], None)], error="Feature: a (data type: float) is required but could not be found.")
    add(serialized, dense=[("f", f, [3], None)], error=where % "f" + ("Can't parse serialized Example." if single else
                                                                    "Number of float values != expected.  Values size: 2 but output shape: [3]"))
add([one, two], dense=[("f", f, [None, 2], 0)], error="Name: <unknown>, Key: f, Index: 1.  Number of float values is not a multiple of stride length. "
    "Saw 3 values but output shape is: [?,2]")
add([one, two], dense=[("f", f, [3], None)], names=[b"first", b"second"], error="Name: first, Key: f, Index: 0.")
add(one, dense=[("f", f, [None], None)], error="dense_shape[0] is a variable length shape: [?], therefore def_value[0] must contain a single element")
add(mixed, dense=[("i", i, [3], None)], error="Key: i.  Can't parse serialized Example.")
for bad in (b"garbage", b"\x0a", one[:-1], one[:20]):
    add(bad, dense=[("i", i, [], 1)], error="Could not parse example input, value: '")
add([[one]], dense=[("i", i, [], None)], error="Expected serialized to be a scalar or vector, got shape: [1,1]")


def old(serialized, sparse=(), dense=(), error=None):
    """The first forms: of a vector, or of one."""
    defaults = [tf.constant(d[3], d[1]) if d[3] is not None else tf.zeros([0], d[1]) if d[1] != tf.string else tf.constant(none) for d in dense]
    arguments = dict(serialized=tf.constant(serialized, tf.string), dense_defaults=defaults, sparse_types=[t for _, t in sparse], dense_shapes=[tf.TensorShape(d[2]) for d in dense],
                     sparse_keys=[k.encode() for k, _ in sparse], dense_keys=[d[0].encode() for d in dense])
    many = isinstance(serialized, list)
    arguments.update({"names": tf.constant(none)} if many else {"num_sparse": len(sparse)})
    op = "ParseExample" if many else "ParseSingleExample"
    if error:
        c.error(op, code="InvalidArgumentError", text=error, **arguments)
    else:
        c.add(op, **arguments)


for serialized in (one, [one, two]):
    old(serialized, [("f", f), ("q", s)], everything["dense"])
    old(serialized, everything["sparse"])
    old(serialized, (), everything["dense"])
    old(serialized, (), [("q", f, [], None)], error="Feature: q (data type: float) is required but could not be found.")
c.write()
