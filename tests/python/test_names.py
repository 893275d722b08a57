"""tf.nest, tf.TensorSpec, tf.io.gfile, tf.config and other names give what they give in TensorFlow (tests/golden/names.py); files are written and read."""
import pickle

import pytest

import replay
import thalweg as tf

test_expression = replay.test_of("names")


def test_a_structure_that_holds_itself_is_an_error():
    a = []
    a.append(a)
    for f in (tf.nest.flatten, lambda s: tf.nest.pack_sequence_as(s, [1]), lambda s: tf.nest.assert_same_structure(s, s)):
        with pytest.raises(ValueError, match="holds itself"):
            f(a)


def test_spec_is_a_signature_and_is_pickled():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        return x * 2
    assert double(tf.constant([1., 2.])).numpy().tolist() == [2., 4.]
    spec = tf.TensorSpec([None, 2], tf.int32, "a")
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.value_type is tf.Tensor


def test_operations_run_under_any_device():
    for name in ("/CPU:0", "/GPU:0", None):
        with tf.device(name):
            assert int(tf.add(1, 2)) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"):
        with tf.device("/job:other"):
            tf.add(1, 2)


def test_defaults_that_cannot_be_changed():
    backend = tf.keras.backend
    with pytest.raises(tf.errors.UnimplementedError, match="only channels_last"):
        backend.set_image_data_format("channels_first")
    for call in (backend.set_floatx, backend.set_image_data_format):
        with pytest.raises(ValueError, match="Unknown"):
            call("int32")
