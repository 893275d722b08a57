"""Kinds of work for test_memory_slopes.py: {name: (function that prepares and returns the body, how often it is called)}."""
import shutil
import sys

import numpy as np

import thalweg as tf
from steady import slopes

BODIES = {}
KERAS = tf.keras
X, Y = np.random.RandomState(1).rand(12, 6).astype("f4"), np.arange(12) % 3


def body(times):
    def add(maker):
        BODIES[maker.__name__] = (maker, times)
        return maker
    return add


def model_of(*layers):
    model = KERAS.Sequential(list(layers) or [KERAS.layers.Dense(5, activation="relu"), KERAS.layers.Dense(3)])
    model.compile("adam", KERAS.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def refused(*calls):
    for call in calls:
        try:
            call()
        except Exception:
            continue
        raise AssertionError("no error")


@body(600)
def predict():
    model = model_of()
    return lambda: model.predict(X, batch_size=5, verbose=0)


@body(500)
def fit_evaluate():
    model = model_of()

    def once():
        model.fit(X, Y, epochs=2, batch_size=5, verbose=0, validation_data=(X, Y))
        model.evaluate(X, Y, verbose=0)
        model.train_on_batch(X, Y), model.test_on_batch(X, Y), model.predict_on_batch(X)
    return once


@body(2000)
def model_called():
    model = model_of()
    return lambda: (model(X), model(X, training=True), model(tf.constant(X[:1])))


@body(500)
def functions_of_new_shapes():
    step = [0]

    def once():
        @tf.function
        def f(x):
            return tf.reduce_sum(tf.nn.relu(x @ tf.transpose(x)) * 2.0)
        for n in range(1, 5):
            f(tf.ones([n, 3]))
        step[0] += 1
        f.get_concrete_function(tf.TensorSpec([None, 3]))
    return once


@body(300)
def functions_with_control_flow():
    def once():
        @tf.function
        def f(x):
            total = tf.constant(0.0)
            for i in tf.range(3):
                if x > 0.0:
                    total += x * tf.cast(i, tf.float32)
                else:
                    total -= x
            return total
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x)
    return once


@body(600)
def function_steps():
    v = tf.Variable(tf.ones([4, 4]))
    optimizer = KERAS.optimizers.Adam()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ v))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss
    return lambda: step(tf.ones([2, 4]))


@body(1000)
def eager_ops():
    def once():
        a = tf.constant(np.arange(24.0).reshape(2, 3, 4).astype("f4"))
        b = tf.transpose(a, [0, 2, 1]) @ a
        tf.concat([b, b], 1), tf.stack([a, a]), a[:, 1, ::2], tf.split(a, 2, 2), tf.reduce_sum(a, [0, 2]), tf.gather(a, [1, 0], axis=1)
        tf.where(a > 3, a, -a), tf.one_hot([1, 2], 4), tf.argmax(a, -1), tf.cast(a, tf.half), tf.unique([1, 2, 1]), tf.nn.top_k(a, 2)
        tf.random.normal([10]), tf.nn.softmax(a), tf.constant(["some longer text than fits", "more"]), str(a), a.numpy(), list(a)
        tf.strings.split(["a b", "c"]), tf.strings.join(["a", "b"]), tf.linalg.svd(a), tf.einsum("abc,adc->abd", a, a), tf.image.resize(a, [2, 2])
    return once


@body(1000)
def tapes():
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0])

    def once():
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x * x * x * v)
            first = inner.gradient(y, x)
        outer.gradient(first, [x, v]), outer.gradient(y, {"x": x, "v": [v]}), outer.jacobian(first, x)
        with tf.GradientTape() as abandoned:
            abandoned.watch(x)
            tf.exp(x)
        with tf.GradientTape() as stopped:
            with stopped.stop_recording():
                v * v
            stopped.reset()
            v * x
    return once


@body(1000)
def custom_gradients():
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: dy * 3.0
    x = tf.Variable(2.0)

    def once():
        with tf.GradientTape() as tape:
            y = f(x) + tf.recompute_grad(lambda a: a * a)(x)
        tape.gradient(y, x)
        tf.autodiff.ForwardAccumulator
    return once


@body(300)
def datasets_made_again():
    def once():
        d = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(5).map(lambda a, b: (a * 2.0, b)).filter(lambda a, b: b > 0)
        d = d.batch(2).cache().prefetch(2)
        list(d), list(d)
        for _ in tf.data.Dataset.range(10).interleave(lambda i: tf.data.Dataset.range(i), num_parallel_calls=2).repeat():
            break
        list(tf.data.Dataset.from_generator(lambda: iter(range(3)), output_signature=tf.TensorSpec([], tf.int32)))
        list(tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3))).padded_batch(2).unbatch().window(2))
        tf.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)
    return once


