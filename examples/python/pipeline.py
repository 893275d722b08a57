"""Datasets: pictures in files that are decoded and batched, a generator, records of Examples, lines of CSV.

    python3 -m thalweg pipeline.py DIRECTORY"""
import os
import sys

import tensorflow as tf

directory = sys.argv[1]


def write_pictures():
    for i in range(6):
        picture = tf.fill([4, 4, 3], tf.cast(i * 40, tf.uint8))
        tf.io.write_file(os.path.join(directory, "picture%d.png" % i), tf.io.encode_png(picture))


def load(path):
    picture = tf.io.decode_png(tf.io.read_file(path), channels=3)
    small = tf.image.resize(tf.cast(picture, tf.float32) / 255.0, [2, 2])
    number = tf.strings.to_number(tf.strings.regex_replace(path, ".*picture([0-9]).png", "\\1"), tf.int32)
    return small, number


def squares():
    for i in range(5):
        yield i, i * i


def example(name, values):
    return tf.train.Example(features=tf.train.Features(feature={
        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name.encode()])),
        "values": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
    }))


def parse(record):
    features = tf.io.parse_single_example(record, {
        "name": tf.io.FixedLenFeature([], tf.string),
        "values": tf.io.FixedLenFeature([2], tf.float32),
    })
    return features["name"], features["values"]


write_pictures()
files = tf.data.Dataset.list_files(os.path.join(directory, "*.png"), shuffle=False)
for pictures, numbers in files.map(load, num_parallel_calls=2).batch(4).prefetch(1):
    print("batch of %d, mean %.3f, numbers %s" % (pictures.shape[0], tf.reduce_mean(pictures), numbers.numpy()))

pairs = tf.data.Dataset.from_generator(squares, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)))
for number, square in pairs.skip(2):
    print("%d squared is %d" % (number, square))

records = os.path.join(directory, "data.tfrecord")
with tf.io.TFRecordWriter(records) as writer:
    writer.write(example("first", [1.0, 2.0]).SerializeToString())
    writer.write(example("second", [3.0, 4.0]).SerializeToString())
for name, values in tf.data.TFRecordDataset(records).map(parse):
    print("%s: %s" % (name.numpy().decode(), values.numpy()))

table = os.path.join(directory, "data.csv")
tf.io.write_file(table, "length,kind\n1.5,a\n2.5,b\n4.0,a\n")
total = tf.constant(0.0)
for length, kind in tf.data.experimental.CsvDataset(table, [tf.float32, tf.string], header=True):
    total += length
    print("%.1f of kind %s" % (length, kind.numpy().decode()))
print("total %.1f" % total)
