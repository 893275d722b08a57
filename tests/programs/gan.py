"""A generative adversarial network: transposed convolutions against convolutions, two tapes, two optimizers, a checkpoint of both."""
import os
import tempfile

import numpy as np
import tensorflow as tf

NOISE = 8
layers = tf.keras.layers
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def make_generator():
    return tf.keras.Sequential([
        layers.Dense(4 * 4 * 16, use_bias=False, input_shape=(NOISE,)), layers.BatchNormalization(), layers.LeakyReLU(), layers.Reshape((4, 4, 16)),
        layers.Conv2DTranspose(8, 5, strides=1, padding="same", use_bias=False), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(4, 5, strides=2, padding="same", use_bias=False), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(1, 5, strides=2, padding="same", use_bias=False, activation="tanh"),
    ])


def make_discriminator():
    return tf.keras.Sequential([
        layers.Conv2D(8, 5, strides=2, padding="same", input_shape=[16, 16, 1]), layers.LeakyReLU(), layers.Dropout(0.3),
        layers.Conv2D(16, 5, strides=2, padding="same"), layers.LeakyReLU(), layers.Dropout(0.3), layers.Flatten(), layers.Dense(1),
    ])


def main():
    tf.keras.utils.set_random_seed(51)
    random = np.random.default_rng(51)
    generator, discriminator = make_generator(), make_discriminator()
    optimizers = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(images):
        noise = tf.random.normal([tf.shape(images)[0], NOISE])
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            made = generator(noise, training=True)
            real, fake = discriminator(images, training=True), discriminator(made, training=True)
            gen_loss = cross_entropy(tf.ones_like(fake), fake)
            disc_loss = cross_entropy(tf.ones_like(real), real) + cross_entropy(tf.zeros_like(fake), fake)
        for tape, loss, model, optimizer in zip((gen_tape, disc_tape), (gen_loss, disc_loss), (generator, discriminator), optimizers):
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return gen_loss, disc_loss

    y, x = np.mgrid[:16, :16]
    images = np.stack([np.cos((x * np.cos(a) + y * np.sin(a)) / 2) for a in random.uniform(0, 3, 48)])[..., None].astype("float32")
    data = tf.data.Dataset.from_tensor_slices(images).shuffle(48, seed=1).batch(16)
    losses = [[float(v) for v in train_step(batch)] for _ in range(3) for batch in data]
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(generator_optimizer=optimizers[0], discriminator_optimizer=optimizers[1], generator=generator,
                                         discriminator=discriminator)
        path = checkpoint.save(os.path.join(folder, "ckpt"))
        before = generator(tf.ones([1, NOISE]), training=False)
        generator.set_weights([w * 0 for w in generator.get_weights()])
        checkpoint.restore(path).assert_consumed()
        same = bool(tf.reduce_all(generator(tf.ones([1, NOISE]), training=False) == before))
    return {"losses": losses, "same": same, "mean": float(tf.reduce_mean(before)), "shape": list(before.shape)}
