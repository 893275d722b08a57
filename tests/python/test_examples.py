"""tf.train.Example and tf.io.parse_example; what TensorFlow gives for the same calls. The op's own cases are in tests/golden/op_cases/example.json."""
import numpy as np
import pytest
import thalweg as tf

BYTES = bytes.fromhex("0a480a0d0a016212080a060a0278790a000a070a0165120212000a110a0166120c120a0a080000c03f000000c0"
                      "0a140a0169120f1a0d0a0b03ffffffffffffffffff010a050a016e1200")


def example():
    return tf.train.Example(features=tf.train.Features(feature={
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"xy", b""])),
        "e": tf.train.Feature(float_list=tf.train.FloatList(value=[])),
        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2])),
        "i": tf.train.Feature(int64_list=tf.train.Int64List(value=np.array([3, -1]))),
        "n": tf.train.Feature()}))


def test_messages():
    made = example()
    assert made.SerializeToString() == BYTES
    back = tf.train.Example.FromString(BYTES)
    assert back == made and back.features.feature["i"].int64_list.value == [3, -1]
    assert back.features.feature["b"].WhichOneof("kind") == "bytes_list"
    assert str(back.features.feature["f"]) == "float_list {\n  value: 1.5\n  value: -2\n}\n"
    assert tf.train.FloatList(value=np.float32([1, 2])) == tf.train.FloatList(value=tf.constant([1.0, 2.0]))
    sequence = tf.train.SequenceExample(
        context=tf.train.Features(feature={"c": tf.train.Feature(int64_list=tf.train.Int64List(value=[5]))}),
        feature_lists=tf.train.FeatureLists(feature_list={"s": tf.train.FeatureList(feature=[
            tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2])), tf.train.Feature(float_list=tf.train.FloatList(value=[3]))])}))
    assert sequence.SerializeToString().hex() == ("0a0c0a0a0a016312051a030a0105121f0a1d0a017312180a0c120a0a080000803f00000040"
                                                  "0a0812060a0400004040")
    for bad, text in ((lambda: tf.train.Int64List(value=[1.5]), "'float' object cannot be interpreted as an integer"),
                      (lambda: tf.train.Int64List(value=5), "Value must be iterable"),
                      (lambda: tf.train.BytesList(value=["x"]), "expected bytes, str found"),
                      (lambda: tf.train.FloatList(value=["x"]), "must be real number, not str")):
        with pytest.raises(TypeError, match=text):
            bad()
    with pytest.raises(ValueError, match='has no "foo" field'):
        tf.train.Feature(foo=3)


def test_single():
    parsed = tf.io.parse_single_example(BYTES, {
        "i": tf.io.FixedLenFeature([2], tf.int64), "b": tf.io.FixedLenFeature((2, 1), tf.string), "q": tf.io.FixedLenFeature([], tf.float32, 0.5),
        "f": tf.io.VarLenFeature(tf.float32), "e": tf.io.FixedLenSequenceFeature([3], tf.float32, allow_missing=True),
        "n": tf.io.RaggedFeature(tf.int64)})
    assert list(parsed) == ["f", "b", "e", "i", "q", "n"]
    assert parsed["i"].numpy().tolist() == [3, -1] and parsed["b"].numpy().tolist() == [[b"xy"], [b""]] and float(parsed["q"]) == 0.5
    assert parsed["e"].shape == (0, 3) and parsed["n"].shape == (0,)
    assert parsed["f"].values.numpy().tolist() == [1.5, -2] and parsed["f"].indices.numpy().tolist() == [[0], [1]]
    assert parsed["f"].dense_shape.numpy().tolist() == [2]


def test_batch():
    other = tf.train.Example(features=tf.train.Features(feature={"f": tf.train.Feature(float_list=tf.train.FloatList(value=[7]))}))
    parsed = tf.io.parse_example([BYTES, other.SerializeToString()], {
        "f": tf.io.FixedLenSequenceFeature([], tf.float32, True, 9), "i": tf.io.VarLenFeature(tf.int64), "b": tf.io.RaggedFeature(tf.string)})
    assert parsed["f"].numpy().tolist() == [[1.5, -2], [7, 9]] and parsed["i"].dense_shape.numpy().tolist() == [2, 2]
    assert parsed["b"].to_list() == [[b"xy", b""], []]


def test_traced():
    @tf.function
    def parse(serialized):
        return tf.io.parse_single_example(serialized, {"i": tf.io.FixedLenFeature([2], tf.int64),
                                                       "f": tf.io.FixedLenSequenceFeature([], tf.float32, True)})
    got = parse(tf.constant(BYTES))
    assert got["i"].numpy().tolist() == [3, -1] and got["f"].numpy().tolist() == [1.5, -2]
    concrete = parse.get_concrete_function(tf.TensorSpec([], tf.string))
    assert concrete.structured_outputs["f"].shape.as_list() == [None]


@pytest.mark.parametrize("feature,error,text", [
    (tf.io.FixedLenFeature([2], tf.int32), tf.errors.InvalidArgumentError, "Value for attr 'Tdense' of int32 is not in the list of allowed values"),
    (tf.io.FixedLenFeature(None, tf.int64), ValueError, "Missing shape for feature i. Received feature="),
    (tf.io.FixedLenFeature([None], tf.int64), ValueError, "First dimension of shape for feature i unknown."),
    (tf.io.FixedLenFeature([], None), ValueError, "Missing type for feature i."),
    (tf.io.FixedLenFeature([3], tf.int64), tf.errors.InvalidArgumentError, "Key: i.  Can't parse serialized Example."),
    (tf.io.FixedLenFeature([2], tf.int64, 7), tf.errors.InvalidArgumentError, "Input to reshape is a tensor with 1 values"),
    (tf.io.FixedLenSequenceFeature([], tf.int64), ValueError, "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."),
    (5, ValueError, "Unsupported int 5 for key 'i'")])
def test_errors(feature, error, text):
    with pytest.raises(error) as raised:
        tf.io.parse_single_example(BYTES, {"i": feature})
    assert text in str(raised.value)


def test_more_errors():
    for features in (None, {}):
        with pytest.raises(ValueError, match="features cannot be None"):
            tf.io.parse_single_example(BYTES, features)
    with pytest.raises(ValueError, match="Input serialized must be a scalar"):
        tf.io.parse_single_example([BYTES], {"i": tf.io.FixedLenFeature([2], tf.int64)})
    with pytest.raises(NotImplementedError):
        tf.io.RaggedFeature(tf.int64, partitions=[1])
