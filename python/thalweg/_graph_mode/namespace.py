"""What tf.compat.v1, tf.compat.v2 and tf.compat hold beside the rows: filled when tf.compat is first used for more than its rows."""
import sys

import thalweg as tf
from thalweg import _core, _messages
from thalweg._graph_mode import (
    checkpoint as _checkpoint, composed as _composed, coordinator as _coordinator, data as _data, distributions as _distributions, forms as _forms,
    graph as _graph, graph_util as _graph_util, hooks as _hooks, host as _host, importing as _importing, inputs as _inputs, keras as _keras, layers as _layers,
    losses as _losses, meta_graph as _meta_graph, metrics as _metrics, monitored as _monitored, old_names as _old_names, overrides as _overrides,
    readers as _readers, rnn as _rnn, saved_model as _saved_model, scopes as _scopes, session as _session, small as _small, summary as _summary,
    train as _train, variables as _variables, warm as _warm, wrapped as _wrapped)

_graph.install()
_variables.install()
_overrides.install()
_distributions.install()
_importing.install()
_keras.install()

_v1 = tf.compat.v1
_from = {
    _session: "Session InteractiveSession get_default_session",
    _variables: "GraphKeys get_collection get_collection_ref add_to_collection add_to_collections is_variable_initialized "
                "AUTO_REUSE variable_scope variable_op_scope get_variable get_local_variable assign "
                "assign_add assign_sub",
    _scopes: "name_scope control_dependencies", _composed: "cond while_loop", _wrapped: "wrap_function",
    _messages: "ConfigProto GPUOptions OptimizerOptions GraphOptions RunOptions RunMetadata GraphDef NodeDef AttrValue MetaGraphDef Summary Event SaverDef",
}

# Modules whose functions and classes stand there as they are.
_whole = {_v1: (_old_names,), _v1.losses: (_losses,), _v1.summary: (_summary,), _v1.graph_util: (_graph_util,),
          _v1.train: (_hooks, _monitored, _coordinator, _train, _inputs)}


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Operations run at once, which they do unless eager execution was disabled."""
    if config is not None and not isinstance(config, _messages.ConfigProto):
        raise TypeError("config must be a tf.ConfigProto, but got %s" % type(config))
    if config is not None:
        _session._threads_of(config)
    _v1._enable_eager_execution()


_disable_eager_execution = _v1.disable_eager_execution


def disable_eager_execution():
    """Operations become nodes of the default graph; threads that begin from now on have one of their own."""
    _disable_eager_execution()
    _scopes.threads_have_graphs()


def disable_v2_behavior():
    """Graphs instead of eager execution; tensors are compared by identity. Variables stay resources."""
    disable_eager_execution()


def enable_v2_behavior():
    """What is so from the beginning."""
    _v1._enable_eager_execution()


def _accepted(name, doc):
    def function():
        pass
    function.__name__, function.__doc__ = name, doc
    return function


def set_random_seed(seed):
    """The seed of random operations: of the default graph, or of eager execution."""
    if _core.executing_eagerly():
        tf.random.set_seed(seed)
    else:
        _v1.get_default_graph().seed = seed


def _as_bytes(bytes_or_text, encoding="utf-8"):
    """Bytes of a text or of bytes."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError("Expected binary or unicode string, got %r" % (bytes_or_text,))


