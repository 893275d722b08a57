"""A running `thalweg tensorboard` for tests, and event files of hostile content."""
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import urllib.parse

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")), "bin", "thalweg")


class Board:
    def __init__(self, folder, *options):
        self.process = subprocess.Popen([PROGRAM, "tensorboard", "--logdir", str(folder), "--port=0", "--reload_interval=0", *options],
                                        stderr=subprocess.PIPE, text=True)
        line = ""
        while "http://" not in line:
            line = self.process.stderr.readline()
            assert line, "the server ended"
        self.port = int(re.search(r":(\d+)/", line).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0
        self.process.stderr.close()

    def connect(self):
        made = socket.create_connection(("localhost", self.port), timeout=30)
        return made

    def raw(self, request):
        """The whole answer to these bytes."""
        with self.connect() as connection:
            connection.sendall(request)
            out = b""
            while True:
                part = connection.recv(65536)
                if not part:
                    return out
                out += part

    def ask(self, path, host=None, body=None, **query):
        """(code, headers, body)"""
        connection = http.client.HTTPConnection("localhost", self.port, timeout=30)
        connection.request("GET" if body is None else "POST", path + ("?" + urllib.parse.urlencode(query) if query else ""), body,
                           {"Host": host} if host else {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def json(self, path, **query):
        code, _, body = self.ask(path, **query)
        assert code == 200, (path, code, body[:200])

        def refuse(word):
            raise AssertionError("%s is no JSON" % word)
        return json.loads(body.decode("utf-8"), parse_constant=refuse)

    def points(self, tag, run=".", kind="scalars"):
        return self.json("/data/plugin/%s/%s" % (kind, kind), run=run, tag=tag)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3) + varint(value & 2**64 - 1)


def scalar_event(tag, value, step, time=1.0):
    return field(1, time) + field(2, step) + field(5, field(1, field(1, tag) + varint(2 << 3 | 5) + struct.pack("<f", value)))


def text_event(tag, text, step, plugin=b"text", description=b""):
    tensor = field(1, 7) + field(2, field(2, field(1, 1))) + field(8, text)
    metadata = field(1, field(1, plugin)) + field(3, description)
    return field(1, 1.0) + field(2, step) + field(5, field(1, field(1, tag) + field(9, metadata) + field(8, tensor)))


def write_events(path, events):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.io.TFRecordWriter(path) as writer:
        for event in events:
            writer.write(event)
