"""The thalweg command: its output and exit codes, to the letter."""
import json
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "bin", "thalweg")
GOLDEN = os.path.join(ROOT, "tests", "golden", "saving")
USAGE = "usage: thalweg checkpoint ls|cat PREFIX [NAME] [--json]\n"


def thalweg(*arguments, **options):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=GOLDEN, **options)
    return done.returncode, done.stdout, done.stderr


def test_version():
    assert thalweg("version") == (0, "thalweg 0.1.0\n", "")
    assert thalweg("--version") == thalweg("-V") == (0, "thalweg 0.1.0\n", "")


def test_help():
    code, out, err = thalweg("help")
    assert (code, err) == (0, "")
    assert "  checkpoint   Lists a checkpoint's tensors, or prints their values.\n" in out
    assert thalweg("--help")[1] == out
    code, out, err = thalweg("help", "checkpoint")
    assert code == 0 and out.startswith(USAGE)
    for name in re.findall(r"^  ([a-z]+)  ", thalweg("-h")[1], re.M):
        assert thalweg(name, "--help") == thalweg(name, "-h") == thalweg("help", name) and thalweg(name, "-h")[0] == 0


@pytest.mark.parametrize("arguments,error", [
    ([], "thalweg: a command is expected\nTry 'thalweg help'.\n"),
    (["bogus"], "thalweg: there is no command 'bogus'\nTry 'thalweg help'.\n"),
    (["chekpoint", "ls"], "thalweg: there is no command 'chekpoint'; is 'checkpoint' meant?\nTry 'thalweg help'.\n"),
    (["x" * 200], "thalweg: there is no command '%s'\nTry 'thalweg help'.\n" % ("x" * 200)),
    (["help", "bogus"], "thalweg: there is no command 'bogus'\nTry 'thalweg help'.\n"),
    (["checkpoint"], "thalweg: 'ls' or 'cat' is expected\n" + USAGE),
    (["checkpoint", "rm"], "thalweg: 'ls' or 'cat' is expected, got 'rm'\n" + USAGE),
    (["checkpoint", "ls"], "thalweg: a prefix or a directory is expected\n" + USAGE),
    (["checkpoint", "ls", "a", "b"], "thalweg: 'b' is one argument too many\n" + USAGE),
    (["checkpoint", "cat", "a", "b", "c"], "thalweg: 'c' is one argument too many\n" + USAGE),
    (["checkpoint", "ls", "plain", "--xml"], "thalweg: there is no option '--xml'\n" + USAGE),
    (["run"], "thalweg: a script is expected\nusage: thalweg run SCRIPT.py [ARGUMENT …]\n"),
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
    assert thalweg("checkpoint", "cat", "names", "nope") == (1, "", "thalweg: NOT_FOUND: Key nope not found in checkpoint\n")
    code, out, err = thalweg("checkpoint", "ls", "/")
    assert code == 1 and "Couldn't find 'checkpoint' file or checkpoints in given directory /\n" in err


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
