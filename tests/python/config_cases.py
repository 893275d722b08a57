"""Every class of Keras that has a config, each with its defaults and with unusual settings: what configs, files and their round trips are tested with.

`tf` is TensorFlow (tests/golden/config_values.py) or thalweg (test_config_round_trips.py); both make the same objects. A class without a row fails a test."""
import numpy as np

A, B, C, V = (4,), (5, 4), (6, 6, 2), (4, 5, 4, 2)  # shapes of inputs: a vector, a sequence, a picture, a volume


def layer_rows(tf):
    """class -> list of (keywords, shapes of the inputs), the latter one shape or a list of them."""
    k = tf.keras
    init, reg, con, L = k.initializers, k.regularizers, k.constraints, k.layers
    common = dict(kernel_initializer=init.RandomUniform(-0.5, 0.5, seed=3), bias_initializer="ones", kernel_regularizer=reg.L1L2(0.01, 0.02),
                  bias_regularizer="l2", activity_regularizer=reg.L1(0.03), kernel_constraint=con.MaxNorm(2.0, axis=[0]), bias_constraint="non_neg")
    depth = dict(depthwise_initializer="he_normal", depthwise_regularizer="l1", depthwise_constraint=con.UnitNorm(), bias_initializer="ones",
                 bias_regularizer=reg.L2(0.1), bias_constraint="non_neg")
    separable = dict(depth, pointwise_initializer=init.Constant(0.5), pointwise_regularizer="l2", pointwise_constraint="non_neg")
    recurrent = dict(activation="relu", use_bias=True, kernel_initializer="he_uniform", recurrent_initializer=init.Orthogonal(gain=1.5, seed=2),
                     bias_initializer="ones", kernel_regularizer="l2", recurrent_regularizer=reg.L1(0.1), bias_regularizer="l1",
                     kernel_constraint="max_norm", recurrent_constraint=con.NonNeg(), bias_constraint="non_neg", dropout=0.1, recurrent_dropout=0.2)
    sequence = dict(return_sequences=True, go_backwards=True, activity_regularizer="l1")
    return {
        "Activation": [(dict(activation="relu"), A), (dict(activation="softmax", name="other", trainable=False, dtype="float64"), A)],
        "ActivityRegularization": [({}, A), (dict(l1=0.1, l2=0.2), A)],
        "Add": [({}, [A, A])], "Subtract": [({}, [A, A])], "Multiply": [({}, [A, A, A])], "Average": [({}, [A, A])],
        "Maximum": [({}, [A, A])], "Minimum": [({}, [A, A])],
        "Concatenate": [({}, [A, B[1:]]), (dict(axis=1), [B, (3, 4)])],
        "Dot": [(dict(axes=1), [A, A]), (dict(axes=(2, 2), normalize=True), [B, (3, 4)])],
        "AdditiveAttention": [({}, [B, B]), (dict(use_scale=False, dropout=0.2), [B, B])],
        "Attention": [({}, [B, B]), (dict(use_scale=True, score_mode="concat", dropout=0.2), [B, B])],
        "AlphaDropout": [(dict(rate=0.2), A), (dict(rate=0.3, noise_shape=(None, 1), seed=4), A)],
        "Dropout": [(dict(rate=0.2), A), (dict(rate=0.3, noise_shape=(None, 1), seed=4), A)],
        "SpatialDropout1D": [(dict(rate=0.2), B), (dict(rate=0.3, name="s"), B)],
        "SpatialDropout2D": [(dict(rate=0.2), C), (dict(rate=0.3, data_format="channels_last"), C)],
        "GaussianDropout": [(dict(rate=0.2), A), (dict(rate=0.3, seed=5), A)],
        "GaussianNoise": [(dict(stddev=0.2), A), (dict(stddev=0.3, seed=5), A)],
        "AveragePooling1D": [({}, B), (dict(pool_size=3, strides=1, padding="same"), B)],
        "MaxPooling1D": [({}, B), (dict(pool_size=3, strides=1, padding="same"), B)],
        "AveragePooling2D": [({}, C), (dict(pool_size=(3, 2), strides=(1, 2), padding="same"), C)],
        "MaxPooling2D": [({}, C), (dict(pool_size=3, strides=1, padding="same"), C)],
        "GlobalAveragePooling1D": [({}, B), (dict(keepdims=True), B)], "GlobalMaxPooling1D": [({}, B), (dict(keepdims=True), B)],
        "GlobalAveragePooling2D": [({}, C), (dict(keepdims=True), C)], "GlobalMaxPooling2D": [({}, C), (dict(keepdims=True), C)],
        "BatchNormalization": [({}, A), (dict(axis=2, momentum=0.9, epsilon=0.01, center=True, scale=False, beta_initializer="ones",
                                              moving_mean_initializer=init.Constant(0.5), moving_variance_initializer="ones",
                                              beta_regularizer="l2", beta_constraint="non_neg"), C)],
        "LayerNormalization": [({}, A), (dict(axis=[1, 2], epsilon=0.01, center=False, gamma_initializer="he_normal", gamma_regularizer="l1",
                                              gamma_constraint="non_neg"), C)],
        "GroupNormalization": [(dict(groups=2), A), (dict(groups=-1, axis=-1, epsilon=0.01, scale=False, beta_initializer="ones",
                                                         beta_regularizer="l2", beta_constraint="non_neg"), C)],
        "UnitNormalization": [({}, A), (dict(axis=[1, 2]), C)],
        "Bidirectional": [(dict(layer=L.LSTM(2, name="inner")), B),
                          (dict(layer=L.GRU(2, return_sequences=True, name="inner"), merge_mode="sum"), B),
                          (dict(layer=L.SimpleRNN(2, name="inner"), backward_layer=L.SimpleRNN(2, go_backwards=True, activation="relu", name="back"),
                                merge_mode="mul"), B)],
        "TimeDistributed": [(dict(layer=L.Dense(3, name="inner")), B), (dict(layer=L.Conv2D(2, 2, name="inner")), (2,) + C)],
        "Conv1D": [(dict(filters=3, kernel_size=2), B),
                   (dict(common, filters=2, kernel_size=2, strides=2, padding="causal", groups=2, activation="relu", use_bias=True), B),
                   (dict(filters=3, kernel_size=2, dilation_rate=2, padding="same", use_bias=False), B)],
        "Conv2D": [(dict(filters=3, kernel_size=2), C),
                   (dict(common, filters=2, kernel_size=(3, 2), strides=(2, 1), padding="same", groups=2, activation="tanh"), C),
                   (dict(filters=3, kernel_size=2, dilation_rate=(2, 1), use_bias=False), C)],
        "Conv1DTranspose": [(dict(filters=3, kernel_size=2), B),
                            (dict(common, filters=2, kernel_size=3, strides=2, padding="same", output_padding=1, activation="relu"), B)],
        "Conv2DTranspose": [(dict(filters=3, kernel_size=2), C),
                            (dict(common, filters=2, kernel_size=3, strides=(2, 2), padding="same", output_padding=(1, 1), activation="relu"), C)],
        "DepthwiseConv1D": [(dict(kernel_size=2), B), (dict(depth, kernel_size=3, strides=2, padding="same", depth_multiplier=2, activation="relu"), B)],
        "DepthwiseConv2D": [(dict(kernel_size=2), C), (dict(depth, kernel_size=(3, 3), strides=2, padding="same", depth_multiplier=2, activation="relu"), C)],
        "SeparableConv1D": [(dict(filters=3, kernel_size=2), B),
                            (dict(separable, filters=3, kernel_size=3, strides=2, padding="same", depth_multiplier=2, activation="relu"), B)],
        "SeparableConv2D": [(dict(filters=3, kernel_size=2), C),
                            (dict(separable, filters=3, kernel_size=(3, 3), strides=(2, 2), padding="same", depth_multiplier=2, activation="relu"), C)],
        "Conv3D": [(dict(filters=3, kernel_size=2), V),
                   (dict(common, filters=2, kernel_size=(3, 2, 1), strides=(2, 1, 2), padding="same", groups=2, activation="tanh"), V),
                   (dict(filters=3, kernel_size=2, dilation_rate=(2, 1, 2), use_bias=False), V)],
        "Conv3DTranspose": [(dict(filters=3, kernel_size=2), V),
                            (dict(common, filters=2, kernel_size=3, strides=(2, 2, 2), padding="same", output_padding=(1, 0, 1), activation="relu"), V)],
        "MaxPooling3D": [({}, V), (dict(pool_size=(3, 2, 1), strides=(1, 2, 1), padding="same"), V)],
        "AveragePooling3D": [({}, V), (dict(pool_size=3, strides=1, padding="same"), V)],
        "GlobalAveragePooling3D": [({}, V), (dict(keepdims=True), V)], "GlobalMaxPooling3D": [({}, V), (dict(keepdims=True), V)],
        "SpatialDropout3D": [(dict(rate=0.2), V), (dict(rate=0.3, data_format="channels_last"), V)],
        "Cropping3D": [({}, V), (dict(cropping=(1, 2, 0)), V), (dict(cropping=((1, 2), (0, 3), (1, 1))), V)],
        "ZeroPadding3D": [({}, V), (dict(padding=(2, 1, 0)), V), (dict(padding=((1, 2), (0, 3), (1, 1))), V)],
        "UpSampling3D": [({}, V), (dict(size=(2, 1, 3)), V)],
        "LocallyConnected1D": [(dict(filters=3, kernel_size=2), B), (dict(common, filters=2, kernel_size=3, strides=2, activation="relu"), B),
                               (dict(filters=2, kernel_size=2, padding="same", implementation=2), B), (dict(filters=2, kernel_size=2, implementation=3, use_bias=False), B)],
        "LocallyConnected2D": [(dict(filters=3, kernel_size=2), C), (dict(common, filters=2, kernel_size=(3, 2), strides=(2, 1), activation="relu"), C),
                               (dict(filters=2, kernel_size=2, padding="same", implementation=2), C), (dict(filters=2, kernel_size=2, implementation=3), C)],
        "SpectralNormalization": [(dict(layer=L.Dense(3, name="inner")), A), (dict(layer=L.Conv2D(2, 2, name="inner"), power_iterations=3), C)],
        "ConvLSTM1D": [(dict(filters=2, kernel_size=2), (3,) + B), (dict(recurrent, **sequence, filters=3, kernel_size=3, padding="same", recurrent_activation="sigmoid"), (3,) + B)],
        "ConvLSTM2D": [(dict(filters=2, kernel_size=2), (3,) + C),
                       (dict(recurrent, **sequence, filters=3, kernel_size=(3, 2), strides=(2, 1), padding="same", unit_forget_bias=False), (3,) + C)],
        "ConvLSTM3D": [(dict(filters=2, kernel_size=2), (3,) + V), (dict(filters=2, kernel_size=2, padding="same", use_bias=False, return_sequences=True), (3,) + V)],
        "Cropping1D": [({}, B), (dict(cropping=(1, 2)), B), (dict(cropping=2), B)],
        "Cropping2D": [(dict(cropping=1), C), (dict(cropping=(2, 1)), C), (dict(cropping=((1, 2), (0, 3))), C)],
        "ZeroPadding1D": [({}, B), (dict(padding=(1, 2)), B)],
        "ZeroPadding2D": [({}, C), (dict(padding=(2, 1)), C), (dict(padding=((1, 2), (0, 3))), C)],
        "UpSampling1D": [({}, B), (dict(size=3), B)],
        "UpSampling2D": [({}, C), (dict(size=(2, 3), interpolation="bilinear"), C)],
        "Dense": [(dict(units=3), A), (dict(common, units=2, activation="softmax"), B), (dict(units=2, activation=k.activations.gelu, use_bias=False, dtype="float64"), A)],
        "EinsumDense": [(dict(equation="ab,bc->ac", output_shape=3), A),
                        (dict({k: v for k, v in common.items() if k != "activity_regularizer"}, equation="...x,xy->...y", output_shape=3, bias_axes="y", activation="relu"), B)],
        "Embedding": [(dict(input_dim=5, output_dim=3), A),
                      (dict(input_dim=6, output_dim=2, embeddings_initializer="he_normal", embeddings_regularizer="l2", embeddings_constraint="non_neg",
                            mask_zero=True, input_length=4), A)],
        "ELU": [({}, A), (dict(alpha=0.3), A)], "LeakyReLU": [({}, A), (dict(alpha=0.1), A)], "ThresholdedReLU": [({}, A), (dict(theta=0.5), A)],
        "PReLU": [({}, A), (dict(alpha_initializer="ones", alpha_regularizer="l2", alpha_constraint="non_neg", shared_axes=[1, 2]), C)],
        "ReLU": [({}, A), (dict(max_value=2.0, negative_slope=0.1, threshold=0.2), A)],
        "Softmax": [({}, A), (dict(axis=1), B)],
        "Flatten": [({}, C), (dict(data_format="channels_first"), C)],
        "Reshape": [(dict(target_shape=(2, 2)), A), (dict(target_shape=(-1, 10)), B)],
        "Permute": [(dict(dims=(2, 1)), B), (dict(dims=(3, 1, 2)), C)],
        "RepeatVector": [(dict(n=3), A)],
        "Identity": [({}, A)],
        "InputLayer": [],
        "CategoryEncoding": [(dict(num_tokens=4), A), (dict(num_tokens=5, output_mode="count", name="other"), A)],
        "Hashing": [(dict(num_bins=4), A), (dict(num_bins=5, mask_value=1, salt=7, output_mode="multi_hot"), A), (dict(num_bins=5, salt=[3, 4], output_mode="count"), A)],
        "HashedCrossing": [(dict(num_bins=6), [(1,), (1,)]), (dict(num_bins=5, output_mode="one_hot"), [(1,), (1,)])],
        "Discretization": [(dict(bin_boundaries=[0.0, 0.5, 1.0]), A), (dict(bin_boundaries=[0.0, 0.5], output_mode="count", epsilon=0.02), A)],
        "StringLookup": [(dict(vocabulary=["0", "2"]), A), (dict(vocabulary=["0", "2"], num_oov_indices=2, mask_token="1", max_tokens=9), A),
                         (dict(vocabulary=["0", "2"], output_mode="tf_idf", idf_weights=[0.5, 2.0], max_tokens=6, pad_to_max_tokens=True), A)],
        "IntegerLookup": [(dict(vocabulary=[0, 2]), A), (dict(vocabulary=[3, 0], num_oov_indices=2, mask_token=1, output_mode="count"), A),
                          (dict(vocabulary=[3, 7], invert=True, oov_token=-5), A)],
        "TextVectorization": [(dict(vocabulary=["one", "two"]), (1,)), (dict(vocabulary=["one", "two"], ngrams=2, output_mode="count", standardize="lower"), (1,)),
                              (dict(vocabulary=["o", "t"], split="character", output_sequence_length=3, max_tokens=9), (1,))],
        "Masking": [({}, B), (dict(mask_value=1.5), B)],
        "Normalization": [({}, A), (dict(axis=None), A), (dict(axis=(1, 3), invert=True), C), (dict(mean=1.5, variance=[1.0, 2.0, 3.0, 4.0]), A)],
        "Rescaling": [(dict(scale=0.5), A), (dict(scale=2.0, offset=1.5), A)],
        "Resizing": [(dict(height=3, width=4), C), (dict(height=4, width=3, interpolation="nearest"), C), (dict(height=4, width=2, crop_to_aspect_ratio=True), C)],
        "CenterCrop": [(dict(height=3, width=2), C), (dict(height=7, width=2, name="c"), C)], "RandomCrop": [(dict(height=3, width=2, seed=1), None)],
        "RandomFlip": [({}, None), (dict(mode="vertical", seed=2), None)], "RandomRotation": [(dict(factor=0.2), None), (dict(factor=(-0.1, 0.2), fill_mode="wrap", seed=3), None)],
        "RandomZoom": [(dict(height_factor=0.2), None), (dict(height_factor=(0.1, 0.2), width_factor=0.3, interpolation="nearest", fill_value=2.0), None)],
        "RandomTranslation": [(dict(height_factor=0.2, width_factor=0.1), None), (dict(height_factor=(0.1, 0.2), width_factor=0.3, fill_mode="constant"), None)],
        "RandomContrast": [(dict(factor=0.2), None), (dict(factor=[0.2, 0.4], seed=4), None)],
        "RandomBrightness": [(dict(factor=0.2), None), (dict(factor=(0.4, -0.2), value_range=(0.0, 1.0), seed=4), None)],
        "RandomHeight": [(dict(factor=0.2), None)], "RandomWidth": [(dict(factor=[0.2, 0.3], interpolation="nearest", seed=2), None)],
        "MultiHeadAttention": [(dict(num_heads=2, key_dim=3), [B, B]),
                               (dict(num_heads=2, key_dim=3, value_dim=2, dropout=0.1, use_bias=False, output_shape=5, attention_axes=(1,),
                                     kernel_initializer="he_normal", kernel_regularizer="l2", kernel_constraint="non_neg"), [B, B])],
        "SimpleRNN": [(dict(units=2), B), (dict(recurrent, **sequence, units=3, unroll=True), B)],
        "LSTM": [(dict(units=2), B), (dict(recurrent, **sequence, units=3, recurrent_activation="hard_sigmoid", unit_forget_bias=False), B)],
        "GRU": [(dict(units=2), B), (dict(recurrent, **sequence, units=3, recurrent_activation="hard_sigmoid", reset_after=False), B)],
        "RNN": [(dict(cell=L.LSTMCell(2, name="inner")), B),
                (dict(cell=[L.GRUCell(2, name="first"), L.SimpleRNNCell(3, name="second")], return_sequences=True), B),
                (dict(cell=L.StackedRNNCells([L.LSTMCell(2, name="first"), L.LSTMCell(3, name="second")], name="stack"), go_backwards=True), B)],
        "SimpleRNNCell": [(dict(recurrent, units=3), None), (dict(units=2), None)],
        "LSTMCell": [(dict(units=2), None), (dict(recurrent, units=3, recurrent_activation="tanh", unit_forget_bias=False), None)],
        "GRUCell": [(dict(units=2), None), (dict(recurrent, units=3, recurrent_activation="tanh", reset_after=False), None)],
        "StackedRNNCells": [(dict(cells=[L.LSTMCell(2, name="first"), L.GRUCell(3, name="second")]), None)],
    }


