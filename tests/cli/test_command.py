"""The thalweg command: its output and exit codes, to the letter."""
import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "bin", "thalweg")
GOLDEN = os.path.join(ROOT, "tests", "golden", "saving")
TRY = "Try 'thalweg help checkpoint'.\n"


def thalweg(*arguments, **options):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=GOLDEN, **options)
    return done.returncode, done.stdout, done.stderr


def test_version():
    assert thalweg("version") == (0, "thalweg 0.1.0\n", "")
    assert thalweg("--version") == thalweg("-V") == (0, "thalweg 0.1.0\n", "")
    assert thalweg("version", "--json") == (0, '{"version": "0.1.0"}\n', "")


def test_help():
    code, out, err = thalweg("help")
    assert (code, err) == (0, "")
    assert "  checkpoint   Lists, prints and compares the tensors of a checkpoint.\n" in out
    assert thalweg("--help")[1] == thalweg("-h")[1] == out
    names = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert names == sorted(names)
    for name in names:
        code, out, err = thalweg("help", name)
        assert (code, err) == (0, "") and out.startswith("usage: thalweg " + name)
        assert thalweg(name, "--help")[1] == thalweg(name, "-h")[1] == out


def test_help_of_functions():
    code, out, err = thalweg("help", "tf.nn.softmax")
    assert (code, err) == (0, "") and out.startswith("tf.nn.softmax(") and "In C: tw_nn_softmax(logits, .axis, .name)\n" in out
    assert "\n\nArgs:\n  logits (tensor): " in out and "\n\nReturns:\n" in out
    assert thalweg("help", "nn.softmax")[1] == thalweg("help", "tw_nn_softmax")[1] == out
    assert thalweg("help", "tf.raw_ops.Softmax")[1].startswith("tf.raw_ops.Softmax\n\n")


def test_devices():
    assert thalweg("devices") == (0, "/device:CPU:0     CPU\n", "")
    assert json.loads(thalweg("devices", "--json")[1])[0]["type"] == "CPU"


@pytest.mark.parametrize("arguments,error", [
    ([], "thalweg: a command is expected\nTry 'thalweg help'.\n"),
    (["bogus"], "thalweg: there is no command 'bogus'\nTry 'thalweg help'.\n"),
    (["help", "bogus"], "thalweg: there is no command 'bogus'\nTry 'thalweg help'.\n"),
    (["chekpoint"], "thalweg: there is no command 'chekpoint'; did you mean 'checkpoint'?\nTry 'thalweg help'.\n"),
    (["checkpoint"], "thalweg: what to do is expected\n" + TRY),
    (["checkpoint", "remove"], "thalweg: there is no verb 'remove'\n" + TRY),
    (["checkpoint", "state"], "thalweg: there is no verb 'state'; did you mean 'stats'?\n" + TRY),
    (["checkpoint", "ls"], "thalweg: ls FILE is expected\n" + TRY),
    (["checkpoint", "diff", "a"], "thalweg: more is expected: diff FILE FILE\n" + TRY),
    (["checkpoint", "ls", "a", "b"], "thalweg: 'b' is one argument too many\n" + TRY),
    (["checkpoint", "cat", "a", "b", "c"], "thalweg: 'c' is one argument too many\n" + TRY),
    (["checkpoint", "ls", "plain", "--xml"], "thalweg: there is no option '--xml'\n" + TRY),
    (["checkpoint", "ls", "plain", "--jsn"], "thalweg: there is no option '--jsn'; did you mean '--json'?\n" + TRY),
    (["checkpoint", "ls", "plain", "--json=1"], "thalweg: --json takes no value\n" + TRY),
    (["checkpoint", "cat", "plain", "--npy"], "thalweg: --npy needs a value: PATH\n" + TRY),
    (["checkpoint", "cat", "plain", "--npy", "x.npy"], "thalweg: --npy writes one tensor: its name is expected\n" + TRY),
    (["checkpoint", "diff", "plain", "plain", "--tolerance", "-1"], "thalweg: --tolerance must be a number that is not negative, got '-1'\n" + TRY),
    (["checkpoint", "ls", "plain", "--npy", "x.npy"], "thalweg: checkpoint ls takes no --npy\n" + TRY),
    (["checkpoint", "cat", "plain", "--tolerance", "1"], "thalweg: checkpoint cat takes no --tolerance\n" + TRY),
    (["records", "count", "x", "--lines", "1"], "thalweg: records count takes no --lines\nTry 'thalweg help records'.\n"),
    (["model", "run", "m.keras", "--signature", "x"], "thalweg: 'm.keras' is no SavedModel: it has no signatures\nTry 'thalweg help model'.\n"),
    (["records", "head", "x", "--lines", "many"], "thalweg: --lines must be a whole number that is at least 0, got 'many'\nTry 'thalweg help records'.\n"),
    (["records", "convert", "x", "y", "--compression", "lzma"],
     "thalweg: --compression must be none, gzip or zlib, got 'lzma'\nTry 'thalweg help records'.\n"),
])
def test_wrong_calls(arguments, error):
    assert thalweg(*arguments) == (2, "", error)


