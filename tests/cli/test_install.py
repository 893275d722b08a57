"""What `make install` puts where, and that README's examples work with it: the C one by pkg-config, CMake's find_package and Meson, the
Python one by the installed command and by a plain import."""
import os
import re
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
PREFIX = "/usr/somewhere"
WARNINGS = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        return re.search(r"^%s:\w+=(.*)$" % name, f.read(), re.M).group(1)


pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "CMakeCache.txt")) or cached("TW_PYTHON") != "ON" or
                                cached("TW_SANITIZE") == "ON", reason="not a complete build tree")


def example(language):
    with open(os.path.join(ROOT, "README.md")) as f:
        return re.search(r"^```%s\n(.*?)^```$" % language, f.read(), re.M | re.S).group(1)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, "%s\n%s%s" % (" ".join(command), done.stdout, done.stderr)
    return done.stdout


def environment(**more):
    plain = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "MAKEFLAGS")}
    return dict(plain, **more)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The installed tree; the path is <DESTDIR><PREFIX>."""
    target = tmp_path_factory.mktemp("install")
    run("make", "-C", ROOT, "install", "BUILD=" + BUILD, "PREFIX=" + PREFIX, "DESTDIR=%s" % target,
        "PYTHON=" + cached("TW_PYTHON_EXECUTABLE"), env=environment())
    return str(target) + PREFIX


def test_what_is_there(tree):
    files = {os.path.relpath(os.path.join(folder, name), tree) for folder, _, names in os.walk(tree) for name in names}
    expected = {"bin/thalweg", "lib/libthalweg.a", "lib/libthalweg.so", "lib/libthalweg.so.0", "lib/libthalweg.so.0.1.0", "include/thalweg.h",
                "include/thalweg/api.h", "include/thalweg/base.h", "include/thalweg/keras.h", "include/thalweg/nn.h", "include/thalweg.hpp",
                "include/thalweg/api.hpp", "lib/pkgconfig/thalweg.pc", "share/man/man1/thalweg.1", "share/man/man3/thalweg.3",
                "share/doc/thalweg/LICENSE", "share/doc/thalweg/CHANGELOG.md", "share/doc/thalweg/examples/python/demo.py", "share/doc/thalweg/c.md",
                "share/bash-completion/completions/thalweg", "share/zsh/site-functions/_thalweg", "share/fish/vendor_completions.d/thalweg.fish", "share/doc/thalweg/examples/c/mlp_checkpoint.c",
                "lib/cmake/thalweg/thalweg-config.cmake", "lib/cmake/thalweg/thalweg-config-version.cmake", "lib/cmake/thalweg/thalweg-targets.cmake",
                "lib/thalweg/python/thalweg/__init__.py", "lib/thalweg/python/thalweg/__main__.py", "lib/thalweg/libthalweg-pjrt.so", "lib/thalweg/python/thalweg/libthalweg-pjrt.so",
                "lib/thalweg/python/thalweg/_core.abi3.so", "lib/thalweg/python/thalweg-stubs/__init__.pyi", "lib/python3/dist-packages/thalweg.pth"}
    assert not expected - files
    assert os.path.realpath(os.path.join(tree, "lib/libthalweg.so")) == os.path.join(os.path.realpath(tree), "lib/libthalweg.so.0.1.0")
    for name in files:  # nothing of the machine that built it
        if name.endswith((".pc", ".cmake", ".h", ".py", ".pyi", ".pth")):
            with open(os.path.join(tree, name)) as f:
                text = f.read()
            assert ROOT not in text and BUILD not in text, name
        elif name.startswith(("bin/", "lib/lib")) or name.endswith(".so"):
            with open(os.path.join(tree, name), "rb") as f:
                data = f.read()
            assert ROOT.encode() not in data and BUILD.encode() not in data, name


def test_symbols(tree):
    shared = os.path.join(tree, "lib/libthalweg.so")
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", shared).splitlines()]
    assert len(names) > 300
    assert not [n for n in names if not re.match(r"(tw_[a-z]\w*@@)?(THALWEG_0\.1@@)?THALWEG_0\.1$", n)]
    assert re.search(r"SONAME.*\[libthalweg\.so\.0\]", run("readelf", "-d", shared))
    # A program that links the static library gets no name but ours.
    names = {line.split()[-1] for line in run("nm", "-g", "--defined-only", os.path.join(tree, "lib/libthalweg.a")).splitlines() if len(line.split()) == 3}
    assert len(names) > 300 and not [n for n in names if not n.startswith("tw_")]
    extension = os.path.join(tree, "lib/thalweg/python/thalweg/_core.abi3.so")
    assert [line.split()[-1] for line in run("nm", "-D", "--defined-only", extension).splitlines()] == ["PyInit__core"]
    lowerings = run("nm", "-D", os.path.join(tree, "lib/thalweg/libthalweg-pjrt.so")).splitlines()  # it gets what it uses of the library at run time
    assert [line.split()[-1] for line in lowerings if " tw_" in line] == ["tw__lowerings_open"]


def test_size(tree):
    assert os.path.getsize(os.path.join(tree, "lib/libthalweg.so")) < 6_000_000  # unwind tables are a tenth of it


def check_c_output(out):
    """What TensorFlow's Adam gives; the last digits differ with the processor."""
    assert out.startswith("tf.Tensor(\n[[") and out.endswith("]], shape=(2, 1), dtype=float32)\n")
    assert [round(float(number), 4) for number in re.findall(r"\d+\.\d+", out)] == [0.8573, 1.8573]


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_pkg_config(tree, tmp_path, kind):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(example("c"))
    own = environment(PKG_CONFIG_PATH=os.path.join(tree, "lib/pkgconfig"))
    flags = run("pkg-config", "--cflags", "--libs", *(["--static"] if kind == "static" else []), "thalweg", env=own).split()
    if kind == "static":
        flags = ["-l:libthalweg.a" if f == "-lthalweg" else f for f in flags]
    run("cc", *WARNINGS, str(source), "-o", str(program), *flags)
    check_c_output(run(str(program), env=environment(LD_LIBRARY_PATH=os.path.join(tree, "lib"))))
    assert run("pkg-config", "--modversion", "thalweg", env=own) == "0.1.0\n"


