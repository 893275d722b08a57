"""keras.utils: what needs Python. Loaded when it is first asked for."""
import random

import numpy as np

import thalweg as tf
from thalweg._keras_log import disable_interactive_logging, enable_interactive_logging

tf.keras.callbacks.Callback  # loads what follows
from thalweg._training import Sequence, pack_x_y_sample_weight, unpack_x_y_sample_weight  # noqa: E402


def normalize(x, axis=-1, order=2):
    """An array divided by its norms along an axis."""
    x = np.asarray(x)
    made = tf.keras.utils._normalize(x, axis, float(order))
    return made[np.newaxis] if x.ndim == 1 else made  # as NumPy broadcasts it in Keras


def get_source_inputs(tensor, layer=None, node_index=None):
    """The inputs that a Keras tensor is computed from."""
    del layer, node_index  # the tensor knows them
    if not hasattr(tensor, "_keras_history"):
        return tensor
    return tf.keras.utils._source_inputs(tensor)


def _vocabulary(given):
    if tf.is_tensor(given):
        words = list(given.numpy())
    elif isinstance(given, (np.ndarray, tuple, list)):
        words = list(given)
    elif isinstance(given, str):
        if not tf.io.gfile.exists(given):
            raise ValueError("Vocabulary file %s does not exist." % given)
        with tf.io.gfile.GFile(given, "r") as file:
            words = file.read().splitlines()
    else:
        raise ValueError("Vocabulary is expected to be either a NumPy array, list, 1D tensor or a vocabulary text file. Instead type %s was "
                         "received." % type(given))
    if not words:
        raise ValueError("Vocabulary is expected to be either a NumPy array, list, 1D tensor or a vocabulary text file with at least one token. "
                         "Received 0 instead.")
    return words


def warmstart_embedding_matrix(base_vocabulary, new_vocabulary, base_embeddings, new_embeddings_initializer="uniform"):
    """Embeddings for a new vocabulary: those of words that were there before, new ones for the others."""
    old, words = _vocabulary(base_vocabulary), _vocabulary(new_vocabulary)
    made = tf.keras.initializers.get(new_embeddings_initializer)(shape=(len(words), base_embeddings.shape[1]), dtype=base_embeddings.dtype)
    places = {word: i for i, word in enumerate(old)}
    known = [(places[word], i) for i, word in enumerate(words) if word in places]
    if not known:
        return made
    sources, targets = zip(*known)
    return tf.tensor_scatter_nd_update(made, [[i] for i in targets], tf.gather(base_embeddings, list(sources)))


def _array(sample):
    """A sample's parts as one array, as Keras has it: numbers get one dtype."""
    try:
        return np.array(sample)
    except ValueError:
        return np.array(sample, dtype=object)


def _samples(dataset):
    """The samples of a dataset, an array, or arrays, and how to put some of them together again."""
    if isinstance(dataset, tf.data.Dataset):
        batched = type(dataset).__name__ == "_BatchDataset"
        elements = list(dataset.unbatch() if batched else dataset)
        if isinstance(dataset.element_spec, dict):
            return elements, lambda chosen: {key: [element[key] for element in chosen] for key in chosen[0]}
        return elements, lambda chosen: tuple(np.array(part) for part in zip(*chosen))
    if isinstance(dataset, np.ndarray):
        return list(dataset), np.array
    kind = "list" if isinstance(dataset, list) else "tuple"
    if not dataset:
        raise ValueError("Received an empty list dataset. Please provide a non-empty %s of arrays." % kind)
    if not isinstance(dataset[0], np.ndarray):
        raise ValueError("Expected a %s of `numpy.ndarray` objects, Received: %s" % (kind, type(dataset[0])))
    for i, part in enumerate(dataset):
        if np.shape(part)[0] != dataset[0].shape[0]:
            raise ValueError("Received a %s of NumPy arrays with different lengths. Mismatch found at index %d, Expected shape=%s Received "
                             "shape=%s.Please provide a %s of NumPy arrays with the same length." % (kind, i, dataset[0].shape, np.shape(part), kind))
    return [_array(sample) for sample in zip(*dataset)], lambda chosen: tuple(np.array(part) for part in zip(*chosen))


def _size(value, total, name):
    if value is not None and type(value) not in (int, float):
        raise TypeError("Invalid `%s` Type. Expected: int or float or None, Received: type(%s)=%s.  " % (name, name, type(value)))
    if value is not None and not 0 < value < (total if type(value) is int else 1):
        raise ValueError("`%s` should be either a positive integer smaller than %d, or a float within the range `[0, 1]`. Received: %s=%s"
                         % (name, total, name, value))
    return round(value * total) if type(value) is float else value


def _sizes(left, right, total):
    if type(left) is type(right) is float and left + right > 1:
        _size(left, total, "left_size"), _size(right, total, "right_size")
        raise ValueError("The sum of `left_size` and `right_size` is greater than 1. It must be less than or equal to 1.")
    left, right = _size(left, total, "left_size"), _size(right, total, "right_size")
    left, right = total - right if left is None else left, total - left if right is None else right
    if left + right > total:
        raise ValueError("The sum of `left_size` and `right_size` should be smaller than the %d. Received: left_size + right_size = %d and "
                         "total_length = %d" % (total, left + right, total))
    for size, side in ((left, "left"), (right, "right")):
        if size == 0:
            raise ValueError("With `dataset` of length=%d, `left_size`=%d and `right_size`=%d.Resulting %s side dataset split will be empty. "
                             "Adjust any of the aforementioned parameters" % (total, left, right, side))
    return left, right


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None):
    """A dataset in two parts."""
    if not isinstance(dataset, (tf.data.Dataset, list, tuple, np.ndarray)):
        raise TypeError("The `dataset` argument must be either a `tf.data.Dataset` object or a list/tuple of arrays. Received: dataset=%s of type "
                        "%s" % (dataset, type(dataset)))
    if left_size is None and right_size is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. Received: left_size=None and right_size=None")
    samples, together = _samples(dataset)
    if not samples:
        raise ValueError("Received an empty Dataset. `dataset` must be a non-empty list/tuple of `numpy.ndarray` objects or `tf.data.Dataset` "
                         "objects.")
    if shuffle:
        random.seed(random.randint(0, 1000000) if seed is None else seed)
        random.shuffle(samples)
    left, right = _sizes(left_size, right_size, len(samples))
    batch = None
    if type(dataset).__name__ == "_BatchDataset":  # the first batch is as large as any
        batch = int(tf.nest.flatten(next(iter(dataset)))[0].shape[0])
    made = []
    for chosen in (samples[:left], samples[-right:]):
        part = tf.data.Dataset.from_tensor_slices(together(chosen))
        made.append((part if batch is None else part.batch(batch)).prefetch(tf.data.AUTOTUNE))
    return tuple(made)


UTILS = {value.__name__: value for value in (
    Sequence, pack_x_y_sample_weight, unpack_x_y_sample_weight, normalize, get_source_inputs, warmstart_embedding_matrix, split_dataset,
    disable_interactive_logging, enable_interactive_logging)}
