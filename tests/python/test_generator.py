"""tf.random.Generator beyond its numbers (test_basics.py): functions, checkpoints, the shared one, subclasses."""
import numpy as np
import pytest

import thalweg as tf


def test_functions_move_the_same_state():
    eager, traced = tf.random.Generator.from_seed(3), tf.random.Generator.from_seed(3)

    @tf.function
    def draw(n):
        return traced.normal([n]), traced.uniform([2], maxval=10, dtype=tf.int32)
    for n in (2, 5):
        a, b = draw(tf.constant(n))
        assert np.array_equal(a, eager.normal([n])) and np.array_equal(b, eager.uniform([2], maxval=10, dtype=tf.int32))
    assert np.array_equal(eager.state, traced.state)


def test_checkpoints_hold_the_state(tmp_path):
    generator = tf.random.Generator.from_seed(3)
    generator.normal([10])
    path = tf.train.Checkpoint(g=generator).save(str(tmp_path / "a"))
    assert ("g/_state_var/.ATTRIBUTES/VARIABLE_VALUE", [3]) in tf.train.list_variables(path)
    expected = generator.normal([3])
    other = tf.random.Generator.from_seed(99)
    tf.train.Checkpoint(g=other).restore(path).assert_consumed()
    assert np.array_equal(other.normal([3]), expected)


def test_modules_track_it_but_have_no_variable_of_it(tmp_path):
    module = tf.Module()
    module.g = tf.random.Generator.from_seed(3)
    path = tf.train.Checkpoint(m=module).save(str(tmp_path / "a"))
    assert "m/g/_state_var/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_the_shared_one():
    first = tf.random.get_global_generator()
    assert isinstance(first, tf.random.Generator) and tf.random.get_global_generator() is first
    mine = tf.random.Generator.from_seed(7)
    tf.random.set_global_generator(mine)
    assert tf.random.get_global_generator() is mine
    tf.random.set_seed(5)
    assert tf.random.get_global_generator() is mine
    tf.random.set_global_generator(first)


def test_unforeseeable_states_differ():
    a, b = (tf.random.Generator.from_non_deterministic_state() for _ in range(2))
    assert a.state.shape == [3] and not np.array_equal(a.state, b.state)


def test_subclasses_make_their_own_kind():
    class Own(tf.random.Generator):
        pass
    assert type(Own.from_seed(1)) is Own and all(type(g) is Own for g in Own.from_seed(1).split(2))


def test_refused():
    with pytest.raises(NotImplementedError):
        tf.random.Generator.from_seed(1).binomial([2], 10.0, 0.5)
    with pytest.raises(AssertionError):
        tf.random.Generator()
    with pytest.raises(tf.errors.UnimplementedError):
        tf.random.stateless_normal([2], [1, 2], alg="threefry")
