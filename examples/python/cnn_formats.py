"""A convolutional network with Keras: callbacks watch the training, and the model is saved and loaded in three formats.

    python3 -m thalweg cnn_formats.py DIRECTORY"""
import os
import sys

import numpy as np
import tensorflow as tf

directory = sys.argv[1]


def bars(count):
    """Pictures of one bright row (0) or column (1), and which of the two it is."""
    images = np.zeros((count, 8, 8, 1), np.float32)
    labels = np.arange(count, dtype=np.int32) % 2
    for i in range(count):
        at = i * 5 % 8
        if labels[i]:
            images[i, :, at] = 1
        else:
            images[i, at, :] = 1
    return images, labels


def lowered(epoch, rate):
    return rate * 0.9 if epoch else rate


images, labels = bars(64)
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1)),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(2),
])
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.02),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
history = model.fit(images, labels, epochs=10, batch_size=16, validation_split=0.25, verbose=0, callbacks=[
    tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=2),
    tf.keras.callbacks.LearningRateScheduler(lowered),
    tf.keras.callbacks.ModelCheckpoint(os.path.join(directory, "best.h5"), save_best_only=True),
    tf.keras.callbacks.CSVLogger(os.path.join(directory, "log.csv")),
    tf.keras.callbacks.TensorBoard(os.path.join(directory, "logs")),
])
print("epochs: %d, last rate: %.6f" % (len(history.history["loss"]), history.history["lr"][-1]))
print("accuracy above 0.9: %s" % (history.history["val_accuracy"][-1] > 0.9))
expected = model.predict(images, verbose=0)
for name in ("model.keras", "model.h5", "model"):
    path = os.path.join(directory, name)
    model.save(path)
    loaded = tf.keras.models.load_model(path)
    difference = np.max(np.abs(loaded.predict(images, verbose=0) - expected))
    print("%s: difference %.3f" % (name, difference))
