"""A variational autoencoder: a model with its own train_step, metrics that track three losses, random numbers inside a layer."""
import numpy as np
import tensorflow as tf

layers = tf.keras.layers


class Sampling(layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(shape=tf.shape(mean), seed=12)


class Autoencoder(tf.keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder
        self.total, self.reconstruction, self.kl = (tf.keras.metrics.Mean(name=n) for n in ("total_loss", "reconstruction_loss", "kl_loss"))

    @property
    def metrics(self):
        return [self.total, self.reconstruction, self.kl]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data)
            made = self.decoder(z)
            reconstruction = tf.reduce_mean(tf.reduce_sum(tf.keras.losses.binary_crossentropy(data, made), axis=(1, 2)))
            kl = tf.reduce_mean(tf.reduce_sum(-0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var)), axis=1))
            total = reconstruction + kl
        self.optimizer.apply_gradients(zip(tape.gradient(total, self.trainable_weights), self.trainable_weights))
        for metric, value in zip(self.metrics, (total, reconstruction, kl)):
            metric.update_state(value)
        return {m.name: m.result() for m in self.metrics}


def main():
    tf.keras.utils.set_random_seed(61)
    random = np.random.default_rng(61)
    inputs = tf.keras.Input(shape=(12, 12, 1))
    x = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")(inputs)
    x = layers.Conv2D(16, 3, activation="relu", strides=2, padding="same")(x)
    x = layers.Dense(8, activation="relu")(layers.Flatten()(x))
    mean, log_var = layers.Dense(2, name="z_mean")(x), layers.Dense(2, name="z_log_var")(x)
    encoder = tf.keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])], name="encoder")
    latent = tf.keras.Input(shape=(2,))
    x = layers.Reshape((3, 3, 16))(layers.Dense(3 * 3 * 16, activation="relu")(latent))
    x = layers.Conv2DTranspose(16, 3, activation="relu", strides=2, padding="same")(x)
    x = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")(x)
    decoder = tf.keras.Model(latent, layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")(x), name="decoder")
    y, x = np.mgrid[:12, :12]
    centres = random.uniform(3, 9, (64, 2, 1, 1))
    images = np.exp(-((x - centres[:, 0]) ** 2 + (y - centres[:, 1]) ** 2) / 6)[..., None].astype("float32")
    vae = Autoencoder(encoder, decoder)
    vae.compile(optimizer=tf.keras.optimizers.Adam(0.01))
    history = vae.fit(images, epochs=3, batch_size=16, verbose=0)
    return {"history": history.history, "mean": encoder.predict(images[:2], verbose=0)[0].tolist(),
            "decoded": float(decoder.predict(np.zeros((1, 2)), verbose=0).sum())}