# Bases, and what holds code: no config of their own to test.
NO_ROW = {"AbstractRNNCell", "InputSpec", "_ConvLSTMCell", "Layer", "Lambda", "Wrapper", "InputLayer", "DenseFeatures"}


def object_rows(tf):
    """kind -> class -> list of keywords; for losses, metrics, optimizers and so on."""
    k = tf.keras
    s = k.optimizers.schedules
    crossentropy = [{}, dict(from_logits=True, label_smoothing=0.1, axis=-1, name="other", reduction="sum")]
    plain = [{}, dict(name="other", reduction="sum_over_batch_size")]
    metric = [{}, dict(name="other", dtype="float64")]
    counted = [{}, dict(thresholds=[0.2, 0.7], name="other")]
    old = dict(clipnorm=1.5, decay=0.25, name="other")
    step = dict(weight_decay=0.01, clipnorm=1.5, name="other", jit_compile=False)
    return {
        "losses": {
            "BinaryCrossentropy": crossentropy, "CategoricalCrossentropy": crossentropy,
            "BinaryFocalCrossentropy": [{}, dict(apply_class_balancing=True, alpha=0.3, gamma=3.0, from_logits=True, label_smoothing=0.1)],
            "CategoricalFocalCrossentropy": [{}, dict(alpha=0.3, gamma=3.0, from_logits=True, label_smoothing=0.1)],
            "SparseCategoricalCrossentropy": [{}, dict(from_logits=True, ignore_class=1, name="other")],
            "CategoricalHinge": plain, "Hinge": plain, "KLDivergence": plain, "LogCosh": plain, "MeanAbsoluteError": plain,
            "MeanAbsolutePercentageError": plain, "MeanSquaredError": plain, "MeanSquaredLogarithmicError": plain, "Poisson": plain,
            "SquaredHinge": plain, "CosineSimilarity": [{}, dict(axis=1, name="other")], "Huber": [{}, dict(delta=2.0, reduction="none")],
        },
        "metrics": {
            "AUC": [{}, dict(num_thresholds=50, curve="PR", summation_method="minoring", from_logits=True, name="other"), dict(thresholds=[0.2, 0.5]),
                    dict(multi_label=True), dict(multi_label=True, num_labels=3, curve="PR", label_weights=[0.25, 0.5, 0.25])],
            "Accuracy": metric, "BinaryAccuracy": [{}, dict(threshold=0.3)], "CategoricalAccuracy": metric, "SparseCategoricalAccuracy": metric,
            "BinaryCrossentropy": [{}, dict(from_logits=True, label_smoothing=0.1)], "CategoricalCrossentropy": [{}, dict(from_logits=True, label_smoothing=0.1, axis=-1)],
            "SparseCategoricalCrossentropy": [{}, dict(from_logits=True, ignore_class=1)], "CategoricalHinge": metric, "Hinge": metric,
            "CosineSimilarity": [{}, dict(axis=1)], "KLDivergence": metric, "LogCoshError": metric, "Mean": metric, "Sum": metric, "MeanAbsoluteError": metric,
            "MeanAbsolutePercentageError": metric, "MeanSquaredError": metric, "MeanSquaredLogarithmicError": metric, "Poisson": metric,
            "RootMeanSquaredError": metric, "SquaredHinge": metric, "TopKCategoricalAccuracy": [{}, dict(k=3)], "SparseTopKCategoricalAccuracy": [{}, dict(k=3)],
            "FalseNegatives": counted, "FalsePositives": counted, "TrueNegatives": counted, "TruePositives": counted,
            "Precision": [{}, dict(thresholds=0.3, class_id=1), dict(top_k=2)], "Recall": [{}, dict(thresholds=[0.3, 0.6], class_id=1), dict(top_k=2)],
            **{name: [{argument: 0.5}, dict({argument: 0.25}, num_thresholds=7, class_id=1, name="other")] for name, argument in
               {"SensitivityAtSpecificity": "specificity", "SpecificityAtSensitivity": "sensitivity", "PrecisionAtRecall": "recall",
                "RecallAtPrecision": "precision"}.items()},
            "IoU": [dict(num_classes=3, target_class_ids=[0, 2]), dict(num_classes=4, target_class_ids=(1,), ignore_class=-1, sparse_y_true=False, axis=0)],
            "MeanIoU": [dict(num_classes=3), dict(num_classes=4, ignore_class=255, sparse_y_pred=False, axis=1)],
            "BinaryIoU": [{}, dict(target_class_ids=[1], threshold=0.25)],
            "OneHotIoU": [dict(num_classes=3, target_class_ids=[0]), dict(num_classes=4, target_class_ids=[1, 2], ignore_class=0, sparse_y_pred=True, axis=0)],
            "OneHotMeanIoU": [dict(num_classes=3), dict(num_classes=4, ignore_class=0, sparse_y_pred=True, axis=0)],
            "FBetaScore": [{}, dict(average="micro", beta=2.0, threshold=0.5)], "F1Score": [{}, dict(average="weighted", threshold=0.5, name="other")],
            "R2Score": [{}, dict(class_aggregation=None, num_regressors=2)], "MeanTensor": [{}, dict(name="other", shape=(2, 3))],
            "MeanRelativeError": [dict(normalizer=2.0), dict(normalizer=0.25, name="other"), dict(normalizer=[0.5, 2.0])],
        },
        "optimizers": {
            "Adadelta": [{}, dict(step, learning_rate=0.5, rho=0.9, epsilon=1e-5)],
            "Adafactor": [{}, dict(step, learning_rate=0.5, beta_2_decay=-0.5, epsilon_1=1e-20, epsilon_2=0.01, clip_threshold=0.5, relative_step=False)],
            "Adagrad": [{}, dict(step, learning_rate=0.5, initial_accumulator_value=0.2, epsilon=1e-5)],
            "Adam": [{}, dict(step, learning_rate=s.ExponentialDecay(0.1, 10, 0.9, staircase=True), beta_1=0.8, beta_2=0.9, epsilon=1e-5, amsgrad=True)],
            "AdamW": [{}, dict(learning_rate=0.5, weight_decay=0.1, beta_1=0.8, beta_2=0.9, epsilon=1e-5, amsgrad=True, clipvalue=0.5)],
            "Adamax": [{}, dict(step, learning_rate=0.5, beta_1=0.8, beta_2=0.9, epsilon=1e-5)],
            "Ftrl": [{}, dict(learning_rate=0.5, learning_rate_power=-0.4, initial_accumulator_value=0.2, l1_regularization_strength=0.1,
                              l2_regularization_strength=0.2, l2_shrinkage_regularization_strength=0.3, beta=0.4)],
            "Lion": [{}, dict(step, learning_rate=0.5, beta_1=0.8, beta_2=0.9)],
            "Nadam": [{}, dict(step, learning_rate=0.5, beta_1=0.8, beta_2=0.9, epsilon=1e-5)],
            "RMSprop": [{}, dict(step, learning_rate=0.5, rho=0.8, momentum=0.3, epsilon=1e-5, centered=True)],
            "SGD": [{}, dict(learning_rate=0.5, momentum=0.9, nesterov=True, global_clipnorm=2.0)],
        },
        "legacy": {
            "Adadelta": [{}, dict(old, learning_rate=0.5, rho=0.75, epsilon=1e-5)], "Adagrad": [{}, dict(old, initial_accumulator_value=0.25, epsilon=1e-5)],
            "Adam": [{}, dict(old, learning_rate=s.ExponentialDecay(0.1, 10, 0.9), beta_1=0.75, beta_2=0.875, epsilon=1e-5, amsgrad=True)],
            "Adamax": [{}, dict(old, learning_rate=0.5, beta_1=0.75, epsilon=1e-5)], "Nadam": [{}, dict(learning_rate=0.5, beta_1=0.75, epsilon=1e-5, name="other")],
            "RMSprop": [{}, dict(old, rho=0.75, momentum=0.25, epsilon=1e-5, centered=True)], "SGD": [{}, dict(momentum=0.5, nesterov=True, clipvalue=2.0)],
            "Ftrl": [{}, dict(learning_rate_power=-0.25, initial_accumulator_value=0.25, l1_regularization_strength=0.125, l2_regularization_strength=0.25,
                              l2_shrinkage_regularization_strength=0.5, beta=0.75, global_clipnorm=1.0)],
        },
        "schedules": {
            "CosineDecay": [dict(initial_learning_rate=0.1, decay_steps=10), dict(initial_learning_rate=0.1, decay_steps=10, alpha=0.2, warmup_target=0.5, warmup_steps=3, name="other")],
            "CosineDecayRestarts": [dict(initial_learning_rate=0.1, first_decay_steps=10), dict(initial_learning_rate=0.1, first_decay_steps=10, t_mul=3.0, m_mul=0.5, alpha=0.1, name="other")],
            "ExponentialDecay": [dict(initial_learning_rate=0.1, decay_steps=10, decay_rate=0.9), dict(initial_learning_rate=0.1, decay_steps=10, decay_rate=0.9, staircase=True, name="other")],
            "InverseTimeDecay": [dict(initial_learning_rate=0.1, decay_steps=10, decay_rate=0.9), dict(initial_learning_rate=0.1, decay_steps=10, decay_rate=0.9, staircase=True, name="other")],
            "PiecewiseConstantDecay": [dict(boundaries=[5, 10], values=[0.3, 0.2, 0.1]), dict(boundaries=[2], values=[1.0, 0.5], name="other")],
            "PolynomialDecay": [dict(initial_learning_rate=0.1, decay_steps=10), dict(initial_learning_rate=0.1, decay_steps=10, end_learning_rate=0.01, power=2.0, cycle=True, name="other")],
        },
        "initializers": {
            "Constant": [{}, dict(value=2.5)], "Zeros": [{}], "Ones": [{}], "Identity": [{}, dict(gain=2.0)], "Orthogonal": [{}, dict(gain=2.0, seed=3)],
            "GlorotNormal": [{}, dict(seed=3)], "GlorotUniform": [{}, dict(seed=3)], "HeNormal": [{}, dict(seed=3)], "HeUniform": [{}, dict(seed=3)],
            "LecunNormal": [{}, dict(seed=3)], "LecunUniform": [{}, dict(seed=3)],
            "RandomNormal": [{}, dict(mean=1.0, stddev=2.0, seed=3)], "RandomUniform": [{}, dict(minval=-1.0, maxval=2.0, seed=3)],
            "TruncatedNormal": [{}, dict(mean=1.0, stddev=2.0, seed=3)],
            "VarianceScaling": [{}, dict(scale=2.0, mode="fan_avg", distribution="uniform", seed=3)],
        },
        "regularizers": {"L1": [{}, dict(l1=0.3)], "L2": [{}, dict(l2=0.3)], "L1L2": [{}, dict(l1=0.1, l2=0.3)],
                         "OrthogonalRegularizer": [{}, dict(factor=0.3, mode="columns")]},
        "constraints": {"MaxNorm": [{}, dict(max_value=3.0, axis=[0, 1])], "MinMaxNorm": [{}, dict(min_value=0.1, max_value=3.0, rate=0.5, axis=1)], "NonNeg": [{}],
                        "UnitNorm": [{}, dict(axis=[0, 1])], "RadialConstraint": [{}]},
    }


