"""Errors out of converted code, told with the user's file and lines: "in user code:" and the lines that led there.

Of each converted function the innermost line is told; blocks and local functions belong to the function around them. Frames of
thalweg's own are left out."""
import linecache
import os
import traceback

from thalweg.autograph import conversion

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PLAIN = (AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration, TypeError,
          UnboundLocalError, ValueError)


_BUILTIN = _PLAIN + (LookupError, ArithmeticError, OSError, Exception, BaseException, object)


class StagingError(Exception):
    """An error in converted code whose own class can't be made from a message."""


class _MessageKeyError(KeyError):
    """A KeyError whose message is shown as it is."""

    def __str__(self):
        return self.args[0]


_MessageKeyError.__name__ = _MessageKeyError.__qualname__ = "KeyError"


def _user_frames(error):
    """(file, line, function, mark) of the user's frames, outermost first."""
    frames = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        origin = conversion.origin_of(code)
        if origin is not None:
            while frames and frames[-1][3] != "  *":  # only after the last converted function are other functions told
                frames.pop()
            if frames and not origin.root:
                frames.pop()
            frames.append([code.co_filename, line, origin.function_name, "  *"])
        elif frames and not code.co_filename.startswith(_PACKAGE):
            mark = "  **" if frames[-1][3] == "  *" else ""
            frames.append([code.co_filename, line, code.co_name, mark])
    return frames


def in_user_code(error):
    """The error to raise instead of one out of converted code; the same one if it can't be told better."""
    if getattr(error, "ag_told", False):
        return error
    frames = _user_frames(error)
    if not frames:
        return error
    lines = ["in user code:", ""]
    for file, line, function, mark in frames:
        lines.append('    File "%s", line %d, in %s%s' % (file, line, function, mark))
        lines.append("        " + linecache.getline(file, line).strip())
    text = "%s: %s" % (type(error).__name__, error)
    lines.append("")
    lines.extend("    " + part for part in text.split("\n"))
    told = _made(error, "\n".join(lines) + "\n")
    told.ag_told = True
    return told


def _made(error, message):
    kind = type(error)
    if kind in _PLAIN or all("__init__" not in vars(c) or c in _BUILTIN for c in kind.__mro__):
        return kind(message)
    if kind is KeyError:
        return _MessageKeyError(message)
    if hasattr(error, "node_def") and hasattr(error, "op"):
        try:
            return kind(error.node_def, error.op, message)
        except TypeError:
            return error
    if hasattr(error, "_message") or kind.__module__.startswith("thalweg"):
        try:
            return kind(message)
        except TypeError:
            return error
    return StagingError(message)
