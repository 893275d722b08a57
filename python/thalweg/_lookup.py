"""tf.lookup: what of it is no row."""


class TextFileIndex:
    """What of a line of a text file is a key or a value, if it is no column."""
    WHOLE_LINE = -2
    LINE_NUMBER = -1