NO_OBJECT_ROW = {"losses": {"Loss", "Reduction", "_Reduction"}, "metrics": {"Metric", "MeanMetricWrapper"}, "optimizers": {"Optimizer"}, "legacy": {"Optimizer"}, "schedules": {"LearningRateSchedule"},
                 "initializers": {"Initializer", "IdentityInitializer"}, "regularizers": {"Regularizer"}, "constraints": {"Constraint"}}


def module_of(tf, kind):
    return getattr(tf.keras.optimizers, kind) if kind in ("schedules", "legacy") else getattr(tf.keras, kind)


def values_for(shape, number, integers=False):
    size = int(np.prod(shape))
    values = np.sin(np.arange(size) * 0.7 + number).astype(np.float32).reshape(shape)
    return (np.abs(values) * 4).astype(np.int32) if integers else values


WHOLE_NUMBERS = ("Embedding", "CategoryEncoding", "Hashing", "HashedCrossing", "StringLookup", "IntegerLookup")  # what inputs are


def inputs_of(name, shapes):
    """The values that a layer's model is called with."""
    many = shapes if isinstance(shapes, list) else [shapes]
    if name == "TextVectorization":
        return [np.array([["One, two"], ["two three one"]])]
    values = [values_for((2,) + shape, i, name in WHOLE_NUMBERS) for i, shape in enumerate(many)]
    return [v.astype(str) for v in values] if name == "StringLookup" else values


