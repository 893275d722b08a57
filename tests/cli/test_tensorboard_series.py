"""thalweg tensorboard: long curves are true to their data at every zoom, only what changed is sent, memory has a limit, files are followed as they grow."""
import time

import board
import numpy as np
import thalweg as tf

FILE = "events.out.tfevents.1"
HEAD, POINT, BUCKET = 5, 3, 10


def series(server, tag, runs="0", **query):
    """{run: (kind, rows, points in all)}"""
    code, _, body = server.ask("/data/plugin/scalars/series", tag=tag, runs=runs, **query)
    assert code == 200
    numbers, at, out = np.frombuffer(body, "<f8"), 0, {}
    while at < len(numbers):
        run, kind, rows, total, _ = numbers[at:at + HEAD]
        width = BUCKET if kind else POINT
        at += HEAD
        out[int(run)] = (int(kind), numbers[at:at + int(rows) * width].reshape(-1, width), int(total))
        at += int(rows) * width
    return out


def write_curve(path, values, tag=b"loss"):
    board.write_events(str(path), [board.scalar_event(tag, v, i, 1000.0 + i) for i, v in enumerate(values)])


def curve(count):
    values = np.sin(np.arange(count) / 1000).astype(np.float32)
    values[count // 3] = 50
    values[count // 2] = -70
    values[count // 5] = np.nan
    return values


def check_buckets(rows, values):
    at = 0
    for first, last, start, end, head, tail, low, high, mean, count in rows:
        part = values[at:at + int(count)].astype(float)
        finite = part[np.isfinite(part)]
        assert (first, last, start, end) == (at, at + count - 1, 1000.0 + at, 1000.0 + at + count - 1)
        np.testing.assert_array_equal([head, tail, low, high], [part[0], part[-1], finite.min(), finite.max()])
        np.testing.assert_allclose(mean, finite.mean(), rtol=1e-12)
        at += int(count)
    return at


def test_a_long_curve_is_exact(tmp_path):
    count = 60000
    values = curve(count)
    write_curve(tmp_path / FILE, values)
    with board.Board(tmp_path) as server:
        kind, rows, total = series(server, "loss")[0]
        assert kind == 1 and total == count and 2000 <= len(rows) <= 4000
        assert check_buckets(rows, values) == count
        assert rows[:, 7].max() == 50 and rows[:, 6].min() == -70  # a single point is seen
        kind, rows, _ = series(server, "loss", **{"from": 19950, "to": 20050})[0]  # closer: the points themselves
        assert kind == 0 and rows[0, 1] <= 19950 and rows[-1, 1] >= 20050
        np.testing.assert_array_equal(rows[:, 2], values[rows[:, 1].astype(int)])
        np.testing.assert_array_equal(np.diff(rows[:, 1]), 1)
        assert 50 in rows[:, 2]
        kind, rows, _ = series(server, "loss", **{"from": 25000, "to": 35000})[0]  # in between: smaller buckets
        assert kind == 1 and rows[:, 6].min() == -70 and rows[:, 9].max() < 8


def test_short_curves_are_sent_once(tmp_path):
    with board.Board(tmp_path) as server, tf.io.TFRecordWriter(str(tmp_path / FILE)) as writer:
        writer.write(board.scalar_event(b"a", 1.0, 0))
        writer.write(board.scalar_event(b"b", 1.0, 0))
        writer.flush()
        first = server.json("/data/changes")
        assert [(plugin, tag, points) for _, plugin, tag, _, points, *_ in first["tags"]] == [("scalars", "a", 1), ("scalars", "b", 1)]
        assert server.json("/data/changes", since=first["generation"])["tags"] == []
        writer.write(board.scalar_event(b"b", 2.0, 1))
        writer.flush()
        changed = server.json("/data/changes", since=first["generation"])
        assert [(tag, points) for _, _, tag, _, points, *_ in changed["tags"]] == [("b", 2)] and changed["generation"] > first["generation"]
        kind, rows, total = series(server, "b", "0:1")[0]  # one point is there already
        assert kind == 0 and total == 2 and rows[:, 1:].tolist() == [[1, 2]]


def test_the_end_of_a_file_is_seen_in_two_seconds(tmp_path):
    """With the usual interval of reading."""
    with board.Board(tmp_path, "--reload_interval=1") as server, tf.io.TFRecordWriter(str(tmp_path / FILE)) as writer:
        for step in range(3):
            writer.write(board.scalar_event(b"a", 1.0, step))
            writer.flush()
            end = time.time() + 2
            while sum(t[4] for t in server.json("/data/changes")["tags"]) != step + 1:
                assert time.time() < end + 1  # a second for a busy machine
                time.sleep(0.1)


def test_pictures_are_places_in_files(tmp_path):
    """Their bytes are not held."""
    with tf.io.TFRecordWriter(str(tmp_path / FILE)) as writer:
        for step in range(60):
            writer.write(board.text_event(b"large", b"%d " % step + b"x" * 2000000, step))
    with board.Board(tmp_path) as server:
        while server.json("/data/changes")["reading"]:
            time.sleep(0.1)
        with open("/proc/%d/status" % server.process.pid) as file:
            assert next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) < 100 * 1024
        assert len(server.json("/data/plugin/text/tags")["."]) == 1
