"""Makes tests/golden/optimizers_saved/: models that were trained with each of Keras's former and present optimizers, and how they train on when loaded.

models.zip has .h5 and .keras files. All kernels have one shape, so that slots that are taken for each other show. values.json has the model's outputs
after the load and three more steps.

Run it with TensorFlow's Python: python tests/golden/optimizers_saved.py"""
import json
import os
import shutil
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers_saved")
k, old, new = tf.keras, tf.keras.optimizers.legacy, tf.keras.optimizers
X = np.arange(12, dtype="float32").reshape(4, 3) / 10
CASES = {
    "old_sgd": lambda: old.SGD(0.01), "old_sgd_momentum": lambda: old.SGD(0.01, momentum=0.9, nesterov=True),
    "old_sgd_decay": lambda: old.SGD(0.1, momentum=0.5, decay=0.2), "old_sgd_schedule": lambda: old.SGD(new.schedules.ExponentialDecay(0.1, 1, 0.5)),
    "old_adam": lambda: old.Adam(0.01), "old_adam_amsgrad": lambda: old.Adam(0.01, amsgrad=True, clipnorm=0.5),
    "old_rmsprop": lambda: old.RMSprop(0.01), "old_rmsprop_momentum": lambda: old.RMSprop(0.01, momentum=0.5),
    "old_rmsprop_centered": lambda: old.RMSprop(0.01, centered=True), "old_rmsprop_both": lambda: old.RMSprop(0.01, momentum=0.5, centered=True),
    "old_adagrad": lambda: old.Adagrad(0.01), "old_adadelta": lambda: old.Adadelta(1.0), "old_adamax": lambda: old.Adamax(0.01, clipvalue=0.1),
    "old_nadam": lambda: old.Nadam(0.01), "old_ftrl": lambda: old.Ftrl(0.01, l1_regularization_strength=0.001),
    "new_sgd": lambda: new.SGD(0.01), "new_sgd_momentum": lambda: new.SGD(0.01, momentum=0.9, nesterov=True),
    "new_adam_amsgrad": lambda: new.Adam(0.01, amsgrad=True, clipnorm=0.5, weight_decay=0.1),
    "new_adam_schedule": lambda: new.Adam(new.schedules.CosineDecay(0.1, 10)), "new_adamw": lambda: new.AdamW(0.01),
    "new_rmsprop_both": lambda: new.RMSprop(0.01, momentum=0.5, centered=True), "new_rmsprop_centered": lambda: new.RMSprop(0.01, centered=True),
    "new_adagrad": lambda: new.Adagrad(0.01), "new_adadelta": lambda: new.Adadelta(1.0), "new_adamax": lambda: new.Adamax(0.01),
    "new_nadam": lambda: new.Nadam(0.01), "new_ftrl": lambda: new.Ftrl(0.01), "new_lion": lambda: new.Lion(0.01)}


def trained(optimizer, metrics):
    k.utils.set_random_seed(3)
    model = k.Sequential([k.layers.Dense(3, input_shape=(3,), use_bias=False, name="a"), k.layers.Dense(3, name="b"), k.layers.Dense(3, use_bias=False, name="c")])
    model.compile(optimizer, "mse", metrics=metrics)
    model.fit(X, X[:, ::-1], epochs=3, verbose=0, shuffle=False)
    return model


def main():
    values = {}
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in CASES.items():
            for ending in ("h5",) if name.startswith("old_") else ("h5", "keras"):
                path = os.path.join(scratch, "%s.%s" % (name, ending))
                trained(make(), ["mae"] if ending == "h5" else None).save(path)
                model = k.models.load_model(path)
                model.fit(X, X[:, ::-1], epochs=3, verbose=0, shuffle=False)
                values["%s.%s" % (name, ending)] = model(X).numpy().tolist()
        with zipfile.ZipFile(os.path.join(HERE, "models.zip"), "w", zipfile.ZIP_LZMA) as archive:
            for file in sorted(os.listdir(scratch)):
                archive.write(os.path.join(scratch, file), file)
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump(values, file)


main()
