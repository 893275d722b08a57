"""thalweg serve over time: versions that appear and disappear, hostile requests, memory, stopping."""
import concurrent.futures
import json
import os
import shutil
import signal
import socket
import time

import pytest

import thalweg as tf
from serving import MODELS, Server

HALF = "/v1/models/half:predict"
BODY = b'{"instances": [1.0, 2.0, 5.0]}'


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def states(server, model="half"):
    return {v["version"]: v["state"] for v in server.json("/v1/models/" + model)["model_version_status"]}


def test_versions_come_and_go(tmp_path):
    base = tmp_path / "half"
    shutil.copytree(os.path.join(MODELS, "half", "1"), base / "1")
    with Server(base) as server:
        value = lambda: server.json(HALF, {"instances": [0]})["predictions"][0]
        assert value() == 2.0 and states(server) == {"1": "AVAILABLE"}
        (base / "2").mkdir()  # half copied: refused, then tried again when it is whole
        shutil.copy(os.path.join(MODELS, "half", "2", "saved_model.pb"), base / "2")
        until(lambda: states(server).get("2") == "END")
        assert value() == 2.0
        assert server.json("/v1/models/half/versions/2")["model_version_status"][0]["status"]["error_message"]
        shutil.copytree(os.path.join(MODELS, "half", "2"), base / "2", dirs_exist_ok=True)
        until(lambda: states(server) == {"2": "AVAILABLE", "1": "END"})
        assert value() == 3.0 and server.error("/v1/models/half/versions/1:predict", {"instances": [0]})[0] == 404
        shutil.rmtree(base / "2")
        until(lambda: states(server) == {"2": "END", "1": "AVAILABLE"})
        assert value() == 2.0
        shutil.rmtree(base / "1")
        until(lambda: server.ask(HALF, {"instances": [0]})[0] == 404)
        shutil.copytree(os.path.join(MODELS, "half", "1"), base / "5")
        until(lambda: server.ask(HALF, {"instances": [0]})[0] == 200)


def test_requests_while_versions_change(tmp_path):
    """No request fails, and each is answered by one of the versions."""
    base = tmp_path / "half"
    shutil.copytree(os.path.join(MODELS, "half", "1"), base / "1")
    with Server(base, "--enable_batching") as server:
        stops = []

        def client(number):
            connection, seen = server.connect(), set()
            while not stops:
                got = server.json(HALF, {"instances": [number]}, connection=connection)["predictions"][0]
                seen.add(got - number / 2)
            connection.close()
            return seen
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            clients = [pool.submit(client, i) for i in range(8)]
            for version in range(2, 6):
                new = tmp_path / "new"
                shutil.copytree(os.path.join(MODELS, "half", str(1 + version % 2)), new)
                os.rename(new, base / str(version))
                until(lambda: states(server).get(str(version)) == "AVAILABLE" and states(server).get(str(version - 1)) == "END")
            stops.append(True)
            assert set().union(*(c.result() for c in clients)) == {2.0, 3.0}


def test_files_of_keras(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="scores")])
    model.save(tmp_path / "m.keras")
    model.save(tmp_path / "other.h5")
    with Server(tmp_path / "m.keras", "named=%s" % (tmp_path / "other.h5"), "--file_system_poll_wait_seconds=0") as server:
        for name in ("m", "named"):
            got = server.json("/v1/models/%s:predict" % name, {"instances": [[1, 2, 3]]})["predictions"]
            assert abs(tf.constant(got) - model(tf.constant([[1., 2., 3.]]))).numpy().max() < 1e-6
        assert "scores" in server.ask("/v1/models/m/metadata")[1]


# ---- hostile requests ----

@pytest.fixture(scope="module")
def server():
    with Server(os.path.join(MODELS, "half"), "--max_body_bytes=100000") as made:
        yield made


def post(body, *headers, host=b"localhost", close=True):
    lines = [b"POST /v1/models/half:predict HTTP/1.1", b"Host: " + host, *headers]
    return b"\r\n".join(lines + [b"Connection: close"] * close) + b"\r\n\r\n" + body


def length(body):
    return b"Content-Length: %d" % len(body)


