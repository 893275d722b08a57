"""keras.preprocessing.image: batches of pictures, from arrays, directories and tables, changed at random. Pictures are found, read and changed by C
(src/keras/pictures); here are the iterators, and the draws of NumPy's random numbers, which programs seed. Loaded when it is first asked for."""
import os
import threading
import warnings

import numpy as np

import thalweg as tf
from thalweg._keras_log import print_msg
from thalweg._keras_pictures import array_to_img

_FORMATS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")
_PLAIN_MODES = ("input", "multi_output", "raw", None)  # which have no classes


class Iterator(tf.keras.utils.Sequence):
    """Batches of n samples by number, shuffled for every epoch if that is wanted."""
    white_list_formats = _FORMATS

    def __init__(self, n, batch_size, shuffle, seed):
        self.n, self.batch_size, self.seed, self.shuffle = n, batch_size, seed, shuffle
        self.batch_index = self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _seed(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError("Asked to retrieve element %d, but the Sequence has length %d" % (idx, len(self)))
        self._seed()
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(self.index_array[self.batch_size * idx:self.batch_size * (idx + 1)])

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        self._set_index_array()

    def reset(self):
        """Begins an epoch."""
        self.batch_index = 0

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        """The next batch; epochs follow each other without end."""
        with self.lock:
            self._seed()
            if self.batch_index == 0:
                self._set_index_array()
            begin = self.batch_index * self.batch_size % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if self.n > begin + self.batch_size else 0
            chosen = self.index_array[begin:begin + self.batch_size]
        return self._get_batches_of_transformed_samples(chosen)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError

    def _save(self, batch, index_array, limit):
        """Writes the pictures of a batch where that is wanted."""
        for picture, number in zip(batch, index_array) if self.save_to_dir else ():
            name = "%s_%d_%d.%s" % (self.save_prefix, number, np.random.randint(limit), self.save_format)
            array_to_img(picture, self.data_format, scale=True).save(os.path.join(self.save_to_dir, name))


class _FileIterator(Iterator):
    """Batches of pictures in files."""
    sample_weight = None

    def _set(self, generator, target_size, color_mode, data_format, save, subset, interpolation, keep_aspect_ratio):
        self.image_data_generator, self.target_size, self.keep_aspect_ratio = generator, tuple(target_size), keep_aspect_ratio
        if color_mode not in ("rgb", "rgba", "grayscale"):
            raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
        self.color_mode, self.data_format, self.interpolation = color_mode, data_format, interpolation
        channels = ({"rgb": 3, "rgba": 4, "grayscale": 1}[color_mode],)
        self.image_shape = self.target_size + channels if data_format == "channels_last" else channels + self.target_size
        self.save_to_dir, self.save_prefix, self.save_format = save
        if subset not in (None, "training", "validation"):
            raise ValueError("Invalid subset name: %s;expected \"training\" or \"validation\"" % (subset,))
        share = generator._validation_split if generator else 0.0
        self.split, self.subset = {None: None, "validation": (0, share), "training": (share, 1)}[subset], subset

    def _part(self, items):
        return items if not self.split else items[int(self.split[0] * len(items)):int(self.split[1] * len(items))]

    def _check_class_mode(self, class_mode):
        if class_mode not in self.allowed_class_modes:
            raise ValueError("Invalid class_mode: %s; expected one of: %s" % (class_mode, self.allowed_class_modes))
        self.class_mode = class_mode

    def _picture(self, path):
        pixels = tf.keras.utils._picture(path, self.color_mode, *self.target_size, self.interpolation, bool(self.keep_aspect_ratio)).numpy()
        x = pixels.astype(tf.keras.backend.floatx())
        x = x if self.data_format == "channels_last" else x.transpose(2, 0, 1)
        generator = self.image_data_generator
        if not generator:
            return x
        return generator.standardize(generator.apply_transform(x, generator.get_random_transform(x.shape)))

    def _get_batches_of_transformed_samples(self, index_array):
        x = np.zeros((len(index_array),) + self.image_shape, dtype=self.dtype)
        for i, number in enumerate(index_array):
            x[i] = self._picture(self._filepaths[number])
        self._save(x, index_array, 1e7)
        if self.class_mode is None:
            return x
        if self.class_mode == "input":
            y = x.copy()
        elif self.class_mode in ("binary", "sparse"):
            y = np.array([self.classes[i] for i in index_array]).astype(self.dtype)
        elif self.class_mode == "categorical":
            y = np.zeros((len(x), len(self.class_indices)), dtype=self.dtype)
            for i, number in enumerate(index_array):
                y[i, self.classes[number]] = 1.0
        else:
            y = [output[index_array] for output in self.labels] if self.class_mode == "multi_output" else self.labels[index_array]
        return (x, y) if self.sample_weight is None else (x, y, self.sample_weight[index_array])

    @property
    def filepaths(self):
        """The paths of the pictures."""
        return self._filepaths

    @property
    def labels(self):
        """The number of each picture's class."""
        return self.classes


class DirectoryIterator(_FileIterator):
    """Batches of the pictures in a directory that has a folder for each class."""
    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None, save_prefix="", save_format="png", follow_links=False,
                 subset=None, interpolation="nearest", keep_aspect_ratio=False, dtype=None):
        self._set(image_data_generator, target_size, color_mode, data_format or tf.keras.backend.image_data_format(),
                  (save_to_dir, save_prefix, save_format), subset, interpolation, keep_aspect_ratio)
        self._check_class_mode(class_mode)
        self.directory, self.dtype = os.fspath(directory), dtype or tf.keras.backend.floatx()
        names = list(classes) if classes else [n for n in sorted(os.listdir(directory)) if os.path.isdir(os.path.join(self.directory, n))]
        self.num_classes, self.class_indices = len(names), {name: i for i, name in enumerate(names)}
        self.filenames, numbers = [], []
        for i, name in enumerate(names):
            found = self._part(tf.keras.utils._picture_files(os.path.join(self.directory, name), bool(follow_links)))
            self.filenames += [os.path.join(os.path.basename(name), inside) for inside in found]
            numbers += [i] * len(found)
        self.samples, self.classes = len(numbers), np.array(numbers, dtype="int32")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        print_msg("Found %d images belonging to %d classes." % (self.samples, self.num_classes))
        super().__init__(self.samples, batch_size, shuffle, seed)


