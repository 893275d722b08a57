"""thalweg: TensorFlow 2 as a small C library. `import thalweg as tf`.

Everything here comes from the library's own tables, through the extension _core; see python/extension."""
import _thread
import sys as _sys

from thalweg import _core

_core.populate(_sys.modules[__name__])
from thalweg import errors  # noqa: E402

is_tensor = _core.is_any_tensor
as_dtype = dtypes.as_dtype = _core.as_dtype  # noqa: F821
__version__ = "2.15.1"  # of the TensorFlow whose behaviour this is
__thalweg_version__ = "0.1.0"
executing_eagerly = _core.executing_eagerly
init_scope = _core.init_scope

config.functions_run_eagerly = _core.functions_run_eagerly  # noqa: F821


def _run_functions_eagerly(run_eagerly):
    """Whether every tf.function runs its Python code at each call."""
    _core.run_functions_eagerly(run_eagerly)


config.run_functions_eagerly = config.experimental_run_functions_eagerly = _run_functions_eagerly  # noqa: F821


def _devices_later(module, names):
    """The devices of tf.config, likewise."""
    def get(name):
        if name in ("experimental_connect_to_cluster", "experimental_connect_to_host") and names == "CONFIG":
            from thalweg import _cluster
            return getattr(_cluster, name)
        from thalweg import _device
        if name not in getattr(_device, names):
            raise AttributeError("module %r has no attribute %r" % (module.__name__, name))
        return getattr(_device, name)
    module.__getattr__ = get


_devices_later(config, "CONFIG")  # noqa: F821
_devices_later(config.experimental, "EXPERIMENTAL")  # noqa: F821


def _autodiff_later(name):
    """tf.autodiff.ForwardAccumulator, likewise."""
    if name != "ForwardAccumulator":
        raise AttributeError("module 'thalweg.autodiff' has no attribute %r" % name)
    import thalweg._gradients as gradients  # "from thalweg import" would find the row of that name
    return gradients.ForwardAccumulator


autodiff.__getattr__ = _autodiff_later  # noqa: F821


def _values_later(module, name):
    """tf.ragged.map_flat_values and tf.sparse.map_values, likewise."""
    def get(asked):
        if asked != name:
            raise AttributeError("module %r has no attribute %r" % (module.__name__, asked))
        from thalweg import _ragged
        return getattr(_ragged, name)
    module.__getattr__ = get


_values_later(ragged, "map_flat_values")  # noqa: F821
_values_later(sparse, "map_values")  # noqa: F821
SparseTensorSpec.value_type, RaggedTensorSpec.value_type = SparseTensor, RaggedTensor  # noqa: F821


def _debugging_later(name):
    """The assertions of tf.debugging, likewise."""
    from thalweg import _debugging
    found = _debugging.member(name)
    if found is None:
        raise AttributeError("module 'thalweg.debugging' has no attribute %r" % name)
    setattr(debugging, name, found)  # noqa: F821
    return found


debugging.__getattr__ = _debugging_later  # noqa: F821


def _io_later(name):
    """The records of tf.io and the parsing of Examples, likewise."""
    from thalweg import _parsing, _records
    found = _records.IO.get(name) or _parsing.IO.get(name)
    if found is None:
        raise AttributeError("module 'thalweg.io' has no attribute %r" % name)
    setattr(io, name, found)  # noqa: F821
    return found


def _train_later(name):
    """The messages of tf.train, likewise."""
    if name == "checkpoints_iterator":
        from thalweg import _records
        return _records.checkpoints_iterator
    if name not in _EXAMPLES:
        raise AttributeError("module 'thalweg.train' has no attribute %r" % name)
    from thalweg import _messages
    setattr(train, name, getattr(_messages, name))  # noqa: F821
    return getattr(_messages, name)


def _summary_later(name):
    """The writers of tf.summary, likewise."""
    from thalweg import _summary
    if name not in _summary.SUMMARY:
        raise AttributeError("module 'thalweg.summary' has no attribute %r" % name)
    setattr(summary, name, _summary.SUMMARY[name])  # noqa: F821
    return _summary.SUMMARY[name]


