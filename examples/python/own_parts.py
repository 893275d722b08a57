"""Keras with parts of the program's own: a layer, an initializer, a regularizer, a constraint, a loss, a metric, a schedule and a training step."""
import numpy as np
import tensorflow as tf


class Scale(tf.keras.layers.Layer):
    """x * factor + offset, for each feature."""

    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=(input_shape[-1],), initializer=Ramp(),
                                      regularizer=small, constraint=bounded)
        self.offset = self.add_weight(name="offset", shape=(input_shape[-1],), initializer="zeros")

    def call(self, inputs):
        return inputs * self.factor + self.offset


class Ramp(tf.keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **kwargs):
        return tf.range(1, shape[0] + 1, dtype=tf.float32) / 10.0


def small(weight):
    return 0.001 * tf.reduce_sum(tf.square(weight))


def bounded(weight):
    return tf.clip_by_value(weight, -3.0, 3.0)


class SquaredLog(tf.keras.losses.Loss):
    """The mean of log(1 + (y_true - y_pred)^2)."""

    def call(self, y_true, y_pred):
        return tf.reduce_mean(tf.math.log1p(tf.square(y_true - y_pred)), axis=-1)


class Largest(tf.keras.metrics.Metric):
    """The largest error so far."""

    def __init__(self):
        super().__init__(name="largest")
        self.value = self.add_weight(name="value", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        error = tf.reduce_max(tf.abs(y_true - y_pred))
        self.value.assign(tf.maximum(self.value, error))

    def result(self):
        return self.value


class Warming(tf.keras.optimizers.schedules.LearningRateSchedule):
    """Rises to 0.2 in ten steps."""

    def __call__(self, step):
        return 0.02 * tf.minimum(tf.cast(step, tf.float32) + 1.0, 10.0)


class Halving(tf.keras.Model):
    """Two outputs, x and x / 2 of the scaled input, and a training step of its own."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.largest = Largest()

    def call(self, inputs):
        scaled = self.scale(inputs)
        return scaled, scaled / 2.0

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            whole, half = self(x, training=True)
            loss = loss_of(y, whole) + loss_of(y / 2.0, half) + tf.add_n(self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.largest.update_state(y, whole)
        return {"loss": loss, "largest": self.largest.result()}

    @property
    def metrics(self):
        return [self.largest]


loss_of = SquaredLog()
x = np.arange(60, dtype=np.float32).reshape(20, 3) % 7 - 3
y = x * np.float32([2, -1, 4]) + 1
model = Halving()
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=Warming()))
history = model.fit(x, y, epochs=60, batch_size=20, verbose=0)
print("loss %.3f, then %.3f" % (history.history["loss"][0], history.history["loss"][-1]))
print("largest error %.3f" % history.history["largest"][-1])
print("factors:", " ".join("%.2f" % value for value in model.scale.factor.numpy()))
print("offsets:", " ".join("%.2f" % value for value in model.scale.offset.numpy()))

plain = tf.keras.Sequential([Scale()])
plain.compile(optimizer="sgd", loss=SquaredLog(), metrics=[Largest()])
loss, largest = plain.evaluate(x, y, verbose=0)
print("at first: loss %.3f, largest error %.3f" % (loss, largest))
