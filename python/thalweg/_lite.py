"""tf.lite: the interpreter as Python's programs see it; its work is the library's (src/lite). Loaded when first asked for."""
import enum

import numpy as np
import thalweg as tf


class OpResolverType(enum.Enum):
    """Sets of kernels. There is one here, so they all mean the same."""
    AUTO, BUILTIN, BUILTIN_REF, BUILTIN_WITHOUT_DEFAULT_DELEGATES = range(4)


def load_delegate(library, options=None):
    """Delegates run models on other hardware: none are supported."""
    del options
    raise ValueError("Failed to load delegate from %s\nDelegates are not supported." % (library,))


def _numpy_type(dtype):
    return np.bytes_ if dtype == tf.string else np.dtype(dtype.as_numpy_dtype).type


def _ints(values):
    return np.array(values, np.int32)


class SignatureRunner:
    """Runs one signature of a model: tensors by name in, arrays by name out."""

    def __init__(self, interpreter, key):
        self._interpreter, self._key = interpreter, key
        self._subgraph, self._input_indices, self._output_indices = interpreter._signatures[key]
        self._inputs, self._outputs = list(self._input_indices), list(self._output_indices)

    def __call__(self, **kwargs):
        if len(kwargs) != len(self._inputs):
            raise ValueError("Invalid number of inputs provided for running a SignatureDef, expected %s vs provided %s" % (len(self._inputs), len(kwargs)))
        model, values = self._interpreter._model, {name: np.asarray(value) for name, value in kwargs.items()}
        for name, value in values.items():
            if name not in self._input_indices:
                raise ValueError("Invalid Input name (%s) for SignatureDef" % name)
            model._resize(self._input_indices[name], value.shape, False, self._subgraph)
        model._allocate(self._subgraph)
        for name, value in values.items():
            model._set(self._input_indices[name], value, self._subgraph)
        model._invoke(self._subgraph)
        return {name: model._get(index, self._subgraph) for name, index in self._output_indices.items()}

    def get_input_details(self):
        """What is known of the inputs, by name."""
        return {name: self._interpreter._details(index, self._subgraph) for name, index in self._input_indices.items()}

    def get_output_details(self):
        """What is known of the outputs, by name."""
        return {name: self._interpreter._details(index, self._subgraph) for name, index in self._output_indices.items()}


class Interpreter:
    """Runs TFLite models."""

    def __init__(self, model_path=None, model_content=None, experimental_delegates=None, num_threads=None, experimental_op_resolver_type=OpResolverType.AUTO,
                 experimental_preserve_all_tensors=False, experimental_disable_delegate_clustering=False):
        if not isinstance(experimental_op_resolver_type, OpResolverType):
            raise ValueError("Unrecognized passed in op resolver type: %s" % (experimental_op_resolver_type,))
        if num_threads is not None:
            if not isinstance(num_threads, int):
                raise ValueError("type of num_threads should be int")
            if num_threads < 1:
                raise ValueError("num_threads should >= 1")
        if experimental_delegates:
            raise ValueError("Interpreter: delegates are not supported.")
        if not model_path and not model_content:
            raise ValueError("`model_path` or `model_content` must be specified.")
        if model_path and model_content:
            raise ValueError("Can't both provide `model_path` and `model_content`")
        content = None if model_path else bytes(model_content)
        self._model = tf.lite._Interpreter(str(model_path) if model_path else None, content)
        self._views = {}
        # tensors of every run can be seen, and there are no delegates to be put together
        self._all, self._clusters = bool(experimental_preserve_all_tensors), not experimental_disable_delegate_clustering
        self._signatures = {key: (graph, dict(sorted(inputs.items())), dict(sorted(outputs.items())))
                            for key, graph, inputs, outputs in self._model._signatures()}

    def allocate_tensors(self):
        """Prepares the model for the shapes of its inputs."""
        self._model._allocate()

    def _details(self, index, subgraph=0):
        name, shape, signature, dtype, scales, zeros, dimension = self._model._describe(index, subgraph)
        whole = (float(np.float32(scales[0])), int(zeros[0]) if zeros else 0) if len(scales) == 1 else (0.0, 0)
        return {"name": name, "index": index, "shape": _ints(shape), "shape_signature": _ints(signature), "dtype": _numpy_type(dtype), "quantization": whole,
                "quantization_parameters": {"scales": np.array(scales, np.float32), "zero_points": _ints(zeros), "quantized_dimension": dimension},
                "sparsity_parameters": {}}

    def get_tensor_details(self):
        """What is known of the tensors that have a name."""
        return [self._details(i) for i in range(self._model._count())]

    def get_input_details(self):
        """What is known of the inputs."""
        return [self._details(i) for i in self._model._inputs()]

    def get_output_details(self):
        """What is known of the outputs."""
        return [self._details(i) for i in self._model._outputs()]

    def set_tensor(self, tensor_index, value):
        """Sets an input, by a copy."""
        self._views.pop(tensor_index, None)
        self._model._set(tensor_index, np.asarray(value))

    def get_tensor(self, tensor_index, subgraph_index=0):
        """A copy of a tensor's value."""
        if tensor_index in self._views and subgraph_index == 0:
            return self._views[tensor_index].copy()
        return self._model._get(tensor_index, subgraph_index)

    def resize_tensor_input(self, input_index, tensor_size, strict=False):
        """Gives an input another shape."""
        self._views.pop(input_index, None)
        self._model._resize(input_index, tuple(int(n) for n in tensor_size), strict)

    def tensor(self, tensor_index):
        """A function that gives the tensor's array. What is written to an input's counts at the next invoke()."""
        def view():
            if tensor_index not in self._views:
                self._views[tensor_index] = np.array(self._model._get(tensor_index))
            return self._views[tensor_index]
        return view

    def invoke(self):
        """Runs the model."""
        inputs = set(self._model._inputs()) if self._views else ()
        for index in self._views:
            if index in inputs:
                self._model._set(index, self._views[index])
        self._model._invoke()
        for index in [i for i in self._views if i not in inputs]:
            value = np.asarray(self._model._get(index))
            if value.shape == self._views[index].shape:
                np.copyto(self._views[index], value)
            else:
                self._views[index] = np.array(value)

    def reset_all_variables(self):
        """Tensors that keep their values from run to run become zeros."""
        self._model.reset_all_variables()

    def get_signature_list(self):
        """The signatures with the names of their inputs and outputs."""
        return {key: {"inputs": list(inputs), "outputs": list(outputs)} for key, (_, inputs, outputs) in self._signatures.items()}

    def get_signature_runner(self, signature_key=None):
        """A function that runs a signature; the only one needs no key."""
        if signature_key is None:
            if len(self._signatures) != 1:
                raise ValueError("SignatureDef signature_key is None and model has {0} Signatures. None is only allowed when the model has 1 SignatureDef"
                                 .format(len(self._signatures)))
            signature_key = next(iter(self._signatures))
        if signature_key not in self._signatures:
            raise ValueError("Invalid signature_key provided.")
        return SignatureRunner(self, signature_key)