@body(1000)
def dataset_iterated():
    d = tf.data.Dataset.from_tensor_slices(X).map(lambda a: a + 1.0, num_parallel_calls=2).batch(4).prefetch(1)
    return lambda: [list(d), next(iter(d))]


@body(200)
def saved_h5():
    def once():
        model = model_of()
        model.fit(X, Y, verbose=0)
        model.save("m.h5")
        KERAS.models.load_model("m.h5").predict(X, verbose=0)
        model.save_weights("w.h5")
        model.load_weights("w.h5")
    return once


@body(200)
def saved_keras():
    def once():
        model = model_of()
        model.fit(X, Y, verbose=0)
        model.save("m.keras")
        KERAS.models.load_model("m.keras").predict(X, verbose=0)
    return once


@body(75)
def saved_model():
    def once():
        model = model_of()
        model.fit(X, Y, verbose=0)
        model.save("m", save_format="tf")
        KERAS.models.load_model("m").predict(X, verbose=0)
        loaded = tf.saved_model.load("m")
        loaded.signatures["serving_default"](tf.constant(X))
        loaded(X)
        shutil.rmtree("m")
    return once


@body(150)
def saved_module():
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return x * tf.reduce_sum(self.v)

    def once():
        tf.saved_model.save(Module(), "s")
        tf.saved_model.load("s")(tf.constant([1.0]))
    return once


@body(300)
def checkpoints():
    def once():
        model = model_of()
        model(X)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=model.optimizer), "c", max_to_keep=2)
        manager.save()
        other = tf.train.Checkpoint(model=model_of())
        other.restore(manager.latest_checkpoint).expect_partial()
        other.model(X)
        model.save_weights("weights"), model.load_weights("weights")
    return once


@body(300)
def json_and_clones():
    def once():
        model = model_of(KERAS.layers.Input([6]), KERAS.layers.Dense(3))
        KERAS.models.model_from_json(model.to_json())
        KERAS.models.clone_model(model)
        KERAS.layers.deserialize(KERAS.layers.serialize(KERAS.layers.Dense(2, kernel_regularizer="l2")))
    return once


@body(300)
def layers_come_and_go():
    image, sequence = tf.ones([1, 6, 6, 3]), tf.ones([2, 4, 3])
    layers = KERAS.layers

    def once():
        for layer in (layers.Conv2D(2, 3), layers.BatchNormalization(), layers.DepthwiseConv2D(2), layers.MaxPooling2D(), layers.SeparableConv2D(2, 2),
                      layers.UpSampling2D(), layers.Flatten(), layers.Dropout(0.5), layers.Conv2DTranspose(2, 3), layers.GlobalAveragePooling2D()):
            layer(image, training=True)
        for layer in (layers.LSTM(2), layers.GRU(2, return_sequences=True), layers.SimpleRNN(2), layers.Bidirectional(layers.LSTM(2)), layers.Conv1D(2, 2),
                      layers.TimeDistributed(layers.Dense(2)), layers.LayerNormalization(), layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])):
            layer(sequence, training=True)
        layers.MultiHeadAttention(2, 2)(sequence, sequence)
        layers.Embedding(5, 2, mask_zero=True)(tf.constant([[1, 0]]))
    return once


@body(1000)
def layer_on_its_own_output():
    def once():
        layer = KERAS.layers.Dense(4)
        x = KERAS.Input([4])
        y = layer(layer(layer(x)))
        KERAS.Model(x, y)
        KERAS.layers.Activation("relu")(KERAS.layers.Activation("relu")(x))
        own = KERAS.layers.Dense(4)
        own(own(own(tf.ones([1, 4]))))
    return once


@body(300)
def functional_models():
    layers = KERAS.layers

    def once():
        a, b = KERAS.Input([4], name="a"), KERAS.Input([4])
        shared = layers.Dense(3)
        y = layers.concatenate([shared(a), shared(b)])
        z = layers.Dense(2)(y * 2.0 + tf.reduce_sum(b, axis=1, keepdims=True))
        model = KERAS.Model([a, b], [y, z])
        model([tf.ones([1, 4]), tf.ones([1, 4])])
        model.cycle = model
        model.summary(print_fn=lambda *a, **k: None)
    return once


