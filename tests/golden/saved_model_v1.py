"""Makes tests/golden/saved_model_v1/: SavedModels that TensorFlow 1's builder wrote, a MetaGraphDef with its checkpoint, and what they compute.

model.zip    variables that are references, a Switch, a batch normalization of the first form
tables.zip   tables of text files (assets) and of tensors, filled by the main operation; Examples parsed
meta.zip     a graph with an optimizer's step in a collection, saved by a Saver that is sharded

Run it with TensorFlow's Python: python tests/golden/saved_model_v1.py"""
import json
import os
import shutil
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_v2_behavior()
v1.disable_control_flow_v2()
v1.disable_resource_variables()
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saved_model_v1")
X = (np.arange(16, dtype="float32").reshape(1, 2, 2, 4) / 10).tolist()


WORDS = ["the", "quick", "brown", "fox"]


def pack(path, name):
    with zipfile.ZipFile(os.path.join(HERE, name + ".zip"), "w", zipfile.ZIP_LZMA) as archive:
        for folder, _, files in sorted(os.walk(path)):
            for file in sorted(files):
                archive.write(os.path.join(folder, file), os.path.relpath(os.path.join(folder, file), path))


def model(scratch):
    x, training = v1.placeholder(tf.float32, [None, 2, 2, 4], name="x"), v1.placeholder_with_default(False, [], name="training")
    w = v1.get_variable("w", initializer=np.arange(8, dtype="float32").reshape(1, 1, 4, 2) / 10)
    scale = v1.get_variable("scale", initializer=2.0, trainable=False)
    y = tf.nn.conv2d(x, w, 1, "SAME") * scale
    normal = tf.raw_ops.FusedBatchNorm(x=y, scale=[1.0, 2.0], offset=[0.5, 0.25], mean=[0.1, 0.2], variance=[1.0, 4.0], is_training=False)[0]
    z = v1.cond(training, lambda: y * 2, lambda: normal)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(v1.assign(scale, 3.0))
        path = os.path.join(scratch, "model")
        v1.saved_model.simple_save(session, path, {"x": x}, {"y": y, "z": z})
        values = dict(zip("yz", (v.tolist() for v in session.run([y, z], {x: X}))))
        values["gradient"] = session.run(tf.gradients(tf.reduce_sum(z), w)[0], {x: X}).tolist()
    pack(path, "model")
    return values


def tables(scratch):
    vocabulary, pairs = os.path.join(scratch, "words.txt"), os.path.join(scratch, "pairs.tsv")
    with open(vocabulary, "w") as file:
        file.write("\n".join(WORDS) + "\n")
    with open(pairs, "w") as file:
        file.write("3\tthree\t0.5\n1\tone\t1.5\n2\ttwo\t2.5\n")
    assets = [tf.constant(p) for p in (vocabulary, pairs)]
    for asset in assets:
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    number_of = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(assets[0], tf.string, whole, tf.int64, number), -1)
    word_of = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(assets[0], tf.int64, number, tf.string, whole), "?")
    name_of = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(assets[1], tf.int64, 0, tf.string, 1, delimiter="\t"), "none")
    size_of = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(assets[1], tf.string, 1, tf.float32, 2), -1.0)
    known = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 7], tf.int64), tf.constant([50, 70], tf.int64)), -1)
    with_others = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(assets[0], tf.string, whole, tf.int64, number), 3)
    examples = v1.placeholder(tf.string, [None], name="examples")
    parsed = tf.raw_ops.ParseExample(serialized=examples, names=tf.constant([], tf.string), sparse_keys=["numbers"], dense_keys=["word"], dense_defaults=[tf.constant("none")],
                                     sparse_types=[tf.int64], dense_shapes=[[]])
    word, numbers = parsed.dense_values[0], parsed.sparse_values[0]
    outputs = {"number": number_of.lookup(word), "other": with_others.lookup(word), "word": word_of.lookup(numbers), "name": name_of.lookup(numbers),
               "size": size_of.lookup(name_of.lookup(numbers)), "known": known.lookup(numbers), "count": number_of.size() + known.size()}
    with v1.Session() as session:
        session.run(v1.tables_initializer())
        path = os.path.join(scratch, "model")
        builder = v1.saved_model.Builder(path)
        signature = v1.saved_model.predict_signature_def({"examples": examples}, outputs)
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature}, assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
                                             main_op=v1.tables_initializer())
        builder.save()
        feed = [example(w, n).SerializeToString(deterministic=True) for w, n in (("fox", [0, 3]), ("dog", [1, 9]), ("the", [5, 7, 2]))]
        found = session.run(outputs, {examples: feed})
    pack(path, "tables")
    return {"examples": [f.hex() for f in feed], "outputs": {k: [x.decode() if isinstance(x, bytes) else x for x in v.ravel().tolist()] for k, v in found.items()}}


def example(word, numbers):
    feature = {"word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word.encode()])), "numbers": tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))}
    return tf.train.Example(features=tf.train.Features(feature=feature))


def meta(scratch):
    x, labels = v1.placeholder(tf.float32, [None, 3], name="x"), v1.placeholder(tf.float32, [None, 1], name="labels")
    step = v1.train.get_or_create_global_step()
    hidden = v1.layers.dense(x, 4, tf.nn.relu, name="hidden", kernel_initializer=v1.constant_initializer(0.1))
    y = tf.identity(v1.layers.dense(hidden, 1, name="out", kernel_initializer=v1.constant_initializer(0.3)), name="y")
    loss = tf.reduce_mean(tf.square(y - labels), name="loss")
    train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step, name="train")
    v1.add_to_collection("train_op", train)
    v1.add_to_collection("result", y)
    v1.add_to_collection("width", 4)
    feeds = {"x": [[0.5, 1.0, -0.5], [1.0, 2.0, 3.0]], "labels": [[1.0], [0.0]]}
    feed = {x: feeds["x"], labels: feeds["labels"]}
    saver = v1.train.Saver(sharded=True, max_to_keep=3)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(train, feed)
        os.makedirs(os.path.join(scratch, "model"))
        saver.save(session, os.path.join(scratch, "model", "ckpt"), global_step=step)
        first = session.run([loss, y], feed)
        session.run(train, feed)
        second = session.run([loss, y, step], feed)
    pack(os.path.join(scratch, "model"), "meta")
    return {**feeds, "first": [v.tolist() for v in first], "second": [v.tolist() for v in second], "variables": [v.name for v in v1.global_variables()],
            "trainable": [v.name for v in v1.trainable_variables()]}


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    os.makedirs(HERE)
    values = {"x": X}
    for function in (model, tables, meta):
        with tf.Graph().as_default(), tempfile.TemporaryDirectory() as scratch:
            found = function(scratch)
            values.update(found if function is model else {function.__name__: found})
    with open(os.path.join(HERE, "values.json"), "w") as file:
        json.dump(values, file)


main()
