"""The specification's programs for one GPU, virtual GPUs, MirroredStrategy and TPUs, on a plug-in whose devices are presented as such
(THALWEG_PJRT_AS); each in a process of its own, as settings are for the time before devices are used."""
import json
import os
import re
import subprocess
import sys

import pytest

MODEL = """
import numpy as np
def train(scope=None, batch=16, jit=None):
    import contextlib
    tf.keras.utils.set_random_seed(1)
    with scope() if scope else contextlib.nullcontext():
        model = tf.keras.Sequential([
            tf.keras.layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 1)), tf.keras.layers.BatchNormalization(),
            tf.keras.layers.MaxPooling2D(), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=jit)
    x, y = np.random.RandomState(0).randn(64, 8, 8, 1).astype("f"), np.arange(64) % 3
    return model, model.fit(x, y, batch_size=batch, epochs=3, verbose=0, shuffle=False).history["loss"]
"""


def run(program, devices, code=0, **environment):
    """What the program prints."""
    done = subprocess.run([sys.executable, "-c", "import thalweg as tf\n" + program], capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, THALWEG_PJRT_AS=devices, **environment))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def test_list():
    assert run("print(tf.config.list_physical_devices(device_type='GPU'))\nprint(tf.config.list_physical_devices('CPU'))", "GPU:4") == (
        "[%s]\n[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n" % ", ".join(
            "PhysicalDevice(name='/physical_device:GPU:%d', device_type='GPU')" % i for i in range(4)))
    assert run("print(tf.config.list_physical_devices('GPU'), tf.constant(1.0).device)", "") == (
        "[] /job:localhost/replica:0/task:0/device:CPU:0\n")


@pytest.mark.parametrize("text, count", [("0,1", 2), ("3", 1), ("", 0), ("-1", 0), ("0,9,1", 1)])
def test_visible_by_environment(text, count):
    assert run("print(len(tf.config.list_physical_devices('GPU')))", "GPU:4", CUDA_VISIBLE_DEVICES=text) == "%d\n" % count


def test_visible():
    assert run("""
gpus = tf.config.list_physical_devices(device_type='GPU')
tf.config.set_visible_devices(devices=gpus[0:2], device_type='GPU')
print(tf.config.get_visible_devices('GPU') == gpus[:2], len(tf.config.list_logical_devices('GPU')), len(tf.config.list_logical_devices()))
try:
    tf.config.set_visible_devices(gpus, 'GPU')
except RuntimeError as error:
    print(error)
tf.config.set_visible_devices(gpus[0:2], 'GPU')
""", "GPU:4") == "True 2 3\nVisible devices cannot be modified after being initialized\n"


def test_growth():
    assert run("""
gpus = tf.config.list_physical_devices('GPU')
print(tf.config.experimental.get_memory_growth(gpus[0]))
for gpu in gpus:
    tf.config.experimental.set_memory_growth(device=gpu, enable=True)
print(tf.config.experimental.get_memory_growth(gpus[0]))
tf.constant(1.0)
try:
    tf.config.experimental.set_memory_growth(gpus[0], False)
except RuntimeError as error:
    print(error)
""", "GPU:2") == "None\nTrue\nPhysical devices cannot be modified after being initialized\n"
    assert "Memory growth cannot differ between GPU devices" in run("""
tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[1], True)
tf.constant(1.0)""", "GPU:2", code=1)


def test_limit():
    out = run("""
gpus = tf.config.list_physical_devices('GPU')
tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=1)])
print(tf.config.get_logical_device_configuration(gpus[0]))
small = tf.ones([100, 100]) + 1.0
print(tf.config.experimental.get_memory_info('GPU:0')['current'] >= 40000)
try:
    tf.ones([1024, 1024]) + 1.0
except tf.errors.ResourceExhaustedError as error:
    print(str(error)[:60])
del small
peak = tf.config.experimental.get_memory_info('GPU:0')['peak']
tf.config.experimental.reset_memory_stats('GPU:0')
after = tf.config.experimental.get_memory_info('GPU:0')
print(peak > after['peak'] == after['current'])
try:
    tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2)])
except RuntimeError as error:
    print(error)
""", "GPU")
    lines = out.split("\n")
    assert "OOM when allocating tensor" in lines.pop(2)
    assert lines == ["[LogicalDeviceConfiguration(memory_limit=1, experimental_priority=None, experimental_device_ordinal=None)]", "True", "True",
                     "Virtual devices cannot be modified after being initialized", ""]


@pytest.mark.parametrize("setting, message", [
    ("[tf.config.LogicalDeviceConfiguration()]", "Setting memory limit is required for GPU virtual devices"),
    ("[tf.config.LogicalDeviceConfiguration(memory_limit=0)]", "memory_limit: a positive number of MB was expected, got 0"),
])
def test_wrong_limits(setting, message):
    assert message in run("tf.config.set_logical_device_configuration(tf.config.list_physical_devices('GPU')[0], %s)" % setting, "GPU", code=1)


