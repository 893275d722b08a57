"""The wheel and the sdist: built offline from the build tree, installed into a fresh virtual environment, and README's program run there."""
import ast
import base64
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
BACKEND = os.path.join(ROOT, "tools", "build_backend.py")
LIMIT = 4_000_000


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        return re.search(r"^%s:\w+=(.*)$" % name, f.read(), re.M).group(1)


pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "CMakeCache.txt")) or cached("TW_PYTHON") != "ON" or
                                cached("TW_SANITIZE") == "ON", reason="not a complete build tree")


def run(*command, code=0, **options):
    plain = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE")}
    options["env"] = dict(plain, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONNOUSERSITE="1", **options.get("env", {}))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    assert done.returncode == code, "%s\n%s%s" % (" ".join(command), done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, BACKEND, "wheel", str(folder), "build=" + BUILD)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def bin(wheel, tmp_path_factory):
    """The programs of a virtual environment with the wheel in it; NumPy is the system's, since nothing is downloaded."""
    if not importlib.util.find_spec("ensurepip") or not importlib.util.find_spec("venv"):
        pytest.skip("virtual environments need Debian's python3-venv")
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--system-site-packages", str(folder))
    run(str(folder / "bin" / "pip"), "install", "-q", "--no-compile", str(wheel))
    return str(folder / "bin") + "/"


def readme():
    with open(os.path.join(ROOT, "README.md")) as f:
        return re.search(r"^```python\n(.*?)^```$", f.read(), re.M | re.S).group(1)


def test_size(wheel):
    assert os.path.getsize(wheel) < LIMIT


def test_tag(wheel, tmp_path):
    """One file for every Python from 3.11 on; the tag says what the extension needs of glibc, and no library is needed that may be missing."""
    assert re.fullmatch(r"thalweg-[\d.]+-cp311-abi3-manylinux_2_\d+_(x86_64|aarch64)\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        extension = archive.extract("thalweg/_core.abi3.so", tmp_path)
    tag = run(sys.executable, os.path.join(ROOT, "tools", "wheel_tag.py"), extension).strip()
    assert wheel.name.endswith("-%s.whl" % tag)
    assert "libdnnl" not in run("readelf", "-d", extension)


def test_tags_of_other_files(tmp_path):
    source = tmp_path / "s.c"
    source.write_text("int png_access_version_number(void);\nint puts(const char *s);\nint f(void) { return puts(\"\") + png_access_version_number(); }\n")
    run("cc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "plain.so"), "-Wl,--allow-shlib-undefined")
    tool = os.path.join(ROOT, "tools", "wheel_tag.py")
    assert re.fullmatch(r"manylinux_2_17_\w+\n", run(sys.executable, tool, str(tmp_path / "plain.so")))
    if subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "needs.so"), "-lpng16"], capture_output=True).returncode == 0:
        done = subprocess.run([sys.executable, tool, str(tmp_path / "needs.so")], capture_output=True, text=True)
        assert re.fullmatch(r"linux_\w+\n", done.stdout)
        assert "not manylinux: it needs libpng16.so.16\n" in done.stderr


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = names[-1].rpartition("/")[0]
        record = [line.split(",") for line in archive.read(info + "/RECORD").decode().splitlines()]
        for name, digest, size in record[:-1]:
            data = archive.read(name)
            assert len(data) == int(size)
            assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        text = archive.read(info + "/METADATA").decode()
    assert [line[0] for line in record] == names and names[-1] == info + "/RECORD"
    assert not [n for n in names if "__pycache__" in n or n.endswith((".a", ".pth"))]
    assert {"thalweg/__init__.py", "thalweg/_stand_in/tensorflow.py", "thalweg-stubs/__init__.pyi", info + "/licenses/LICENSE"} <= set(names)
    with open(os.path.join(ROOT, "python", "thalweg", "__init__.py")) as f:
        own = re.search(r'^__thalweg_version__ = "(.*)"', f.read(), re.M).group(1)
    assert "\nVersion: %s\n" % own in text and "\nRequires-Python: >=3.11\n" in text and "\nRequires-Dist: numpy" in text


