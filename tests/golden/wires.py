"""Writes tests/golden/wires/wires.json with TensorFlow 2.15.1: bytes of messages as nobody writes them (fields of other wires, single messages that stand
twice, long varints), and what protobuf reads: as a tensor in C++, as a message in Python. null: refused."""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, tensor_pb2

FLOAT, SHAPE, VALUES = "0801", "120412020802", "2a080000803f00000040"
TENSORS = {
    "plain": FLOAT + SHAPE + VALUES,
    "dtype of another wire": "0a0101" + FLOAT + SHAPE + VALUES,
    "dtype of another wire behind": FLOAT + SHAPE + VALUES + "0d02000000",
    "a shape that is a number": "1001" + FLOAT + SHAPE + VALUES,
    "only a shape that is a number": "1001" + FLOAT + "2d0000803f",
    "two shapes": FLOAT + "120412020801120412020802" + VALUES,
    "two shapes, one empty": FLOAT + "1200" + SHAPE + VALUES,
    "two shapes apart": FLOAT + SHAPE + VALUES + "1200",
    "two shapes, the first cut off": FLOAT + "1203120208" + SHAPE + VALUES,
    "a float of another wire": "2801" + FLOAT + SHAPE + VALUES,
    "a float of another wire behind": FLOAT + SHAPE + VALUES + "2801",
    "a float of another wire between": FLOAT + SHAPE + "2d0000803f" + "2801" + "2d00000040",
    "floats, packed and not": FLOAT + SHAPE + "2d0000803f" + "2a0400000040",
    "a float of eight bytes": FLOAT + SHAPE + VALUES + "290000000000000000",
    "a group of a known number": FLOAT + SHAPE + VALUES + "2b2c",
    "a group in place of a shape": FLOAT + "1314" + SHAPE + VALUES,
    "content that is a number": FLOAT + SHAPE + VALUES + "2001",
    "a text of another wire": FLOAT + SHAPE + VALUES + "4001",
    "a long varint": "0881808080808080808000" + SHAPE + VALUES,
    "a long varint with bits too many": "0881808080808080808002" + SHAPE + VALUES,
    "a long varint with all bits": "088180808080808080807f" + SHAPE + VALUES,
    "eleven bytes": "088180808080808080808000" + SHAPE + VALUES,
    "a long tag": "88800001" + SHAPE + VALUES,
    "a tag of five bytes": "888080800001" + SHAPE + VALUES,
    "a tag of six bytes": "88808080800001" + SHAPE + VALUES,
    "field 0": "0001" + FLOAT + SHAPE + VALUES,
    "wire 6": "0e01" + FLOAT + SHAPE + VALUES,
    "wire 7": "0f01" + FLOAT + SHAPE + VALUES,
    "the end of no group": FLOAT + SHAPE + VALUES + "0c",
    "a dtype beyond 32 bits": "088180808010" + SHAPE + VALUES,
    "a long size": FLOAT + "12848080800012020802" + VALUES,
}
ATTRS = {"two lists": "0a0218010a021802", "a list, a text, a list": "0a0218011201610a021802", "a text, a number": "1201611805", "a shape, a text": "3a0412020802120161",
         "a list of another wire": "0801", "a text, a list of another wire": "1201610801", "two tensors": "42020801420612041202" + "0802"}


def read(function):
    try:
        return function()
    except Exception:
        return None


def tensor(data):
    return tf.io.parse_tensor(data, tf.float32).numpy().tolist()


def message(data):
    made = tensor_pb2.TensorProto.FromString(data)
    return [made.dtype, [d.size for d in made.tensor_shape.dim], list(made.float_val)]


def attr(data):
    made = attr_value_pb2.AttrValue.FromString(data)
    return made.WhichOneof("value"), str(made)


def main():
    found = {"tensors": {name: [data, read(lambda: tensor(bytes.fromhex(data))), read(lambda: message(bytes.fromhex(data)))] for name, data in TENSORS.items()},
             "attrs": {name: [data, *attr(bytes.fromhex(data))] for name, data in ATTRS.items()}}
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wires")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "wires.json"), "w") as file:
        json.dump(found, file, indent=0)


main()
