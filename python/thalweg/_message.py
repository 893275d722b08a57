"""Protocol buffer messages: classes of the library's tables, with attributes, bytes and text as protobuf's Python classes have.

What a table does not have stays in the message as it came (unknown fields). thalweg._messages holds the messages themselves. Making, reading and
writing messages is the extension's (message.c, message_wire.c), text the library's (src/format/message_print.c); what is rare is here."""
import struct
import types

from thalweg import _core

_INTEGERS = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1), "uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1),
             "fixed32": (0, 2**32 - 1), "fixed64": (0, 2**64 - 1), "sint64": (-2**63, 2**63 - 1)}


class DecodeError(ValueError):
    """The bytes are no such message."""


_core.message_errors(DecodeError)


class _Field:
    """A field as the library's table has it (message_fields)."""

    def __init__(self, name, number, kind, key=None, repeated=False, oneof=None, of=None):
        self.name, self.number, self.key, self.repeated, self.oneof = name, number, key, repeated, oneof
        self.enum, self.message = kind == "enum", kind == "message"
        self.kind = "int32" if self.enum else of if self.message else kind  # a scalar type, or the name of a message
        self.values = of if self.enum else None                             # the enum's name

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
    """The values of a repeated field: a list that checks what it is given. Each field has a subclass, which says whose it is."""
    __slots__ = ()
    _field = _owner = None

    def append(self, value):
        if self._field.message:
            value = self._field.check(value, self._owner)
            super().append(type(value).FromString(value.SerializeToString()))
        else:
            _core.message_extend(self, self._owner, self._field.name, (value,))

    def extend(self, values):
        if not hasattr(values, "__iter__"):
            raise TypeError("Value must be iterable")
        if self._field.message:
            for value in list(values):
                self.append(value)
            return
        same = {"float": "float32", "double": "float64", "int64": "int64"}.get(self._field.kind)
        if same and str(getattr(values, "dtype", "")) == same and hasattr(values, "tolist") and values.ndim == 1:  # NumPy's, as they are
            super().extend(values.tolist())
            return
        before = len(self)
        try:
            _core.message_extend(self, self._owner, self._field.name, values if values is not self else list(values))
        except BaseException:
            del self[before:]  # all or nothing
            raise

    MergeFrom = extend

    def insert(self, index, value):
        super().insert(index, self._field.check(value, self._owner))

    def __setitem__(self, index, value):
        many = isinstance(index, slice)
        if self._field.message:
            raise TypeError("'RepeatedCompositeContainer' object does not support item assignment")
        super().__setitem__(index, [self._field.check(v, self._owner) for v in value] if many else self._field.check(value, self._owner))

    def __iadd__(self, values):
        self.extend(values)
        return self

    def add(self, **values):
        made = self._owner._class(self._field.kind)(**values)
        super().append(made)
        return made

    def __deepcopy__(self, memo):
        import copy
        return [copy.deepcopy(item, memo) for item in self]

    def __reduce__(self):
        return list, (list(self),)


class _Map(dict):
    """The values of a map field; one that is asked for and not there is made, if it is a message."""
    __slots__ = ()
    _field = _owner = None

    def _key(self, key):
        return _Field("key", 1, self._field.key).check(key, self._owner)

    def __missing__(self, key):
        key = self._key(key)
        made = self._owner._class(self._field.kind)() if self._field.message else self._field.default()
        super().__setitem__(key, made)
        return made

    def __setitem__(self, key, value):
        if self._field.message:
            raise ValueError("Direct assignment of submessage not allowed")
        super().__setitem__(self._key(key), self._field.check(value, self._owner))

    def update(self, other):
        for key, value in other.items():
            self[key] = value

    def get_or_create(self, key):
        return self[key]

    def MergeFrom(self, other):
        for key, value in other.items():
            if self._field.message:
                self[key].CopyFrom(value)
            else:
                self[key] = value

    def __reduce__(self):
        return dict, (dict(self),)


class Message(_core.MessageBase):
    """The base of messages."""
    __slots__ = ()
    _class = _enum = None  # from names to classes and enums; thalweg._messages sets them

    @classmethod
    def _fields(cls):
        if "_made" not in cls.__dict__:
            cls._made = {row[0]: _Field(*row) for row in _core.message_fields(cls.__qualname__)}
        return cls._made

    @classmethod
    def _describe(cls):
        """Tells the extension the classes of the fields."""
        fields = cls._fields().values()
        oneofs = list(dict.fromkeys(f.oneof for f in fields if f.oneof))
        rows = []
        for field in fields:
            many = _Map if field.key else _Repeated if field.repeated else None
            container = many and type(many.__name__, (many,), {"_field": field, "_owner": cls, "__slots__": ()})
            rows.append((container, cls._class(field.kind) if field.message else None, field))
        cls._table = _core.message_table(cls.__qualname__, rows)
        cls.DESCRIPTOR = types.SimpleNamespace(name=cls.__name__, full_name="tensorflow." + cls.__qualname__, fields=list(fields),
                                               fields_by_name=dict(cls._fields()), fields_by_number={f.number: f for f in fields}, oneofs=oneofs)

    def IsInitialized(self):
        return True  # no field is required

    @classmethod
    def _field(cls, name, error):
        field = cls._fields().get(name)
        if field is None:
            raise error("Protocol message %s has no \"%s\" field." % (cls.__name__, name))
        return field

    def _present(self):
        """(field, value) of what is there, as the class lists the fields."""
        for name, field in self._fields().items():
            if name not in self._values:
                continue
            value = self._values[name]
            if field.key or field.repeated:
                there = len(value) > 0
            elif field.message:
                there = value._any
            else:
                there = bool(field.oneof) or value != field.default() or (isinstance(value, float) and str(value) == "-0.0")
            if there:
                yield field, value

    def ListFields(self):
        return [(field, value) for field, value in self._present()]

    def HasField(self, name):
        if not isinstance(name, str):
            raise TypeError("bad argument type for built-in operation")
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
            raise ValueError("Protocol message has no oneof \"%s\" field." % (name,))
        return None

    def ClearField(self, name):
        if name in {f.oneof for f in self._fields().values() if f.oneof}:
            name = self.WhichOneof(name)
        if name is not None:
            self._field(name, ValueError)
            self._values.pop(name, None)

    def CopyFrom(self, other):
        if other is self:
            return
        if not isinstance(other, type(self)):
            raise TypeError("Parameter to CopyFrom() must be instance of same class: expected %s got %s." % (type(self).__name__, type(other).__name__))
        self.Clear()
        self.MergeFrom(other)

    # ---- bytes

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

    def __repr__(self):
        from thalweg import io
        return io._message_text(type(self).__qualname__, self.SerializeToString())

    __str__ = __repr__

    def __eq__(self, other):
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__ = None

    def __deepcopy__(self, memo):
        return type(self).FromString(self.SerializeToString())

    def __reduce__(self):
        return type(self).FromString, (self.SerializeToString(),)
