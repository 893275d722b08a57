"""MultiWorkerMirroredStrategy: several processes that train together give what one gives, and say who is gone."""
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

import thalweg as tf
import workers

FIT = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.keras.utils.set_random_seed(INDEX if 'OWN_SEEDS' in os.environ else 0)
m = model(strategy, %r)
x, y = data(48)
history = m.fit(x, y, batch_size=12, epochs=4, verbose=0, shuffle=False, validation_data=(x, y)).history
say(replicas=strategy.num_replicas_in_sync, history=history, weights=[float(np.sum(np.abs(w))) for w in m.get_weights()],
    evaluate=m.evaluate(x, y, verbose=0), predict=float(m.predict(x, verbose=0)[:, 0].sum()))
"""
LOOP = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.keras.utils.set_random_seed(0)
with strategy.scope():
    m = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.05)
    mean = tf.keras.metrics.Mean()
x, y = np.arange(96).reshape(24, 4) % 10, (np.arange(24) % 2).astype('f')
dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(8))
@tf.function
def step(batch):
    def replica(xb, yb):
        with tf.GradientTape() as tape:
            each = (m(xb)[:, 0] - yb) ** 2
            loss = tf.nn.compute_average_loss(each, global_batch_size=8)
        optimizer.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables))
        mean.update_state(each)
        return loss
    return strategy.reduce('SUM', strategy.run(replica, args=batch), axis=None)
losses = [float(step(batch)) for _ in range(5) for batch in dataset]
ids = strategy.run(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
say(losses=losses, mean=float(mean.result()), chief=strategy.extended.should_checkpoint, id=int(ids),
    whole=float(strategy.run(lambda: tf.distribute.get_replica_context().all_reduce('SUM', tf.constant(2.0)))))
"""