def test_c_example_leaks_nothing(tree, tmp_path):
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(example("c"))
    run("cc", *WARNINGS, "-fsanitize=address,undefined", "-I" + os.path.join(tree, "include"), str(source), "-o", str(program),
        os.path.join(tree, "lib/libthalweg.a"), "-lz", "-lm", "-ldl", "-lpthread")
    check_c_output(run(str(program), env=environment(ASAN_OPTIONS="detect_leaks=1")))


def test_find_package(tree, tmp_path):
    (tmp_path / "program.c").write_text(example("c"))
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
set(CMAKE_C_STANDARD 17)
add_compile_options(%s)
find_package(thalweg 0.1 REQUIRED)
add_executable(with_shared program.c)
target_link_libraries(with_shared thalweg::thalweg)
add_executable(with_static program.c)
target_link_libraries(with_static thalweg::thalweg_static)
""" % " ".join(WARNINGS[1:]))
    run("cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + tree)
    run("ninja", "-C", str(tmp_path / "build"))
    check_c_output(run(str(tmp_path / "build/with_shared")))
    check_c_output(run(str(tmp_path / "build/with_static")))


@pytest.mark.skipif(not shutil.which("meson"), reason="Meson is not installed")
def test_meson(tree, tmp_path):
    (tmp_path / "program.c").write_text(example("c"))
    (tmp_path / "meson.build").write_text("""project('user', 'c', default_options: ['c_std=c17', 'warning_level=2', 'werror=true'])
