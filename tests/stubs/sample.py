"""Common TensorFlow code, for type checkers: no line of it may be called wrong (tests/python/test_stubs.py). Programs like it run in the other tests."""
from typing import Any, Iterator

import numpy as np
import thalweg as tf
from thalweg import keras
from thalweg.keras import layers
from thalweg.keras.models import Model, Sequential


# ---- tensors ----

a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
b = tf.constant(np.ones((2, 2), np.float32), dtype=tf.float32, shape=(2, 2))
c = tf.convert_to_tensor([1, 2, 3], dtype="int32")
d = a @ b + 2.0 * a - b / 3 ** 2
e = a[0], a[:, 1], a[..., tf.newaxis], a[0, ::2]
f = -a
g = (a > b) | (a <= 1.0)
h: tf.Tensor = tf.cast(c, tf.float32)
shape: list[Any] = a.shape.as_list()
rows, columns = a.shape
rank = a.shape.rank
number = float(a[0, 0]) + int(c[0])
array = a.numpy().sum()
for row in a:
    print(row.dtype.name, row.shape)
print(tf.shape(a)[0], tf.rank(a), tf.size(a), a.ndim, a.device)
zeros = tf.zeros([2, 3]), tf.ones((2,), tf.int64), tf.zeros_like(a), tf.ones_like(a, dtype=tf.float16), tf.fill([2, 2], 7), tf.eye(3), tf.range(10), tf.range(1, 10, 2)
joined = tf.concat([a, b], axis=0), tf.stack([a, b]), tf.unstack(a), tf.split(a, 2, axis=1), tf.tile(a, [2, 1]), tf.pad(a, [[1, 1], [0, 0]])
reduced = tf.reduce_sum(a), tf.reduce_mean(a, axis=1, keepdims=True), tf.reduce_max(a, [0, 1]), tf.argmax(a, axis=-1), tf.math.reduce_std(a), tf.reduce_any(g)
picked = tf.gather(a, [0, 1]), tf.gather_nd(a, [[0, 0]]), tf.where(a > 1.0, a, 0.0), tf.boolean_mask(a, [True, False]), tf.one_hot(c, 4), tf.expand_dims(a, 0)
shaped = tf.reshape(a, [-1]), tf.reshape(a, (1, tf.shape(a)[0], 2)), tf.transpose(a), tf.transpose(a, perm=[1, 0]), tf.squeeze(a), tf.broadcast_to(a, [3, 2, 2])
maths = tf.math.log(a), tf.exp(a), tf.sqrt(a), tf.abs(a), tf.maximum(a, 0.0), tf.clip_by_value(a, 0, 1), tf.pow(a, 2), tf.matmul(a, b, transpose_b=True), tf.sigmoid(a)
drawn = tf.random.normal([2, 2], mean=0.0, stddev=1.0, seed=3), tf.random.uniform((3,), 0, 10, dtype=tf.int32), tf.random.shuffle(a), tf.random.categorical(a, 3)
texts = tf.strings.join(["a", "b"], separator=" "), tf.strings.split(["a b"]), tf.strings.lower("A"), tf.strings.length(["abc"]), tf.strings.to_number(["1"], tf.int32)
ragged = tf.ragged.constant([[1], [2, 3]])
print(ragged.row_lengths(), ragged.to_tensor(), ragged.values)
sparse = tf.SparseTensor(indices=[[0, 0]], values=[1.0], dense_shape=[2, 2])
print(tf.sparse.to_dense(sparse), sparse.values)
values, indices = tf.math.top_k(a, k=1)
pieces = tf.linalg.inv(a), tf.linalg.norm(a), tf.einsum("ij,jk->ik", a, b), tf.linalg.diag([1.0, 2.0]), tf.tensordot(a, b, axes=1), tf.norm(a)
tf.debugging.assert_equal(a, a, message="differs")
tf.print("a", a, output_stream="file://stdout")
tf.random.set_seed(1)
tf.config.run_functions_eagerly(False)
print(tf.__version__, tf.config.list_physical_devices("GPU"), tf.executing_eagerly())
nested = tf.nest.map_structure(lambda t: t + 1, {"a": a, "b": [b]})

# ---- variables and gradients ----

v = tf.Variable(3.0, name="v", trainable=True)
w = tf.Variable(tf.random.normal((2, 2)), dtype=tf.float32)
v.assign(4.0)
v.assign_add(1.0)
w.assign_sub(tf.ones([2, 2]))
print(v.numpy(), v.name, v.shape, v + 1.0, w @ a, w[0], v.trainable, v.read_value())
with tf.GradientTape(persistent=True) as tape:
    tape.watch(a)
    loss = tf.reduce_sum(tf.square(w @ a)) * v
