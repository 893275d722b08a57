"""Datasets of the files in a directory, and of the parts of a series. Files are found and put in order by C (src/keras/files.c)."""
import os

import numpy as np

import thalweg as tf
from thalweg._keras_log import print_msg

_PICTURES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
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


def _index(directory, labels, formats, class_names, shuffle, seed):
    """The paths of files, their labels, and the names of the classes."""
    directory = os.fspath(directory)
    found = tf.keras.utils._index_directory(directory, formats, list(class_names) if class_names else None, labels == "inferred", bool(shuffle),
                                            int(seed))
    names, classes = found["names"], found["classes"]
    if labels in ("inferred", None):
        labels = found["labels"].numpy()
    else:
        if len(labels) != len(names):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. len(labels) is %d while we "
                             "found %d files in directory %s." % (len(labels), len(names), directory))
        classes, labels = sorted(set(labels)), [labels[i] for i in found["order"].numpy()]
    print_msg("Found %d files belonging to %d classes." % (len(names), len(classes)))
    return [os.path.join(directory, name) for name in names], labels, classes


def _part(paths, labels, validation_split, subset):
    """The paths and labels of a subset."""
    if not validation_split:
        return paths, labels
    count = int(validation_split * len(paths))
    if subset == "training":
        print_msg("Using %d files for training." % (len(paths) - count))
        return paths[:-count], labels[:-count]
    print_msg("Using %d files for validation." % count)
    return paths[-count:], labels[-count:]


def _labelled(samples, labels, label_mode, count):
    if not label_mode:
        return samples
    numbers = tf.data.Dataset.from_tensor_slices(labels)
    if label_mode == "binary":
        numbers = numbers.map(lambda x: tf.expand_dims(tf.cast(x, "float32"), axis=-1), num_parallel_calls=tf.data.AUTOTUNE)
    elif label_mode == "categorical":
        numbers = numbers.map(lambda x: tf.one_hot(x, count), num_parallel_calls=tf.data.AUTOTUNE)
    return tf.data.Dataset.zip((samples, numbers))


def _shuffled(dataset, shuffle, batch_size, seed):
    return dataset.shuffle(buffer_size=1024 if batch_size is None else batch_size * 8, seed=seed) if shuffle else dataset


def _datasets(directory, labels, label_mode, formats, class_names, shuffle, seed, validation_split, subset, read, finish, missing):
    """The dataset of a subset, or the two of both: `read` gives the dataset of paths' contents, `finish` batches it."""
    _check_split(validation_split, subset, shuffle, seed)
    seed = np.random.randint(1e6) if seed is None else seed
    paths, labels, classes = _index(directory, labels, formats, class_names, shuffle, seed)
    if label_mode == "binary" and len(classes) != 2:
        raise ValueError('When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: class_names=%s' % classes)
    both = subset == "both"
    parts = [_part(paths, labels, validation_split, each) for each in (("training", "validation") if both else (subset,))]
    for (chosen, _), word in zip(parts, ("training ", "validation ") if both else ("",)):
        if not chosen:
            raise ValueError(missing % (word, directory))
    made = []
    for i, (chosen, numbers) in enumerate(parts):
        dataset = _labelled(read(tf.data.Dataset.from_tensor_slices(chosen)), numbers, label_mode, len(classes))
        dataset = finish(dataset, shuffle and not i, seed)
        dataset.class_names = classes
        made.append((dataset, chosen))
    return made


