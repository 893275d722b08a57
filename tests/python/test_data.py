"""tf.data: the programs of data_cases.py give what they give in TensorFlow 2.15.1, texts of datasets included; memory, threads, errors of Python code."""
import gc
import json
import os
import threading
import time

import numpy as np
import pytest

import printed
from golden_files import golden_file
import thalweg as tf
from steady import SANITIZED, resident
from data_cases import outcome, programs

D = tf.data.Dataset
with open(golden_file("data", "data.json")) as _file:
    EXPECTED = json.load(_file)

# Of these errors only the class is compared: TensorFlow's text is its own machinery's.
CLASS_ONLY = {"mistake shapes", "mistake scan", "generator wrong", "generator raises", "mistake python", "mistake batch 2.5", "mistake index"}
# Here the class or the moment is another one.
OWN = {"mistake parallel": "! InvalidArgumentError"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def made(folder):
    return programs(tf, folder)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_program(made, folder, name):
    got, expected = outcome(tf, made[name], folder), EXPECTED[name]
    if name in OWN:
        assert got.startswith(OWN[name])
    elif name in CLASS_ONLY:
        assert got.split()[:2] == expected.split()[:2]
    else:
        printed.check(got, expected)


def test_every_program_was_run(made):
    assert sorted(made) == sorted(EXPECTED)


def test_iterating_does_not_grow():
    dataset = D.from_tensor_slices((np.arange(1000, dtype=np.float32).reshape(1000, 1), np.arange(1000))).map(
        lambda x, y: (x * 2.0, y)).shuffle(100).batch(10).prefetch(2).repeat()
    iterator = iter(dataset)

    def steps(count):
        for _ in range(count):
            next(iterator)
    steps(1000)
    gc.collect()
    before = resident()
    steps(10000)  # 100,000 elements
    gc.collect()
    assert SANITIZED or resident() - before < 8 << 20


def test_iterators_that_are_dropped_leave_nothing_behind():
    def some():
        for parallel in (None, 2):
            iterator = iter(D.range(1000).map(lambda x: x + 1, num_parallel_calls=parallel).prefetch(4))
            next(iterator)
    for _ in range(20):
        some()
    gc.collect()
    before, threads = resident(), len(os.listdir("/proc/self/task"))
    for _ in range(200):
        some()
    gc.collect()
    time.sleep(0.2)
    assert SANITIZED or resident() - before < 16 << 20
    assert len(os.listdir("/proc/self/task")) <= threads + 8


def test_threads_that_need_python_and_a_function_that_waits_for_them():
    dataset = D.range(20).map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64), num_parallel_calls=3).prefetch(2)

    @tf.function
    def total():
        s = tf.constant(0, tf.int64)
        for x in dataset:
            s += tf.reshape(x, [])
        return s
    assert int(total()) == 380
    assert sum(int(x) for x in dataset) == 380


def test_several_threads_share_an_iterator():
    iterator, seen = iter(D.range(2000).map(lambda x: x * 3)), []

    def run():
        for x in iterator:
            seen.append(int(x))
    workers = [threading.Thread(target=run) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert sorted(seen) == [3 * i for i in range(2000)]


def test_parallel_calls_run_at_the_same_time():
    def slow(x):
        time.sleep(0.02)
        return x

    def seconds(parallel):
        start = time.perf_counter()
        assert len(list(D.range(16).map(lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=parallel))) == 16
        return time.perf_counter() - start
    assert seconds(8) < seconds(None) / 2


def test_a_thread_stops_when_nobody_wants_its_elements():
    def running():
        return time.process_time()
    iterator = iter(D.range(10 ** 12).filter(lambda x: x < 0).prefetch(1).map(lambda x: x, num_parallel_calls=2))
    time.sleep(0.1)
    del iterator
    gc.collect()
    time.sleep(0.3)
    before = running()
    time.sleep(0.3)
    assert running() - before < 0.2


def test_an_error_of_an_element_does_not_end_the_iteration():
    dataset = D.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "no"))
    for again in (dataset, dataset.prefetch(2), D.from_tensor_slices([1.0, 0.0, 2.0]).map(
            lambda x: tf.debugging.check_numerics(1.0 / x, "no"), num_parallel_calls=2)):
        iterator = iter(again)
        assert float(next(iterator)) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            next(iterator)
        assert float(next(iterator)) == 0.5
        with pytest.raises(StopIteration):
            next(iterator)


def test_cache_in_a_file(folder):
    calls = []

    def count(x):
        calls.append(int(x))
        return x
    path = os.path.join(folder, "cache")
    for _ in range(2):
        dataset = D.range(5).map(lambda x: tf.py_function(count, [x], tf.int64)).cache(path)
        assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]
        assert [int(x) for x in dataset] == [0, 1, 2, 3, 4]
    assert calls == [0, 1, 2, 3, 4]
    assert os.path.exists(path + ".index")


def test_records_come_back(folder):
    path = os.path.join(folder, "some.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            writer.write(b"record %d" % i)
    assert [x.numpy() for x in tf.data.TFRecordDataset([path, path])] == [b"record %d" % i for i in range(5)] * 2
    assert isinstance(tf.data.TFRecordDataset(path), tf.data.TFRecordDataset)


def test_named_tuples_and_nesting():
    import collections
    pair = collections.namedtuple("pair", "a b")
    dataset = D.from_tensor_slices(pair([1, 2], {"x": ([3, 4], [5, 6])}))
    element = next(iter(dataset))
    assert type(element) is pair and int(element.b["x"][1]) == 5
    assert int(next(iter(dataset.map(lambda e: e.a + e.b["x"][0])))) == 4


def test_deep_chains_are_refused():
    dataset = D.range(3)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        for _ in range(1100):
            dataset = dataset.take(2)
    assert len(list(dataset)) == 2


def test_predict_and_training_take_the_batches_of_a_dataset():
    x, y = np.random.RandomState(0).rand(64, 3).astype("float32"), np.arange(64) % 2
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    optimizer, loss = tf.keras.optimizers.SGD(0.1), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    dataset = D.from_tensor_slices((x, y)).batch(16)

    @tf.function
    def epoch():
        total = tf.constant(0.0)
        for images, labels in dataset:
            with tf.GradientTape() as tape:
                value = loss(labels, model(images))
            optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables))
            total += value
        return total
    model(x[:1])
    optimizer.build(model.trainable_variables)
    first = float(epoch())
    for _ in range(20):
        last = float(epoch())
    assert last < first
    np.testing.assert_allclose(model.predict(D.from_tensor_slices(x).batch(20), verbose=0), model.predict(x, verbose=0), rtol=1e-5)
