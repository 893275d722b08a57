"""thalweg tensorboard: what the server answers of event files that this package wrote."""
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
import thalweg as tf

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")), "bin", "thalweg")


def write(folder):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0 / (step + 1), step=step, description="what <falls>")
        tf.summary.scalar("odd name/x y", float("nan"), step=7)
        tf.summary.histogram("weights", np.arange(10.0), step=1, buckets=4)
        tf.summary.image("picture", np.ones([3, 4, 5, 1], np.float32), step=2, max_outputs=2)
        tf.summary.audio("sound", np.zeros([1, 20, 1], np.float32), 8000, step=2)
        tf.summary.text("note", 'say "hi"\n<b>', step=3)

        @tf.function
        def square(x):
            return tf.square(x, name="squared")
        tf.summary.trace_on(graph=True, profiler=True)
        square(tf.constant(2.0))
        tf.summary.trace_export("trace", step=0, profiler_outdir=folder)
    writer.close()


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ, PYTHONPATH=PACKAGE))
        line = ""
        while "http://" not in line:
            line = self.process.stderr.readline()
            assert line, "the server ended"
        self.address = re.search(r"http://\S+/", line).group()

    def get(self, path, **query):
        with urllib.request.urlopen(self.address + path + ("?" + urllib.parse.urlencode(query) if query else ""), timeout=30) as answer:
            data = answer.read()
            return json.loads(data) if answer.headers["Content-Type"] == "application/json" else (answer.headers["Content-Type"], data)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    write(str(folder / "first"))
    made = Server([PROGRAM, "tensorboard", "--logdir", str(folder), "--port=0", "--reload_interval=0"])
    made.folder = folder
    yield made
    made.end()


def test_page(server):
    kind, page = server.get("")
    assert kind.startswith("text/html") and b"TensorBoard" in page and b'<script type="module"' in page
    for path, kind in (("js/main.js", "text/javascript"), ("board.css", "text/css"), ("icon.svg", "image/svg+xml"), ("favicon.ico", "image/svg+xml")):
        assert server.get(path)[0].startswith(kind)


def test_scalars(server):
    assert server.get("data/runs")[0] == "first"
    assert server.get("data/environment")["data_location"] == str(server.folder)
    tags = server.get("data/plugin/scalars/tags")["first"]
    assert tags == {"loss": {"displayName": "", "description": "<p>what &lt;falls&gt;</p>"}, "odd name/x y": {"displayName": "", "description": ""}}
    points = server.get("data/plugin/scalars/scalars", run="first", tag="loss")
    assert [point[1:] for point in points] == [[0, 1.0], [1, 0.5], [2, float(np.float32(1 / 3))]]
    assert server.get("data/plugin/scalars/scalars", run="first", tag="odd name/x y")[0][1:] == [7, "NaN"]


def test_other_kinds(server):
    (_, step, buckets), = server.get("data/plugin/histograms/histograms", run="first", tag="weights")
    assert (step, buckets) == (1, [[0, 2.25, 3], [2.25, 4.5, 2], [4.5, 6.75, 2], [6.75, 9, 3]])
    assert server.get("data/plugin/images/tags")["first"]["picture"]["samples"] == 2
    point, = server.get("data/plugin/images/images", run="first", tag="picture", sample=1)
    assert point["step"] == 2
    kind, data = server.get("data/plugin/images/individualImage?" + point["query"])
    assert kind == "image/png" and tf.io.decode_png(data).shape == [4, 5, 1]
    kind, data = server.get("data/plugin/audio/individualAudio?" + server.get("data/plugin/audio/audio", run="first", tag="sound")[0]["query"])
    assert kind == "audio/wav" and data.startswith(b"RIFF")
    assert server.get("data/plugin/text/text", run="first", tag="note")[0]["text"] == '<p>say "hi"\n&lt;b&gt;</p>'


def test_graph_and_profile(server):
    assert list(server.get("data/plugin/graphs/info")) == ["first"]
    graph = server.get("data/plugin/graphs/nodes", run="first", tag="trace")
    assert any(name.endswith("squared") and op == "Square" and len(inputs) == 1 for name, op, _, inputs, *_ in graph["nodes"])
    run, = server.get("data/plugin/profile/runs")
    assert run.startswith("first/plugins/profile/") and server.get("data/plugin/profile/data", run=run)["events"]


def test_new_data_is_seen(server):
    writer = tf.summary.create_file_writer(str(server.folder / "second" / "deep"))
    with writer.as_default():
        tf.summary.scalar("loss", 5.0, step=0)
        writer.flush()
        assert [p[1:] for p in server.get("data/plugin/scalars/scalars", run="second/deep", tag="loss")] == [[0, 5.0]]
        tf.summary.scalar("loss", 6.0, step=1)
        writer.flush()
        assert [p[1:] for p in server.get("data/plugin/scalars/scalars", run="second/deep", tag="loss")] == [[0, 5.0], [1, 6.0]]
    path, = (os.path.join(writer_folder, name) for writer_folder, _, names in os.walk(server.folder / "second") for name in names)
    with open(path, "ab") as file:
        file.write(b"\xff" * 40)  # nonsense at the end is not read
    assert len(server.get("data/plugin/scalars/scalars", run="second/deep", tag="loss")) == 2


def test_what_is_not_there(server):
    for path in ("nothing", "data/plugin/scalars/scalars?run=first&tag=none", "data/plugin/images/individualImage?blob_key=WyIiLCJpbWFnZXMiLCJmaXJzdCIsIngiLDAsMF0",
                 "../etc/passwd", "data/plugin/unknown/tags", "data/plugin/profile/data?run=../../etc/passwd"):
        with pytest.raises(urllib.error.HTTPError) as error:
            server.get(path)
        assert error.value.code == 404
    request = urllib.request.Request(server.address, data=b"x", method="POST")
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=30)
    assert error.value.code == 405


def test_from_python(tmp_path):
    server = Server([sys.executable, "-m", "thalweg", "tensorboard", "--logdir=" + str(tmp_path), "--port", "0"])
    assert server.get("data/runs") == []
    server.end()


@pytest.mark.parametrize("arguments, text", [([], "--logdir is expected"), (["--logdir"], "--logdir needs a value"), (["--logdir=x", "--port=a"], "no number"),
                                             (["--logdir=x", "--port=70000"], "there is no port 70000"), (["--what"], "no option '--what'")])
def test_wrong_calls(arguments, text):
    done = subprocess.run([PROGRAM, "tensorboard"] + arguments, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and text in done.stderr


def test_taken_port(server):
    port = server.address.rsplit(":", 1)[1].strip("/")
    done = subprocess.run([PROGRAM, "tensorboard", "--logdir=.", "--port", port], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "could not bind to port " + port in done.stderr
