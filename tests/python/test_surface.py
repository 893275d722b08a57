"""Names of the wide surface, against TensorFlow's results (surface.json, made by tests/golden/surface.py)."""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("surface", os.path.join(HERE, "..", "golden", "surface.py"))
_golden = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_golden)
with open(golden_file("surface", "surface.json")) as file:
    CASES = json.load(file)
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-9, "complex128": 1e-9}


def array(t):
    values = [complex(float(v[0]), float(v[1])) if isinstance(v, list) else v for v in t["values"]]
    if t["dtype"] in ("string", "object"):
        return values
    kind = "float32" if t["dtype"] == "bfloat16" else t["dtype"]
    return np.array([float(v) if isinstance(v, str) else v for v in values], kind)


PLAIN = [c for c in CASES if c[0] != "behavior"]


@pytest.mark.parametrize("family,expression,expected", PLAIN, ids=["%s-%s" % (c[0], c[1][:80]) for c in PLAIN])
def test_value(family, expression, expected):
    check(_golden.answer(expression, tf), expected, family == "numpy")


def test_numpy_behavior():
    """In a process of its own, as it can't be undone."""
    lines = [c for c in CASES if c[0] == "behavior"]
    program = ("import sys, json; sys.path.insert(0, %r); import surface; import thalweg as tf; "
               "tf.experimental.numpy.experimental_enable_numpy_behavior(); "
               "print(json.dumps([surface.answer(line, tf) for line in json.loads(sys.argv[1])]))" % os.path.join(HERE, "..", "golden"))
    done = subprocess.run([sys.executable, "-c", program, json.dumps([c[1] for c in lines])], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for got, (_, line, expected) in zip(json.loads(done.stdout), lines, strict=True):
        try:
            check(got, expected)
        except AssertionError as error:
            raise AssertionError("%s: %s" % (line, error)) from None


def check(got, expected, loose=False):
    if "error" in expected:
        assert got.get("error", got) == expected["error"], got
        return
    assert "value" in got, got
    assert len(got["value"]) == len(expected["value"])
    for at, (mine, theirs) in enumerate(zip(got["value"], expected["value"])):
        if loose and "plain" in theirs and str(theirs["plain"]).endswith("Error"):
            continue  # operands that TensorFlow's function does not take
        if "plain" in theirs:
            assert mine == theirs, at
            continue
        assert "dtype" in mine, (at, mine, theirs)
        assert (mine["dtype"], mine["shape"]) == (theirs["dtype"], theirs["shape"]), (at, mine, theirs)
        limit = TOLERANCE.get(theirs["dtype"])
        if limit is None:
            assert mine["values"] == theirs["values"], at
        else:
            np.testing.assert_allclose(array(mine), array(theirs), rtol=limit, atol=limit, equal_nan=True, err_msg=str(at))


def test_every_expression_is_there():
    assert sorted(c[:2] for c in CASES) == sorted(list(e) for e in _golden.expressions())


def test_a_type_with_a_conversion_is_a_tensor():
    class Length:
        def __init__(self, metres):
            self.metres = metres
    tf.register_tensor_conversion_function(Length, lambda value, dtype=None, name=None, as_ref=False: tf.constant(value.metres, dtype))
    assert tf.convert_to_tensor(Length(2.5)).numpy() == 2.5
    assert tf.add(Length(2.5), 1.0).numpy() == 3.5

    class Own:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([1, 2], dtype or tf.int32)
    assert tf.reduce_sum(Own()).numpy() == 3


def test_variable_creators():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append((kwargs.get("name"), kwargs.get("trainable")))
        kwargs["initial_value"] = kwargs["initial_value"] * 2
        return next_creator(**kwargs)
    with tf.variable_creator_scope(creator):
        v = tf.Variable(3.0, name="a", trainable=False)
        w = tf.Variable(initial_value=1.0)
    assert (v.numpy(), w.numpy(), v.trainable) == (6.0, 2.0, False)
    assert seen == [("a", False), (None, None)]
    assert tf.Variable(5.0).numpy() == 5.0


@pytest.mark.parametrize("name,args", [("load_op_library", ("x.so",)), ("load_library", ("x.so",)), ("test.create_local_cluster", (1, 1)),
                                       ("debugging.experimental.enable_dump_debug_info", ("/tmp",)), ("experimental.register_filesystem_plugin", ("x",))])
def test_what_is_not_supported_says_so(name, args):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)
    with pytest.raises(NotImplementedError, match="is not supported"):
        function(*args)
