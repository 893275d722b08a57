"""thalweg: TensorFlow 2 as a small C library. `import thalweg as tf`.

Everything here comes from the library's own tables, through the extension _core; see python/extension."""
import sys as _sys

from thalweg import _core

_core.populate(_sys.modules[__name__])
from thalweg import errors  # noqa: E402

is_tensor = _core.is_tensor
as_dtype = dtypes.as_dtype = _core.as_dtype  # noqa: F821
__version__ = "2.15.1"  # of the TensorFlow whose behaviour this is
__thalweg_version__ = "0.1.0"
executing_eagerly = _core.executing_eagerly
init_scope = _core.init_scope

if "config" not in globals():
    config = _sys.modules["thalweg.config"] = type(_sys)("thalweg.config")
config.functions_run_eagerly = _core.functions_run_eagerly


def _run_functions_eagerly(run_eagerly):
    """Whether every tf.function runs its Python code at each call."""
    _core.run_functions_eagerly(run_eagerly)


config.run_functions_eagerly = config.experimental_run_functions_eagerly = _run_functions_eagerly


def _io_later(name):
    """What of tf.io is imported only when it is asked for."""
    if name != "gfile":
        raise AttributeError("module 'thalweg.io' has no attribute %r" % name)
    import thalweg._gfile
    io.gfile = _sys.modules["thalweg.io.gfile"] = thalweg._gfile  # noqa: F821
    return thalweg._gfile


io.__getattr__ = _io_later  # noqa: F821


def inside_function():
    """Whether a function is being traced."""
    return not _core.executing_eagerly()


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


from thalweg import _variable  # noqa: E402, F401
