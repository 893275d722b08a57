"""What packages that use TensorFlow rely on, beside what TensorFlow answered; and that they find it where they look for it."""
import json
import os
import subprocess
import sys

from golden_files import golden_file
import package_cases
import pytest
import thalweg as tf

with open(golden_file("packages", "values.json")) as file:
    EXPECTED = json.load(file)


@pytest.mark.parametrize("name", package_cases.CASES)
def test_answers(name):
    tf.keras.backend.clear_session()
    assert json.loads(json.dumps(package_cases.CASES[name](tf))) == EXPECTED[name]


def test_every_answer_has_a_case():
    assert set(EXPECTED) == set(package_cases.CASES)


def test_a_method_that_was_replaced_first_stays():
    program = ("import thalweg as tf\ndef fit(self): return 'own'\ntf.keras.Model.fit = fit\n"
               "m = tf.keras.Sequential([tf.keras.layers.Dense(1)]); m.compile('sgd', 'mse')\nprint(m.fit(), tf.keras.Model.fit is fit)")
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout == "own True\n"


def test_versions_are_found_as_those_of_installed_packages():
    program = ("import importlib.metadata as m, importlib.util\n"
               "print(m.version('tensorflow'), m.version('keras'), m.metadata('tensorflow')['Name'], importlib.util.find_spec('tensorflow') is not None)\n"
               "print(sorted(d.name for d in m.distributions() if d.name in ('tensorflow', 'keras')))\n"
               "try: m.version('tensorflow-that-is-not-there')\nexcept m.PackageNotFoundError: print('none')")
    found = subprocess.run([sys.executable, "-m", "thalweg", "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert found == "2.15.1 2.15.0 tensorflow True\n['keras', 'tensorflow']\nnone\n"


def test_determinism_can_be_asked_and_undone():
    from thalweg.python.framework import config
    assert not config.is_op_determinism_enabled()
    tf.config.experimental.enable_op_determinism()
    try:
        assert config.is_op_determinism_enabled()
    finally:
        config.disable_op_determinism()
    assert not config.is_op_determinism_enabled()


def test_tensorflow_datasets_that_is_installed_is_used(tmp_path):
    (tmp_path / "tensorflow_datasets.py").write_text("name = 'installed'\n")
    for folder, expected in ((str(tmp_path), "installed"), ("", "None")):
        found = subprocess.run([sys.executable, "-m", "thalweg", "-c", "import tensorflow_datasets as t; print(getattr(t, 'name', None))"], stdout=subprocess.PIPE,
                               text=True, check=True, env=dict(os.environ, PYTHONPATH=os.environ.get("PYTHONPATH", "") + os.pathsep + folder)).stdout
        assert found.split() == [expected]