def _as_text(bytes_or_text, encoding="utf-8"):
    """A text of bytes or of a text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError("Expected binary or unicode string, got %r" % (bytes_or_text,))


def _as_str_any(value, encoding="utf-8"):
    """A text of anything."""
    return _as_text(value, encoding) if isinstance(value, bytes) else str(value)


def _path_to_str(path):
    """A text of a path."""
    return _as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


def _fallback(own, other, name):
    """A module's __getattr__: what it has not is the other module's."""
    def get(attribute):
        if attribute.startswith("__"):
            raise AttributeError("module %r has no attribute %r" % (name, attribute))
        value = getattr(other, attribute)
        setattr(own, attribute, value)
        return value
    own.__getattr__ = _core._getter(get, None)


def _own_features():
    """tf.compat.v1.feature_column: the columns, with what TensorFlow 1 has besides."""
    from thalweg import _feature_column
    own = tf._module("feature_column", _v1, input_layer=_feature_column.input_layer, linear_model=_feature_column.linear_model,
                     categorical_column_with_vocabulary_file=_feature_column.categorical_column_with_vocabulary_file,
                     shared_embedding_columns=_feature_column.shared_embeddings)
    _fallback(own, tf.feature_column, "tensorflow.compat.v1.feature_column")
    keras = tf._module("keras", _v1)
    for name in ("layers", "utils"):
        _fallback(tf._module(name, keras), getattr(tf.keras, name), "tensorflow.compat.v1.keras." + name)
    from thalweg._graph_mode import tracked
    keras.utils.track_tf1_style_variables, keras.utils.get_or_create_layer = tracked.track_tf1_style_variables, tracked.get_or_create_layer
    own = tf._module("estimator", _v1)
    tf._module("inputs", own)
    tf._members_later(own.inputs, [("_estimator", ("numpy_input_fn", "pandas_input_fn"))])
    _fallback(own, tf.estimator, "tensorflow.compat.v1.estimator")


def fill():
    """Fills the modules."""
    import numpy
    for module, names in _from.items():
        for name in names.split():
            setattr(_v1, name, getattr(module, name))
    for place, modules in _whole.items():
        for module in modules:
            for name, value in vars(module).items():
                if not name.startswith("_") and name != "install" and getattr(value, "__module__", None) == module.__name__:
                    setattr(place, name, value)
    for module in (_checkpoint, _data, _forms, _layers, _metrics, _old_names, _saved_model, _summary, _train, _host, _rnn, _small, _readers, _warm):
        module.install()
    _own_features()
    _v1.nn.separable_conv2d, _v1.train.import_meta_graph, _v1.io.write_graph = (
        _composed.separable_conv2d, _meta_graph.import_meta_graph, _coordinator.write_graph)
    _v1.Variable = _variables.VariableV1
    for name in ("disable_eager_execution", "enable_eager_execution", "disable_v2_behavior", "enable_v2_behavior", "set_random_seed"):
        setattr(_v1, name, globals()[name])
    for name in ("enable_resource_variables", "enable_v2_tensorshape", "enable_tensor_equality", "enable_control_flow_v2"):
        setattr(_v1, name, _accepted(name, "What is so anyway."))
    for name in ("disable_resource_variables", "disable_v2_tensorshape", "disable_tensor_equality", "disable_control_flow_v2"):
        setattr(_v1, name, _accepted(name, "Accepted: variables are resources, and control flow is that of version 2."))
    _v1.resource_variables_enabled = lambda: True
    _v1.executing_eagerly = _core.executing_eagerly
    _v1.compat = tf.compat
    _fallback(tf._module("random", _v1), tf.random, "tensorflow.compat.v1.random")
    _v1.random.set_random_seed = set_random_seed
    _fallback(_v1, tf, "tensorflow.compat.v1")
    _fallback(tf.compat.v2, tf, "tensorflow.compat.v2")
    hidden = getattr(tf, "_v1", None)  # rows that are only for tf.compat.v1
    for name, value in vars(hidden).items() if hidden else ():
        if not name.startswith("_") and name not in vars(_v1):
            setattr(_v1, name, value)
            if isinstance(value, type(sys)):
                sys.modules[_v1.__name__ + "." + name] = value
    for name, own in list(vars(_v1).items()):
        if isinstance(own, type(sys)) and hasattr(tf, name) and own is not getattr(tf, name) and name not in ("compat", "random"):
            _fallback(own, getattr(tf, name), "tensorflow.compat.v1." + name)
    compat = tf.compat
    compat.as_bytes, compat.as_text, compat.as_str, compat.as_str_any = _as_bytes, _as_text, _as_text, _as_str_any
    compat.path_to_str, compat.bytes_or_text_types = _path_to_str, (bytes, str)
    compat.complex_types, compat.integral_types = (complex, numpy.complexfloating), (int, numpy.integer)
    compat.real_types = (int, float, numpy.integer, numpy.floating)
    compat.forward_compatible = lambda year, month, day: True
    from thalweg import _constants
    compat.forward_compatibility_horizon = _constants.forward_compatibility_horizon
    compat.dimension_value, compat.dimension_at_index = _old_names.dimension_value, _old_names.dimension_at_index
    if "control_dependencies" not in tf.__dict__:
        tf.control_dependencies = _scopes.control_dependencies
    _v1.import_graph_def = tf.import_graph_def = _importing.import_graph_def
    _v1.graph_util.import_graph_def = tf.import_graph_def
    tf.ConfigProto, tf.enable_eager_execution = _messages.ConfigProto, enable_eager_execution
