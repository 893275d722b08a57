"""Checkpoints of iterators: what follows after a restore is what would have followed, for every step, at every place."""
import json
import os
import re
import subprocess
import sys

import iterator_pipelines as table
import numpy as np
import pytest
import thalweg as tf

R = tf.data.Dataset.range
KEY = "iterator/.ATTRIBUTES/ITERATOR_STATE"
steps_seen = set()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("files"))
    table.make_files(folder)
    return folder


def steps_of(path):
    state = tf.train.load_checkpoint(path).get_tensor(KEY)
    state = state if isinstance(state, bytes) else state.item()
    return {m.decode() for m in re.findall(rb"\x04step.([A-Za-z]+)", state, re.S)}


def cuts(count):
    """At the beginning, in the middle, behind the last element and behind the end. tests/long/test_iterator_places.py has all places."""
    return sorted({0, 1, count // 2, count, count + 1})


@pytest.mark.parametrize("twice", (False, True))
@pytest.mark.parametrize("name", table.PIPELINES)
def test_what_follows_is_the_same(name, twice, files, tmp_path):
    cut_and_compare(name, twice, files, tmp_path, cuts)


def cut_and_compare(name, twice, files, tmp_path, cuts):
    """Saves at each place and restores into an iterator over a new dataset; how many places there were."""
    def make():
        made = table.PIPELINES[name](files)
        return made.repeat(2) if twice else made
    count = len(table.rest(iter(make())))
    for cut in cuts(count):
        iterator = iter(make())
        for _ in range(cut):
            next(iterator, None)
        path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / ("at%d" % cut)))
        steps_seen.update(steps_of(path))
        expected = table.rest(iterator)
        assert len(expected) == max(count - cut, 0)
        other = iter(make())
        next(other)
        status = tf.train.Checkpoint(iterator=other).read(path)
        status.assert_consumed()
        assert table.rest(other) == expected, (name, cut)
    return len(cuts(count))


def test_every_step_was_tried():
    source = os.path.join(os.path.dirname(__file__), "..", "..", "src", "data")
    names = set()
    for folder, _, found in os.walk(source):
        for file in found:
            if file.endswith(".c"):
                with open(os.path.join(folder, file)) as text:
                    names.update(re.findall(r"(?:TW_DATASET_CLASS|[A-Z]+_KIND)\(\"(\w+)\"", text.read()))
    assert len(names) > 30
    if len(steps_seen) > 20:  # all pipelines ran
        assert names - steps_seen == {"GeneratorDataset", "SaveDataset"}


def test_in_another_process(files, tmp_path):
    expected, paths = {}, {}
    tf.random.set_seed(1)  # seeds of steps inside of functions follow from it
    for name, make in table.PIPELINES.items():
        iterator = iter(make(files))
        next(iterator)
        next(iterator, None)
        paths[name] = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / name))
        expected[name] = table.rest(iterator)
    program = """
import json, sys
sys.path.insert(0, %r)
import iterator_pipelines as table
import thalweg as tf
tf.random.set_seed(1)
out = {}
for name, path in json.loads(sys.argv[1]).items():
    iterator = iter(table.PIPELINES[name](%r))
    tf.train.Checkpoint(iterator=iterator).restore(path)
    out[name] = table.rest(iterator)
print(json.dumps(out))
""" % (os.path.dirname(__file__), files)
    done = subprocess.run([sys.executable, "-c", program, json.dumps(paths)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def test_the_guide(tmp_path):
    """tf.data's guide: a range, through a manager, saved and restored in a loop."""
    iterator = iter(R(20))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator), str(tmp_path), max_to_keep=3)
    assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
    path = manager.save()
    assert [int(next(iterator)) for _ in range(5)] == [5, 6, 7, 8, 9]
    tf.train.Checkpoint(step=tf.Variable(0), iterator=iterator).restore(path).assert_consumed()
    assert [int(next(iterator)) for _ in range(5)] == [5, 6, 7, 8, 9]
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    assert checkpoint.iterator is iterator
    assert dict(tf.train.list_variables(path))[KEY] == []


def test_the_iterator_may_come_later(tmp_path):
    iterator = iter(R(6).shuffle(4))
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    expected = table.rest(iterator)
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.iterator = iter(R(6).shuffle(4))
    assert table.rest(checkpoint.iterator) == expected


