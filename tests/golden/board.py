"""Makes tests/golden/board: logs that TensorFlow wrote (tests/cli/board_logs.py), and answers.json, what TensorBoard 2.15's data routes answer of these
and of the logs that thalweg wrote. The latter are kept, or made anew with THALWEG=/path/of/a/python with thalweg."""
import base64
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import golden
import tensorflow as tf
import werkzeug.test
from tensorboard import default, program
from tensorboard.backend import application

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import board_logs


def application_for(folder):
    board = program.TensorBoard(default.get_plugins())
    board.configure(argv=[None, "--logdir", folder, "--load_fast=false", "--reload_interval=0", "--reload_task=blocking"])
    ingester = board._make_data_ingester()
    ingester.start()
    app = application.TensorBoardWSGIApp(board.flags, board.plugin_loaders, ingester.data_provider, board.assets_zip_provider,
                                         ingester.deprecated_multiplexer)
    client = werkzeug.test.Client(app)
    client.get("/data/plugins_listing")
    time.sleep(1)
    return client


def ask(client, request):
    method, path = request["method"], request["path"]
    answer = client.post(path, data=request["body"], content_type=request["type"]) if method == "POST" else client.get(path)
    kind, data = answer.headers["Content-Type"].split(";")[0], answer.get_data()
    out = dict(request, status=answer.status_code, kind=kind)
    if answer.status_code != 200:
        return out
    if kind == "application/json":
        out["json"] = json.loads(data)
        if "modelCheckpointPath" in out["json"]:
            out["json"]["modelCheckpointPath"] = os.path.basename(out["json"]["modelCheckpointPath"])
        if path == "/data/environment":  # of this machine
            out["json"] = {key: value for key, value in out["json"].items() if key not in ("version", "data_location", "debug")}
    elif kind.startswith("text/"):
        out["text"] = data.decode()
    else:
        out["bytes"] = base64.b64encode(data).decode()
    return out


PLUGIN = "/data/plugin/"
STATUSES = '["STATUS_UNKNOWN","STATUS_SUCCESS","STATUS_FAILURE","STATUS_RUNNING"]'
NEW = ["/data/environment", "/data/runs", "/data/plugins_listing"] + [PLUGIN + path for path in (
    "scalars/tags", "scalars/scalars?run=train&tag=loss", "scalars/scalars?run=validation&tag=metrics%2Faccuracy", "scalars/scalars?run=train&tag=loss&format=csv",
    "scalars/scalars?run=train&tag=none", "scalars/scalars?run=train", "images/tags", "images/images?run=train&tag=picture&sample=0",
    "images/images?run=train&tag=picture&sample=1", "audio/tags", "audio/audio?run=train&tag=sound&sample=0", "histograms/tags",
    "histograms/histograms?run=train&tag=weights", "histograms/histograms?run=train&tag=constant", "histograms/histograms?run=train&tag=none",
    "distributions/tags", "distributions/distributions?run=train&tag=weights", "text/tags", "text/text?run=train&tag=note", "text/text?run=train&tag=table",
    "graphs/info", "graphs/graph?run=train&tag=traced", "timeseries/tags",
    "timeseries/timeSeries?requests=%5B%7B%22plugin%22%3A%22scalars%22%2C%22tag%22%3A%22loss%22%7D%5D")]
MORE = [PLUGIN + path for path in (
    "scalars/scalars?run=old&tag=Loss%2Ftrain", "scalars/scalars?run=old&tag=Loss%2Ftest", "images/images?run=old&tag=image&sample=0",
    "audio/audio?run=old&tag=audio&sample=0", "histograms/histograms?run=old&tag=values", "distributions/distributions?run=old&tag=values",
    "text/text?run=old&tag=words%2Ftext_summary", "graphs/graph?run=old", "graphs/graph?run=old&limit_attr_size=60&large_attrs_key=_large",
    "graphs/graph?run=keras&tag=keras&conceptual=true", "graphs/graph?run=none", "pr_curves/tags", "pr_curves/pr_curves?tag=pr%2Fcurve&run=old",
    "pr_curves/pr_curves?tag=pr%2Fcurve&run=train", "custom_scalars/layout", "custom_scalars/scalars?run=train&tag=l.*",
    "custom_scalars/scalars?run=train&tag=%5B", "hparams/experiment?request=%7B%7D", "projector/runs", "projector/info?run=train",
    "projector/tensor?run=train&name=words", "projector/tensor?run=train&name=words&num_rows=3", "projector/metadata?run=train&name=words",
    "projector/info?run=keras", "projector/tensor?run=keras&name=table%2F.ATTRIBUTES%2FVARIABLE_VALUE", "projector/tensor?run=keras&name=other%2F.ATTRIBUTES%2FVARIABLE_VALUE&num_rows=1",
    "projector/tensor?run=keras&name=none", "projector/metadata?run=keras&name=table%2F.ATTRIBUTES%2FVARIABLE_VALUE", "projector/bookmarks?run=train&name=words",
    "projector/sprite_image?run=train&name=words", "projector/info?run=none",
    "timeseries/timeSeries?requests=%5B%7B%22plugin%22%3A%22histograms%22%2C%22tag%22%3A%22values%22%2C%22run%22%3A%22old%22%7D%2C%7B%22plugin%22%3A%22images%22%2C"
    "%22tag%22%3A%22picture%22%2C%22run%22%3A%22train%22%2C%22sample%22%3A1%7D%2C%7B%22plugin%22%3A%22images%22%2C%22tag%22%3A%22picture%22%7D%5D")]
