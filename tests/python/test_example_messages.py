"""tf.train.Example and its parts against TensorFlow's (example_messages.json, made by tests/golden/message_cases.py), damage, and what nobody asks TensorFlow."""
import gc
import json
import random

import message_cases
import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

with open(golden_file("message_cases", "example_messages.json")) as file:
    GOLDEN = json.load(file)
FOUND = message_cases.results(tf)


def test_the_cases_are_the_same():
    assert list(GOLDEN) == list(FOUND)


@pytest.mark.parametrize("name", GOLDEN)
def test_case(name):
    assert FOUND[name] == GOLDEN[name]


def test_nothing_is_dropped():
    """TensorFlow makes an empty list of an array of other numbers."""
    with pytest.raises(TypeError):
        tf.train.Int64List(value=np.array([1.0, 2.0]))


def example(n):
    feature = {"b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x" * n, b""])),
               "i": tf.train.Feature(int64_list=tf.train.Int64List(value=range(n))),
               "f": tf.train.Feature(float_list=tf.train.FloatList(value=np.arange(n) / 3))}
    return tf.train.Example(features=tf.train.Features(feature=feature))


def test_records_are_read_back(tmp_path):
    path = str(tmp_path / "x.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for n in range(40):
            writer.write(example(n).SerializeToString())
    spec = {"b": tf.io.FixedLenFeature([2], tf.string), "i": tf.io.VarLenFeature(tf.int64), "f": tf.io.VarLenFeature(tf.float32)}
    for n, record in enumerate(tf.data.TFRecordDataset(path)):
        read = tf.io.parse_single_example(record, spec)
        assert read["b"].numpy().tolist() == [b"x" * n, b""] and read["i"].values.numpy().tolist() == list(range(n))
        assert np.array_equal(read["f"].values.numpy(), (np.arange(n) / 3).astype("float32"))
        again = tf.train.Example.FromString(record.numpy())
        assert again == example(n) and again.SerializeToString() == record.numpy()


def test_damage_raises_or_gives_a_message():
    good, chance = example(5).SerializeToString(), random.Random(3)
    error = None
    for n in range(3000):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        del data[chance.randint(len(data) // 2, len(data)):]
        try:
            message = tf.train.Example.FromString(bytes(data))
            str(message), message.SerializeToString(), message == message
        except ValueError as told:
            error = told
    assert error is not None and type(error).__name__ == "DecodeError"


def test_deep_messages_end():
    """Attributes of functions of attributes: deeper than protobuf reads."""
    kind, data = tf.compat.v1.AttrValue if hasattr(tf.compat.v1, "AttrValue") else type(tf.compat.v1.NodeDef().attr["x"]), b""
    for _ in range(300):  # AttrValue.func { attr { key, value: AttrValue } }
        for head in (b"\x12", b"\x12", b"\x52"):
            size = len(data)
            data = head + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + data
    with pytest.raises(ValueError):
        kind.FromString(data)


def test_messages_are_collected():
    def count():
        gc.collect()
        return sum(type(o).__name__ in ("Example", "Feature", "Features") for o in gc.get_objects())
    before = count()
    for _ in range(50):
        made = example(3)
        made.features.feature["own"].int64_list.value.append(1)
    del made
    assert count() == before
