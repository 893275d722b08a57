"""tf.lookup: what of it is no row."""
import thalweg as tf


class TextFileIndex:
    """What of a line of a text file is a key or a value, if it is no column."""
    WHOLE_LINE = -2
    LINE_NUMBER = -1


tf.lookup.TextFileIndex = TextFileIndex
for _class in (tf.lookup._Table, tf.lookup._Initializer):
    _class.__deepcopy__ = lambda self, memo: self  # a copy would look into the same table, as TensorFlow's does