def test_ls():
    assert thalweg("checkpoint", "ls", "plain") == (0, """\
_CHECKPOINTABLE_OBJECT_GRAPH                string      ()
inner/x/.ATTRIBUTES/VARIABLE_VALUE          int32       (2, 2)
items/0/.ATTRIBUTES/VARIABLE_VALUE          int32       ()
items/1/0/.ATTRIBUTES/VARIABLE_VALUE        float64     ()
mapping/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE  float32     ()
mapping/a/.ATTRIBUTES/VARIABLE_VALUE        string      ()
mapping/b/.ATTRIBUTES/VARIABLE_VALUE        bool        ()
save_counter/.ATTRIBUTES/VARIABLE_VALUE     int64       ()
shared/.ATTRIBUTES/VARIABLE_VALUE           float32     (3,)
step/.ATTRIBUTES/VARIABLE_VALUE             int64       ()
""", "")
    assert thalweg("checkpoint", "ls", "names", "--json") == (0, """\
[{"name": "scope/bias", "dtype": "int32", "shape": []},
 {"name": "weight", "dtype": "float32", "shape": [2]}]
""", "")


def test_ls_of_a_directory():
    directory = os.path.join(ROOT, "tests", "golden", "training")
    code, out, err = thalweg("checkpoint", "ls", directory, "--json")
    assert (code, err) == (0, "")
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in [entry["name"] for entry in json.loads(out)]


def test_cat():
    assert thalweg("checkpoint", "cat", "plain", "inner/x") == (0, "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)\n", "")
    assert thalweg("checkpoint", "cat", "plain", "mapping/a/.ATTRIBUTES/VARIABLE_VALUE") == (
        0, "tf.Tensor(b'text', shape=(), dtype=string)\n", "")
    assert thalweg("checkpoint", "cat", "names") == (0, """\
scope/bias
tf.Tensor(7, shape=(), dtype=int32)
weight
tf.Tensor([1. 2.], shape=(2,), dtype=float32)
""", "")


def test_cat_json():
    code, out, err = thalweg("checkpoint", "cat", "plain", "--json")
    assert (code, err) == (0, "")
    values = {entry["name"].replace("/.ATTRIBUTES/VARIABLE_VALUE", ""): entry["value"] for entry in json.loads(out)}
    del values["_CHECKPOINTABLE_OBJECT_GRAPH"]
    assert values == {"inner/x": [[1, 2], [3, 4]], "items/0": 1, "items/1/0": 2.5, "mapping/a": "text", "mapping/a..b.Sc": 0.5,
                      "mapping/b": True, "save_counter": 1, "shared": [1, 2, 3], "step": 7}
    code, out, err = thalweg("checkpoint", "cat", "../checkpoint/everything", "--json")
    assert (code, err) == (0, "")
    values = {entry["name"]: entry["value"] for entry in json.loads(out)}
    assert values["d/complex64"][0][1] == [19, 0] and values["e/empty"] == [] and values["s/matrix"][0] == ["a", "bc"]


