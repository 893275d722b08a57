"""Whether conversion is on in this thread, and what happens to functions that can't be converted: a warning, once, and they run
as they are."""
import threading
import weakref

from thalweg import _log
from thalweg.autograph import conversion
from thalweg.autograph.parsing import ConversionError
from thalweg.autograph.syntax import UnsupportedLanguageElementError

_state = threading.local()
_failed = weakref.WeakSet()  # code objects
verbosity = 0
trace_to_standard_output = False


class Disabled:
    """Conversion is off inside this context."""

    def __enter__(self):
        _state.depth = getattr(_state, "depth", 0) + 1

    def __exit__(self, *_):
        _state.depth -= 1


class Enabled:
    """Conversion is on inside this context, whatever is around it."""

    def __enter__(self):
        self._outer = getattr(_state, "depth", 0)
        _state.depth = 0

    def __exit__(self, *_):
        _state.depth = self._outer


def disabled():
    """Whether conversion is off."""
    return getattr(_state, "depth", 0) > 0


def log(level, message, *args):
    """A message for those who asked for it by set_verbosity."""
    if verbosity >= level:
        text = message % args
        if trace_to_standard_output:
            print(text)
        _log.warning("AutoGraph: %s", text)


def convert_or_warn(function, options):
    """The converted function, or None after a warning if it can't be converted."""
    if function.__code__ in _failed:
        return None
    try:
        converted = conversion.converted_function(function, options)
        log(2, "Converted %s", function)
        return converted
    except (ConversionError, UnsupportedLanguageElementError, NotImplementedError, SyntaxError, ValueError) as e:
        _failed.add(function.__code__)
        _log.warning("AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the function "
                     "with @tf.autograph.experimental.do_not_convert", function, e)
        return None
