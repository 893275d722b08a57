"""Small functions and classes that programs import from tensorflow.python.* and that have no public name; see _inner_paths."""
import collections.abc
import contextlib
import functools
import importlib
import inspect as _inspect
import types

import thalweg as tf
from thalweg import _core

# ---- control flow, graphs ----


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """The branch that a known condition names, else tf.cond."""
    known = smart_constant_value(pred)
    if known is None:
        return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_constant_value(pred):
    """A condition as True or False, or None where it is not known yet."""
    if isinstance(pred, (bool, int)) or pred is None:
        return None if pred is None else bool(pred)
    value = tf.get_static_value(pred) if tf.is_tensor(pred) else pred
    return None if value is None else bool(value)


constant_value = smart_constant_value
smart_module = smart_cond


@contextlib.contextmanager
def null_context(*args, **kwargs):
    """A context that does nothing."""
    del args, kwargs
    yield


def GraphOrParentsInXlaContext(graph):
    """There is no XLA here."""
    del graph
    return False


InXlaContext = IsInXLAContext = GraphOrParentsInXlaContext


def is_in_graph_mode():
    """Whether ops become nodes."""
    return not tf.executing_eagerly()


IS_IN_GRAPH_MODE = is_in_graph_mode


def is_symbolic_tensor(tensor):
    """Whether a tensor is one of a graph."""
    return isinstance(tensor, _core.SymbolicTensor)


def is_tensor_or_variable(x):
    """Whether it is a tensor or a variable."""
    return tf.is_tensor(x) or isinstance(x, tf.Variable)


is_tensor_or_extension_type = is_tensor_or_variable


def is_resource_variable(value):
    """All variables are."""
    return isinstance(value, tf.Variable)


def enabled():
    """Whether the behaviour is that of version 2."""
    return tf.executing_eagerly()


def is_sequence_or_composite(value):
    """Whether a value has members, or is made of several tensors."""
    from thalweg import _inner_types
    return tf.nest.is_nested(value) or _inner_types.is_composite_tensor(value)


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False):
    """A concrete function whose variables are constants."""
    del lower_control_flow, aggressive_inlining
    variables = list(func.graph.variables)
    if not variables:
        return func
    raise NotImplementedError("convert_variables_to_constants_v2: functions with variables are not supported; tf.saved_model.save keeps them as variables")


def get_op_def(name):
    """The definition of an op as a message."""
    raise NotImplementedError("op_def_registry.get(%r): definitions of ops are not told as messages" % (name,))


def sync():
    """The ops are always there."""


def with_dependencies(dependencies, output_tensor, name=None):
    """The tensor, once the operations have run."""
    with tf.control_dependencies(dependencies):
        return tf.identity(output_tensor, name=name)


# ---- devices and contexts ----


class _LocalDevice:
    def __init__(self, device):
        self.name, self.device_type = "/device:%s:0" % device.device_type, device.device_type
        self.memory_limit, self.incarnation, self.physical_device_desc = 268435456, 0, ""

    def __repr__(self):
        return 'name: "%s"\ndevice_type: "%s"\nmemory_limit: %d\n' % (self.name, self.device_type, self.memory_limit)


def list_local_devices(session_config=None):
    """The devices of this process."""
    del session_config
    return [_LocalDevice(device) for device in tf.config.list_physical_devices()]


class Timeline:
    """The steps of a traced run as a trace of Chrome's."""

    def __init__(self, step_stats, graph=None):
        del graph
        self._stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False, op_time="schedule"):
        """JSON text: one event for each step of each device."""
        import json
        del show_dataflow, show_memory, op_time
        events = []
        for pid, device in enumerate(self._stats.dev_stats):
            events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device.device}})
            for node in device.node_stats:
                events.append({"ph": "X", "cat": "Op", "name": node.timeline_label.split(" ")[0] or node.node_name, "pid": pid, "tid": node.thread_id,
                               "ts": node.all_start_micros, "dur": max(node.op_end_rel_micros - node.op_start_rel_micros, 1), "args": {"name": node.node_name}})
        return json.dumps({"traceEvents": events}, indent=4)


context = types.SimpleNamespace(
    GRAPH_MODE=0, EAGER_MODE=1, num_gpus=lambda: 0, in_graph_mode=is_in_graph_mode, in_eager_mode=lambda: tf.executing_eagerly(),
    executing_eagerly=lambda: tf.executing_eagerly(), eager_mode=null_context, ensure_initialized=lambda: None, context_safe=lambda: None,
    global_seed=lambda: None, device=tf.device, is_tfrt_enabled=lambda: False)


