"""tf.io.gfile: files of the local file system, with TensorFlow's errors. Loaded when first asked for.

A file is opened by the first use that needs it: what was never read need not exist, what was never written is not made."""
import errno
import glob as _glob
import os
import shutil
import stat as _stat

from thalweg import errors

_CLASSES = {
    errno.ENOENT: "NotFoundError", errno.ENXIO: "NotFoundError", errno.ENODEV: "NotFoundError", errno.EEXIST: "AlreadyExistsError",
    errno.EISDIR: "FailedPreconditionError", errno.ENOTDIR: "FailedPreconditionError", errno.ENOTEMPTY: "FailedPreconditionError",
    errno.EBUSY: "FailedPreconditionError", errno.EACCES: "PermissionDeniedError", errno.EPERM: "PermissionDeniedError",
    errno.EROFS: "PermissionDeniedError", errno.ENOSPC: "ResourceExhaustedError", errno.EMFILE: "ResourceExhaustedError",
    errno.EINVAL: "InvalidArgumentError", errno.ENAMETOOLONG: "InvalidArgumentError", errno.ELOOP: "InvalidArgumentError",
}


class _Translated:
    """with _Translated(path): the system's errors become those of tf.errors."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, OSError) and error.errno is not None:
            cls = getattr(errors, _CLASSES.get(error.errno, "UnknownError"))
            raise cls(None, None, "%s; %s" % (self._path, os.strerror(error.errno))) from None


def _text(path):
    return os.fsdecode(path)


def exists(path):
    """Whether there is a file or directory of that name."""
    return os.path.exists(_text(path))


def isdir(path):
    """Whether there is a directory of that name."""
    return os.path.isdir(_text(path))


def join(path, *paths):
    """Parts of a path put together."""
    return os.path.join(path, *paths)


def listdir(path):
    """The names in a directory, in no particular order."""
    path = _text(path)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, "Could not find directory %s" % path)
    with _Translated(path):
        return os.listdir(path)


def mkdir(path):
    """Makes a directory, unless it is there."""
    path = _text(path)
    if not os.path.isdir(path):
        with _Translated(path):
            os.mkdir(path)


def makedirs(path):
    """Makes a directory and those it is in, unless they are there."""
    path = _text(path)
    with _Translated(path):
        os.makedirs(path, exist_ok=True)


def remove(path):
    """Deletes a file."""
    path = _text(path)
    with _Translated(path):
        os.unlink(path)


def rmtree(path):
    """Deletes a directory and all in it, or a file."""
    path = _text(path)
    if not os.path.lexists(path):
        raise errors.NotFoundError(None, None, "%s not found" % path)
    with _Translated(path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _check_free(path, overwrite):
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def rename(src, dst, overwrite=False):
    """Gives a file or directory another name."""
    src, dst = _text(src), _text(dst)
    with _Translated(src):
        _check_free(dst, overwrite)
        os.rename(src, dst)


def copy(src, dst, overwrite=False):
    """Copies the contents of a file."""
    src, dst = _text(src), _text(dst)
    with _Translated(src):
        with open(src, "rb") as source:
            _check_free(dst, overwrite)
            if os.path.exists(dst) and os.path.samefile(src, dst):
                return
            with _Translated(dst), open(dst, "wb") as made:
                shutil.copyfileobj(source, made)


def glob(pattern):
    """The names that a pattern, or several, stand for."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [name for one in patterns for name in sorted(_glob.glob(_text(one)))]


def walk(top, topdown=True, onerror=None):
    """(directory, names of directories, names of files) for every directory below one."""
    def translated(error):
        if onerror:
            onerror(errors.NotFoundError(None, None, "Could not find directory %s" % error.filename))
    return os.walk(_text(top), topdown, translated)


class FileStatistics:
    """What tf.io.gfile.stat gives."""

    def __init__(self, status):
        self.length, self.mtime_nsec = status.st_size, status.st_mtime_ns
        self.is_directory = _stat.S_ISDIR(status.st_mode)


def stat(path):
    """The size, the time of the last change, and whether it is a directory."""
    path = _text(path)
    with _Translated(path):
        return FileStatistics(os.stat(path))


class GFile:
    """A file to read or write; text is UTF-8."""

    def __init__(self, name, mode="r"):
        self._name, self._mode, self._file = name, mode, None
        self._binary = "b" in mode
        self._plain = mode.replace("b", "")
        if self._plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")

    name = property(lambda self: self._name, doc="The file's name.")
    mode = property(lambda self: self._mode, doc="The mode it was opened in.")

    def _opened(self):
        if self._file is None:
            path = _text(self._name)
            with _Translated(path):
                self._file = open(path, self._plain + "b")
        return self._file

    def _reading(self):
        if self._plain in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        return self._opened()

    def _given(self, data):
        return data if self._binary else data.decode("utf-8")

    def size(self):
        """The number of bytes."""
        if self._file is not None:
            self._file.flush()
        return stat(self._name).length

    def read(self, n=-1):
        """The rest of the file, or so many bytes of it."""
        file = self._reading()
        with _Translated(self._name):
            return self._given(file.read(n))

    def readline(self):
        """The next line with its end; nothing at the end of the file."""
        file = self._reading()
        with _Translated(self._name):
            return self._given(file.readline())

    def readlines(self):
        """All lines that are left."""
        return list(self)

    def write(self, file_content):
        """Writes text or bytes."""
        if self._plain == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        file = self._opened()
        if isinstance(file_content, str):
            file_content = file_content.encode("utf-8")
        if not isinstance(file_content, (bytes, bytearray)):
            raise TypeError("Expected binary or unicode string, got %r" % (file_content,))
        with _Translated(self._name):
            file.write(file_content)

    def seek(self, offset, whence=0):
        """Goes to a place: from the beginning (0), from here (1) or from the end (2)."""
        file = self._reading()
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, "Invalid whence argument: %s. Valid values are 0, 1, or 2." % (whence,))
        size = self.size()
        target = offset + (0, file.tell(), size)[whence]
        if target < 0:
            raise errors.InvalidArgumentError(None, None, "Seeking to a negative position: %d" % target)
        if target > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        file.seek(target)

    def tell(self):
        """The place in the file."""
        return self._opened().tell()

    def seekable(self):
        """Whether one can go to a place."""
        return True

    def flush(self):
        """Hands to the system what was written."""
        if self._file is not None:
            with _Translated(self._name):
                self._file.flush()

    def close(self):
        """Closes the file; it is opened again by its next use."""
        if self._file is not None:
            file, self._file = self._file, None
            with _Translated(self._name):
                file.close()

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
