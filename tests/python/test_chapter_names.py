"""Every name that the handbook's chapters use exists (chapter_names.txt: sorted, `tf.` for the package), and dir() lists names that are loaded later."""
import importlib
import os
import subprocess
import sys

import pytest

import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "chapter_names.txt"), encoding="utf-8") as _file:
    NAMES = _file.read().split()


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
