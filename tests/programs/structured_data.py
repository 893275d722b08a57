"""Structured data with lookups: numbers are normalized, words and numbers looked up, one input per column; saved and loaded."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def table(random, rows=160):
    age = random.integers(1, 20, rows)
    fee = random.uniform(0, 300, rows).astype("float32")
    kind = random.choice(["cat", "dog", "hare"], rows)
    colour = random.choice(["black", "white", "brown", "grey"], rows)
    target = ((kind == "dog") * 1.0 + (age < 6) * 1.0 - fee / 200 + random.normal(0, 0.3, rows) > 0.3).astype("int64")
    return {"age": age.astype("int64"), "fee": fee, "kind": kind, "colour": colour}, target


def dataset(columns, target, shuffle):
    data = tf.data.Dataset.from_tensor_slices((dict(columns), target))
    return (data.shuffle(len(target), seed=2) if shuffle else data).batch(32).prefetch(tf.data.AUTOTUNE)


def main():
    tf.keras.utils.set_random_seed(5)
    random = np.random.default_rng(5)
    columns, target = table(random)
    data = dataset(columns, target, True)
    inputs, encoded = [], []
    column = tf.keras.Input(shape=(1,), name="fee")
    normalize = tf.keras.layers.Normalization(axis=None)
    normalize.adapt(data.map(lambda x, y: x["fee"]))
    inputs.append(column)
    encoded.append(normalize(column))
    column = tf.keras.Input(shape=(1,), name="age", dtype="int64")
    index = tf.keras.layers.IntegerLookup(max_tokens=8)
    index.adapt(data.map(lambda x, y: x["age"]))
    inputs.append(column)
    encoded.append(tf.keras.layers.CategoryEncoding(num_tokens=index.vocabulary_size())(index(column)))
    for name in ("kind", "colour"):
        column = tf.keras.Input(shape=(1,), name=name, dtype="string")
        index = tf.keras.layers.StringLookup(output_mode="one_hot")
        index.adapt(data.map(lambda x, y, name=name: x[name]))
        inputs.append(column)
        encoded.append(index(column))
    x = tf.keras.layers.concatenate(encoded)
    x = tf.keras.layers.Dense(16, activation="relu")(x)
    x = tf.keras.layers.Dropout(0.3)(x)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), ["accuracy"])
    history = model.fit(data, epochs=4, verbose=0)
    sample = {"age": tf.constant([[3]]), "fee": tf.constant([[100.0]]), "kind": tf.constant([["dog"]]), "colour": tf.constant([["green"]])}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pets.keras")
        model.save(path)
        again = tf.keras.models.load_model(path)
    return {"history": history.history, "evaluated": model.evaluate(dataset(columns, target, False), verbose=0),
            "answer": tf.nn.sigmoid(model.predict(sample, verbose=0)).numpy().tolist(),
            "loaded": tf.nn.sigmoid(again.predict(sample, verbose=0)).numpy().tolist()}
