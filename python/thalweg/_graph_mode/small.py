"""Small parts of tf.compat.v1: versions, old names of types, codes of errors, files beside a program, checkpoint states, parts of variables."""
import math
import os
import sys

import thalweg as tf
from thalweg import _messages

_v1 = tf.compat.v1


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """The sparse tensor itself, or a tensor of the value."""
    if isinstance(value, _v1.SparseTensorValue):
        value = tf.SparseTensor.from_value(value)
    if isinstance(value, tf.SparseTensor):
        if dtype is not None and tf.as_dtype(dtype) != value.dtype:
            raise RuntimeError("Sparse dtype mismatch. Requested: %s,  Actual: %s" % (tf.as_dtype(dtype).name, value.dtype.name))
        return value
    return tf.convert_to_tensor(value, dtype, name=name)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """The slices themselves, or a tensor of the value."""
    if isinstance(value, tf.IndexedSlices):
        if dtype is not None and tf.as_dtype(dtype) != value.dtype:
            raise ValueError("Tensor conversion requested dtype %s for IndexedSlices with dtype %s" % (tf.as_dtype(dtype).name, value.dtype.name))
        return value
    return tf.convert_to_tensor(value, dtype, name=name)


# ---- parts of variables ----

def fixed_size_partitioner(num_shards, axis=0):
    """A function that says: so many parts along an axis."""
    def partitioner(shape, **unused):
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, shape.dims[axis].value if hasattr(shape.dims[axis], "value") else shape[axis])
        return parts
    return partitioner


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """A function that says how many parts along an axis have at most some bytes each."""
    for name, value in (("max_shard_bytes", max_shard_bytes), ("bytes_per_string_element", bytes_per_string_element), ("max_shards", max_shards)):
        if value is not None and value < 1:
            raise ValueError("Argument `%s` must be positive. Received %s" % (name, value))

    def partitioner(shape, dtype):
        parts = [1] * shape.rank
        slice_bytes = (bytes_per_string_element if dtype == tf.string else dtype.size) * (shape.num_elements() // shape[axis])
        count = int(math.ceil(shape[axis] / max(1, max_shard_bytes // slice_bytes)))
        parts[axis] = min(count, shape[axis], max_shards or count)
        return parts
    return partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """A function that says how many parts along an axis have at least some bytes each."""
    def partitioner(shape, dtype):
        whole = shape.num_elements() * (bytes_per_string_element if dtype == tf.string else dtype.size)
        parts = [1] * shape.rank
        parts[axis] = max(1, min(int(math.ceil(whole / min_slice_size)), max_partitions, shape[axis]))
        return parts
    return partitioner


# ---- errors ----

def exception_type_from_error_code(error_code):
    """The class of errors with a code."""
    for value in vars(tf.errors).values():
        if isinstance(value, type) and issubclass(value, tf.errors.OpError) and value is not tf.errors.OpError and _code(value) == error_code:
            return value
    raise KeyError(error_code)


def _code(kind):
    try:
        return kind(None, None, "").error_code
    except TypeError:
        return None


def error_code_from_exception_type(cls):
    """The code of a class of errors."""
    code = _code(cls) if isinstance(cls, type) and issubclass(cls, tf.errors.OpError) else None
    return code if code is not None else tf.errors.UnknownError(None, None, "Unknown class exception type: %s" % (cls,), None)


# ---- files ----

def _beside_caller(path, depth):
    folder = os.path.dirname(os.path.abspath(sys._getframe(depth).f_code.co_filename))
    return os.path.join(folder, path)


def get_path_to_datafile(path):
    """The path of a file beside the program."""
    return _beside_caller(path, 2)


def get_data_files_path():
    """The folder of the program."""
    return _beside_caller("", 2).rstrip(os.sep)


def load_resource(path):
    """What stands in a file beside the program."""
    with open(_beside_caller(path, 2), "rb") as file:
        return file.read()


def readahead_file_path(path, readahead="128M"):
    """The path."""
    del readahead
    return path


def get_root_dir_with_all_resources():
    """The folder that the program's files are below."""
    return _beside_caller("", 2).rstrip(os.sep)


def get_temp_dir():
    """A folder for the files of tests."""
    import tempfile
    return os.environ.get("TEST_TMPDIR") or tempfile.gettempdir()


def test_src_dir_path(relative_path):
    """A path below the folder of a test's sources."""
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow", "tensorflow", relative_path)


# ---- checkpoints ----

def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, all_model_checkpoint_timestamps=None,
                                    last_preserved_timestamp=None):
    """What a folder's file `checkpoint` says."""
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths (got paths %s and timestamps %s)" % (paths, times))
    if not os.path.isabs(save_dir):
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
    made = _messages.CheckpointState(model_checkpoint_path=paths[-1])
    made.all_model_checkpoint_paths.extend(paths)
    made.all_model_checkpoint_timestamps.extend(times)
    if last_preserved_timestamp is not None:
        made.last_preserved_timestamp = last_preserved_timestamp
    return made


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None, all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None):
    """Writes a folder's file `checkpoint`."""
    path = os.path.join(save_dir, latest_filename or "checkpoint")
    if path == model_checkpoint_path:
        raise RuntimeError("Save path '%s' conflicts with path used for checkpoint state.  Please use a different save path." % model_checkpoint_path)
    state = generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps,
                                            last_preserved_timestamp)
    with open(path + ".part", "w") as file:
        file.write(str(state))
    os.replace(path + ".part", path)


def install():
    """Fills parts of tf.compat.v1."""
    from thalweg import _specs, _surface
    for function in (convert_to_tensor_or_sparse_tensor, convert_to_tensor_or_indexed_slices, fixed_size_partitioner, variable_axis_size_partitioner,
                     min_max_variable_partitioner):
        setattr(_v1, function.__name__, function)
    for name, value in _surface.VERSION.items():
        setattr(_v1, name, value)
    _v1.CXX_VERSION, _v1.CXX11_ABI_FLAG, _v1.MONOLITHIC_BUILD = _surface.CXX_VERSION, _surface.CXX11_ABI_FLAG, _surface.MONOLITHIC_BUILD
    _v1.NoGradient = _v1.NotDifferentiable = _surface.no_gradient
    _v1.NameAttrList = _messages.NameAttrList
    _v1.train.generate_checkpoint_state_proto, _v1.train.update_checkpoint_state = generate_checkpoint_state_proto, update_checkpoint_state
    _v1.train.NewCheckpointReader = tf.train.load_checkpoint
    tf._module("resource_loader", _v1, get_path_to_datafile=get_path_to_datafile, get_data_files_path=get_data_files_path, load_resource=load_resource,
               readahead_file_path=readahead_file_path, get_root_dir_with_all_resources=get_root_dir_with_all_resources)
    errors = tf._module("errors", _v1, exception_type_from_error_code=exception_type_from_error_code,
                        error_code_from_exception_type=error_code_from_exception_type)
    errors.__dict__.update({name: value for name, value in vars(tf.errors).items() if not name.startswith("_")})
    tf._module("test", _v1, get_temp_dir=get_temp_dir, test_src_dir_path=test_src_dir_path)
    tf._module("debugging", _v1, is_finite=tf.math.is_finite, is_inf=tf.math.is_inf, is_nan=tf.math.is_nan, is_non_decreasing=tf.math.is_non_decreasing,
               is_strictly_increasing=tf.math.is_strictly_increasing)
    from thalweg._data import structure
    old = {name: value for name, value in vars(tf.data.experimental).items() if not name.startswith("__")}
    old.update(Structure=tf.TypeSpec, OptionalStructure=_specs.OptionalSpec, DatasetStructure=structure.DatasetSpec,
               TensorStructure=lambda dtype, shape: tf.TensorSpec(shape, dtype),
               SparseTensorStructure=lambda dtype, shape: tf.SparseTensorSpec(shape, dtype),
               RaggedTensorStructure=lambda dtype, shape, ragged_rank: tf.RaggedTensorSpec(shape, dtype, ragged_rank),
               TensorArrayStructure=lambda dtype, element_shape, dynamic_size, infer_shape: _specs.TensorArraySpec(element_shape, dtype, dynamic_size,
                                                                                                                   infer_shape))
    tf._module("experimental", _v1.data, **old)
