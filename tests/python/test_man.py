"""Manual pages of the C functions (tools/make_man.py): every function stands on one, and groff reads them without a word."""
import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import c_headers  # noqa: E402
import collect_rows  # noqa: E402


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "make_man.py"), os.path.join(ROOT, "src"), str(out)], check=True)
    return {os.path.basename(path): open(path, encoding="utf-8").read() for path in glob.glob(str(out / "*.3"))}, out


def test_every_function_has_its_entry(pages):
    text = "\n".join(pages[0].values())
    rows = [row for row in collect_rows.described(os.path.join(ROOT, "src"))[1] if c_headers.area(row) != "python"]
    assert len(rows) > 1700
    assert sorted(re.findall(r"(?m)^\.SS tw_(\w+)$", text)) == sorted(row.id for row in rows)


def test_an_entry_has_arguments_result_and_errors(pages):
    entry = pages[0]["thalweg_math.3"].split(".SS tw_add\n")[1].split(".SS ")[0]
    for part in ("tw_tensor *tw_add(tw_tensor *x, tw_tensor *y, .name)", ".I x\n", "Returns\n", ".B TW_INVALID_ARGUMENT\n", "In Python: tf.add"):
        assert part in entry


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
def test_groff_reads_them(pages):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer's, which ends groff
    for name in ("thalweg_core.3", "thalweg_nn.3", "thalweg_text.3"):
        out = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-rLL=400n", str(pages[1] / name)], capture_output=True, text=True, env=environment)
        assert out.returncode == 0 and not [line for line in out.stderr.splitlines() if "adjust" not in line and "break" not in line]
