"""tf.estimator's models that are there already: linear ones, networks of dense layers, and both together, over feature columns."""
import math

import thalweg as tf
from thalweg._estimator import ClassificationOutput, Estimator, EstimatorSpec, ModeKeys, PredictOutput, RegressionOutput

v1 = tf.compat.v1


# ---- optimizers ----

def _optimizer(given, usual, rate):
    """A step for a loss: of a name, an optimizer of Keras or of TensorFlow 1, or a function that makes one."""
    given = usual if given is None else given
    if callable(given) and not hasattr(given, "apply_gradients"):
        given = given()
    if isinstance(given, str):
        kinds = {"Adagrad": v1.train.AdagradOptimizer, "Adam": v1.train.AdamOptimizer, "Ftrl": v1.train.FtrlOptimizer, "RMSProp": v1.train.RMSPropOptimizer,
                 "SGD": v1.train.GradientDescentOptimizer}
        if given not in kinds:
            raise ValueError("Unsupported optimizer name: %s. Supported names are: %s" % (given, tuple(sorted(kinds))))
        return kinds[given](rate)
    return given


def _train_op(optimizers, loss):
    """Each optimizer changes the variables of its part of the model."""
    step = v1.train.get_or_create_global_step()
    operations = []
    for optimizer, variables in optimizers:
        if not variables:
            continue
        if isinstance(optimizer, tf.keras.optimizers.Optimizer):
            operations.append(tf.group(optimizer.apply_gradients(zip(tf.gradients(loss, variables), variables))))
        else:
            operations.append(optimizer.minimize(loss, var_list=variables))
    with tf.control_dependencies(operations):
        return v1.assign_add(step, 1).op


# ---- heads ----

class _Head:
    """Losses, predictions and metrics of logits."""

    def __init__(self, weight_column, reduction, label_dimension=1, n_classes=None, label_vocabulary=None):
        self._weight, self._reduction, self._classes, self._words = weight_column, reduction, n_classes, label_vocabulary
        if n_classes is not None and n_classes < 2:
            raise ValueError("n_classes must be > 1: %s" % n_classes)
        if reduction not in ("sum_over_batch_size", "sum", "auto"):
            raise ValueError("loss_reduction must be SUM or SUM_OVER_BATCH_SIZE, got %s" % reduction)
        self.dimension = label_dimension if n_classes is None else 1 if n_classes == 2 else n_classes

    def _weights(self, features):
        if self._weight is None:
            return None
        key = self._weight if isinstance(self._weight, str) else self._weight.key
        given = tf.cast(features[key], tf.float32)
        return given[:, None] if given.shape.rank == 1 else given

    def _labels(self, labels):
        labels = tf.convert_to_tensor(next(iter(labels.values())) if isinstance(labels, dict) else labels)
        if self._words:
            table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(list(self._words), list(range(len(self._words))), value_dtype=tf.int64), -1)
            labels = table.lookup(labels)
        return labels[:, None] if labels.shape.rank == 1 else labels

    def _mean(self, losses, weights):
        """One number of the losses of samples, as the reduction says; they are a column."""
        if weights is not None:
            losses = losses * weights
        if self._reduction == "sum":
            return tf.reduce_sum(losses)
        return tf.reduce_sum(losses) / tf.cast(tf.size(losses), tf.float32)

    def spec(self, features, labels, mode, logits, train):
        """What the model function gives."""
        predictions, exports = self._predictions(logits)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=exports)
        labels, weights = self._labels(labels), self._weights(features)
        losses = self._losses(labels, logits)
        loss = self._mean(losses, weights)
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(labels, predictions, losses, weights)
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        return EstimatorSpec(mode, predictions, loss, train(loss))


class _Regression(_Head):
    def _predictions(self, logits):
        return {"predictions": logits}, {"serving_default": RegressionOutput(logits), "regression": RegressionOutput(logits),
                                         "predict": PredictOutput({"predictions": logits})}

    def _losses(self, labels, logits):
        labels = tf.cast(labels, tf.float32)
        return tf.math.squared_difference(logits, labels)

    def _metrics(self, labels, predictions, losses, weights):
        labels = tf.cast(labels, tf.float32)
        return {"average_loss": v1.metrics.mean(losses, weights), "label/mean": v1.metrics.mean(labels, weights),
                "prediction/mean": v1.metrics.mean(predictions["predictions"], weights)}


