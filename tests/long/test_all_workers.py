"""Workers that are killed, stopped or delayed at random points: nobody hangs, no step is wrong, and what goes on is what would have been."""
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import workers  # noqa: E402

TIMEOUT = 1800
POINTS, LIMIT = 50, 4
LONG = """
losses = []
class Note(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        losses.append(float(logs['loss']))
try:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    tf.keras.utils.set_random_seed(0)
    m = model(strategy)
    x, y = data(48)
    m.fit(x, y, batch_size=12, epochs=50, verbose=0, shuffle=False, callbacks=[Note()] + (
        [tf.keras.callbacks.BackupAndRestore('backup', save_freq=1)] if 'BACKUP' in os.environ else []))
    say(losses=losses, weights=[float(np.sum(np.abs(w))) for w in m.get_weights()])
except tf.errors.UnavailableError as error:
    say(error=str(error))
"""


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-5 * max(1, abs(y)) for x, y in zip(a, b))


def test_two_hundred_steps():
    (expected,) = workers.alone(LONG)
    for count in (2, 4):
        with workers.Workers(count, LONG, timeout=60) as running:
            results = running.wait(300)
        for code, said, error in results:
            assert code == 0 and len(said[0]["losses"]) == 200, error
            assert close(said[0]["losses"], expected["losses"]) and close(said[0]["weights"], expected["weights"])
    print("PROMISE: workers compute what one does with the whole batch (steps): 400 tried")


def disturb(running, chance):
    """Kills, stops or delays one of them; whether the others must notice."""
    victim, what = chance.randrange(len(running.processes)), chance.choice(["kill", "stop", "delay"])
    process = running.processes[victim]
    time.sleep(chance.uniform(0.3, 2.5))
    process.send_signal(signal.SIGKILL if what == "kill" else signal.SIGSTOP)
    if what == "delay":
        time.sleep(chance.uniform(0, LIMIT / 2))
        process.send_signal(signal.SIGCONT)
    return victim, what


def test_disturbed_and_resumed(tmp_path):
    (expected,) = workers.alone(LONG)
    chance, named = random.Random(5), 0
    for point in range(POINTS):
        folder = tmp_path / str(point)
        folder.mkdir()
        with workers.Workers(2 + point % 2, LONG, timeout=LIMIT, folder=folder, environments=[{"BACKUP": "1"}] * 3) as running:
            victim, what = disturb(running, chance)
            for i, process in enumerate(running.processes):
                if i == victim and what != "delay":
                    continue
                out, error = process.communicate(timeout=10 * LIMIT)
                assert process.returncode == 0 and ('"error"' in out or '"losses"' in out), (point, what, out, error)
                if '"error"' in out:
                    named += 1
                    assert "worker %d (" % victim in out or "has not joined" in out or "can't be reached" in out or "has not begun" in out, (point, what, out)
            for process in running.processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            running.processes = [running.start(i) for i in range(len(running.processes))]
            results = running.wait(200)
        for code, said, error in results:
            assert code == 0 and "weights" in said[-1] and close(said[-1]["weights"], expected["weights"]), (point, what, said, error)
    assert named
    print("PROMISE: workers that are killed, stopped or delayed are named, and what goes on is exact: %d tried" % POINTS)
