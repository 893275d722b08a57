"""Names of TensorFlow that programs meet seldom: registries of Python functions, scopes, versions, settings that nothing here depends on, and things
that are not supported, which say so. Loaded when first asked for."""
import contextlib
import os
import threading

import thalweg as tf
from thalweg import _core


class AggregationMethod:
    """How gradients of several uses are summed; the sums are the same."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class CriticalSection:
    """Runs functions one after the other: also those of functions that are traced, when they run (src/op/queue/mutex.c)."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        del import_scope
        if _core.executing_eagerly() or shared_name is None:
            self._handle = _shared_mutex(shared_name) if shared_name else _new_mutex(name)
        else:
            self._handle = tf.raw_ops.MutexV2(shared_name=shared_name, container="", name=name or "CriticalSection")
        self._name = name or "critical_section"

    name = property(lambda self: self._name if _core.executing_eagerly() or not hasattr(self._handle, "op") else self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What a function gives; while it runs no other one of this section does."""
        del exclusive_resource_access
        if not callable(fn):
            raise TypeError("%r object is not callable" % type(fn).__name__)
        running = _running.__dict__.setdefault("sections", [])
        if any(handle is self._handle for handle in running):
            raise ValueError("Attempting to lock a CriticalSection (%s) in which we are already running. This is illegal and may cause deadlocks." % self._name)
        running.append(self._handle)
        try:
            with tf.name_scope(name or "critical_section_execute"):
                return self._run(fn)
        finally:
            running.pop()

    def _run(self, fn):
        lock = tf.raw_ops.MutexLock(mutex=self._handle)
        if _core.executing_eagerly():
            try:
                return tf.nest.map_structure(_as_result, fn())
            finally:
                tf.raw_ops.ConsumeMutexLock(mutex_lock=lock)
        with tf.control_dependencies([lock.op]):
            result = tf.nest.map_structure(_as_result, fn())
        made = [value for value in tf.nest.flatten(result) if value is not None]
        with tf.control_dependencies(made):
            consumed = tf.raw_ops.ConsumeMutexLock(mutex_lock=lock)
        with tf.control_dependencies([consumed] if consumed is not None else []):  # in a function ops run in their order
            return tf.nest.map_structure(lambda value: tf.identity(value) if _core.is_tensor(value) else value, result)


def _as_result(value):
    return value if value is None or isinstance(value, tf.Operation) else tf.identity(value)


_locks, _guard, _running = {}, threading.Lock(), threading.local()


def _new_mutex(name):
    return tf.raw_ops.MutexV2(shared_name="", container="", name=name or "CriticalSection")


def _shared_mutex(name):
    with _guard:
        if name not in _locks:
            _locks[name] = _new_mutex(name)
        return _locks[name]


# ---- what is told about ops and types by Python ----

_gradients = {}


class RegisterGradient:
    """A decorator that names a gradient function. Gradients of ops are the library's; a name is for Graph.gradient_override_map."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string, but got %r" % (op_type,))
        self._op_type = op_type

    def __call__(self, f):
        if self._op_type in _gradients or hasattr(tf.raw_ops, self._op_type):
            raise KeyError("Registering two gradient with name '%s'! (Previous registration was in register)" % self._op_type)
        _gradients[self._op_type] = f
        return f


def no_gradient(op_type):
    """Says that an op has no gradient; those of the library's ops are settled."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string, but got %r" % (op_type,))
    if op_type in _gradients or hasattr(tf.raw_ops, op_type):
        raise KeyError("Registering two gradient with name '%s'! (Previous registration was in no_gradient)" % op_type)
    _gradients[op_type] = None


_conversions = []
_convert = tf.convert_to_tensor


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """How objects of a type become tensors: conversion_func(value, dtype=None, name=None, as_ref=False)."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError("Argument `base_type` must be a type or a tuple of types. Obtained: %s" % (base_type,))
    if any(issubclass(t, (int, float, str, bytes, list, tuple)) for t in types):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError("Argument `conversion_func` must be callable. Received %s." % (conversion_func,))
    _conversions.append((priority, types, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])
    for t in types:
        try:
            t.__tf_tensor__ = lambda self, dtype=None, name=None, _func=conversion_func: _func(self, dtype=dtype, name=name, as_ref=False)
        except TypeError:
            raise NotImplementedError("register_tensor_conversion_function: %r can't be given a method `__tf_tensor__`, by which thalweg converts"
                                      % (t,)) from None


# ---- variables ----

_made = threading.local()


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """Inside, tf.Variable(…) calls variable_creator(next_creator, **arguments)."""
    kept = getattr(_made, "creators", ())
    _install_creators()
    _made.creators = kept + (variable_creator,)
    try:
        yield
    finally:
        _made.creators = kept


def _install_creators():
    """tf.Variable asks the scopes of the thread, once there was one."""
    kind = type(tf.Variable)
    if getattr(kind, "_asks_creators", False) or getattr(tf.Variable, "_asks_creators", False):
        return
    plain = tf.Variable.__new__
    begin = tf.Variable.__init__
    names = ("initial_value", "trainable", "validate_shape", "caching_device", "name", "variable_def", "dtype", "import_scope", "constraint",
             "synchronization", "aggregation", "shape", "experimental_enable_variable_lifting")

    def init(self, *args, **kwargs):
        creators = getattr(_made, "creators", ())
        if not creators or type(self) is not tf.Variable or getattr(_made, "inside", False):
            begin(self, *args, **kwargs)
            return
        given = dict(zip(names, args), **kwargs)

        def last(**final):
            begin(self, **final)
            return self

        def chain(at):
            return last if at < 0 else lambda **final: creators[at](chain(at - 1), **final)
        _made.creators = ()
        try:
            made = chain(len(creators) - 1)(**given)
        finally:
            _made.creators = creators
        if made is not self:
            raise NotImplementedError("variable_creator_scope: a creator must return what next_creator gave it; another object is not supported")
    tf.Variable.__init__ = init
    tf.Variable._asks_creators = True
    del plain


# ---- shapes and graphs ----

def is_symbolic_tensor(tensor):
    """Whether it is a tensor of a graph."""
    if isinstance(tensor, (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)):
        return any(map(_core.is_symbolic, tf.nest.flatten(tensor, expand_composites=True)))
    return bool(_core.is_tensor(tensor) and _core.is_symbolic(tensor))


def get_current_name_scope():
    """The name scope that new ops are in."""
    if tf.executing_eagerly():
        with tf.name_scope("probe") as whole:
            return whole.rstrip("/").rpartition("/")[0]
    return tf.compat.v1.get_default_graph().get_name_scope()


def nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros, allowed_batch_sizes=None, max_enqueued_batches=10,
                                     autograph=True, enable_large_batch_splitting=True):
    """A decorator: the function is called for each batch by itself, which gives what calls together give."""
    for name, value in (("num_batch_threads", num_batch_threads), ("max_batch_size", max_batch_size), ("max_enqueued_batches", max_enqueued_batches)):
        if value < 1:
            raise ValueError("nondifferentiable_batch_function: `%s` must be positive, got %s" % (name, value))
    del batch_timeout_micros, allowed_batch_sizes, enable_large_batch_splitting

    def decorate(function):
        traced = tf.function(function, autograph=autograph)

        def call(*args):
            return tf.nest.map_structure(tf.stop_gradient, traced(*args))
        return call
    return decorate