def test_failures():
    assert thalweg("checkpoint", "ls", "/nope") == (
        1, "", "thalweg: NOT_FOUND: Unsuccessful TensorSliceReader constructor: Failed to find any matching files for /nope\n")
    assert thalweg("checkpoint", "cat", "names", "nope") == (1, "", "thalweg: names: there is no tensor 'nope'\n")
    code, out, err = thalweg("checkpoint", "ls", "/")
    assert code == 1 and "Couldn't find 'checkpoint' file or checkpoints in given directory /\n" in err


def test_grep_and_stats():
    assert thalweg("checkpoint", "grep", "plain", "^(step|shared)/") == (0, """\
shared/.ATTRIBUTES/VARIABLE_VALUE  float32     (3,)
step/.ATTRIBUTES/VARIABLE_VALUE    int64       ()
""", "")
    assert thalweg("checkpoint", "grep", "plain", "nothing") == (1, "", "")
    assert thalweg("checkpoint", "grep", "plain", "(")[0] == 2
    code, out, err = thalweg("checkpoint", "stats", "plain", "shared", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == [{"name": "shared/.ATTRIBUTES/VARIABLE_VALUE", "count": 3, "min": 1, "max": 3, "mean": 2, "std": pytest.approx((2 / 3) ** .5),
                                "zeros": 0, "nan": 0, "inf": 0}]
    code, out, err = thalweg("checkpoint", "stats", "plain")
    assert code == 0 and out.splitlines()[0].split() == ["name", "count", "min", "max", "mean", "std", "zeros", "nan", "inf"]


def test_files_that_hold_tensors(tmp_path):
    """A prefix, its index, a directory, a SavedModel, .keras and .h5; each tensor as an .npy file; differences."""
    import numpy as np
    import thalweg as tf
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,), name="d")])
    model.set_weights([np.arange(6.).reshape(2, 3), np.array([1., np.nan, np.inf])])
    paths = [str(tmp_path / name) for name in ("saved", "m.keras", "m.h5", "w/ckpt")]
    for path in paths[:3]:
        model.save(path)
    model.save_weights(paths[3])
    names = {paths[0]: "variables/0", paths[1]: "_layer_checkpoint_dependencies/d/vars/0", paths[2]: "model_weights/d/d/kernel:0",
             paths[3]: "layer_with_weights-0/kernel", paths[3] + ".index": "layer_with_weights-0/kernel", str(tmp_path / "w"): "layer_with_weights-0/kernel",
             paths[3] + ".data-00000-of-00001": "layer_with_weights-0/kernel"}
    for path, name in names.items():
        code, out, err = thalweg("checkpoint", "ls", path, "--json")
        assert (code, err) == (0, ""), path
        known = [entry["name"] for entry in json.loads(out)]
        if not any(entry.startswith(name) for entry in known):  # Keras names layers of a .keras file by their classes
            name = next(entry for entry in known if "kernel" in entry or entry.endswith("vars/0"))
        assert thalweg("checkpoint", "cat", path, name, "--npy", str(tmp_path / "x.npy")) == (0, "", ""), path
        assert np.array_equal(np.load(tmp_path / "x.npy"), np.arange(6.).reshape(2, 3)), path
    bias = json.loads(thalweg("checkpoint", "stats", paths[3], "layer_with_weights-0/bias", "--json")[1])[0]
    assert (bias["nan"], bias["inf"], bias["min"], bias["max"]) == (1, 1, 1, 1)
    assert thalweg("checkpoint", "diff", paths[3], paths[3] + ".index") == (0, "", "")
    model.set_weights([np.arange(6.).reshape(2, 3) + .5, np.array([1., np.nan, np.inf])])
    model.save_weights(str(tmp_path / "other"))
    kernel = "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    assert thalweg("checkpoint", "diff", paths[3], str(tmp_path / "other")) == (1, kernel + "  values differ by up to 0.5\n", "")
    assert thalweg("checkpoint", "diff", paths[3], str(tmp_path / "other"), "--tolerance", "0.5") == (0, "", "")
    assert json.loads(thalweg("checkpoint", "diff", paths[3], str(tmp_path / "other"), "--json")[1]) == [
        {"name": kernel, "difference": "values", "most": 0.5}]
    tf.train.Checkpoint(v=tf.Variable(2 ** 60)).write(str(tmp_path / "a"))
    tf.train.Checkpoint(v=tf.Variable(2 ** 60 + 1)).write(str(tmp_path / "b"))
    assert "differ by up to 1\n" in thalweg("checkpoint", "diff", str(tmp_path / "a"), str(tmp_path / "b"))[1]
    tf.train.Checkpoint(u=tf.Variable([1.])).write(str(tmp_path / "c"))
    assert thalweg("checkpoint", "diff", str(tmp_path / "a"), str(tmp_path / "c"))[1] == """\
_CHECKPOINTABLE_OBJECT_GRAPH  other values
v/.ATTRIBUTES/VARIABLE_VALUE  only in the first
u/.ATTRIBUTES/VARIABLE_VALUE  only in the second
"""


