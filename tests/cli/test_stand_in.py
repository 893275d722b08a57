"""thalweg in TensorFlow's place where a program asks for it: as_tensorflow(), processes that it starts, notebooks."""
import importlib.util
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))


def python(source, tmp_path, code=0):
    script = tmp_path / "program.py"
    script.write_text(source)
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"), IPYTHONDIR=str(tmp_path / "ipython"))
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_only_when_asked_for(tmp_path):
    (tmp_path / "tensorflow.py").write_text("name = 'another'\n")
    assert python("import thalweg, tensorflow; print(tensorflow.name)", tmp_path) == "another\n"


def test_as_tensorflow(tmp_path):
    assert python("""
import thalweg
assert thalweg.as_tensorflow() is thalweg and thalweg.as_tensorflow() is thalweg
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.python.framework import ops
import keras
import tf_keras
from tf_keras.layers import Dense
print(tf is thalweg, layers is thalweg.keras.layers is keras.layers, tf.constant(1).numpy(), tf_keras is keras, Dense is layers.Dense)
""", tmp_path) == "True True 1 True True\n"


def test_another_tensorflow_stays(tmp_path):
    (tmp_path / "tensorflow.py").write_text("name = 'another'\n")
    error = python("import tensorflow, thalweg; thalweg.as_tensorflow()", tmp_path, code=1)
    assert "ImportError: thalweg can't take TensorFlow's place: tensorflow was imported before, from %s" % tmp_path in error


@pytest.mark.parametrize("way", ["spawn", "forkserver", "fork"])
def test_processes(way, tmp_path):
    assert python("""
import multiprocessing
import thalweg
if __name__ == "__main__":
    thalweg.as_tensorflow()

def work(x):
    import tf_keras
    import tensorflow as tf
    assert tf_keras is tf.keras
    return tf.__name__, int(tf.square(x))

if __name__ == "__main__":
    with multiprocessing.get_context(%r).Pool(1) as pool:
        print(pool.map(work, [3]))
""" % way, tmp_path) == "[('tensorflow', 9)]\n"


@pytest.mark.skipif(not importlib.util.find_spec("IPython"), reason="notebooks need IPython (Debian's python3-ipython)")
def test_notebooks(tmp_path):
    assert python("""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ("%load_ext thalweg", "import tensorflow as tf", "print(tf.add(1, 2).numpy())", "import thalweg; print(thalweg is tf)",
             "@tf.function\\ndef f(x):\\n    if x > 0:\\n        return x\\n    return -x\\nprint(f(tf.constant(-3)).numpy())"):
    shell.run_cell(cell).raise_error()
""", tmp_path) == "3\nTrue\n3\n"
