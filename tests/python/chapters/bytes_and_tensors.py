"""tf.io: bytes, messages, comma-separated values, SequenceExamples as tensors, eagerly and in datasets."""
import gzip
import zlib

import numpy as np
import tensorflow as tf
from said import say

say("raw", lambda: tf.io.decode_raw([b"\x01\x02\x03\x04"], tf.int16))
say("raw big", lambda: tf.io.decode_raw(b"\x01\x02\x03\x04", tf.int16, little_endian=False))
say("raw fixed", lambda: tf.io.decode_raw([b"\x01\x02", b"\x03"], tf.uint8, fixed_length=4))
say("raw odd", lambda: tf.io.decode_raw(b"\x01\x02\x03", tf.int16))
for value in ([1, 2], [[1.5]], ["a", "bcd"], True, np.zeros([0, 2], np.float32)):
    say("serialized", lambda: tf.io.serialize_tensor(value))
    say("parsed", lambda: tf.io.parse_tensor(tf.io.serialize_tensor(value), tf.convert_to_tensor(value).dtype))
say("parsed nonsense", lambda: tf.io.parse_tensor(b"garbage", tf.float32))
say("message", lambda: tf.make_tensor_proto([1, 2]))
say("message of one", lambda: tf.make_tensor_proto(2.5))
say("arrays", lambda: [tf.make_ndarray(tf.make_tensor_proto(v)).tolist() for v in ([1, 2], 2.5, [["a"], ["b"]], True)])
say("inflated", lambda: (tf.io.decode_compressed(zlib.compress(b"abc"), "ZLIB"), tf.io.decode_compressed([gzip.compress(b"d")], "GZIP")))
say("csv", lambda: tf.io.decode_csv(["1,2.5,a", "4,,b"], [[0], [9.0], [""]]))
say("csv chosen", lambda: tf.io.decode_csv("1,2,3", [0, 0], select_cols=[0, 2]))
say("csv in a dataset", lambda: list(tf.data.Dataset.from_tensor_slices(["1,a", "2,b"]).map(
    lambda line: tf.io.decode_csv(line, [0, ""])).as_numpy_iterator()))
say("csv short", lambda: tf.io.decode_csv("1", [0, 0]))


def feature(values):
    """A Feature of integers or floats."""
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


message = tf.train.SequenceExample(
    context=tf.train.Features(feature={"n": feature([2])}),
    feature_lists=tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=[feature([1]), feature([2])]),
                                                      "v": tf.train.FeatureList(feature=[feature([1., 2.]), feature([3.])])})).SerializeToString()
context, steps = {"n": tf.io.FixedLenFeature([], tf.int64)}, {"t": tf.io.FixedLenSequenceFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.float32)}


def by_key(parsed):
    """Dicts in the order of their keys."""
    return [{key: part[key] for key in sorted(part)} for part in parsed]


say("sequence", lambda: by_key(tf.io.parse_single_sequence_example(message, context, steps)))
say("sequences", lambda: by_key(tf.io.parse_sequence_example([message, message], context, steps)))
say("ragged sequence", lambda: by_key(tf.io.parse_single_sequence_example(message, {}, {"v": tf.io.RaggedFeature(tf.float32)})))
say("ragged sequences", lambda: by_key(tf.io.parse_sequence_example([message], {}, {"v": tf.io.RaggedFeature(tf.float32)})))
say("lacking", lambda: tf.io.parse_single_sequence_example(message, {}, {"z": tf.io.FixedLenSequenceFeature([], tf.int64)}))
say("allowed to lack", lambda: tf.io.parse_single_sequence_example(message, {}, {"z": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}))
say("nothing asked", lambda: tf.io.parse_single_sequence_example(message))
say("in a dataset", lambda: list(tf.data.Dataset.from_tensors(message).map(
    lambda m: tf.io.parse_single_sequence_example(m, context, {"t": steps["t"]})).as_numpy_iterator()))


@tf.function
def checked(number):
    """Operations that wait for an assertion, and a shape of mixed integers."""
    with tf.control_dependencies([tf.debugging.Assert(number > 0, [number])]):
        return tf.ones([number, 2])


say("checked", lambda: checked(tf.constant(2, tf.int64)))
say("checked in a dataset", lambda: tf.data.Dataset.range(1, 3).map(checked))

pairs = tf.train.Example(features=tf.train.Features(feature={"i": feature([3, 1]), "x": feature([1.5, 2.5]), "j": feature([0, 2])})).SerializeToString()
say("sparse feature", lambda: tf.io.parse_example([pairs], {"s": tf.io.SparseFeature("i", "x", tf.float32, 5)}))
say("sparse features", lambda: tf.io.parse_single_example(pairs, {"s": tf.io.SparseFeature(["i", "j"], "x", tf.float32, [5, 4])}))
say("sparse and dense", lambda: sorted(tf.io.parse_example([pairs], {"s": tf.io.SparseFeature("i", "x", tf.float32, 5),
                                                                     "i": tf.io.VarLenFeature(tf.int64)})))