def image_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb", batch_size=32,
                                 image_size=(256, 256), shuffle=True, seed=None, validation_split=None, subset=None, interpolation="bilinear",
                                 follow_links=False, crop_to_aspect_ratio=False, **kwargs):
    """Batches of the pictures in a directory, and their labels."""
    del follow_links  # TensorFlow follows links in any case
    crop = kwargs.pop("smart_resize", crop_to_aspect_ratio)
    if kwargs:
        raise TypeError("Unknown keywords argument(s): %s" % (tuple(kwargs),))
    labels, label_mode = _check_labels(labels, label_mode, class_names, _labels_words("", "image", "images"))
    channels = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(color_mode)
    if channels is None:
        raise ValueError('`color_mode` must be one of {"rgb", "rgba", "grayscale"}. Received: color_mode=%s' % color_mode)
    method = interpolation.lower()
    if method not in _METHODS:
        raise NotImplementedError("Value not recognized for `interpolation`: %s. Supported values are: %s" % (method, list(_METHODS)))
    resize = tf.keras.preprocessing.image._smart_resize if crop else tf.image.resize

    def load(path):
        img = tf.image.decode_image(tf.io.read_file(path), channels=channels, expand_animations=False)
        img = resize(img, image_size, method)
        img.set_shape((image_size[0], image_size[1], channels))
        return img

    def finish(dataset, shuffle, seed):
        dataset = _shuffled(dataset, shuffle, batch_size, seed)
        return (dataset if batch_size is None else dataset.batch(batch_size)).prefetch(tf.data.AUTOTUNE)
    made = _datasets(directory, labels, label_mode, _PICTURES, class_names, shuffle, seed, validation_split, subset,
                     lambda paths: paths.map(load, num_parallel_calls=tf.data.AUTOTUNE), finish,
                     "No %simages found in directory %s. Allowed formats: " + str(_PICTURES))
    for dataset, paths in made:
        dataset.file_paths = paths
    return [dataset for dataset, _ in made] if subset == "both" else made[0][0]


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32, max_length=None, shuffle=True,
                                seed=None, validation_split=None, subset=None, follow_links=False):
    """Batches of the texts in a directory, and their labels."""
    del follow_links  # TensorFlow follows links in any case
    labels, label_mode = _check_labels(labels, label_mode, class_names, _labels_words("", "text", "text samples"))

    def load(path):
        text = tf.io.read_file(path)
        return text if max_length is None else tf.strings.substr(text, 0, max_length)

    def finish(dataset, shuffle, seed):
        dataset = _shuffled(dataset.prefetch(tf.data.AUTOTUNE), shuffle, batch_size, seed)
        return dataset if batch_size is None else dataset.batch(batch_size)
    made = _datasets(directory, labels, label_mode, (".txt",), class_names, shuffle, seed, validation_split, subset,
                     lambda paths: paths.map(load, num_parallel_calls=tf.data.AUTOTUNE), finish,
                     "No %stext files found in directory %s. Allowed format: .txt")
    return [dataset for dataset, _ in made] if subset == "both" else made[0][0]


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

    def read(paths):
        length = -1 if output_sequence_length is None else output_sequence_length
        sounds = paths.map(lambda path: tf.audio.decode_wav(tf.io.read_file(path), desired_samples=length)[0], num_parallel_calls=tf.data.AUTOTUNE)
        return sounds.map(lambda x: tf.RaggedTensor.from_tensor(x), num_parallel_calls=tf.data.AUTOTUNE) if ragged else sounds

    def finish(dataset, shuffle, seed):
        dataset = _shuffled(dataset.prefetch(tf.data.AUTOTUNE), shuffle, batch_size, seed)
        if batch_size is None:
            return dataset
        if output_sequence_length is None and not ragged:
            return dataset.padded_batch(batch_size, padded_shapes=([None, None], []))
        return dataset.batch(batch_size)
    made = _datasets(directory, labels, label_mode, (".wav",), class_names, shuffle, seed, validation_split, subset, read, finish,
                     "No %saudio files found in directory %s. Allowed format(s): ('.wav',)")
    return tuple(dataset for dataset, _ in made) if subset == "both" else made[0][0]


def _check_series(data, sequence_stride, sampling_rate, start_index, end_index):
    count = len(data)
    if start_index and start_index < 0:
        raise ValueError("`start_index` must be 0 or greater. Received: start_index=%s" % start_index)
    if start_index and start_index >= count:
        raise ValueError("`start_index` must be lower than the length of the data. Received: start_index=%s, for data of length %d" % (start_index, count))
    if end_index and start_index and end_index <= start_index:
        raise ValueError("`end_index` must be higher than `start_index`. Received: start_index=%s, and end_index=%s " % (start_index, end_index))
    if end_index and end_index >= count:
        raise ValueError("`end_index` must be lower than the length of the data. Received: end_index=%s, for data of length %d" % (end_index, count))
    if end_index and end_index <= 0:
        raise ValueError("`end_index` must be higher than 0. Received: end_index=%s" % end_index)
    for name, value in (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride)):
        if value <= 0:
            raise ValueError("`%s` must be higher than 0. Received: %s=%s" % (name, name, value))
        if value >= count:
            raise ValueError("`%s` must be lower than the length of the data. Received: %s=%s, for data of length %d" % (name, name, value, count))


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128, shuffle=False, seed=None,
                                  start_index=None, end_index=None):
    """Batches of the parts of a series, and the target that belongs to each."""
    _check_series(data, sequence_stride, sampling_rate, start_index, end_index)
    start, end = 0 if start_index is None else start_index, len(data) if end_index is None else end_index
    count = end - start - (sequence_length - 1) * sampling_rate
    if targets is not None:
        count = min(count, len(targets))
    places = np.arange(0, count, sequence_stride, dtype="int32" if count < 2147483647 else "int64")
    if shuffle:
        seed = np.random.randint(1e6) if seed is None else seed
        np.random.RandomState(seed).shuffle(places)
    inside = np.arange(0, sequence_length * sampling_rate, sampling_rate, dtype=places.dtype)
    begins, series = tf.data.Dataset.from_tensor_slices(places), tf.convert_to_tensor(data[start:end])
    dataset = begins.map(lambda place: tf.gather(series, place + inside), num_parallel_calls=tf.data.AUTOTUNE)
    if targets is not None:
        wanted = tf.convert_to_tensor(targets[start:end])
        dataset = tf.data.Dataset.zip((dataset, begins.map(lambda place: tf.gather(wanted, place), num_parallel_calls=tf.data.AUTOTUNE)))
    dataset = _shuffled(dataset.prefetch(tf.data.AUTOTUNE), shuffle, batch_size, seed)
    return dataset if batch_size is None else dataset.batch(batch_size)