POSTS = [("scalars/scalars_multirun", "application/x-www-form-urlencoded", "tag=loss&runs=train&runs=validation&runs=none"),
         ("scalars/scalars_multirun", "application/x-www-form-urlencoded", "runs=train")]
MORE_POSTS = [("hparams/session_groups", "application/json", '{"startIndex":0,"sliceSize":10,"allowedStatuses":%s,"colParams":[]}' % STATUSES),
              ("hparams/session_groups", "application/json", '{"startIndex":1,"sliceSize":1,"allowedStatuses":%s,"colParams":[]}' % STATUSES),
              ("hparams/experiment", "application/json", "{}"),
              ("hparams/metric_evals", "application/json", '{"sessionName":"trials/trial1","metricName":{"tag":"accuracy","group":""}}')]


def answers(folder, paths, posts):
    client, out = application_for(folder), []
    for path in paths:
        out.append(ask(client, {"method": "GET", "path": path}))
        if path.startswith(PLUGIN + "images/images") or path.startswith(PLUGIN + "audio/audio"):
            last = out[-1]["json"][-1]["query"]
            out.append(ask(client, {"method": "GET", "path": PLUGIN + ("images/individualImage?" if "images" in path else "audio/individualAudio?") + last}))
    for path, kind, body in posts:
        out.append(ask(client, {"method": "POST", "path": PLUGIN + path, "type": kind, "body": body}))
    return out


def write_profile(folder):
    """A profile of TensorFlow's, and what its own protos say of it: {line: [[name, picoseconds], …]}."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    @tf.function
    def work(x):
        return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x)))
    work(tf.ones([64, 64]))
    scratch = tempfile.mkdtemp()
    tf.profiler.experimental.start(scratch)
    with tf.profiler.experimental.Trace("train", step_num=3, _r=1):
        work(tf.ones([64, 64]))
    tf.profiler.experimental.stop()
    path, = glob.glob(scratch + "/plugins/profile/*/*.xplane.pb")
    place = os.path.join(folder, "plugins", "profile", "run")
    os.makedirs(place, exist_ok=True)
    shutil.copy(path, os.path.join(place, "host.xplane.pb"))
    with open(path, "rb") as file:
        space = xplane_pb2.XSpace.FromString(file.read())
    shutil.rmtree(scratch)
    return {plane.name + " " + (line.display_name or line.name): [[plane.event_metadata[e.metadata_id].display_name or plane.event_metadata[e.metadata_id].name, e.duration_ps]
                                                               for e in line.events] for plane in space.planes for line in plane.lines}


logs = os.path.join(HERE, "board", "tensorflow")
board_logs.write(tf, logs, True)
if os.environ.get("THALWEG"):
    subprocess.run([os.environ["THALWEG"], os.path.join(HERE, "..", "cli", "board_logs.py"), os.path.join(HERE, "board", "thalweg")], check=True)
made = {"tensorflow": answers(logs, NEW + MORE, POSTS + MORE_POSTS), "thalweg": answers(os.path.join(HERE, "board", "thalweg"), NEW, POSTS)}
with open(golden.path(__file__, "answers.json"), "w") as out:
    json.dump(made, out, indent=1)
    out.write("\n")
with open(golden.path(__file__, "profile.json"), "w") as out:
    json.dump(write_profile(os.path.join(HERE, "board", "profile")), out, indent=1)
    out.write("\n")
