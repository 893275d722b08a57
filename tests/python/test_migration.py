"""docs/migration.md: what its tables name is there. Names of tf are looked up; calls of C are looked up in the headers."""
import glob
import os
import re

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
with open(os.path.join(ROOT, "docs", "migration.md"), encoding="utf-8") as _file:
    ROWS = [line.strip("|\n ").split(" | ") for line in _file if line.startswith("| ") and not line.startswith("|---")]
OLD = ("tf.contrib.slim",)  # of TensorFlow 1, and gone


def names(cell, prefix):
    return [name.rstrip(".") for name in re.findall(r"(?<![\w.])%s[\w.]*\w" % prefix, " ".join(re.findall(r"`([^`]*)`", cell)))]


def found(path):
    value = tf
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    return value


def test_there_are_three_tables():
    assert len(ROWS) > 25 and all(len(row) == 2 for row in ROWS)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in names(row[1], r"tf\.")}))
def test_names_of_tensorflow_2_are_there(name):
    found(name)


@pytest.mark.parametrize("name", sorted({name for row in ROWS if row[0].startswith("`tf.") for name in names(row[0], r"tf\.")} - set(OLD)))
def test_names_of_tensorflow_1_are_in_compat(name):
    found("tf.compat.v1." + name[3:])


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in names(row[1], "(?:tw_|TW_)")}))
def test_names_of_c_are_in_the_headers(name):
    headers = glob.glob(os.path.join(ROOT, "include", "**", "*.h"), recursive=True) + glob.glob(os.path.join(BUILD, "generated", "include", "**", "*.h"), recursive=True)
    assert any(re.search(r"\b%s\b" % name, open(path, encoding="utf-8").read()) for path in headers)
