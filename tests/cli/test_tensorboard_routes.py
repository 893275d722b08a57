"""thalweg tensorboard: TensorBoard's own data routes answer as TensorBoard 2.15 does, of logs by TensorFlow, by thalweg, and in the old style."""
import base64
import json
import math
import os

import board
import pytest

GOLDEN = os.path.join(board.ROOT, "tests", "golden", "board")
with open(os.path.join(GOLDEN, "answers.json")) as file:
    ANSWERS = json.load(file)
CASES = [(logs, number) for logs in ANSWERS for number in range(len(ANSWERS[logs]))]


@pytest.fixture(scope="module")
def servers():
    with board.Board(os.path.join(GOLDEN, "tensorflow")) as one, board.Board(os.path.join(GOLDEN, "thalweg")) as other:
        yield {"tensorflow": one, "thalweg": other}


def same(got, expected):
    """Equal, but for the last bit of computed numbers and for the order of what has none."""
    if isinstance(expected, dict):
        assert sorted(got) == sorted(expected)
        for key in expected:
            same(got[key], expected[key])
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected):
            same(a, b)
    elif isinstance(expected, float) and not isinstance(got, str):
        assert math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-15)
    else:
        assert got == expected


def blocks(text):
    """A message in text format as nested lists, attributes in the order of their keys."""
    def parse(lines):
        out = []
        for line in lines:
            if line.endswith("{"):
                out.append((line.strip(), parse(lines)))
            elif line.strip() == "}":
                break
            else:
                out.append((line.strip(), None))
        attrs = sorted((item for item in out if item[0] == "attr {"), key=repr)
        return [item for item in out if item[0] != "attr {"] + attrs
    return parse(iter(text.rstrip("\n").split("\n")))


@pytest.mark.parametrize("logs, number", CASES, ids=lambda v: str(v))
def test_answers(servers, logs, number):
    case = ANSWERS[logs][number]
    code, headers, body = servers[logs].ask(case["path"], body=case.get("body"))
    assert code == case["status"], body[:300]
    if code != 200:
        return
    assert headers["Content-Type"].split(";")[0] == case["kind"]
    if "json" in case:
        got = json.loads(body)
        if case["path"] == "/data/environment":
            for own in ("version", "data_location", "damaged"):
                got.pop(own)
        elif case["path"] == "/data/plugins_listing":  # plugins that are no part of this board
            for other in set(case["json"]) - set(got):
                assert not case["json"][other]["enabled"] or other in ("projector", "profile", "npmi"), other
                case["json"].pop(other)
        elif "modelCheckpointPath" in got:
            got["modelCheckpointPath"] = os.path.basename(got["modelCheckpointPath"])
            for one in (got, case["json"]):  # tables of a checkpoint have no order
                one["embeddings"].sort(key=lambda e: e["tensorName"])
        elif case["path"] == "/data/plugin/projector/runs":  # as a dict of TensorBoard's happens to hold them
            got, case["json"] = sorted(got), sorted(case["json"])
        elif case["path"] == "/data/plugin/graphs/info" or "tags" in case["path"]:
            got = json.loads(json.dumps(got, sort_keys=True))
        same(got, case["json"])
    elif case["kind"] == "text/x-protobuf":
        assert blocks(body.decode()) == blocks(case["text"])
    elif "text" in case:
        assert body.decode() == case["text"]
    else:
        assert body == base64.b64decode(case["bytes"])


def test_there_are_enough():
    assert len(CASES) >= 90 and sum("old" in json.dumps(case["path"]) for case in ANSWERS["tensorflow"]) >= 8


def test_a_profile_of_tensorflow():
    """xplane.pb: the lanes, and the names and durations of their events."""
    with open(os.path.join(GOLDEN, "profile.json")) as file:
        known = json.load(file)
    with board.Board(os.path.join(GOLDEN, "profile")) as server:
        run, = server.json("/data/plugin/profile/runs")
        found = server.json("/data/plugin/profile/data", run=run)
        nodes = server.json("/data/plugin/profile/nodes", run=run)
        assert server.ask("/data/plugin/profile/nodes", run="none")[0] == 404
    assert {"Relu", "MatMul", "Sum"} <= set(nodes) and all(0 < time < 1e6 for time in nodes.values())
    assert found["lanes"] == list(known) and found["total"] == sum(map(len, known.values()))
    for number, events in enumerate(known.values()):
        mine = [[name, duration] for lane, name, _, duration in found["events"] if lane == number]
        assert [name for name, _ in mine] == [name for name, _ in events]
        assert all(abs(duration - picoseconds / 1e6) < 1e-3 for (_, duration), (_, picoseconds) in zip(mine, events))
    (lane, name, number, start, duration), = found["steps"]
    assert (name, number) == ("train", 3) and [lane, name, start, duration] in found["events"] and found["memory"] == []
    assert {"Relu", "Sum"} <= {name for events in known.values() for name, _ in events}