executable('program', 'program.c', dependencies: dependency('thalweg', version: '>=0.1'))
""")
    own = environment(PKG_CONFIG_PATH=os.path.join(tree, "lib/pkgconfig"), LD_LIBRARY_PATH=os.path.join(tree, "lib"))
    run("meson", "setup", str(tmp_path / "build"), str(tmp_path), env=own)
    run("ninja", "-C", str(tmp_path / "build"), env=own)
    check_c_output(run(str(tmp_path / "build/program"), env=own))


def offered(tree, shell, *words):
    """What the completion of a shell offers behind these words."""
    own = environment(PATH=os.path.join(tree, "bin") + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    if shell == "bash":
        file = os.path.join(tree, "share/bash-completion/completions/thalweg")
        code = 'source %s; COMP_WORDS=(thalweg "$@"); COMP_CWORD=$#; _thalweg; printf "%%s\\n" "${COMPREPLY[@]}"' % file
        return run("bash", "-c", code, "bash", *words, env=own).split()
    file = os.path.join(tree, "share/fish/vendor_completions.d/thalweg.fish")
    out = run("fish", "-N", "-c", "source %s; complete -C'thalweg %s'" % (file, " ".join(words)), env=own)
    return [line.split("\t")[0] for line in out.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_completion(tree, shell):
    if not shutil.which(shell):
        pytest.skip("%s is not installed" % shell)
    listed = re.findall(r"^  ([a-z]+)  ", run(os.path.join(tree, "bin/thalweg"), "help"), re.M)
    assert "checkpoint" in listed and sorted(offered(tree, shell, "")) == sorted(listed) == sorted(offered(tree, shell, "help", ""))
    assert offered(tree, shell, "che") == ["checkpoint"]
    assert {"ls", "cat"} <= set(offered(tree, shell, "checkpoint", ""))
    assert offered(tree, shell, "checkpoint", "--js") == ["--json"]
    assert "--logdir" in offered(tree, shell, "tensorboard", "--")


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_completion_of_zsh(tree):
    run("zsh", "-n", os.path.join(tree, "share/zsh/site-functions/_thalweg"))


def test_uninstall(tmp_path):
    """Removes what was installed, leaves what was there."""
    target = str(tmp_path)
    other = os.path.join(target + PREFIX, "lib/other.so")
    os.makedirs(os.path.dirname(other))
    open(other, "w").close()
    for goal in ("install", "uninstall"):
        run("make", "-C", ROOT, goal, "BUILD=" + BUILD, "PREFIX=" + PREFIX, "DESTDIR=" + target, "PYTHON=" + cached("TW_PYTHON_EXECUTABLE"),
            env=environment())
        files = [os.path.join(folder, name) for folder, _, names in os.walk(target) for name in names]
        assert len(files) > 200 if goal == "install" else files == [other]
    assert not [folder for folder, _, _ in os.walk(target + PREFIX) if "thalweg" in folder[len(target + PREFIX):]]


def test_make_says_what_is_missing(tmp_path):
    """It installs nothing by itself."""
    for tool in ("sh", "cc", "dirname", "cmake", "python3"):  # ninja is not among them
        (tmp_path / tool).symlink_to(shutil.which(tool))
    done = subprocess.run([shutil.which("make"), "-C", ROOT, "BUILD=%s" % (tmp_path / "build")], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode != 0 and not (tmp_path / "build").exists()
    assert "missing to build thalweg: ninja\n'make setup' installs them on Debian, as does: apt-get install ninja-build\n" in done.stderr


def check_python_output(out):
    # 100 steps of Adam come near 10.
    loss, path = re.fullmatch(r"tf\.Tensor\((\S+), shape=\(\), dtype=float32\) (\S+)\n", out).groups()
    assert float(loss) < 0.1 and path == "save/model.ckpt-1"


def test_python_example_by_the_command(tree, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(example("python").replace("import thalweg as tf", "import tensorflow as tf"))
    own = environment(THALWEG_PYTHON=sys.executable, PYTHONDONTWRITEBYTECODE="1")
    check_python_output(run(os.path.join(tree, "bin/thalweg"), "run", str(script), cwd=tmp_path, env=own))
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in run(os.path.join(tree, "bin/thalweg"), "checkpoint", "ls", "save", cwd=tmp_path, env=own)


def test_python_example_by_import(tree, tmp_path):
    own = environment(PYTHONDONTWRITEBYTECODE="1")
    site = "import site; site.addsitedir(%r)\n" % os.path.join(tree, "lib/python3/dist-packages")
    check_python_output(run(sys.executable, "-c", site + example("python"), cwd=tmp_path, env=own))
    own["PYTHONPATH"] = os.path.join(tree, "lib/thalweg/python")
    check_python_output(run(sys.executable, "-c", example("python"), cwd=tmp_path / "save", env=own))
