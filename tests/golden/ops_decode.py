"""Makes tests/golden/op_cases/decode.json: raw bytes, TensorProtos, compressed bytes, comma-separated values, SequenceExamples, serialized sparse tensors.
Usage: ops_decode.py (needs tensorflow)"""
import gzip
import zlib

import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("decode")
none = np.zeros([0], "S")

# ---- raw bytes
for dtype in (tf.float16, tf.float32, tf.float64, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.bool, tf.complex64, tf.complex128,
              tf.bfloat16):
    values = bytes(range(1, 33))
    c.add("DecodeRaw", bytes=np.array([values, values[::-1]], object), out_type=dtype)
    c.add("DecodeRaw", bytes=values, out_type=dtype, little_endian=False)
c.add("DecodeRaw", bytes=np.array([["ab"], ["cd"]], object), out_type=tf.int16)
c.add("DecodeRaw", bytes=none, out_type=tf.int16)
c.add("DecodeRaw", bytes="", out_type=tf.int16)
c.error("DecodeRaw", bytes="abc", out_type=tf.int16, code="InvalidArgumentError",
        text="Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16")
c.error("DecodeRaw", bytes=np.array(["ab", "c"], object), out_type=tf.uint8, code="InvalidArgumentError", text="DecodeRaw requires input strings to all be the same size")
c.add("DecodePaddedRaw", input_bytes=np.array(["ab", "cdefgh", ""], object), fixed_length=4, out_type=tf.uint8)
c.add("DecodePaddedRaw", input_bytes=np.array(["ab", "cdefgh", ""], object), fixed_length=4, out_type=tf.int16)
c.add("DecodePaddedRaw", input_bytes=np.array(["ab", "cdefgh"], object), fixed_length=4, out_type=tf.int16, little_endian=False)
c.error("DecodePaddedRaw", input_bytes=np.array(["ab"], object), fixed_length=3, out_type=tf.int16, code="InvalidArgumentError", text="must be a multiple of")
c.error("DecodePaddedRaw", input_bytes=np.array(["ab"], object), fixed_length=0, out_type=tf.int16, code="InvalidArgumentError", text="must be greater than zero")

# ---- messages
for value in (np.float32([[1.5, 2]]), np.int64(-7), np.zeros([0, 2], np.float32), True, ["a", "", "bcd"], np.complex64(1 + 2j), np.uint8([1, 2])):
    c.add("SerializeTensor", tensor=value)
    c.add("ParseTensor", serialized=tf.io.serialize_tensor(value).numpy(), out_type=tf.convert_to_tensor(value).dtype)
for proto in (tf.make_tensor_proto(3, shape=[4]), tf.make_tensor_proto(["x"], shape=[3]), tf.make_tensor_proto([1.5, 2.5], shape=[3])):
    c.add("ParseTensor", serialized=proto.SerializeToString(), out_type=tf.as_dtype(proto.dtype))
c.error("ParseTensor", serialized="garbage", out_type=tf.float32, code="InvalidArgumentError",
        text="Could not parse `serialized` as TensorProto, base64: Z2FyYmFnZQ==")
c.error("ParseTensor", serialized=tf.io.serialize_tensor([-1]).numpy(), out_type=tf.float32, code="InvalidArgumentError",
        text="Type mismatch between parsed tensor (int32) and dtype (float)")

# ---- compressed bytes
c.add("DecodeCompressed", bytes=np.array([zlib.compress(b"abc"), zlib.compress(b"x" * 300)], object), compression_type="ZLIB")
c.add("DecodeCompressed", bytes=np.array([gzip.compress(b"hello", mtime=0)], object), compression_type="GZIP")
c.add("DecodeCompressed", bytes="plain")
c.error("DecodeCompressed", bytes="x", compression_type="LZ", code="InvalidArgumentError", text="Only ZLIB, GZIP or NONE are supported compressions")

# ---- comma-separated values
row = [[0], [9.0], ["none"], np.int64([4]), np.float64([0.5])]
c.add("DecodeCSV", records=["1,2.5,a,5,6", "-4,,,,", " 7 , 1e3 ,b c, 9 , .25 "], record_defaults=row)
c.add("DecodeCSV", records="1|2|3", record_defaults=[0, 0, 0], field_delim="|")
c.add("DecodeCSV", records=[['"a,b"'], ['"q""r"'], ['plain']], record_defaults=[""])
c.add("DecodeCSV", records='"ab",1', record_defaults=["", 0], use_quote_delim=False)
c.add("DecodeCSV", records="NA,1", record_defaults=[7, 0], na_value="NA")
c.add("DecodeCSV", records=["1,2,3", "4,5,"], record_defaults=[0, 8], select_cols=[0, 2])
c.add("DecodeCSV", records="1,2,", record_defaults=[0, 0, 5])
for records, defaults, text in (("1,2,3", [0, 0], "Expect 2 fields but have 3 in record 0"), ("1", [0, 0], "Expect 2 fields but have 1 in record 0"),
                                ("a,2", [0, 0], "Field 0 in record 0 is not a valid int32: a"), ("1,99999999999", [0, 0], "is not a valid int32"),
                                (",2", [np.zeros([0], np.int32), 0], "Field 0 is required but missing in record 0!"),
                                ('a"b,2', ["", 0], "Unquoted fields cannot have quotes/CRLFs inside"),
                                ('"a"b",2', ["", 0], "Quote inside a string has to be escaped by another quote"),
                                ('"ab', [""], "Quoted field has to end with quote followed by delim or end")):
    c.error("DecodeCSV", records=records, record_defaults=defaults, code="InvalidArgumentError", text=text)

