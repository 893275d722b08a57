"""Estimators: steps, metrics, predictions, exports. tests/golden/estimators.py runs the cases under TensorFlow and writes estimators.json; test_estimators.py runs
them here."""
import os
import tempfile

import numpy as np

X = np.linspace(-1, 1, 24).reshape(12, 2).astype(np.float32)
Y = (X @ np.float32([[2.], [-1.]]) + .5).astype(np.float32)
CLASSES = (X[:, :1] > 0).astype(np.int32)
THREE = np.array([0, 1, 2] * 4, np.int32)
WORDS = np.array(["a", "b", "c"] * 4)


def plain(found):
    return {key: np.asarray(value).tolist() if not isinstance(value, bytes) else value.decode() for key, value in found.items()}


def custom(tf):
    """A model function of its own."""
    v1 = tf.compat.v1

    def model_fn(features, labels, mode, params, config):
        with v1.variable_scope("model"):
            w = v1.get_variable("w", [2, 1], initializer=v1.zeros_initializer())
            b = v1.get_variable("b", [1], initializer=v1.constant_initializer(params["bias"]))
        y = tf.matmul(features["x"], w) + b
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "twice": 2 * y})
        loss = v1.losses.mean_squared_error(labels, y)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"error": v1.metrics.mean_absolute_error(labels, y)})
        train = v1.train.GradientDescentOptimizer(.1).minimize(loss, global_step=v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    folder = tempfile.mkdtemp()
    inputs = v1.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=4, num_epochs=None, shuffle=False)
    once = v1.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=5, num_epochs=1, shuffle=False)
    only = v1.estimator.inputs.numpy_input_fn({"x": X[:3]}, shuffle=False)
    estimator = tf.estimator.Estimator(model_fn, folder, params={"bias": 1.})
    estimator.train(inputs, steps=7)
    made = [plain(estimator.evaluate(once))]
    estimator.train(inputs, max_steps=12)
    made.append(plain(estimator.evaluate(once, steps=1)))
    made.append([plain(one) for one in estimator.predict(only)])
    made.append([plain(one) for one in estimator.predict(only, predict_keys="twice", yield_single_examples=False)])
    made.append(sorted(estimator.get_variable_names()) + estimator.get_variable_value("model/w").tolist())
    made.append(os.path.basename(estimator.latest_checkpoint()))
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(_placeholders(tf))
    path = estimator.export_saved_model(tempfile.mkdtemp(), receiver)
    served = tf.saved_model.load(path.decode()).signatures["serving_default"]
    made.append(plain({key: value.numpy() for key, value in served(x=tf.constant(X[:2])).items()}))
    return made


def _placeholders(tf):
    with tf.Graph().as_default():
        return {"x": tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")}


def datasets(tf):
    """train_and_evaluate with datasets, and an input that ends."""
    v1 = tf.compat.v1

    def model_fn(features, labels, mode):
        w = v1.get_variable("w", [2, 1], initializer=v1.ones_initializer())
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=tf.matmul(features[0] if isinstance(features, tuple) else features, w))
        loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
        train = v1.train.AdamOptimizer(.1).minimize(loss, v1.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=tf.matmul(features, w), loss=loss, train_op=train)
    estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(save_checkpoints_steps=3, tf_random_seed=3))

    def data():
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(2)
    found, _ = tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(data, max_steps=20), tf.estimator.EvalSpec(data, steps=None))
    return [plain(found), estimator.get_variable_value("w").tolist(), [np.asarray(p).tolist() for p in estimator.predict(data)][:2]]


def columns(tf):
    fc = tf.feature_column
    word = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)
    return [fc.numeric_column("x", shape=(2,)), word, fc.bucketized_column(fc.numeric_column("z"), [0.])]


def arrays(tf, labels, epochs=1, size=4):
    given = {"x": X, "word": WORDS, "z": X[:, 0]}

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices((given, labels) if labels is not None else given)
        return dataset.batch(size).repeat(epochs)
    return input_fn


def linear(tf, make, labels):
    estimator = make(columns(tf))
    estimator.train(arrays(tf, labels, None), steps=9)
    found = plain(estimator.evaluate(arrays(tf, labels)))
    predicted = [{key: text(value) for key, value in plain(one).items() if not key.startswith("all_")} for one in estimator.predict(arrays(tf, None, size=3))][:2]
    return [found, predicted]


def text(value):
    return [text(inner) for inner in value] if isinstance(value, list) else value.decode() if isinstance(value, bytes) else value


def regressor(tf):
    return linear(tf, lambda columns: tf.estimator.LinearRegressor(columns), Y)


def classifier(tf):
    return linear(tf, lambda columns: tf.estimator.LinearClassifier(columns), CLASSES)


def three(tf):
    return linear(tf, lambda columns: tf.estimator.LinearClassifier(columns, n_classes=3, optimizer="SGD"), THREE)


CASES = {function.__name__: function for function in (custom, datasets, regressor, classifier, three)}
