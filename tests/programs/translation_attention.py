"""Translation with attention: an encoder and a decoder with additive attention, teacher forcing, masked losses, a greedy translator."""
import numpy as np
import tensorflow as tf

WORDS = ["one", "two", "three", "four", "five"]
OTHER = {"one": "uno", "two": "dos", "three": "tres", "four": "cuatro", "five": "cinco"}


class Encoder(tf.keras.layers.Layer):
    def __init__(self, words, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(words, units, mask_zero=True)
        self.gru = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(units, return_sequences=True), merge_mode="sum")

    def call(self, x):
        return self.gru(self.embedding(x))


class Attention(tf.keras.layers.Layer):
    """Additive attention with weights of its own."""

    def __init__(self, units):
        super().__init__()
        self.query, self.key, self.score = (tf.keras.layers.Dense(n, use_bias=False) for n in (units, units, 1))

    def call(self, query, values, mask):
        scores = self.score(tf.nn.tanh(self.query(query)[:, :, None, :] + self.key(values)[:, None, :, :]))[..., 0]
        weights = tf.nn.softmax(tf.where(mask[:, None, :], scores, -1e9), axis=-1)
        return weights @ values


class Decoder(tf.keras.layers.Layer):
    def __init__(self, words, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(words, units, mask_zero=True)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.attention = Attention(units)
        self.norm = tf.keras.layers.LayerNormalization()
        self.out = tf.keras.layers.Dense(words)

    def call(self, x, context, mask, state=None):
        x, state = self.gru(self.embedding(x), initial_state=state)
        return self.out(self.norm(x + self.attention(x, context, mask))), state


class Translator(tf.keras.Model):
    def __init__(self, source, target, units=24):
        super().__init__()
        self.source, self.target = source, target
        self.encoder = Encoder(source.vocabulary_size(), units)
        self.decoder = Decoder(target.vocabulary_size(), units)

    def call(self, inputs):
        context, x = inputs
        logits, _ = self.decoder(x, self.encoder(context), context != 0)
        return logits

    @tf.function
    def translate(self, texts, length=6):
        ids = self.source(texts)
        context, mask = self.encoder(ids), ids != 0
        words = self.target(tf.constant(["[START]", "[END]"]))[:, 0]
        last = tf.fill([tf.shape(ids)[0], 1], words[0])
        logits, state = self.decoder(last, context, mask)
        found = tf.TensorArray(tf.int64, size=length)
        done = tf.zeros([tf.shape(ids)[0]], tf.bool)
        for i in tf.range(length):
            token = tf.where(done, tf.zeros([], tf.int64), tf.argmax(logits[:, -1], -1))
            found = found.write(i, token)
            done = done | (token == words[1])
            logits, state = self.decoder(token[:, None], context, mask, state)
        return tf.transpose(found.stack())


def masked_loss(labels, logits):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(labels, logits)
    mask = tf.cast(labels != 0, loss.dtype)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)


def masked_accuracy(labels, logits):
    match = tf.cast(tf.argmax(logits, axis=-1) == tf.cast(labels, tf.int64), tf.float32)
    mask = tf.cast(labels != 0, tf.float32)
    return tf.reduce_sum(match * mask) / tf.reduce_sum(mask)


def main():
    tf.keras.utils.set_random_seed(31)
    random = np.random.default_rng(31)
    lines = [" ".join(random.choice(WORDS, random.integers(2, 5))) for _ in range(160)]
    others = [" ".join(["[START]"] + [OTHER[w] for w in reversed(line.split())] + ["[END]"]) for line in lines]

    def layer(texts):
        made = tf.keras.layers.TextVectorization(standardize=None, ragged=True)
        made.adapt(tf.constant(texts))
        return made

    source, target = layer(lines), layer(others)

    def prepare(a, b):
        x, y = source(a).to_tensor(), target(b)
        return (x, y[:, :-1].to_tensor()), y[:, 1:].to_tensor()

    data = tf.data.Dataset.from_tensor_slices((lines, others)).shuffle(160, seed=4).batch(16).map(prepare).prefetch(2)
    source_dense = tf.keras.layers.TextVectorization(standardize=None, vocabulary=source.get_vocabulary())
    target_dense = tf.keras.layers.TextVectorization(standardize=None, vocabulary=target.get_vocabulary())
    model = Translator(source_dense, target_dense)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=masked_loss, metrics=[masked_loss, masked_accuracy])
    history = model.fit(data, epochs=3, verbose=0)
    found = model.translate(tf.constant(["one two", "five four three"]))
    return {"history": history.history, "words": target.get_vocabulary(), "found": found.numpy().tolist(),
            "variables": len(model.trainable_variables)}
