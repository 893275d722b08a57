"""Checkpoints from Python: what comes later, statuses, managers, readers; files as TensorFlow 2.15.1 writes them (tests/golden/saving.py)."""
import gc
import os

import numpy as np
import pytest
import thalweg as tf
from steady import growth

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "saving")
V = tf.Variable


class Mlp(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(3, activation="relu")
        self.dense2 = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.dense2(self.dense1(self.flatten(x)))


def step(model, optimizer):
    with tf.GradientTape() as tape:
        y = model(tf.constant(np.arange(8, dtype=np.float32).reshape(2, 2, 2)))
        loss = tf.reduce_sum(y * y)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))


def same_bytes(a, b):
    for ending in (".index", ".data-00000-of-00001"):
        with open(a + ending, "rb") as one, open(b + ending, "rb") as two:
            if one.read() != two.read():
                return False
    return True


def test_a_model_takes_over_before_it_is_built(tmp_path):
    tf.keras.backend.clear_session()
    model, optimizer = Mlp(), tf.keras.optimizers.Adam(0.1)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    status = checkpoint.read(GOLDEN + "/model")
    step(model, optimizer)
    status.assert_consumed()
    assert optimizer.iterations.numpy() == 2
    checkpoint.read(GOLDEN + "/model").assert_consumed()
    prefix = checkpoint.write(str(tmp_path / "model"))
    assert same_bytes(prefix, GOLDEN + "/model")


def test_lists_and_dicts(tmp_path):
    def objects(value):
        return tf.train.Checkpoint(items=[V(value), [V(value + 1)]], mapping={"a.b/c": V(value + 2)})

    path = objects(1.0).save(str(tmp_path / "ckpt"))
    target = objects(0.0)
    target.restore(path).assert_consumed()
    assert [target.items[0].numpy(), target.items[1][0].numpy(), target.mapping["a.b/c"].numpy()] == [1, 2, 3]
    late = tf.train.Checkpoint()
    late.restore(path)
    late.items = [V(0.0)]
    late.items.append([V(0.0)])
    assert [late.items[0].numpy(), late.items[1][0].numpy()] == [1, 2]
    late.mapping = {}
    late.mapping["a.b/c"] = V(0.0)
    assert late.mapping["a.b/c"].numpy() == 3


def test_statuses(tmp_path, capfd):
    path = tf.train.Checkpoint(a=V(1.0), b=V([1.0, 2.0])).save(str(tmp_path / "ckpt"))
    target = tf.train.Checkpoint(a=V(0.0))
    status = target.restore(path)
    assert type(status).__name__ == "CheckpointLoadStatus"
    assert status.assert_existing_objects_matched() is status and status.assert_nontrivial_match() is status
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).b: attributes"):
        status.assert_consumed()
    target.z = V(3.0)
    with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound to checkpointed values"):
        status.assert_existing_objects_matched()
    capfd.readouterr()
    del status, target
    gc.collect()
    assert capfd.readouterr().err.endswith("WARNING:tensorflow:Value in checkpoint could not be found in the restored object: (root).b\n")
    tf.train.Checkpoint().restore(path).expect_partial()
    assert capfd.readouterr().err == ""
    nothing = tf.train.Checkpoint().restore(None)
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        nothing.assert_consumed()
    assert nothing.initialize_or_restore() is None
    with pytest.raises(TypeError):
        tf.train.Checkpoint().restore()


def test_errors(tmp_path):
    path = tf.train.Checkpoint(a=V(1.0)).save(str(tmp_path / "ckpt"))
    with pytest.raises(ValueError, match=r"Received incompatible tensor with shape \(\) when attempting to restore variable with shape \(2,\)"):
        tf.train.Checkpoint(a=V([1.0, 2.0])).restore(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32 does not equal original dtype float"):
        tf.train.Checkpoint(a=V(1)).restore(path)
    with pytest.raises(tf.errors.NotFoundError, match="You may be missing the checkpoint suffix"):
        tf.train.Checkpoint().restore(str(tmp_path / "nope"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint().save("/proc/nope/ckpt")
    with pytest.raises(ValueError, match="was expecting a to be a trackable object"):
        tf.train.Checkpoint(a=3)


def test_manager(tmp_path):
    directory, called = str(tmp_path / "m"), []
    checkpoint = tf.train.Checkpoint(v=V(1.0))
    with pytest.raises(TypeError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, directory)
    with pytest.raises(ValueError, match="Expected a positive integer or `None` for `max_to_keep`, got 0."):
        tf.train.CheckpointManager(checkpoint, directory, 0)
    manager = tf.train.CheckpointManager(checkpoint, directory, max_to_keep=2, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None and called == [1]
    paths = [manager.save() for _ in range(3)]
    assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[2] == tf.train.latest_checkpoint(directory)
    assert manager.save(checkpoint_number=V(9)).endswith("/ckpt-9") and manager.save(checkpoint_number=10).endswith("/ckpt-10")
    assert tf.train.get_checkpoint_state(directory).model_checkpoint_path == directory + "/ckpt-10"
    assert manager.checkpoint is checkpoint and manager.directory == directory and manager.checkpoint_interval is None
    assert tf.train.CheckpointManager(checkpoint, directory, max_to_keep=None).restore_or_initialize() == directory + "/ckpt-10"

    def fails():
        raise KeyError("init")

    with pytest.raises(KeyError, match="init"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path / "n"), 1, init_fn=fails).restore_or_initialize()


def test_readers(tmp_path):
    path = tf.train.Checkpoint(v=V([1.0, 2.0]), s=V("text")).write(str(tmp_path / "ckpt"))
    key = "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert tf.train.list_variables(path)[2] == (key, [2])
    assert tf.train.load_variable(path, key).tolist() == [1, 2]
    reader = tf.train.load_checkpoint(path)
    assert reader.has_tensor(key) and not reader.has_tensor("v")
    assert isinstance(reader.get_tensor(key), np.ndarray) and reader.get_tensor("s/.ATTRIBUTES/VARIABLE_VALUE") == b"text"
    assert reader.get_variable_to_shape_map()[key] == [2] and reader.get_variable_to_dtype_map()[key] == tf.float32
    assert reader.debug_string().endswith(b"v/.ATTRIBUTES/VARIABLE_VALUE (DT_FLOAT) [2]\n")
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
        tf.train.load_checkpoint(str(tmp_path))


def test_nothing_grows(tmp_path):
    path = tf.train.Checkpoint(a=V(1.0), b=V(2.0)).write(str(tmp_path / "ckpt"))

    def once():
        checkpoint = tf.train.Checkpoint(a=V(0.0))
        checkpoint.status = checkpoint.read(path).expect_partial()
        checkpoint.myself = checkpoint
        checkpoint.b = V(0.0)
        assert checkpoint.b.numpy() == 2

    files = len(os.listdir("/proc/self/fd"))
    assert growth(once, 1000, warm_up=200) < 2 << 20 and len(os.listdir("/proc/self/fd")) <= files