def _summary_experimental_later(name):
    """tf.summary.experimental.summary_scope, likewise."""
    if name != "summary_scope":
        raise AttributeError("module 'thalweg.summary.experimental' has no attribute %r" % name)
    from thalweg import _summary
    return _summary.SummaryScope


def _profiler_later(name):
    """The context managers of tf.profiler.experimental, likewise."""
    from thalweg import _summary
    if name not in _summary.PROFILER:
        raise AttributeError("module 'thalweg.profiler.experimental' has no attribute %r" % name)
    return _summary.PROFILER[name]


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    import numpy
    value = io.parse_tensor(tensor.SerializeToString(), as_dtype(tensor.dtype)).numpy()  # noqa: F821
    return numpy.array(value, object) if isinstance(value, bytes) else value  # a text alone is an array, too


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """The TensorProto of a value."""
    from thalweg import _messages
    if hasattr(values, "SerializeToString"):
        return values
    made = convert_to_tensor(values, dtype)  # noqa: F821
    if shape is not None:
        if verify_shape and made.shape != TensorShape(shape):  # noqa: F821
            raise TypeError("Expected Tensor's shape: %s, got %s." % (tuple(TensorShape(shape)), tuple(made.shape)))  # noqa: F821
        made = reshape(made, shape) if size(made) == reduce_prod(constant(shape, int64)) or not allow_broadcast else broadcast_to(made, shape)  # noqa: F821
    return _messages.TensorProto.FromString(io._tensor_message(made).numpy())  # noqa: F821


def _contrib_later(name):
    """tf.contrib.summary, likewise."""
    from thalweg import _summary
    if name not in _summary.CONTRIB:
        raise AttributeError("module 'thalweg.contrib.summary' has no attribute %r" % name)
    return _summary.CONTRIB[name]


def _backend_later(name):
    """The functions of keras.backend, likewise."""
    from thalweg import _backend
    if name not in _backend.BACKEND:
        raise AttributeError("module 'thalweg.keras.backend' has no attribute %r" % name)
    setattr(keras.backend, name, _backend.BACKEND[name])  # noqa: F821
    return _backend.BACKEND[name]


keras.backend.__getattr__ = _backend_later  # noqa: F821


def _saved_model_later(name):
    """tf.saved_model, likewise."""
    if name.startswith("__"):
        raise AttributeError("module 'thalweg.saved_model' has no attribute %r" % name)
    from thalweg import _saved_model, _saving
    if name not in _saved_model.PUBLIC:
        raise AttributeError("module 'thalweg.saved_model' has no attribute %r" % name)
    setattr(saved_model, name, getattr(_saving if name == "save" else _saved_model, name))  # noqa: F821
    return getattr(saved_model, name)  # noqa: F821


saved_model.__getattr__ = _saved_model_later  # noqa: F821


def _saving_later(name):
    """A function of _saving that is loaded when it is first called."""
    def call(*args, **kwargs):
        from thalweg import _saving
        return getattr(_saving, name)(*args, **kwargs)
    call.__name__ = name.replace("model_", "", 1) if name.startswith("model_") else name
    return call


keras.models.load_model, keras.models.save_model = _saving_later("load_model"), _saving_later("save_model")  # noqa: F821
keras.Model.save, keras.Model.export = _saving_later("model_save"), _saving_later("model_export")  # noqa: F821


class _ResizeMethod:
    """The methods of tf.image.resize."""
    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = "bilinear", "nearest", "bicubic", "area"
    LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = "lanczos3", "lanczos5", "gaussian", "mitchellcubic"


