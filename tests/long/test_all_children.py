"""Promise: processes that are forked or spawned after models and datasets were used go on, and none hangs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
import test_process as process  # noqa: E402
from children_cases import METHODS, WAYS, children  # noqa: E402


def test_children(tmp_path):
    ways = [(way, method) for way in WAYS for method in METHODS]
    for _ in range(3):
        for way, method in ways:
            children(tmp_path, way, method)
    print("PROMISE: children of a process that used models and datasets go on: %d tried" % (3 * 6 * len(ways)))


def test_forks_while_threads_work(tmp_path):
    """Threads predict, train and read datasets; children that are forked meanwhile do the same."""
    assert process.run('''
import warnings
warnings.simplefilter("ignore")
inputs = tf.keras.Input((4,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs))
model.compile("sgd", "mse")
rows = np.ones((8, 4), "float32")
dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda x: x * 1, num_parallel_calls=2).batch(4).prefetch(2)
stop = []

def calls():
    own = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    own.compile("sgd", "mse")
    own.fit(rows, rows[:, :1], verbose=0)
    assert model.predict(rows, verbose=0).tolist() == [[4.0]] * 8
    assert model.predict(dataset, verbose=0).tolist() == [[4.0]] * 8

def work():
    while not stop:
        calls()

threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
for i in range(20):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            calls()
            code = 0
        finally:
            os._exit(code)
    assert joined(pid, 60) == 0, i
stop.append(True)
[t.join() for t in threads]
print("done")
''', tmp_path, as_file=True) == "done\n"
    print("PROMISE: children that are forked while threads predict and train go on: 20 tried")
