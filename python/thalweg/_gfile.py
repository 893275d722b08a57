"""tf.io.gfile: what wants Python's own protocols over the library's rows: with, for, generators."""
import os

import thalweg as tf

_rows = tf.io.gfile


def join(path, *paths):
    """Parts of a path put together."""
    return os.path.join(path, *paths)


def walk(top, topdown=True, onerror=None):
    """(directory, names of directories, names of files) for every directory below one."""
    top = os.fsdecode(top)
    try:
        names = _rows.listdir(top)
    except tf.errors.NotFoundError as error:
        if onerror:
            onerror(error)
        return
    directories = [name for name in names if _rows.isdir(os.path.join(top, name))]
    here = top, directories, [name for name in names if name not in directories]
    if topdown:
        yield here
    for name in directories:
        yield from walk(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield here


class GFile(_rows._GFile):
    """A file to read or write; text is UTF-8."""

    def readlines(self):
        """All lines that are left."""
        return list(self)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line


_rows.join, _rows.walk, _rows.GFile = join, walk, GFile
