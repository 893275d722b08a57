"""Devices and their settings are TensorFlow's, on a machine without accelerators. The expressions run in a process of their own: settings are
for the time before the first operation."""
import json
import os
import subprocess
import sys

import pytest
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = """
import json, sys
sys.path.insert(0, %r)
import thalweg as tf
import device_cases
json.dump(device_cases.run(tf), sys.stdout)
""" % HERE


def in_process(source):
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)  # it silences the log of placements, too
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def test_expressions():
    with open(golden_file("devices", "devices.json")) as f:
        expected = json.load(f)
    found = json.loads(in_process(RUN).stdout)
    assert [f for f, e in zip(found, expected) if f != e] == []
    assert len(found) == len(expected)


def test_a_session_refuses_devices_that_are_not_there():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        with tf.device("/GPU:0"):
            x = tf.constant(1.) + 1.
        with tf.device("/job:ps"):
            y = tf.constant(1.)
        with v1.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation Const: .*/device:GPU:0"):
            session.run(x)
        with v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as session:
            assert session.run(x) == 2
            with pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned to /job:ps"):
                session.run(y)


def test_nodes_of_functions_carry_devices():
    @tf.function
    def f(x):
        with tf.device("/GPU:0"):
            return x + 1.
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert {o.name: o.device for o in concrete.graph.get_operations()}["add"] == "/device:GPU:0"
    assert float(f(1.)) == 2


def test_device_functions_are_refused():
    with tf.Graph().as_default() as g, pytest.raises(NotImplementedError, match="functions of operations"):
        with g.device(lambda op: "/CPU:0"):
            pass


def test_placement_is_logged():
    done = in_process("import thalweg as tf\ntf.debugging.set_log_device_placement(True)\nx = tf.constant(1.) + 2.\n"
                      "tf.debugging.set_log_device_placement(False)\nx = x * 3.\n")
    lines = [line for line in done.stderr.splitlines() if line.startswith("Executing op")]
    assert lines[-1] == "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0"


def test_no_device_is_left():
    done = in_process("import thalweg as tf\ntf.config.set_visible_devices([], 'CPU')\n"
                      "try:\n    tf.constant(1.)\nexcept tf.errors.NotFoundError as e:\n    print(e)\n")
    assert "No CPU devices are available in this process" in done.stdout


def test_places_of_tensors_and_variables():
    with open(golden_file("places", "places.json")) as f:
        expected = json.load(f)
    found = json.loads(in_process(RUN.replace("device_cases", "place_cases")).stdout)
    assert [(at, f, e) for at, (f, e) in enumerate(zip(found, expected)) if f != e] == []
    assert len(found) == len(expected)


def test_placement_on_a_second_device_is_logged():
    done = in_process("import thalweg as tf\ncpu = tf.config.list_physical_devices('CPU')[0]\n"
                      "tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)\n"
                      "tf.debugging.set_log_device_placement(True)\n"
                      "with tf.device('/CPU:1'):\n    x, v = tf.constant(1.) + 2., tf.Variable(1.)\nx * x, v.assign(2.)\n")
    lines = [line.split()[2] + line[-2:] for line in done.stderr.splitlines() if line.startswith("Executing op")]
    assert [line for line in lines if line[:-2] in ("AddV2", "Mul", "AssignVariableOp")][-3:] == ["AddV2:1", "Mul:0", "AssignVariableOp:1"], done.stderr
