"""keras.preprocessing.image: batches of the pictures in a directory, one folder per class. Pictures are found and read by C (src/keras/pictures.c);
here is the iterator around them. Loaded when it is first asked for."""
import os
import threading

import thalweg as tf

_CLASS_MODES = ("categorical", "binary", "sparse", "input", None)


class Iterator(tf.keras.utils.Sequence):
    """Batches of n samples by number, shuffled for every epoch if that is wanted."""

    def __init__(self, n, batch_size, shuffle, seed):
        self.n, self.batch_size, self.seed, self.shuffle = n, batch_size, seed, shuffle
        self.batch_index = self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None

    def _set_index_array(self):
        import numpy as np
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _seed(self):
        if self.seed is not None:
            import numpy as np
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


class DirectoryIterator(Iterator):
    """Batches of the pictures in a directory that has a folder for each class."""

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, follow_links=False, subset=None, interpolation="nearest"):
        if color_mode not in ("rgb", "rgba", "grayscale"):
            raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
        if class_mode not in _CLASS_MODES:
            raise ValueError("Invalid class_mode: %s; expected one of: %s" % (class_mode, {"categorical", "binary", "sparse", "input", None}))
        if interpolation != "nearest":
            raise NotImplementedError("flow_from_directory: interpolation=%r is not supported, expected 'nearest'" % (interpolation,))
        split = image_data_generator._validation_split if image_data_generator else 0.0
        if subset not in (None, "training", "validation"):
            raise ValueError("Invalid subset name: %s;expected \"training\" or \"validation\"" % (subset,))
        self.directory, self.image_data_generator = os.fspath(directory), image_data_generator
        self.target_size, self.color_mode, self.class_mode = tuple(target_size), color_mode, class_mode
        self.data_format, self.dtype, self.subset, self.interpolation = "channels_last", "float32", subset, interpolation
        self.image_shape = self.target_size + ({"rgb": 3, "rgba": 4, "grayscale": 1}[color_mode],)
        names = list(classes) if classes else [n for n in sorted(os.listdir(directory)) if os.path.isdir(os.path.join(self.directory, n))]
        self.num_classes, self.class_indices = len(names), {name: i for i, name in enumerate(names)}
        self.filenames, numbers = [], []
        for i, name in enumerate(names):
            found = tf.keras.utils._picture_files(os.path.join(self.directory, name), bool(follow_links))
            if subset is not None:
                begin, end = (0, split) if subset == "validation" else (split, 1)
                found = found[int(begin * len(found)):int(end * len(found))]
            self.filenames += [os.path.join(os.path.basename(name), inside) for inside in found]
            numbers += [i] * len(found)
        import numpy as np
        self.samples, self.classes = len(numbers), np.array(numbers, dtype="int32")
        print("Found %d images belonging to %d classes." % (self.samples, self.num_classes))
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def filepaths(self):
        """The paths of the pictures."""
        return [os.path.join(self.directory, name) for name in self.filenames]

    @property
    def labels(self):
        """The number of each picture's class."""
        return self.classes

    def _get_batches_of_transformed_samples(self, index_array):
        import numpy as np
        x = np.zeros((len(index_array),) + self.image_shape, dtype=self.dtype)
        for i, number in enumerate(index_array):
            path = os.path.join(self.directory, self.filenames[number])
            picture = np.asarray(tf.keras.utils._picture(path, self.color_mode, *self.target_size), dtype=self.dtype)
            x[i] = self.image_data_generator.standardize(picture) if self.image_data_generator else picture
        if self.class_mode == "input":
            return x, x.copy()
        if self.class_mode is None:
            return x
        y = self.classes[index_array].astype(self.dtype)
        if self.class_mode == "categorical":
            y = np.eye(self.num_classes, dtype=self.dtype)[self.classes[index_array]]
        return x, y


class ImageDataGenerator:
    """Batches of pictures, rescaled. Random changes of pictures are not supported."""

    def __init__(self, rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0, dtype=None, **kwargs):
        plain = {"featurewise_center": False, "samplewise_center": False, "featurewise_std_normalization": False,
                 "samplewise_std_normalization": False, "zca_whitening": False, "zca_epsilon": 1e-06, "rotation_range": 0, "width_shift_range": 0.0,
                 "height_shift_range": 0.0, "brightness_range": None, "shear_range": 0.0, "zoom_range": 0.0, "channel_shift_range": 0.0,
                 "fill_mode": "nearest", "cval": 0.0, "horizontal_flip": False, "vertical_flip": False, "interpolation_order": 1}
        for name, value in kwargs.items():
            if name not in plain:
                raise TypeError("ImageDataGenerator.__init__() got an unexpected keyword argument '%s'" % name)
            if value != plain[name] and name not in ("zca_epsilon", "fill_mode", "cval", "interpolation_order"):
                raise NotImplementedError("ImageDataGenerator: %s=%r is not supported; the layers of keras.layers and tf.image change pictures" % (
                    name, value))
        if data_format not in (None, "channels_last") or dtype not in (None, "float32"):
            raise NotImplementedError("ImageDataGenerator: data_format=%r and dtype=%r are not supported, expected channels_last and float32" % (
                data_format, dtype))
        if validation_split and not 0 < validation_split < 1:
            raise ValueError("`validation_split` must be strictly between 0 and 1.  Received: %s" % validation_split)
        self.rescale, self.preprocessing_function, self._validation_split = rescale, preprocessing_function, validation_split
        self.data_format, self.dtype = "channels_last", "float32"

    def standardize(self, x):
        """The picture as the model gets it."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        return x * x.dtype.type(self.rescale) if self.rescale else x

    def flow_from_directory(self, directory, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical", batch_size=32,
                            shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png", follow_links=False, subset=None,
                            interpolation="nearest", keep_aspect_ratio=False):
        """Batches of the pictures in a directory that has a folder for each class."""
        if save_to_dir is not None or keep_aspect_ratio:
            raise NotImplementedError("flow_from_directory: save_to_dir and keep_aspect_ratio are not supported")
        del save_prefix, save_format
        return DirectoryIterator(directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle, seed, follow_links, subset,
                                 interpolation)
