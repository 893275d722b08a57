"""Image classification from a directory: pictures in one folder per class, augmented, a small convolutional network."""
import os
import tempfile

import numpy as np
import tensorflow as tf

SIZE, CLASSES = 32, ["circle", "cross", "square"]


def picture(kind, random):
    """A noisy picture of a shape."""
    y, x = np.mgrid[:SIZE, :SIZE] - random.integers(12, 20, (2, 1, 1))
    r = random.integers(5, 10)
    inside = {"circle": x ** 2 + y ** 2 < r ** 2, "cross": (abs(x) < 2) | (abs(y) < 2), "square": (abs(x) < r) & (abs(y) < r)}[kind]
    colour = random.integers(100, 255, 3)
    return np.clip(inside[..., None] * colour + random.integers(0, 60, (SIZE, SIZE, 3)), 0, 255).astype("uint8")


def main():
    tf.keras.utils.set_random_seed(7)
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        for kind in CLASSES:
            os.makedirs(os.path.join(folder, kind))
            for i in range(24):
                tf.io.write_file(os.path.join(folder, kind, "%02d.png" % i), tf.io.encode_png(picture(kind, random)))
        common = dict(validation_split=0.25, seed=11, image_size=(24, 24), batch_size=9)
        train = tf.keras.utils.image_dataset_from_directory(folder, subset="training", **common)
        valid = tf.keras.utils.image_dataset_from_directory(folder, subset="validation", **common)
        names = train.class_names
        train = train.cache().shuffle(100, seed=3).prefetch(tf.data.AUTOTUNE)
        valid = valid.cache().prefetch(tf.data.AUTOTUNE)
        model = tf.keras.Sequential([
            tf.keras.layers.RandomFlip("horizontal", input_shape=(24, 24, 3), seed=1),
            tf.keras.layers.RandomRotation(0.1, seed=2),
            tf.keras.layers.RandomZoom(0.1, seed=3),
            tf.keras.layers.Rescaling(1.0 / 255),
            tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Dropout(0.2, seed=4),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(len(names), name="outputs"),
        ])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
        history = model.fit(train, validation_data=valid, epochs=2, verbose=0)
        image = tf.keras.utils.load_img(os.path.join(folder, "cross", "03.png"), target_size=(24, 24))
        batch = tf.expand_dims(tf.keras.utils.img_to_array(image), 0)
        score = tf.nn.softmax(model.predict(batch, verbose=0)[0])
    return {"names": names, "history": history.history, "score": score.numpy().tolist(), "parameters": model.count_params()}
