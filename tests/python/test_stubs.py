"""The type stubs beside the package (tools/make_stubs.py), by mypy where it is installed: common code and the examples are right, mistakes are found."""
import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUBS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))), "thalweg-stubs")
MYPY = shutil.which("mypy")
# Builds whose package can't be imported while they are made, those with sanitizers, have empty stubs.
WHOLE = os.path.isdir(os.path.join(STUBS, "raw_ops"))
pytestmark = pytest.mark.skipif(not MYPY or not WHOLE, reason="mypy is not installed, or no stubs are beside the package")
MISTAKES = """tf.nn.softmax([1.0], axes=0)
tf.nn.softmax(None)
tf.nn.softmax()
tf.nn.no_such_function(1.0)
tf.constant([1.0]).no_such_method + tf.shape({})
tf.reduce_sum(lambda: 1)
tf.keras.layers.Dense("three")
tf.keras.layers.Dense(3, activatoin="relu")
tf.keras.layers.Conv2D(8)
tf.keras.optimizers.Adam(learning_rat=0.1)
tf.keras.Sequential().fit([1.0], epoch=3)
tf.data.Dataset.range(3).batch("two")
tf.data.Dataset.range(3).shuffel(3)
tf.Variable(1.0).assign()
tf.random.normal([2], dtype=1.5)
tf.zeros()
tf.train.Checkpoint().restor("x")
tf.image.resize([[[1.0]]])""".split("\n")


def mypy(folder, *files):
    os.makedirs(folder / "path", exist_ok=True)
    if not os.path.lexists(folder / "path" / "thalweg"):
        os.symlink(STUBS, folder / "path" / "thalweg")
    environment = dict(os.environ, MYPYPATH=str(folder / "path"))
    environment.pop("LD_PRELOAD", None)  # a sanitizer's, which ends mypy itself
    run = subprocess.run([MYPY, "--check-untyped-defs", "--scripts-are-modules", "--cache-dir", str(folder / "cache"), "--python-executable", sys.executable,
                          *map(str, files)], capture_output=True, text=True, env=environment)
    assert re.search(r"^(Success|Found \d+ error)", run.stdout, re.M), run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stubs")


def test_common_code_and_the_examples_are_right(folder):
    os.makedirs(folder / "examples")
    files = [os.path.join(ROOT, "tests", "stubs", "sample.py")]
    for path in glob.glob(os.path.join(ROOT, "examples", "python", "*.py")):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"(?m)^(import|from) tensorflow", r"\1 thalweg", f.read())
        files.append(folder / "examples" / os.path.basename(path))
        files[-1].write_text(text)
    wrong = [line for line in mypy(folder, *files).splitlines() if ": error: " in line]
    assert not [line for line in wrong if 'to "floating"' not in line]  # np.float32([1, 2]), which NumPy's own stubs refuse


def test_mistakes_are_found(folder):
    program = folder / "mistakes.py"
    program.write_text("import thalweg as tf\n" + "\n".join(MISTAKES) + "\n")
    found = {int(number) for number in re.findall(r"mistakes\.py:(\d+): error:", mypy(folder, program))}
    assert not [line for number, line in enumerate(MISTAKES, 2) if number not in found]