def test_two_virtual_gpus():
    out = run(MODEL + """
gpus = tf.config.list_physical_devices('GPU')
tf.config.experimental.set_virtual_device_configuration(
    gpus[0], [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=2048), tf.config.experimental.VirtualDeviceConfiguration(memory_limit=2048)])
strategy = tf.distribute.MirroredStrategy()
print('Number of devices: %d' % strategy.num_replicas_in_sync)
model, losses = train(strategy.scope)
print([v.device[-5:] for v in model.trainable_variables[0]._components])
with tf.device('/CPU:0'):
    print(np.allclose(losses, train()[1], rtol=1e-5))
""", "GPU")
    # BatchNormalization sees its replica's part of the batch, so only a model without it is the same; that is tested below.
    assert out.startswith("Number of devices: 2\n['GPU:0', 'GPU:1']\n")


DENSE = MODEL.replace("tf.keras.layers.BatchNormalization(),", "")


@pytest.mark.parametrize("devices, program", [
    ("GPU", "train()"),
    ("GPU:2", "train(tf.distribute.MirroredStrategy().scope)"),
    ("GPU:8", "train(tf.distribute.MirroredStrategy().scope)"),
    ("GPU:3", "train(tf.distribute.MirroredStrategy(['GPU:0', 'GPU:2']).scope)"),
    ("GPU:2", "train(tf.distribute.OneDeviceStrategy('/gpu:1').scope)"),
    ("TPU", "train(tpus().scope)"),
    ("TPU:4", "train(tpus().scope)"),
])
def test_training_is_the_processors(devices, program):
    out = run(DENSE + """
import json, os
def tpus():
    os.environ['COLAB_TPU_ADDR'] = '10.0.0.2:8470'
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='grpc://' + os.environ['COLAB_TPU_ADDR'])
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.experimental.TPUStrategy(resolver)
there = %s[1]
counts = tf.config.experimental._pjrt_counts()
with tf.device('/CPU:0'):
    here = train()[1]
same = tf.config.experimental._pjrt_counts()[2] == counts[2]
print(json.dumps([there, here, counts[2], same]))
""" % program, devices)
    there, here, executed, same = json.loads(out.splitlines()[-1])
    assert all(abs(a - b) <= 1e-5 * abs(b) + 1e-6 for a, b in zip(there, here)), (there, here)
    assert executed > 0 and same  # it ran on the devices; what is placed on the processor did not


def test_places():
    out = run("""
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
for value in (a, a @ a, tf.constant(1), tf.constant([1, 2]) + 1, tf.constant('x'), tf.Variable(1.0), tf.random.normal([2]), tf.cast(a, tf.int32)):
    print(value.device[-5:])
with tf.device('/CPU:0'):
    print((a + 1.0).device[-5:], tf.Variable(2.0).device[-5:])
with tf.device('/GPU:1'):
    print((a + 1.0).device[-5:], tf.Variable(2.0).device[-5:], tf.constant(2.0).device[-5:])
    @tf.function
    def f(x):
        return x * 2.0
    print(f(a).device[-5:])
with tf.device('/GPU:7'):
    print((a + 1.0).device[-5:])
tf.config.set_soft_device_placement(False)
try:
    with tf.device('/GPU:7'):
        a + 1.0
except tf.errors.InvalidArgumentError as error:
    print('GPU:7' in str(error) and 'GPU:1' in str(error))
""", "GPU:2")
    assert out.split("\n")[:8] == ["GPU:0", "GPU:0", "CPU:0", "CPU:0", "CPU:0", "GPU:0"] + out.split("\n")[6:8]
    assert out.split("\n")[8:] == ["CPU:0 CPU:0", "GPU:1 GPU:1 GPU:1", "GPU:1", "CPU:0", "True", ""]


def test_log():
    done = subprocess.run([sys.executable, "-c", """
import thalweg as tf
tf.debugging.set_log_device_placement(True)
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
tf.matmul(a, a)
with tf.device('/CPU:0'):
    tf.matmul(a, a)
"""], capture_output=True, text=True, env=dict(os.environ, THALWEG_PJRT_AS="GPU"))
    assert re.findall(r"Executing op MatMul in device \S+/device:(\S+)", done.stderr) == ["GPU:0", "CPU:0"]


def test_gradients_and_values_stay_the_same():
    """An eager loop of user code: gradients, a second use of a tensor after a variable changed, and values read from variables."""
    program = """
import json
tf.random.set_seed(3)
w, b = tf.Variable(tf.random.stateless_normal([3, 2], [1, 2])), tf.Variable(tf.zeros([2]))
x = tf.random.stateless_normal([5, 3], [3, 4])
out = []
for step in range(5):
    before = w.read_value()
    with tf.GradientTape() as tape:
        y = tf.nn.softmax(tf.nn.tanh(x @ w + b))
        loss = tf.reduce_mean(tf.math.log(y[:, 0] + 0.1) ** 2) + tf.reduce_sum(tf.gather(y, [0, 2]))
    for v, g in zip((w, b), tape.gradient(loss, (w, b))):
        v.assign_sub(0.5 * g)
    out += [float(loss), float(tf.reduce_sum(before)), float(tf.reduce_sum(w))]
print(json.dumps(out))
"""
    there, here = json.loads(run(program, "GPU")), json.loads(run(program, ""))
    assert all(abs(a - b) < 1e-5 for a, b in zip(there, here)), (there, here)


def test_bad_names():
    assert "THALWEG_PJRT_AS" in run("tf.config.list_physical_devices()", "GPU:99", code=1)