gradients = tape.gradient(loss, [w, v])
slope = tape.gradient(loss, v)
matrix = tape.jacobian(loss, w)
del tape
optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3, beta_1=0.9, clipnorm=1.0)
optimizer.apply_gradients(zip(gradients, [w, v]))
schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=100, decay_rate=0.9, staircase=True)
descent = keras.optimizers.SGD(learning_rate=schedule, momentum=0.9, nesterov=True)
clipped, norm = tf.clip_by_global_norm(gradients, 5.0)


@tf.function
def step(x, y):
    with tf.GradientTape() as t:
        error = tf.reduce_mean((x @ w - y) ** 2)
    optimizer.apply_gradients(zip(t.gradient(error, [w]), [w]))
    return error


@tf.function(input_signature=[tf.TensorSpec(shape=[None, 2], dtype=tf.float32)], jit_compile=False)
def double(x: tf.Tensor) -> tf.Tensor:
    return x * 2


@tf.custom_gradient
def straight(x):
    def backward(upstream):
        return upstream
    return tf.round(x), backward


print(step(a, b), double(a), double.get_concrete_function().graph, straight(a))
total = tf.while_loop(lambda i: i < 10, lambda i: (i + 1,), [tf.constant(0)])
chosen = tf.cond(v > 1.0, lambda: a, lambda: b)
mapped = tf.map_fn(lambda x: x * 2, a)
folded = tf.foldl(lambda s, x: s + x, c)
held = tf.TensorArray(tf.float32, size=3, dynamic_size=True)
held = held.write(0, 1.0)
print(held.stack(), held.read(0))


class Scale(tf.Module):
    def __init__(self, factor: float, name: str | None = None):
        super().__init__(name=name)
        self.factor = tf.Variable(factor)

    @tf.function
    def __call__(self, x):
        return x * self.factor


scale = Scale(2.0)
print(scale(a), scale.trainable_variables, scale.variables, scale.submodules)

# ---- data ----

dataset = tf.data.Dataset.from_tensor_slices((np.zeros((8, 2)), np.zeros(8)))
dataset = dataset.map(lambda x, y: (x * 2, y), num_parallel_calls=tf.data.AUTOTUNE).filter(lambda x, y: y >= 0)
dataset = dataset.shuffle(100, seed=1, reshuffle_each_iteration=True).repeat(2).batch(4, drop_remainder=True).prefetch(tf.data.AUTOTUNE).cache()
for batch_x, batch_y in dataset.take(2):
    print(batch_x.shape, batch_y)
for index, element in enumerate(dataset.as_numpy_iterator()):
    print(index, element)
for index, element in dataset.enumerate():
    print(index, element)
print(dataset.element_spec, next(iter(dataset)), len(dataset), dataset.cardinality())


def produce() -> Iterator[tuple[int, float]]:
    yield 1, 2.0


made = tf.data.Dataset.from_generator(produce, output_signature=(tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.float32)))
both = tf.data.Dataset.zip((tf.data.Dataset.range(5), tf.data.Dataset.range(5, 10))).concatenate(tf.data.Dataset.range(1))
lines = tf.data.TextLineDataset(["a.txt"]).skip(1).interleave(lambda x: tf.data.Dataset.from_tensors(x), cycle_length=2)
records = tf.data.TFRecordDataset("file.tfrecord")
example = tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))}))
with tf.io.TFRecordWriter("file.tfrecord") as writer:
    writer.write(example.SerializeToString())
parsed = tf.io.parse_single_example(b"", {"x": tf.io.FixedLenFeature([], tf.int64), "y": tf.io.VarLenFeature(tf.string)})
image = tf.io.decode_jpeg(tf.io.read_file("a.jpg"), channels=3)
image = tf.image.resize(image, [224, 224]) / 255.0
image = tf.image.random_flip_left_right(tf.image.adjust_brightness(image, 0.1))
print(tf.io.gfile.exists("a"), tf.image.encode_png(tf.cast(image, tf.uint8)))

# ---- Keras ----

model = Sequential([
    layers.Input(shape=(28, 28, 1)),
    layers.Conv2D(32, (3, 3), activation="relu", padding="same", kernel_regularizer=keras.regularizers.l2(1e-4)),
    layers.MaxPooling2D(pool_size=2),
    layers.BatchNormalization(),
    layers.Flatten(),
    layers.Dropout(0.5),
    layers.Dense(128, activation=tf.nn.relu, kernel_initializer=keras.initializers.HeNormal(seed=1)),
    layers.Dense(10, activation="softmax"),
], name="cnn")
model.add(keras.layers.Dense(10))
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy", keras.metrics.Mean(name="m")])
callbacks = [
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True),
    keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True),
    keras.callbacks.TensorBoard(log_dir="logs"),
    keras.callbacks.LearningRateScheduler(lambda epoch: 1e-3 * 0.9 ** epoch),
    keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs)),
]
history = model.fit(np.zeros((8, 28, 28, 1)), np.zeros(8), batch_size=4, epochs=2, validation_split=0.25, callbacks=callbacks, verbose=0)
print(history.history["loss"][-1], history.epoch)
model.fit(dataset, epochs=1, steps_per_epoch=2, validation_data=dataset)
result = model.evaluate(dataset, return_dict=True)
predictions = model.predict(np.zeros((2, 28, 28, 1)))
print(predictions.argmax(axis=1), model(np.zeros((1, 28, 28, 1)), training=False))
model.summary()
model.save("model.keras")
model.save_weights("weights.h5")
loaded = keras.models.load_model("model.keras", custom_objects={"Scale": Scale}, compile=False)
loaded.load_weights("weights.h5")
print(model.layers[0].name, model.get_layer("dense").get_weights(), model.trainable_variables, model.count_params(), model.input_shape)
for layer in model.layers:
    layer.trainable = False