class _Reduction:
    """How losses of single examples become one."""
    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"

    @classmethod
    def all(cls):
        """All of them."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE


image.ResizeMethod = _ResizeMethod  # noqa: F821
keras.losses.Reduction = _Reduction  # noqa: F821
_EXAMPLES = ("Example", "SequenceExample", "Features", "Feature", "BytesList", "FloatList", "Int64List", "FeatureLists", "FeatureList")
io.__getattr__, train.__getattr__ = _io_later, _train_later  # noqa: F821
summary.__getattr__, summary.experimental.__getattr__ = _summary_later, _summary_experimental_later  # noqa: F821
profiler.experimental.__getattr__ = _profiler_later  # noqa: F821


def _module(name, **members):
    """A module with members."""
    made = _sys.modules[__name__ + "." + name] = type(_sys)(__name__ + "." + name)
    made.__dict__.update(members)
    return made


def _is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU: there is none, of whatever kind."""
    del cuda_only, min_cuda_compute_capability
    return False


version = _module("version", VERSION=__version__)
contrib = _module("contrib", summary=_module("contrib.summary", __getattr__=_contrib_later))
test = _module("test", is_gpu_available=_is_gpu_available, is_built_with_cuda=lambda: False, is_built_with_gpu_support=lambda: False,
               gpu_device_name=lambda: "")
keras.__version__ = "2.15.0"  # noqa: F821
losses = _sys.modules[__name__ + ".losses"] = keras.losses  # noqa: F821
metrics = _sys.modules[__name__ + ".metrics"] = keras.metrics  # noqa: F821
optimizers = _sys.modules[__name__ + ".optimizers"] = keras.optimizers  # noqa: F821


def _get_value(x):
    """The value of a variable or tensor as NumPy's; anything else as it is."""
    return x.numpy() if _core.is_tensor(x) else x


def _set_value(x, value):
    """Sets a variable, its dtype kept."""
    import numpy
    x.assign(numpy.asarray(value, dtype=x.dtype.as_numpy_dtype))


keras.backend.get_value, keras.backend.set_value = _get_value, _set_value  # noqa: F821


def inside_function():
    """Whether a function is being traced."""
    return not _core.executing_eagerly() and compat.v1._inside_function()  # noqa: F821


def _load_data_of(dataset):
    def load_data(*args, **kwargs):
        """((x_train, y_train), (x_test, y_test)) as NumPy arrays."""
        x_train, y_train, x_test, y_test = dataset._load_data(*args, **kwargs)
        return (x_train, y_train), (x_test, y_test)
    dataset.load_data = load_data


for _dataset in (keras.datasets.mnist, keras.datasets.fashion_mnist):  # noqa: F821
    _load_data_of(_dataset)
del _dataset


def get_logger():
    """The logger that warnings go to."""
    from thalweg import _log
    return _log._logger


from thalweg import _gfile, _variable  # noqa: E402, F401
from thalweg import _keras_objects, _keras_saving, _lookup, _metrics, _random, _spec, _strings  # noqa: E402, F401


_loading = _thread.RLock()
_Module = type(_sys)


class _Filling(_Module):
    """A module while it is filled: threads that ask it for something wait until it is whole."""

    def __getattribute__(self, name):
        if _loading.acquire(timeout=30):  # an import elsewhere may wait for this thread in turn
            _loading.release()
        return _Module.__getattribute__(self, name)


def _packages():
    """Modules without a file may have others inside: imports ask for a path."""
    for name, module in list(_sys.modules.items()):
        if name.startswith(__name__ + ".") and "__file__" not in module.__dict__:
            module.__dict__.setdefault("__path__", [])


