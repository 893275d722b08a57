"""tf.autograph.to_code gives TensorFlow's text (tests/golden/autograph.py asked for it).

Where TensorFlow's own order changes from run to run, names after nonlocal and neighbouring lines that make variables undefined,
both are sorted."""
import importlib.util
import json
import os
import re

import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("golden_autograph", os.path.join(HERE, "..", "golden", "autograph.py"))
golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(golden)
CASES = golden.load_cases(tf)
BETTER = {"annotated_in_branch"}  # TensorFlow can't convert it

with open(golden_file("autograph", "autograph_code.json")) as f:
    ANSWERS = json.load(f)


def in_order(text):
    result, run = [], []
    for line in text.split("\n"):
        names = re.match(r"( *)(nonlocal|global) (.*)", line)
        if names:
            line = "%s%s %s" % (names[1], names[2], ", ".join(sorted(names[3].split(", "))))
        if re.match(r" *\w+ = ag__\.Undefined\('", line):
            run.append(line)
            continue
        result += sorted(run) + [line]
        run = []
    return "\n".join(result)


def check(name, kind, features):
    answer = ANSWERS[name]
    if kind in answer:
        got = tf.autograph.to_code(CASES[name], experimental_optional_features=features)
        assert in_order(got) == in_order(answer[kind])
        return
    with pytest.raises(Exception) as caught:
        tf.autograph.to_code(CASES[name], experimental_optional_features=features)
    assert [type(caught.value).__name__, str(caught.value)] == answer[kind + "_error"]


@pytest.mark.parametrize("name", [n for n in ANSWERS if n not in BETTER])
def test_text(name):
    check(name, "text", None)


@pytest.mark.parametrize("name", golden.ALL_FEATURES)
def test_text_with_all_features(name):
    check(name, "all", tf.autograph.experimental.Feature.ALL)


@pytest.mark.parametrize("name", list(CASES))
def test_compiles(name):
    if "text_error" not in ANSWERS[name] or name in BETTER:
        assert callable(tf.autograph.to_graph(CASES[name]))


def test_exact_text():
    """One without anything that may be ordered otherwise, byte for byte."""
    assert tf.autograph.to_code(CASES["square_if_positive"]) == ANSWERS["square_if_positive"]["text"]
