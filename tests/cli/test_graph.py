"""thalweg graph: its output and exit codes, to the letter."""
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "bin", "thalweg")
GOLDEN = os.path.join(ROOT, "tests", "golden", "graphs")
TRY = "Try 'thalweg help graph'.\n"


def thalweg(*arguments):
    done = subprocess.run([PROGRAM, "graph", *arguments], capture_output=True, cwd=GOLDEN)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_text():
    code, out, err = thalweg("nested.pb")
    assert (code, err) == (0, "")
    lines = out.split("\n")
    assert lines[:2] == ["graph: 5 nodes, 1 functions, producer 1645, min_consumer 12",
                         'x = Placeholder() {_user_specified_name: "x", dtype: float32, shape: (None,)}']
    assert out[out.index("add = "):] == """\
add = AddV2(PartitionedCall, PartitionedCall_1) {T: float32}
Identity = Identity(add) {T: float32}

function __inference_inner_62(x: float32) -> (identity: float32, identity_1: float32) {
  Const = Const() {dtype: int32, value: int32 (1,) [0]}
  Sum = Sum(x, Const:output:0) {T: float32, Tidx: int32, keep_dims: false}
  mul/y = Const() {dtype: float32, value: float32 () [2.]}
  mul = Mul(x, mul/y:output:0) {T: float32}
  Identity = Identity(Sum:output:0) {T: float32}
  Identity_1 = Identity(mul:z:0) {T: float32}
  return identity_1 = Identity_1:output:0
  return identity = Identity:output:0
}
"""


def test_ops_that_are_not_known_are_printed():
    code, out, err = thalweg("control.pb")
    assert (code, err) == (0, "")
    assert "StatelessIf(" in out and "then_branch: @cond_true" in out and "StatelessWhile(" in out


def test_json():
    code, out, err = thalweg("variable.pb", "--json")
    assert (code, err) == (0, "")
    graph = json.loads(out)
    assert [node["name"] for node in graph["nodes"]] == ["x", "handle", "StatefulPartitionedCall", "Identity", "Identity_1", "NoOp"]
    assert graph["nodes"][3]["inputs"] == ["StatefulPartitionedCall", "^NoOp"]
    assert graph["functions"][0]["stateful"] is True
    assert graph["functions"][0]["arguments"] == [{"name": "x", "dtype": "float32"}, {"name": "handle", "dtype": "resource"}]


def test_wrong_calls():
    assert thalweg() == (2, "", "thalweg: FILE is expected\n" + TRY)
    assert thalweg("a", "b") == (2, "", "thalweg: 'b' is one argument too many\n" + TRY)
    assert thalweg("--xml", "a") == (2, "", "thalweg: there is no option '--xml'\n" + TRY)


def test_failures(tmp_path):
    code, out, err = thalweg("nope.pb")
    assert (code, out) == (1, "") and err.startswith("thalweg: NOT_FOUND: ") and "nope.pb" in err
    bad = tmp_path / "bad.pb"
    bad.write_bytes(b"not a graph")
    code, out, err = thalweg(str(bad))
    assert (code, out) == (1, "") and "DATA_LOSS" in err and "bad.pb: GraphDef" in err


def test_saved_model():
    code, out, err = thalweg("../saved_model/module")
    assert (code, err) == (0, "")
    lines = out.split("\n")
    assert lines[:2] == ["SavedModel of TensorFlow 2.15.1, tags serve", "signatures"]
    assert "    input x: float32[?,2], tensor serving_default_x:0" in lines and "  1 variable" in lines
    assert any(line.startswith("graph: ") for line in lines)