RAW = [
    (post(BODY, length(BODY)), 200), (post(BODY, length(BODY), host=b"evil.example"), 403), (post(BODY, length(BODY), b"Host: localhost"), 400),
    (post(BODY, b"Content-Length: -1"), 400), (post(BODY, b"Content-Length: 3", b"Content-Length: 30"), 400), (post(BODY, b"Content-Length: 1e3"), 400),
    (post(BODY, b"Content-Length: 100001"), 413), (post(BODY, b"Content-Length: 99999999999999999999"), 400),
    (post(BODY, b"Transfer-Encoding: gzip"), 400), (post(BODY, b"Transfer-Encoding: chunked", length(BODY)), 400),
    (post(b"1e\r\n" + BODY + b"\r\n0\r\n\r\n", b"Transfer-Encoding: chunked"), 200),
    (post(b"a;x=y\r\n" + BODY[:10] + b"\r\n14\r\n" + BODY[10:] + b"\r\n0\r\nTrailer: x\r\n\r\n", b"Transfer-Encoding: chunked"), 200),
    (post(b"zz\r\n", b"Transfer-Encoding: chunked"), 400), (post(b"5\r\nabcdefgh", b"Transfer-Encoding: chunked"), 400),
    (post(b"%x\r\n" % 99999 + b" " * 99999 + b"\r\n%x\r\n" % 99999 + b" " * 99999, b"Transfer-Encoding: chunked"), 413),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431), (b"\r\n\r\n", 400), (b"GET /\0 HTTP/1.1\r\n", 400),
    (b"NONSENSE\r\n\r\n", 400), (b"GET /v1/models/half HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
    (post(b"\xff\xfe{}", b"Content-Length: 4"), 400), (post(b"{" * 90000, b"Content-Length: 90000"), 400),
]


@pytest.mark.parametrize("request_,code", RAW, ids=range(len(RAW)))
def test_bytes(server, request_, code):
    answer = server.raw(request_)
    assert answer.startswith(b"HTTP/1.1 %d " % code), answer[:300]
    if code != 200:
        assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]
    assert server.json(HALF, {"instances": [0]})


def test_pipelined_and_continued(server):
    both = server.raw(post(BODY, length(BODY), close=False) + post(BODY, length(BODY)))
    assert both.count(b"HTTP/1.1 200") == 2 and both.count(b"5.5") == 2
    with socket.create_connection(("localhost", server.port), timeout=30) as made:
        made.sendall(post(b"", length(BODY), b"Expect: 100-continue"))
        assert made.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        made.sendall(BODY)
        assert made.recv(1000).startswith(b"HTTP/1.1 200")
    head = server.raw(b"HEAD /v1/models/half HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n")


def test_a_thousand_connections(server):
    """Idle ones, ones that ask slowly, ones that leave: others are answered meanwhile."""
    held = []
    for i in range(1000):
        made = socket.create_connection(("localhost", server.port), timeout=60)
        made.sendall([b"", b"POST ", b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n{", b"GET / HTTP/1.1\r\n"][i % 4])
        held.append(made)
    for made in held[::10]:
        made.close()
    start = time.monotonic()
    for _ in range(20):
        assert server.json(HALF, {"instances": [2]}) == {"predictions": [4.0]}
    assert time.monotonic() - start < 20
    for made in held:
        made.close()


def test_a_slow_request_is_told(server):
    """What does not come in time is answered before the connection ends; one that asks nothing just ends."""
    with socket.create_connection(("localhost", server.port), timeout=60) as made:
        made.sendall(b"POST /v1/models/half:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        answer = made.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n") and b"the request did not come in time" in answer


def test_memory_stays(server):
    """20,000 requests, of which some are wrong."""
    def client(count):
        connection = server.connect()
        for i in range(count):
            assert server.ask(HALF, BODY, connection=connection)[0] == 200
            if i % 10 == 0:
                assert server.ask(HALF, b'{"instances": [[', connection=connection)[0] == 400
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        run = lambda count: [done.result() for done in [pool.submit(client, count) for _ in range(8)]]
        run(250)
        before = server.memory()
        run(2200)
    assert server.memory() < before + 3_000_000


def test_stopping_ends_what_was_begun(tmp_path):
    """SIGTERM: a request that came is answered, one that is idle is closed, the code is 0."""
    with Server(os.path.join(MODELS, "half"), "--enable_batching", "--batch_timeout_micros=1500000", "--max_batch_size=100") as server:
        idle = socket.create_connection(("localhost", server.port), timeout=30)
        asks = socket.create_connection(("localhost", server.port), timeout=30)
        asks.sendall(post(BODY, length(BODY), close=False))
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        got = b""
        while part := asks.recv(4096):
            got += part
        assert got.startswith(b"HTTP/1.1 200") and b"5.5" in got
        assert idle.recv(10) == b""
        assert server.process.wait(20) == 0
        idle.close()
        asks.close()