def _later(modules, fill, known=None):
    """`fill` runs once, when a module is first asked for what it lacks (for one of `known`, if that is given); other threads wait until it
    is done. Gives the function that does so."""
    begun = []

    def parts():
        names = [module.__name__ + "." for module in modules]  # `range`, `map` and the like are TensorFlow's here
        return [module for name, module in list(_sys.modules.items()) if type(module) is _Module and (name + ".").startswith((*names,))]

    def load():
        with _loading:
            if begun:
                return
            begun.append(True)
            hidden = parts()
            for module in hidden:
                module.__class__ = _Filling
            try:
                fill()
                for module, get in getters:
                    if module.__dict__.get("__getattr__") is get:
                        del module.__getattr__
            finally:
                for module in hidden:
                    module.__class__ = _Module
                _packages()

    def getter(module):
        def get(name):
            if not name.startswith("__") and (not known or name in known):
                load()
                if name in module.__dict__ or module.__dict__.get("__getattr__", get) is not get:
                    return getattr(module, name)
            raise AttributeError("module %r has no attribute %r" % (module.__name__, name))
        module.__getattr__ = get = _core._getter(get, None)
        return module, get
    getters = [getter(module) for module in modules]
    return load


def _compat_later():
    """tf.compat, tf.compat.v1, tf.Graph and tf.Operation are filled when one of them is first asked for."""
    rows = {name: value for name, value in compat.v1.__dict__.items() if not name.startswith("__")}  # noqa: F821
    own = globals()
    graph_types = {name: own.pop(name) for name in ("Graph", "Operation")}
    modules = (compat, compat.v1, compat.v2)  # noqa: F821
    for name in rows:
        delattr(compat.v1, name)  # noqa: F821
    half = [(name, module) for name, module in _sys.modules.items() if name.startswith(__name__ + ".compat.v1.")]
    for name, module in half:
        del _sys.modules[name]  # an import of one of them fills it first

    def fill():
        _sys.modules.update(half)
        compat.v1.__dict__.update(rows)  # noqa: F821
        _core.Graph, _core.Operation = graph_types["Graph"], graph_types["Operation"]
        from thalweg._graph_mode import namespace
        namespace.fill()
        own.update(graph_types)  # others see them when they are whole
    load = _later(modules, fill)

    def missing(self, name):
        """Tensors inside of functions lead to graphs, too, and another thread may be filling."""
        if not name.startswith("__"):
            load()
        return object.__getattribute__(self, name)

    def consumers(self):
        """Replaced by what it calls."""
        load()
        return self.consumers()
    for made in graph_types.values():
        made.__getattr__ = missing
    _core.SymbolicTensor.consumers = consumers
    return load


compat.v2 = _module("compat.v2")  # noqa: F821
_fill_compat = _compat_later()


def _data_later():
    """tf.data is filled when it is first asked for something."""
    rows = {name: value for name, value in data.__dict__.items() if not name.startswith("__")}  # noqa: F821
    for name in rows:
        delattr(data, name)  # noqa: F821
    data._rows = type(_sys)("rows")  # noqa: F821
    data._rows.__dict__.update(rows)  # noqa: F821

    def fill():
        from thalweg._data import namespace
        namespace.fill(rows)
    _later([data], fill)  # noqa: F821


_data_later()


def _distribute_later():
    """So is tf.distribute; tf.tpu and tf.config.experimental_connect_to_cluster come with it."""
    rows = {name: value for name, value in distribute.__dict__.items() if not name.startswith("__")}  # noqa: F821
    for name in rows:
        delattr(distribute, name)  # noqa: F821
    distribute._rows = type(_sys)("rows")  # noqa: F821
    distribute._rows.__dict__.update(rows)  # noqa: F821

    def fill():
        from thalweg import _distribute
        _distribute.fill()
    _later([distribute], fill)  # noqa: F821

    def get_tpu(name):
        from thalweg import _cluster
        if name not in _cluster.TPU:
            raise AttributeError("module 'thalweg.tpu.experimental' has no attribute %r" % name)
        return _cluster.TPU[name]
    return _module("tpu", experimental=_module("tpu.experimental", __getattr__=get_tpu))


tpu = _distribute_later()


