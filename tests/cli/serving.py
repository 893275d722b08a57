"""A running `thalweg serve` for tests."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading

from test_command import PROGRAM, ROOT

MODELS = os.path.join(ROOT, "tests", "golden", "serve")


class Server:
    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([PROGRAM, "serve", *map(str, arguments), "--rest_api_port=0"], stderr=subprocess.PIPE, text=True, **options)
        self.log, line = [], ""
        while "http://" not in line:
            line = self.process.stderr.readline()
            assert line, "the server ended: " + "".join(self.log)
            self.log.append(line)
        self.port = int(re.search(r":(\d+)/", line).group(1))
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.reader.join()
        self.process.stderr.close()
        assert code == 0, "".join(self.log)

    def connect(self):
        return http.client.HTTPConnection("localhost", self.port, timeout=60)

    def ask(self, path, body=None, method=None, connection=None, headers=None):
        """(code, text)"""
        made = connection or self.connect()
        body = json.dumps(body) if isinstance(body, (dict, list)) else body
        made.request(method or ("GET" if body is None else "POST"), path, body, headers or {})
        answer = made.getresponse()
        text = answer.read().decode()
        if not connection:
            made.close()
        return answer.status, text

    def json(self, path, body=None, **options):
        code, text = self.ask(path, body, **options)
        assert code == 200, (path, code, text[:300])
        return json.loads(text)

    def error(self, path, body=None, **options):
        code, text = self.ask(path, body, **options)
        return code, json.loads(text)["error"]

    def raw(self, request, ends=False):
        """The whole answer to these bytes; `ends`: nothing else follows them."""
        with socket.create_connection(("localhost", self.port), timeout=60) as made:
            made.sendall(request)
            if ends:
                made.shutdown(socket.SHUT_WR)
            out = b""
            while True:
                part = made.recv(65536)
                if not part:
                    return out
                out += part

    def memory(self):
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
