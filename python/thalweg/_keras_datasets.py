"""keras.datasets: data sets from files of Keras's cache; nothing is fetched. Files of pickles are read by a reader that makes numbers, texts,
lists, dicts and arrays, and nothing else."""
import io
import json
import os
import pickle
import tarfile
import zipfile

import numpy as np

import thalweg as tf

_SAFE = {("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype"),
         ("_codecs", "encode")}
_LABELS = ("cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton carcass crude nat-gas cpi "
           "money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc "
           "orange pet-chem dlr gas silver wpi hog lead")


class _Reader(pickle.Unpickler):
    """Reads pickles of plain values and arrays; anything else is refused."""

    def find_class(self, module, name):
        if (module, name) not in _SAFE:
            raise pickle.UnpicklingError("the file holds %s.%s, expected only numbers, texts, lists, dicts and arrays" % (module, name))
        return super().find_class(module, name)


def _members(path, *names):
    """Arrays of an .npz file, whose elements may be lists."""
    found = []
    with zipfile.ZipFile(path) as archive:
        for name in names:
            file = io.BytesIO(archive.read(name + ".npy"))
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(file)
            if dtype.hasobject:
                array = np.asarray(_Reader(file, encoding="ASCII").load(), dtype=object)
                if array.shape != shape:
                    raise ValueError("%s: %s has shape %s, expected %s" % (path, name, array.shape, shape))
            else:
                file.seek(0)
                array = np.load(file, allow_pickle=False)
            found.append(array)
    return found


# ---- CIFAR ----


def _folder(name, archive, what):
    """A folder of the cache; unpacked there if its archive is."""
    try:
        return tf.keras.datasets._find(name, what)
    except tf.errors.NotFoundError as error:
        try:
            packed = tf.keras.datasets._find(archive, what)
        except tf.errors.NotFoundError:
            raise error from None
    folder = os.path.dirname(packed)
    with tarfile.open(packed) as file:
        for member in file.getmembers():
            if not (member.isfile() or member.isdir()) or not os.path.abspath(os.path.join(folder, member.name)).startswith(os.path.abspath(folder) + os.sep):
                raise ValueError("%s has a member %r, which is no file or directory below the archive's" % (packed, member.name))
        file.extractall(folder)
    return os.path.join(folder, name)


def _batch(path, key):
    with open(path, "rb") as file:
        found = {name.decode() if isinstance(name, bytes) else name: value for name, value in _Reader(file, encoding="bytes").load().items()}
    return found["data"].reshape(-1, 3, 32, 32), found[key]


def _pictures(folder, names, key):
    parts = [_batch(os.path.join(folder, name), key) for name in names]
    x = np.concatenate([pixels for pixels, _ in parts])
    y = np.reshape(np.concatenate([labels for _, labels in parts]), (len(x), 1))
    return x.transpose(0, 2, 3, 1) if tf.keras.backend.image_data_format() == "channels_last" else x, y


def cifar10_load_data():
    """CIFAR-10: ((x_train, y_train), (x_test, y_test)) of the folder cifar-10-batches-py, or cifar-10-batches-py.tar.gz."""
    folder = _folder("cifar-10-batches-py", "cifar-10-batches-py.tar.gz", "CIFAR-10")
    (x, y), (x_test, y_test) = _pictures(folder, ["data_batch_%d" % i for i in range(1, 6)], "labels"), _pictures(folder, ["test_batch"], "labels")
    return (x, y.astype(np.uint8)), (x_test, y_test.astype(np.uint8))


