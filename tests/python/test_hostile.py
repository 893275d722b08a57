"""Arguments that make no sense, for everything in the tables: ordinary exceptions, never a crash, a hang or a gigabyte of memory.

hostile.py makes the calls in a process of its own, so that a crash is a failure here that names its call. To look for more:
    python3 tests/python/hostile.py SEED COUNT JOURNAL [part of a name]
"""
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("seed", range(4))
def test_hostile_arguments(seed, tmp_path):
    journal = tmp_path / "journal"
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))))
    environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":max_allocation_size_mb=1024"  # as the limit without it
    done = subprocess.run([sys.executable, os.path.join(HERE, "hostile.py"), str(seed), "5000", str(journal)], cwd=tmp_path, text=True,
                          env=environment, capture_output=True, timeout=300, errors="replace")
    last = journal.read_text(errors="replace") if journal.exists() else "nothing"
    assert done.returncode == 0, "%d at\n%s\n%s\n%s" % (done.returncode, last, done.stdout[-2000:], done.stderr[-3000:])


def test_lists_that_change_while_they_are_read():
    class Thief:
        def __init__(self, victim):
            self.victim = victim

        def __getattr__(self, name):
            self.victim.clear()
            raise AttributeError(name)

    for wrap in (lambda x: x, lambda x: [x, x], lambda x: {"a": x}):
        for call in (tf.constant, tf.add_n, lambda x: tf.concat(x, 0), tf.keras.layers.Dense(1), tf.GradientTape().watch, tf.zeros):
            items = [1.0]
            items += [Thief(items), 2.0, 3.0]
            try:
                call(wrap(items))
            except (TypeError, ValueError, RuntimeError, IndexError, tf.errors.InvalidArgumentError):
                pass


def test_predict_in_odd_batches():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    x = tf.ones([5, 3])
    expected = model.predict(x, verbose=0).tolist()
    for size in (0, 1, 2, 5, 6, 2 ** 63 - 1):
        assert model.predict(x, batch_size=size, verbose=0).tolist() == expected
    with pytest.raises(ValueError):
        model.predict(x, batch_size=-1, verbose=0)


def test_sizes_that_need_64_bits():
    wide = 2 ** 40
    assert tf.zeros([wide, 0]).shape == (wide, 0) and tf.fill([wide, 0], 1.0).shape == (wide, 0) and tf.random.normal([wide, 0]).shape == (wide, 0)
    assert tf.reshape(tf.zeros([0]), [0, wide]).shape == (0, wide) and tf.broadcast_to(tf.zeros([0]), [wide, 0]).shape == (wide, 0)
    assert tf.zeros(np.array([wide, 0])).shape == (wide, 0) and tf.one_hot(wide, 3).numpy().tolist() == [0, 0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather([1.0, 2.0], wide)
    for shape in ([wide, wide], [wide, 2 ** 20], [2 ** 62]):
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
            tf.zeros(shape)
    with pytest.raises(ValueError):
        tf.constant(2 ** 63, tf.int64)


@pytest.mark.parametrize("call", [
    lambda: tf.image.combined_non_max_suppression(tf.zeros([1, 2, 1, 4]), tf.zeros([1, 2, 1]), 7, 3, score_threshold="a"),
    lambda: tf.image.combined_non_max_suppression(tf.zeros([1, 2, 1, 4]), tf.zeros([1, 2, 1]), 7, 3, iou_threshold="a"),
    lambda: tf.linalg.LinearOperatorToeplitz([1., 2.], None), lambda: tf.linalg.LinearOperatorToeplitz(None, [1., 2.]),
    lambda: tf.linalg.LinearOperatorDiag(None), lambda: tf.linalg.LinearOperatorHouseholder(None), lambda: tf.linalg.LinearOperatorPermutation(None),
    lambda: tf.linalg.LinearOperatorFullMatrix(None), lambda: tf.linalg.LinearOperatorLowerTriangular(None), lambda: tf.linalg.LinearOperatorTridiag(None),
] + [lambda kind=kind: kind().add_weight(None, [2]) for kind in (tf.keras.optimizers.legacy.Adam, tf.keras.optimizers.legacy.SGD)
] + [lambda keys=keys, size=size: tf.feature_column.crossed_column(keys, size)
     for keys in ([1, 1], [1.5, None], ["a", 3], 3, None, "a", [tf.constant(1), tf.constant(2)], [[], {}]) for size in (-2, 10)])
def test_calls_that_fail_half_way(call):
    """Where a first part fails, the next is not given what is not there."""
    with pytest.raises((ValueError, TypeError, tf.errors.OpError)):
        call()


def test_names_that_are_none():
    assert tf.train.ExponentialMovingAverage(0.9, None, False, None).name == "ExponentialMovingAverage"


def test_keys_that_are_no_strings():
    odd = {1: 2, "a": 3}
    classes = [c for place in (tf.keras.layers, tf.keras.losses, tf.keras.metrics, tf.keras.optimizers, tf.keras.initializers, tf.keras.regularizers,
                               tf.keras.constraints, tf.keras.optimizers.schedules) for c in vars(place).values() if isinstance(c, type) and hasattr(c, "from_config")]
    for made in classes:
        with pytest.raises((TypeError, ValueError, KeyError, AttributeError, NotImplementedError)):
            made.from_config(odd)
    for callback in (tf.keras.callbacks.History(), tf.keras.callbacks.CSVLogger("unused"), tf.keras.callbacks.ProgbarLogger()):
        with pytest.raises(TypeError, match="the names in the logs must be strings"):
            callback.on_epoch_end(0, odd)

    class Careless(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs[3] = 1.0
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match="must be strings"):
        model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0, callbacks=[Careless()])
    with pytest.raises(TypeError, match="keywords must be strings"):
        tf.keras.layers.Dense(**{1: 2})
    with pytest.raises(ValueError):
        tf.keras.layers.Add()({1: tf.keras.Input([2]), "a": tf.keras.Input([2])})


def test_counts_that_do_not_go_together():
    """Ops whose number of outputs and lists of keys are told apart: any of them may be wrong."""
    example, tried = tf.train.Example().SerializeToString(), 0
    for sparse, keys, types, dense in itertools.product(range(4), range(3), range(3), range(3)):
        names, more = ["a", "b"][:keys], ["c", "d"][:dense]
        defaults, shapes = [tf.constant(0, tf.int64)] * dense, [[]] * dense
        for call in (
                lambda: tf.raw_ops.ParseSingleExample(serialized=example, dense_defaults=defaults, num_sparse=sparse, sparse_keys=names, dense_keys=more,
                                                      sparse_types=[tf.string] * types, dense_shapes=shapes),
                lambda: tf.raw_ops.ParseExampleV2(serialized=[example], names=[], sparse_keys=names, dense_keys=more, ragged_keys=[], dense_defaults=defaults,
                                                  num_sparse=sparse, sparse_types=[tf.string] * types, ragged_value_types=[], ragged_split_types=[],
                                                  dense_shapes=shapes)):
            if sparse == keys == types:
                call()
            else:
                with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
                    call()
            tried += 1
    assert tried == 216
