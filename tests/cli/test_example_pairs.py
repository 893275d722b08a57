"""The ten subjects, each as a program in C and in Python: both print the same; the C program leaks nothing, compiles without a warning and is short."""
import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PAIRS = ("cnn_formats", "own_parts", "pipeline", "summaries", "v1_session", "control_flow", "strategy", "serving", "read_formats")
ALL = ("mlp_checkpoint",) + PAIRS  # that one trains by chance: test_example_programs.py runs it
MOST = 2.5                         # lines of C for a line of Python
VALGRIND = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=9"]

built = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "bin", "serving")), reason="the examples are not built")


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
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="built with a sanitizer, which finds the same")
@pytest.mark.parametrize("name", PAIRS)
def test_nothing_leaks(name, tmp_path):
    run(VALGRIND + program(name, tmp_path), timeout=900)


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
