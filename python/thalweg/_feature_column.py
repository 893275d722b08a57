"""tf.feature_column: what needs Python's own classes. The columns are rows (src/keras/features)."""
import thalweg as tf


def spec_of(column):
    """{key: FixedLenFeature or VarLenFeature} of a column's features."""
    made = {}
    for key, (kind, shape, dtype, default) in column._parse_spec().items():
        made[key] = tf.io.FixedLenFeature(shape, dtype, default) if kind == "fixed" else tf.io.VarLenFeature(dtype)
    return made


def make_parse_example_spec(feature_columns):
    """What tf.io.parse_example must know for these columns."""
    made = {}
    for column in feature_columns:
        if not isinstance(column, tf.feature_column._columns.FeatureColumn):
            raise ValueError("All feature_columns must be FeatureColumn instances. Given: %s" % (column,))
        for key, value in spec_of(column).items():
            if key in made and value != made[key]:
                raise ValueError("feature_columns contain different parse_spec for key %s. Given %s and %s" % (key, value, made[key]))
        made.update(spec_of(column))
    return made


def shared_embeddings(categorical_columns, dimension, combiner="mean", initializer=None, shared_embedding_collection_name=None, ckpt_to_load_from=None,
                      tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    """Columns that share one table of embeddings, in graphs of TensorFlow 1: not supported."""
    if tf.executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    raise NotImplementedError("tf.feature_column.shared_embeddings is not supported; use embedding_column for each column")


def _layer(columns, trainable):
    return tf.keras.layers.DenseFeatures(columns, trainable=trainable, name="input_layer")


def input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None, cols_to_output_tensors=None):
    """The numbers of the columns side by side, with variables of its own."""
    if weight_collections or cols_to_vars is not None or cols_to_output_tensors is not None:
        raise NotImplementedError("input_layer: weight_collections, cols_to_vars and cols_to_output_tensors are not supported")
    return _layer(feature_columns, trainable)(features)


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=tf.string):
    """The places of words among the lines of a file; arguments in TensorFlow 1's order."""
    return tf.feature_column.categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets)


def linear_model(features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True, cols_to_vars=None):
    """A weighted sum of the columns' numbers, and a bias; weights begin with 0."""
    if sparse_combiner != "sum" or weight_collections or cols_to_vars is not None:
        raise NotImplementedError("linear_model: sparse_combiner other than 'sum', weight_collections and cols_to_vars are not supported")
    v1, fc = tf.compat.v1, tf.feature_column
    columns = [feature_columns] if isinstance(feature_columns, fc._columns.FeatureColumn) else list(feature_columns)
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    parts = []
    with v1.variable_scope(None, default_name="linear_model"):
        for column in sorted(columns, key=lambda column: column.name):
            dense = column if hasattr(column, "variable_shape") else fc.indicator_column(column)
            numbers = tf.keras.layers.DenseFeatures(dense, name=column.name)(features)
            with v1.variable_scope(column.name):
                weights = v1.get_variable("weights", [numbers.shape[1], units], initializer=v1.zeros_initializer(), trainable=trainable)
            parts.append(tf.matmul(numbers, weights))
        bias = v1.get_variable("bias_weights", [units], initializer=v1.zeros_initializer(), trainable=trainable)
        return tf.nn.bias_add(tf.add_n(parts), bias)
