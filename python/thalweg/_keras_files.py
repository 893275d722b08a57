"""keras.utils.get_file: files that are at hand, by path or from the cache. Nothing is fetched over the network."""
import hashlib
import os
import shutil
import tarfile
import zipfile

_WHY = "thalweg fetches nothing over the network: put the file there, or give a file:// address"


def _hash(path, algorithm):
    digest = hashlib.new(algorithm)
    with open(path, "rb") as f:
        for chunk in iter(lambda: f.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _is_right(path, expected, algorithm):
    if algorithm == "auto":
        algorithm = "sha256" if len(expected) == 64 else "md5"
    return _hash(path, algorithm) == str(expected)


def _extract(path, folder, formats):
    """Unpacks an archive of one of the kinds; False if it is none of them."""
    if formats is None:
        return False
    formats = ["tar", "zip"] if formats == "auto" else [formats] if isinstance(formats, str) else formats
    for kind in formats:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                for member in archive.getmembers():
                    inside = os.path.abspath(os.path.join(folder, member.name))
                    if not inside.startswith(os.path.abspath(folder) + os.sep) or not (member.isfile() or member.isdir()):
                        raise ValueError("get_file: %s has a member %r, which is no file or directory below the archive's" % (path, member.name))
                archive.extractall(folder)
            return True
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
            return True
    return False


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets", hash_algorithm="auto", extract=False,
             archive_format="auto", cache_dir=None):
    """The path of a file in the cache; a file:// address is copied there if it is not."""
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    base = os.fspath(cache_dir) if cache_dir else os.environ.get("KERAS_HOME") or os.path.join("~", ".keras")
    folder = os.path.join(os.path.expanduser(base), cache_subdir)
    fname = os.fspath(fname) if fname else os.path.basename(origin.split("?")[0].rstrip("/"))
    if not fname:
        raise ValueError("Can't parse the file name from the origin provided: '%s'. Please specify the `fname` as the input param." % origin)
    if untar and fname.endswith(".tar.gz"):
        fname = fname[:-len(".tar.gz")]
    place = os.path.join(folder, fname)
    path = place + ".tar.gz" if untar else place
    expected, algorithm = (md5_hash, "md5") if md5_hash is not None and file_hash is None else (file_hash, hash_algorithm)
    there = os.path.exists(path)
    if there and expected is not None and not _is_right(path, expected, algorithm):
        print("A local file was found, but it seems to be incomplete or outdated because the %s file hash does not match the original value of %s so "
              "we will re-download the data." % (algorithm, expected))
        there = False
    if not there:
        if not origin.startswith("file://"):
            raise OSError("URL fetch failure on %s: %s; expected at %s" % (origin, _WHY, path))
        from urllib.request import url2pathname
        source = url2pathname(origin[len("file://"):])
        os.makedirs(folder, exist_ok=True)
        if expected is not None and not _is_right(source, expected, algorithm):
            raise ValueError("Incomplete or corrupted file detected. The %s file hash does not match the provided value of %s." % (algorithm, expected))
        print("Downloading data from %s" % origin)
        partial = path + ".partial"
        shutil.copyfile(source, partial)
        os.replace(partial, path)
    if untar and not os.path.exists(place):
        _extract(path, folder, "tar")
    elif extract:
        _extract(path, folder, archive_format)
    return place
