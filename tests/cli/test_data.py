"""thalweg data: input pipelines, tried out."""
import gzip
import json

import numpy as np
import pytest

import thalweg as tf
from test_command import thalweg


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    feature = lambda kind, values: tf.train.Feature(**{kind + "_list": {"float": tf.train.FloatList, "int64": tf.train.Int64List, "bytes": tf.train.BytesList}[kind](value=values)})
    with tf.io.TFRecordWriter(str(folder / "d.tfrecord")) as writer:
        for i in range(20):
            made = {"x": feature("float", [i, i / 2]), "y": feature("int64", [i]), "w": feature("bytes", [b"a"] * (1 + i % 3))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString())
    np.save(folder / "a.npy", np.arange(12, dtype=np.float32).reshape(6, 2))
    np.save(folder / "b.npy", np.arange(6))
    (folder / "t.csv").write_text("length,kind\n1.5,a\n2.5,b\n4,a\n")
    (folder / "t.txt").write_text("one\ntwo\nthr\x1bee\n")
    with gzip.open(folder / "z.txt.gz", "wt") as file:
        file.write("packed\n")
    tf.io.write_file(str(folder / "p.png"), tf.io.encode_png(tf.ones([2, 3, 1], tf.uint8)))
    tf.data.Dataset.from_tensor_slices(({"b": [[1.0, 2.0], [3.0, 4.0]], "a": [5, 6]}, ["x", "y"])).save(str(folder / "kept.d"))
    tf.data.Dataset.range(4).save(str(folder / "packed.d"), compression="GZIP")
    tf.data.Dataset.range(9).batch(2).save(str(folder / "shards.d"), shard_func=lambda x: x[0] % 4)
    return folder


def ask(files, *arguments):
    arguments = [str(files / a) if "." in a and ":" not in a and (files / a).exists() else a for a in arguments]
    code, out, err = thalweg("data", *arguments, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


@pytest.mark.parametrize("arguments,kind,spec,first", [
    (["kept.d"], "saved", [("0/a", "int32", []), ("0/b", "float32", [2]), ("1", "string", [])], {"0/a": 5, "0/b": [1, 2], "1": "x"}),
    (["packed.d", "--batch", "3"], "saved", [("0", "int64", [None])], {"0": [0, 1, 2]}),
    (["shards.d"], "saved", [("0", "int64", [None])], {"0": [0, 1]}),
    (["a.npy", "b.npy"], "NPY", [("0", "float32", [2]), ("1", "int64", [])], {"0": [0, 1], "1": 0}),
    (["a.npy", "--batch", "4"], "NPY", [("0", "float32", [None, 2])], {"0": [[0, 1], [2, 3], [4, 5], [6, 7]]}),
    (["t.csv"], "CSV", [("kind", "string", []), ("length", "float32", [])], {"kind": "a", "length": 1.5}),
    (["t.csv", "--batch", "2"], "CSV", [("kind", "string", [None]), ("length", "float32", [None])], {"kind": ["a", "b"], "length": [1.5, 2.5]}),
    (["t.txt", "--take", "1"], "text", [("0", "string", [])], {"0": "one"}),
    (["z.txt.gz"], "text", [("0", "string", [])], {"0": "packed"}),
    (["t.csv", "--kind", "TEXT"], "text", [("0", "string", [])], {"0": "length,kind"}),
    (["p.png"], "image", [("0", "uint8", [None, None, None])], {"0": [[[1], [1], [1]], [[1], [1], [1]]]}),
    (["d.tfrecord", "--parse", "x:float32[2],y:int64", "--batch", "2"], "TFRecord", [("x", "float32", [None, 2]), ("y", "int64", [None])],
     {"x": [[0, 0], [1, .5]], "y": [0, 1]}),
    (["d.tfrecord", "--parse", "auto", "--batch", "2"], "TFRecord", [("w", "string", [None, None]), ("x", "float32", [None, 2]), ("y", "int64", [None])],
     {"w": [["a", ""], ["a", "a"]], "x": [[0, 0], [1, .5]], "y": [0, 1]}),
])
def test_elements(files, arguments, kind, spec, first):
    found = ask(files, *arguments)
    assert found["kind"] == kind and [(s["name"], s["dtype"], s["shape"]) for s in found["spec"]] == spec
    assert found["elements"][0] == first


def test_shuffle_and_show(files):
    rows = ask(files, "d.tfrecord", "--parse", "y:int64", "--shuffle", "20", "--show", "100")["elements"]
    assert sorted(row["y"] for row in rows) == list(range(20))
    assert ask(files, "d.tfrecord", "--show", "0")["elements"] == []


def test_times(files):
    found = ask(files, "d.tfrecord", "--parse", "y:int64", "--batch", "5", "--time", "--seconds", "1")["steps"]
    assert [(step["step"], step["elements"]) for step in found] == [("read", 20), ("parse", 20), ("batch", 4)] and all(step["seconds"] > 0 for step in found)
    code, out, err = thalweg("data", str(files / "t.txt"), "--time")
    assert (code, err) == (0, "") and out.startswith("text, 1 file\n  0: string ()\nelement 0\n  0: tf.Tensor(b'one', shape=(), dtype=string)\n")
    assert "\x1b" not in out and "each step with those before it:\n  read                  3 elements" in out


@pytest.mark.parametrize("arguments,code,words", [
    (["t.txt", "--parse", "auto"], 2, "--parse is for records"),
    (["d.tfrecord", "--parse", "x"], 2, "is no list of features"),
    (["d.tfrecord", "--parse", "x:int8"], 2, "is no list of features"),
    (["d.tfrecord", "--parse", "z:int64"], 1, "z"),
    (["t.txt", "--kind", "tfrecord", "--parse", "auto"], 1, ""),
    (["/nope.csv"], 1, "nope"),
    (["t.txt", "--kind", "imgae"], 2, "did you mean 'image'?"),
    (["t.txt", "--batch", "0"], 2, "at least 1"),
    ([], 2, "FILE … is expected"),
])
def test_wrong_calls(files, arguments, code, words):
    arguments = [str(files / a) if (files / a).exists() else a for a in arguments]
    found, _, err = thalweg("data", *arguments)
    assert found == code and words in err, err
