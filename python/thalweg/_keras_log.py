"""Whether Keras writes its lines (src/keras/progress.c has the flag)."""
import sys

import thalweg as tf


def enable_interactive_logging():
    """Keras writes its lines to the standard output."""
    tf.keras.utils._set_interactive_logging(True)


def disable_interactive_logging():
    """Keras writes no lines."""
    tf.keras.utils._set_interactive_logging(False)


def print_msg(message, line_break=True):
    """A line of Keras's."""
    if tf.keras.utils.is_interactive_logging_enabled():
        sys.stdout.write(message + "\n" if line_break else message)
        sys.stdout.flush()
