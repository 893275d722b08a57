"""Cases of datasets of the files in directories, of series, of keras.datasets and of ImageDataGenerator."""
import contextlib
import io
import os
import pickle
import struct
import tempfile
import warnings

import numpy as np

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "pictures")


@contextlib.contextmanager
def tree(files):
    """A directory with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        yield folder


def wav(samples, channels=1):
    data = struct.pack("<%dh" % len(samples), *samples)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, channels, 8000, 16000 * channels, 2 * channels, 16)
            + b"data" + struct.pack("<I", len(data)) + data)


TEXTS = {"%s/%s.txt" % (kind, name): ("%s %s" % (kind, name)).encode() for kind in ("ham", "spam", "eggs") for name in ("d", "a", "c10", "c9", "B")}
TEXTS.update({"ham/inner/z.TXT": b"deep", "ham/no.md": b"?", ".hidden/x.txt": b"?", "top.txt": b"top"})
TWO = {name: data for name, data in TEXTS.items() if not name.startswith("eggs")}
SOUNDS = {"%s/%d.wav" % (kind, i): wav([i * 100, -i, 7] + [i] * i) for kind in ("dog", "cat") for i in range(4)}


def told(dataset, folder):
    """The elements, their types, and what the dataset knows of the files."""
    parts = dataset if isinstance(dataset, (list, tuple)) else [dataset]
    found = []
    for part in parts:
        elements = [[np.asarray(v).tolist() for v in (e if isinstance(e, tuple) else (e,))] for e in part.as_numpy_iterator()]
        spec = part.element_spec if isinstance(part.element_spec, tuple) else (part.element_spec,)
        found.append([repr(elements) if "b'" in repr(elements) else elements, [[s.dtype.name, str(s.shape)] for s in spec], part.class_names,
                      [os.path.relpath(path, folder) for path in getattr(part, "file_paths", [])]])
    return found


def printed(function):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = function()
    return [result, out.getvalue()]


def directories(tf, case):
    u = tf.keras.utils

    def texts(files=TEXTS, **arguments):
        with tree(files) as folder:
            return printed(lambda: told(u.text_dataset_from_directory(folder, **arguments), folder))

    def pictures(**arguments):
        return printed(lambda: told(u.image_dataset_from_directory(PICTURES, **{"image_size": (3, 4), **arguments}), PICTURES))

    def sounds(**arguments):
        with tree(SOUNDS) as folder:
            return printed(lambda: told(u.audio_dataset_from_directory(folder, **arguments), folder))
    plain = dict(shuffle=False)
    for name, arguments in {
            "in order": plain, "seeded": dict(seed=3), "another seed": dict(seed=1234567), "one": dict(plain, batch_size=None),
            "one seeded": dict(seed=5, batch_size=None), "categorical": dict(plain, label_mode="categorical"), "no labels": dict(plain, labels=None),
            "no mode": dict(plain, label_mode=None), "classes": dict(plain, class_names=["spam", "ham", "eggs"]),
            "other classes": dict(plain, class_names=["spam", "ham"]), "own": dict(seed=2, labels=list(range(17))),
            "own too few": dict(plain, labels=[1, 2]), "short": dict(plain, max_length=3), "training": dict(seed=1, validation_split=.3, subset="training"),
            "validation": dict(seed=1, validation_split=.3, subset="validation"), "both": dict(seed=1, validation_split=.3, subset="both"),
            "both in order": dict(plain, validation_split=.5, subset="both"), "no seed": dict(validation_split=.3, subset="training"),
            "no subset": dict(plain, validation_split=.3), "odd subset": dict(plain, validation_split=.3, subset="odd"),
            "odd split": dict(plain, validation_split=3, subset="training"), "odd mode": dict(label_mode="odd"), "odd labels": dict(labels="odd"),
            "names and labels": dict(labels=[1], class_names=["a"]), "three binary": dict(plain, label_mode="binary")}.items():
        case("texts " + name, lambda a=arguments: texts(**a))
    case("texts binary", lambda: texts(TWO, shuffle=False, label_mode="binary"))
    case("texts none", lambda: texts({"a/b.md": b""}, shuffle=False))
    case("texts no directory", lambda: u.text_dataset_from_directory(PICTURES + "/none"))
    case("texts old name", lambda: tf.keras.preprocessing.text_dataset_from_directory is u.text_dataset_from_directory)
    for name, arguments in {
            "in order": plain, "seeded": dict(seed=3), "grayscale": dict(plain, color_mode="grayscale"), "crop": dict(plain, crop_to_aspect_ratio=True),
            "smart": dict(plain, smart_resize=True), "nearest": dict(plain, interpolation="nearest"), "area": dict(plain, interpolation="AREA"),
            "binary": dict(plain, label_mode="binary"), "one": dict(plain, batch_size=None), "two": dict(plain, batch_size=2),
            "training": dict(seed=1, validation_split=.4, subset="training"), "both": dict(seed=1, validation_split=.4, subset="both"),
            "odd color": dict(color_mode="odd"), "odd method": dict(interpolation="odd"), "odd argument": dict(odd=1)}.items():
        case("pictures " + name, lambda a=arguments: pictures(**a))
    for name, arguments in {"in order": plain, "seeded": dict(seed=4), "cut": dict(plain, output_sequence_length=4), "one": dict(plain, batch_size=None),
                            "both": dict(seed=1, validation_split=.5, subset="both"), "odd": dict(ragged=True, output_sequence_length=3),
                            "odd rate": dict(sampling_rate=1.5), "negative rate": dict(sampling_rate=-1)}.items():
        case("sounds " + name, lambda a=arguments: sounds(**a))
    data = np.arange(30).reshape(15, 2)

    def series(targets=True, **arguments):
        made = u.timeseries_dataset_from_array(data, data[:, 0] * 10 if targets else None, **arguments)
        return [list(map(np.asarray, e)) if isinstance(e, tuple) else e for e in made.as_numpy_iterator()]
    for name, arguments in {
            "plain": dict(sequence_length=4), "stride": dict(sequence_length=3, sequence_stride=2), "rate": dict(sequence_length=3, sampling_rate=3),
            "batches": dict(sequence_length=3, batch_size=4), "one": dict(sequence_length=3, batch_size=None), "seed": dict(sequence_length=3, shuffle=True, seed=7),
            "part": dict(sequence_length=3, start_index=3, end_index=9), "alone": dict(sequence_length=5, targets=False),
            "odd start": dict(sequence_length=3, start_index=15), "odd end": dict(sequence_length=3, end_index=20), "odd order":
            dict(sequence_length=3, start_index=5, end_index=4), "odd rate": dict(sequence_length=3, sampling_rate=0), "odd stride":
            dict(sequence_length=3, sequence_stride=99)}.items():
        case("series " + name, lambda a=arguments: series(**a))


class Column(list):
    """A column of a table, with what ImageDataGenerator asks of pandas."""
    values = property(lambda self: np.array(self))
    dtype = property(lambda self: np.array(self).dtype)

    def apply(self, function, args=()):
        return Column(function(value, *args) for value in self)

    map = apply

    def tolist(self):
        return list(self)

    def nunique(self):
        return len(set(self))

    def astype(self, kind):
        return Column(map(kind, self))

    def __invert__(self):
        return Column(not value for value in self)

    def sum(self):
        return sum(self)


class Table:
    """A table like pandas', as far as ImageDataGenerator uses it."""

    def __init__(self, columns):
        self.columns = {name: Column(values) for name, values in columns.items()}
        self.iloc = self

    def copy(self):
        return Table(self.columns)

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def rows(self, wanted):
        return Table({name: [value for value, keep in zip(column, wanted) if keep] for name, column in self.columns.items()})

    def __getitem__(self, key):
        if isinstance(key, tuple):
            return Table({name: column[key[0]] for name, column in self.columns.items()})
        return self.rows(key) if isinstance(key, Column) else self.columns[key]

    def __setitem__(self, key, values):
        self.columns[key] = Column(values)

    def dropna(self, subset):
        return self.rows([value is not None for value in self.columns[subset[0]]])


