"""thalweg tensorboard: who may ask, what a page may do, and that nobody can keep others waiting."""
import os
import socket
import time

import board
import pytest

FILE = "events.out.tfevents.1"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    board.write_events(str(folder / "run" / FILE), [board.scalar_event(b"loss", 1.0, 1), board.text_event(b"note", b"x" * 100000, 1)])
    with board.Board(folder) as made:
        yield made


HOSTS = {"localhost": 200, "localhost:1": 200, "LOCALHOST": 200, "127.0.0.1": 200, "127.0.0.1:6006": 200, "[::1]": 200, "[::1]:80": 200, "127.9.9.9": 200,
         "evil.example": 403, "evil.example:6006": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "127.evil": 403, "": 403,
         "localhost@evil.example": 403, "localhost:80evil": 403, "10.1.2.3": 403, "[::1": 403, "[::1]x": 403, "0.0.0.0": 403, "localhost/": 403,
         "[fe80::1]": 403, "localhost localhost": 403, "x" * 300: 403}


@pytest.mark.parametrize("host", HOSTS)
def test_hosts(server, host):
    answer = server.raw(b"GET /data/runs HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode())
    assert int(answer.split()[1]) == HOSTS[host]
    assert (b'"run"' in answer) == (HOSTS[host] == 200)


REQUESTS = {b"GET /data/runs HTTP/1.1\r\n\r\n": 400, b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n": 400,
            b"GET /data/runs HTTP/1.1\r\nhOsT:localhost  \r\n\r\n": 200, b"GET http://evil.example/data/runs HTTP/1.1\r\nHost: localhost\r\n\r\n": 400,
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc": 405, b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n": 405,
            b"GET / HTTP/2\r\nHost: localhost\r\n\r\n": 400, b"GET /\r\nHost: localhost\r\n\r\n": 400, b"\r\n\r\n": 400, b"\n\n": 400,
            b"GET /../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n": 404, b"GET /data/plugin/a/b HTTP/1.1\r\nHost: localhost\r\n\r\n": 404,
            b"GET / HTTP/1.1\nHost: localhost\n\n": 200, b"GET /data/plugin/profile/data?run=../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n": 404,
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n": 431, b"GET /" + b"a" * 20000: 431}


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda r: repr(r[:40]))
def test_requests(server, request_):
    answer = server.raw(request_)
    assert int(answer.split()[1]) == REQUESTS[request_]
    assert b"root:" not in answer


def test_headers(server):
    for path, code in (("/", 200), ("/js/main.js", 200), ("/board.css", 200), ("/data/runs", 200), ("/nothing", 404)):
        got, headers, _ = server.ask(path)
        assert got == code
        policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
        assert policy.pop("default-src") == policy.pop("base-uri") == policy.pop("form-action") == policy.pop("frame-ancestors") == "'none'"
        assert set(policy.values()) == {"'self'"}
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin" and "Access-Control-Allow-Origin" not in headers
    page = server.ask("/")[2]
    assert b"<script>" not in page and b"<style" not in page and b" style=" not in page and b" onclick" not in page


def test_a_head_has_no_body(server):
    answer = server.raw(b"HEAD /js/main.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n") and b"Content-Length: 0" not in answer


def quickly(server):
    start = time.time()
    assert server.json("/data/runs") == ["run"]
    return time.time() - start


def test_idle_and_slow_connections_delay_nobody(server):
    """Connections that say nothing, half a request, a byte now and then, and ones that never take their answer."""
    held = []
    try:
        for i in range(200):
            made = server.connect()
            if i % 4 == 1:
                made.sendall(b"GET / HTTP/1.1\r\nHost: local")
            elif i % 4 == 2:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                made.sendall(b"GET /data/plugin/text/text?run=run&tag=note HTTP/1.1\r\nHost: localhost\r\n\r\n")
            held.append(made)
        for _ in range(5):
            assert quickly(server) < 5
            for made in held[3::4]:
                made.sendall(b"G")
    finally:
        for made in held:
            made.close()


def test_other_names_by_option(tmp_path):
    with board.Board(tmp_path, "--allow_host=proxy.example") as server:
        assert server.ask("/", "proxy.example")[0] == 200 and server.ask("/", "other.example")[0] == 403
    with board.Board(tmp_path, "--bind_all") as server:
        assert server.ask("/", "10.1.2.3:6006")[0] == 200 and server.ask("/", "evil.example")[0] == 403 and server.ask("/", "1.2.3")[0] == 403


def test_symbolic_links_do_not_lead_out(tmp_path):
    logs, outside = tmp_path / "logs", tmp_path / "outside"
    logs.mkdir()
    events = [board.scalar_event(b"loss", 1.0, 1)]
    board.write_events(str(outside / FILE), events)
    board.write_events(str(tmp_path / "logs-other" / FILE), events)
    board.write_events(str(logs / "own" / FILE), events)
    (outside / "secret.trace").write_bytes(b"secret")
    os.symlink(outside, logs / "folder")
    os.symlink(tmp_path / "logs-other", logs / "sibling")
    os.symlink(logs / "own", logs / "inner")
    (logs / "file").mkdir()
    os.symlink(outside / FILE, logs / "file" / FILE)
    os.symlink(outside / "secret.trace", logs / "x.trace")
    os.symlink(logs, logs / "loop")
    os.mkfifo(logs / "own" / "events.out.tfevents.pipe")
    with board.Board(logs) as server:
        runs = server.json("/data/runs")
        assert {r for r in runs if not r.startswith("loop")} == {"own", "inner"} and server.json("/data/plugin/profile/runs") == []
    with board.Board(logs, "--follow_symlinks") as server:
        assert {"own", "inner", "folder", "sibling", "file"} <= set(server.json("/data/runs"))
    os.symlink(logs, tmp_path / "linked")  # the directory itself may be a link
    with board.Board(tmp_path / "linked") as server:
        assert "own" in server.json("/data/runs")


def test_a_link_that_comes_later(tmp_path):
    """A file that was noted and is replaced by a link."""
    logs, outside = tmp_path / "logs", tmp_path / "outside"
    board.write_events(str(logs / FILE), [board.scalar_event(b"loss", 1.0, 1)])
    board.write_events(str(outside / FILE), [board.scalar_event(b"loss", 1.0, i) for i in range(5)])
    with board.Board(logs) as server:
        assert len(server.points("loss")) == 1
        os.remove(logs / FILE)
        os.symlink(outside / FILE, logs / FILE)
        assert len(server.points("loss")) == 1
