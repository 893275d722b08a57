"""Promise: whatever is sent to the dashboard or stands in event files, it goes on answering others in time, in bounded memory. That nothing of it runs in
a browser is tests/browser's."""
import os
import random
import socket
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
import board  # noqa: E402

FILE = "events.out.tfevents.1"
HOSTILE = [b"<script>window.hacked=1</script>", b"<img src=x onerror='window.hacked=2'>", b"'\"><svg onload=window.hacked=3>", b"javascript:window.hacked=4",
           b"</title></script><script>window.hacked=5</script>", b"{{constructor.constructor('window.hacked=6')()}}", b"__proto__", b"constructor",
           b"\" onmouseover=\"window.hacked=7", b"<iframe srcdoc='<script>parent.hacked=8</script>'>", b"${window.hacked=9}", b"\xff\xfe<b>"]


def memory(process):
    with open("/proc/%d/status" % process.pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) // 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    events = [board.text_event(b"large", b"x" * 3000000, 1)]
    for i, name in enumerate(HOSTILE):
        events += [board.scalar_event(name, float(s), s) for s in range(3)] + [board.text_event(b"t" + name, name, i, description=name)]
    board.write_events(str(folder / "run" / FILE), events)
    board.write_events(str(folder / "run" / "one" / FILE), [board.scalar_event(b"loss", 1.0, 1)])
    for i, name in enumerate(HOSTILE):
        place = os.path.join(os.fsencode(str(folder)), b"run%d " % i + name.replace(b"/", b"|"))
        os.makedirs(place)
        os.link(str(folder / "run" / "one" / FILE), os.path.join(place, FILE.encode()))
    with board.Board(folder) as made:
        yield made


def answers_in(server, limit):
    start = time.time()
    assert "run" in server.json("/data/runs")
    took = time.time() - start
    assert took < limit, took


def test_a_thousand_connections(server):
    held, tried = [], 0
    server.json("/data/runs")  # once the files are read
    try:
        for i in range(1000):
            made = server.connect()
            if i % 3 == 1:
                made.sendall(b"GET / HT")
            elif i % 3 == 2:
                made.sendall(b"GET /data/plugin/text/text?run=run&tag=large HTTP/1.1\r\nHost: localhost\r\n\r\n")
            held.append(made)
            tried += 1
            if i % 100 == 0:
                answers_in(server, 5)
        answers_in(server, 5)
        assert memory(server.process) < 1200
    finally:
        for made in held:
            made.close()
    time.sleep(1)
    answers_in(server, 5)
    print("PROMISE: idle and slow connections delay nobody: %d tried" % tried)


def test_random_bytes(server):
    chance, tried = random.Random(7), 0
    good = b"GET /data/plugin/scalars/scalars?run=run&tag=loss HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
    for n in range(2000):
        data = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            kind, place = chance.randint(0, 2), chance.randrange(len(data)) if data else 0
            if kind == 0 and data:
                data[place] = chance.randrange(256)
            elif kind == 1:
                data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 40)))
            else:
                del data[place:place + chance.randint(1, 30)]
        try:
            with server.connect() as connection:
                connection.sendall(bytes(data))
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(20)
                answer = b""
                while len(answer) < 100000:
                    part = connection.recv(65536)
                    if not part:
                        break
                    answer += part
                assert not answer or answer.startswith(b"HTTP/1.1 ")
        except ConnectionError:
            pass
        tried += 1
    assert server.process.poll() is None
    answers_in(server, 5)
    print("PROMISE: no bytes end the dashboard: %d tried" % tried)
