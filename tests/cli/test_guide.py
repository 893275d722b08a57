"""The programs of docs/guide: both languages print what the page shows, which is what TensorFlow 2.15.1 prints (tests/golden/guide.py)."""
import os
import re
import shutil

import pytest

import pages
from test_example_pairs import MOST, c_lines, checked_by_valgrind, python_lines

SUBJECTS = pages.subjects()
built = pytest.mark.skipif(not os.path.exists(os.path.join(pages.BUILD, "lib", "libthalweg.so")), reason="the library is not built")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_page_shows_what_tensorflow_prints(subject):
    with open(os.path.join(pages.ROOT, "tests", "golden", "guide", subject + ".txt")) as file:
        assert pages.block(subject, "text") == file.read()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_python_and_shell(subject, tmp_path):
    """The Python program prints what the page shows, and the page's commands then find its files."""
    assert pages.run_python(pages.block(subject, "python"), tmp_path) == pages.block(subject, "text")
    for language, text in pages.blocks("docs", "guide", subject + ".md"):
        for command in text.splitlines() if language == "sh" else ():
            pages.run(["sh", "-c", command], tmp_path)


@built
@pytest.mark.parametrize("subject", SUBJECTS)
def test_c(subject, tmp_path):
    program = pages.compile_c(pages.block(subject, "c"), tmp_path)
    assert pages.run([program], tmp_path) == pages.block(subject, "text")


@built
@pytest.mark.skipif(not shutil.which("clang"), reason="clang is not there")
@pytest.mark.parametrize("subject", SUBJECTS)
def test_c_by_clang(subject, tmp_path):
    pages.compile_c(pages.block(subject, "c"), tmp_path, "clang")


@built
@checked_by_valgrind
@pytest.mark.parametrize("subject", ["checkpoints", "tensorarray"])  # all of them: tests/long/test_guide_memory.py
def test_c_leaves_nothing(subject, tmp_path):
    assert pages.check_memory(pages.block(subject, "c"), tmp_path) == pages.block(subject, "text")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_c_is_short(subject):
    python, c = python_lines(pages.block(subject, "python")), c_lines(pages.block(subject, "c"))
    assert c <= MOST * python, "%d lines of C for %d of Python" % (c, python)


def test_every_page_is_listed():
    with open(os.path.join(pages.GUIDE, "README.md")) as file:
        assert sorted(re.findall(r"^\| \[(\w+)\.md\]", file.read(), re.M)) == SUBJECTS


def documents():
    for folder, _, names in os.walk(os.path.join(pages.ROOT, "docs")):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))
    yield os.path.join(pages.ROOT, "README.md")


def test_links_lead_somewhere():
    for path in documents():
        with open(path) as file:
            for link in re.findall(r"\]\(([^)#:]+)\)", file.read()):
                assert os.path.exists(os.path.join(os.path.dirname(path), link)), "%s: %s" % (path, link)
