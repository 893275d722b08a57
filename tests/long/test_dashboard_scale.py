"""Promise: however much stands in event files, the dashboard reads it in bounded memory, and every curve stays exact."""
import os
import struct
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
import board  # noqa: E402
import thalweg as tf  # noqa: E402
from test_tensorboard_series import check_buckets, series  # noqa: E402

TAGS, STEPS, LIMIT = 400, 20000, 300 * 1024


def test_many_long_curves(tmp_path):
    """400 curves of 20,000 points: buckets become larger when memory is short."""
    parts = [board.field(1, board.field(1, b"tag %03d" % t) + board.varint(2 << 3 | 5) + struct.pack("<f", t)) for t in range(TAGS)]
    template = np.frombuffer(b"".join(parts), np.uint8).reshape(TAGS, -1).copy()
    with tf.io.TFRecordWriter(str(tmp_path / "events.out.tfevents.1")) as writer:
        for step in range(STEPS):
            template[:, -4:] = ((step * 7 + np.arange(TAGS)) % 1000).astype("<f4").view(np.uint8).reshape(TAGS, 4)
            writer.write(board.field(1, 1000.0 + step) + board.field(2, step) + board.field(5, template.tobytes()))
    with board.Board(tmp_path) as server:
        while server.json("/data/changes")["reading"]:
            time.sleep(0.2)
        for tag in range(0, TAGS, 13):
            _, rows, total = series(server, "tag %03d" % tag)[0]
            assert total == STEPS and len(rows) >= 500
            assert check_buckets(rows, (np.arange(STEPS) * 7 + tag) % 1000) == STEPS
        with open("/proc/%d/status" % server.process.pid) as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    assert most < LIMIT, most
    print("PROMISE: curves stay exact in bounded memory: %d tried" % len(range(0, TAGS, 13)))
