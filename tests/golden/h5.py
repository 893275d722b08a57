#!/usr/bin/env python3
"""Makes tests/golden/h5/: HDF5 files as h5py and Keras 2.15 write them, for tests/format/test_hdf5.c and tests/python/test_h5.py.

  values.h5       arrays and attributes of every kind that is read: chunked, packed, big-endian, strings, many groups
  latest.h5       the new kind of structure, which is refused
  weights.h5      save_weights of a small convolutional Sequential
  old_weights.h5  the same as old versions wrote it: names of a fixed length
  model.h5        model.save of a trained Sequential with Adam
  functional.h5   of a functional model with two inputs, a shared layer and a model inside, with SGD and momentum
  legacy.h5       of a model with the old Adam
  first_*.h5      the optimizer's state as Keras 2.0 to 2.2.4 laid it out: slot by slot, without telling names
  expected.json   predictions, and the losses of further training

usage: h5.py (needs tensorflow; the tests need only what it makes)
"""
import json
import os
import shutil

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "h5")
layers = tf.keras.layers
expected = {}


def values():
    with h5py.File(OUT + "/values.h5", "w") as f:
        f.create_dataset("packed", data=np.arange(260, dtype=np.float32).reshape(13, 20), chunks=(4, 7), compression="gzip", shuffle=True)
        f.create_dataset("chunked", data=np.arange(30, dtype=np.int64).reshape(5, 3, 2), chunks=(2, 2, 2))
        f["turned"] = np.arange(24, dtype=">i2").reshape(2, 3, 4)
        f["words"] = np.array([b"abc", b"de"])
        f["flag"] = True
        f["half"] = np.float16(2.5)
        f["double"] = np.array([1.5, -2.0])
        f["bytes"] = np.arange(5, dtype=np.uint8)
        f["empty"] = np.zeros((0, 3), np.float32)
        f["complex"] = np.array([1 + 2j])
        f.create_dataset("never", (3,), dtype="f4")
        f["deep/er/still"] = np.int32(7)
        f.attrs["text"] = "ä"
        f.attrs["list"] = [b"one", b"three", b""]
        f.attrs["fixed"] = np.array([b"one", b"three"])
        f.attrs["number"] = 1.5
        f.attrs["flag"] = np.array([True, False])
        many = f.create_group("many")
        for i in range(40):
            many.create_group("group%d" % i)
    with h5py.File(OUT + "/latest.h5", "w", libver="latest") as f:
        f["x"] = np.arange(3)


def convolutional():
    return tf.keras.Sequential([layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 2), name="c"), layers.BatchNormalization(name="b"),
                                layers.Flatten(name="f"), layers.Dense(4, name="d")])


def data(*shapes):
    rng = np.random.RandomState(1)
    return [rng.rand(*shape).astype(np.float32) for shape in shapes]


def weights():
    tf.keras.utils.set_random_seed(1)
    model = convolutional()
    x, = data((5, 6, 6, 2))
    model(x, training=True)
    model.save_weights(OUT + "/weights.h5")
    expected["weights"] = model.predict(x, verbose=0).tolist()
    with h5py.File(OUT + "/weights.h5") as f, h5py.File(OUT + "/old_weights.h5", "w") as g:
        g.attrs["layer_names"] = np.array([n.encode() for n in f.attrs["layer_names"]])
        g.attrs["backend"] = np.bytes_(b"tensorflow")
        g.attrs["keras_version"] = np.bytes_(b"2.2.4-tf")
        for name in f.attrs["layer_names"]:
            group = g.create_group(name)
            group.attrs["weight_names"] = np.array([n.encode() for n in f[name].attrs["weight_names"]])
            for weight in f[name].attrs["weight_names"]:
                group[weight] = f[name][weight][()]


def going_on(name, model, x, y):
    """Saves the model, and notes what it predicts and how it would train on."""
    model.save(OUT + "/%s.h5" % name)
    expected[name] = {"predict": model.predict(x, verbose=0).tolist()}
    expected[name]["losses"] = model.fit(x, y, epochs=3, batch_size=len(y), shuffle=False, verbose=0).history["loss"]


def model():
    tf.keras.utils.set_random_seed(2)
    m = convolutional()
    m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    x, = data((6, 6, 6, 2))
    y = np.arange(6) % 4
    m.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    going_on("model", m, x, y)