@body(300)
def subclassed_models():
    class Mine(KERAS.Model):
        def __init__(self):
            super().__init__()
            self.parts = [KERAS.layers.Dense(2), KERAS.layers.Dense(3)]
            self.named = {"a": KERAS.layers.Dropout(0.5)}
            self.me = self

        def call(self, x, training=False):
            for p in self.parts:
                x = p(x)
            self.add_loss(tf.reduce_sum(x))
            return self.named["a"](x, training=training)

        def train_step(self, data):
            return super().train_step(data)

    def once():
        model = Mine()
        model.compile("sgd", "mse")
        model.fit(X, X[:, :3], verbose=0, callbacks=[KERAS.callbacks.LambdaCallback(), KERAS.callbacks.EarlyStopping("loss")])
    return once


@body(300)
def compiled_models_come_and_go():
    def once():
        model = model_of(KERAS.layers.LSTM(3), KERAS.layers.Dense(3))
        model.fit(X[:, :, None], Y, verbose=0)
        model.predict(X[:, :, None], verbose=0)
    return once


@body(300)
def graphs_and_sessions():
    v1 = tf.compat.v1

    def once():
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [None, 3])
            w = v1.get_variable("w", [3, 2], initializer=v1.zeros_initializer())
            y = tf.reduce_sum(tf.square(x @ w - 1.0))
            step = v1.train.AdamOptimizer(0.1).minimize(y)
            with v1.Session(graph=graph) as session:
                session.run(v1.global_variables_initializer())
                session.run([step, y], {x: np.ones((2, 3))})
                v1.train.Saver().save(session, "v1/model")
                refused(lambda: session.run(y))
            graph.as_graph_def()
    return once


@body(1000)
def session_runs():
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None])
        y = x * 2.0
    session = v1.Session(graph=graph)
    return lambda: (session.run(y, {x: [1.0]}), session.run({"a": [y, x]}, {x: [1.0, 2.0]}))


@body(300)
def summaries():
    def once():
        writer = tf.summary.create_file_writer("logs")
        with writer.as_default():
            tf.summary.scalar("a", 1.0, step=1), tf.summary.histogram("h", X, step=1), tf.summary.text("t", "x", step=1)
            tf.summary.image("i", np.zeros((1, 4, 4, 3), "f4"), step=1)
        writer.close()
        shutil.rmtree("logs")
    return once


@body(1000)
def errors():
    model = model_of()
    model(X)

    @tf.function
    def f(x):
        return tf.reshape(x, [3]) + tf.debugging.assert_positive(x)
    graph_failed = tf.function(lambda x: tf.gather(x, 100))

    def once():
        refused(lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])), lambda: tf.reshape(tf.zeros([4]), [3]), lambda: tf.constant([[1], [1, 2]]),
                lambda: tf.zeros([2 ** 40, 2 ** 20]), lambda: tf.gather([1.0], 5), lambda: tf.add(1.0, "a"), lambda: tf.concat([[1], [[2]]], 0),
                lambda: tf.nn.softmax(5), lambda: KERAS.layers.Dense(-1), lambda: tf.train.load_checkpoint("/nowhere"), lambda: tf.Variable(1.0).assign([1.0]),
                lambda: KERAS.models.load_model("nothing.keras"), lambda: model.fit(X, Y[:3], verbose=0), lambda: model.predict(X[:, :2], verbose=0),
                lambda: model(X[:, :2]), lambda: f(tf.ones([4])), lambda: graph_failed(tf.ones([4])), lambda: list(tf.data.Dataset.range(3).map(lambda i: tf.gather([1], i))),
                lambda: KERAS.Sequential([KERAS.layers.Dense(2)]).compile("nothing"), lambda: KERAS.layers.Dense(2, activation="nothing"),
                lambda: tf.saved_model.load("nothing"), lambda: KERAS.Model(KERAS.Input([2]), KERAS.Input([3])), lambda: KERAS.layers.deserialize({"class_name": "X"}))
    return once


@body(300)
def errors_while_tracing():
    def once():
        @tf.function
        def f(x):
            v = x * 2.0
            for _ in tf.range(2):
                v = tf.reshape(v, [5, 5])
            return v

        @tf.function
        def g(x):
            if x > 0.0:
                raise KeyError("inside")
            return x
        refused(lambda: f(tf.ones([3])), lambda: g(1.0))
        model = model_of(KERAS.layers.Lambda(lambda x: 1 / 0))
        refused(lambda: model(X), lambda: model.fit(X, Y, verbose=0), lambda: model.predict(X, verbose=0))
    return once


