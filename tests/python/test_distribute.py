"""Strategies: a program prints what it prints under TensorFlow (tests/golden/distribute.py); copies in checkpoints; TPUs and clusters that are not there."""
import os
import subprocess
import sys

import pytest

import printed
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def run(program, *arguments):
    done = subprocess.run([sys.executable, "-m", "thalweg", program, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def compare(script, name, got):
    with open(golden_file(script, name), encoding="utf-8") as f:
        printed.check(got, f.read(), absolute=2e-3)


def test_program():
    compare("distribute", "distribute.txt", run(os.path.join(HERE, "distribute_program.py")).stdout)


@pytest.mark.parametrize("count", "123")
def test_fit_program(count, tmp_path):
    compare("distribute_fit", "distribute_fit_%s.txt" % count, run(os.path.join(HERE, "distribute_fit_program.py"), count, str(tmp_path)).stdout)


def test_checkpoint_of_copies(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import sys
import tensorflow as tf
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
s = tf.distribute.MirroredStrategy()
def make():
    with s.scope():
        return tf.train.Checkpoint(v=tf.Variable([1., 2.]), total=tf.Variable(3., synchronization=tf.VariableSynchronization.ON_READ,
                                   aggregation=tf.VariableAggregation.SUM), model=tf.keras.Sequential([tf.keras.layers.Dense(2)]))
first = make()
s.run(lambda: first.model(tf.ones((1, 3))))
first.v.assign([5., 6.])
s.run(lambda: first.total.assign_add(tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)))
path = first.save(sys.argv[1])
print([(n, s) for n, s in tf.train.list_variables(path) if "VARIABLE" in n and "counter" not in n], tf.train.load_variable(path, "total/.ATTRIBUTES/VARIABLE_VALUE"))
second = make()
second.restore(path).expect_partial()
s.run(lambda: second.model(tf.ones((1, 3))))
print([c.numpy().tolist() for c in second.v.values], [float(c) for c in second.total.values])
a, b = first.model.weights[0], second.model.weights[0]
print([(c.numpy() == a.numpy()).all() for c in b.values])
second.model.set_weights([x * 0 for x in second.model.get_weights()])
print([float(tf.reduce_sum(tf.abs(c))) for c in b.values])
""")
    lines = run(str(program), str(tmp_path / "ckpt")).stdout.split("\n")
    assert "'v/.ATTRIBUTES/VARIABLE_VALUE', [2]" in lines[0] and lines[0].endswith("7.0")
    assert lines[1] == "[[5.0, 6.0], [5.0, 6.0]] [3.5, 3.5]"
    assert lines[2] == "[True, True]" and lines[3] == "[0.0, 0.0]"


def test_messages():
    program = "import thalweg as tf; tf.get_logger().setLevel('INFO'); s = tf.distribute.MirroredStrategy(); s.run(lambda: 1)"
    text = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert text.startswith("INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:CPU:0',)\n")
    assert "WARNING:tensorflow:Using MirroredStrategy eagerly has significant overhead currently." in text


def test_without_tpu():
    resolvers = tf.distribute.cluster_resolver
    with pytest.raises(ValueError, match="Please provide a TPU Name to connect to."):
        resolvers.TPUClusterResolver(tpu="")
    resolver = resolvers.TPUClusterResolver(tpu="grpc://10.0.0.1:8470")
    assert resolver.master() == "grpc://10.0.0.1:8470" and resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
    with pytest.raises(tf.errors.UnavailableError):
        tf.config.experimental_connect_to_cluster(resolver)
    with pytest.raises(tf.errors.NotFoundError, match="TPUs not found in the cluster. Failed in initialization: Could not satisfy"):
        tf.tpu.experimental.initialize_tpu_system(resolver)
    local = resolvers.TPUClusterResolver(tpu="local")
    assert tf.config.experimental_connect_to_cluster(local) is None
    with pytest.raises(tf.errors.NotFoundError, match="TPUs not found in the cluster. Failed in initialization: No OpKernel was registered"):
        tf.tpu.experimental.initialize_tpu_system(local)
    for made in (tf.distribute.TPUStrategy, tf.distribute.experimental.TPUStrategy):
        with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
            made(local)


def test_parameter_servers_are_refused(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}')
    with pytest.raises(NotImplementedError, match="other machines"):
        tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())


def test_scopes_do_not_mix():
    one, two = tf.distribute.MirroredStrategy(), tf.distribute.MirroredStrategy()
    with one.scope(), pytest.raises(RuntimeError, match="Mixing different tf.distribute.Strategy objects"):
        with two.scope():
            pass
    assert not tf.distribute.has_strategy()


FIT = """
import sys
import numpy as np
import tensorflow as tf
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * int(sys.argv[1]))
s = tf.distribute.MirroredStrategy()
tf.keras.utils.set_random_seed(1)
x = np.random.RandomState(0).rand(32, 4).astype("float32")
y = (x.sum(1) > 2).astype("int64")
with s.scope():
    m = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)])
    if sys.argv[2] == "built":
        m.build((None, 4))
    m.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
h = m.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(8), epochs=2, verbose=0)
print(np.round(h.history["loss"] + h.history["accuracy"], 5), round(float(tf.reduce_sum(m.weights[0])), 4), int(m.optimizer.iterations))
print([float(tf.reduce_sum(c)) for c in m.weights[0].values])
"""


def test_fit(tmp_path):
    """The numbers do not depend on the number of replicas, and all copies are alike."""
    program = tmp_path / "fit.py"
    program.write_text(FIT)
    outputs = [run(str(program), count, how).stdout.split("\n") for count in "12" for how in ("built", "later")]
    assert len({lines[0] for lines in outputs}) == 1
    for lines in outputs[2:]:
        copies = eval(lines[1])
        assert len(copies) == 2 and copies[0] == copies[1]


def test_datasets_by_name(tmp_path):
    program = tmp_path / "load.py"
    program.write_text("""
import tensorflow_datasets as tfds
try:
    tfds.load("cats_vs_dogs")
except NotImplementedError as error:
    print(error)
try:
    for image, label in tfds.load("mnist", split=tfds.Split.TRAIN, as_supervised=True).take(1):
        print(image.shape, image.dtype.name, label.dtype.name)
    print(tfds.load("mnist", split=tfds.Split.TRAIN).element_spec)
except Exception as error:
    print("no files:", error)
""")
    lines = run(str(program)).stdout.split("\n")
    assert "'cats_vs_dogs' is not there" in lines[0]
    assert lines[1].startswith("no files:") or lines[1] == "(28, 28, 1) uint8 int64"
