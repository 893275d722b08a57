"""README's programs and commands run as they are printed there."""
import os
import re
import subprocess

import pytest

import pages

PYTHON, C, SHELL = ([text for kind, text in pages.blocks("README.md") if kind == language] for language in ("python", "c", "sh"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the Python programs ran."""
    if not os.path.exists("/usr/share/datasets/fashion-mnist"):
        pytest.skip("dataset-fashion-mnist is not installed")
    place = tmp_path_factory.mktemp("readme")
    for text in PYTHON:
        (place / "printed").write_text(pages.run_python(text, place))
    (place / "script.py").write_text(PYTHON[0].replace("thalweg", "tensorflow"))
    return place


def test_there_are_programs():
    assert (len(PYTHON), len(C), len(SHELL)) == (2, 1, 1)


def test_keras_learns(folder):
    accuracies = re.findall(r" - accuracy: ([\d.]+) - val_loss: [\d.]+ - val_accuracy: ([\d.]+)\n", (folder / "printed").read_text())
    assert len(accuracies) == 2 and float(accuracies[-1][1]) > 0.7


@pytest.mark.parametrize("command", [line.split("#")[0].strip() for line in SHELL[0].splitlines()])
def test_command(command, folder):
    printed = pages.run(["sh", "-c", command], folder)
    assert printed or " convert " in command or " --svg " in command


@pytest.mark.parametrize("name, port", [("tensorboard", "--port"), ("serve", "--rest_api_port")])
def test_server(name, port, folder):
    """The commands that serve until they are stopped say where."""
    (command,) = re.findall(r"`thalweg (%s [^`]*)`" % name, open(os.path.join(pages.ROOT, "README.md")).read())
    if name == "serve":
        pages.run(["thalweg", "model", "convert", "model.h5", "saved"], folder)
    with subprocess.Popen([os.path.join(pages.BUILD, "bin", "thalweg"), *command.split(), port, "0"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        lines = [server.stdout.readline()]
        while lines[-1] and "http://localhost:" not in lines[-1]:
            lines.append(server.stdout.readline())
        server.terminate()
    assert lines[-1], lines


def test_c(tmp_path):
    printed = pages.run([pages.compile_c(C[0], tmp_path)], tmp_path)
    assert re.fullmatch(r"tf\.Tensor\(\n\[\[[\d. ]+\]\n \[[\d. ]+\]\], shape=\(2, 1\), dtype=float32\)\n", printed), printed
