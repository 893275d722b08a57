"""Protocol buffer messages: classes made from lines of "number type name", with attributes, bytes and text as protobuf's Python classes have.

    class Value(Message): FIELDS = "1 string tag; 2 float simple_value oneof value"

What a class does not describe stays in the message as it came (unknown fields). thalweg._messages holds the messages themselves."""
import functools
import struct

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_INTEGERS = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1), "uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1),
             "fixed32": (0, 2**32 - 1), "fixed64": (0, 2**64 - 1)}
_WIRES = {"double": _FIXED64, "float": _FIXED32, "string": _BYTES, "bytes": _BYTES, "fixed32": _FIXED32, "fixed64": _FIXED64}


class DecodeError(ValueError):
    """The bytes are no such message."""


class _Field:
    def __init__(self, text):
        parts = text.split()
        self.oneof = parts.pop() if parts[-2] == "oneof" else None
        if self.oneof:
            parts.pop()
        self.number, self.name = int(parts[0]), parts[-1]
        self.repeated = parts[1] == "repeated"
        kind = parts[-2]
        self.key = None
        if kind.startswith("map<"):
            self.key, kind = kind[4:-1].split(",")
        self.enum = parts[-3] == "enum"
        self.kind = "int32" if self.enum else kind  # a scalar type, or the name of a message
        self.values = kind if self.enum else None   # the enum's name
        self.message = not self.enum and self.kind not in _INTEGERS and self.kind not in ("double", "float", "bool", "string", "bytes")
        self.wire = _BYTES if self.message else _WIRES.get(self.kind, _VARINT)

    def default(self):
        return "" if self.kind == "string" else b"" if self.kind == "bytes" else False if self.kind == "bool" else \
            0.0 if self.kind in ("float", "double") else 0

    def check(self, value, owner):
        """The value as the field holds it."""
        kind = self.kind
        if self.message:
            if not isinstance(value, owner._class(kind)):
                raise TypeError("Parameter to initialize message field must be dict or instance of same class: expected %s got %s." % (
                    kind, type(value)))
            return value
        if kind == "string":
            value = value.decode("utf-8") if isinstance(value, bytes) else value
        if self.enum and isinstance(value, str):
            return owner._enum(self.values)[value]
        good = {"string": (str,), "bytes": (bytes,), "bool": (bool, int), "float": (int, float), "double": (int, float)}.get(kind, (int,))
        if hasattr(value, "dtype") and hasattr(value, "numpy") and kind != "bytes":
            value = value.numpy()  # a tensor of one number
        if hasattr(value, "dtype") and hasattr(value, "item") and not isinstance(value, good):
            value = value.item()  # NumPy's scalars
        if hasattr(value, "as_datatype_enum") and self.enum:
            value = value.as_datatype_enum
        if not isinstance(value, good):
            found = type(value).__name__
            raise TypeError("expected bytes, %s found" % found if kind == "bytes" else "must be real number, not %s" % found
                            if kind in ("float", "double") else "'%s' object cannot be interpreted as an integer" % found
                            if kind in _INTEGERS else "bad argument type for built-in operation: %s is %s, got %r" % (self.name, kind, value))
        if kind in _INTEGERS:
            low, high = _INTEGERS[kind]
            if not low <= value <= high:
                raise ValueError("Value out of range: %d" % value)
            return int(value)
        if kind == "float":
            try:
                return struct.unpack("<f", struct.pack("<f", value))[0]
            except OverflowError:
                return float("inf") if value > 0 else float("-inf")
        return bool(value) if kind == "bool" else float(value) if kind == "double" else value


class _Repeated(list):
    """The values of a repeated field: a list that checks what it is given."""

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def append(self, value):
        super().append(self._field.check(value, self._owner))

    def extend(self, values):
        if not hasattr(values, "__iter__"):
            raise TypeError("Value must be iterable")
        same = {"float": "float32", "double": "float64", "int64": "int64"}.get(self._field.kind)
        if same and str(getattr(values, "dtype", "")) == same and hasattr(values, "tolist") and values.ndim == 1:  # NumPy's, as they are
            super().extend(values.tolist())
            return
        for value in values:
            self.append(value)

    MergeFrom = extend

    def insert(self, index, value):
        super().insert(index, self._field.check(value, self._owner))

    def __setitem__(self, index, value):
        many = isinstance(index, slice)
        super().__setitem__(index, [self._field.check(v, self._owner) for v in value] if many else self._field.check(value, self._owner))

    def add(self, **values):
        made = self._owner._class(self._field.kind)(**values)
        super().append(made)
        return made


