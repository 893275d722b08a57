"""Messages against TensorFlow's: bytes, text and field numbers (v1_messages.json, made by tests/golden/v1train_messages.py); damaged bytes."""
import copy
import json
import pickle
import random

import pytest

from golden_files import golden_file
from thalweg import _message, _messages

with open(golden_file("v1train_messages", "v1_messages.json")) as f:
    GOLDEN = json.load(f)
TYPES = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string", 12: "bytes", 13: "uint32",
         18: "sint64", "enum": "int32"}


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda c: c["class"])
def test_case(case):
    space = {"C": _messages.classes[case["class"]]}
    exec(case["code"], space)
    m, data = space["m"], bytes.fromhex(case["hex"])
    assert m.SerializeToString() == data
    assert str(m) == case["text"]
    again = space["C"].FromString(data)
    assert again.SerializeToString() == data and again == m and str(again) == case["text"]
    assert copy.deepcopy(m) == m and pickle.loads(pickle.dumps(m)) == m


def test_text_has_numbers_as_keys_upwards():
    m = _messages.classes["GraphDebugInfo"]()
    for key in (2**64 - 1, 1, 2**63, 0):
        m.frames_by_id[key].line = 3
    assert str(m) == "".join("frames_by_id {\n  key: %d\n  value {\n    line: 3\n  }\n}\n" % key for key in (0, 1, 2**63, 2**64 - 1))


def test_fields_are_tensorflows():
    assert set(GOLDEN["fields"]) == set(_messages.names)
    for name, fields in GOLDEN["fields"].items():
        for field in _messages.classes[name]._fields().values():
            number, kind, repeated, oneof = fields[field.name]
            key, kind = kind if isinstance(kind, list) else (None, kind)
            assert field.number == number and (field.repeated or field.key is not None) == repeated
            assert field.oneof == oneof and field.key == TYPES.get(key) and field.enum == (kind == "enum")
            assert field.message or field.kind == "bytes" if kind == "message" else TYPES[kind] == field.kind


def test_enums_are_tensorflows():
    assert GOLDEN["enums"] == {name: values for name, values in _messages.enums.items()}


def test_oneof_and_presence():
    event = _messages.Event(file_version="a")
    assert event.WhichOneof("what") == "file_version"
    event.graph_def = b"b"
    assert event.WhichOneof("what") == "graph_def" and event.file_version == ""
    config = _messages.ConfigProto()
    assert not config.HasField("gpu_options") and not config.gpu_options.allow_growth
    assert not config.HasField("gpu_options")
    config.gpu_options.allow_growth = True
    assert config.HasField("gpu_options")
    config.ClearField("gpu_options")
    assert config.SerializeToString() == b""


def test_errors():
    config = _messages.ConfigProto()
    with pytest.raises(AttributeError):
        config.nothing
    with pytest.raises(AttributeError):
        config.nothing = 1
    with pytest.raises(AttributeError):
        config.gpu_options = _messages.GPUOptions()
    with pytest.raises(ValueError):
        _messages.ConfigProto(nothing=1)
    with pytest.raises(TypeError):
        config.intra_op_parallelism_threads = "2"
    with pytest.raises(ValueError):
        config.intra_op_parallelism_threads = 2**31
    with pytest.raises(TypeError):
        config.CopyFrom(_messages.GPUOptions())


def test_unknown_fields_stay():
    data = bytes.fromhex("080112026162f80701") + b"\x0a\x01x"
    m = _messages.SessionLog.FromString(data)
    assert m.status == 1 and m.checkpoint_path == "ab"
    assert _messages.SessionLog.FromString(m.SerializeToString()) == m
    assert b"\xf8\x07\x01" in m.SerializeToString()


def test_damaged_bytes_raise():
    rng = random.Random(1)
    for case in GOLDEN["cases"]:
        cls, data = _messages.classes[case["class"]], bytes.fromhex(case["hex"])
        for _ in range(60):
            bad = bytearray(data[:rng.randrange(len(data) + 1)])
            for _ in range(rng.randrange(3)):
                if bad:
                    bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            try:
                str(cls.FromString(bytes(bad)))
            except _message.DecodeError:
                pass
