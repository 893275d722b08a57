"""TensorFlow's protocol buffer messages: the library's tables (src/codec/messages.txt) as classes, made when they are first asked for.

tests/python/test_v1_messages.py compares with what TensorFlow says (tests/golden/v1train_messages.py)."""
import threading

from thalweg import _core
from thalweg._message import Message

names, enums = _core.message_names()
_lock = threading.RLock()


class _Classes(dict):
    """Classes by name. A class and those that its fields are of know each other, and classes inside of a message are its attributes."""

    def __missing__(self, name):
        if name not in names:
            raise KeyError(name)
        with _lock:
            return self.get(name) or self._make(name)

    def _make(self, name):
        own = {"__module__": __name__, "__qualname__": name, "__doc__": "TensorFlow's message %s." % name, "__slots__": ()}
        self[name] = made = type(Message)(name.split(".")[-1], (Message,), own)
        outer = name.rpartition(".")[0]
        if outer in names:
            self[outer]
        for inner in names:
            if inner.rpartition(".")[0] == name:
                setattr(made, inner.split(".")[-1], self[inner])
        for enum, values in enums.items():  # an enum's values stand in the message that it belongs to
            if enum.rpartition(".")[0] == name:
                for value, number in values.items():
                    setattr(made, value, number)
        made._describe()
        return made


classes = _Classes()
Message._class, Message._enum = staticmethod(classes.__getitem__), staticmethod(enums.__getitem__)
globals().update((value, number) for enum, values in enums.items() if "." not in enum for value, number in values.items())


def __getattr__(name):
    if name in names and "." not in name:
        return classes[name]
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


__getattr__ = _core._getter(__getattr__, None)
