"""fit, evaluate and predict in the replicas of a strategy; run by test_distribute.py for 1, 2 and 3 logical processors, and by
tests/golden/distribute_fit.py under TensorFlow."""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses, metrics, models

count = int(sys.argv[1])
folder = sys.argv[2]
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * count)
strategy = tf.distribute.MirroredStrategy(["CPU:%d" % i for i in range(count)])
tf.keras.utils.set_random_seed(7)
rng = np.random.default_rng(3)
x = rng.normal(size=(50, 6)).astype("float32")
y = rng.integers(0, 3, 50)
pictures = rng.normal(size=(10, 6, 6, 1)).astype("float32")
train = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
test = tf.data.Dataset.from_tensor_slices((x[:20], y[:20])).batch(8)


def tell(history):
    print({name: [round(v, 4) for v in values] for name, values in history.history.items()})


# ---- arrays and datasets, optimizers, rows that are not enough for all replicas
for optimizer in ("Nadam", "sgd", "adam"):
    with strategy.scope():
        model = models.Sequential([layers.Dense(8, activation="relu", input_shape=(6,)), layers.BatchNormalization(),
                                   layers.Dense(3, activation="softmax")])
        model.compile(optimizer, losses.SparseCategoricalCrossentropy(), ["accuracy"])
    tell(model.fit(train, validation_data=test, epochs=3, verbose=0))
    tell(model.fit(x, y, batch_size=20, epochs=2, shuffle=False, verbose=0))
    tell(model.fit(x, y, batch_size=7, validation_split=0.2, verbose=0))
    print([round(v, 4) for v in model.evaluate(x, y, verbose=0)], model.predict(x[:5], verbose=0).round(3).tolist())
    print(model.predict(test, verbose=0).shape, model.optimizer.iterations.numpy())
    print([round(float(v), 4) for v in model.train_on_batch(x[:9], y[:9])], [round(float(v), 4) for v in model.test_on_batch(x[:9], y[:9])])
    print([round(float(np.abs(v.numpy()).sum()), 3) for v in model.variables])

# ---- a model that fit builds
with strategy.scope():
    model = models.Sequential([layers.Dense(8, activation="relu"), layers.Dropout(0.5), layers.Dense(3)])
    model.compile("sgd", losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy", metrics.SparseCategoricalCrossentropy(from_logits=True)])
tell(model.fit(train, verbose=0))
print([len(v.values) for v in model.weights])

# ---- several outputs, weights, regularizers
with strategy.scope():
    given = layers.Input((6,))
    hidden = layers.Dense(4, "relu")(given)
    model = models.Model(given, [layers.Dense(1, name="p")(hidden), layers.Dense(3, name="q", kernel_regularizer="l2")(hidden)])
    model.compile(tf.keras.optimizers.Adam(0.01), {"p": "mse", "q": losses.SparseCategoricalCrossentropy(from_logits=True)},
                  {"p": ["mae"], "q": "accuracy"}, loss_weights={"p": 0.5, "q": 2.0})
tell(model.fit(x, {"p": x[:, :1], "q": y}, sample_weight=np.linspace(0, 1, 50), batch_size=16, epochs=2, shuffle=False, verbose=0))


# ---- what subclasses do themselves
class OwnStep(models.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.mean = layers.Dense(3), metrics.Mean(name="own")

    def call(self, inputs, training=False):
        return self.dense(inputs)

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(labels, self(features, training=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        self.mean.update_state(loss)
        return {"own": self.mean.result(), "rows": tf.cast(tf.shape(features)[0], tf.float32)}


class OwnMetric(metrics.Metric):
    def __init__(self):
        super().__init__(name="mine")
        self.total, self.rows = self.add_weight(name="t", initializer="zeros"), self.add_weight(name="c", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(y_pred))
        self.rows.assign_add(tf.cast(tf.shape(y_pred)[0], tf.float32))

    def result(self):
        return self.total / self.rows


class Failing(OwnStep):
    def train_step(self, data):
        raise KeyError("no")


class Meeting(OwnStep):
    def call(self, inputs, training=False):
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync == strategy.num_replicas_in_sync:
            inputs += context.all_reduce("sum", tf.reduce_mean(inputs))
            inputs += context.merge_call(lambda own, value: own.reduce("SUM", value, axis=None), args=(tf.reduce_sum(inputs),))
        return self.dense(inputs)

    train_step = models.Model.train_step


with strategy.scope():
    model = OwnStep()
    model.compile("sgd", losses.SparseCategoricalCrossentropy(from_logits=True))
tell(model.fit(train, epochs=2, verbose=0))
with strategy.scope():
    model = models.Sequential([layers.Conv2D(3, 3), layers.BatchNormalization(), layers.GlobalMaxPool2D(), layers.Dense(3)])
    model.compile("rmsprop", losses.SparseCategoricalCrossentropy(from_logits=True), [OwnMetric()])
tell(model.fit(pictures, y[:10], epochs=2, batch_size=9, shuffle=False, verbose=0))
with strategy.scope():
    model = Failing()
    model.compile("sgd", "mse")
try:
    model.fit(x, x[:, :3], verbose=0)
except KeyError as error:
    print("KeyError", str(error)[:6])
with strategy.scope():
    model = Meeting()
    model.compile("sgd", "mse")
tell(model.fit(x[:8], x[:8, :3], epochs=2, shuffle=False, verbose=0))

# ---- without tracing; files
with strategy.scope():
    model = models.Sequential([layers.Dense(3), layers.Dense(1, "sigmoid")])
    model.compile(tf.keras.optimizers.Adam(0.01), "binary_crossentropy", ["AUC", "accuracy"], run_eagerly=True)
    tell(model.fit(x, y[:, None] > 0, epochs=2, shuffle=False, verbose=0))
model.save(folder + "/model.h5")
for scope in (strategy.scope, lambda: tf.name_scope("none")):
    with scope():
        loaded = models.load_model(folder + "/model.h5")
    print([round(v, 4) for v in loaded.evaluate(x, y[:, None] > 0, verbose=0)])
    tell(loaded.fit(x, y[:, None] > 0, shuffle=False, verbose=0))