def generators(tf, case):
    if tf.__name__ == "tensorflow":
        from scipy import ndimage
        if not hasattr(ndimage, "interpolation"):
            ndimage.interpolation = ndimage
    image = tf.keras.preprocessing.image
    x = (np.arange(5 * 6 * 7 * 3).reshape(5, 6, 7, 3) * 37 % 256).astype(np.float32)
    moves = {"turned": dict(theta=30), "turned far": dict(theta=-135), "shifted": dict(tx=1.5, ty=-2), "shifted far": dict(tx=20, ty=-9.25), "sheared": dict(shear=20),
             "zoomed": dict(zx=.7, zy=1.4), "all": dict(theta=12, tx=.5, ty=1, shear=-9, zx=1.1, zy=.9), "nothing": {}}
    for name, arguments in moves.items():
        for fill in ("nearest", "constant", "reflect", "wrap"):
            case("affine %s %s" % (name, fill), lambda a=arguments, f=fill: np.round(image.apply_affine_transform(
                x[0], row_axis=0, col_axis=1, channel_axis=2, fill_mode=f, cval=9., **a), 3))
        case("affine first " + name, lambda a=arguments: np.round(image.apply_affine_transform(x[0].transpose(2, 0, 1), **a), 3))
        case("affine nearest pixel " + name, lambda a=arguments: np.round(image.apply_affine_transform(x[0].transpose(2, 0, 1), order=0, **a), 3))
        case("affine double " + name, lambda a=arguments: image.apply_affine_transform(x[0].transpose(2, 0, 1).astype(np.float64), **a).dtype.name)
        case("affine bytes " + name, lambda a=arguments: image.apply_affine_transform(x[0].astype(np.uint8), row_axis=0, col_axis=1, channel_axis=2, **a))
    case("affine axes", lambda: image.apply_affine_transform(x[0], theta=3, row_axis=1))
    case("affine channels", lambda: image.apply_affine_transform(x[0], theta=3, row_axis=0, col_axis=2, channel_axis=1))
    case("affine rank", lambda: image.apply_affine_transform(x, theta=3))
    for amount in (-50., 0., 30.5):
        case("channel shift %s" % amount, lambda a=amount: image.apply_channel_shift(x[0], a, 2))
    for amount in (0., .3, 1., 1.7):
        for scale in (True, False):
            case("brightness %s %s" % (amount, scale), lambda a=amount, s=scale: image.apply_brightness_shift(x[0], a, s))
            case("brightness wide %s %s" % (amount, scale), lambda a=amount, s=scale: np.round(image.apply_brightness_shift(x[0] * 2 - 100, a, s), 3))

    def drawn(function):
        np.random.seed(3)
        return np.round(function(), 3)
    case("random_rotation", lambda: drawn(lambda: image.random_rotation(x[0], 40, 0, 1, 2)))
    case("random_shift", lambda: drawn(lambda: image.random_shift(x[0], .3, .4, 0, 1, 2)))
    case("random_shear", lambda: drawn(lambda: image.random_shear(x[0], 20, 0, 1, 2)))
    case("random_zoom", lambda: drawn(lambda: image.random_zoom(x[0], (.5, 1.5), 0, 1, 2)))
    case("random_channel_shift", lambda: drawn(lambda: image.random_channel_shift(x[0], 40., 2)))
    case("random_brightness", lambda: drawn(lambda: image.random_brightness(x[0], (.5, 1.5))))
    case("random_zoom odd", lambda: image.random_zoom(x[0], (1, 2, 3)))
    settings = {"rotation": dict(rotation_range=40), "width": dict(width_shift_range=.3), "height pixels": dict(height_shift_range=2), "height list":
                dict(height_shift_range=[-1., 2.]), "shear": dict(shear_range=15), "zoom": dict(zoom_range=.4), "zoom two": dict(zoom_range=[.5, .8]),
                "channels": dict(channel_shift_range=30.), "flips": dict(horizontal_flip=True, vertical_flip=True), "brightness":
                dict(brightness_range=(.4, 1.6)), "constant": dict(rotation_range=30, fill_mode="constant", cval=5), "all": dict(
                    rotation_range=20, width_shift_range=.2, height_shift_range=.2, shear_range=10, zoom_range=.2, horizontal_flip=True, fill_mode="reflect",
                    rescale=1 / 255), "rescale": dict(rescale=.5), "own": dict(preprocessing_function=lambda v: v + 1, rescale=2.),
                "sample center": dict(samplewise_center=True), "sample std": dict(samplewise_std_normalization=True), "center": dict(featurewise_center=True),
                "std": dict(featurewise_std_normalization=True), "zca": dict(zca_whitening=True), "zca epsilon": dict(zca_whitening=True, zca_epsilon=1e-2)}

    def flown(settings, **arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            generator = image.ImageDataGenerator(**settings)
            if generator.featurewise_center:
                generator.fit(x / 255)
            flow = generator.flow(x / 255 if generator.featurewise_center else x, np.arange(5), batch_size=2, seed=4, **arguments)
            return [len(flow)] + [np.round(np.asarray(part, np.float64), 2) for _ in range(4) for part in next(flow)]
    for name, arguments in settings.items():
        case("flow " + name, lambda a=arguments: flown(a))
    case("flow transform", lambda: {k: v if v is None else float(v) for k, v in image.ImageDataGenerator(**settings["all"]).get_random_transform(
        (6, 7, 3), seed=8).items()})
    case("flow augment", lambda: [np.round(v, 3) for v in augmented()])

    def augmented():
        generator = image.ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True, rotation_range=20)
        generator.fit(x, augment=True, rounds=2, seed=6)
        return generator.mean, generator.std
    case("flow weights", lambda: [np.asarray(p).tolist() for p in image.ImageDataGenerator().flow(x, np.arange(5), sample_weight=np.ones(5), shuffle=False)[0][1:]])
    case("flow subset", lambda: [image.ImageDataGenerator(validation_split=.4).flow(x, np.array([0, 1, 0, 1, 1]), subset=s, shuffle=False)[0][1] for s in (
        "training", "validation")])
    case("flow classes", lambda: image.ImageDataGenerator(validation_split=.4).flow(x, np.arange(5), subset="training"))
    case("flow lengths", lambda: image.ImageDataGenerator().flow(x, np.arange(4)))
    case("flow rank", lambda: image.ImageDataGenerator().flow(x[0]))
    case("flow no labels", lambda: image.ImageDataGenerator().flow(x, shuffle=False, batch_size=3)[1].shape)
    case("flow several", lambda: [np.asarray(p).tolist() for p in image.ImageDataGenerator().flow((x, [np.arange(5), np.ones(5)]), shuffle=False, batch_size=2)[1][1:]])
    for name, arguments in {"zoom": dict(zoom_range=(1, 2, 3)), "brightness": dict(brightness_range=2), "split": dict(validation_split=2), "format":
                            dict(data_format="odd"), "argument": dict(odd=1)}.items():
        case("generator odd " + name, lambda a=arguments: image.ImageDataGenerator(**a))

    def directory(settings, **arguments):
        flow = image.ImageDataGenerator(**settings).flow_from_directory(PICTURES, target_size=(5, 4), seed=2, **arguments)
        return [flow.filenames, flow.class_indices] + [np.round(np.asarray(part, np.float64), 2) for part in next(flow)]
    for name, arguments in {"bilinear": dict(interpolation="bilinear"), "ratio": dict(interpolation="bicubic", keep_aspect_ratio=True), "classes":
                            dict(classes=["dogs"]), "rgba": dict(color_mode="rgba")}.items():
        case("directory " + name, lambda a=arguments: printed(lambda: directory({}, **a)))
    case("directory changed", lambda: printed(lambda: directory(settings["all"])))
    case("directory first", lambda: printed(lambda: directory(dict(data_format="channels_first", zoom_range=.3))))
    names = ["cats/a.png", "dogs/d.PNG", "cats/b.jpg", "none.png", "dogs/e.png"]

    def table(settings={}, **arguments):
        columns = dict(filename=names, weight=[1., 2., 3., 4., 5.], number=[1.5, 2.5, 3.5, 4.5, 5.5], several=[["a", "b"], ["b"], ["c"], ["a"], ["a"]])
        columns["class"] = ["cat", "dog", "cat", "cat", "dog"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flow = image.ImageDataGenerator(**settings).flow_from_dataframe(Table(columns), PICTURES, target_size=(3, 3), shuffle=False, **arguments)
            batch = next(flow)
        return [flow.filenames, getattr(flow, "class_indices", None)] + [np.asarray(part, np.float64) for part in (
            batch[1:] if isinstance(batch, tuple) else [batch])]
    for name, arguments in {"plain": {}, "binary": dict(class_mode="binary"), "sparse": dict(class_mode="sparse", weight_col="weight"), "raw":
                            dict(class_mode="raw", y_col="number"), "input": dict(class_mode="input"), "none": dict(class_mode=None), "several": dict(y_col="several"),
                            "some": dict(y_col="several", classes=["c", "a"]), "one class": dict(class_mode="binary", classes=["cat"]), "numbers":
                            dict(y_col="number"), "odd": dict(class_mode="odd"), "multi": dict(class_mode="multi_output", y_col="number")}.items():
        case("table " + name, lambda a=arguments: printed(lambda: table(**a)))
    case("table subset", lambda: printed(lambda: table(dict(validation_split=.5), subset="validation")))


def stored(name, **arrays):
    """An .npz file as old NumPy wrote it."""
    path = os.path.join(tempfile.mkdtemp(), name)
    np.savez(path, **arrays)
    return path


def lists(count, step):
    made = np.empty(count, dtype=object)
    for i in range(count):
        made[i] = [(i * step + k) % 20 + 1 for k in range(i % 5 + 1)]
    return made


def datasets(tf, case):
    d = tf.keras.datasets
    if tf.__name__ == "tensorflow":
        from keras.src.datasets import boston_housing, cifar10, cifar100, imdb, reuters
        for module in (boston_housing, imdb, reuters):
            module.get_file = lambda path, **kwargs: path
        for module in (cifar10, cifar100):
            module.get_file = lambda name, **kwargs: os.path.join(os.environ["KERAS_HOME"], "datasets", name)

    def words(load, path, **arguments):
        (x, y), (x_test, y_test) = load(path, **arguments)
        return [[list(v) for v in x], y, [list(v) for v in x_test], y_test, str(x.dtype), x.shape]
    imdb_file = stored("imdb.npz", x_train=lists(9, 3), y_train=np.arange(9) % 2, x_test=lists(6, 7), y_test=np.arange(6) % 2)
    reuters_file = stored("reuters.npz", x=lists(11, 5), y=np.arange(11))
    for name, arguments in {"plain": {}, "few": dict(num_words=10), "top": dict(skip_top=5), "short": dict(maxlen=5), "seed": dict(seed=4), "no start":
                            dict(start_char=None), "no oov": dict(oov_char=None, num_words=12), "raw": dict(start_char=None, index_from=0), "old": dict(nb_words=9),
                            "odd": dict(odd=3), "too short": dict(maxlen=1)}.items():
        if name != "raw":  # where Keras joins two arrays by adding them
            case("imdb " + name, lambda a=arguments: words(d.imdb.load_data, imdb_file, **a))
        case("reuters " + name, lambda a=arguments: words(d.reuters.load_data, reuters_file, **a))
    case("reuters split", lambda: words(d.reuters.load_data, reuters_file, test_split=.5))
    case("reuters names", lambda: list(d.reuters.get_label_names()))
    boston = stored("boston.npz", x=np.arange(33.).reshape(11, 3), y=np.arange(11.))
    for name, arguments in {"plain": {}, "half": dict(test_split=.5), "seed": dict(seed=1), "odd": dict(test_split=2)}.items():
        case("boston " + name, lambda a=arguments: [part for pair in d.boston_housing.load_data(boston, **a) for part in pair])

    def cifar(load, names, keys, **arguments):
        rows = {name: {b"data": (np.arange(4 * 3072) * (i + 3) % 251).astype(np.uint8).reshape(4, 3072), **{key: [(i + k) % 7 for k in range(4)] for key in keys}}
                for i, name in enumerate(names)}
        if len(names) == 6:  # Keras makes room for 50,000 pictures
            for i, row in enumerate(rows.values()):
                row[b"data"], row[b"labels"] = np.tile(row[b"data"], (2500, 1)), row[b"labels"] * 2500
        folder = {6: "cifar-10-batches-py", 2: "cifar-100-python"}[len(names)]
        with tree({"datasets/%s/%s" % (folder, name): pickle.dumps(row, protocol=2) for name, row in rows.items()}) as home:
            before = os.environ.get("KERAS_HOME")
            os.environ["KERAS_HOME"] = home
            try:
                parts = [part for pair in load(**arguments) for part in pair]
            finally:
                os.environ.pop("KERAS_HOME")
                if before is not None:
                    os.environ["KERAS_HOME"] = before
        return [[str(part.dtype), part.shape, part[-3:, ..., :2] if part.ndim < 3 else part[-3:, :5, 7]] for part in parts]
    case("cifar10", lambda: cifar(d.cifar10.load_data, ["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"], [b"labels"]))
    for mode in ("fine", "coarse", "odd"):
        case("cifar100 " + mode, lambda m=mode: cifar(d.cifar100.load_data, ["train", "test"], [b"fine_labels", b"coarse_labels"], label_mode=m))


def cases(tf):
    """Names to functions without arguments."""
    out = {}

    def case(name, function):
        def run():
            tf.random.set_seed(87654321)  # what TensorFlow takes when none is set
            return function()
        out[name] = run
    for family in (directories, generators, datasets):
        family(tf, case)
    return out
