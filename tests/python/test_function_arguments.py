"""Arguments of functions: datasets and iterators, told by what their elements are, not by identity; specs with names."""
import pytest
import thalweg as tf


def dataset(*numbers):
    return tf.data.Dataset.from_tensor_slices(tf.constant(numbers, tf.float32))


def test_datasets_of_the_same_elements_share_a_trace():
    traces = []

    @tf.function
    def total(data, start=0.):
        traces.append(1)
        s = tf.constant(start)
        for x in data:
            s += x
        return s
    assert float(total(dataset(1, 2, 3))) == 6
    assert float(total(dataset(10, 20))) == 30
    assert float(total(dataset(5.).repeat(4).map(lambda x: x + 1))) == 24
    assert len(traces) == 1
    assert total.experimental_get_tracing_count() == 1
    with pytest.raises(Exception):
        total(dataset(1, 2).batch(2))  # the sum's shape would change
    assert float(total(tf.data.Dataset.zip((dataset(1.), dataset(2.))).map(lambda a, b: a * b))) == 2
    assert len(traces) == 2


def test_elements_with_structure():
    @tf.function
    def count(data):
        n = 0
        for x in data:
            n += tf.cast(tf.reduce_sum(x["a"]) + x["b"], tf.int32)
        return n

    def made(n):
        return tf.data.Dataset.range(n).map(lambda i: {"a": tf.stack([i, i]), "b": i})
    assert int(count(made(3))) == 9
    assert int(count(made(5))) == 30
    assert count.experimental_get_tracing_count() == 1
    assert int(count(made(4).map(lambda x: {"a": x["a"][:1], "b": x["b"]}))) == 12
    assert count.experimental_get_tracing_count() == 2


def test_iterators():
    @tf.function
    def following(iterator):
        return next(iterator)
    one, two = iter(dataset(1, 2, 3)), iter(dataset(10, 20))
    assert [float(following(i)) for i in (one, two, one, two, one)] == [1, 10, 2, 20, 3]
    assert following.experimental_get_tracing_count() == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        following(two)


def test_loops_over_an_iterator():
    @tf.function
    def two(iterator):
        s = 0.
        for _ in tf.range(2):
            s += next(iterator)
        return s
    it = iter(dataset(1, 2, 3, 4))
    assert [float(two(it)), float(two(it))] == [3, 7]


def test_a_dataset_beside_other_arguments():
    @tf.function
    def scaled(parts, factor):
        return parts["data"].map(lambda x: x * factor).reduce(0., lambda a, b: a + b)
    assert float(scaled({"data": dataset(1, 2)}, tf.constant(2.))) == 6
    assert float(scaled({"data": dataset(3, 4)}, tf.constant(3.))) == 21
    assert scaled.experimental_get_tracing_count() == 1


def test_datasets_end_with_the_call():
    import gc
    import weakref

    @tf.function
    def total(data):
        return data.reduce(0., lambda a, b: a + b)
    made = dataset(1, 2)
    gone = weakref.ref(made)
    total(made)
    del made
    gc.collect()
    assert gone() is None


def test_names_of_specs():
    @tf.function
    def f(x, y=1.):
        return x + y
    f(tf.constant([1., 2.]))

    def names(*given):
        return [t.name for t in f.get_concrete_function(*given).inputs]
    assert names(tf.TensorSpec([2])) == ["x:0"] and f.experimental_get_tracing_count() == 1
    assert names(tf.TensorSpec([2], name="other")) == ["other:0"] and f.experimental_get_tracing_count() == 2
    assert names(tf.TensorSpec([2], name="other")) == ["other:0"] and f.experimental_get_tracing_count() == 2
    assert names(tf.TensorSpec([2], name="third")) == ["third:0"] and f.experimental_get_tracing_count() == 3
    assert names(tf.TensorSpec([2])) == ["x:0"] and f.experimental_get_tracing_count() == 3
    f(tf.constant([3., 4.]))
    assert f.experimental_get_tracing_count() == 3
