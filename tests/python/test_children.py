"""Processes that multiprocessing starts, under `python3 -m thalweg` and by themselves, and imports of every public module by its dotted name."""
import os
import subprocess
import sys

import pytest

import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
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


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("way", ["-m thalweg", "plain"])
def test_children(tmp_path, way, method):
    text = PROGRAM if way != "plain" else PROGRAM.replace("import keras, tensorflow", "import thalweg as tensorflow; keras = tf.keras").replace(
        "import tensorflow as tf", "import thalweg as tf").replace("from tensorflow", "from thalweg")
    (tmp_path / "program.py").write_text(text)
    arguments = ["-m", "thalweg"] if way != "plain" else []
    assert start([*arguments, "program.py", method], tmp_path) == "[6.0, 12.0, 18.0]\n" * 2


IMPORTS = """
import importlib, sys
root = importlib.import_module(sys.argv[1])
names, todo = set(), [("", root)]
while todo:
    prefix, module = todo.pop()
    for name in dir(module):
        value = getattr(module, name, None)
        if not name.startswith("_") and isinstance(value, type(sys)) and value.__name__.split(".")[0] in ("thalweg", "tensorflow", "keras"):
            path = prefix + "." + name
            if path.count(".") < 6 and path not in names:
                names.add(path)
                if not getattr(value, "__file__", None):  # its own imports are not public
                    todo.append((path, value))
for path in sorted(names):
    value = root
    for part in path[1:].split("."):
        value = getattr(value, part)
    assert importlib.import_module(sys.argv[1] + path) is value, path
for path, name in (("compat.v1.train", "AdamOptimizer"), ("keras.utils", "to_categorical"), ("keras.layers", "Dense"), ("data.experimental", "AUTOTUNE"),
                   ("keras.optimizers.schedules", "ExponentialDecay"), ("compat.v1.keras.layers", "Dense"), ("compat.v2.keras", "Model")):
    exec("from %s.%s import %s as found" % (sys.argv[1], path, name))
print(len(names))
"""


@pytest.mark.parametrize("name", ["thalweg", "tensorflow"])
def test_dotted_imports(tmp_path, name):
    (tmp_path / "imports.py").write_text(IMPORTS)
    arguments = ["-m", "thalweg"] if name == "tensorflow" else []
    assert int(start([*arguments, "imports.py", name], tmp_path)) > 80
    with pytest.raises(ModuleNotFoundError):
        __import__("thalweg.no_such_module")
