"""Transfer learning: MobileNetV2 without its top, frozen, a head that is trained; then its last blocks are trained, too."""
import numpy as np
import tensorflow as tf

SIZE = 64


def main():
    tf.keras.utils.set_random_seed(3)
    random = np.random.default_rng(3)
    labels = random.integers(0, 2, 24)
    images = (random.uniform(0, 120, (24, SIZE, SIZE, 3)) + 100 * labels[:, None, None, None]).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(8)
    base = tf.keras.applications.MobileNetV2(input_shape=(SIZE, SIZE, 3), alpha=0.35, include_top=False, weights=None)
    base.trainable = False
    inputs = tf.keras.Input((SIZE, SIZE, 3))
    x = tf.keras.layers.RandomFlip("horizontal", seed=5)(inputs)
    x = tf.keras.applications.mobilenet_v2.preprocess_input(x)
    x = base(x, training=False)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = tf.keras.layers.Dropout(0.2, seed=6)(x)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
    rate = 1e-3
    model.compile(tf.keras.optimizers.Adam(rate), tf.keras.losses.BinaryCrossentropy(from_logits=True), [tf.keras.metrics.BinaryAccuracy(threshold=0)])
    frozen = len(model.trainable_variables)
    before = model.evaluate(data, verbose=0)
    first = model.fit(data, epochs=2, verbose=0)
    base.trainable = True
    for layer in base.layers[:100]:
        layer.trainable = False
    model.compile(tf.keras.optimizers.RMSprop(rate / 10), tf.keras.losses.BinaryCrossentropy(from_logits=True), ["accuracy"])
    second = model.fit(data, epochs=first.epoch[-1] + 2, initial_epoch=first.epoch[-1] + 1, verbose=0)
    return {"layers": len(base.layers), "trainable": [frozen, len(model.trainable_variables)], "before": before, "first": first.history["loss"],
            "second": second.history["loss"], "epochs": second.epoch}