@body(1000)
def python_functions():
    eager = tf.function(lambda x: tf.py_function(lambda a: a.numpy() * 2, [x], tf.float32) + tf.numpy_function(lambda a: a + 1, [x], tf.float32))
    failing = tf.function(lambda x: tf.py_function(lambda a: 1 / 0, [x], tf.float32))

    def once():
        eager(tf.constant([1.0]))
        tf.py_function(lambda a: a * 2, [1.0], tf.float32)
        refused(lambda: failing(1.0))
    return once


@body(300)
def python_functions_made_again():
    def once():
        data = np.zeros(1000)
        f = tf.function(lambda x: tf.numpy_function(lambda a: a + np.float32(data.sum()), [x], tf.float32))
        f(tf.constant([1.0]))
    return once


@body(1000)
def ragged_and_sparse():
    def once():
        r = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        r + 1.0, r.to_tensor(), tf.reduce_sum(r, 1), tf.concat([r, r], 0), r[0], str(r), tf.RaggedTensor.from_tensor(tf.ones([2, 2])), tf.ragged.stack([r, r])
        tf.map_fn(tf.reduce_sum, r, fn_output_signature=tf.float32)
        s = tf.sparse.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 3])
        tf.sparse.to_dense(s), tf.sparse.sparse_dense_matmul(s, tf.ones([3, 2])), tf.sparse.add(s, s), tf.sparse.reorder(s), s * 2.0, tf.sparse.transpose(s), str(s)
        refused(lambda: tf.ragged.constant([[1], 2]), lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[5, 5]], [1.0], [3, 3])))
    return once


@body(150)
def strategies():
    def once():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            v = tf.Variable(1.0)
            model = model_of()
        strategy.run(lambda: v.assign_add(1.0))
        strategy.reduce(tf.distribute.ReduceOp.SUM, v, axis=None)
        model.fit(X, Y, verbose=0)
        for _ in strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)):
            pass
    return once


@body(600)
def metrics_and_losses():
    def once():
        for metric in (KERAS.metrics.Mean(), KERAS.metrics.Sum()):
            metric.update_state([1.0, 2.0]), metric.result(), metric.reset_state()
        for metric in (KERAS.metrics.AUC(num_thresholds=5), KERAS.metrics.Precision(), KERAS.metrics.BinaryAccuracy()):
            metric.update_state([0, 1], [0.0, 1.0]), metric.result()
        for loss in (KERAS.losses.MeanSquaredError(), KERAS.losses.Huber(), KERAS.losses.BinaryCrossentropy()):
            loss([[0.0, 1.0]], [[0.5, 0.5]])
    return once


@body(600)
def variables_and_arrays():
    def once():
        v = tf.Variable(tf.ones([100]))
        v.assign_add(tf.ones([100])), v[3].assign(2.0), v.scatter_nd_update([[1]], [3.0])
        array = tf.TensorArray(tf.float32, 3, dynamic_size=True)
        for i in range(5):
            array = array.write(i, tf.ones([2]))
        array.stack(), array.unstack(tf.ones([2, 2]))
        tf.Variable(["a", "b"])
        generator = tf.random.Generator.from_seed(1)
        generator.normal([3]), generator.split(2)
    return once


@body(1000)
def loops_and_branches():
    def once():
        tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
        tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0)
        tf.map_fn(lambda x: x * 2.0, tf.ones([3])), tf.scan(lambda a, x: a + x, tf.ones([3])), tf.vectorized_map(lambda x: x * 2.0, tf.ones([3]))
        tf.switch_case(tf.constant(1), [lambda: 1, lambda: 2])
    return once


@body(500)
def files_and_records():
    def once():
        with tf.io.TFRecordWriter("r") as writer:
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "a": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))})).SerializeToString())
        for record in tf.data.TFRecordDataset("r"):
            tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([2], tf.float32)})
        tf.io.write_file("f", "text that is no record"), tf.io.read_file("f"), tf.io.decode_png(tf.io.encode_png(np.zeros((2, 2, 3), "u1")))
        with tf.io.gfile.GFile("f") as f:
            f.read()
        refused(lambda: list(tf.data.TFRecordDataset("f")))
    return once


if __name__ == "__main__":
    maker, calls = BODIES[sys.argv[1]]
    print("\n%f %f %f %f" % tuple(slopes(maker(), calls)))
