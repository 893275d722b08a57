"""Promise: whatever is sent to the dashboard or stands in event files, it goes on answering others in time, in bounded memory, and nothing of it runs in
a browser. The part in a browser needs Debian's chromium and chromium-driver; without them it is skipped and says so."""
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

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


# ---- in a browser, through the WebDriver protocol

class Browser:
    def __init__(self, width, height):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = ""
        while "successfully on port" not in line:
            line = self.driver.stdout.readline()
            assert line, "chromedriver ended"
        self.address = "http://localhost:%d/session" % int(line.rstrip(".\n").split()[-1])
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=%d,%d" % (width, height)]}
        made = self.call("", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.address += "/" + made["sessionId"]

    def call(self, path, body=None, method="POST"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())["value"]

    def run(self, script):
        return self.call("/execute/sync", {"script": script, "args": []})

    def wait(self, script, seconds=60):
        end = time.time() + seconds
        while not self.run("return " + script):
            assert time.time() < end, script
            time.sleep(0.2)

    def end(self):
        try:
            self.call("", method="DELETE")
        finally:
            self.driver.kill()
            self.driver.wait()
            self.driver.stdout.close()


@pytest.mark.skipif(not shutil.which("chromedriver") or not shutil.which("chromium"), reason="chromium and chromium-driver are not installed")
@pytest.mark.parametrize("width,height", ((1400, 900), (390, 800)))
def test_names_are_inert_in_a_browser(server, width, height):
    browser, tried = Browser(width, height), 0
    try:
        browser.call("/url", {"url": "http://localhost:%d/" % server.port})
        for tab in ("scalars", "images", "audio", "histograms", "text", "graphs", "profile"):
            browser.run("[...document.querySelectorAll('#tabs button')].find(b => b.textContent.toLowerCase() === '%s')?.click()" % tab)
            browser.wait("document.querySelectorAll('#tabs button.on').length === 1 && /[0-9]/.test(document.getElementById('state').textContent)"
                         " && document.querySelector('#tabs button.on').textContent.toLowerCase() === '%s'" % tab)
            assert browser.run("return window.hacked") is None
            assert browser.run("return document.querySelectorAll('#cards script, #cards iframe, nav script, nav iframe, nav img, #cards b b').length") == 0
            tried += 1
        browser.run("document.querySelector('#tabs button').click()")
        browser.wait("document.querySelectorAll('#cards svg polyline').length > 3")
        assert browser.run("return document.body.scrollWidth <= window.innerWidth + 1")
        assert browser.run("return getComputedStyle(document.querySelector('header')).backgroundColor") == "rgb(232, 113, 10)"  # the style works
        for attack in ("let s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)",
                       "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')",
                       "let s = document.createElement('script'); s.src = 'https://example.com/x.js'; document.body.append(s)",
                       "let s = document.createElement('iframe'); s.src = 'javascript:parent.hacked=1'; document.body.append(s)"):
            browser.run(attack)
            tried += 1
        time.sleep(0.5)
        assert browser.run("return window.hacked") is None
        assert browser.run("try { return fetch('https://example.com/').then(() => 'got', () => 'refused') } catch (e) { return 'refused' }") == "refused"
        errors = [e["message"] for e in browser.call("/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]
        assert all("Content Security Policy" in e or "favicon" in e or "violates" in e or "example.com" in e or "/x" in e for e in errors), errors
        folder = os.environ.get("BOARD_PICTURES")
        if folder:
            import base64
            with open(os.path.join(folder, "board_%d.png" % width), "wb") as file:
                file.write(base64.b64decode(browser.call("/screenshot", method="GET")))
        print("PROMISE: hostile names are inert in a browser: %d tried" % (tried + 2 * len(HOSTILE)))
    finally:
        browser.end()
