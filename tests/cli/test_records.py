"""thalweg records and thalweg events: what they print, and what they say of damaged files."""
import csv
import io
import json

import numpy as np
import pytest

import thalweg as tf
from test_command import thalweg


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Files of five Examples: plain, gzip, zlib."""
    folder = tmp_path_factory.mktemp("records")
    paths = {}
    for kind in ("", "GZIP", "ZLIB"):
        path = paths[kind] = str(folder / ("r" + kind))
        with tf.io.TFRecordWriter(path, kind) as writer:
            for i in range(5):
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))})).SerializeToString())
    return paths


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_reading(records, kind):
    path = records[kind]
    assert thalweg("records", "count", path) == (0, "5  %s\n" % path, "")
    assert thalweg("records", "count", path, path)[1].endswith("10  in all\n")
    assert thalweg("records", "verify", path) == (0, "%s: good, 5 records\n" % path, "")
    code, out, err = thalweg("records", "head", path, "-n", "2")
    assert (code, err) == (0, "") and out.count("# record") == 2 and "value: 1\n" in out
    code, out, err = thalweg("records", "cat", path, "--json")
    assert [json.loads(line)["record"] for line in out.splitlines()] == [0, 1, 2, 3, 4]
    places = [json.loads(line)["offset"] for line in thalweg("records", "ls", path, "--json")[1].splitlines()]
    assert places == ([-1] * 5 if kind else [i * places[1] for i in range(5)])


def test_raw_and_other_messages(records, tmp_path):
    path = str(tmp_path / "bytes")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"\xff\xff no message")
        writer.write(b"")
    assert thalweg("records", "head", path)[1].splitlines()[0] == "# record 0, 13 bytes: no Example"
    assert thalweg("records", "cat", path, "--type", "Nonsense")[0] == 1
    code, out, err = thalweg("records", "cat", records[""], "--raw", errors="replace")
    assert code == 0 and "n" in out


def test_index_and_convert(records, tmp_path):
    lines = [line.split() for line in thalweg("records", "index", records[""])[1].splitlines()]
    with open(records[""], "rb") as f:
        data = f.read()
    assert [int(a) for a, _ in lines] == [i * int(lines[0][1]) for i in range(5)] and int(lines[4][0]) + int(lines[4][1]) == len(data)
    assert thalweg("records", "index", records[""], str(tmp_path / "index"))[0] == 0
    assert (tmp_path / "index").read_text() == thalweg("records", "index", records[""])[1]
    assert thalweg("records", "index", records["GZIP"], str(tmp_path / "none"))[0] == 1 and not (tmp_path / "none").exists()
    for kind in ("gzip", "zlib", "none"):
        out = str(tmp_path / kind)
        assert thalweg("records", "convert", records[""], out, "--compression", kind) == (0, "", "")
        compression = "" if kind == "none" else kind.upper()
        assert [bytes(r.numpy()) for r in tf.data.TFRecordDataset(out, compression)] == [bytes(r.numpy()) for r in tf.data.TFRecordDataset(records[""])]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gzip", "index", "none", "zlib"]


def test_damage(records, tmp_path):
    with open(records[""], "rb") as f:
        data = bytearray(f.read())
    size = len(data) // 5
    data[size + 14] ^= 1
    path = tmp_path / "damaged"
    path.write_bytes(data)
    code, out, err = thalweg("records", "verify", str(path), "--json")
    found = json.loads(out)
    assert code == 1 and (found["records"], found["damages"]) == (4, 1) and found["skipped_bytes"] > 0
    code, out, err = thalweg("records", "count", str(path))
    assert code == 1 and out == "" and "DATA_LOSS" in err
    assert thalweg("records", "convert", str(path), str(tmp_path / "out"))[0] == 1 and not (tmp_path / "out").exists()
    for cut in range(1, len(data), 7):  # no file harms it
        path.write_bytes(bytes(data[:cut]))
        assert thalweg("records", "verify", str(path))[0] in (0, 1)
    assert thalweg("records", "count", "/nope")[0] == 1


# ---- events ----

@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for run in ("train", "test, \"2\""):
        with tf.summary.create_file_writer(str(folder / run)).as_default():
            for step in range(3):
                tf.summary.scalar("loss", 1 / (step + 1), step=step)
            tf.summary.histogram("weights", [1., 2.], step=2)
    return str(folder)


def test_events_ls(logs):
    found = [json.loads(line) for line in thalweg("events", "ls", logs, "--json")[1].splitlines()]
    assert [(f["run"], f["tag"], f["plugin"], f["count"], f["first_step"], f["last_step"]) for f in found] == [
        (run, tag, plugin, count, first, 2) for run in ("test, \"2\"", "train") for tag, plugin, count, first in
        (("loss", "scalars", 3, 0), ("weights", "histograms", 1, 2))]
    assert "loss" in thalweg("events", "ls", logs + "/train")[1]


def test_events_export(logs):
    code, out, err = thalweg("events", "export", logs)
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(r["run"], r["tag"], int(r["step"])) for r in rows] == [(run, "loss", step) for run in ("test, \"2\"", "train") for step in range(3)]
    assert np.allclose([float(r["value"]) for r in rows[:3]], [1, 1 / 2, 1 / 3])
    lines = [json.loads(line) for line in thalweg("events", "export", logs, "--json", "--tag", "loss")[1].splitlines()]
    assert [line["value"] for line in lines[:3]] == pytest.approx([1, 1 / 2, 1 / 3])
    assert thalweg("events", "export", logs, "--tag", "none")[1] == "run,tag,step,wall_time,value\n"


def test_events_cat_and_verify(logs, tmp_path):
    lines = thalweg("events", "cat", logs + "/train")[1].splitlines()
    assert [line.split("\t")[3] for line in lines] == ["loss", "loss", "loss", "weights"]
    assert thalweg("events", "verify", logs)[0] == 0
    import glob
    with open(glob.glob(logs + "/train/*")[0], "rb") as f:
        data = bytearray(f.read())
    data[len(data) // 2] ^= 1
    (tmp_path / "events.out.tfevents.1").write_bytes(data)
    code, out, err = thalweg("events", "verify", str(tmp_path), "--json")
    assert code == 1 and json.loads(out)["damages"] == 1
    code, out, err = thalweg("events", "ls", str(tmp_path))
    assert code == 0 and "damaged places were passed over" in err
    assert thalweg("events", "ls", "/nope")[0] == 1
    (tmp_path / "empty").mkdir()
    assert "there are no event files" in thalweg("events", "ls", str(tmp_path / "empty"))[2]