def test_a_cache_in_files(tmp_path):
    """Saved while the cache is written, after it, and restored before and after it is whole; no parts are left."""
    def make(name):
        return R(6).shuffle(6).cache(str(tmp_path / name)).repeat(2)
    for cut in range(13):
        name = "cache%d" % cut
        iterator = iter(make(name))
        path = None
        for i in range(cut):
            next(iterator, None)
            if i % 2 == 0:
                tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "before"))
        path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "state"))
        expected = None
        if cut >= 6:  # else the rest of the first pass, in an order by chance, is not there yet
            other = iter(make(name))
            tf.train.Checkpoint(iterator=other).restore(path)
            expected = table.rest(other)
        else:
            del iterator
            first, second = iter(make(name)), iter(make(name))
            tf.train.Checkpoint(iterator=first).restore(path)
            expected = table.rest(first)
            tf.train.Checkpoint(iterator=second).restore(path)
            assert table.rest(second) == expected
            whole = table.rest(iter(make(name)))
            assert whole[cut:] == expected
            continue
        assert table.rest(iterator) == expected
    assert not [n for n in os.listdir(tmp_path) if "part-" in n]


def test_a_part_of_a_cache_that_is_gone_is_told(tmp_path):
    def make():
        return R(6).cache(str(tmp_path / "cache"))
    iterator = iter(make())
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "state"))
    for name in os.listdir(tmp_path):
        if "part-" in name:
            os.remove(tmp_path / name)
    with pytest.raises(tf.errors.NotFoundError, match="cache.part-0.index is not there"):
        tf.train.Checkpoint(iterator=iter(make())).restore(path)


