"""thalweg: TensorFlow 2 as a small C library. `import thalweg as tf`.

Everything here comes from the library's own tables, through the extension _core; see python/extension."""
import sys as _sys
from _frozen_importlib import ModuleSpec as _ModuleSpec

if _sys.version_info < (3, 11):
    raise ImportError("thalweg needs Python 3.11 or newer; this is Python %d.%d" % _sys.version_info[:2])
import _thread  # noqa: E402

from thalweg import _core  # noqa: E402

_core.populate(_sys.modules[__name__])
from thalweg import errors  # noqa: E402

is_tensor = _core.is_any_tensor
as_dtype = dtypes.as_dtype = _core.as_dtype  # noqa: F821
__version__ = "2.15.1"  # of the TensorFlow whose behaviour this is
__git_version__ = "thalweg"
__thalweg_version__ = "0.1.0"
executing_eagerly = _core.executing_eagerly
init_scope = _core.init_scope

config.functions_run_eagerly = _core.functions_run_eagerly  # noqa: F821


def _run_functions_eagerly(run_eagerly):
    """Whether every tf.function runs its Python code at each call."""
    _core.run_functions_eagerly(run_eagerly)


config.experimental_functions_run_eagerly = _core.functions_run_eagerly  # noqa: F821
config.run_functions_eagerly = config.experimental_run_functions_eagerly = _run_functions_eagerly  # noqa: F821


SparseTensorSpec.value_type, RaggedTensorSpec.value_type = SparseTensor, RaggedTensor  # noqa: F821


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


class _Late:
    """A method whose module is loaded when somebody asks for it, who gets the method itself: what it takes can be asked, and it can be replaced."""

    def __init__(self, load):
        self._load = load

    def __get__(self, instance, owner=None):
        return self._load().__get__(instance, owner)


def _saving_later(name):
    """A function of _saving that is loaded when it is first called."""
    def call(*args, **kwargs):
        from thalweg import _saving
        return getattr(_saving, name)(*args, **kwargs)
    call.__name__ = name
    return call


def _saving_method(name):
    """The same for a method."""
    def load():
        from thalweg import _saving
        return getattr(_saving, name)
    return _Late(load)


keras.models.load_model, keras.models.save_model = _saving_later("load_model"), _saving_later("save_model")  # noqa: F821
keras.Model.save, keras.Model.export = _saving_method("model_save"), _saving_method("model_export")  # noqa: F821


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


def _box_function(plain, general, pads, doc):
    """crop_to_bounding_box or pad_to_bounding_box: the numbers may be tensors, which `plain` does not take."""
    def call(image, offset_height, offset_width, target_height, target_width):
        box = offset_height, offset_width, target_height, target_width
        return general(image, pads, *box) if any(map(is_tensor, box)) else plain(image, *box)
    call.__name__ = call.__qualname__ = plain.__name__
    call.__doc__ = doc
    return call


image.crop_to_bounding_box = _box_function(image.crop_to_bounding_box, image._to_bounding_box, False,  # noqa: F821
                                           "The part of images that begins at an offset and has a height and a width.")
image.pad_to_bounding_box = _box_function(image.pad_to_bounding_box, image._to_bounding_box, True,  # noqa: F821
                                          "Images with zeros around them, of a height and a width, in which they lie at an offset.")
image.ResizeMethod = _ResizeMethod  # noqa: F821
keras.losses.Reduction = _Reduction  # noqa: F821
def _module(name, parent=_sys.modules[__name__], **members):
    """The module of that name below another one, with members; made if there is none, or only tf's."""
    own = parent.__dict__.get(name)
    if own is None or own is globals().get(name):
        own = _sys.modules[parent.__name__ + "." + name] = type(_sys)(parent.__name__ + "." + name)
        own.__path__ = []  # others may be inside
        setattr(parent, name, own)
    own.__dict__.update(members)
    return own


def _put(members, cls):
    """Puts the members of a class on another one, a type of the tables."""
    for name, member in vars(members).items():
        if name not in ("__module__", "__dict__", "__weakref__", "__doc__"):
            setattr(cls, name, member)


def _is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU: there is none, of whatever kind."""
    del cuda_only, min_cuda_compute_capability
    return False


def _spec_of_column(column):
    """What tf.io.parse_example must know of a column's features."""
    from thalweg import _feature_column
    return _feature_column.spec_of(column)