class _Map(dict):
    """The values of a map field; one that is asked for and not there is made, if it is a message."""

    def __init__(self, field, owner):
        super().__init__()
        self._field, self._owner = field, owner

    def __missing__(self, key):
        if not self._field.message:
            return self._field.default()
        made = self._owner._class(self._field.kind)()
        super().__setitem__(key, made)
        return made

    def __setitem__(self, key, value):
        if self._field.message and not isinstance(value, Message):
            raise ValueError("Direct assignment of submessage not allowed")
        super().__setitem__(key, self._field.check(value, self._owner))

    def update(self, other):
        for key, value in other.items():
            self[key] = value

    def get_or_create(self, key):
        return self[key]


def _put_varint(out, value):
    value &= 2**64 - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _take_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DecodeError("Error parsing message: a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value & (2**64 - 1), at


def _put_scalar(out, field, value, kind=None):
    kind = kind or field.kind
    if kind in ("double", "float", "fixed32", "fixed64"):
        out += struct.pack({"double": "<d", "float": "<f", "fixed32": "<I", "fixed64": "<Q"}[kind], value)
    elif kind in ("string", "bytes"):
        value = value.encode("utf-8") if kind == "string" else value
        _put_varint(out, len(value))
        out += value
    else:
        _put_varint(out, int(value))


def _from_wire(kind, wire, value):
    """A value of that kind from what the wire holds: an unsigned number, or bytes."""
    try:
        if kind == "string":
            return value.decode("utf-8")
        if kind == "double":
            return struct.unpack("<d", struct.pack("<Q", value))[0]
        if kind == "float":
            return struct.unpack("<f", struct.pack("<I", value))[0]
    except UnicodeDecodeError as e:
        raise DecodeError("Error parsing message: %s" % e) from None
    if kind == "bool":
        return value != 0
    if kind == "int64":
        return value - 2**64 if value >= 2**63 else value
    if kind == "int32":
        value &= 2**32 - 1
        return value - 2**32 if value >= 2**31 else value
    return value & (2**32 - 1) if kind == "uint32" else value


def _split(data):
    """(number, wire, value, bytes of the whole field) of each field."""
    at = 0
    while at < len(data):
        start = at
        tag, at = _take_varint(data, at)
        wire = tag & 7
        if wire == _VARINT:
            value, at = _take_varint(data, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 8 if wire == _FIXED64 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        elif wire == _BYTES:
            size, at = _take_varint(data, at)
            value, at = bytes(data[at:at + size]), at + size
        else:
            raise DecodeError("Error parsing message: wire type %d" % wire)
        if at > len(data) or tag >> 3 == 0:
            raise DecodeError("Error parsing message")
        yield tag >> 3, wire, value, bytes(data[start:at])


def _unpack(field, data):
    """The values of a packed repeated field."""
    at = 0
    while at < len(data):
        if field.wire == _VARINT:
            value, at = _take_varint(data, at)
        else:
            size = 8 if field.wire == _FIXED64 else 4
            if at + size > len(data):
                raise DecodeError("Error parsing message")
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        yield _from_wire(field.kind, field.wire, value)


def _escape(data):
    plain = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
    if isinstance(data, str):
        return "".join(c if ord(c) > 127 else plain.get(ord(c)) or (c if 32 <= ord(c) < 127 else "\\%03o" % ord(c)) for c in data)
    return "".join(plain.get(b) or (chr(b) if 32 <= b < 127 else "\\%03o" % b) for b in data)


def _number_text(value, single):
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "nan", "inf": "inf", "-inf": "-inf"}[repr(value)]
    if value == int(value) and abs(value) < 1e15:
        return str(int(value)) if value or str(value)[0] != "-" else "-0"
    if not single:
        return repr(value)
    for digits in range(6, 10):
        text = "%.*g" % (digits, value)
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return repr(float(text))


def _in_order(keys):
    """Keys of a map as protobuf prints them: numbers upwards, texts downwards, but one that another begins with comes before it."""
    def compare(a, b):
        size = min(len(a), len(b))
        return len(a) - len(b) if a[:size] == b[:size] else 1 if a[:size] < b[:size] else -1
    return sorted(keys, key=functools.cmp_to_key(compare)) if all(isinstance(k, str) for k in keys) else sorted(keys)


class Message:
    """The base of messages."""
    FIELDS = ""
    _made = None  # name -> field, once asked for
    _class = _enum = None  # from names to classes and enums; thalweg._messages sets them

    @classmethod
    def _fields(cls):
        if "_made" not in cls.__dict__:
            fields = [_Field(text) for text in cls.FIELDS.split(";") if text.strip()]
            cls._made = {f.name: f for f in fields}
            cls._numbers = {f.number: f for f in fields}
        return cls._made

    def __init__(self, **values):
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_unknown", [])
        object.__setattr__(self, "_set", False)  # there although it is empty
        for name, value in values.items():
            if value is None:
                continue
            field = self._field(name, ValueError)
            if field.key:
                for key, item in value.items():
                    if field.message:
                        getattr(self, name)[key].CopyFrom(item)
                    else:
                        getattr(self, name)[key] = item
            elif field.repeated and not field.message:
                getattr(self, name).extend(value)
            elif field.repeated:
                for item in value:
                    getattr(self, name).append(self._class(field.kind)(**item) if isinstance(item, dict) else item)
            elif field.message:
                getattr(self, name).CopyFrom(self._class(field.kind)(**value) if isinstance(value, dict) else value)
            else:
                setattr(self, name, value)

    @classmethod
    def _field(cls, name, error):
        field = cls._fields().get(name)
        if field is None:
            raise error("Protocol message %s has no \"%s\" field." % (cls.__name__, name))
        return field

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        field = self._field(name, AttributeError)
        values = self._values
        if name not in values:
            if field.key:
                values[name] = _Map(field, self)
            elif field.repeated:
                values[name] = _Repeated(field, self)
            elif field.message:
                values[name] = self._class(field.kind)()
            else:
                return field.default()
        return values[name]

    def __setattr__(self, name, value):
        field = self._field(name, AttributeError)
        if field.message or field.repeated or field.key:
            raise AttributeError('Assignment not allowed to message, map, or repeated field "%s" in protocol message object.' % name)
        value = field.check(value, self)
        self._choose(field)
        self._values[name] = value

    def _choose(self, field):
        """Of the fields of a oneof only one is there."""
        if field.oneof:
            for other in self._fields().values():
                if other.oneof == field.oneof and other is not field:
                    self._values.pop(other.name, None)

    def _present(self):
        """(field, value) of what is there, as the class lists the fields."""
        for name, field in self._fields().items():
            if name not in self._values:
                continue
            value = self._values[name]
            if field.key or field.repeated:
                there = len(value) > 0
            elif field.message:
                there = value._set or bool(value._unknown) or any(True for _ in value._present())
            else:
                there = bool(field.oneof) or value != field.default() or (isinstance(value, float) and str(value) == "-0.0")
            if there:
                yield field, value

    def ListFields(self):
        return [(field, value) for field, value in self._present()]

    def HasField(self, name):
        field = self._field(name, ValueError) if name not in {f.oneof for f in self._fields().values()} else None
        if field is None:
            return self.WhichOneof(name) is not None
        if field.repeated or field.key or not (field.message or field.oneof):
            raise ValueError("Protocol message %s has no non-repeated field \"%s\" nor marker for it." % (type(self).__name__, name))
        return any(f is field for f, _ in self._present())

    def WhichOneof(self, name):
        for field, _ in self._present():
            if field.oneof == name:
                return field.name
        if name not in {f.oneof for f in self._fields().values()}:
            raise ValueError("Protocol message has no oneof \"%s\" field." % name)
        return None

    def ClearField(self, name):
        self._field(name, ValueError)
        self._values.pop(name, None)

    def Clear(self):
        self.__init__()

    def SetInParent(self):
        object.__setattr__(self, "_set", True)

    def CopyFrom(self, other):
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def MergeFrom(self, other):
        if not isinstance(other, type(self)):
            raise TypeError("Parameter to MergeFrom() must be instance of same class: expected %s got %s." % (
                type(self).__name__, type(other).__name__))
        self.MergeFromString(other.SerializeToString())
        self.SetInParent()

    # ---- bytes

    def SerializeToString(self, deterministic=True):
        """The message as bytes; maps are sorted by key."""
        del deterministic  # it is so always
        out = bytearray()
        for field, value in sorted(self._present(), key=lambda pair: pair[0].number):
            if field.key:
                for key in sorted(value):
                    entry = bytearray()
                    self._put(entry, _Field("1 %s key" % field.key), key)
                    self._put(entry, _Field("2 %s value" % (("enum " + field.values) if field.enum else field.kind)), value[key])
                    _put_varint(out, field.number << 3 | _BYTES)
                    _put_varint(out, len(entry))
                    out += entry
            elif field.repeated and field.wire != _BYTES:
                packed = bytearray()
                if field.kind in ("float", "double"):
                    packed += struct.pack("<%d%s" % (len(value), field.kind[0]), *value)
                else:
                    for item in value:
                        _put_scalar(packed, field, item)
                _put_varint(out, field.number << 3 | _BYTES)
                _put_varint(out, len(packed))
                out += packed
            else:
                for item in value if field.repeated else (value,):
                    self._put(out, field, item)
        for data in self._unknown:
            out += data
        return bytes(out)

    SerializePartialToString = SerializeToString

    @staticmethod
    def _put(out, field, value):
        _put_varint(out, field.number << 3 | field.wire)
        if field.message:
            value = value.SerializeToString()
            _put_varint(out, len(value))
            out += value
        else:
            _put_scalar(out, field, value)

    def MergeFromString(self, data):
        data = memoryview(data)
        self._fields()
        for number, wire, value, whole in _split(data):
            field = self._numbers.get(number)
            packed = field is not None and field.repeated and wire == _BYTES and field.wire != _BYTES
            if field is None or not packed and wire != (_BYTES if field.key else field.wire):
                self._unknown.append(whole)
            elif packed:
                list.extend(getattr(self, field.name), _unpack(field, value))
            elif field.key:
                self._merge_entry(field, value)
            elif field.message and not field.repeated:
                self._choose(field)
                child = getattr(self, field.name)
                child.MergeFromString(value)
                child.SetInParent()
            else:
                item = self._class(field.kind).FromString(value) if field.message else _from_wire(field.kind, wire, value)
                if field.repeated:
                    list.append(getattr(self, field.name), item)
                else:
                    self._choose(field)
                    self._values[field.name] = item
        return len(data)

    def _merge_entry(self, field, data):
        key = _Field("1 %s key" % field.key)
        name, item = key.default(), None
        for number, wire, value, _ in _split(memoryview(data)):
            if number == 1 and wire == key.wire:
                name = _from_wire(field.key, wire, value)
            elif number == 2 and wire == field.wire:
                item = self._class(field.kind).FromString(value) if field.message else _from_wire(field.kind, wire, value)
        if item is None:
            item = self._class(field.kind)() if field.message else field.default()
        dict.__setitem__(getattr(self, field.name), name, item)

    def ParseFromString(self, data):
        self.Clear()
        return self.MergeFromString(data)

    @classmethod
    def FromString(cls, data):
        made = cls()
        made.MergeFromString(data)
        return made

    def ByteSize(self):
        return len(self.SerializeToString())

    # ---- text

    def _lines(self, indent):
        for field, value in self._present():
            items = value if field.repeated else [value]
            if field.key:
                yield from self._entry_lines(field, value, indent)
                continue
            for item in items:
                if isinstance(item, Message):
                    yield "%s%s {" % (indent, field.name)
                    yield from item._lines(indent + "  ")
                    yield indent + "}"
                else:
                    yield "%s%s: %s" % (indent, field.name, self._text(field, item))

    def _entry_lines(self, field, entries, indent):
        """A map's entries; key and value stand in each, whatever they are."""
        entry = type("Entry", (Message,), {"FIELDS": "1 %s key; 2 %s value" % (field.key, ("enum " + field.values) if field.enum else field.kind)})
        key, value = entry._fields().values()
        for k in _in_order(entries):
            yield "%s%s {" % (indent, field.name)
            yield "%s  key: %s" % (indent, self._text(key, k))
            if isinstance(entries[k], Message):
                yield indent + "  value {"
                yield from entries[k]._lines(indent + "    ")
                yield indent + "  }"
            else:
                yield "%s  value: %s" % (indent, self._text(value, entries[k]))
            yield indent + "}"

    def _text(self, field, value):
        if field.enum:
            names = {number: name for name, number in self._enum(field.values).items()}
            return names.get(value, str(value))
        if field.kind in ("string", "bytes"):
            return '"%s"' % _escape(value)
        if field.kind == "bool":
            return "true" if value else "false"
        return _number_text(value, field.kind == "float") if isinstance(value, float) else str(value)

    def __repr__(self):
        return "".join(line + "\n" for line in self._lines(""))

    __str__ = __repr__

    def __eq__(self, other):
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__ = None

    def __deepcopy__(self, memo):
        return type(self).FromString(self.SerializeToString())

    def __reduce__(self):
        return type(self).FromString, (self.SerializeToString(),)
