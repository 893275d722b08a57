"""tf.lookup: what of it is no row."""
import thalweg as tf


class TextFileIndex:
    """What of a line of a text file is a key or a value, if it is no column."""
    WHOLE_LINE = -2
    LINE_NUMBER = -1


tf.lookup.TextFileIndex = TextFileIndex
