"""Text generation: a recurrent network over characters, its state carried by the caller, a model of one step in tf.function."""
import numpy as np
import tensorflow as tf

TEXT = "the river runs to the sea, the sea rises to the rain, the rain falls on the hill, and the hill feeds the river again. " * 12


class Generator(tf.keras.Model):
    def __init__(self, words, width, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(words, width)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(words)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        if states is None:
            states = self.gru.get_initial_state(x)
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


class OneStep(tf.keras.Model):
    def __init__(self, model, chars_from_ids, ids_from_chars, temperature=1.0):
        super().__init__()
        self.temperature, self.model = temperature, model
        self.chars_from_ids, self.ids_from_chars = chars_from_ids, ids_from_chars
        skip = self.ids_from_chars(["[UNK]"])[:, None]
        sparse = tf.SparseTensor(values=[-float("inf")] * len(skip), indices=skip, dense_shape=[len(ids_from_chars.get_vocabulary())])
        self.mask = tf.sparse.to_dense(sparse)

    @tf.function
    def generate_one_step(self, inputs, states=None):
        ids = self.ids_from_chars(tf.strings.unicode_split(inputs, "UTF-8")).to_tensor()
        logits, states = self.model(inputs=ids, states=states, return_state=True)
        logits = logits[:, -1, :] / self.temperature + self.mask
        ids = tf.squeeze(tf.random.categorical(logits, num_samples=1), axis=-1)
        return self.chars_from_ids(ids), states


def main():
    tf.keras.utils.set_random_seed(17)
    vocabulary = sorted(set(TEXT))
    ids_from_chars = tf.keras.layers.StringLookup(vocabulary=vocabulary, mask_token=None)
    chars_from_ids = tf.keras.layers.StringLookup(vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None)
    ids = ids_from_chars(tf.strings.unicode_split(TEXT, "UTF-8"))
    data = tf.data.Dataset.from_tensor_slices(ids).batch(21, drop_remainder=True).map(lambda s: (s[:-1], s[1:]))
    data = data.shuffle(100, seed=1).batch(8, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    model = Generator(len(ids_from_chars.get_vocabulary()), 16, 32)
    model.compile(optimizer="adam", loss=tf.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(data, epochs=3, verbose=0)
    one = OneStep(model, chars_from_ids, ids_from_chars)
    states, char, made = None, tf.constant(["the ", "a"]), []
    for _ in range(12):
        char, states = one.generate_one_step(char, states=states)
        made.append(char)
    text = tf.strings.join(made)
    sampled = tf.random.categorical(model(next(iter(data.take(1)))[0])[0], num_samples=1)
    return {"losses": history.history["loss"], "length": tf.strings.length(text).numpy().tolist(), "sampled": list(sampled.shape),
            "state": float(tf.reduce_sum(states)) if np.isfinite(history.history["loss"][0]) else None, "perplexity": float(tf.exp(history.history["loss"][-1]))}