def close(a, b, limit=1e-5):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        return all(close(a[k], b[k], limit) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(close(x, y, limit) for x, y in zip(a, b))
    return abs(a - b) <= limit * max(1, abs(b))


@pytest.mark.parametrize("count, optimizer", [(2, "adam"), (3, "sgd"), (4, "rmsprop")])
def test_fit_is_that_of_one(count, optimizer):
    (expected,) = workers.alone(FIT % optimizer)
    assert expected["replicas"] == 1
    with workers.Workers(count, FIT % optimizer, environments=[{"OWN_SEEDS": "1"}] * count) as running:
        results = running.wait()
    for code, said, error in results:
        assert code == 0, error
        (got,) = said
        assert got.pop("replicas") == count
        assert close(got, {k: expected[k] for k in got}), (got, expected)
    assert all(said == results[0][1] for _, said, _ in results)  # to the last bit


def test_loop_is_that_of_one():
    (expected,) = workers.alone(LOOP)
    with workers.Workers(2, LOOP) as running:
        results = running.wait()
    for i, (code, said, error) in enumerate(results):
        assert code == 0, error
        (got,) = said
        assert close(got["losses"], expected["losses"]) and close(got["mean"], expected["mean"])
        assert (got["chief"], got["id"], got["whole"]) == (i == 0, i, 4.0)


ENDLESS = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
m = model(strategy)
x, y = data()
say(begun=True)
try:
    m.fit(x, y, batch_size=16, epochs=100000, verbose=0)
except tf.errors.UnavailableError as error:
    say(error=str(error))
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_who_is_gone(sign):
    with workers.Workers(3, ENDLESS, timeout=4) as running:
        for process in running.processes:
            assert process.stdout.readline() == '{"begun": true}\n', process.communicate()
        time.sleep(1)
        running.processes[1].send_signal(sign)
        start = time.time()
        for i in (0, 2):
            out, error = running.processes[i].communicate(timeout=60)
            assert running.processes[i].returncode == 0, error
            assert "worker 1 (%s) " % running.addresses[1] in out, out + error
        assert time.time() - start < 30


def test_different_programs():
    """A worker that calls something else, or with other sizes, is an error in all."""
    program = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
try:
    with strategy.scope():
        tf.Variable(tf.zeros([%d]))
    strategy.run(lambda: tf.distribute.get_replica_context().all_reduce('SUM', tf.zeros([%d])))
except tf.errors.UnavailableError as error:
    say(error=str(error))
"""
    for shapes in (((4, 4), (5, 4)), ((4, 40000), (4, 30000))):
        with workers.Workers(2, "", timeout=4, programs=[program % shape for shape in shapes]) as running:
            results = running.wait()
        assert all(code == 0 for code, _, _ in results), results
        assert any("takes part in another operation" in said[0]["error"] for _, said, _ in results if said), results
        assert all(said for _, said, _ in results), results


JOIN = """
try:
    tf.distribute.MultiWorkerMirroredStrategy()
    say(joined=True)
except (tf.errors.UnavailableError, tf.errors.InvalidArgumentError, ValueError) as error:
    say(error=str(error))
"""


def test_secrets():
    for secrets, joined in (("aa", True), ("ab", False)):
        with workers.Workers(2, JOIN, timeout=3, environments=[{"THALWEG_CLUSTER_SECRET": secret} for secret in secrets]) as running:
            results = running.wait()
        assert [("joined" in said[0]) for _, said, _ in results] == [joined] * 2, results
        if not joined:
            assert any("THALWEG_CLUSTER_SECRET" in said[0]["error"] for _, said, _ in results)


def test_strangers_do_not_disturb():
    with workers.Workers(2, "time.sleep(2 * INDEX)" + JOIN, timeout=20) as running:
        host, port = running.addresses[0].split(":")
        end, tried, held = time.time() + 10, 0, []
        while running.processes[0].poll() is None and time.time() < end and tried < 30:
            try:
                stranger = socket.create_connection((host, int(port)), timeout=0.2)
                stranger.sendall([b"GET / HTTP/1.1\r\n\r\n", b"\0" * 200, b"", os.urandom(100)][tried % 4])
                tried += 1
                held.append(stranger) if tried < 3 else stranger.close()
            except OSError:
                time.sleep(0.05)
        results = running.wait()
        for stranger in held:
            stranger.close()
    assert tried and all(said == [{"joined": True}] for _, said, _ in results), results


def test_one_that_never_comes():
    with workers.Workers(2, JOIN, timeout=2, programs=[JOIN, "pass"]) as running:
        (_, said, error), _ = running.wait()
    assert said[0]["error"].startswith("worker 1 (%s) has not joined after 2000 ms" % running.addresses[1]), error


@pytest.mark.parametrize("config, message", [
    ({"cluster": {"worker": ["localhost:1", "localhost:2"]}, "task": {"type": "worker", "index": 7}}, "is not in the cluster"),
    ({"cluster": {"worker": ["localhost:1", "localhost:2"], "ps": ["localhost:3"]}, "task": {"type": "worker", "index": 0}}, "Unexpected task type 'ps'"),
    ({"cluster": {"worker": ["nonsense", "localhost:2"]}, "task": {"type": "worker", "index": 0}}, "host:port was expected"),
])
def test_bad_clusters(config, message):
    import json
    done = subprocess.run([sys.executable, "-c", workers.HEAD + JOIN], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, TF_CONFIG=json.dumps(config)))
    assert message in done.stdout, done.stdout + done.stderr


RESUMED = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
tf.keras.utils.set_random_seed(0)
m = model(strategy)
x, y = data()
class Slow(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        say(loss=float(logs['loss']))
        time.sleep(float(os.environ.get('SLOW', 0)))
try:
    m.fit(x, y, batch_size=16, epochs=3, verbose=0, callbacks=[
        Slow(), tf.keras.callbacks.BackupAndRestore('backup', save_freq=1), tf.keras.callbacks.ModelCheckpoint('saved/{epoch}.h5')])
    say(weights=[float(np.sum(np.abs(w))) for w in m.get_weights()])
except tf.errors.UnavailableError as error:
    say(error=str(error))
"""


def test_killed_and_resumed(tmp_path):
    (tmp_path / "alone").mkdir()
    expected = workers.alone(RESUMED, tmp_path / "alone")
    with workers.Workers(2, RESUMED, timeout=10, folder=tmp_path, environments=[{"SLOW": "0.1"}] * 2) as running:
        for _ in range(5):
            running.processes[1].stdout.readline()
        running.processes[1].kill()
        out, error = running.processes[0].communicate(timeout=60)
        assert '"error"' in out, out + error
        running.environments = ()
        running.processes = [running.start(i) for i in range(2)]
        results = running.wait()
    for code, said, error in results:
        assert code == 0 and close(said[-1]["weights"], expected[-1]["weights"]), (said, error)
        assert len(said) < len(expected)  # it went on from the backup
    assert sorted(os.listdir(tmp_path / "saved")) == ["1.h5", "2.h5", "3.h5"] and not os.path.exists(tmp_path / "backup" / "chief")
    assert not any("workertemp" in name for _, names, _ in os.walk(tmp_path) for name in names)


def test_one_worker_needs_no_others():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
