"""Dataset.rejection_resample.

Elements are taken partly as they come and partly from a dataset that leaves elements out by chance, class by class, so that as few as possible are
lost. How often classes come is given, or estimated in batches while elements pass."""
import numpy

import thalweg as tf

_ESTIMATION_BATCH, _SMOOTHING = 32, 10


def _classes(target):
    return target.shape[0] if target.shape.rank and target.shape[0] is not None else tf.shape(target)[0]


def _rates(initial, target):
    """The probability with which an element of each class is kept, and that of taking an element as it comes."""
    ratio = target / (initial + tf.constant(float(numpy.finfo(initial.dtype.as_numpy_dtype).tiny), initial.dtype))
    most, least = tf.reduce_max(ratio), tf.reduce_min(ratio)
    return (ratio - least) / (most - least), least


def _estimated(target, classes_dataset):
    count = _classes(target)

    def update(seen, numbers):
        seen = tf.add(seen, tf.reduce_sum(tf.one_hot(numbers, count, dtype=tf.int64), 0))
        share = tf.cast(tf.truediv(seen, tf.reduce_sum(seen)), tf.float32)
        return seen, tf.tile(tf.expand_dims(share, 0), [_ESTIMATION_BATCH, 1])
    return classes_dataset.batch(_ESTIMATION_BATCH).scan(tf.fill([count], numpy.int64(_SMOOTHING)), update).unbatch()


def resampled(dataset, class_func, target_dist, initial_dist, seed):
    target = tf.convert_to_tensor(target_dist, name="target_dist")
    classes = dataset.map(class_func)
    both = tf.data.Dataset.zip((classes, dataset))
    as_it_comes = None
    if initial_dist is not None:
        initial = tf.convert_to_tensor(initial_dist, name="initial_dist")
        kept, least = _rates(initial, target)
        initials = tf.data.Dataset.from_tensors(initial).repeat()
        keeps, shares = tf.data.Dataset.from_tensors(kept).repeat(), tf.data.Dataset.from_tensors(least).repeat()
        if tf.executing_eagerly():
            as_it_comes = float(numpy.min(target.numpy() / initial.numpy()))
    else:
        initials = _estimated(target, classes)
        keeps, shares = initials.map(lambda given: _rates(given, target)[0]), initials.map(lambda given: _rates(given, target)[1])
    if as_it_comes == 1:
        return both
    chances = tf.data.Dataset.zip((keeps, both)).map(lambda kept, pair: (tf.gather(kept, pair[0]), pair))
    filtered = chances.filter(lambda chance, _: tf.random.uniform([], seed=seed, dtype=chance.dtype) < chance).map(lambda _, pair: pair).prefetch(3)
    if as_it_comes == 0:
        return filtered
    return tf.data.Dataset.sample_from_datasets([both, filtered], weights=shares.map(lambda share: tf.stack([share, 1.0 - share])), seed=seed,
                                                stop_on_empty_dataset=True)
