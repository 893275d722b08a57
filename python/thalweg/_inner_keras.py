"""Where names of keras.src.* are, which programs import although they are not public: modules of Keras 2.15 and the public modules that hold their names;
and small things of theirs that have no public name."""
import thalweg as tf

_MODULES = """
: activations backend backend_config callbacks callbacks_v1 constraints losses regularizers
applications: convnext densenet efficientnet efficientnet_v2 imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2 mobilenet_v3 nasnet regnet resnet resnet_rs resnet_v2 vgg16 vgg19 xception
datasets: boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters
engine: base_layer base_layer_utils base_preprocessing_layer compile_utils data_adapter functional input_layer input_spec keras_tensor node sequential training training_utils
export: export_lib
feature_column: dense_features dense_features_v2
initializers: initializers initializers_v1
layers: kernelized noise serialization
layers.activation: elu leaky_relu prelu relu softmax thresholded_relu
layers.attention: additive_attention attention base_dense_attention multi_head_attention
layers.convolutional: base_conv base_depthwise_conv base_separable_conv conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose depthwise_conv1d depthwise_conv2d separable_conv1d separable_conv2d
layers.core: activation dense einsum_dense embedding identity lambda_layer masking tf_op_layer
layers.locally_connected: locally_connected1d locally_connected2d
layers.merging: add average base_merge concatenate dot maximum minimum multiply subtract
layers.normalization: batch_normalization batch_normalization_v1 group_normalization layer_normalization spectral_normalization unit_normalization
layers.pooling: average_pooling1d average_pooling2d average_pooling3d global_average_pooling1d global_average_pooling2d global_average_pooling3d global_max_pooling1d global_max_pooling2d global_max_pooling3d max_pooling1d max_pooling2d max_pooling3d
layers.preprocessing: category_encoding discretization hashed_crossing hashing image_preprocessing integer_lookup normalization string_lookup text_vectorization
layers.regularization: activity_regularization alpha_dropout dropout gaussian_dropout gaussian_noise spatial_dropout1d spatial_dropout2d spatial_dropout3d
layers.reshaping: cropping1d cropping2d cropping3d flatten permute repeat_vector reshape up_sampling1d up_sampling2d up_sampling3d zero_padding1d zero_padding2d zero_padding3d
layers.rnn: abstract_rnn_cell base_rnn base_wrapper bidirectional conv_lstm1d conv_lstm2d conv_lstm3d gru lstm rnn_utils simple_rnn stacked_rnn_cells time_distributed
legacy_tf_layers: base convolutional core normalization pooling
metrics: accuracy_metrics base_metric confusion_metrics f_score_metrics hinge_metrics iou_metrics probabilistic_metrics regression_metrics
mixed_precision: autocast_variable loss_scale_optimizer policy
models: cloning sharpness_aware_minimization
optimizers: adadelta adagrad adam adamax adamw ftrl lion nadam optimizer rmsprop sgd
optimizers.legacy: adadelta adagrad adam adamax ftrl gradient_descent nadam optimizer_v2 rmsprop
optimizers.schedules: learning_rate_schedule
premade_models: linear wide_deep
preprocessing: image sequence text
saving: object_registration pickle_utils saving_api saving_lib serialization_lib
saving.legacy: hdf5_format model_config save saving_utils serialization
testing_infra: test_utils
utils: audio_dataset control_flow_util conv_utils data_utils dataset_utils feature_space generic_utils image_dataset image_utils io_utils layer_utils losses_utils metrics_utils np_utils object_identity text_dataset tf_contextlib tf_inspect tf_utils timeseries_dataset traceback_utils version_utils vis_utils
"""
# Where the names of a package's modules are looked up, if not in the public module of the same path.
_PLACES = {"layers": ("keras.layers", "_inner_keras"), "engine": ("keras.layers", "keras", "keras.utils", "_inner_keras", "_inner"),
           "optimizers.legacy": ("keras.optimizers.legacy",), "optimizers.schedules": ("keras.optimizers.schedules",), "optimizers": ("keras.optimizers",),
           "utils": ("keras.utils", "_inner_keras", "_inner"), "saving": ("keras.saving", "keras.models", "keras.utils", "_inner"),
           "metrics": ("keras.metrics",), "initializers": ("keras.initializers",), "models": ("keras.models", "keras.models.experimental"),
           "mixed_precision": ("keras.mixed_precision",), "legacy_tf_layers": ("compat.v1.layers",), "premade_models": ("keras.experimental",),
           "feature_column": ("keras.layers",), "export": ("keras.export",), "testing_infra": ("_inner_keras",)}
_OTHERS = {"engine.functional": {"Functional": "keras.Model"}, "optimizers.legacy.optimizer_v2": {"OptimizerV2": "keras.optimizers.legacy.Optimizer"},
           "utils.conv_utils": {"": "_inner.convolution"}, "utils.tf_inspect": {"": "_inner.inspect"}, "optimizers.schedules.learning_rate_schedule": {},
           "backend": {name: "_inner_keras." + name for name in ("unique_object_name", "track_variable", "RandomGenerator")}}


def table():
    """keras.src.X: the places of its names, and names that are others there, as _inner_paths.TABLE has them."""
    made = {}
    for line in _MODULES.strip().split("\n"):
        package, _, names = line.partition(":")
        for name in [""] + names.split():
            path = ".".join(part for part in (package, name) if part)
            places = ("keras." + path,) if path else ("keras",)
            start = next((one for one in _PLACES if package == one or package.startswith(one + ".")), None)
            others = dict(_OTHERS.get(path, {}))
            whole = others.pop("", None)
            made["keras.src" + ("." + path if path else "")] = (((whole,) if whole else ()) + places + _PLACES.get(start, ()), others)
    return made