class _Binary(_Head):
    def _predictions(self, logits):
        logistic = tf.sigmoid(logits)
        two = tf.concat([tf.zeros_like(logits), logits], -1)
        ids = tf.argmax(two, -1)[:, None]
        probabilities, classes = tf.nn.softmax(two), _names(self._words, ids)
        made = {"logits": logits, "logistic": logistic, "probabilities": probabilities, "class_ids": ids, "classes": classes}
        every = tf.tile(tf.constant([list(self._words) if self._words else ["0", "1"]]), [tf.shape(logits)[0], 1])
        output = ClassificationOutput(probabilities, every)
        return made, {"serving_default": output, "classification": output, "regression": RegressionOutput(logistic), "predict": PredictOutput(made)}

    def _losses(self, labels, logits):
        return tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), logits)

    def _metrics(self, labels, predictions, losses, weights):
        labels, logistic, ids = tf.cast(labels, tf.float32), predictions["logistic"], predictions["class_ids"]
        mean = v1.metrics.mean(labels, weights)
        largest = (tf.maximum(mean[0], 1 - mean[0]), tf.group(mean[1]))
        return {"accuracy": v1.metrics.accuracy(labels, ids, weights), "precision": v1.metrics.precision(labels, ids, weights),
                "recall": v1.metrics.recall(labels, ids, weights), "auc": v1.metrics.auc(labels, logistic, weights),
                "auc_precision_recall": v1.metrics.auc(labels, logistic, weights, curve="PR", summation_method="careful_interpolation"),
                "average_loss": v1.metrics.mean(losses, weights), "label/mean": mean, "accuracy_baseline": largest,
                "prediction/mean": v1.metrics.mean(logistic, weights)}


class _Classes(_Head):
    def _predictions(self, logits):
        ids = tf.argmax(logits, -1)[:, None]
        probabilities = tf.nn.softmax(logits)
        made = {"logits": logits, "probabilities": probabilities, "class_ids": ids, "classes": _names(self._words, ids)}
        words = list(self._words) if self._words else [str(i) for i in range(self._classes)]
        output = ClassificationOutput(probabilities, tf.tile(tf.constant([words]), [tf.shape(logits)[0], 1]))
        return made, {"serving_default": output, "classification": output, "predict": PredictOutput(made)}

    def _losses(self, labels, logits):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels[:, 0], tf.int64), logits)[:, None]

    def _metrics(self, labels, predictions, losses, weights):
        return {"accuracy": v1.metrics.accuracy(labels, predictions["class_ids"], weights), "average_loss": v1.metrics.mean(losses, weights)}


def _names(words, ids):
    return tf.gather(tf.constant(list(words)), ids) if words else tf.strings.as_string(ids)


def _head(classes, label_dimension, weight_column, label_vocabulary, reduction):
    if classes is None:
        return _Regression(weight_column, reduction, label_dimension)
    return (_Binary if classes == 2 else _Classes)(weight_column, reduction, n_classes=classes, label_vocabulary=label_vocabulary)


# ---- models ----

def _wide(features, columns, units, scope):
    with v1.variable_scope(scope):
        logits = v1.feature_column.linear_model(features, columns, units=units)
    return logits, v1.trainable_variables(scope + "/")


def _deep(features, columns, hidden, units, activation, dropout, batch_norm, training, scope):
    if batch_norm:
        raise NotImplementedError("tf.estimator: batch_norm=True is not supported")
    with v1.variable_scope(scope):
        x = v1.feature_column.input_layer(features, columns)
        for i, size in enumerate(hidden):
            x = v1.layers.dense(x, size, activation=activation, kernel_initializer=v1.glorot_uniform_initializer(), name="hiddenlayer_%d" % i)
            if dropout and training:
                x = tf.nn.dropout(x, rate=dropout)
        logits = v1.layers.dense(x, units, kernel_initializer=v1.glorot_uniform_initializer(), name="logits")
    return logits, v1.trainable_variables(scope + "/")


class _Canned(Estimator):
    def _make(self, head, parts, model_dir, config):
        """parts(features, training) gives (logits, [(optimizer, variables)])."""
        def model_fn(features, labels, mode):
            logits, optimizers = parts(features, mode == ModeKeys.TRAIN)
            return head.spec(features, labels, mode, logits, lambda loss: _train_op(optimizers, loss))
        Estimator.__init__(self, model_fn, model_dir, config)


def _linear_part(head, columns, optimizer, scope="linear"):
    def part(features, training):
        del training
        logits, variables = _wide(features, columns, head.dimension, scope)
        rate = min(.2, 1. / math.sqrt(len(columns)))
        return logits, (_optimizer(optimizer, "Ftrl", rate), variables)
    return part


