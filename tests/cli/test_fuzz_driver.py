"""The driver of the fuzz targets (tests/fuzz/driver.c) keeps the input of which a trial died, and no other file."""
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")), "tests", "broken_reader")
SEED = b"a seed of forty bytes, which is as it is\0"


def run(folder, mode, *arguments):
    program = os.path.join(folder, "broken_reader")
    if not os.path.exists(program):
        shutil.copy(PROGRAM, program)
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=folder, timeout=120,
                          env={**os.environ, "BROKEN_READER": mode, "ASAN_OPTIONS": "detect_leaks=0:handle_abort=0"})


def kept(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".input"))


@pytest.mark.parametrize("mode, how", [("signal", "signal 6"), ("code", "code 3")])
def test_an_input_that_kills_is_kept(mode, how, tmp_path):
    seen = []
    for number in range(3):  # of the same changes: later runs keep inputs of their own
        done = run(tmp_path, mode, "20", "7")
        said = re.search(r"the trial ended with (.*); its input is (.*)\n", done.stderr)
        assert done.returncode == 1 and said and said.group(1) == how, done
        seen.append(os.path.basename(said.group(2)))
        assert kept(tmp_path) == sorted(seen) and len(set(seen)) == number + 1
    contents = {(tmp_path / name).read_bytes() for name in seen}
    assert len(contents) == 1 and len(contents.pop()) >= len(SEED)
    again = run(tmp_path, mode, seen[0])  # the input alone does the same
    assert again.returncode == (-6 if mode == "signal" else 3) and kept(tmp_path) == sorted(seen)
    assert run(tmp_path, "good", seen[0]).returncode == 0


def test_nothing_is_kept_of_a_good_run(tmp_path):
    done = run(tmp_path, "good", "0.2")
    assert done.returncode == 0 and re.fullmatch(r"1 seeds, \d+ mutations\n", done.stdout) and kept(tmp_path) == []


def test_seeds_are_written(tmp_path):
    assert run(tmp_path, "good", "--dump", str(tmp_path)).returncode == 0
    assert (tmp_path / "seed-0").read_bytes() == SEED and kept(tmp_path) == []
