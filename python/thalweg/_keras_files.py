"""Archives that the library leaves to Python: tar files that are compressed by bzip2 or xz."""
import os
import tarfile


def unpack(path, folder):
    """Unpacks the archive; what is none is left alone."""
    if not tarfile.is_tarfile(path):
        return
    inside = os.path.abspath(folder) + os.sep
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            if not os.path.abspath(os.path.join(folder, member.name)).startswith(inside) or not (member.isfile() or member.isdir()):
                raise ValueError("%s has a member %r, which is no file or directory below the archive's" % (path, member.name))
        archive.extractall(folder)
