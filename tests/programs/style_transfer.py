"""Style transfer: features of VGG19's inner layers, Gram matrices, an image that is a variable, total variation."""
import numpy as np
import tensorflow as tf

CONTENT, STYLES = ["block2_conv2"], ["block1_conv1", "block2_conv1"]


def gram(features):
    product = tf.linalg.einsum("bijc,bijd->bcd", features, features)
    shape = tf.shape(features)
    return product / tf.cast(shape[1] * shape[2], tf.float32)


class Extractor(tf.keras.models.Model):
    def __init__(self):
        super().__init__()
        vgg = tf.keras.applications.VGG19(include_top=False, weights=None, input_shape=(32, 32, 3))
        vgg.trainable = False
        self.vgg = tf.keras.Model([vgg.input], [vgg.get_layer(name).output for name in STYLES + CONTENT])
        self.vgg.trainable = False

    def call(self, inputs):
        outputs = self.vgg(tf.keras.applications.vgg19.preprocess_input(inputs * 255.0))
        return {"style": dict(zip(STYLES, [gram(o) for o in outputs[:len(STYLES)]])), "content": dict(zip(CONTENT, outputs[len(STYLES):]))}


def main():
    tf.keras.utils.set_random_seed(71)
    random = np.random.default_rng(71)
    content = tf.constant(random.uniform(0, 1, (1, 32, 32, 3)), tf.float32)
    style = tf.image.resize(tf.constant(random.uniform(0, 1, (1, 8, 8, 3)), tf.float32), (32, 32))
    extractor = Extractor()
    wanted_style, wanted_content = extractor(style)["style"], extractor(content)["content"]
    image = tf.Variable(content)
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)

    def loss_of(outputs):
        style_loss = tf.add_n([tf.reduce_mean((outputs["style"][n] - wanted_style[n]) ** 2) for n in STYLES]) * 1e-2 / len(STYLES)
        content_loss = tf.add_n([tf.reduce_mean((outputs["content"][n] - wanted_content[n]) ** 2) for n in CONTENT]) * 1e2 / len(CONTENT)
        return style_loss + content_loss

    @tf.function()
    def train_step(image):
        with tf.GradientTape() as tape:
            loss = loss_of(extractor(image)) + 1e-3 * tf.image.total_variation(image)[0]
        optimizer.apply_gradients([(tape.gradient(loss, image), image)])
        image.assign(tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0))
        return loss

    losses = [float(train_step(image)) for _ in range(4)]
    edges = tf.image.sobel_edges(image)
    return {"losses": losses, "edges": float(tf.reduce_mean(tf.abs(edges))), "shape": list(edges.shape),
            "names": sorted(extractor(image)["style"])}
