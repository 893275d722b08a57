"""tf.lite.TFLiteConverter: settings, and the functions that are converted; the conversion is the library's (src/lite/convert.c)."""
import enum

import thalweg as tf
from thalweg import _core


class _Named(enum.Enum):
    def __str__(self):
        return str(self.value)


class OpsSet(_Named):
    """Which operators a file may have."""
    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    @staticmethod
    def get_options():
        """All of them, as text."""
        return [str(option) for option in OpsSet]


class Optimize(_Named):
    """What a file shall be made for."""
    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"


class RepresentativeDataset:
    """Inputs by which the ranges of numbers are found, for integer files."""

    def __init__(self, input_gen):
        self.input_gen = input_gen


class TargetSpec:
    """What a file may hold."""

    def __init__(self, supported_ops=None, supported_types=None, experimental_select_user_tf_ops=None, experimental_supported_backends=None):
        self.supported_ops = {OpsSet.TFLITE_BUILTINS} if supported_ops is None else supported_ops
        self.supported_types = set() if supported_types is None else supported_types
        self.experimental_select_user_tf_ops = set() if experimental_select_user_tf_ops is None else experimental_select_user_tf_ops
        self.experimental_supported_backends = experimental_supported_backends
        self._experimental_custom_op_registerers = []
        self._experimental_supported_accumulation_type = None


class ConverterError(Exception):
    """A model can't be converted."""


class TFLiteConverterV2:
    """Makes TFLite files of models and functions."""

    def __init__(self, funcs, trackable_obj=None):
        self._funcs, self._trackable_obj = funcs, trackable_obj
        self.optimizations, self.representative_dataset, self.target_spec = set(), None, TargetSpec()
        self.allow_custom_ops, self.experimental_new_converter, self.experimental_new_quantizer = False, True, True
        self.experimental_enable_resource_variables, self.exclude_conversion_metadata = True, False
        self.unfold_batchmatmul = self.legalize_custom_tensor_list_ops = False
        self.experimental_new_dynamic_range_quantizer = self.experimental_lower_to_saved_model = True
        self.inference_input_type = self.inference_output_type = tf.float32
        self.saved_model_dir = None

    @classmethod
    def from_concrete_functions(cls, funcs, trackable_obj=None):
        """Of functions that were traced."""
        for function in funcs:
            if not isinstance(function, _core.GraphFunction) and not hasattr(function, "_inputs"):
                raise ValueError("This function takes in a list of concrete functions.")
        return cls(_traced(funcs), trackable_obj)

    @classmethod
    def from_saved_model(cls, saved_model_dir, signature_keys=None, tags=None):
        """Of the signatures of a SavedModel."""
        loaded = tf.saved_model.load(saved_model_dir, tags=None if tags is None else list(tags))
        keys = list(loaded.signatures) if signature_keys is None else list(signature_keys)
        if not keys:
            raise ValueError("Only support at least one signature key.")
        for key in keys:
            if key not in loaded.signatures:
                raise ValueError("Invalid signature key '%s' found. Valid keys are '%s'." % (key, ",".join(loaded.signatures)))
        made = cls([(key, loaded.signatures[key], None, None) for key in keys], loaded)
        made.saved_model_dir = saved_model_dir
        return made

    @classmethod
    def from_keras_model(cls, model):
        """Of a Keras model."""
        return cls(model)

    @classmethod
    def experimental_from_jax(cls, serving_funcs, inputs):
        """Of functions of JAX, which is not supported."""
        raise NotImplementedError("TFLiteConverter.experimental_from_jax is not supported.")

    def _weights(self):
        """The dtype of weights in the file."""
        types, ops = set(self.target_spec.supported_types), set(self.target_spec.supported_ops)
        if self.representative_dataset is not None or types & {tf.int8, tf.uint8, tf.int16} or \
                ops & {OpsSet.TFLITE_BUILTINS_INT8, OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8} or \
                self.inference_input_type != tf.float32 or self.inference_output_type != tf.float32:
            raise NotImplementedError("TFLiteConverter: integer computations (a representative_dataset, integer types or operators) are not supported; "
                                      "optimizations=[tf.lite.Optimize.DEFAULT] makes weights int8 or, with supported_types, float16.")
        if OpsSet.EXPERIMENTAL_STABLEHLO_OPS in ops or Optimize.EXPERIMENTAL_SPARSITY in self.optimizations:
            raise NotImplementedError("TFLiteConverter: StableHLO and sparse weights are not supported.")
        if not self.optimizations:
            return tf.float32
        return tf.float16 if tf.float16 in types else tf.int8

    def convert(self):
        """The bytes of the file."""
        weights, functions = self._weights(), self._funcs
        if not isinstance(functions, list):
            functions = [_of_model(functions)]
        keys, traces, inputs, outputs = zip(*functions)
        try:
            return tf.lite._convert([_saved(trace) for trace in traces], list(keys), _lists(inputs), _lists(outputs), weights)
        except tf.errors.UnimplementedError as error:
            raise ConverterError(str(error)) from None


def _saved(trace):
    """The library's form of a concrete function."""
    trace = getattr(trace, "_trace", trace)  # of a loaded signature
    if isinstance(trace, tf.saved_model._ConcreteFunction):
        return trace
    own = getattr(trace, "_saved", None)
    return _core.saved_concrete(trace, ((), {}), None) if own is None else own


def _lists(names):
    return [n if n is None else list(n) for n in names]


def _names(structure, count):
    """Names of a function's results, in the order of its tensors."""
    if isinstance(structure, dict):
        return sorted(structure)
    return ["output_%d" % i for i in range(count)]


def _traced(functions):
    """Concrete functions with the names of their signatures."""
    made = []
    for i, function in enumerate(functions):
        results = getattr(function, "structured_outputs", None)
        made.append(("serving_default" if len(functions) == 1 else "func_%d" % i, function,
                     [n or "args_%d" % k for k, n in enumerate(function._names)] if hasattr(function, "_names") else None, _names(results, len(function.outputs))))
    return made


def _of_model(model):
    """A model's call as a concrete function."""
    if not hasattr(model, "call"):
        raise AttributeError("'%s' object has no attribute 'call'" % type(model).__name__)
    if not model.inputs:
        raise ValueError("Model %s cannot be converted because its input shapes are not known: call it, or build it, first." % model.name)
    single = len(model.inputs) == 1
    specs = [tf.TensorSpec(x.shape, x.dtype, name=n) for x, n in zip(model.inputs, model.input_names)]
    structure = getattr(model, "_nested_inputs", None)

    @tf.function(input_signature=specs)
    def serve(*tensors):
        given = tensors[0] if single else dict(zip(model.input_names, tensors)) if isinstance(structure, dict) else list(tensors)
        return tf.nest.flatten(model(given, training=False))
    trace = serve.get_concrete_function()
    names = list(model.output_names or [])
    count = len(trace.outputs)
    return "serving_default", trace, list(model.input_names), names if len(names) == count and len(set(names)) == count else _names(None, count)



TFLiteConverter = TFLiteConverterV2
