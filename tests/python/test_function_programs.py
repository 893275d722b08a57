"""The programs of function_programs.py and function_state_programs.py print here what they print under TensorFlow 2.15.1."""
import json

import pytest

import function_programs
import function_state_programs
import printed
from golden_files import golden_file
import thalweg as tf

with open(golden_file("function_programs", "function_programs.json")) as _file:
    EXPECTED = json.load(_file)


@pytest.mark.parametrize("program", function_programs.PROGRAMS + function_state_programs.PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    printed.check(function_programs.run(program, tf), EXPECTED[program.__name__])
