"""The signatures of public functions, classes and methods are TensorFlow's: names, order, defaults (tests/golden/signatures.py). What differs stands in
signature_differences.py; an entry there that differs no more is an error."""
import re

import pytest

import signature_differences
import signature_walk
import thalweg as tf
from golden_files import golden_file


def expected():
    with open(golden_file("signatures", "signatures.txt"), encoding="utf-8") as f:
        for line in f:
            path, mark, rest = line.rstrip("\n").partition("(")
            yield path, mark + rest


def found(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def parts(text):
    """The arguments of a signature; `self` may have any name, and what stands behind a star alone is by name only."""
    out = [part.strip() for part in re.split(r",(?![^(]*\))(?![^']*'(?:[^']*'[^']*')*[^']*$)", text[1:-1]) if part.strip()]
    return ["self"] + out[1:] if out and out[0] in ("instance", "type", "operation") else out


def agree(theirs, ours):
    """Whether a signature is TensorFlow's. A default that is an object of TensorFlow's own stands for any; (*args, **kwargs) says nothing, and **kwargs
    stands for arguments by name. Ours may take more, by name only."""
    if ours is None or theirs == "(*args, **kwargs)":
        return ours is not None
    wanted, have = parts(theirs), parts(ours)
    star = next((i for i, part in enumerate(have) if part.startswith("*")), len(have))
    named = {part for part in have[star:] if part != "*" and "=" in part}
    rest = [part for part in have[star:] if part not in named and part not in ("*", "**kwargs")]
    behind = next((i for i, part in enumerate(wanted) if part.startswith("*")), len(wanted))
    fits = [re.fullmatch("".join(".+?" if word == "…" else re.escape(word) for word in re.split("(…)", a)), b) for a, b in zip(wanted, have[:star])]
    by_name = [part for part in wanted[behind:] if part not in ("*", "**kwargs") and part not in rest and part not in named]
    return behind == star and all(fits) and not by_name and ("**kwargs" in wanted or "**kwargs" not in have)


def test_signatures_are_tensorflows():
    different, there = set(), 0
    for path, text in expected():
        try:
            value = found(path)
        except (AttributeError, ImportError, NotImplementedError, RuntimeError):
            continue
        there += 1
        if not agree(text, signature_walk.described(value)):
            different.add(path)
    assert there > 3400
    known = set(signature_differences.PATHS.split())
    assert different - known == set()
    assert known - different == set()


@pytest.mark.parametrize("path", ["keras.Model.fit", "keras.Model.compile", "keras.Model.evaluate", "keras.Model.predict", "keras.layers.Dense",
                                  "data.TextLineDataset", "nn.conv2d", "matmul"])
def test_the_commonest_are_among_them(path):
    assert agree(dict(expected())[path], signature_walk.described(found(path)))


def test_experimental_choose_from_datasets_passes_over_what_has_ended():
    datasets, choice = [tf.data.Dataset.range(1), tf.data.Dataset.range(10, 13)], tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0, 1, 1], tf.int64))
    assert [int(x) for x in tf.data.experimental.choose_from_datasets(datasets, choice)] == [0, 10, 11, 12]
    assert [int(x) for x in tf.data.Dataset.choose_from_datasets(datasets, choice)] == [0, 10]


def test_merged_options_are_the_given_ones_where_both_say_something():
    a, b = tf.data.Options(), tf.data.Options()
    a.deterministic, b.deterministic, b.experimental_slack = True, False, True
    assert (a.merge(b).deterministic, b.merge(a).deterministic, a.merge(b).experimental_slack) == (False, True, True)
    dataset = tf.data.Dataset.range(3).with_options(a).with_options(b)
    assert dataset.options().deterministic is False


def test_keras_backend_has_keras_names():
    backend = tf.keras.backend
    assert backend.tile(x=[1, 2], n=2).numpy().tolist() == [1, 2, 1, 2]
    assert backend.reverse(x=[1, 2], axes=0).numpy().tolist() == [2, 1]
    assert backend.gather(reference=[1, 2], indices=[1]).numpy().tolist() == [2]
