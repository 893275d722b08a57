"""Paths of tensorflow.python.* and tensorflow.core.* that public programs import are there, and stand for the public objects."""
import importlib
import json
import subprocess
import sys

import pytest

from golden_files import golden_file
import inner_path_cases
import thalweg as tf

with open(golden_file("inner_paths", "paths.json")) as f:
    EXPECTED = json.load(f)


def test_every_path_was_looked_up():
    assert list(EXPECTED) == [module + "." + name for module, name in inner_path_cases.pairs()]


@pytest.mark.parametrize("module, name", list(inner_path_cases.pairs()))
def test_path(module, name):
    place = importlib.import_module("thalweg." + module)
    assert inner_path_cases.kind(getattr(place, name)) == EXPECTED[module + "." + name]


def test_they_are_the_public_objects():
    from thalweg.python.framework import dtypes, ops
    from thalweg.python.keras.engine.base_layer import Layer
    from thalweg.python.ops import math_ops, variable_scope
    assert ops.Tensor is tf.Tensor and dtypes.float32 is tf.float32 and Layer is tf.keras.layers.Layer
    assert math_ops.reduce_sum is tf.math.reduce_sum and variable_scope.get_variable is tf.compat.v1.get_variable
    from thalweg.python.ops import gen_math_ops
    assert gen_math_ops.mat_mul(tf.eye(2), tf.ones((2, 1))).shape == (2, 1)
    from thalweg.python.util import nest
    assert nest.flatten_up_to({"a": 1}, {"a": [1, 2]}) == [[1, 2]]
    with pytest.raises(ImportError):
        importlib.import_module("thalweg.python.nowhere")
    with pytest.raises(ImportError):
        from thalweg.python.ops.math_ops import no_such_function  # noqa: F401


def test_under_tensorflow_s_name():
    """In a process whose `import tensorflow` gives this package."""
    code = ("import tensorflow as tf; from tensorflow.python.framework import ops; from tensorflow.core.protobuf import config_pb2; import tensorflow.python.keras.backend as K;"
            "from tensorflow.python.client import device_lib; assert ops.Tensor is tf.Tensor and config_pb2.ConfigProto() is not None and K.epsilon() > 0;"
            "print(device_lib.list_local_devices()[0].device_type)")
    ran = subprocess.run([sys.executable, "-m", "thalweg", "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and ran.stdout == "CPU\n", ran.stderr