def _dirs():
    """dir() of a module lists also what is loaded when it is first asked for."""
    def add(module, later):
        module.__dir__ = lambda: sorted(set(later()) | set(module.__dict__))  # in this order: `later` may fill the module

    def members(name, attribute):
        def later():
            import importlib
            found = getattr(importlib.import_module("thalweg." + name), attribute)
            return found() if callable(found) else found
        return later

    def filled(module):
        def later():
            getattr(module, {data: "AUTOTUNE", compat: "v1", distribute: "ReduceOp"}.get(module, "Session"), None)  # noqa: F821
            return ()
        return later
    add(config, lambda: members("_device", "CONFIG")() + ["experimental_connect_to_cluster", "experimental_connect_to_host"])  # noqa: F821
    add(config.experimental, members("_device", "EXPERIMENTAL"))  # noqa: F821
    add(autodiff, lambda: ["ForwardAccumulator"])  # noqa: F821
    add(saved_model, members("_saved_model", "PUBLIC"))  # noqa: F821
    add(ragged, lambda: ["map_flat_values"])  # noqa: F821
    add(sparse, lambda: ["map_values"])  # noqa: F821
    add(debugging, members("_debugging", "members"))  # noqa: F821
    parsing = members("_parsing", "IO")
    add(io, lambda: list(members("_records", "IO")()) + list(parsing()))  # noqa: F821
    add(train, lambda: _EXAMPLES)  # noqa: F821
    add(summary, members("_summary", "SUMMARY"))  # noqa: F821
    add(keras.backend, members("_backend", "BACKEND"))  # noqa: F821
    add(summary.experimental, lambda: ["summary_scope"])  # noqa: F821
    add(profiler.experimental, members("_summary", "PROFILER"))  # noqa: F821
    add(contrib.summary, members("_summary", "CONTRIB"))
    add(tpu.experimental, members("_cluster", "TPU"))
    for module in (data, compat, compat.v1, compat.v2, distribute):  # noqa: F821
        add(module, filled(module))


_dirs()


def _training_later():
    """The methods of keras.Model for training, and keras.callbacks, likewise."""
    model, callbacks = keras.Model, keras.callbacks  # noqa: F821
    rows = {name: value for name, value in callbacks.__dict__.items() if not name.startswith("__")}
    for name in rows:
        delattr(callbacks, name)
    methods = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "train_step", "test_step",
               "predict_step", "compute_loss", "compute_metrics", "get_metrics_result", "fit_generator", "evaluate_generator",
               "predict_generator")
    properties = ("metrics_names", "compiled_loss", "compiled_metrics", "history", "_is_compiled", "loss", "run_eagerly")
    utilities = ("Sequence", "unpack_x_y_sample_weight", "pack_x_y_sample_weight")

    def fill():
        from thalweg import _callbacks
        _callbacks.install(rows)
        from thalweg import _training
        _training.install()
    load = _later([callbacks], fill)
    _later([keras.utils], load, utilities)  # noqa: F821

    def method(name):
        def call(self, *args, **kwargs):
            load()
            return getattr(model, name)(self, *args, **kwargs)
        call.__name__ = name
        return call

    def prop(name):
        def get(self):
            load()
            return getattr(model, name).fget(self)
        return property(get)

    for name in methods:
        setattr(model, name, method(name))
    for name in properties:
        setattr(model, name, prop(name))


_training_later()


def _one_at_a_time():
    """What is loaded late is loaded by one thread at a time: two that import modules which need each other would find halves of them."""
    for name, module in list(_sys.modules.items()):
        get = module.__dict__.get("__getattr__") if (name + ".").startswith(__name__ + ".") else None
        if get and type(getattr(get, "__self__", None)) is not type(()):  # else it waits by itself
            module.__getattr__ = _core._getter(get, _loading)


_one_at_a_time()


def _copying_later():
    """copy and pickle of objects, likewise."""
    def reduce(self, protocol):
        from thalweg import _copying
        return _copying.reduce(self, protocol)

    def shallow(self):
        from thalweg import _copying
        return _copying.shallow(self)
    _core.Object.__reduce_ex__, _core.Object.__copy__ = reduce, shallow
    Variable.__copy__ = lambda self: self  # noqa: F821


_copying_later()

from thalweg import _finder  # noqa: E402

_sys.meta_path.append(_finder.Members)
_packages()
