"""Programs of the book's chapter on sessions (F176 to F188), on small made-up data: what they print is TensorFlow's. tests/golden/v1_examples.py runs
them under TensorFlow and writes v1_examples.json; test_v1_examples.py runs them here, each in a process of its own."""
import numpy as np


class Data:
    """Pictures of ten kinds that can be told apart."""

    def __init__(self):
        random = np.random.RandomState(1)
        kinds = random.rand(10, 28, 28, 1)
        self.train_label = random.randint(0, 10, 600).astype(np.int32)
        self.test_label = random.randint(0, 10, 100).astype(np.int32)
        self.train_data = (kinds[self.train_label] * .7 + random.rand(600, 28, 28, 1) * .3).astype(np.float32)
        self.test_data = (kinds[self.test_label] * .7 + random.rand(100, 28, 28, 1) * .3).astype(np.float32)
        self._random = random

    def get_batch(self, size):
        at = self._random.randint(0, 600, size)
        return self.train_data[at, :], self.train_label[at]


def first(tf, seed):
    return tf.keras.initializers.GlorotUniform(seed=seed)


def mlp(tf):
    class MLP(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.flatten = tf.keras.layers.Flatten()
            self.dense1 = tf.keras.layers.Dense(units=100, activation=tf.nn.relu, kernel_initializer=first(tf, 1))
            self.dense2 = tf.keras.layers.Dense(units=10, kernel_initializer=first(tf, 2))

        def call(self, inputs):
            x = self.flatten(inputs)
            x = self.dense1(x)
            x = self.dense2(x)
            return tf.nn.softmax(x)
    return MLP()


def cnn(tf):
    class CNN(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.conv1 = tf.keras.layers.Conv2D(filters=8, kernel_size=[5, 5], padding="same", activation=tf.nn.relu, kernel_initializer=first(tf, 1))
            self.pool1 = tf.keras.layers.MaxPool2D(pool_size=[2, 2], strides=2)
            self.conv2 = tf.keras.layers.Conv2D(filters=8, kernel_size=[5, 5], padding="same", activation=tf.nn.relu, kernel_initializer=first(tf, 2))
            self.pool2 = tf.keras.layers.MaxPool2D(pool_size=[2, 2], strides=2)
            self.flatten = tf.keras.layers.Reshape(target_shape=(7 * 7 * 8,))
            self.dense1 = tf.keras.layers.Dense(units=32, activation=tf.nn.relu, kernel_initializer=first(tf, 3))
            self.dense2 = tf.keras.layers.Dense(units=10, kernel_initializer=first(tf, 4))

        def call(self, inputs):
            x = self.conv1(inputs)
            x = self.pool1(x)
            x = self.conv2(x)
            x = self.pool2(x)
            x = self.flatten(x)
            x = self.dense1(x)
            x = self.dense2(x)
            return tf.nn.softmax(x)
    return CNN()


def sequential(tf):
    return tf.keras.models.Sequential([
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(100, activation=tf.nn.relu, kernel_initializer=first(tf, 1)),
        tf.keras.layers.Dense(10, kernel_initializer=first(tf, 2)),
        tf.keras.layers.Softmax(),
    ])


def in_session(tf, model, steps, say):
    """The book's program: a Keras model trained and measured in a session."""
    data = Data()
    optimizer = tf.compat.v1.train.AdamOptimizer(learning_rate=0.001)
    X_placeholder = tf.compat.v1.placeholder(name="X", shape=[None, 28, 28, 1], dtype=tf.float32)
    y_placeholder = tf.compat.v1.placeholder(name="y", shape=[None], dtype=tf.int32)
    y_pred = model(X_placeholder)
    loss = tf.keras.losses.sparse_categorical_crossentropy(y_true=y_placeholder, y_pred=y_pred)
    loss = tf.reduce_mean(loss)
    train_op = optimizer.minimize(loss)
    sparse_categorical_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    with tf.compat.v1.Session() as sess:
        sess.run(tf.compat.v1.global_variables_initializer())
        for batch_index in range(steps):
            X, y = data.get_batch(50)
            _, loss_value = sess.run([train_op, loss], feed_dict={X_placeholder: X, y_placeholder: y})
            say("batch %d: loss %.3f" % (batch_index, loss_value))
        y_all = tf.compat.v1.placeholder(tf.float32, [None, 10])
        update = sparse_categorical_accuracy.update_state(y_true=y_placeholder, y_pred=y_all)
        result = sparse_categorical_accuracy.result()
        sess.run([v.initializer for v in sparse_categorical_accuracy.variables])
        for start in range(0, 100, 50):
            predicted = sess.run(y_pred, {X_placeholder: data.test_data[start:start + 50]})
            sess.run(update, {y_placeholder: data.test_label[start:start + 50], y_all: predicted})
        say("test accuracy: %.2f" % sess.run(result))
        say([v.name for v in model.variables], [v.name for v in tf.compat.v1.global_variables()][:6])
        say(str(y_pred), train_op.name, [str(v.shape) for v in tf.compat.v1.trainable_variables()])


def mlp_in_session(tf, say):
    tf.compat.v1.disable_eager_execution()
    in_session(tf, mlp(tf), 12, say)


def cnn_in_session(tf, say):
    tf.compat.v1.disable_eager_execution()
    in_session(tf, cnn(tf), 6, say)


def sequential_in_session(tf, say):
    tf.compat.v1.disable_eager_execution()
    in_session(tf, sequential(tf), 12, say)


def variables_in_session(tf, say):
    """Variables, uninitialized use, scopes, gradients, control dependencies."""
    tf = tf.compat.v1
    tf.disable_eager_execution()
    a = tf.get_variable(name="a", shape=[], initializer=tf.zeros_initializer())
    b = tf.get_variable(name="b", shape=[], initializer=tf.constant_initializer(2.0))
    assign_op = tf.assign(a, a + b)
    with tf.Session() as sess:
        try:
            sess.run(a)
        except tf.errors.FailedPreconditionError as e:
            say(type(e).__name__, "Could not find variable a" in str(e))
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            sess.run(assign_op)
            say(sess.run(a))
    with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        say(tf.get_variable("w", [2, 2]) is w, w.name)
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.reduce_sum(tf.matmul(x, w) ** 2)
    gradient, = tf.gradients(y, [w])
    with tf.control_dependencies([tf.assign_sub(w, 0.1 * gradient)]):
        after = tf.identity(w.read_value())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        say(sess.run(gradient, {x: [[1., 2.]]}).tolist(), np.round(sess.run(after, {x: [[1., 2.]]}), 5).tolist())
        train = tf.train.GradientDescentOptimizer(0.01).minimize(y)
        for _ in range(3):
            _, value = sess.run([train, y], {x: [[1., 2.], [3., 4.]]})
            say("%.4f" % value)


def linear_regression(tf, say):
    """The book's regression in a graph: placeholders, gradients by tf.gradients, assignments."""
    tf = tf.compat.v1
    tf.disable_eager_execution()
    X_raw = np.array([2013, 2014, 2015, 2016, 2017], dtype=np.float32)
    y_raw = np.array([12000, 14000, 15000, 16500, 17500], dtype=np.float32)
    X = (X_raw - X_raw.min()) / (X_raw.max() - X_raw.min())
    y = (y_raw - y_raw.min()) / (y_raw.max() - y_raw.min())
    learning_rate_ = tf.placeholder(dtype=tf.float32)
    X_ = tf.placeholder(dtype=tf.float32, shape=[5])
    y_ = tf.placeholder(dtype=tf.float32, shape=[5])
    a = tf.get_variable("a", dtype=tf.float32, shape=[], initializer=tf.zeros_initializer)
    b = tf.get_variable("b", dtype=tf.float32, shape=[], initializer=tf.zeros_initializer)
    y_pred = a * X_ + b
    loss = tf.constant(0.5) * tf.reduce_sum(tf.square(y_pred - y_))
    grad_a, grad_b = tf.gradients(loss, [a, b])
    new_a, new_b = a - learning_rate_ * grad_a, b - learning_rate_ * grad_b
    update_a, update_b = tf.assign(a, new_a), tf.assign(b, new_b)
    train_op = [update_a, update_b]
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        for e in range(1000):
            sess.run(train_op, feed_dict={X_: X, y_: y, learning_rate_: 1e-3})
        say(["%.5f" % v for v in sess.run([a, b])])


def configurations(tf, say):
    """Settings of memory on accelerators, which are accepted where there are none."""
    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Graph().as_default():
        x = tf.constant(3.)
        with tf.compat.v1.Session(config=config) as sess:
            say(sess.run(x), str(config))
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.per_process_gpu_memory_fraction = 0.4
        sess = tf.compat.v1.Session(config=config)
        say(sess.run(x), config.gpu_options.per_process_gpu_memory_fraction)
        sess.close()
    tf.compat.v1.enable_eager_execution(config=config)
    say(tf.executing_eagerly(), float(tf.constant(1.) + 1.))


PROGRAMS = [mlp_in_session, cnn_in_session, sequential_in_session, variables_in_session, linear_regression, configurations]


def run(tf, name):
    """What a program prints."""
    lines = []
    next(p for p in PROGRAMS if p.__name__ == name)(tf, lambda *values: lines.append(" ".join(str(v) for v in values)))
    return lines
