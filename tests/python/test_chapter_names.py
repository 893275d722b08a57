"""Every name that the handbook's chapters use exists (NAMES: sorted, `tf.` for the package), and dir() lists names that are loaded later."""
import importlib
import subprocess
import sys

import pytest

import thalweg as tf

NAMES = """
tf.ConfigProto tf.GradientTape tf.Graph tf.Tensor tf.TensorArray tf.TensorSpec tf.Variable tf.autograph tf.autograph.to_code tf.compat.v1
tf.compat.v1.ConfigProto tf.compat.v1.Session tf.cond tf.config tf.config.LogicalDeviceConfiguration tf.config.experimental.VirtualDeviceConfiguration
tf.config.experimental.set_memory_growth tf.config.experimental.set_virtual_device_configuration tf.config.experimental_connect_to_cluster
tf.config.list_physical_devices tf.config.set_logical_device_configuration tf.config.set_visible_devices tf.constant tf.contrib.summary
tf.contrib.summary.always_record_summaries tf.contrib.summary.create_file_writer tf.contrib.summary.scalar tf.control_dependencies tf.data
tf.data.Dataset tf.data.Dataset.from_generator tf.data.Dataset.from_tensor_slices tf.data.Dataset.list_files tf.data.TFRecordDataset
tf.data.TextLineDataset tf.data.experimental.AUTOTUNE tf.data.experimental.make_csv_dataset tf.distribute.MirroredStrategy
tf.distribute.cluster_resolver.TPUClusterResolver tf.distribute.experimental.TPUStrategy tf.dtypes.float32 tf.enable_eager_execution tf.float32
tf.function tf.image tf.image.decode_image tf.image.decode_jpeg tf.image.encode_jpeg tf.image.resize tf.int32 tf.int64 tf.io tf.io.FixedLenFeature
tf.io.TFRecordWriter tf.io.parse_single_example tf.io.read_file tf.keras tf.keras.Model tf.keras.backend.clear_session
tf.keras.callbacks.ModelCheckpoint tf.keras.callbacks.TensorBoard tf.keras.layers.Add tf.keras.layers.Concatenate tf.keras.layers.Conv1D
tf.keras.layers.Dense tf.keras.layers.Embedding tf.keras.layers.Flatten tf.keras.layers.GlobalMaxPool1D tf.keras.layers.Input tf.keras.layers.Layer
tf.keras.layers.MaxPool1D tf.keras.layers.SeparableConv1D tf.keras.losses.SparseCategoricalCrossentropy tf.keras.metrics.Mean
tf.keras.metrics.SparseCategoricalAccuracy tf.keras.models.Model tf.keras.models.Sequential tf.keras.models.load_model tf.keras.models.model_from_json
tf.keras.optimizers tf.keras.optimizers.Nadam tf.keras.preprocessing.image tf.keras.preprocessing.image.ImageDataGenerator tf.print tf.range tf.stack
tf.string tf.strings.format tf.strings.regex_full_match tf.summary.create_file_writer tf.summary.scalar tf.summary.trace_export tf.summary.trace_on
tf.tpu.experimental.initialize_tpu_system tf.train.BytesList tf.train.Checkpoint tf.train.CheckpointManager tf.train.Example tf.train.Feature
tf.train.Features tf.train.FloatList tf.train.Int64List tf.train.latest_checkpoint
""".split()


def resolve(name):
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def test_the_list_is_sorted():
    assert NAMES == sorted(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    resolve(name)


MODULES = ["thalweg.keras", "thalweg.keras.layers", "thalweg.data", "thalweg.io", "thalweg.train", "thalweg.compat.v1"]


@pytest.mark.parametrize("name", MODULES)
def test_module_is_imported_by_name(name):
    assert importlib.import_module(name) is resolve("tf" + name[7:])


LATER = {
    "": "cond function device TensorArray print autograph nest Graph control_dependencies data compat",
    "config": "list_physical_devices set_visible_devices LogicalDeviceConfiguration", "config.experimental": "set_memory_growth",
    "autodiff": "ForwardAccumulator", "ragged": "map_flat_values", "sparse": "map_values", "debugging": "assert_near enable_check_numerics",
    "io": "FixedLenFeature TFRecordWriter parse_single_example", "train": "Example Feature Checkpoint", "summary": "create_file_writer scalar",
    "summary.experimental": "summary_scope", "data": "Dataset TFRecordDataset experimental", "compat": "v1", "compat.v1": "Session placeholder",
    "data.experimental": "make_csv_dataset AUTOTUNE",
}


@pytest.mark.parametrize("module", sorted(LATER))
def test_dir_lists_what_is_loaded_later(module):
    """In a process of its own: what others asked for is there anyway."""
    program = "import thalweg as tf; print(*dir(tf%s))" % ("." + module if module else "")
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert set(LATER[module].split()) <= set(listed)
