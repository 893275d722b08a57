"""`import tensorflow_datasets as tfds` under python3 -m thalweg: data sets that keras.datasets has, from the same files. Nothing is downloaded."""
import enum

import thalweg as tf

_SETS = {"mnist": "mnist", "fashion_mnist": "fashion_mnist"}


class Split(str, enum.Enum):
    """Parts of a data set."""
    TRAIN, TEST, VALIDATION = "train", "test", "validation"

    __str__ = str.__str__


def load(name, *, split=None, data_dir=None, batch_size=None, shuffle_files=False, download=True, as_supervised=False, **others):
    """The data set of that name: a dict of its parts, or the part that `split` says; elements are dicts, or (image, label)."""
    given = [key for key, value in dict(others, data_dir=data_dir, shuffle_files=shuffle_files).items() if value]
    if given:
        raise NotImplementedError("tfds.load: the argument %s is not supported" % ", ".join(sorted(given)))
    if name not in _SETS:
        raise NotImplementedError("tfds.load: the data set %r is not there. Only %s are, from the files that tf.keras.datasets reads "
                                  "(~/.keras/datasets); make other data a tf.data.Dataset by tf.data's own sources." % (name, " and ".join(sorted(_SETS))))
    train, test = getattr(tf.keras.datasets, _SETS[name]).load_data()
    parts = {"train": train, "test": test}

    def dataset(part):
        part = str(getattr(part, "value", part))
        if part not in parts:
            raise ValueError("Unknown split %r. Should be one of ['test', 'train']." % part)
        images, labels = parts[part]
        members = images[..., None], labels.astype("int64")
        made = tf.data.Dataset.from_tensor_slices(members if as_supervised else dict(zip(("image", "label"), members)))
        if batch_size is None:
            return made
        return made.batch(len(labels) if batch_size == -1 else batch_size)
    if split is None:
        return {part: dataset(part) for part in parts}
    return [dataset(part) for part in split] if isinstance(split, (list, tuple)) else dataset(split)


def list_builders():
    """The names of the data sets."""
    return sorted(_SETS)


def as_numpy(dataset):
    """The elements, or a tensor, as NumPy's."""
    return dataset.as_numpy_iterator() if isinstance(dataset, tf.data.Dataset) else dataset.numpy()
