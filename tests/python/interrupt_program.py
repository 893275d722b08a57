"""python3 interrupt_program.py NAME: a call that takes long. Prints how long after Ctrl-C it ended and for how long another thread stood still."""
import os
import signal
import sys
import threading
import time

import numpy as np

import thalweg as tf

Dataset, keras = tf.data.Dataset, tf.keras


def model():
    made = keras.Sequential([keras.layers.Dense(64, activation="relu", input_shape=(64,)), keras.layers.Dense(1)])
    made.compile("adam", "mse")
    return made


def rows(count):
    return Dataset.from_tensors((np.zeros((32, 64), "f4"), np.zeros((32, 1), "f4"))).repeat(count)


def forever():
    while True:
        yield 1


def records():
    path = os.path.join(os.getcwd(), "records")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(1000):
            writer.write(b"x" * 100)
    return Dataset.from_tensors(path).repeat().flat_map(tf.data.TFRecordDataset)


def total(dataset):
    return dataset.reduce(np.int64(0), lambda a, b: a + 1)


def numbers(dtype, *shape):
    return tf.cast(np.random.default_rng(0).integers(-9, 9, shape), dtype)


def images(count, size=256, window=7):
    return tf.zeros([count, size, size, 64]), tf.zeros([window, window, 64, 64])


def gradients(given):
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = tf.nn.conv2d(*given, 1, "SAME")
    return tape.gradient(y, given)