class DataFrameIterator(_FileIterator):
    """Batches of the pictures that a table of pandas lists."""
    allowed_class_modes = {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}

    def __init__(self, dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class", weight_col=None,
                 target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical", batch_size=32, shuffle=True, seed=None,
                 data_format="channels_last", save_to_dir=None, save_prefix="", save_format="png", subset=None, interpolation="nearest",
                 keep_aspect_ratio=False, dtype="float32", validate_filenames=True):
        self._set(image_data_generator, target_size, color_mode, data_format, (save_to_dir, save_prefix, save_format), subset, interpolation,
                  keep_aspect_ratio)
        table = dataframe.copy()
        self.directory, self.dtype = directory or "", dtype
        self._check_class_mode(class_mode)
        self._check_table(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._existing(table, x_col)
        if class_mode not in _PLAIN_MODES:
            table, classes = self._with_classes(table, y_col, classes)
            self.class_indices = {name: i for i, name in enumerate(classes)}
        if self.split:
            table = table.iloc[int(self.split[0] * len(table)):int(self.split[1] * len(table)), :]
        if class_mode not in _PLAIN_MODES:
            self.classes = [[self.class_indices[name] for name in label] if isinstance(label, (list, tuple)) else self.class_indices[label]
                            for label in table[y_col]]
        self.filenames = table[x_col].tolist()
        self.sample_weight = table[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self._targets = [np.array(table[column].tolist()) for column in y_col]
        elif class_mode == "raw":
            self._targets = table[y_col].values
        self.samples = len(self.filenames)
        belonging = "" if class_mode in _PLAIN_MODES else " belonging to %d classes" % len(classes)
        print_msg("Found %d %s image filenames%s." % (self.samples, "validated" if validate_filenames else "non-validated", belonging))
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check_table(self, table, x_col, y_col, weight_col, classes):
        def all_are(column, kinds):
            return all(isinstance(value, kinds) for value in table[column])
        mode = self.class_mode
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError('If class_mode="%s", y_col must be a list. Received %s.' % (mode, type(y_col).__name__))
        if not all_are(x_col, str):
            raise TypeError("All values in column x_col=%s must be strings." % x_col)
        if mode in ("binary", "sparse") and not all_are(y_col, str):
            raise TypeError('If class_mode="%s", y_col="%s" column values must be strings.' % (mode, y_col))
        if mode == "binary" and classes and len(set(classes)) != 2:
            raise ValueError('If class_mode="binary" there must be 2 classes. %d class/es were given.' % len(set(classes)))
        if mode == "binary" and not classes and table[y_col].nunique() != 2:
            raise ValueError('If class_mode="binary" there must be 2 classes. Found %d classes.' % table[y_col].nunique())
        if mode == "categorical" and not all_are(y_col, (str, list, tuple)):
            raise TypeError('If class_mode="%s", y_col="%s" column values must be type string, list or tuple.' % (mode, y_col))
        if classes and mode in _PLAIN_MODES:
            warnings.warn('`classes` will be ignored given the class_mode="%s"' % (mode,))
        if weight_col and not issubclass(table[weight_col].dtype.type, np.number):
            raise TypeError("Column weight_col=%s must be numeric." % weight_col)

    @staticmethod
    def _with_classes(table, y_col, classes):
        """The rows whose labels are among the classes, and the classes."""
        def kept(label):
            if isinstance(label, (list, tuple)):
                return [name for name in label if name in classes] or None
            return label if label in classes else None
        if classes:
            classes = list(dict.fromkeys(classes))
            table = table.copy()
            table[y_col] = table[y_col].apply(kept)
        else:
            classes = sorted({name for label in table[y_col] for name in (label if isinstance(label, (list, tuple)) else (label,))})
        return table.dropna(subset=[y_col]), classes

    def _existing(self, table, x_col):
        there = table[x_col].apply(lambda name: name.lower().endswith(_FORMATS) and os.path.isfile(os.path.join(self.directory, name)))
        missing = (~there.astype(bool)).sum()
        if missing:
            warnings.warn('Found %d invalid image filename(s) in x_col="%s". These filename(s) will be ignored.' % (missing, x_col))
        return table[there.astype(bool)]

    @property
    def labels(self):
        """The labels of the pictures."""
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes


class NumpyArrayIterator(Iterator):
    """Batches of the pictures of an array."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None, data_format=None, save_to_dir=None,
                 save_prefix="", save_format="png", subset=None, ignore_class_split=False, dtype=None):
        self.data_format, self.dtype = data_format or tf.keras.backend.image_data_format(), dtype or tf.keras.backend.floatx()
        others = []
        if isinstance(x, (tuple, list)):
            x, others = x[0], [np.asarray(part) for part in (x[1] if isinstance(x[1], list) else [x[1]])]
            for part in others:
                if len(x) != len(part):
                    raise ValueError("All of the arrays in `x` should have the same length. Found a pair with: len(x[0]) = %s, len(x[?]) = %s"
                                     % (len(x), len(part)))
        for name, words, part in (("y", "`y` (labels)", y), ("sample_weight", "`sample_weight`", sample_weight)):
            if part is not None and len(x) != len(part):
                raise ValueError("`x` (images tensor) and %s should have the same length. Found: x.shape = %s, %s.shape = %s" % (
                    words, np.shape(x), name, np.shape(part)))
        if subset is not None:
            x, y, others = self._part(x, y, others, subset, int(len(x) * image_data_generator._validation_split), ignore_class_split)
        self.x, self.x_misc = np.asarray(x, dtype=self.dtype), others
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape", self.x.shape)
        _warn_channels(self.x, self.data_format, "NumpyArrayIterator is set to use the data format convention")
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator, self.save_to_dir, self.save_prefix, self.save_format = image_data_generator, save_to_dir, save_prefix, save_format
        super().__init__(self.x.shape[0], batch_size, shuffle, seed)

    @staticmethod
    def _part(x, y, others, subset, count, ignore_class_split):
        if subset not in ("training", "validation"):
            raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
        if y is not None and not ignore_class_split and not np.array_equal(np.unique(y[:count]), np.unique(y[count:])):
            raise ValueError("Training and validation subsets have different number of classes after the split. If your numpy arrays are sorted by "
                             "the label, you might want to shuffle them.")
        part = slice(None, count) if subset == "validation" else slice(count, None)
        return x[part], None if y is None else y[part], [other[part] for other in others]

    def _get_batches_of_transformed_samples(self, index_array):
        x = np.zeros((len(index_array),) + self.x.shape[1:], dtype=self.dtype)
        for i, number in enumerate(index_array):
            picture, generator = self.x[number], self.image_data_generator
            picture = generator.apply_transform(picture.astype(self.dtype), generator.get_random_transform(picture.shape))
            x[i] = generator.standardize(picture)
        self._save(x, index_array, 1e4)
        output = ([x] + [part[index_array] for part in self.x_misc] if self.x_misc else x,)
        if self.y is None:
            return output[0]
        output += (self.y[index_array],)
        return output if self.sample_weight is None else output + (self.sample_weight[index_array],)


def _warn_channels(x, data_format, words):
    axis = 3 if data_format == "channels_last" else 1
    if x.shape[axis] not in (1, 3, 4):
        warnings.warn('%s "%s" (channels on axis %d), i.e. expected either 1, 3, or 4 channels on axis %d. However, it was passed an array with shape '
                      '%s (%d channels).' % (words, data_format, axis, axis, x.shape, x.shape[axis]))


def _zoom_range(given):
    if isinstance(given, (float, int)):
        return [1 - given, 1 + given]
    if len(given) == 2 and all(isinstance(value, (float, int)) for value in given):
        return [given[0], given[1]]
    raise ValueError("`zoom_range` should be a float or a tuple or list of two floats. Received: %s" % (given,))


def _shift(given, size):
    """A shift drawn from a number of pixels, a share of the size, or a list."""
    if not np.any(given):
        return 0
    try:
        drawn = np.random.choice(given)
        drawn *= np.random.choice([-1, 1])
    except ValueError:
        drawn = np.random.uniform(-given, given)
    return drawn * size if np.max(given) < 1 else drawn


class ImageDataGenerator:
    """Batches of pictures, changed at random and standardized."""

    def __init__(self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False, samplewise_std_normalization=False,
                 zca_whitening=False, zca_epsilon=1e-6, rotation_range=0, width_shift_range=0.0, height_shift_range=0.0, brightness_range=None,
                 shear_range=0.0, zoom_range=0.0, channel_shift_range=0.0, fill_mode="nearest", cval=0.0, horizontal_flip=False,
                 vertical_flip=False, rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0, interpolation_order=1,
                 dtype=None):
        given = dict(locals())
        del given["self"]
        vars(self).update(given)
        self._validation_split = vars(self).pop("validation_split")
        self.data_format, self.dtype = data_format or tf.keras.backend.image_data_format(), dtype or tf.keras.backend.floatx()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError('`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` (channel before row and '
                             "column). Received: %s" % data_format)
        self.channel_axis, self.row_axis, self.col_axis = (3, 1, 2) if self.data_format == "channels_last" else (1, 2, 3)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError("`validation_split` must be strictly between 0 and 1.  Received: %s" % validation_split)
        self.mean = self.std = self.zca_whitening_matrix = None
        self.zoom_range = _zoom_range(zoom_range)
        if zca_whitening:
            self._override("zca_whitening", "featurewise_center", True)
            self._override("zca_whitening", "featurewise_std_normalization", False)
        if featurewise_std_normalization:
            self._override("featurewise_std_normalization", "featurewise_center", True)
        if samplewise_std_normalization:
            self._override("samplewise_std_normalization", "samplewise_center", True)
        if brightness_range is not None and (not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2):
            raise ValueError("`brightness_range should be tuple or list of two floats. Received: %s" % (brightness_range,))

    def _override(self, name, other, value):
        if bool(getattr(self, other)) != value:
            setattr(self, other, value)
            warnings.warn("This ImageDataGenerator specifies `%s`, which overrides setting of `%s`." % (name, other))

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None, save_prefix="", save_format="png",
             ignore_class_split=False, subset=None):
        """Batches of the pictures of an array."""
        return NumpyArrayIterator(x, y, self, batch_size, shuffle, sample_weight, seed, self.data_format, save_to_dir, save_prefix, save_format,
                                  subset, ignore_class_split, self.dtype)

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical", batch_size=32,
                            shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png", follow_links=False, subset=None,
                            interpolation="nearest", keep_aspect_ratio=False):
        """Batches of the pictures in a directory that has a folder for each class."""
        return DirectoryIterator(directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle, seed, self.data_format,
                                 save_to_dir, save_prefix, save_format, follow_links, subset, interpolation, keep_aspect_ratio, self.dtype)

    def flow_from_dataframe(self, dataframe, directory=None, x_col="filename", y_col="class", weight_col=None, target_size=(256, 256),
                            color_mode="rgb", classes=None, class_mode="categorical", batch_size=32, shuffle=True, seed=None, save_to_dir=None,
                            save_prefix="", save_format="png", subset=None, interpolation="nearest", validate_filenames=True, **kwargs):
        """Batches of the pictures that a table of pandas lists."""
        for name in ("has_ext", "sort", "drop_duplicates"):
            if name in kwargs:
                warnings.warn("%s is deprecated." % name, DeprecationWarning)
        if class_mode == "other":
            warnings.warn('`class_mode` "other" is deprecated, please use `class_mode` "raw".', DeprecationWarning)
            class_mode = "raw"
        return DataFrameIterator(dataframe, directory, self, x_col, y_col, weight_col, target_size, color_mode, classes, class_mode, batch_size,
                                 shuffle, seed, self.data_format, save_to_dir, save_prefix, save_format, subset, interpolation,
                                 dtype=self.dtype, validate_filenames=validate_filenames)

    def standardize(self, x):
        """The picture as the model gets it."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        needed = {"mean": self.featurewise_center, "std": self.featurewise_std_normalization, "zca_whitening_matrix": self.zca_whitening}
        for name, setting in zip(needed, ("featurewise_center", "featurewise_std_normalization", "zca_whitening")):
            if needed[name] and getattr(self, name) is None:
                warnings.warn("This ImageDataGenerator specifies `%s`, but it hasn't been fit on any training data. Fit it first by calling "
                              "`.fit(numpy_data)`." % setting)
        mean, deviation, whitening = (getattr(self, name) if wanted else None for name, wanted in needed.items())
        if not (self.rescale or self.samplewise_center or self.samplewise_std_normalization or mean is not None or deviation is not None
                or whitening is not None):
            return x
        return tf.keras.preprocessing.image._standardize(x, float(self.rescale) if self.rescale else None, bool(self.samplewise_center),
                                                         bool(self.samplewise_std_normalization), mean, deviation, whitening)

    def get_random_transform(self, img_shape, seed=None):
        """How a picture of that shape is changed, drawn at random."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx, ty = _shift(self.height_shift_range, img_shape[self.row_axis - 1]), _shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        flip_horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        flip_vertical = (np.random.random() < 0.5) * self.vertical_flip
        channels = np.random.uniform(-self.channel_shift_range, self.channel_shift_range) if self.channel_shift_range != 0 else None
        brightness = None if self.brightness_range is None else np.random.uniform(self.brightness_range[0], self.brightness_range[1])
        return {"theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy, "flip_horizontal": flip_horizontal,
                "flip_vertical": flip_vertical, "channel_shift_intensity": channels, "brightness": brightness}

    def apply_transform(self, x, transform_parameters):
        """The picture, changed so."""
        given, image = transform_parameters, tf.keras.preprocessing.image
        rows, columns = self.row_axis - 1, self.col_axis - 1
        moves = [float(given.get(name, default)) for name, default in zip(("theta", "tx", "ty", "shear", "zx", "zy"), (0, 0, 0, 0, 1, 1))]
        if moves != [0, 0, 0, 0, 1, 1]:
            x = image.apply_affine_transform(x, *moves, row_axis=rows, col_axis=columns, channel_axis=self.channel_axis - 1,
                                             fill_mode=self.fill_mode, cval=float(self.cval), order=self.interpolation_order)
        if given.get("channel_shift_intensity") is not None:
            x = image.apply_channel_shift(x, float(given["channel_shift_intensity"]), self.channel_axis - 1)
        for flipped, axis in ((given.get("flip_horizontal", False), columns), (given.get("flip_vertical", False), rows)):
            x = np.flip(x, axis) if flipped else x
        if given.get("brightness") is not None:
            x = image.apply_brightness_shift(x, float(given["brightness"]), False)
        return x

    def random_transform(self, x, seed=None):
        """The picture, changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Finds the means, deviations and the whitening of pictures, as the settings need them."""
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError("Input to `.fit()` should have rank 4. Got array with shape: " + str(x.shape))
        _warn_channels(x, self.data_format, "Expected input to be images (as Numpy array) following the data format convention")
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(picture) for _ in range(rounds) for picture in x]).astype(self.dtype)
        if not self.featurewise_center:
            return
        found = iter(tf.keras.preprocessing.image._statistics(x, self.channel_axis, bool(self.featurewise_std_normalization),
                                                              bool(self.zca_whitening), float(self.zca_epsilon)))
        self.mean = next(found)[0]
        if self.featurewise_std_normalization:
            self.std = next(found)[0]
        if self.zca_whitening:
            self.zca_whitening_matrix = next(found)


def _moved(x, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order, **moves):
    return tf.keras.preprocessing.image.apply_affine_transform(x, row_axis=row_axis, col_axis=col_axis, channel_axis=channel_axis, fill_mode=fill_mode,
                                                               cval=float(cval), order=interpolation_order, **moves)


def random_rotation(x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """A picture turned by up to rg degrees."""
    return _moved(x, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order, theta=np.random.uniform(-rg, rg))


def random_shift(x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """A picture shifted by up to these shares of its width and height."""
    tx, ty = np.random.uniform(-hrg, hrg) * x.shape[row_axis], np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return _moved(x, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order, tx=tx, ty=ty)


def random_shear(x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """A picture sheared by up to so many degrees."""
    return _moved(x, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order, shear=np.random.uniform(-intensity, intensity))


def random_zoom(x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1):
    """A picture zoomed by factors of that range."""
    if len(zoom_range) != 2:
        raise ValueError("`zoom_range` should be a tuple or list of two floats. Received: %s" % (zoom_range,))
    zx, zy = (1, 1) if zoom_range[0] == 1 and zoom_range[1] == 1 else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return _moved(x, row_axis, col_axis, channel_axis, fill_mode, cval, interpolation_order, zx=zx, zy=zy)


def random_channel_shift(x, intensity_range, channel_axis=0):
    """A picture whose values are shifted by up to so much."""
    return tf.keras.preprocessing.image.apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def random_brightness(x, brightness_range, scale=True):
    """A picture at a brightness of that range."""
    if len(brightness_range) != 2:
        raise ValueError("`brightness_range should be tuple or list of two floats. Received: %s" % (brightness_range,))
    return tf.keras.preprocessing.image.apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]), bool(scale))


IMAGE = {value.__name__: value for value in (
    Iterator, DirectoryIterator, NumpyArrayIterator, ImageDataGenerator, random_rotation, random_shift, random_shear, random_zoom,
    random_channel_shift, random_brightness)}