OTHERS = {
    "another_step": (lambda: R(9).shuffle(3), lambda: R(9).batch(3), "BatchDataset: .*another pipeline, which has a ShuffleDataset"),
    "another_source": (lambda: R(9), lambda: tf.data.Dataset.from_tensor_slices(np.arange(9)), "RangeDataset"),
    "another_range": (lambda: R(9), lambda: R(8), "its stop is 9, here it is 8"),
    "another_size": (lambda: R(9).batch(3), lambda: R(9).batch(4), "its batch_size is 3, here it is 4"),
    "another_buffer": (lambda: R(9).shuffle(3, 1), lambda: R(9).shuffle(4, 1), "its buffer_size is 3"),
    "more_steps": (lambda: R(9), lambda: R(9).map(lambda x: x), "MapDataset"),
    "fewer_steps": (lambda: R(9).map(lambda x: x), lambda: R(9), "MapDataset"),
    "other_components": (lambda: R(9).map(lambda x: (x, x)), lambda: R(9).map(lambda x: x), "its number of components is 2"),
    "fewer_datasets": (lambda: tf.data.Dataset.zip((R(9), R(9))), lambda: tf.data.Dataset.zip((R(9),)), "Zip"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_state_of_another_pipeline_is_refused(name, tmp_path):
    first, second, message = OTHERS[name]
    path = tf.train.Checkpoint(iterator=iter(first())).write(str(tmp_path / "c"))
    iterator = iter(second())
    before = table.plain(next(iterator))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.train.Checkpoint(iterator=iterator).restore(path)
    assert [before] + table.rest(iterator) == table.rest(iter(second()))  # and goes on where it was


def test_damaged_states_are_refused(tmp_path):
    def make():
        return R(9).shuffle(3).window(2).flat_map(lambda w: w).map(lambda x: x, num_parallel_calls=2)
    iterator = iter(make())
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    state = tf.train.load_checkpoint(path).get_tensor(KEY)
    state = state if isinstance(state, bytes) else state.item()

    class Holder(tf.Module):
        def __init__(self, value):
            self.iterator = tf.Variable(value)
    random, tried = np.random.RandomState(3), 0
    for n in range(120):
        bad = bytearray(state)
        if n % 3 == 0:
            bad = bad[:random.randint(len(bad))]
        else:
            bad[random.randint(len(bad))] ^= 1 << random.randint(8)
        written = tf.train.Checkpoint(iterator=Holder(bytes(bad)).iterator).write(str(tmp_path / "bad"))
        with open(written + ".index", "rb") as file:
            index = file.read()
        assert b"VARIABLE_VALUE" in index
        other = iter(make())
        try:
            tf.data._rows._Iterator._restore_state(other, tf.constant(bytes(bad)))
            for _, element in zip(range(40), other):
                pass
        except (tf.errors.OpError, ValueError):
            pass
        tried += 1
    assert tried == 120


def test_tensorflows_states_are_refused(tmp_path):
    """A state that TensorFlow wrote is a vector of variants."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="TensorFlow"):
        tf.data._rows._Iterator._restore_state(iter(R(3)), tf.constant(["a", "b"]))


def test_functions_that_depend_on_more_than_elements(tmp_path):
    def random(x):
        return x + tf.cast(tf.random.uniform([], 0, 9, tf.int32), tf.int64)
    variable = tf.Variable(3, dtype=tf.int64)
    refused = {
        "RandomUniformInt": R(9).map(random),
        "ReadVariableOp": R(9).map(lambda x: x + variable),
        "EagerPyFunc": R(9).map(lambda x: tf.py_function(lambda v: v, [x], tf.int64)),
        "PyFunc": tf.data.Dataset.from_generator(lambda: iter(range(5)), tf.int64),
    }
    for name, dataset in refused.items():
        iterator = iter(dataset)
        next(iterator)
        with pytest.raises(tf.errors.FailedPreconditionError, match="%s is stateful." % name):
            tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    program = """
import thalweg as tf
R = tf.data.Dataset.range
try:
    iter(R(9).flat_map(lambda x: R(x).shuffle(3)))._save_state()
except tf.errors.FailedPreconditionError as e:
    print(e)
"""  # without a seed the next dataset would be shuffled by chance
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert "ShuffleDatasetV3 is stateful." in done.stdout, done
    for dataset in (R(9).filter(lambda x: random(x) > 3), R(9).flat_map(lambda x: R(x).map(random)),
                    R(9).map(lambda x: tf.cond(x > 3, lambda: random(x), lambda: x))):
        with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniformInt is stateful."):
            tf.train.Checkpoint(iterator=iter(dataset)).write(str(tmp_path / "c"))
    policy = tf.data.experimental.ExternalStatePolicy
    for chosen in (policy.WARN, policy.IGNORE):
        options = tf.data.Options()
        options.experimental_external_state_policy = chosen
        iterator = iter(refused["EagerPyFunc"].with_options(options))
        next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
        expected = table.rest(iterator)
        tf.train.Checkpoint(iterator=iterator).restore(path)
        assert table.rest(iterator) == expected
        iterator = iter(refused["PyFunc"].with_options(options))
        next(iterator)
        with pytest.raises(tf.errors.UnimplementedError, match="GeneratorDataset does not support checkpointing."):
            tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))


def test_threads_go_on_after_a_save(tmp_path):
    iterator = iter(R(200).map(lambda x: x * 2, num_parallel_calls=2).prefetch(5))
    got = []
    for i in range(200):
        got.append(int(next(iterator)))
        if i % 10 == 0:
            tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "c"))
    assert got == list(range(0, 400, 2)) and next(iterator, None) is None


def test_threads_of_the_old_place_do_not_go_on(tmp_path):
    """Threads that are ahead of the iterator draw seeds of later passes; after a restore only those of the new place may."""
    def make():
        return R(6).shuffle(3).repeat(50).map(lambda x: x + 1, num_parallel_calls=2).prefetch(8)
    for i in range(20):
        iterator, other = iter(make()), iter(make())
        path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / str(i)))
        expected = table.rest(iterator)
        next(other)
        tf.train.Checkpoint(iterator=other).read(path).assert_consumed()
        assert table.rest(other) == expected


def test_damaged_streams_are_refused():
    """Each byte of the random streams in a state: how many of its words are used is among them."""
    def make():
        return R(9).shuffle(3, seed=2)
    iterator = iter(make())
    next(iterator)
    save, restore = tf.data._rows._Iterator._save_state, tf.data._rows._Iterator._restore_state
    state = save(iterator).numpy()
    refused = 0
    for at in range(len(state)):
        other = iter(make())
        try:
            restore(other, tf.constant(state[:at] + bytes([state[at] ^ 64]) + state[at + 1:]))
            for _ in zip(range(40), other):
                pass
        except (tf.errors.OpError, ValueError) as error:
            refused += "of 4 words are used" in str(error)
    assert refused >= 4