def test_same_bytes_again(wheel, tmp_path):
    run(sys.executable, BACKEND, "wheel", str(tmp_path), "build=" + BUILD)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_readme(bin, tmp_path):
    (tmp_path / "ten.py").write_text(readme())
    out = run(bin + "python", "ten.py", cwd=tmp_path)
    assert float(re.match(r"tf\.Tensor\((\S+),", out).group(1)) < 0.1
    where = run(bin + "python", "-c", "import thalweg; print(thalweg.__file__)", cwd=tmp_path)
    assert where.startswith(os.path.realpath(bin + "..") + "/") or where.startswith(os.path.dirname(bin[:-1]) + "/")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in run(bin + "thalweg", "checkpoint", "ls", "save", cwd=tmp_path)


def test_programs(bin, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, tensorflow as tf\nfrom keras import layers\nprint(tf.constant(sys.argv[1]), layers.Dense, sys.prefix)\n")
    out = run(bin + "thalweg", "run", str(script), "text", cwd=tmp_path)
    assert out == run(bin + "python", "-m", "thalweg", str(script), "text", cwd=tmp_path)
    assert out.startswith("tf.Tensor(b'text', ") and os.path.realpath(out.split()[-1]) == os.path.realpath(bin + "..")
    assert run(bin + "thalweg", "version") == run(os.path.join(BUILD, "bin", "thalweg"), "version")
    for arguments, code in ((["bogus"], 2), (["run", "missing.py"], 2), (["checkpoint", "ls", "missing"], 1)):
        own = {"PYTHONPATH": os.path.join(BUILD, "python")} if arguments == ["run", "missing.py"] else {}
        assert run(bin + "thalweg", *arguments, code=code, cwd=tmp_path) == run(
            os.path.join(BUILD, "bin", "thalweg"), *arguments, code=code, cwd=tmp_path, env=own)
    assert run(bin + "thalweg", "run", input="import tensorflow as tf\nprint(int(tf.add(1, 2)))\n", cwd=tmp_path) == "3\n"
    assert "--logdir" in run(bin + "thalweg-tensorboard", "--bogus", code=2)


def test_a_broken_pipe_ends_the_command(bin, tmp_path):
    """As with any program: no traceback, and the process is gone."""
    done = subprocess.run("%sthalweg help | true; test ${PIPESTATUS[0]} = 0 -o ${PIPESTATUS[0]} = 141" % bin, shell=True, executable="/bin/bash",
                          capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


def test_sdist(tmp_path):
    run(sys.executable, BACKEND, "sdist", str(tmp_path))
    (path,) = tmp_path.iterdir()
    with tarfile.open(path) as archive:
        names = archive.getnames()
        folder = os.path.commonpath(names)
        assert {folder + "/" + n for n in ("pyproject.toml", "PKG-INFO", "CMakeLists.txt", "LICENSE", "tools/build_backend.py", "src/HOT")} <= set(names)
        assert not [n for n in names if n.startswith((folder + "/build", folder + "/.git/"))]
        archive.extractall(tmp_path / "out", filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(tmp_path / "out")
    # What was unpacked gives the same sdist again, without git.
    again = tmp_path / "again"
    run(sys.executable, str(tmp_path / "out" / folder / "tools" / "build_backend.py"), "sdist", str(again), env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert (again / path.name).read_bytes() == path.read_bytes()


def test_older_pythons():
    """They get a sentence, before anything that they can't read."""
    code = "import sys; sys.version_info = (3, 10, 1); sys.path[:0] = [%r, %r]; import %s"
    for name in ("thalweg", "build_backend"):
        error = run(sys.executable, "-c", code % (os.path.join(BUILD, "python"), os.path.join(ROOT, "tools"), name), code=1)
        assert error.rstrip("\n").endswith("thalweg needs Python 3.11 or newer; this is Python 3.10")
    for path in ("tools/build_backend.py", "python/thalweg/__init__.py"):
        with open(os.path.join(ROOT, path)) as f:
            ast.parse(f.read(), feature_version=(3, 7))
