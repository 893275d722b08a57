"""Audio recognition: WAV files to spectrograms by a short-time Fourier transform, a small convolutional network, an exported module."""
import os
import tempfile

import numpy as np
import tensorflow as tf

RATE, LENGTH = 2000, 1000


def sound(kind, random):
    t = np.arange(LENGTH) / RATE
    pitch = random.uniform(180, 220) * (1 + kind)
    wave = np.sin(2 * np.pi * pitch * t * (1 + 0.2 * t * (kind == 2))) * np.exp(-t * random.uniform(1, 4))
    return (0.5 * wave + random.normal(0, 0.02, LENGTH)).astype("float32")[:, None]


def spectrogram(waveform):
    return tf.abs(tf.signal.stft(waveform, frame_length=64, frame_step=32))[..., tf.newaxis]


class Export(tf.Module):
    def __init__(self, model):
        self.model = model
        self.__call__.get_concrete_function(x=tf.TensorSpec(shape=(), dtype=tf.string))
        self.__call__.get_concrete_function(x=tf.TensorSpec(shape=[None, LENGTH], dtype=tf.float32))

    @tf.function
    def __call__(self, x):
        if x.dtype == tf.string:
            x = tf.io.read_file(x)
            x, _ = tf.audio.decode_wav(x, desired_channels=1, desired_samples=LENGTH)
            x = tf.squeeze(x, axis=-1)[tf.newaxis, :]
        result = self.model(spectrogram(x), training=False)
        return {"predictions": result, "class_ids": tf.argmax(result, axis=-1)}


def main():
    tf.keras.utils.set_random_seed(101)
    random = np.random.default_rng(101)
    with tempfile.TemporaryDirectory() as folder:
        for kind in range(3):
            os.makedirs(os.path.join(folder, "kind%d" % kind))
            for i in range(16):
                tf.io.write_file(os.path.join(folder, "kind%d" % kind, "%02d.wav" % i), tf.audio.encode_wav(sound(kind, random), RATE))
        train, valid = tf.keras.utils.audio_dataset_from_directory(directory=folder, batch_size=8, validation_split=0.25, seed=0,
                                                                   output_sequence_length=LENGTH, subset="both")
        names = train.class_names
        train, valid = (data.map(lambda audio, label: (spectrogram(tf.squeeze(audio, axis=-1)), label)).cache() for data in (train, valid))
        normalize = tf.keras.layers.Normalization()
        normalize.adapt(data=train.map(lambda spec, label: spec))
        model = tf.keras.models.Sequential([
            tf.keras.layers.Input(shape=next(iter(train))[0].shape[1:]), tf.keras.layers.Resizing(24, 24), normalize,
            tf.keras.layers.Conv2D(8, 3, activation="relu"), tf.keras.layers.MaxPooling2D(), tf.keras.layers.Dropout(0.25),
            tf.keras.layers.Flatten(), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
        history = model.fit(train, validation_data=valid, epochs=3, callbacks=tf.keras.callbacks.EarlyStopping(verbose=0, patience=2), verbose=0)
        export = Export(model)
        one = os.path.join(folder, "kind1", "03.wav")
        direct = export(tf.constant(one))
        tf.saved_model.save(export, os.path.join(folder, "saved"))
        loaded = tf.saved_model.load(os.path.join(folder, "saved"))
        again = loaded(tf.squeeze(tf.audio.decode_wav(tf.io.read_file(one))[0], -1)[None])
        labels = np.concatenate([label for _, label in valid])
        confusion = tf.math.confusion_matrix(labels, tf.argmax(model.predict(valid, verbose=0), axis=1))
    return {"names": list(names), "history": history.history, "direct": direct["predictions"].numpy().tolist(),
            "again": again["predictions"].numpy().tolist(), "class": again["class_ids"].numpy().tolist(), "confusion": confusion.numpy().tolist()}
