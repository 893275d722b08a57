"""What is written about functions, classes and ops: the texts of rows and src/spec/arguments.txt (tools/reference.py), docstrings that are made of
them, their file beside the library, and the examples in them."""
import collections
import inspect
import os
import subprocess
import sys

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.dirname(os.path.abspath(tf.__file__))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import collect_rows  # noqa: E402
import public_names  # noqa: E402
import reference  # noqa: E402


@pytest.fixture(scope="module")
def texts():
    return collect_rows.described(os.path.join(ROOT, "src"))[2]


def test_arguments_are_described(texts):
    found = collections.defaultdict(list)
    for row, field in texts.undescribed():
        found[os.path.relpath(os.path.dirname(row.where), os.path.join(ROOT, "src"))].append("%s: %s" % (row.path.split("|")[0], field.name))
    assert not found


def test_arguments_of_python_functions_are_described(texts):
    """Likewise, all together; in a process of its own, as other tests load inner modules, through which functions would be found."""
    if "THALWEG_TEST_ALONE" not in os.environ:
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "test_arguments_of_python_functions_are_described"],
                              env=dict(os.environ, THALWEG_TEST_ALONE="1"), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return
    bare = ["%s: %s" % (path, name) for path, function in public_names.python_callables(public_names.modules(tf)[0])
            for name, words in texts.python_arguments(path, function) if not words]
    assert not bare
    assert not texts.unused()  # the glossary has no more than rows and functions need


def test_a_text_is_taken_apart():
    text = reference.Text('Sums.\\nx: what \\"it\\" is.\\nreturns: a sum\\nraises: ValueError: it is late\\nexample: a = 1\\nexample: a + 1  # 2', ["x", "y"])
    assert (text.summary, text.arguments, text.returns) == ("Sums.", {"x": 'what "it" is.'}, "a sum")
    assert (text.raises, text.examples) == ([("ValueError", "it is late")], [("a = 1", ""), ("a + 1", "2")])


@pytest.mark.parametrize("text, message", [
    ("Sums.\\nz: no such argument", "'z', which is no argument"),
    ("Sums.\\nx: one\\nx: two", "'x', which is no argument, or twice"),
    ("Sums.\\nx: one\\nand so on", "not 'name: what it is'"),
    ("Sums.\\nraises: ValueError", "does not say when"),
    ("Sums.\\tx", "an escape"),
])
def test_a_text_that_is_wrong_is_refused(text, message):
    with pytest.raises(reference.BadText, match=message):
        reference.Text(text, ["x"])


def test_docstrings_are_those_of_the_rows(texts):
    def found(path):
        value = tf
        for part in path.split("."):
            value = inspect.getattr_static(value, part) if isinstance(value, type) else getattr(value, part)
        return value
    for row in texts.rows.values():
        paths = [p for p in texts.paths(row) if not p.startswith(("compat.v1", "Graph", "Operation", "Tensor."))]
        value = found(paths[0]) if paths and row.role in ("FUNCTION", "METHOD") else None
        if type(value).__name__ == "Function" and getattr(value, "_row", "").startswith(row.path.split("|")[0] + "("):
            assert value.__doc__ == texts.docstring(row), row.path
    assert tf.keras.layers.Dense.__doc__ == texts.docstring(texts.rows["layers_dense"])
    assert "units (int): " in tf.keras.layers.Dense(3).__doc__
    assert type(inspect.getattr_static(tf.keras.layers.Layer, "losses")).__doc__ is not None
    assert inspect.getattr_static(tf.linalg.LinearOperator, "batch_shape").__doc__ == texts.docstring(texts.rows["linear_operator_batch_shape"])
    assert tf.raw_ops.Add.__doc__ and "\n\nArgs:\n  logits (tensor): " in tf.nn.softmax.__doc__


def test_classes_below_have_their_own_docstring():
    class Own(tf.keras.layers.Dense):
        pass

    class Other(tf.keras.layers.Dense):
        """Mine."""
    assert Own.__doc__ is None and Other.__doc__ == "Mine." and Other(2).__doc__ == "Mine."
    assert inspect.getdoc(Own).startswith(tf.keras.layers.Dense.__doc__.split("\n")[0])


def test_examples_give_what_they_say(texts):
    for row in texts.rows.values():
        names = {"tf": tf}
        for code, gives in texts.texts[row.id].examples:
            if gives:
                assert repr(eval(code, names)) == gives, (row.path, code)
            else:
                exec(code, names)


def test_without_its_file_there_are_no_docstrings_but_signatures(tmp_path):
    os.mkdir(tmp_path / "thalweg")
    for name in os.listdir(PACKAGE):
        if name != "reference.bin":
            os.symlink(os.path.join(PACKAGE, name), tmp_path / "thalweg" / name)
    os.unlink(tmp_path / "thalweg" / "_core.abi3.so")
    with open(os.path.join(PACKAGE, "_core.abi3.so"), "rb") as source, open(tmp_path / "thalweg" / "_core.abi3.so", "wb") as copy:
        copy.write(source.read())
    for damage in (None, b"", b"THALWEG reference 1\n", b"THALWEG reference 1\n\xff\xff\x00\x00nonsense"):
        if damage is not None:
            (tmp_path / "thalweg" / "reference.bin").write_bytes(damage)
        out = subprocess.run([sys.executable, "-c", "import inspect, thalweg as tf; print(tf.nn.softmax.__doc__, tf.keras.layers.Dense.__doc__, "
                              "inspect.signature(tf.nn.relu))"], env=dict(os.environ, PYTHONPATH=str(tmp_path)), capture_output=True, text=True)
        assert out.stdout == "None None (features, name=None)\n", out.stderr


def test_an_import_reads_no_texts():
    out = subprocess.run(["strace", "-f", "-e", "trace=openat,access", sys.executable, "-c", "import thalweg"], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=os.path.dirname(PACKAGE))) if os.path.exists("/usr/bin/strace") else None
    if out is None:
        pytest.skip("strace is not installed")
    assert "reference.bin" not in out.stderr


def test_the_library_does_not_hold_the_texts(texts):
    with open(os.path.join(PACKAGE, "_core.abi3.so"), "rb") as f:
        library = f.read()
    for row in ("nn_softmax", "layers_dense", "exp"):
        assert texts.texts[row].summary.encode() not in library
