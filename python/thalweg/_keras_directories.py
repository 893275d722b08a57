"""Datasets of the files in a directory (src/keras/directories.c makes them), and of the parts of a series
(src/keras/timeseries.c)."""
import os

import numpy as np

import thalweg as tf

_DATASET = tf.data.Dataset  # from now on datasets have the methods that are Python's
_METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def _check_labels(labels, label_mode, class_names, words):
    if labels not in ("inferred", None):
        if not isinstance(labels, (list, tuple)):
            raise ValueError(words % labels)
        if class_names:
            raise ValueError('You can only pass `class_names` if `labels="inferred"`. Received: labels=%s, and class_names=%s' % (labels, class_names))
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError('`label_mode` argument must be one of "int", "categorical", "binary", or None. Received: label_mode=%s' % (label_mode,))
    return (None, None) if labels is None or label_mode is None else (labels, label_mode)


def _labels_words(start, files, samples, comma=", "):
    return (start + "`labels` argument should be a list/tuple of integer labels, of the same size as the number of " + files + " files in the target "
            "directory. If you wish to infer the labels from the subdirectory names in the target directory" + comma + 'pass `labels="inferred"`. '
            "If you wish to get a dataset that only contains " + samples + " (no labels), pass `labels=None`. Received: labels=%s")


def _check_split(validation_split, subset, shuffle, seed):
    if validation_split and not 0 < validation_split < 1:
        raise ValueError("`validation_split` must be between 0 and 1, received: %s" % validation_split)
    if (validation_split or subset) and not (validation_split and subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in ("training", "validation", "both", None):
        raise ValueError('`subset` must be either "training", "validation" or "both", received: %s' % subset)
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to make sure that there is no "
                         "overlap between the training and validation subset.")


def _datasets(kind, directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset, **options):
    """The dataset of a subset, or the list of both."""
    _check_split(validation_split, subset, shuffle, seed)
    seed = np.random.randint(1e6) if seed is None else seed
    own = labels not in ("inferred", None)
    names = sorted(set(labels)) if own else list(class_names) if class_names else None
    found = tf.keras.utils._directory_datasets(os.fspath(directory), kind, list(labels) if own else None, label_mode, names, labels == "inferred",
                                               batch_size, bool(shuffle), int(seed), validation_split or None, subset, **options)
    for dataset, paths in zip(found["datasets"], found["file_paths"]):
        dataset.class_names = found["class_names"]
        if kind == "image":
            dataset.file_paths = paths
    return found["datasets"] if subset == "both" else found["datasets"][0]


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb", batch_size=32,
                                 image_size=(256, 256), shuffle=True, seed=None, validation_split=None, subset=None, interpolation="bilinear",
                                 follow_links=False, crop_to_aspect_ratio=False, **kwargs):
    """Batches of the pictures in a directory, and their labels."""
    del follow_links  # TensorFlow follows links in any case
    crop = kwargs.pop("smart_resize", crop_to_aspect_ratio)
    if kwargs:
        raise TypeError("Unknown keywords argument(s): %s" % (tuple(kwargs),))
    labels, label_mode = _check_labels(labels, label_mode, class_names, _labels_words("", "image", "images"))
    if color_mode not in ("rgb", "rgba", "grayscale"):
        raise ValueError('`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: color_mode=%s' % color_mode)
    method = interpolation.lower()
    if method not in _METHODS:
        raise NotImplementedError("Value not recognized for `interpolation`: %s. Supported values are: %s" % (method, list(_METHODS)))
    return _datasets("image", directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset, color_mode=color_mode,
                     image_size=image_size, interpolation=method, crop_to_aspect_ratio=bool(crop))


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32, max_length=None, shuffle=True,
                                seed=None, validation_split=None, subset=None, follow_links=False):
    """Batches of the texts in a directory, and their labels."""
    del follow_links  # TensorFlow follows links in any case
    labels, label_mode = _check_labels(labels, label_mode, class_names, _labels_words("", "text", "text samples"))
    return _datasets("text", directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset, max_length=max_length)


def audio_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32, sampling_rate=None,
                                 output_sequence_length=None, ragged=False, shuffle=True, seed=None, validation_split=None, subset=None,
                                 follow_links=False):
    """Batches of the sounds (WAV) in a directory, and their labels."""
    del follow_links  # TensorFlow follows links in any case
    labels, label_mode = _check_labels(labels, label_mode, class_names, _labels_words("The ", "audio", "audio samples", ", "))
    if ragged and output_sequence_length is not None:
        raise ValueError("Cannot set both `ragged` and `output_sequence_length`")
    if sampling_rate is not None:
        if not isinstance(sampling_rate, int):
            raise ValueError("`sampling_rate` should have an integer value. Received: sampling_rate=%s" % (sampling_rate,))
        if sampling_rate <= 0:
            raise ValueError("`sampling_rate` should be higher than 0. Received: sampling_rate=%s" % sampling_rate)
        raise ImportError("To use the argument `sampling_rate`, you should install tensorflow_io, which thalweg does not support.")
    made = _datasets("audio", directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset,
                     output_sequence_length=output_sequence_length, ragged=bool(ragged))
    return tuple(made) if subset == "both" else made


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128, shuffle=False, seed=None,
                                  start_index=None, end_index=None):
    """Batches of the parts of a series, and the target that belongs to each."""
    seed = np.random.randint(1e6) if shuffle and seed is None else seed or 0
    return tf.keras.utils._timeseries_dataset(data, sequence_length, targets, sequence_stride, sampling_rate, batch_size, bool(shuffle), int(seed),
                                              start_index, end_index)
