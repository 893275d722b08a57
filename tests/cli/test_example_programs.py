"""The examples in C and in Python: train, save, restore in another process; each reads the other's checkpoints."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "bin", "mlp_checkpoint")
SCRIPT = os.path.join(ROOT, "examples", "python", "mlp_checkpoint.py")
IN_C = [PROGRAM]
IN_PYTHON = [sys.executable, "-m", "thalweg", SCRIPT]

pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="the example is not built")
needs_data = pytest.mark.skipif(not os.path.exists("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"), reason="Fashion-MNIST is not there")


def run(command, *arguments):
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"))
    done = subprocess.run(command + list(arguments), env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def accuracy(text):
    return float(re.search(r"test accuracy ([\d.]+)", text).group(1))


@needs_data
@pytest.mark.parametrize("writer, reader", [(IN_C, IN_PYTHON), (IN_PYTHON, IN_C)], ids=["c", "python"])
def test_train_save_restore(writer, reader, tmp_path):
    save = "--save-dir=%s" % tmp_path
    text = run(writer, "--mode=train", "--batch-size=200", save)
    assert re.search(r"batch 300: loss [\d.]+, saved as .*/model.ckpt-300\n", text)
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".index") == ["model.ckpt-%d.index" % n for n in (100, 200, 300)]
    own, other = run(writer, "--mode=test", save), run(reader, "--mode=test", save)
    assert accuracy(own) > 0.75
    assert accuracy(other) == accuracy(own)


def test_usage():
    done = subprocess.run([PROGRAM, "--mode=x"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("usage: ")


def test_traced_step():
    """Traced twice: the first trace makes the optimizer's variables."""
    text = run([os.path.join(BUILD, "bin", "traced_step")])
    found = re.search(r"accuracy ([\d.]+) after 400 steps, traced 2 times", text)
    assert found and float(found.group(1)) > 0.95


def test_serve_saved_model():
    text = run([os.path.join(BUILD, "bin", "serve_saved_model")], os.path.join(ROOT, "tests", "golden", "saved_model", "module"))
    assert text == "output_0 = tf.Tensor([[ 0.5 -0.5]], shape=(1, 2), dtype=float32)\n"