KerasTensor = tf.keras.__internal__.KerasTensor


def unique_object_name(name, name_uid_map=None, avoid_names=None, namespace="", zero_based=False, avoid_observed_names=False):
    """A name that was not given before: the name with a number from 1 on, or without one at first. clear_session begins anew."""
    del avoid_observed_names
    while True:
        if name_uid_map is None:
            number = tf.keras.backend.get_uid("unique %s/%s" % (namespace, name))
        else:
            number = name_uid_map[namespace, name] = name_uid_map.get((namespace, name), 0) + 1
        number -= bool(zero_based)
        given = "%s_%d" % (name, number) if number else name
        if given not in (avoid_names or ()):
            return given


def track_variable(v):
    """Variables belong to the objects that made them; nothing else is kept."""
    del v


class RandomGenerator(tf.Module):
    """Random numbers for a layer: of a generator with a state of its own, of a given seed, or of ops with the layer's seed."""
    RNG_STATELESS, RNG_STATEFUL, RNG_LEGACY_STATEFUL = "stateless", "stateful", "legacy_stateful"

    def __init__(self, seed=None, rng_type=None, force_generator=False):
        super().__init__()
        self._rng_type = self.RNG_STATEFUL if force_generator else rng_type or self.RNG_LEGACY_STATEFUL
        if self._rng_type not in (self.RNG_STATELESS, self.RNG_STATEFUL, self.RNG_LEGACY_STATEFUL):
            raise ValueError("Invalid `rng_type` received. Valid `rng_type` are [%r, %r, %r]. Received: %r" % (
                self.RNG_STATELESS, self.RNG_STATEFUL, self.RNG_LEGACY_STATEFUL, rng_type))
        self._seed, self._generator = seed, None

    def _maybe_init(self):
        if self._rng_type == self.RNG_STATEFUL and self._generator is None:
            with tf.init_scope():
                self._generator = tf.random.Generator.from_seed(self._seed) if self._seed is not None else tf.random.Generator.from_non_deterministic_state()

    def make_seed_for_stateless_op(self):
        """A seed, or None if ops draw by themselves."""
        self._maybe_init()
        if self._rng_type == self.RNG_STATELESS:
            return [self._seed, 0]
        return self._generator.make_seeds()[:, 0] if self._rng_type == self.RNG_STATEFUL else None

    def make_legacy_seed(self):
        """The seed of the next op."""
        if self._seed is None:
            return None
        self._seed += 1
        return self._seed - 1

    def _draw(self, kind, shape, nonce, *range_and_dtype):
        self._maybe_init()
        if self._rng_type == self.RNG_STATEFUL:
            return getattr(self._generator, kind)(shape, *range_and_dtype)
        if self._rng_type == self.RNG_STATELESS:
            seed = tf.random.experimental.stateless_fold_in([self._seed, 0], nonce) if nonce else [self._seed, 0]
            return getattr(tf.random, "stateless_" + kind)(shape, seed, *range_and_dtype)
        return getattr(tf.random, kind)(shape, *range_and_dtype, seed=self.make_legacy_seed())

    def random_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Numbers of a normal distribution."""
        return self._draw("normal", shape, nonce, mean, stddev, dtype or tf.keras.backend.floatx())

    def random_uniform(self, shape, minval=0.0, maxval=None, dtype=None, nonce=None):
        """Numbers of a range."""
        dtype = dtype or tf.keras.backend.floatx()
        return self._draw("uniform", shape, nonce, minval, 1.0 if maxval is None and tf.as_dtype(dtype).is_floating else maxval, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Numbers of a normal distribution within two deviations."""
        return self._draw("truncated_normal", shape, nonce, mean, stddev, dtype or tf.keras.backend.floatx())

    def dropout(self, inputs, rate, noise_shape=None):
        """Inputs of which some are zero, the others larger."""
        seed = self.make_seed_for_stateless_op()
        if seed is not None:
            return tf.nn.experimental.stateless_dropout(inputs, rate, seed, noise_shape=noise_shape)
        return tf.nn.dropout(inputs, rate, noise_shape=noise_shape, seed=self.make_legacy_seed())


class BaseRandomLayer(tf.keras.layers.Layer):
    """A layer with a generator of random numbers."""

    def __init__(self, seed=None, force_generator=False, rng_type=None, **kwargs):
        super().__init__(**kwargs)
        self._random_generator = RandomGenerator(seed, rng_type, force_generator)

    def build(self, input_shape):
        """Makes the generator's state."""
        super().build(input_shape)
        self._random_generator._maybe_init()


class _Any(type):
    """The class of classes that stand for several public ones."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls.members())

    def __subclasscheck__(cls, other):
        return issubclass(other, cls.members())


class Conv(metaclass=_Any):
    """Any convolution: what isinstance asks for; it can't be subclassed."""

    @staticmethod
    def members():
        """The classes."""
        layers = tf.keras.layers
        return (layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose, layers.SeparableConv1D,
                layers.SeparableConv2D, layers.DepthwiseConv1D, layers.DepthwiseConv2D)

    def __init_subclass__(cls):
        raise NotImplementedError("keras.src.layers.convolutional.base_conv.Conv can't be a base class; subclass Conv1D, Conv2D or Conv3D")


class TensorFlowOpLayer:
    """Layers of TensorFlow 1's ops inside of Keras models: there are none, operators and functions are TFOpLambda layers."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("TensorFlowOpLayer: operators and functions of Keras tensors are TFOpLambda layers")


def register_symbolic_tensor_type(cls):
    """Says that objects of a class stand for tensors; what can be converted to a tensor is taken anyway."""
    if not isinstance(cls, type):
        raise TypeError("register_symbolic_tensor_type: a class is expected, got %r" % (cls,))