# ---- not supported ----

def _unsupported(name, why):
    def call(*args, **kwargs):
        raise NotImplementedError("%s is not supported: %s" % (name, why))
    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = "Not supported: %s." % why
    return call


load_op_library = _unsupported("tf.load_op_library", "ops compiled against TensorFlow can't be loaded into thalweg")
load_library = _unsupported("tf.load_library", "libraries compiled against TensorFlow can't be loaded into thalweg")
register_filesystem_plugin = _unsupported("tf.experimental.register_filesystem_plugin", "file systems are those of the operating system")


# ---- tf.config ----

_settings = {"jit": "", "options": {}, "policy": "silent", "synchronous": True, "tensor_float_32": True, "filtering": True}
_OPTIONS = ("layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization loop_optimization "
            "function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization pin_to_host_optimization "
            "implementation_selector auto_mixed_precision disable_meta_optimizer min_graph_nodes auto_parallel use_plugin_optimizers").split()


def set_jit(enabled):
    """Remembered; thalweg compiles no kernels when a program runs."""
    _settings["jit"] = "autoclustering" if enabled in (True, "autoclustering") else ""


def get_jit():
    """What set_jit was told."""
    return _settings["jit"]


def set_experimental_options(options):
    """Remembered: the planner's passes keep every bit of the results and are always on."""
    for name in options:
        if name not in _OPTIONS:
            raise ValueError("set_experimental_options: there is no option %r" % (name,))
    _settings["options"].update({name: value for name, value in options.items() if value is not None})


