"""A program whose work multiprocessing shares out, started in every way."""
import os
import subprocess
import sys

import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
WAYS = ("-m thalweg", "plain")
METHODS = ("spawn", "forkserver", "fork")
PROGRAM = """
import concurrent.futures, multiprocessing, sys
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.compat.v1.train import Saver
import numpy as np

def work(x):
    import keras, tensorflow
    assert tensorflow is tf and keras is tf.keras
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones")])
    rows = tf.data.Dataset.range(4).map(lambda v: tf.cast(v, tf.float32)[None], num_parallel_calls=2).batch(2).prefetch(2)
    return float(model.predict(rows, verbose=0).sum()) * x

if __name__ == "__main__":
    method = sys.argv[1]
    used = work(1)  # before the others start: a forked child finds pools and threads that are not there
    with multiprocessing.get_context(method).Pool(2) as pool:
        print(pool.map(work, [1, 2, 3]))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        print(list(pool.map(work, [1, 2, 3])))
"""


def start(arguments, folder, timeout=100):
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=dict(os.environ, PYTHONPATH=PACKAGE), text=True, capture_output=True, timeout=timeout)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def children(folder, way, method):
    """Six calls in children that `method` starts."""
    text = PROGRAM if way != "plain" else PROGRAM.replace("import keras, tensorflow", "import thalweg as tensorflow; keras = tf.keras").replace(
        "import tensorflow as tf", "import thalweg as tf").replace("from tensorflow", "from thalweg")
    (folder / "program.py").write_text(text)
    arguments = ["-m", "thalweg"] if way != "plain" else []
    assert start([*arguments, "program.py", method], folder) == "[6.0, 12.0, 18.0]\n" * 2
