"""Promise: random chains of dataset steps whose functions fail at random elements, with ignore_errors, threads, early ends and iterators that are left
behind: the elements equal those of a plain Python model, and nothing hangs, crashes or stays behind."""
import faulthandler
import gc
import os
import random
import threading
import time

import thalweg as tf

CHAINS = int(os.environ.get("RANDOM_PIPELINES", "10000"))
D = tf.data.Dataset


class Failure(Exception):
    """An element that could not be made, in the model."""


def checked(x, bad):
    tf.debugging.Assert(tf.not_equal(x % 7, bad), ["bad"])
    return x


# A model is a function that gives an iterator of values, of which some are Failure objects: an error at that place, behind which it goes on.

def model_map(source, function, bad):
    for value in source:
        yield value if isinstance(value, Failure) else Failure() if bad is not None and value % 7 == bad else function(value)


def model_filter(source, keep):
    for value in source:
        if isinstance(value, Failure) or keep(value):
            yield value


def model_take(source, count):
    """An error does not count."""
    given = 0
    while given < count:
        try:
            value = next(source)
        except StopIteration:
            return
        given += not isinstance(value, Failure)
        yield value


def model_flat(source, inner):
    for value in source:
        if isinstance(value, Failure):
            yield value
        else:
            yield from inner(value)


def model_interleave(source, inner, cycle, block):
    turns, at, ended = [None] * cycle, 0, False
    while not ended or any(t is not None for t in turns):
        if turns[at] is None and not ended:
            try:
                value = next(source)
            except StopIteration:
                ended = True
                continue
            if isinstance(value, Failure):
                yield value
                continue
            turns[at] = inner(value)
        if turns[at] is not None:
            for _ in range(block):
                try:
                    yield next(turns[at])
                except StopIteration:
                    turns[at] = None
                    break
        at = (at + 1) % cycle


chain = []  # the steps of the pipeline that is tried, for messages


def random_step(chance, dataset, model):
    """(dataset, model) with one step more; the model is a function that makes an iterator."""
    kind = chance.choice(("map", "map", "parallel", "parallel", "filter", "take", "prefetch", "ignore", "ignore", "repeat", "flat", "interleave",
                          "interleave_parallel", "concatenate", "options", "skip"))
    chain.append(kind)
    if kind in ("map", "parallel"):
        bad, factor = chance.choice((None, 0, 1, 3, 5)), chance.choice((1, 2, 3))
        calls = {"num_parallel_calls": chance.choice((1, 2, 4, tf.data.AUTOTUNE))} if kind == "parallel" else {}

        def function(x):
            return (checked(x, bad) if bad is not None else x) * factor
        return dataset.map(function, **calls), lambda: model_map(model(), lambda v: v * factor, bad)
    if kind == "filter":
        rest = chance.choice((2, 3, 4))
        return dataset.filter(lambda x: x % rest != 1), lambda: model_filter(model(), lambda v: v % rest != 1)
    if kind == "take":
        count = chance.randint(0, 30)
        return dataset.take(count), lambda: model_take(model(), count)
    if kind == "prefetch":
        return dataset.prefetch(chance.choice((0, 1, 3, tf.data.AUTOTUNE))), model
    if kind == "ignore":
        return dataset.ignore_errors(), lambda: (v for v in model() if not isinstance(v, Failure))
    if kind == "repeat":
        count = chance.choice((1, 2, 3))
        return dataset.repeat(count), lambda: (v for _ in range(count) for v in model())
    if kind == "flat":
        count = chance.choice((0, 1, 3))
        return dataset.flat_map(lambda x: D.range(count).map(lambda y: x + y)), lambda: model_flat(model(), lambda v: (v + y for y in range(count)))
    if kind.startswith("interleave"):
        cycle, block, count = chance.choice((1, 2, 3)), chance.choice((1, 2)), chance.choice((1, 2, 4))
        calls = {"num_parallel_calls": chance.choice((1, tf.data.AUTOTUNE))} if kind.endswith("parallel") else {}
        made = dataset.interleave(lambda x: D.range(count).map(lambda y: x * 2 + y), cycle_length=cycle, block_length=block, **calls)
        return made, lambda: model_interleave(model(), lambda v: iter([v * 2 + y for y in range(count)]), cycle, block)
    if kind == "concatenate":
        start = chance.randint(0, 20)
        return dataset.concatenate(D.range(start, start + 3)), lambda: (v for part in (model(), iter(range(start, start + 3))) for v in part)
    if kind == "options":
        return dataset.with_options(tf.data.Options()), model
    return dataset.skip(0), model


def taken(iterator, limit):
    """Up to `limit` results; errors stand as Failure objects."""
    out = []
    while len(out) < limit:
        try:
            out.append(int(next(iterator)))
        except StopIteration:
            return out, True
        except tf.errors.InvalidArgumentError:
            out.append(None)
    return out, False


def plain(values, limit):
    out = []
    for value in values:
        if len(out) == limit:
            return out, False
        out.append(None if isinstance(value, Failure) else value)
    return out, len(out) < limit


def test_random_pipelines():
    faulthandler.dump_traceback_later(1800, exit=True)
    seed = int(os.environ.get("RANDOM_SEED", "1"))
    memory = []
    for number in range(CHAINS):
        chance = random.Random(seed * 1000003 + number)
        start, count = chance.randint(0, 5), chance.randint(0, 25)
        dataset, model = D.range(start, start + count), (lambda a=start, b=start + count: iter(range(a, b)))
        for _ in range(chance.randint(1, 6)):
            dataset, model = random_step(chance, dataset, model)
        limit = chance.choice((1, 5, 40, 300, 300))
        shown = " ".join(chain)
        chain.clear()
        began = time.time()
        iterator = iter(dataset)
        got = taken(iterator, limit)
        expected = plain(model(), limit)
        assert got[0] == expected[0], (seed, number, shown, got[0], expected[0])
        if chance.random() < 0.3:
            other = iter(dataset)
            next(other, None) if chance.random() < 0.5 and None not in expected[0][:1] else None
            del other
        del iterator
        assert time.time() - began < 60, (seed, number)
        del dataset
        if number % 50 == 49:
            gc.collect()
            with open("/proc/self/status") as file:
                memory.append(next(int(line.split()[1]) for line in file if line.startswith("VmRSS")))
    end = time.time() + 20
    while time.time() < end and len(os.listdir("/proc/self/task")) > threading.active_count() + 2 * (os.cpu_count() or 1) + 2:
        time.sleep(0.1)
    assert len(os.listdir("/proc/self/task")) <= threading.active_count() + 2 * (os.cpu_count() or 1) + 2, "threads of datasets stay behind"
    if len(memory) > 4:
        assert memory[-1] < memory[len(memory) // 2] * 1.3 + 20000, memory
    faulthandler.cancel_dump_traceback_later()
    print("PROMISE: random pipelines with faults equal a plain model: %d tried" % CHAINS)