def get_experimental_options():
    """What set_experimental_options was told."""
    return dict({"disable_model_pruning": False, "disable_meta_optimizer": False}, **_settings["options"])


def enable_tensor_float_32_execution(enabled):
    """Remembered: it is about GPUs."""
    _settings["tensor_float_32"] = bool(enabled)


def tensor_float_32_execution_enabled():
    """What enable_tensor_float_32_execution was told."""
    return _settings["tensor_float_32"]


def set_device_policy(device_policy):
    """What happens to inputs on other devices; there is one memory."""
    if device_policy not in (None, "silent", "silent_for_int32", "warn", "explicit"):
        raise ValueError("Not a valid device policy: %r" % (device_policy,))
    _settings["policy"] = device_policy or "silent"


def get_device_policy():
    """What set_device_policy was told."""
    return _settings["policy"]


def set_synchronous_execution(enable):
    """Remembered: a call is done when it returns."""
    _settings["synchronous"] = True if enable is None else bool(enable)


def get_synchronous_execution():
    """What set_synchronous_execution was told."""
    return _settings["synchronous"]


class ClusterDeviceFilters:
    """Which devices the tasks of a cluster see."""

    def __init__(self):
        self._filters = {}

    def set_device_filters(self, job_name, task_index, device_filters):
        """The devices that a task sees."""
        self._filters[job_name, task_index] = list(device_filters)


def enable_mlir_bridge():
    """Nothing: there is no bridge."""


disable_mlir_bridge = enable_mlir_bridge
OPTIMIZER = ("set_jit", "get_jit", "set_experimental_options", "get_experimental_options")
CONFIG = ("enable_tensor_float_32_execution tensor_float_32_execution_enabled set_device_policy get_device_policy "
          "set_synchronous_execution get_synchronous_execution ClusterDeviceFilters enable_mlir_bridge disable_mlir_bridge").split()


# ---- tf.debugging ----

def enable_traceback_filtering():
    """Remembered: tracebacks name the program's own lines."""
    _settings["filtering"] = True


def disable_traceback_filtering():
    """Remembered."""
    _settings["filtering"] = False


def is_traceback_filtering_enabled():
    """What was asked for last."""
    return _settings["filtering"]


enable_dump_debug_info = _unsupported("tf.debugging.experimental.enable_dump_debug_info", "there is no dump of intermediate values; tf.print, "
                                      "tf.debugging.enable_check_numerics and tf.summary show them")


def disable_dump_debug_info():
    """Nothing: no dump is ever on."""


DEBUGGING = ("enable_traceback_filtering", "disable_traceback_filtering", "is_traceback_filtering_enabled")
DUMPS = ("enable_dump_debug_info", "disable_dump_debug_info")


# ---- tf.sysconfig, tf.version, tf.compat ----

CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 201703, 0


def get_include():
    """The folder of the C headers."""
    prefix = os.path.dirname(os.path.abspath(tf.__file__))
    for _ in range(6):
        prefix = os.path.dirname(prefix)
        if os.path.isfile(os.path.join(prefix, "include", "thalweg.h")) or os.path.isdir(os.path.join(prefix, "include", "thalweg")):
            return os.path.join(prefix, "include")
    return os.path.join(os.path.dirname(os.path.abspath(tf.__file__)), "include")


def get_lib():
    """The folder of the library."""
    return os.path.dirname(os.path.abspath(tf.__file__))


def get_compile_flags():
    """What a C compiler is told to find the headers."""
    return ["-I" + get_include(), "-D_GLIBCXX_USE_CXX11_ABI=%d" % CXX11_ABI_FLAG, "--std=c++17"]


def get_link_flags():
    """What a linker is told to find the library."""
    return ["-L" + get_lib(), "-lthalweg"]


def get_build_info():
    """What the library was built for."""
    import collections
    return collections.OrderedDict([("is_cuda_build", False), ("is_rocm_build", False), ("is_tensorrt_build", False)])


SYSCONFIG = ("CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD get_include get_lib get_compile_flags get_link_flags get_build_info").split()
VERSION = dict(COMPILER_VERSION="C17", GIT_VERSION="thalweg " + tf.__thalweg_version__, GRAPH_DEF_VERSION=1645, GRAPH_DEF_VERSION_MIN_CONSUMER=0,
               GRAPH_DEF_VERSION_MIN_PRODUCER=0)