feature_column._columns.FeatureColumn.parse_example_spec = property(_spec_of_column)  # noqa: F821
_module("queue")
_module("export", _module("estimator"))
_module("estimator", keras)  # noqa: F821
_module("version", VERSION=__version__)
_module("summary", _module("contrib"))
_module("experimental", _module("tpu"))
experimental = _module("experimental")
_module("extension_type", experimental)
_module("dlpack", experimental)
_module("experimental", _module("types"))
_module("sysconfig")
_module("test", is_gpu_available=_is_gpu_available, is_built_with_cuda=lambda: False, is_built_with_gpu_support=lambda: False,
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


_embedding_lookup = nn.embedding_lookup  # noqa: F821


def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows that the ids name, of a table or of a list of its parts."""
    if isinstance(params, (type([]), type(()))):  # `tuple` is tf.tuple here
        return nn._embedding_lookup_parts(params, ids, max_norm, name)  # noqa: F821
    return _embedding_lookup(params, ids, max_norm, name)


nn.embedding_lookup = embedding_lookup  # noqa: F821
del embedding_lookup

keras.backend._read_settings()  # noqa: F821
keras.backend.get_value, keras.backend.set_value = _get_value, _set_value  # noqa: F821


_clear_session, _forgetting = keras.backend.clear_session, []  # noqa: F821


def clear_session():
    """Forgets names and the session of Keras; the default graph is empty again."""
    _clear_session()
    for forget in _forgetting:
        forget()


keras.backend.clear_session = clear_session  # noqa: F821
del clear_session


def inside_function():
    """Whether a function is being traced."""
    return not _core.executing_eagerly() and compat.v1._inside_function()  # noqa: F821


def _load_data_of(dataset):
    def load_data(path="mnist.npz"):
        """((x_train, y_train), (x_test, y_test)) as NumPy arrays."""
        x_train, y_train, x_test, y_test = dataset._load_data(*(() if path is None else (path,)))
        return (x_train, y_train), (x_test, y_test)
    dataset.load_data = load_data if dataset is keras.datasets.mnist else lambda: load_data(None)  # noqa: F821


for _dataset in (keras.datasets.mnist, keras.datasets.fashion_mnist):  # noqa: F821
    _load_data_of(_dataset)
del _dataset


def get_logger():
    """The logger that warnings go to."""
    from thalweg import _log
    return _log._logger


from thalweg import _finder, _gfile, _variable  # noqa: E402, F401
from thalweg import _auto_config, _keras_objects, _keras_saving, _layer_call, _legacy_optimizers, _metrics, _optimizers, _random, _spec  # noqa: E402, F401


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
            if module.__dict__.get("__spec__") is None:
                loader = _finder.Members(module)  # an import may use the spec: it must give this module, not another
                module.__spec__ = loader.spec = _ModuleSpec(name, loader, is_package=True)


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


def _taken(module):
    """The members of a module, which it has no more."""
    rows = {name: value for name, value in module.__dict__.items() if not name.startswith("__")}
    for name in rows:
        delattr(module, name)
    return rows


def _compat_later():
    """tf.compat, tf.compat.v1, tf.Graph and tf.Operation are filled when one of them is first asked for."""
    rows, own = _taken(compat.v1), globals()  # noqa: F821
    graph_types = {name: own.pop(name) for name in ("Graph", "Operation")}
    modules = (compat, compat.v1, compat.v2)  # noqa: F821
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


_module("v2", compat, __version__=__version__)  # noqa: F821
compat.v1.__version__ = __version__  # noqa: F821
_fill_compat = _compat_later()


def _dimension(axis, doc):
    def get(self):
        shape = self.shape
        return compat.v1.Dimension(None if shape.rank is None else shape[axis])  # noqa: F821
    return property(get, doc=doc)


linalg.LinearOperator.domain_dimension = _dimension(-1, "The number of columns.")  # noqa: F821
linalg.LinearOperator.range_dimension = _dimension(-2, "The number of rows.")  # noqa: F821


def _whole_later(module, source):
    """A module is filled by `fill` of a file when it is first asked for something; its rows stand in `_rows`."""
    rows = _taken(module)
    module._rows = type(_sys)("rows")
    module._rows.__dict__.update(rows)

    def fill():
        __import__(source)
        _sys.modules[source].fill(rows)
    _later([module], fill)


def _numpy_later():
    """tf.experimental.numpy, likewise."""
    module = _module("numpy", experimental)

    def fill():
        from thalweg import _numpy
        _numpy.fill(module)
    _later([module], fill)
    _filled_later(module, "ndarray")


_whole_later(data, "thalweg._data.namespace")  # noqa: F821
_whole_later(distribute, "thalweg._distribute")  # noqa: F821


_DIRECTORIES = ("image_dataset_from_directory", "text_dataset_from_directory", "audio_dataset_from_directory", "timeseries_dataset_from_array")
# What modules have once it is asked for: the file it is in, and the names, or the name of the table there.
autodiff.GradientTape = GradientTape  # noqa: F821
_LATER = {
    config: [("_device", "CONFIG"), ("_cluster", ("experimental_connect_to_cluster", "experimental_connect_to_host"))],  # noqa: F821
    config.experimental: [("_device", "EXPERIMENTAL"), ("_surface", "CONFIG")],  # noqa: F821
    _module("optimizer", config): [("_surface", "OPTIMIZER")],  # noqa: F821
    sysconfig: [("_surface", "SYSCONFIG")],  # noqa: F821
    types.experimental: [("_extension_types", "TYPES")],
    experimental: [("_experimental", "EXPERIMENTAL"), ("_extension_types", "PUBLIC"), ("_surface", ("register_filesystem_plugin",))],
    experimental.extension_type: [("_extension_types", ("as_dict",))],
    experimental.dlpack: [("_experimental", ("from_dlpack", "to_dlpack"))],
    version: [("_surface", "VERSION")],  # noqa: F821
    test: [("_test", "TEST")],  # noqa: F821
    _module("experimental", test): [("_test", ("sync_devices",))],  # noqa: F821
    _module("experimental", debugging): [("_surface", "DUMPS")],  # noqa: F821
    autodiff: [("_gradients", ("ForwardAccumulator",))],  # noqa: F821
    ragged: [("_ragged", ("map_flat_values",))],  # noqa: F821
    sparse: [("_ragged", ("map_values",))],  # noqa: F821
    debugging: [("_debugging", ("assert_proper_iterable", "is_numeric_tensor")), ("_surface", "DEBUGGING")],  # noqa: F821
    io: [("_records", "IO"), ("_parsing", "IO"), ("_constants", "WRITTEN")],  # noqa: F821
    io.gfile: [("_constants", ("get_registered_schemes",))],  # noqa: F821
    train: [("_messages", ("Example", "SequenceExample", "Features", "Feature", "BytesList", "FloatList", "Int64List", "FeatureLists",  # noqa: F821
                           "FeatureList")), ("_records", ("checkpoints_iterator",)), ("_cluster", ("ClusterSpec",)),
            ("_communication", ("Coordinator", "ExponentialMovingAverage"))],
    lookup: [("_lookup", ("TextFileIndex",))],  # noqa: F821
    signal: [("_signal", ("stft", "inverse_stft", "inverse_stft_window_fn", "mdct", "inverse_mdct"))],  # noqa: F821
    summary: [("_summary", "SUMMARY")],  # noqa: F821
    summary.experimental: [("_summary", "EXPERIMENTAL")],  # noqa: F821
    profiler.experimental: [("_summary", "PROFILER")],  # noqa: F821
    contrib.summary: [("_summary", "CONTRIB")],
    keras.backend: [("_backend", "BACKEND"), ("_backend_functions", "BACKEND")],  # noqa: F821
    keras.utils: [("_keras_pictures", ("load_img", "save_img", "img_to_array", "array_to_img")), ("_keras_text", ("pad_sequences",)),  # noqa: F821
                  ("_keras_plot", ("plot_model", "model_to_dot")), ("_keras_directories", _DIRECTORIES), ("_feature_space", ("FeatureSpace",)),
                  ("_enqueuers", "ENQUEUERS"), ("_keras_utils", "UTILS")],
    keras.preprocessing: [("_keras_directories", _DIRECTORIES)],  # noqa: F821
    keras.datasets: [("_keras_datasets", "DATASETS")],  # noqa: F821
    keras.preprocessing.image: [("_keras_pictures", ("load_img", "save_img", "img_to_array", "array_to_img", "smart_resize")),  # noqa: F821
                                ("_keras_image", "IMAGE")],
    keras.preprocessing.sequence: [("_keras_text", ("pad_sequences", "skipgrams", "TimeseriesGenerator"))],  # noqa: F821
    keras.preprocessing.text: [("_keras_text", ("Tokenizer", "tokenizer_from_json", "text_to_word_sequence", "one_hot", "hashing_trick"))],  # noqa: F821
    _module("export", keras): [("_export", ("ExportArchive",))],  # noqa: F821
    keras.experimental: [("_enqueuers", ("SidecarEvaluator",))],  # noqa: F821
    keras.applications: [("_keras_applications", "APPLICATIONS")],  # noqa: F821
    keras.applications.imagenet_utils: [("_keras_applications", ("preprocess_input", "decode_predictions"))],  # noqa: F821
    saved_model: [("_saving", ("save",)), ("_saved_model", "PUBLIC"), ("_constants", "CONSTANTS")],  # noqa: F821
    _module("experimental", saved_model): [("_constants", "POLICY")],  # noqa: F821
    _module("graph_util"): [("_constants", ("import_graph_def",))],
    _module("experimental", _module("xla")): [("_constants", ("compile", "jit_scope"))],
    _module("experimental", _module("mlir")): [("_constants", "MLIR")],
    _module("experimental", nn): [("_experimental", ("general_dropout", "stateless_dropout"))],  # noqa: F821
    _module("tensorrt", experimental): [("_constants", "TENSORRT")],
    _module("server", profiler.experimental): [("_constants", "SERVER")],  # noqa: F821
    _module("client", profiler.experimental): [("_constants", "CLIENT")],  # noqa: F821
    _module("distributed", types.experimental): [("_communication", ("Mirrored", "PerReplica"))],
    tpu.experimental: [("_cluster", "TPU"), ("_communication", "TPU")],
    _module("embedding", tpu.experimental): [("_communication", "EMBEDDING")],
    tpu: [("_communication", ("XLAOptions",))],
    lite: [("_lite", ("Interpreter",)), ("_lite_convert", ("TFLiteConverter", "OpsSet", "Optimize", "RepresentativeDataset", "TargetSpec"))],  # noqa: F821
    _module("experimental", lite): [("_lite", ("OpResolverType", "load_delegate"))],  # noqa: F821
    queue: [("_queue", ("QueueBase", "FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"))],  # noqa: F821
    estimator: [("_estimator", "ESTIMATOR")], estimator.export: [("_estimator", "EXPORT")],  # noqa: F821
    keras.estimator: [("_estimator", ("model_to_estimator",))],  # noqa: F821
    feature_column: [("_feature_column", ("make_parse_example_spec", "shared_embeddings"))],  # noqa: F821
}


def _members_later(module, sources):
    """Gives a module what its row of the table says."""
    def table(source, names):
        with _loading:  # before the lock of the import: who fills modules takes them in this order, too
            __import__("thalweg." + source)
        found = _sys.modules["thalweg." + source]
        return found, getattr(found, names) if type(names) is str else names

    def get(name):
        for source, names in () if name.startswith("__") else sources:
            if type(names) is str or name in names:
                found, known = table(source, names)
                if name in known:
                    value = module.__dict__[name] = known[name] if type(known) is dict else getattr(found, name)
                    return value
        raise AttributeError("module %r has no attribute %r" % (module.__name__, name))
    module.__getattr__ = _core._getter(get, None)
    module.__dir__ = lambda: sorted({name for source in sources for name in table(*source)[1]} | {*module.__dict__})  # noqa: F821


def _filled_later(module, member):
    """dir() of a module that is filled whole: asked for a member, it is."""
    def names():
        getattr(module, member, None)
        return sorted(module.__dict__)
    module.__dir__ = names


_numpy_later()
for _asked, _sources in _LATER.items():
    _members_later(_asked, _sources)
for _asked, _sources in ((data, "AUTOTUNE"), (compat, "v1"), (compat.v1, "Session"), (compat.v2, "Session"), (distribute, "ReduceOp")):  # noqa: F821
    _filled_later(_asked, _sources)
del _asked, _sources


def _training_later():
    """The methods of keras.Model for training, and keras.callbacks, likewise."""
    model, callbacks = keras.Model, keras.callbacks  # noqa: F821
    rows = _taken(callbacks)
    methods = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "train_step", "test_step",
               "predict_step", "compute_loss", "compute_metrics", "get_metrics_result", "fit_generator", "evaluate_generator",
               "predict_generator", "make_train_function", "make_test_function", "make_predict_function", "get_compile_config", "compile_from_config",
               "get_weight_paths", "to_yaml")
    properties = ("metrics_names", "compiled_loss", "compiled_metrics", "history", "_is_compiled", "loss", "run_eagerly", "jit_compile",
                  "train_function", "test_function", "predict_function",
                  "autotune_steps_per_execution", "steps_per_execution", "distribute_reduction_method", "distribute_strategy", "state_updates")

    def fill():
        replaced = {name: vars(model)[name] for name in methods if type(vars(model).get(name)) is not _Late and name in vars(model)}
        from thalweg import _callbacks
        _callbacks.install(rows)
        from thalweg import _training
        _training.install()
        for name, method in replaced.items():  # by the program, before anything was loaded
            setattr(model, name, method)
    load = _later([callbacks], fill)

    def loaded(name):
        load()
        return vars(model)[name]

    def late(name):
        return property(lambda self: loaded(name).fget(self), lambda self, value: loaded(name).__set__(self, value))

    for name in methods:
        setattr(model, name, _Late(lambda name=name: loaded(name)))
    for name in properties:
        setattr(model, name, late(name))
    _filled_later(callbacks, "Callback")


_training_later()


def _inner_later():
    """Modules of names that are not public: what they are asked for is looked up by _inner_paths."""
    for parent in (_sys.modules[__name__], compat.v2):  # noqa: F821
        _module("__internal__", parent)
    _module("__operators__")

    def getter(module, path):
        def get(name):
            from thalweg import _inner_paths
            value = _inner_paths.member(module, path, name)
            if value is None:
                raise AttributeError("module %r has no attribute %r" % (module.__name__, name))
            return value
        return _core._getter(get, _loading)
    for name, module in list(_sys.modules.items()):
        path = name[len(__name__) + 1:]
        if path.startswith(("keras.src", "keras.__internal__", "__internal__", "compat.v2.__internal__", "__operators__")):
            module.__getattr__ = getter(module, path.replace("compat.v2.", ""))


_inner_later()


def _one_at_a_time():
    """What is loaded late is loaded by one thread at a time: two that import modules which need each other would find halves of them."""
    for name, module in list(_sys.modules.items()):
        get = module.__dict__.get("__getattr__") if (name + ".").startswith(__name__ + ".") else None
        if get and type(getattr(get, "__self__", None)) is not type(()):  # else it waits by itself
            module.__getattr__ = _core._getter(get, _loading)


_one_at_a_time()


def _done_by(module, name):
    """Methods of objects, likewise."""
    def call(*args, **kwargs):
        return getattr(__import__("thalweg." + module, fromlist=[name]), name)(*args, **kwargs)
    return call


_core.Object.__reduce_ex__, _core.Object.__copy__ = _done_by("_copying", "reduce"), _done_by("_copying", "shallow")
Module._no_dependency, Module._flatten = _done_by("_containers", "untracked"), _done_by("_inner_attributes", "flatten")  # noqa: F821
keras.layers.Layer._flatten_layers = _done_by("_inner_attributes", "flatten_layers")  # noqa: F821
Module._setattr_tracking = property(lambda self: self.__dict__.get("_self_setattr_tracking", True),  # noqa: F821
                                    lambda self, value: setattr(self, "_self_setattr_tracking", value))
Variable.__copy__ = lambda self: self  # noqa: F821
for _class in (lookup._Table, lookup._Initializer):  # noqa: F821
    _class.__deepcopy__ = lambda self, memo: self  # a copy would look into the same table, as TensorFlow's does
del _class


_sys.meta_path.append(_finder.Members)
_packages()


def as_tensorflow():
    """From now on `import tensorflow` gives this package, here and in the processes that multiprocessing starts."""
    from thalweg import _run
    return _run.stand_in()


def load_ipython_extension(shell):
    """`%load_ext thalweg` in a notebook: the same."""
    del shell
    as_tensorflow()
