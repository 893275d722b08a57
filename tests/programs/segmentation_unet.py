"""Segmentation with a U-Net: intermediate outputs of MobileNetV2 down, transposed convolutions with skips up, a mask per pixel."""
import numpy as np
import tensorflow as tf

SIZE = 64


def upsample(filters):
    return tf.keras.Sequential([
        tf.keras.layers.Conv2DTranspose(filters, 3, strides=2, padding="same", kernel_initializer=tf.random_normal_initializer(0.0, 0.02), use_bias=False),
        tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.5), tf.keras.layers.ReLU()])


class Augment(tf.keras.layers.Layer):
    def __init__(self, seed=42):
        super().__init__()
        self.augment_inputs = tf.keras.layers.RandomFlip(mode="horizontal", seed=seed)
        self.augment_labels = tf.keras.layers.RandomFlip(mode="horizontal", seed=seed)

    def call(self, inputs, labels):
        return self.augment_inputs(inputs), self.augment_labels(labels)


def unet(channels):
    base = tf.keras.applications.MobileNetV2(input_shape=[SIZE, SIZE, 3], include_top=False, weights=None, alpha=0.35)
    names = ["block_1_expand_relu", "block_3_expand_relu", "block_6_expand_relu", "block_13_expand_relu"]
    down = tf.keras.Model(inputs=base.input, outputs=[base.get_layer(name).output for name in names])
    inputs = tf.keras.layers.Input(shape=[SIZE, SIZE, 3])
    skips = down(inputs)
    x = skips[-1]
    for filters, skip in zip((16, 8, 8), reversed(skips[:-1])):
        x = tf.keras.layers.Concatenate()([upsample(filters)(x), skip])
    last = tf.keras.layers.Conv2DTranspose(filters=channels, kernel_size=3, strides=2, padding="same")
    return tf.keras.Model(inputs=inputs, outputs=last(x))


def main():
    tf.keras.utils.set_random_seed(81)
    random = np.random.default_rng(81)
    y, x = np.mgrid[:SIZE, :SIZE]
    centres, sizes = random.integers(20, 44, (12, 2, 1, 1)), random.integers(6, 18, (12, 1, 1))
    masks = ((abs(x - centres[:, 0]) < sizes) & (abs(y - centres[:, 1]) < sizes)).astype("int64") + (y > 40)
    images = (masks[..., None] * 0.4 + random.uniform(0, 0.2, (12, SIZE, SIZE, 3))).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((images, masks[..., None].astype("float32"))).batch(4).map(Augment()).prefetch(tf.data.AUTOTUNE)
    model = unet(3)
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    history = model.fit(data, epochs=2, verbose=0)
    weighted = data.map(lambda image, label: (image, label, tf.gather(tf.constant([0.2, 0.4, 0.4]), tf.cast(label, tf.int32))))
    history_weighted = model.fit(weighted, epochs=1, verbose=0)
    iou = tf.keras.metrics.MeanIoU(num_classes=3)
    iou.update_state(masks, tf.argmax(model.predict(images, verbose=0), -1))
    return {"history": history.history, "weighted": history_weighted.history["loss"], "iou": float(iou.result()), "layers": len(model.layers)}
