"""The ten subjects, each as a program in C and in Python: both print the same; the C program leaks nothing, compiles without a warning and is short."""
import ast
import gzip
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tokenize

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PAIRS = ("cnn_formats", "own_parts", "pipeline", "summaries", "v1_session", "control_flow", "strategy", "serving", "read_formats")
ALL = ("mlp_checkpoint",) + PAIRS  # that one trains by chance: test_example_programs.py compares it
MOST = 2.5                         # lines of C for a line of Python
VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=9"]

built = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "bin", "serving")), reason="the examples are not built")


def checked_by_valgrind(test):
    test = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")(test)
    return pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="built with a sanitizer, which finds the same")(test)


def run(command, timeout=300):
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def program(name, directory):
    return [os.path.join(BUILD, "bin", name), str(directory)]


@built
@pytest.mark.parametrize("name", PAIRS)
def test_both_print_the_same(name, tmp_path):
    directories = [tmp_path / "c", tmp_path / "python"]
    for directory in directories:
        directory.mkdir()
    in_python = run([sys.executable, "-m", "thalweg", os.path.join(ROOT, "examples", "python", name + ".py"), str(directories[1])])
    assert in_python.count("\n") > 3
    assert run(program(name, directories[0])) == in_python


@built
@checked_by_valgrind
@pytest.mark.parametrize("name", PAIRS)
def test_nothing_leaks(name, tmp_path):
    run(VALGRIND + program(name, tmp_path), timeout=900)


def idx(path, shape):
    """Random bytes as an IDX file."""
    count = int(np.prod(shape))
    numbers = np.random.default_rng(7).integers(0, 256 if len(shape) > 1 else 10, count, np.uint8)
    with gzip.open(path, "wb") as file:
        file.write(struct.pack(">HBB%dI" % len(shape), 0, 8, len(shape), *shape) + numbers.tobytes())


@built
@checked_by_valgrind
def test_nothing_leaks_in_training(tmp_path, monkeypatch):
    """mlp_checkpoint on data of its own: as many steps as the first checkpoint needs, then the test that restores it."""
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    for part, rows in (("train", 200), ("t10k", 30)):
        idx(folder / (part + "-images-idx3-ubyte.gz"), (rows, 28, 28))
        idx(folder / (part + "-labels-idx1-ubyte.gz"), (rows,))
    monkeypatch.setenv("THALWEG_DATASETS", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "none"))
    command = VALGRIND + [os.path.join(BUILD, "bin", "mlp_checkpoint"), "--batch-size=2", "--save-dir=%s" % (tmp_path / "save")]
    assert "model.ckpt-100\n" in run(command + ["--mode=train"], timeout=900)
    assert "model.ckpt-100: test accuracy " in run(command + ["--mode=test"], timeout=900)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ALL)
def test_no_warnings(name, compiler):
    headers = os.path.join(BUILD, "generated", "include")
    if not shutil.which(compiler) or not os.path.isdir(headers):
        pytest.skip("%s, or the made headers, are not there" % compiler)
    run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(ROOT, "include"), "-I", headers,
         os.path.join(ROOT, "examples", "c", name + ".c")])


def python_lines(text):
    """Lines that hold code: neither blank, nor comments, nor docstrings."""
    documented, lines = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    nothing = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in nothing:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def c_lines(text):
    return sum(bool(line.strip()) for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines())


@pytest.mark.parametrize("name", ALL)
def test_c_is_short(name):
    sizes = []
    for folder, ending, count in (("python", "py", python_lines), ("c", "c", c_lines)):
        with open(os.path.join(ROOT, "examples", folder, "%s.%s" % (name, ending))) as file:
            sizes.append(count(file.read()))
    assert sizes[1] <= MOST * sizes[0], "%d lines of C for %d of Python" % (sizes[1], sizes[0])
