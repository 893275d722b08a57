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


def test_binomial():
    g = tf.random.Generator.from_seed(7)
    assert g.binomial([5], 10.0, 0.3).numpy().tolist() == [2, 1, 4, 3, 1] and g.state.numpy().tolist() == [102407, 0, 0]
    assert g.binomial([3, 2], [10.0, 100.0], [0.3, 0.8]).numpy().tolist() == [[2, 78], [1, 83], [6, 84]]
    assert g.state.numpy().tolist() == [256007, 0, 0]


def test_seeded_distributions():
    tf.random.set_seed(1)
    np.testing.assert_array_equal(tf.random.gamma([3], [0.5, 1.0, 4.0], seed=3)[0], np.float32([1.1771568059921265, 3.4111533164978027, 4.095876693725586]))
    np.testing.assert_array_equal(tf.random.gamma([2], [0.5, 1.0], beta=[[1.0], [2.0]], seed=4)[0], np.float32(
        [[0.02409871108829975, 0.32345813512802124], [0.04966279864311218, 0.11206250637769699]]))
    np.testing.assert_array_equal(tf.random.poisson([3], [0.5, 10.0, 400.0], seed=3), [[1, 10, 417], [0, 12, 412], [0, 4, 449]])
    np.testing.assert_array_equal(tf.random.stateless_gamma([2, 2], [1, 2], [1.0, 3.0]), np.float32(
        [[3.4994423389434814, 4.67457914352417], [1.7193093299865723, 3.3503754138946533]]))
    np.testing.assert_array_equal(tf.random.stateless_poisson([3, 2], [1, 2], [3.0, 50.0]), [[5, 58], [5, 43], [4, 56]])
    np.testing.assert_array_equal(tf.random.stateless_binomial([3, 2], [1, 2], [10.0, 100.0], [0.3, 0.8]), [[5, 70], [5, 84], [5, 77]])
    np.testing.assert_array_equal(tf.random.experimental.stateless_shuffle(tf.range(10), [1, 2]), [0, 3, 8, 1, 5, 4, 9, 7, 6, 2])
    np.testing.assert_allclose(tf.random.stateless_parameterized_truncated_normal([2, 2], [1, 2], minvals=1.0, maxvals=1.5),
                               [[1.4220302104949951, 1.096022605895996], [1.498111605644226, 1.0801937580108643]])


def test_refused():
    with pytest.raises(AssertionError):
        tf.random.Generator()
    with pytest.raises(tf.errors.UnimplementedError):
        tf.random.stateless_normal([2], [1, 2], alg="threefry")