def test_output_that_can_not_be_written():
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "checkpoint", "ls", "plain"], stdout=full, stderr=subprocess.PIPE, cwd=GOLDEN, text=True)
    assert done.returncode == 1 and "could not write the output" in done.stderr


def test_run(tmp_path):
    """What run hands to Python: the module, the script, its arguments, and the path of the package."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$PYTHONPATH"\nprintf "%s\\n" "$@"\nexit 7\n')
    python.chmod(0o755)
    environment = dict(os.environ, THALWEG_PYTHON=str(python), PYTHONPATH="/elsewhere")
    code, out, err = thalweg("run", "script.py", "--flag", "two words", env=environment)
    assert code == 7
    lines = out.splitlines()
    assert lines[1:] == ["-m", "thalweg", "script.py", "--flag", "two words"]
    if os.path.exists(os.path.join(BUILD, "python", "thalweg", "__init__.py")):
        assert lines[0] == os.path.realpath(os.path.join(BUILD, "python")) + ":/elsewhere"
    code, out, err = thalweg("run", "script.py", env=dict(environment, THALWEG_PYTHON="/nope/python"))
    assert (code, out, err) == (1, "", "thalweg: could not run /nope/python: No such file or directory\n")


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "python", "thalweg", "__init__.py")), reason="built without Python")
def test_run_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nimport tensorflow as tf\nprint(tf.add(1.0, 2.0), sys.argv[1:], __name__)\nsys.exit(3)\n")
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["THALWEG_PYTHON"] = sys.executable
    assert thalweg("run", str(script), "a", env=environment) == (3, "tf.Tensor(3.0, shape=(), dtype=float32) ['a'] __main__\n", "")


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "python", "thalweg", "__init__.py")), reason="built without Python")
def test_run_without_a_script():
    environment = dict(os.environ, THALWEG_PYTHON=sys.executable)
    program = "import sys, tensorflow as tf\nprint(int(tf.add(1, 2)), sys.argv, __name__)\n"
    assert thalweg("run", input=program, env=environment) == (0, "3 ['-'] __main__\n", "")
    assert thalweg("run", "-", "a", input=program, env=environment) == (0, "3 ['-', 'a'] __main__\n", "")
    assert thalweg("run", "-i", input="import tensorflow as tf\nint(tf.add(1, 2))\n", env=environment)[1].endswith("3\n>>> ")


def test_hdf5_files():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "h5", "weights.h5")
    code, out, err = thalweg("checkpoint", "ls", path)
    assert (code, err) == (0, "") and "d/d/kernel:0           float32     (48, 4)\n" in out
    code, out, err = thalweg("checkpoint", "cat", path, "d/d/bias:0", "--json")
    assert (code, err) == (0, "") and out == '{"name": "d/d/bias:0", "dtype": "float32", "shape": [4], "value": [0, 0, 0, 0]}\n'
    code, out, err = thalweg("checkpoint", "ls", path + ".h5")
    assert code == 1 and "No such file" in err


def test_large_tensors_come_at_once(tmp_path):
    """Who reads the beginning only need not wait for the rest."""
    import thalweg as tf
    tf.train.Checkpoint(v=tf.Variable(tf.random.normal([1000, 1000]))).write(str(tmp_path / "large"))
    with subprocess.Popen([PROGRAM, "checkpoint", "cat", str(tmp_path / "large"), "v", "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout.read(8) == b'{"name":'
        process.stdout.close()  # the first pieces are enough: the program ends without an answer for all of them
        assert process.wait(timeout=60) != 0
