"""Text classification from raw strings: a vocabulary that is learnt, embeddings, and a model that takes strings in the end."""
import re
import string

import numpy as np
import tensorflow as tf

GOOD = "lovely bright clever moving fresh charming".split()
BAD = "dull weak noisy slow clumsy stale".split()
FILLERS = "the film was and its story actors seemed really rather a bit ending music".split()


def review(good, random):
    words = list(random.choice(FILLERS, 12))
    for _ in range(4):
        words[random.integers(0, 12)] = random.choice(GOOD if good else BAD)
    return " ".join(words) + random.choice(["!", ".<br />", "..."])


def main():
    tf.keras.utils.set_random_seed(13)
    random = np.random.default_rng(13)
    labels = random.integers(0, 2, 200)
    texts = [review(label, random).capitalize() for label in labels]
    raw = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(20)
    train, valid = raw.take(8), raw.skip(8)

    def standardize(text):
        plain = tf.strings.regex_replace(tf.strings.lower(text), "<br />", " ")
        return tf.strings.regex_replace(plain, "[%s]" % re.escape(string.punctuation), "")

    vectorize = tf.keras.layers.TextVectorization(standardize=standardize, max_tokens=24, output_mode="int", output_sequence_length=14)
    vectorize.adapt(train.map(lambda text, label: text))
    words = vectorize.get_vocabulary()

    def prepared(data):
        return data.map(lambda text, label: (vectorize(tf.expand_dims(text, -1)), label), num_parallel_calls=tf.data.AUTOTUNE).cache().prefetch(2)

    model = tf.keras.Sequential([
        tf.keras.layers.Embedding(24 + 1, 16),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(1),
    ])
    model.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), optimizer="adam", metrics=tf.metrics.BinaryAccuracy(threshold=0.0))
    history = model.fit(prepared(train), validation_data=prepared(valid), epochs=4, verbose=0)
    whole = tf.keras.Sequential([vectorize, model, tf.keras.layers.Activation("sigmoid")])
    whole.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=False), optimizer="adam", metrics=["accuracy"])
    loss, accuracy = whole.evaluate(raw, verbose=0)
    answers = whole.predict(tf.constant(["The film was lovely, fresh!", "A dull and stale story.", ""]), verbose=0)
    return {"words": words, "history": history.history, "whole": [loss, accuracy], "answers": answers.tolist()}