def cifar100_load_data(label_mode="fine"):
    """CIFAR-100, with its labels, or with the coarse ones: of the folder cifar-100-python, or cifar-100-python.tar.gz."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode=%s.' % (label_mode,))
    folder = _folder("cifar-100-python", "cifar-100-python.tar.gz", "CIFAR-100")
    return _pictures(folder, ["train"], label_mode + "_labels"), _pictures(folder, ["test"], label_mode + "_labels")


# ---- texts by number ----


def _num_words(num_words, kwargs, stop=""):
    if "nb_words" in kwargs:
        tf.get_logger().warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError("Unrecognized keyword arguments: %s%s" % (kwargs, stop))
    return num_words


def _started(xs, start_char, index_from):
    if start_char is not None:
        return [[start_char] + [word + index_from for word in x] for x in xs]
    return [[word + index_from for word in x] for x in xs] if index_from else xs


def _short(maxlen, xs, labels):
    """Those that are shorter."""
    kept = [(x, label) for x, label in zip(xs, labels) if len(x) < maxlen]
    return [x for x, _ in kept], [label for _, label in kept]


def _known(xs, num_words, skip_top, oov_char):
    num_words = num_words or max(max(x) for x in xs)
    if oov_char is not None:
        return [[word if skip_top <= word < num_words else oov_char for word in x] for x in xs]
    return [[word for word in x if skip_top <= word < num_words] for x in xs]


def _objects(lists):
    return np.array(lists, dtype="object")


def imdb_load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3, **kwargs):
    """Reviews of films as lists of words by number, and whether they are good."""
    num_words = _num_words(num_words, kwargs, ".")
    x_train, y_train, x_test, y_test = _members(tf.keras.datasets._find(path, "IMDB"), "x_train", "y_train", "x_test", "y_test")
    rng, parts = np.random.RandomState(seed), []
    for x, y in ((x_train, y_train), (x_test, y_test)):
        order = np.arange(len(x))
        rng.shuffle(order)
        x, y = _started(x[order], start_char, index_from), y[order]
        parts.append(_short(maxlen, x, y) if maxlen else (x, y))
    if maxlen and not all(x for x, _ in parts):
        raise ValueError("After filtering for sequences shorter than maxlen=%s, no sequence was kept. Increase maxlen." % maxlen)
    count = len(parts[0][0])
    xs, labels = _known([*parts[0][0], *parts[1][0]], num_words, skip_top, oov_char), np.concatenate([parts[0][1], parts[1][1]])
    return (_objects(xs[:count]), labels[:count]), (_objects(xs[count:]), labels[count:])


def reuters_load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1, oov_char=2, index_from=3,
                      **kwargs):
    """News as lists of words by number, and their subjects."""
    num_words = _num_words(num_words, kwargs)
    xs, labels = _members(tf.keras.datasets._find(path, "Reuters"), "x", "y")
    order = np.arange(len(xs))
    np.random.RandomState(seed).shuffle(order)
    xs, labels = _started(xs[order], start_char, index_from), labels[order]
    if maxlen:
        xs, labels = _short(maxlen, xs, labels)
    xs = _known(xs, num_words, skip_top, oov_char)
    count = int(len(xs) * (1 - test_split))
    return (_objects(xs[:count]), np.array(labels[:count])), (_objects(xs[count:]), np.array(labels[count:]))


def _word_index(name, what):
    def get_word_index(path=name):
        """The numbers of words."""
        with open(tf.keras.datasets._find(path, what), encoding="utf-8") as file:
            return json.load(file)
    return get_word_index


def reuters_get_label_names():
    """The names of the subjects."""
    return tuple(_LABELS.split())


def boston_housing_load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """Facts about parts of a town, and what houses cost there."""
    if not 0 <= test_split < 1:
        raise AssertionError
    x, y = _members(tf.keras.datasets._find(path, "Boston Housing"), "x", "y")
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y, count = x[order], y[order], int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])


def _module(name, **members):
    import sys
    made = type(sys)("thalweg.keras.datasets." + name)
    for key, value in members.items():
        value.__name__ = value.__qualname__ = key
        setattr(made, key, value)
    return made


DATASETS = {
    "cifar10": _module("cifar10", load_data=cifar10_load_data), "cifar100": _module("cifar100", load_data=cifar100_load_data),
    "imdb": _module("imdb", load_data=imdb_load_data, get_word_index=_word_index("imdb_word_index.json", "IMDB")),
    "reuters": _module("reuters", load_data=reuters_load_data, get_word_index=_word_index("reuters_word_index.json", "Reuters"),
                       get_label_names=reuters_get_label_names),
    "boston_housing": _module("boston_housing", load_data=boston_housing_load_data),
}
