"""Parts of an object detector: anchors, overlaps, encoded boxes, focal and smooth losses, a feature pyramid, suppression of overlaps."""
import numpy as np
import tensorflow as tf


def to_corners(boxes):
    return tf.concat([boxes[..., :2] - boxes[..., 2:] / 2.0, boxes[..., :2] + boxes[..., 2:] / 2.0], axis=-1)


def overlaps(a, b):
    """Intersection over union of every box of one list with every box of another."""
    low = tf.maximum(to_corners(a)[:, None, :2], to_corners(b)[:, :2])
    high = tf.minimum(to_corners(a)[:, None, 2:], to_corners(b)[:, 2:])
    common = tf.reduce_prod(tf.maximum(0.0, high - low), -1)
    areas = tf.reduce_prod(a[:, 2:], -1)[:, None] + tf.reduce_prod(b[:, 2:], -1)
    return tf.clip_by_value(common / tf.maximum(areas - common, 1e-8), 0.0, 1.0)


def anchors(size, stride, scales):
    centres = (tf.range(size // stride, dtype=tf.float32) + 0.5) * stride
    grid = tf.stack(tf.meshgrid(centres, centres), -1)[:, :, None]
    sides = tf.reshape(tf.stack([tf.stack([s * r, s / r]) for s in scales for r in (0.7, 1.0, 1.4)]), [1, 1, -1, 2])
    shape = [grid.shape[0], grid.shape[1], sides.shape[2], 2]
    return tf.reshape(tf.concat([tf.broadcast_to(grid, shape), tf.broadcast_to(sides, shape)], -1), [-1, 4])


class FocalLoss(tf.losses.Loss):
    def __init__(self, alpha=0.25, gamma=2.0):
        super().__init__(reduction="none", name="FocalLoss")
        self._alpha, self._gamma = alpha, gamma

    def call(self, y_true, y_pred):
        entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        probs = tf.nn.sigmoid(y_pred)
        alpha = tf.where(tf.equal(y_true, 1.0), self._alpha, 1.0 - self._alpha)
        pt = tf.where(tf.equal(y_true, 1.0), probs, 1 - probs)
        return tf.reduce_sum(alpha * tf.pow(1.0 - pt, self._gamma) * entropy, axis=-1)


class BoxLoss(tf.losses.Loss):
    def __init__(self, delta=1.0):
        super().__init__(reduction="none", name="BoxLoss")
        self._delta = delta

    def call(self, y_true, y_pred):
        difference = y_true - y_pred
        absolute = tf.abs(difference)
        return tf.reduce_sum(tf.where(tf.less(absolute, self._delta), 0.5 * difference ** 2, absolute - 0.5), axis=-1)


def encode(places, boxes, classes):
    found = overlaps(places, boxes)
    best, match = tf.reduce_max(found, 1), tf.argmax(found, 1)
    positive, ignore = best >= 0.5, (best >= 0.4) & (best < 0.5)
    target = tf.gather(boxes, match)
    offsets = tf.concat([(target[:, :2] - places[:, :2]) / places[:, 2:], tf.math.log(target[:, 2:] / places[:, 2:])], -1)
    label = tf.where(positive, tf.cast(tf.gather(classes, match), tf.float32), -1.0)
    return tf.concat([offsets, tf.where(ignore, -2.0, label)[:, None]], -1)


def main():
    tf.keras.utils.set_random_seed(91)
    random = np.random.default_rng(91)
    places = anchors(64, 8, (12.0, 20.0))
    boxes = [tf.constant(np.concatenate([random.uniform(15, 50, (3, 2)), random.uniform(10, 24, (3, 2))], 1), tf.float32) for _ in range(6)]
    kinds = [random.integers(0, 2, 3) for _ in boxes]
    labels = tf.stack([encode(places, b, c) for b, c in zip(boxes, kinds)])
    images = tf.stack([tf.image.draw_bounding_boxes(tf.zeros([1, 64, 64, 3]), to_corners(b)[None, :, ::1] / 64.0, tf.constant([[1.0, 0.5, 0.2]]))[0]
                       for b in boxes])
    inputs = tf.keras.Input((64, 64, 3))
    features = tf.keras.layers.Conv2D(16, 3, 4, "same", activation="relu")(inputs)
    c4 = tf.keras.layers.Conv2D(16, 3, 2, "same", activation="relu")(features)
    c5 = tf.keras.layers.Conv2D(16, 3, 2, "same", activation="relu")(c4)
    merged = tf.keras.layers.Conv2D(16, 1)(c4) + tf.keras.layers.UpSampling2D(2)(c5)
    prior = tf.constant_initializer(-np.log((1 - 0.01) / 0.01))
    box_head = tf.keras.layers.Reshape((-1, 4))(tf.keras.layers.Conv2D(6 * 4, 3, padding="same")(merged))
    kind_head = tf.keras.layers.Reshape((-1, 2))(tf.keras.layers.Conv2D(6 * 2, 3, padding="same", bias_initializer=prior)(merged))
    model = tf.keras.Model(inputs, tf.keras.layers.Concatenate()([box_head, kind_head]))
    focal, smooth = FocalLoss(), BoxLoss()

    def loss(y_true, y_pred):
        positive = tf.cast(tf.greater(y_true[:, :, 4], -1.0), tf.float32)
        ignore = tf.cast(tf.equal(y_true[:, :, 4], -2.0), tf.float32)
        kind = focal(tf.one_hot(tf.cast(y_true[:, :, 4], tf.int32), depth=2), y_pred[:, :, 4:])
        kind = tf.where(tf.equal(ignore, 1.0), 0.0, kind)
        place = tf.where(tf.equal(positive, 1.0), smooth(y_true[:, :, :4], y_pred[:, :, :4]), 0.0)
        count = tf.reduce_sum(positive, axis=-1)
        return tf.math.divide_no_nan(tf.reduce_sum(kind, axis=-1), count) + tf.math.divide_no_nan(tf.reduce_sum(place, axis=-1), count)

    model.compile(tf.keras.optimizers.SGD(0.02, momentum=0.9, clipnorm=10.0), loss)
    history = model.fit(images, labels, batch_size=2, epochs=2, verbose=0)
    out = model(images[:2], training=False)
    found = tf.concat([out[..., :2] * places[:, 2:] + places[:, :2], tf.exp(out[..., 2:4]) * places[:, 2:]], -1)
    scores = tf.nn.sigmoid(out[..., 4:])
    kept = tf.image.non_max_suppression(to_corners(found[0]), scores[0, :, 0], max_output_size=10, iou_threshold=0.5)
    combined = tf.image.combined_non_max_suppression(to_corners(found)[:, :, None], scores, 5, 8, 0.5, 0.001, clip_boxes=False)
    return {"anchors": len(places), "positive": int(tf.reduce_sum(tf.cast(labels[..., 4] >= 0, tf.int32))), "losses": history.history["loss"],
            "kept": len(kept), "valid": combined.valid_detections.numpy().tolist(), "scores": combined.nmsed_scores.numpy().tolist(),
            "drawn": float(tf.reduce_sum(images))}
