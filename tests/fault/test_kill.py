"""Saving processes are killed at every system call of a save. Whatever moment it is, the newest checkpoint loads, is not older than the last
one that was acknowledged, and the next save leaves nothing over."""
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build"))
SAVER = os.path.join(BUILD, "tests", "fault_saver")
PROGRAM = os.path.join(BUILD, "bin", "thalweg")
CALLS = ("openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "renameat2", "link", "linkat", "unlink", "unlinkat", "close", "mkdir",
         "flock", "ftruncate", "fallocate")


def can_trace():
    if not shutil.which("strace"):
        return False
    done = subprocess.run(["strace", "-f", "-e", "inject=write:signal=KILL:when=1", "-o", "/dev/null", "echo"], capture_output=True)
    return done.returncode in (-9, 137)


pytestmark = pytest.mark.skipif(not can_trace(), reason="strace is not installed, or processes can't be traced here")


def save(directory, mode, kill=None):
    """Runs the saver, killed at the n-th of a kind of call. (the value it acknowledged or None, whether it was killed)"""
    command = [SAVER, str(directory), mode]
    if kill:
        command = ["strace", "-f", "-o", "/dev/null", "-e", "trace=" + kill[0], "-e", "inject=%s:signal=KILL:when=%d" % kill] + command
    done = subprocess.run(command, capture_output=True, text=True)
    killed = done.returncode in (-9, 137)
    assert killed or done.returncode == 0, done.stderr
    return (float(done.stdout.split()[1]) if done.stdout else None), killed


def value(prefix):
    """The value that a checkpoint holds; it must load."""
    done = subprocess.run([PROGRAM, "checkpoint", "cat", "--json", str(prefix), "value"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values = set(__import__("json").loads(done.stdout)["value"])
    assert len(values) == 1
    return values.pop()


FILES = {
    "manager": lambda n: {"checkpoint"} | {"ckpt-%d.%s" % (i, s) for i in (n - 1, n) for s in ("index", "data-00000-of-00001")},
    "checkpoint": lambda n: {"checkpoint"} | {"ckpt-%d.%s" % (i, s) for i in range(1, n + 1) for s in ("index", "data-00000-of-00001")},
    "overwrite": lambda n: {"ckpt.index", "ckpt.data-00000-of-00001"},
    "saved_model": lambda n: {"model"},
}
PLACES = {"overwrite": ("ckpt",), "saved_model": ("model", "variables", "variables")}


@pytest.mark.parametrize("mode", ["manager", "checkpoint", "overwrite", "saved_model"])
def test_killed_at_every_call(tmp_path, mode):
    start = tmp_path / "start"
    start.mkdir()
    for _ in range(3):
        save(start, mode)
    # A plain write restores nothing first: its value is always 1.
    before = value(start.joinpath(*PLACES.get(mode, ())))
    kills = 0
    for call in CALLS:
        when = 0
        while True:
            when += 1
            directory = tmp_path / "now"
            shutil.copytree(start, directory)
            acknowledged, killed = save(directory, mode, (call, when))
            where = directory.joinpath(*PLACES.get(mode, ()))
            found = value(where)
            assert found >= (acknowledged or before), (call, when)
            assert found in (before, before + 1)
            again, _ = save(directory, mode)
            assert value(where) == again
            if mode != "overwrite":
                assert again == found + 1
            number = int(again)
            assert set(os.listdir(directory)) == FILES[mode](number), (call, when)
            shutil.rmtree(directory)
            if not killed:
                break
            kills += 1
    assert kills > 15


def test_killed_when_there_is_nothing_yet(tmp_path):
    kills = 0
    for call in CALLS:
        when = 0
        while True:
            when += 1
            directory = tmp_path / "new" / "now"
            acknowledged, killed = save(directory, "manager", (call, when))
            if acknowledged:
                assert value(directory) == acknowledged
            again, _ = save(directory, "manager")
            assert value(directory) == again
            assert set(os.listdir(directory)) <= FILES["manager"](int(again)), (call, when)
            shutil.rmtree(tmp_path / "new")
            if not killed:
                break
            kills += 1
    assert kills > 10
