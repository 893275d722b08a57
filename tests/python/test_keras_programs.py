"""The programs of keras_*_programs.py print here what they print under TensorFlow 2.15.1."""
import json

import pytest

import keras_call_programs
import keras_optimizer_programs
import keras_own_programs
import printed
from golden_files import golden_file
import thalweg as tf

PROGRAMS = keras_optimizer_programs.PROGRAMS + keras_call_programs.PROGRAMS + keras_own_programs.PROGRAMS
with open(golden_file("keras_programs", "keras_programs.json")) as _file:
    EXPECTED = json.load(_file)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    printed.check(keras_optimizer_programs.run(program, tf), EXPECTED[program.__name__], relative=1e-5, absolute=2e-5)
