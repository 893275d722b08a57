"""A small transformer: multi-head attention with causal and padding masks, a schedule of its own, dropout, greedy decoding."""
import numpy as np
import tensorflow as tf

WORDS, LENGTH, DEPTH = 12, 7, 16


def positions(length, depth):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(depth // 2)[None, :] / (depth / 2))
    return tf.constant(np.concatenate([np.sin(angles), np.cos(angles)], -1), tf.float32)


class Embedding(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(WORDS, DEPTH, mask_zero=True)
        self.places = positions(64, DEPTH)

    def compute_mask(self, *args, **kwargs):
        return self.embedding.compute_mask(*args, **kwargs)

    def call(self, x):
        length = tf.shape(x)[1]
        return self.embedding(x) * tf.math.sqrt(tf.cast(DEPTH, tf.float32)) + self.places[tf.newaxis, :length, :]


class Attending(tf.keras.layers.Layer):
    def __init__(self, causal=False, **kwargs):
        super().__init__()
        self.causal = causal
        self.attention = tf.keras.layers.MultiHeadAttention(**kwargs)
        self.norm, self.add = tf.keras.layers.LayerNormalization(), tf.keras.layers.Add()

    def call(self, x, context=None):
        context = x if context is None else context
        return self.norm(self.add([x, self.attention(query=x, key=context, value=context, use_causal_mask=self.causal)]))


class Feeding(tf.keras.layers.Layer):
    def __init__(self, rate):
        super().__init__()
        self.steps = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(DEPTH), tf.keras.layers.Dropout(rate)])
        self.add, self.norm = tf.keras.layers.Add(), tf.keras.layers.LayerNormalization()

    def call(self, x):
        return self.norm(self.add([x, self.steps(x)]))


class Transformer(tf.keras.Model):
    def __init__(self, rate=0.1):
        super().__init__()
        settings = dict(num_heads=2, key_dim=DEPTH // 2, dropout=rate)
        self.source, self.target = Embedding(), Embedding()
        self.encoder = [Attending(**settings), Feeding(rate)]
        self.decoder = [Attending(causal=True, **settings), Attending(**settings), Feeding(rate)]
        self.final = tf.keras.layers.Dense(WORDS)

    def call(self, inputs):
        context, x = inputs
        context, x = self.source(context), self.target(x)
        for layer in self.encoder:
            context = layer(context)
        x = self.decoder[2](self.decoder[1](self.decoder[0](x), context))
        logits = self.final(x)
        try:
            del logits._keras_mask
        except AttributeError:
            pass
        return logits


class Schedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, depth, warmup=40):
        super().__init__()
        self.depth, self.warmup = tf.cast(depth, tf.float32), warmup

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return tf.math.rsqrt(self.depth) * tf.math.minimum(tf.math.rsqrt(step), step * self.warmup ** -1.5)


def masked_loss(label, pred):
    mask = label != 0
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(label, pred)
    mask = tf.cast(mask, dtype=loss.dtype)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)


def main():
    tf.keras.utils.set_random_seed(41)
    random = np.random.default_rng(41)
    lengths = random.integers(3, LENGTH + 1, 160)
    x = random.integers(3, WORDS, (160, LENGTH)) * (np.arange(LENGTH) < lengths[:, None])
    y = np.stack([np.concatenate([[1], row[row > 0][::-1], [2], np.zeros(LENGTH - (row > 0).sum(), int)]) for row in x])
    model = Transformer()
    model.compile(loss=masked_loss, optimizer=tf.keras.optimizers.Adam(Schedule(DEPTH), beta_1=0.9, beta_2=0.98, epsilon=1e-9))
    data = tf.data.Dataset.from_tensor_slices(((x, y[:, :-1]), y[:, 1:])).batch(16)
    history = model.fit(data, epochs=3, verbose=0)
    start, out = x[:2], tf.ones([2, 1], tf.int64)
    for _ in range(4):
        out = tf.concat([out, tf.argmax(model([start, out], training=False)[:, -1:], -1)], 1)
    return {"losses": history.history["loss"], "evaluated": model.evaluate(data, verbose=0), "decoded": out.numpy().tolist(),
            "parameters": model.count_params()}
