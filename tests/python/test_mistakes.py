"""The mistakes that users make get TensorFlow's class of error and the phrase that tells what is wrong (mistakes.json, made by tests/golden/mistakes.py)."""
import json
import linecache

import numpy as np
import pytest
from golden_files import golden_file
import thalweg as tf

with open(golden_file("mistakes", "mistakes.json")) as file:
    CASES = json.load(file)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_mistake(case, tmp_path):
    path = tmp_path / "mistake.py"
    path.write_text(case["code"] + "\n")
    linecache.checkcache()
    with pytest.raises(Exception) as caught:
        exec(compile(case["code"], str(path), "exec"), {"tf": tf, "np": np, "folder": str(tmp_path), "__name__": "mistake"})
    assert case["phrase"].replace("'tensorflow'", "'thalweg'") in str(caught.value)
    assert type(caught.value).__name__ == case["error"]