CONV = {"strides": [1] * 4, "padding": "SAME"}
CASES = {
    # one kernel each, of many seconds
    "product": (lambda: numbers(tf.int64, 3500, 3500), lambda x: tf.matmul(x, x)),
    "product of floats": (lambda: numbers(tf.float32, 9000, 9000), lambda x: tf.matmul(x, x)),
    "product of doubles": (lambda: numbers(tf.float64, 6000, 6000), lambda x: tf.matmul(x, x)),
    "product of halves": (lambda: numbers(tf.float16, 7000, 7000), lambda x: tf.matmul(x, x)),
    "product in a function": (lambda: (tf.function(tf.matmul), numbers(tf.float32, 9000, 9000)), lambda a: a[0](a[1], a[1])),
    "sort": (lambda: tf.random.normal([12000000], dtype=tf.float64), tf.sort),
    "sort of floats": (lambda: tf.random.normal([60000000]), tf.sort),
    "argsort": (lambda: tf.random.normal([40000000]), tf.argsort),
    "svd": (lambda: tf.random.normal([700, 700]), tf.linalg.svd),
    "inv": (lambda: tf.random.normal([3500, 3500]), tf.linalg.inv),
    "solve": (lambda: tf.random.normal([3500, 3500]), lambda x: tf.linalg.solve(x, x)),
    "triangular solve": (lambda: tf.random.normal([4000, 4000]) + 99 * tf.eye(4000), lambda x: tf.linalg.triangular_solve(x, x)),
    "cholesky": (lambda: tf.eye(6000) * 9, tf.linalg.cholesky),
    "qr": (lambda: tf.random.normal([2500, 2500]), tf.linalg.qr),
    "eigh": (lambda: tf.random.normal([1800, 1800]), tf.linalg.eigh),
    "det": (lambda: tf.random.normal([4500, 4500]), tf.linalg.det),
    "convolution": (lambda: images(48), lambda a: tf.nn.conv2d(a[0], a[1], 1, "SAME")),
    "convolution of one image": (lambda: images(1, 1800, 5), lambda a: tf.nn.conv2d(a[0], a[1], 1, "SAME")),
    "convolution's gradients": (lambda: images(48), gradients),
    "input's gradient": (lambda: images(48), lambda a: tf.raw_ops.Conv2DBackpropInput(input_sizes=tf.shape(a[0]), filter=a[1], out_backprop=a[0], **CONV)),
    "filter's gradient": (lambda: images(48), lambda a: tf.raw_ops.Conv2DBackpropFilter(input=a[0], filter_sizes=tf.shape(a[1]), out_backprop=a[0], **CONV)),
    "convolution of doubles": (lambda: [tf.cast(x, tf.float64) for x in images(24)], lambda a: tf.nn.conv2d(a[0], a[1], 1, "SAME")),
    "convolution of volumes": (lambda: (tf.zeros([1, 96, 96, 96, 64]), tf.zeros([5, 5, 5, 64, 64])),
                               lambda a: tf.raw_ops.Conv3D(input=a[0], filter=a[1], strides=[1] * 5, padding="SAME")),
    "depthwise convolution": (lambda: (tf.zeros([16, 512, 512, 16], tf.float64), tf.zeros([9, 9, 16, 1], tf.float64)),
                              lambda a: tf.nn.depthwise_conv2d(*a, [1] * 4, "SAME")),
    "unique": (lambda: tf.random.uniform([60000000], maxval=2 ** 62, dtype=tf.int64), tf.unique),
    "unique texts": (lambda: tf.strings.as_string(tf.range(8000000)), tf.unique),
    "map_fn": (lambda: tf.zeros([2000000]), lambda x: tf.map_fn(lambda v: v + 1, x)),
    "scan": (lambda: tf.zeros([2000000]), lambda x: tf.scan(lambda a, v: a + v, x)),
    "foldl": (lambda: tf.zeros([2000000]), lambda x: tf.foldl(lambda a, v: a + v, x)),
    "eager operations": (lambda: tf.zeros([4]), lambda x: [x + 1 for _ in range(10 ** 7)]),
    "while_loop": (lambda: None, lambda _: tf.while_loop(lambda i: i < 10 ** 9, lambda i: [i + 1], [tf.constant(0)])),
    "while_loop in a function": (lambda: tf.function(lambda n: tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0)]), autograph=False),
                                 lambda f: f(tf.constant(2 * 10 ** 9))),
    "iteration": (lambda: Dataset.range(10 ** 12), lambda d: [None for _ in d]),
    "reduce": (lambda: Dataset.range(10 ** 12), total),
    "filter": (lambda: Dataset.range(10 ** 12).filter(lambda x: x < 0), lambda d: next(iter(d))),
    "skip": (lambda: Dataset.range(10 ** 12).skip(10 ** 11), lambda d: next(iter(d))),
    "shuffle": (lambda: Dataset.range(10 ** 12).shuffle(10 ** 8), lambda d: next(iter(d))),
    "batch": (lambda: Dataset.range(10 ** 12).batch(10 ** 8), lambda d: next(iter(d))),
    "generator": (lambda: Dataset.from_generator(forever, output_types=tf.int32), total),
    "parallel map": (lambda: Dataset.range(10 ** 12).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2), total),
    "records": (records, total),
    "fit": (model, lambda m: m.fit(rows(-1), steps_per_epoch=10 ** 9, verbose=0)),
    "fit of arrays": (model, lambda m: m.fit(np.zeros((4096, 64), "f4"), np.zeros((4096, 1), "f4"), epochs=10 ** 6, verbose=0)),
    "evaluate": (model, lambda m: m.evaluate(rows(-1), steps=10 ** 9, verbose=0)),
    "predict": (model, lambda m: m.predict(rows(-1), steps=10 ** 7, verbose=0)),
}


def main(name):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    make, call = CASES[name]
    given, ticks, sent = make(), [], []

    def tick():
        while True:
            ticks.append(time.monotonic())
            time.sleep(0.002)

    def interrupt():
        time.sleep(0.7)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    for work in (tick, interrupt):
        threading.Thread(target=work, daemon=True).start()
    start = time.monotonic()
    try:
        call(given)
    except KeyboardInterrupt:
        end = time.monotonic()
        during = [start] + [t for t in ticks if start < t < end] + [end]
        assert float(tf.reduce_sum(tf.ones([10]))) == 10.0  # everything goes on
        print("%.2f %.2f" % (end - sent[0], max(b - a for a, b in zip(during, during[1:]))), flush=True)
        os._exit(0)
    sys.exit("%s ended by itself" % name)


if __name__ == "__main__":
    main(sys.argv[1])
