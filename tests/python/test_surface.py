"""Names of the wide surface, against TensorFlow's results (surface.json, made by tests/golden/surface.py)."""
import importlib.util
import json
import os
import subprocess
import sys
import typing

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
    tf.random.set_seed(None)  # another module may have set one
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


def test_earlier_forms_of_iterators():
    """As graphs of TensorFlow 1 hold them; and a form that TensorFlow has no kernel for."""
    kind = dict(output_types=[tf.int64], output_shapes=[[]])
    with tf.Graph().as_default():
        iterator = tf.raw_ops.Iterator(shared_name="", container="", **kind)
        begin = tf.raw_ops.MakeIterator(dataset=tf.compat.v1.data.experimental.to_variant(tf.data.Dataset.range(5)), iterator=iterator)
        again = tf.raw_ops.IteratorFromStringHandle(string_handle=tf.raw_ops.IteratorToStringHandle(resource_handle=iterator))
        first, second = (tf.raw_ops.IteratorGetNext(iterator=i, **kind) for i in (iterator, again))
        with tf.compat.v1.Session() as session:
            session.run(begin)
            assert [session.run(x) for x in (first, second, first)] == [[0], [1], [2]]
    function = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([], tf.int64)]).get_concrete_function()
    made = tf.raw_ops.ExperimentalMapDataset(input_dataset=tf.data.experimental.to_variant(tf.data.Dataset.range(3)), other_arguments=[], f=function, **kind)
    assert list(tf.data.experimental.from_variant(made, tf.TensorSpec([], tf.int64)).as_numpy_iterator()) == [0, 2, 4]


def test_what_a_form_can_not_do_says_so():
    kind = dict(output_types=[tf.int64], output_shapes=[[]])
    dataset = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    with pytest.raises(tf.errors.UnimplementedError, match="auto_shard_policy 0"):
        tf.raw_ops.AutoShardDataset(input_dataset=dataset, num_workers=2, index=0, **kind)
    with pytest.raises(tf.errors.UnimplementedError, match="byte_offsets"):
        tf.raw_ops.TFRecordDatasetV2(filenames=["a"], compression_type="", buffer_size=1, byte_offsets=tf.constant([3], tf.int64))


def test_functions_that_stand_in():
    class Doubled(tf.experimental.ExtensionType):
        """Twice a tensor."""
        half: tf.Tensor

    @tf.experimental.dispatch_for_unary_elementwise_apis(Doubled)
    def unary(api, x):
        return api(x.half * 2)

    @tf.experimental.dispatch_for_binary_elementwise_apis(Doubled, Doubled)
    def binary(api, x, y):
        return api(x.half * 2, y.half * 2)

    @tf.experimental.dispatch_for_api(tf.concat, {"values": typing.List[Doubled]})
    def joined(values, axis, name="concat"):
        return Doubled(tf.concat([v.half for v in values], axis))
    try:
        x = Doubled([1.0, -2.0])
        assert tf.abs(x).numpy().tolist() == tf.math.abs(x).numpy().tolist() == [2.0, 4.0]
        assert tf.add(x, x).numpy().tolist() == [4.0, -8.0]
        assert tf.concat([x, x], 0).half.numpy().tolist() == [1.0, -2.0] * 2
        assert tf.add(1, 2).numpy() == 3 and tf.abs(-1.0).numpy() == 1 and tf.concat([[1], [2]], 0).numpy().tolist() == [1, 2]
        assert tf.function(lambda v: tf.reduce_sum(v.half))(x).numpy() == -1
    finally:
        for target in (unary, binary, joined):
            tf.experimental.unregister_dispatch_for(target)
    with pytest.raises(ValueError):
        tf.abs(x)
    with pytest.raises(ValueError, match="was not registered"):
        tf.experimental.unregister_dispatch_for(unary)
    with pytest.raises(TypeError, match="must return"):
        tf.function(lambda v: Doubled(v))(tf.constant(1.0))


class Asserts(tf.test.TestCase):
    """tf.test.TestCase as a program uses it."""

    def test_values(self):
        self.assertAllClose(tf.constant([1.0, 2.0]) * 2, [2.0, 4.0])
        self.assertAllEqual(tf.constant([[1, 2]]), [[1, 2]])
        self.assertEqual(self.evaluate(tf.constant(3)), 3)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "ncompatible"):
            tf.constant([1, 2]) + tf.constant([1, 2, 3])
        with self.assertRaisesWithPredicateMatch(ValueError, "b.d"):
            raise ValueError("bad")
        with self.session() as session:
            self.assertAllEqual(session.run(tf.constant([1])), [1])

    def test_files_and_threads(self):
        place = self.create_tempfile("a.txt", content="text")
        self.assertEqual(place.read_text(), "text")
        self.assertStartsWith(place.full_path, self.get_temp_dir())
        thread = self.checkedThread(lambda: None)
        thread.start()
        thread.join()