def functional():
    tf.keras.utils.set_random_seed(3)
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((3,), name="b")
    shared = layers.Dense(4, activation="tanh", name="shared")
    inner = tf.keras.Sequential([layers.Dense(5, activation="relu", input_shape=(8,), name="first"), layers.Dense(2, name="second")], name="inner")
    joined = layers.Concatenate(name="join")([shared(a), shared(b)])
    m = tf.keras.Model([a, b], layers.Dense(1, name="out")(inner(joined)), name="two")
    m.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    x1, x2, y = data((6, 3), (6, 3), (6, 1))
    m.fit([x1, x2], y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    going_on("functional", m, [x1, x2], y)


def legacy():
    tf.keras.utils.set_random_seed(4)
    m = tf.keras.Sequential([layers.Dense(3, activation="relu", input_shape=(4,), name="d1"), layers.Dense(1, name="d2")])
    m.compile(tf.keras.optimizers.legacy.Adam(0.01), "mse")
    x, y = data((6, 4), (6, 1))
    m.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    going_on("legacy", m, x, y)


FIRST = {"SGD": dict(lr=0.01, momentum=0.9, decay=0.01, nesterov=True), "RMSprop": dict(lr=0.01, rho=0.9, decay=0.0, epsilon=1e-7),
         "Adagrad": dict(lr=0.01, decay=0.0, epsilon=1e-7), "Adadelta": dict(lr=1.0, rho=0.95, decay=0.0, epsilon=1e-7),
         "Adam": dict(lr=0.01, beta_1=0.9, beta_2=0.999, decay=0.0, epsilon=1e-7, amsgrad=False),
         "Adamax": dict(lr=0.002, beta_1=0.9, beta_2=0.999, decay=0.0, epsilon=1e-7)}
SLOTS = {"SGD": ["momentum"], "RMSprop": ["rms"], "Adagrad": ["accumulator"], "Adadelta": ["accum_grad", "accum_var"], "Adam": ["m", "v"],
         "Adamax": ["m", "v"]}


def first(name):
    """Trained with the optimizer of those days, as far as it is still there; its file rewritten in the old layout."""
    tf.keras.utils.set_random_seed(5)
    m = tf.keras.Sequential([layers.Dense(3, activation="relu", input_shape=(4,), name="d1"), layers.Dense(1, name="d2")])
    config = dict(FIRST[name])
    own = getattr(tf.keras.optimizers.legacy, name)(**({"initial_accumulator_value": 0.0} if name == "Adagrad" else {}), **config)
    m.compile(own, "mse")
    x, y = data((6, 4), (6, 1))
    m.fit(x, y, epochs=3, batch_size=6, shuffle=False, verbose=0)
    path = OUT + "/first_%s.h5" % name.lower()
    m.save(path)
    slots = [own.get_slot(v, slot).numpy() for slot in SLOTS[name] for v in m.trainable_variables]
    if name == "Adam":
        slots += [np.zeros(1, np.float32) for _ in m.trainable_variables]
    with h5py.File(path, "r+") as f:
        del f["optimizer_weights"]
        group = f.create_group("optimizer_weights")
        names, values = [], []
        if name in ("SGD", "Adam", "Adamax"):
            names, values = ["%s/iterations:0" % name], [np.int64(own.iterations.numpy())]
        for i, value in enumerate(slots):
            names.append("training/%s/Variable%s:0" % (name, "_%d" % i if i else ""))
            values.append(value)
        group.attrs["weight_names"] = [n.encode() for n in names]
        for n, value in zip(names, values):
            group[n] = value
        training = {"optimizer_config": {"class_name": name, "config": config}, "loss": "mse", "metrics": [], "sample_weight_mode": None,
                    "loss_weights": None}
        f.attrs["training_config"] = json.dumps(training).encode()
        f.attrs["keras_version"] = b"2.2.4"
    losses = m.fit(x, y, epochs=3, batch_size=6, shuffle=False, verbose=0).history["loss"]
    expected["first_" + name] = {"losses": losses, "names": names}


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    values()
    weights()
    model()
    functional()
    legacy()
    for name in FIRST:
        first(name)
    with open(OUT + "/expected.json", "w") as f:
        json.dump(expected, f, indent=1)
