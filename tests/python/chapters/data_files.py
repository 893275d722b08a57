"""Datasets in files: saved and loaded, of records, of patterns."""
import os

import tensorflow as tf
from said import elements, say

Dataset = tf.data.Dataset
count = Dataset.range
say("save", lambda: count(5).save("one"))
say("load", lambda: (elements(Dataset.load("one")), Dataset.load("one"), Dataset.load("one").cardinality()))
say("files", lambda: sorted(name for name in os.listdir("one") if not name.isdigit()))
nested = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": (["x", "y", "z"], [1., 2., 3.])})
say("save nested", lambda: nested.save("two", compression="GZIP"))
say("load nested", lambda: list(Dataset.load("two", compression="GZIP").as_numpy_iterator()))
say("spec", lambda: Dataset.load("two", compression="GZIP").element_spec)
say("given spec", lambda: elements(Dataset.load("one", tf.TensorSpec([], tf.int64))))
say("shards", lambda: count(6).save("three", shard_func=lambda n: n % 2))
say("shards read", lambda: sorted(elements(Dataset.load("three"))))
say("reader", lambda: elements(Dataset.load("three", reader_func=lambda shards: shards.flat_map(lambda shard: shard))))
say("nothing", lambda: Dataset.load("none"))
say("experimental", lambda: (tf.data.experimental.save(count(3), "four"), elements(tf.data.experimental.load("four"))))
say("vectors", lambda: (count(3).map(lambda n: tf.range(n)).save("five"), elements(Dataset.load("five")), Dataset.load("five").element_spec))

say("records", lambda: tf.data.experimental.TFRecordWriter("strings").write(Dataset.from_tensor_slices(["a", "b"])))
say("records read", lambda: elements(tf.data.TFRecordDataset("strings")))
say("no strings", lambda: tf.data.experimental.TFRecordWriter("numbers").write(count(2)))
with tf.io.TFRecordWriter("examples") as writer:
    for number in range(5):
        feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        writer.write(tf.train.Example(features=tf.train.Features(feature={"i": feature})).SerializeToString())
say("features", lambda: [batch["i"].tolist() for batch in tf.data.experimental.make_batched_features_dataset(
    "examples", 2, {"i": tf.io.FixedLenFeature([], tf.int64)}, num_epochs=1, shuffle=False).as_numpy_iterator()])

for name in ("p.txt", "q.txt"):
    tf.io.write_file("folder/" + name, name)
    tf.io.write_file(name, name)
say("patterns", lambda: (tf.io.matching_files("?.txt").numpy().tolist(), tf.io.matching_files("p.txt").numpy().tolist(),
                         tf.io.matching_files("folder/*").numpy().tolist(), sorted(tf.io.gfile.glob("*.txt")), sorted(tf.io.gfile.glob("f*/*.txt"))))
say("listed", lambda: elements(Dataset.list_files("*.txt", shuffle=False)))
