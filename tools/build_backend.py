#!/usr/bin/env python3
"""Builds the wheel and the sdist: the backend (PEP 517) that pyproject.toml names, and what `make wheel` calls. It needs the standard library, CMake
and a C compiler; nothing is downloaded.

usage: build_backend.py wheel|sdist FOLDER [build=DIR]

A wheel is built in build-wheel; build=DIR (pip: --config-settings build=DIR) takes a build tree that is there. The same sources give the same bytes:
files are sorted, and their time is SOURCE_DATE_EPOCH, or fixed."""
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if sys.version_info < (3, 11):
    sys.exit("thalweg needs Python 3.11 or newer; this is Python %d.%d" % sys.version_info[:2])
sys.path.insert(0, os.path.join(ROOT, "tools"))

import tomllib  # noqa: E402

import wheel_tag  # noqa: E402

ABI = "cp311-abi3"  # the extension uses the stable ABI of 3.11
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))  # 1980, the first year that a zip can say
TARGETS = ("thalweg_python", "thalweg_python_files", "thalweg_python_stubs")


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def version():
    """CMakeLists.txt says it."""
    return re.search(r"^project\(thalweg VERSION ([\d.]+)", read("CMakeLists.txt"), re.M).group(1)


def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


# ---- metadata ----

def metadata():
    """The text of METADATA and PKG-INFO."""
    p = project()
    lines = ["Metadata-Version: 2.4", "Name: " + p["name"], "Version: " + version(), "Summary: " + p["description"],
             "License-Expression: " + p["license"], *("License-File: " + name for name in p["license-files"]), "Keywords: " + ",".join(p["keywords"]),
             *("Classifier: " + c for c in p["classifiers"]), "Requires-Python: " + p["requires-python"],
             *("Requires-Dist: " + d for d in p["dependencies"])]
    for extra, wanted in p.get("optional-dependencies", {}).items():
        lines.append("Provides-Extra: " + extra)
        for requirement in wanted:
            name, _, condition = requirement.partition(";")
            lines.append("Requires-Dist: %s; %sextra == '%s'" % (name, "%s and " % condition.strip() if condition else "", extra))
    return "\n".join(lines + ["Description-Content-Type: text/markdown", "", read(p["readme"])])


def entry_points():
    return "[console_scripts]\n" + "".join("%s = %s\n" % pair for pair in project()["scripts"].items())


def information(tag):
    """The files of the dist-info folder but RECORD."""
    files = {"METADATA": metadata(), "WHEEL": "Wheel-Version: 1.0\nGenerator: thalweg\nRoot-Is-Purelib: false\nTag: %s\n" % tag,
             "entry_points.txt": entry_points(), "top_level.txt": "thalweg\n"}
    files.update(("licenses/" + name, read(name)) for name in project()["license-files"])
    return {"thalweg-%s.dist-info/%s" % (version(), name): text.encode() for name, text in files.items()}


# ---- building ----

def run(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("%s failed:\n%s" % (" ".join(command), done.stdout))


def installed(build, stage):
    """Builds the Python package and puts it into a folder; gives {path in the wheel: bytes}."""
    if not build:
        build = os.path.join(ROOT, "build-wheel")
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        run("cmake", "-S", ROOT, "-B", build, *generator, "-DTW_TESTS=OFF", "-DTW_PYTHON=ON", "-DTW_PYTHON_EXECUTABLE=" + sys.executable)
    build = os.path.abspath(build)
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        sys.exit("build=%s is not a build tree" % build)
    run("cmake", "--build", build, "--parallel", str(os.cpu_count()), "--target", *TARGETS)
    run("cmake", "--install", build, "--component", "python", "--prefix", stage, "--strip")
    (folder,) = (base for base, folders, _ in os.walk(stage) if "thalweg-stubs" in folders)
    files = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
    return files, os.path.join(folder, "thalweg", "_core.abi3.so")


def zipped(path, files):
    """Writes a wheel, RECORD at its end."""
    record = "thalweg-%s.dist-info/RECORD" % version()
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name, data):
            entry = zipfile.ZipInfo(name, time.gmtime(max(EPOCH, 315532800))[:6])
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, (0o755 if name.endswith(".so") else 0o644) << 16, 3
            archive.writestr(entry, data)
        for name, data in sorted(files.items(), key=lambda pair: (".dist-info/" in pair[0], pair[0])):
            add(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append("%s,sha256=%s,%d\n" % (name, digest, len(data)))
        add(record, ("".join(lines) + record + ",,\n").encode())


def sources():
    """The files of the sdist: those that git knows, or all of an unpacked sdist."""
    if os.path.exists(os.path.join(ROOT, ".git")):
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True).stdout.decode()
        names = [name for name in listed.split("\0") if name and os.path.isfile(os.path.join(ROOT, name))]
    else:
        names = [os.path.relpath(os.path.join(base, name), ROOT) for base, _, found in os.walk(ROOT) for name in found]
        names = [n for n in names if n != "PKG-INFO" and not re.match(r"build(-[^/]*)?/|dist/|(.*/)?__pycache__/", n)]
    return sorted(names)


# ---- what pip calls ----

def get_requires_for_build_wheel(config_settings=None):
    """CMake and Ninja come from the system; pip fetches those that are not there."""
    return [name for name in ("cmake", "ninja") if not shutil.which(name) and not (config_settings or {}).get("build")]


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    for name, data in information(ABI + "-linux").items():
        path = os.path.join(metadata_directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
    return "thalweg-%s.dist-info" % version()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as stage:
        files, extension = installed((config_settings or {}).get("build"), stage)
        platform, complaints = wheel_tag.tag(extension)
    for line in complaints:
        print("not a manylinux wheel: " + line, file=sys.stderr)
    files.update(information(ABI + "-" + platform))
    name = "thalweg-%s-%s-%s.whl" % (version(), ABI, platform)
    zipped(os.path.join(wheel_directory, name), files)
    return name


def build_sdist(sdist_directory, config_settings=None):
    folder = "thalweg-" + version()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(name, content, mode):
            entry = tarfile.TarInfo(folder + "/" + name)
            entry.size, entry.mode, entry.mtime = len(content), mode, EPOCH
            archive.addfile(entry, io.BytesIO(content))
        for name in sources():
            path = os.path.join(ROOT, name)
            with open(path, "rb") as f:
                add(name, f.read(), 0o755 if os.access(path, os.X_OK) else 0o644)
        add("PKG-INFO", metadata().encode(), 0o644)
    import gzip
    with open(os.path.join(sdist_directory, folder + ".tar.gz"), "wb") as f, gzip.GzipFile("", "wb", 9, f, EPOCH) as packed:
        packed.write(data.getvalue())
    return folder + ".tar.gz"


def main():
    kinds = {"wheel": build_wheel, "sdist": build_sdist}
    if len(sys.argv) < 3 or sys.argv[1] not in kinds or any("=" not in s for s in sys.argv[3:]):
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    name = kinds[sys.argv[1]](sys.argv[2], dict(setting.split("=", 1) for setting in sys.argv[3:]))
    path = os.path.join(sys.argv[2], name)
    print("%s (%.2f MB)" % (path, os.path.getsize(path) / 1e6))


if __name__ == "__main__":
    main()