inputs = keras.Input(shape=(None,), dtype="int64", name="tokens")
x = layers.Embedding(1000, 64, mask_zero=True)(inputs)
x = layers.Bidirectional(layers.LSTM(32, return_sequences=True))(x)
x = layers.MultiHeadAttention(num_heads=2, key_dim=16)(x, x)
x = layers.LayerNormalization(epsilon=1e-6)(x + 1.0)
x = layers.Concatenate()([x, layers.GlobalAveragePooling1D()(x)[:, tf.newaxis]])
outputs = layers.Dense(1, activation="sigmoid")(x)
functional = Model(inputs=inputs, outputs=[outputs], name="functional")
functional.compile(keras.optimizers.Adam(), loss={"dense": "mse"}, loss_weights=[1.0], metrics=[["mae"]])


class Linear(keras.layers.Layer):
    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.supports_masking = True

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True, name="w")
        self.b = self.add_weight("b", (self.units,), initializer="zeros")
        super().build(input_shape)

    def call(self, inputs, training=None, mask=None):
        if training:
            inputs = tf.nn.dropout(inputs, rate=0.1)
        self.add_loss(1e-2 * tf.reduce_sum(self.w))
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        config = super().get_config()
        config.update({"units": self.units})
        return config


class Autoencoder(keras.Model):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.encoder = keras.Sequential([Linear(size), layers.ReLU()])
        self.decoder = Linear(2)
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as t:
            value = self.compiled_loss(y, self(x, training=True))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(t.gradient(value, variables), variables))
        self.tracker.update_state(value)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.tracker]


class Recorder(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, (logs or {}).get("loss"), self.model)
        self.model.stop_training = True


class TruePositives(keras.metrics.Metric):
    def __init__(self, name="true_positives", **kwargs):
        super().__init__(name=name, **kwargs)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.count.assign_add(tf.reduce_sum(tf.cast(tf.equal(y_true, tf.round(y_pred)), tf.float32)))

    def result(self):
        return self.count


class Huber(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.keras.losses.huber(y_true, y_pred)


auto = Autoencoder(4)
auto.compile(optimizer=descent, loss=Huber(), metrics=[TruePositives()], run_eagerly=True)
auto.fit(np.zeros((4, 2)), np.zeros((4, 2)), callbacks=[Recorder()])
labels = keras.utils.to_categorical([0, 1, 2], num_classes=3)
(train_x, train_y), (test_x, test_y) = keras.datasets.mnist.load_data()
padded = keras.preprocessing.sequence.pad_sequences([[1], [2, 3]], maxlen=4, padding="post")
vectorize = layers.TextVectorization(max_tokens=100, output_sequence_length=8)
vectorize.adapt(["a text"])
print(vectorize.get_vocabulary(), keras.backend.epsilon(), keras.losses.mean_squared_error(a, b))
accuracy = keras.metrics.SparseCategoricalAccuracy()
accuracy.update_state([1], [[0.1, 0.9]])
print(accuracy.result().numpy())
accuracy.reset_state()

# ---- files ----

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(1))
manager = tf.train.CheckpointManager(checkpoint, "save", max_to_keep=3)
checkpoint.restore(manager.latest_checkpoint).expect_partial()
print(manager.save(), tf.train.latest_checkpoint("save"))
tf.saved_model.save(scale, "saved", signatures=scale.__call__)
served = tf.saved_model.load("saved")
print(served.signatures["serving_default"])
log = tf.summary.create_file_writer("logs")
with log.as_default():
    tf.summary.scalar("loss", 0.5, step=1)
    tf.summary.image("picture", tf.zeros([1, 8, 8, 3]), step=1)
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    replicated = keras.Sequential([keras.layers.Dense(1)])
try:
    tf.matmul(a, tf.ones([3, 3]))
except tf.errors.InvalidArgumentError as failure:
    print(failure.message, failure.error_code)
with tf.device("/CPU:0"), tf.name_scope("scope"):
    pass
session = tf.compat.v1.Session()
placeholder = tf.compat.v1.placeholder(tf.float32, [None, 2])
print(session.run(placeholder, feed_dict={placeholder: [[1.0, 2.0]]}))
