"""Bytes of messages that protobuf takes although nobody writes them so: known fields of another wire are passed over, and a message that stands several
times where one is meant is all of them together. tests/golden/wires.py asked TensorFlow."""
import json
import os

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf
from thalweg import _messages
from thalweg._message import DecodeError

with open(golden_file("wires", "wires.json")) as _file:
    GOLDEN = json.load(_file)


@pytest.mark.parametrize("name", GOLDEN["tensors"])
def test_tensors(name):
    """Read in C, and as a message of Python."""
    data, value, fields = GOLDEN["tensors"][name]
    data = bytes.fromhex(data)
    if value is None:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_tensor(data, tf.float32)
    else:
        assert tf.io.parse_tensor(data, tf.float32).numpy().tolist() == value
    if fields is None:
        with pytest.raises(DecodeError):
            _messages.TensorProto.FromString(data)
    else:
        message = _messages.TensorProto.FromString(data)
        assert [message.dtype, [d.size for d in message.tensor_shape.dim], list(message.float_val)] == fields


@pytest.mark.parametrize("name", GOLDEN["attrs"])
def test_attrs(name):
    data, which, text = GOLDEN["attrs"][name]
    message = _messages.AttrValue.FromString(bytes.fromhex(data))
    assert message.WhichOneof("value") == which and str(message) == text


# ---- whole files, every message of which is changed ----

def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def fields_of(data):
    """(number, wire, value of wire 2, all bytes) of each field."""
    def number(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        start = at
        tag, at = number(at)
        if tag & 7 == 0:
            _, at = number(at)
        elif tag & 7 == 2:
            size, at = number(at)
            at += size
        else:
            at += 8 if tag & 7 == 1 else 4
        yield tag >> 3, tag & 7, data[at - size:at] if tag & 7 == 2 else None, data[start:at]


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def changed(kind, data, split, foreign):
    """The message with its single messages in two parts each, and with a field of a foreign wire behind each field."""
    tables = {f.number: f for f in _messages.classes[kind]._fields().values()}
    out = b""
    for number, wire, value, raw in fields_of(data):
        known = tables.get(number)
        if known is not None and known.message and wire == 2:
            if known.key:  # an entry: its value is the message
                value = b"".join(field(2, changed(known.kind, v, split, foreign)) if n == 2 else r for n, _, v, r in fields_of(value))
                out += field(number, value)
            else:
                value = changed(known.kind, value, split, foreign)
                pieces = [r for _, _, _, r in fields_of(value)]
                half = len(pieces) // 2 if split and not known.repeated else 0
                out += b"".join(field(number, b"".join(part)) for part in ([pieces] if known.repeated or not split else [pieces[:half], pieces[half:]]))
        else:
            out += raw
        if foreign and known is not None:
            out += varint(number << 3 | 1) + bytes(8) if known.kind in ("float", "fixed32") else varint(number << 3 | 5) + bytes(4)
    return out


@pytest.mark.parametrize("split, foreign", [(True, False), (False, True), (True, True)], ids=["in two", "foreign", "both"])
def test_saved_models(split, foreign, tmp_path):
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu", input_shape=(2,)), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    model.fit(x, x[:, :1], verbose=0)
    path = str(tmp_path / "model")
    model.save(path)
    sizes = []
    for name, kind in (("saved_model.pb", "SavedModel"), ("keras_metadata.pb", "SavedMetadata")):
        with open(os.path.join(path, name), "rb") as file:
            data = file.read()
        with open(os.path.join(path, name), "wb") as file:
            file.write(changed(kind, data, split, foreign))
            sizes.append(file.tell() - len(data))
    assert min(sizes) > 0
    loaded, plain = tf.keras.models.load_model(path), tf.saved_model.load(path)
    wanted = model.predict(x, verbose=0)
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), wanted)
    np.testing.assert_allclose(plain.signatures["serving_default"](tf.constant(x))["dense_1"], wanted, rtol=1e-6)
    assert [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]


def test_graphs(tmp_path):
    """Graphs that follow each other in a file are one graph."""
    with tf.Graph().as_default() as graph:
        tf.add(tf.compat.v1.placeholder(tf.float32, [], name="x"), 1.0, name="y")
    data = graph.as_graph_def().SerializeToString()
    for split, foreign in ((True, False), (False, True), (True, True)):
        message = tf.compat.v1.GraphDef.FromString(changed("GraphDef", data, split, foreign))
        assert [n.name for n in message.node] == [n.name for n in graph.as_graph_def().node] and message.versions.producer == graph.as_graph_def().versions.producer


def test_events(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("a", 3.0, step=5)
        tf.summary.text("b", "words", step=6)
    name, = os.listdir(tmp_path)
    records = [r.numpy() for r in tf.data.TFRecordDataset(str(tmp_path / name))]
    with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
        for record in records:
            writer.write(changed("Event", record, True, True))
    seen = {}
    for event in tf.compat.v1.train.summary_iterator(str(tmp_path / name)):
        for value in event.summary.value:
            seen[value.tag, event.step] = tf.make_ndarray(value.tensor).tolist()
    assert seen == {("a", 5): 3.0, ("b", 6): b"words"}


def test_damage_is_refused_or_read():
    """Messages in two parts, with a bit of another value: a value or an error."""
    whole = changed("TensorProto", bytes.fromhex(GOLDEN["tensors"]["plain"][0]), True, True)
    for bit in range(8 * len(whole)):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        try:
            tf.io.parse_tensor(bytes(data), tf.float32)
        except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.DataLossError):
            pass