def input_dtype(name, keywords):
    return "string" if name in ("StringLookup", "TextVectorization") else "int32" if name in WHOLE_NUMBERS else keywords.get("dtype")


def model_of(tf, name, keywords, shapes):
    """A model of the layer alone, its weights set to values of their own."""
    k = tf.keras
    tf.keras.backend.clear_session()
    many = shapes if isinstance(shapes, list) else [shapes]
    inputs = [k.Input(shape, name="in%d" % i, dtype=input_dtype(name, keywords)) for i, shape in enumerate(many)]
    layer = getattr(k.layers, name)(**keywords)
    if name == "MultiHeadAttention":
        outputs = layer(*inputs)
    else:
        outputs = layer(inputs if isinstance(shapes, list) else inputs[0])
    model = k.Model(inputs, outputs, name="whole")
    set_weights(model)
    return model


def set_weights(model):
    model.set_weights([np.abs(values_for(w.shape, i)) + 0.1 for i, w in enumerate(model.get_weights())])


def layer_cases(tf):
    """(key, class, keywords, shapes) of all rows."""
    for name, rows in layer_rows(tf).items():
        for i, (keywords, shapes) in enumerate(rows):
            yield "%s-%d" % (name, i), name, keywords, shapes


def object_cases(tf):
    for kind, classes in object_rows(tf).items():
        for name, rows in classes.items():
            for i, keywords in enumerate(rows):
                yield "%s.%s-%d" % (kind, name, i), kind, name, keywords
