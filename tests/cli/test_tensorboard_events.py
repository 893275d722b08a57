"""thalweg tensorboard: curves of very many points, damaged files, names and values of every kind."""
import os

import board
import pytest
import thalweg as tf

FILE = "events.out.tfevents.1"


@pytest.mark.parametrize("count", (1, 2, 4095, 4096, 4097, 8192, 100000))
def test_curves_are_equally_dense(count, tmp_path):
    board.write_events(str(tmp_path / FILE), [board.scalar_event(b"loss", float(i), i) for i in range(count)])
    with board.Board(tmp_path) as server:
        points = server.points("loss")
    steps = [p[1] for p in points]
    assert all(p[2] == p[1] for p in points) and len(set(steps)) == len(steps) == len(points) <= 4096
    assert steps[0] == 0 and steps[-1] == count - 1
    gaps = {b - a for a, b in zip(steps[:-1], steps[1:-1])}
    assert len(gaps) <= 1 and len(steps) >= min(count, 2048)
    for part in range(4):
        inside = [s for s in steps if part * count <= 4 * s < (part + 1) * count]
        assert count < 8 or abs(len(inside) - len(steps) / 4) <= 2


def test_other_kinds_are_equally_dense(tmp_path):
    board.write_events(str(tmp_path / FILE), [board.text_event(b"note", b"%d" % i, i) for i in range(1000)])
    with board.Board(tmp_path) as server:
        points = server.points("note", kind="text")
    steps = [p["step"] for p in points]
    assert steps[0] == 0 and steps[-1] == 999 and len({b - a for a, b in zip(steps[:-1], steps[1:-1])}) == 1
    assert all("<p>%d</p>" % p["step"] in p["text"] for p in points)


def test_the_last_point_is_kept_while_a_file_grows(tmp_path):
    path = str(tmp_path / FILE)
    with board.Board(tmp_path) as server, tf.io.TFRecordWriter(path) as writer:
        done = 0
        for count in (5, 4100, 9001):
            for i in range(done, count):
                writer.write(board.scalar_event(b"loss", float(i), i))
            writer.flush()
            done = count
            steps = [p[1] for p in server.points("loss")]
            assert steps[-1] == count - 1 and steps == sorted(set(steps))


def damaged(data, places):
    """(byte, what is done to it): every place of two records, and others."""
    for place in places:
        for bit in (0x01, 0x80):
            changed = bytearray(data)
            changed[place] ^= bit
            yield place, bytes(changed)


def test_damaged_records_are_passed_over_and_told(tmp_path):
    path = str(tmp_path / FILE)
    count = 20
    board.write_events(path, [board.scalar_event(b"loss", float(i), i) for i in range(count)])
    with open(path, "rb") as file:
        data = file.read()
    size = len(data) // count
    ends, at = [], 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at:at + 8], "little")
        ends.append(at)
    assert len(ends) == count and size
    with board.Board(tmp_path) as server:
        for number, (place, bytes_) in enumerate(damaged(data, range(ends[4], ends[6]))):
            folder = tmp_path / ("run%d" % number)
            folder.mkdir()
            (folder / FILE).write_bytes(bytes_)
            hit = next(i for i, end in enumerate(ends) if place < end)
            steps = [p[1] for p in server.points("loss", run="run%d" % number)]
            assert steps == [i for i in range(count) if i != hit], (place, steps)
            told = [d for d in server.json("/data/environment")["damaged"] if d["run"] == "run%d" % number]
            assert [(d["file"], d["places"]) for d in told] == [(FILE, 1)] and told[0]["bytes"] == ends[hit] - ends[hit - 1]
            (folder / FILE).unlink()
        assert [p[1] for p in server.points("loss")] == list(range(count))


def test_a_record_that_is_cut_off_is_waited_for(tmp_path):
    path = str(tmp_path / FILE)
    board.write_events(path, [board.scalar_event(b"loss", float(i), i) for i in range(3)])
    with open(path, "rb") as file:
        data = file.read()
    with board.Board(tmp_path) as server:
        for cut in range(0, len(data) + 1, 7):
            with open(path, "wb") as file:
                file.write(data[:cut])
            (tmp_path / ("at%d" % cut)).mkdir()
            with open(tmp_path / ("at%d" % cut) / FILE, "wb") as file:
                file.write(data[:cut])
            server.json("/data/runs")
            with open(tmp_path / ("at%d" % cut) / FILE, "ab") as file:
                file.write(data[cut:])
            assert [p[1] for p in server.points("loss", run="at%d" % cut)] == [0, 1, 2]
        assert server.json("/data/environment")["damaged"] == []


def test_a_file_of_other_things_is_told(tmp_path):
    (tmp_path / FILE).write_bytes(os.urandom(100000))
    board.write_events(str(tmp_path / "good" / FILE), [board.scalar_event(b"loss", 1.0, 1)])
    with board.Board(tmp_path) as server:
        assert len(server.points("loss", run="good")) == 1
        told = server.json("/data/environment")["damaged"]
        assert [(d["run"], d["places"]) for d in told] == [(".", 1)]
        server.json("/data/runs")
        assert server.json("/data/environment")["damaged"] == told  # counted once


NAMES = [b"plain", b"<script>alert(1)</script>", b"\"quoted\\", b"bad \xff\xfe utf", b"cut \xe2\x82", b"nul \0 inside", b"\xed\xa0\x80", "schön ✓".encode(),
         b"a/b/../..", b"new\nline\ttab", b"x" * 1000, b"__proto__", b"%2e%2e", b"&amp;", b"\xf4\x90\x80\x80", b"\xc0\xaf"]


def test_every_answer_is_valid_json(tmp_path):
    events = []
    for i, name in enumerate(NAMES):
        events += [board.scalar_event(name, v, s, t) for s, (v, t) in enumerate(
            [(float("nan"), 1.0), (float("inf"), float("nan")), (float("-inf"), float("inf")), (1.5, float("-inf")), (-0.0, 0.0)])]
        events += [board.text_event(b"text " + name, name, i, description=name)]
    events += [board.scalar_event(b"steps", 1.0, s) for s in (-1, 2**63 - 1, -2**63)]
    board.write_events(str(tmp_path / FILE), events)
    strange = os.path.join(os.fsencode(str(tmp_path)), b"run \xff<b>")
    os.mkdir(strange)
    os.link(str(tmp_path / FILE), os.path.join(strange, FILE.encode()))
    with board.Board(tmp_path) as server:
        runs = server.json("/data/runs")
        assert len(runs) == 2 and "run \\xff<b>" in runs
        for run in runs:
            tags = server.json("/data/plugin/scalars/tags")[run]
            assert len(tags) == len(NAMES) + 1
            for tag in tags:
                points = server.points(tag, run)
                if tag != "steps":
                    assert [p[2] for p in points] == ["NaN", "Infinity", "-Infinity", 1.5, 0], tag
                    assert [p[0] for p in points] == [1, "NaN", "Infinity", "-Infinity", 0]
            texts = server.json("/data/plugin/text/tags")[run]
            assert len(texts) == len(NAMES)
            for tag in texts:
                assert len(server.points(tag, run, "text")) == 1
        assert "bad \\xff\\xfe utf" in tags and "nul \\x00 inside" in tags