# ---- sequences
lists = {float: ("float_list", tf.train.FloatList), int: ("int64_list", tf.train.Int64List), bytes: ("bytes_list", tf.train.BytesList)}


def feature(values):
    kind, message = lists[type(values[0]) if values else int]
    return tf.train.Feature(**{kind: message(value=values)})


def sequence(context, **found):
    made = {key: tf.train.FeatureList(feature=[feature(step) for step in steps]) for key, steps in found.items()}
    return tf.train.SequenceExample(context=tf.train.Features(feature={key: feature(v) for key, v in context.items()}),
                                    feature_lists=tf.train.FeatureLists(feature_list=made)).SerializeToString(deterministic=True)


one = sequence({"n": [2], "w": [1.5, 2.5]}, t=[[1], [2]], p=[[1.0, 2.0], [3.0, 4.0]], v=[[5, 6], [], [7]], s=[[b"a"], [b"bc", b""]])
two = sequence({"n": [1]}, t=[[9]], v=[[8]], p=[])


def parse(serialized, context=(), dense=(), sparse=(), ragged=(), missing=(), **error):
    """context: (key, dtype, default); dense: (key, dtype, shape); sparse, ragged: (key, dtype)"""
    arguments = dict(
        serialized=serialized, debug_name=none, context_sparse_keys=none, context_dense_keys=[k for k, _, _ in context] or none,
        context_ragged_keys=none, feature_list_sparse_keys=[k for k, _ in sparse] or none, feature_list_dense_keys=[k for k, _, _ in dense] or none,
        feature_list_ragged_keys=[k for k, _ in ragged] or none, feature_list_dense_missing_assumed_empty=np.array(
            [k in missing for k, _, _ in dense], bool), context_dense_defaults=[d for _, _, d in context], Ncontext_sparse=0, context_sparse_types=[],
        context_ragged_value_types=[], context_ragged_split_types=[], context_dense_shapes=[tf.TensorShape([]) for _ in context],
        Nfeature_list_sparse=len(sparse), Nfeature_list_dense=len(dense), feature_list_dense_types=[d for _, d, _ in dense],
        feature_list_sparse_types=[d for _, d in sparse], feature_list_ragged_value_types=[d for _, d in ragged],
        feature_list_ragged_split_types=[tf.int32 for _ in ragged], feature_list_dense_shapes=[tf.TensorShape(s) for _, _, s in dense])
    if error:
        c.error("ParseSequenceExampleV2", code="InvalidArgumentError", **arguments, **error)
    else:
        c.add("ParseSequenceExampleV2", **arguments)


number = ("n", tf.int64, np.int64(-1))
parse(one, [number], [("t", tf.int64, [])])
parse([one, two], [number], [("t", tf.int64, []), ("p", tf.float32, [2])], [("v", tf.int64)])
parse([one, two], ragged=[("v", tf.int64), ("s", tf.string)])
parse(one, sparse=[("v", tf.int64), ("s", tf.string)])
parse([one, two], dense=[("z", tf.string, [])], missing=("z",))
parse(two, dense=[("z", tf.int64, [])], text="Feature list 'z' is required but could not be found.")
parse(one, dense=[("t", tf.float32, [])], text="Feature list: t, Index: 0.  Data types don't match. Expected type: float")
parse([one], dense=[("p", tf.float32, [])], text="Key: p, Index: 0.  Number of values != expected.  values size: 2 but output shape: []")

# ---- sparse tensors
sparse = tf.sparse.from_dense([[1, 0], [0, 2], [0, 0]])
packed = tf.raw_ops.SerializeManySparse(sparse_indices=sparse.indices, sparse_values=sparse.values, sparse_shape=sparse.dense_shape).numpy()
c.add("SerializeSparse", sparse_indices=sparse.indices, sparse_values=sparse.values, sparse_shape=sparse.dense_shape)
c.add("SerializeManySparse", sparse_indices=sparse.indices, sparse_values=sparse.values, sparse_shape=sparse.dense_shape)
c.add("DeserializeSparse", serialized_sparse=packed, dtype=tf.int32)
c.add("DeserializeSparse", serialized_sparse=packed[1], dtype=tf.int32)
c.error("DeserializeSparse", serialized_sparse=packed[:, :2], dtype=tf.int32, code="InvalidArgumentError", text="")
c.write()