# ---- decorators ----


def tf_export(*args, **kwargs):
    """Leaves what it decorates as it is."""
    del args, kwargs
    return lambda function: function


keras_export = estimator_export = deprecated_args = deprecated_endpoints = tf_export


def deprecated(date, instructions, warn_once=True):
    """Leaves what it decorates as it is."""
    del date, instructions, warn_once
    return lambda function: function


deprecated_arg_values = tf_export
deprecated_alias = lambda deprecated_name, name, func_or_class, warn_once=True: func_or_class  # noqa: E731


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has two names."""
    if old_value is not None and new_value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, new_name))
    return old_value if old_value is not None else new_value


@contextlib.contextmanager
def silence():
    """Nothing is said of what is deprecated anyway."""
    yield


def should_use_result(function=None, **kwargs):
    """Leaves what it decorates as it is."""
    return function if function is not None else lambda inner: inner


def add_dispatch_support(target=None, iterable_parameters=None):
    """Leaves what it decorates as it is."""
    return target if target is not None else lambda function: function


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """A decorated function that looks like the one inside."""
    del decorator_name, decorator_doc, decorator_argspec
    return functools.wraps(target)(decorator_func)


def rewrap(decorator_func, previous_target, new_target):
    """The decorated function around another one."""
    del previous_target
    return functools.wraps(new_target)(decorator_func)


def unwrap(maybe_decorated):
    """([decorators], the function inside)."""
    return [], _inspect.unwrap(maybe_decorated)


contextmanager = contextlib.contextmanager


def fn_args(function):
    """The names of a function's arguments."""
    if isinstance(function, functools.partial):
        inner = [name for name in fn_args(function.func) if name not in function.keywords]
        return tuple(inner[len(function.args):])
    if not _inspect.isroutine(function) and hasattr(function, "__call__"):
        function = function.__call__
    return tuple(name for name, p in _inspect.signature(function).parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


def has_kwargs(function):
    """Whether it takes any keywords."""
    return any(p.kind == p.VAR_KEYWORD for p in _inspect.signature(function).parameters.values())


class LazyLoader(types.ModuleType):
    """A module that is imported when it is first asked for something."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        super().__init__(name)
        self._local, self._globals = local_name, parent_module_globals
        del warning

    def __getattr__(self, item):
        module = importlib.import_module(self.__name__)
        self._globals[self._local] = module
        return getattr(module, item)


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Leaves the module as it is."""
    del module_name, allowed_exception_list, doc_string_modules


make_all = lambda module_name, doc_string_modules=None: []  # noqa: E731


# ---- collections ----


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set in which objects are told apart by identity."""

    def __init__(self, items=()):
        self._own = {}
        self.update(items)

    def add(self, item):
        """One more."""
        self._own[id(item)] = item

    def discard(self, item):
        """One less."""
        self._own.pop(id(item), None)

    def update(self, items):
        """Several more."""
        self._own.update((id(item), item) for item in items)

    def __contains__(self, item):
        return id(item) in self._own

    def __iter__(self):
        return iter(self._own.values())

    def __len__(self):
        return len(self._own)


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A dict whose keys are told apart by identity."""

    def __init__(self):
        self._own = {}

    def __setitem__(self, key, value):
        self._own[id(key)] = (key, value)

    def __getitem__(self, key):
        return self._own[id(key)][1]

    def __delitem__(self, key):
        del self._own[id(key)]

    def __iter__(self):
        return iter([key for key, _ in self._own.values()])

    def __len__(self):
        return len(self._own)


def getitem(tensor, slice_spec):
    """tensor[slice_spec], by the name that configs of Keras models have for it."""
    return tensor[slice_spec]


inspect = types.SimpleNamespace(**{name: getattr(_inspect, name) for name in (
    "signature getfullargspec getmembers isclass isfunction ismethod ismodule isgenerator isgeneratorfunction isbuiltin isroutine isdatadescriptor isabstract "
    "getdoc getfile getsource getsourcefile getsourcelines getmodule getmro currentframe getframeinfo isframe stack iscoroutinefunction isawaitable Parameter").split()},
    getargspec=_inspect.getfullargspec, getcallargs=_inspect.getcallargs, _inspect=_inspect)


# ---- sizes of convolutions ----


def normalize_tuple(value, n, name, allow_zero=False):
    """One number for all axes, or one for each."""
    values = (value,) * n if isinstance(value, int) else tuple(value)
    if len(values) != n or not all(isinstance(one, int) for one in values) or any(one < (0 if allow_zero else 1) for one in values):
        raise ValueError("The `%s` argument must be a tuple of %d integers%s. Received: %s" % (name, n, "" if allow_zero else " > 0", value))
    return values


def normalize_padding(value):
    """valid, same or causal."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError('The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). Received: %s' % padding)
    return padding


def normalize_data_format(value):
    """channels_last or channels_first."""
    value = tf.keras.backend.image_data_format() if value is None else value
    if value.lower() not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: ' + str(value))
    return value.lower()


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The places of a window along an axis."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    length = {"same": input_length, "causal": input_length, "valid": input_length - window + 1, "full": input_length + window - 1}[padding]
    return (length + stride - 1) // stride


def deconv_output_length(input_length, filter_size, padding, output_padding=None, stride=0, dilation=1):
    """The size along an axis from which a convolution gives that many places."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        return {"valid": input_length * stride + max(window - stride, 0), "full": input_length * stride - (stride + window - 2),
                "same": input_length * stride}[padding]
    pad = {"same": window // 2, "valid": 0, "full": window - 1}[padding]
    return (input_length - 1) * stride + window - 2 * pad + output_padding


def convert_data_format(data_format, ndim):
    """Keras's word for a format as that of ops."""
    spatial = {3: "W", 4: "HW", 5: "DHW"}[ndim]
    return "N" + spatial + "C" if data_format == "channels_last" else "NC" + spatial


convolution = types.SimpleNamespace(
    normalize_tuple=normalize_tuple, normalize_padding=normalize_padding, normalize_data_format=normalize_data_format, conv_output_length=conv_output_length,
    deconv_output_length=deconv_output_length, convert_data_format=convert_data_format, smart_cond=smart_cond, constant_value=smart_constant_value)


# ---- files ----


def _read_whole(filename, binary_mode=False):
    with tf.io.gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def _write_whole(filename, file_content):
    with tf.io.gfile.GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


files = types.SimpleNamespace(
    FileIO=lambda name, mode, encoding="utf-8": tf.io.gfile.GFile(name, mode), file_exists=lambda filename: tf.io.gfile.exists(filename),
    file_exists_v2=lambda path: tf.io.gfile.exists(path), delete_file=lambda filename: tf.io.gfile.remove(filename), read_file_to_string=_read_whole,
    write_string_to_file=_write_whole, get_matching_files=lambda filename: tf.io.gfile.glob(filename), create_dir=lambda dirname: tf.io.gfile.mkdir(dirname),
    recursive_create_dir=lambda dirname: tf.io.gfile.makedirs(dirname), is_directory=lambda dirname: tf.io.gfile.isdir(dirname),
    list_directory=lambda dirname: tf.io.gfile.listdir(dirname), delete_recursively=lambda dirname: tf.io.gfile.rmtree(dirname),
    copy=lambda oldpath, newpath, overwrite=False: tf.io.gfile.copy(oldpath, newpath, overwrite), join=lambda path, *paths: tf.io.gfile.join(path, *paths),
    rename=lambda oldname, newname, overwrite=False: tf.io.gfile.rename(oldname, newname, overwrite), stat=lambda filename: tf.io.gfile.stat(filename),
    walk=lambda top, in_order=True: tf.io.gfile.walk(top, in_order))


def print_tensors_in_checkpoint_file(file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""):
    """Prints the names, or the values, of a checkpoint's tensors."""
    del count_exclude_pattern
    reader = tf.train.load_checkpoint(file_name)
    shapes = reader.get_variable_to_shape_map()
    for name in sorted(shapes) if all_tensors or all_tensor_names or not tensor_name else [tensor_name]:
        print("tensor_name: ", name)
        if all_tensors or not all_tensor_names:
            print(reader.get_tensor(name))


def NewCheckpointReader(filepattern):
    """A reader of a checkpoint's tensors."""
    return tf.train.load_checkpoint(filepattern)


build_info = {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT, VARIABLES_DIRECTORY, VARIABLES_FILENAME, ASSETS_DIRECTORY = (
    "saved_model.pb", "saved_model.pbtxt", "variables", "variables", "assets")
Trackable = tf.Module
get_keras_model = lambda: tf.keras.Model  # noqa: E731