def _deep_part(head, columns, hidden, optimizer, activation, dropout, batch_norm, rate=.05, scope="dnn"):
    def part(features, training):
        logits, variables = _deep(features, columns, hidden, head.dimension, activation, dropout, batch_norm, training, scope)
        return logits, (_optimizer(optimizer, "Adagrad", rate), variables)
    return part


def _together(parts):
    def build(features, training):
        made = [part(features, training) for part in parts]
        logits = made[0][0] if len(made) == 1 else tf.add_n([logits for logits, _ in made])
        return logits, [optimizer for _, optimizer in made]
    return build


def _refuse(warm_start_from, sparse_combiner):
    if warm_start_from is not None:
        raise NotImplementedError("tf.estimator: warm_start_from is not supported")
    if sparse_combiner != "sum":
        raise NotImplementedError("tf.estimator: sparse_combiner %r is not supported; 'sum' is" % sparse_combiner)


# The models: which parts they have, and their arguments but those that all have.
_ENDS = "config=None, warm_start_from=None, loss_reduction='sum_over_batch_size'"
_DEEP = "optimizer='Adagrad', activation_fn=tf.nn.relu, dropout=None, " + _ENDS + ", batch_norm=False"
_BOTH = ("model_dir=None, linear_feature_columns=None, linear_optimizer='Ftrl', dnn_feature_columns=None, dnn_optimizer='Adagrad', dnn_hidden_units=None, "
         "dnn_activation_fn=tf.nn.relu, dnn_dropout=None, ")
_CLASSES, _NUMBERS = "n_classes=2, weight_column=None, label_vocabulary=None, ", "label_dimension=1, weight_column=None, "
_MODELS = {
    "LinearClassifier": ("feature_columns, model_dir=None, " + _CLASSES + "optimizer='Ftrl', " + _ENDS + ", sparse_combiner='sum'",
                         "Classes by a weighted sum of features."),
    "LinearRegressor": ("feature_columns, model_dir=None, " + _NUMBERS + "optimizer='Ftrl', " + _ENDS + ", sparse_combiner='sum'",
                        "Numbers by a weighted sum of features."),
    "DNNClassifier": ("hidden_units, feature_columns, model_dir=None, " + _CLASSES + _DEEP, "Classes by dense layers."),
    "DNNRegressor": ("hidden_units, feature_columns, model_dir=None, " + _NUMBERS + _DEEP, "Numbers by dense layers."),
    "DNNLinearCombinedClassifier": (_BOTH + _CLASSES + _ENDS + ", batch_norm=False, linear_sparse_combiner='sum'",
                                    "Classes by a weighted sum and dense layers together."),
    "DNNLinearCombinedRegressor": (_BOTH + _NUMBERS + _ENDS + ", batch_norm=False, linear_sparse_combiner='sum'",
                                   "Numbers by a weighted sum and dense layers together.")}


def _parts(head, given):
    """The parts of a model, of its arguments."""
    if "hidden_units" in given:
        optimizer = given["optimizer"]
        return [_deep_part(head, list(given["feature_columns"]), given["hidden_units"], optimizer, given["activation_fn"], given["dropout"], given["batch_norm"],
                           .001 if optimizer == "Adam" and "n_classes" in given else .05)]
    if "feature_columns" in given:
        return [_linear_part(head, list(given["feature_columns"]), given["optimizer"])]
    wide, deep, parts = given["linear_feature_columns"], given["dnn_feature_columns"], []
    if deep:
        parts.append(_deep_part(head, list(deep), given["dnn_hidden_units"], given["dnn_optimizer"], given["dnn_activation_fn"], given["dnn_dropout"],
                                given["batch_norm"]))
    if wide:
        parts.append(_linear_part(head, list(wide), given["linear_optimizer"]))
    if not parts:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return parts


def _begin(self, given):
    _refuse(given["warm_start_from"], given.get("sparse_combiner", given.get("linear_sparse_combiner", "sum")))
    head = _head(given.get("n_classes"), given.get("label_dimension", 1), given["weight_column"], given.get("label_vocabulary"), given["loss_reduction"])
    self._make(head, _together(_parts(head, given)), given["model_dir"], given["config"])


for _name, (_arguments, _doc) in _MODELS.items():
    _space = {"tf": tf, "_begin": _begin}
    exec("def __init__(self, %s):\n    _begin(self, locals())" % _arguments, _space)
    globals()[_name] = type(_name, (_Canned,), {"__init__": _space["__init__"], "__doc__": _doc, "__module__": __name__})
