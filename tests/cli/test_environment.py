"""Environment variables: the table of docs/environment.md is the sources' own list, and TensorFlow's variables do what they do there."""
import json
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
READ = re.compile(r'(?:\bgetenv\(|\bos\.environ(?:\.get\(|\[)|\bos\.getenv\()"([A-Z_]+)"')
NOT_READ = set()


def sources():
    for top in ("src", "python", "programs", "include"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h", ".py")):
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        yield f.read()


def test_table():
    read = set()
    for text in sources():
        read.update(READ.findall(text))
        read.update(re.findall(r'"((?:THALWEG|TF|OMP)_[A-Z_]+)"', text) if "getenv" in text else ())
    with open(os.path.join(ROOT, "docs", "environment.md"), encoding="utf-8") as f:
        rows = [line.split("|")[1] for line in f if line.startswith("| `")]
    listed = [name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)]
    assert len(listed) == len(set(listed))
    assert read - set(listed) == set() and set(listed) - read == NOT_READ


def python(code, **variables):
    plain = {name: text for name, text in os.environ.items() if not name.startswith(("TF_", "OMP_", "THALWEG_", "KERAS_"))}
    done = subprocess.run([sys.executable, "-c", "import os, thalweg as tf\n" + code], capture_output=True, text=True, timeout=120,
                          env=dict(plain, PYTHONPATH=os.path.join(BUILD, "python"), **variables))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("variables,threads", [
    ({"TF_NUM_INTRAOP_THREADS": "3"}, 3), ({"OMP_NUM_THREADS": "4"}, 4), ({"OMP_NUM_THREADS": "4,2"}, 4),
    ({"TF_NUM_INTRAOP_THREADS": "2", "OMP_NUM_THREADS": "4"}, 2), ({"THALWEG_NUM_THREADS": "5", "TF_NUM_INTRAOP_THREADS": "2"}, 5),
    ({"TF_NUM_INTRAOP_THREADS": "none", "OMP_NUM_THREADS": "3"}, 3),
])
def test_threads(variables, threads):
    # A large sum runs on all threads of the pool; oneDNN's are its own.
    code = "tf.reduce_sum(tf.sqrt(tf.ones([4000, 4000])) * 2 + 1)\nprint(len(os.listdir('/proc/self/task')), tf.config.threading.get_intra_op_parallelism_threads())"
    assert python(code, **variables) == (0, "%d 0\n" % threads, "")


PRINTS = """
for level in ("info", "warning", "error"):
    tf.print(level, output_stream=getattr(tf.compat.v1.logging, level))
tf.print("plain")
"""


@pytest.mark.parametrize("level,lines", [("0", "info warning error plain"), ("1", "warning error plain"), ("2", "error plain"), ("3", "plain")])
def test_log_level(level, lines):
    code, out, err = python(PRINTS, TF_CPP_MIN_LOG_LEVEL=level)
    assert (code, out, err.split()) == (0, "", lines.split())
    placed = python("tf.debugging.set_log_device_placement(True)\ntf.add(1, 2)", TF_CPP_MIN_LOG_LEVEL=level)[2]
    assert ("Executing op AddV2" in placed) == (level == "0")


REFUSED = "Random ops require a seed to be set when determinism is enabled. Please set a seed before running the op, e.g. by calling tf.random.set_seed(1)."
# What TensorFlow refuses without a seed once determinism is enabled, and what it does not.
RANDOM = {
    "tf.random.normal([2])": True, "tf.random.uniform([2], seed=3)": False, "tf.nn.dropout(tf.ones([3]), 0.5)": True, "tf.nn.dropout(tf.ones([3]), 0.0)": True,
    "tf.keras.layers.Dropout(.5)(tf.ones([3]), training=True)": True, "tf.keras.layers.Dense(3)(tf.ones([3, 2]))": False,
    "tf.data.Dataset.range(3).shuffle(2)": True, "tf.data.Dataset.range(3).shuffle(2, seed=1)": False, "tf.data.Dataset.random()": True,
    "tf.function(lambda: tf.random.normal([2]))()": True, "tf.image.random_flip_left_right(tf.ones([2, 2, 3]))": True,
    "tf.keras.layers.GaussianNoise(1.)(tf.ones([1, 4]), training=True)": True, "tf.math.unsorted_segment_sum([1., 2.], [0, 0], 1)": False,
    "tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, False, 3, unigrams=[1, 1, 1])": True, "tf.random.gamma([2], 1.)": True,
    "tf.random.stateless_normal([2], [1, 2])": False, "tf.random.shuffle([1, 2])": True, "tf.compat.v1.get_seed(None)": True,
}
TRY = """
import sys
for text in %r:
    try:
        eval(text)
        print("fine")
    except RuntimeError as error:
        print("refused" if %r in str(error) else error)
"""


@pytest.mark.parametrize("first,variables", [("", {"TF_DETERMINISTIC_OPS": "1"}), ("", {"TF_DETERMINISTIC_OPS": "true"}),
                                             ("tf.config.experimental.enable_op_determinism()", {})])
def test_determinism(first, variables):
    code, out, err = python(first + TRY % (list(RANDOM), REFUSED), **variables)
    assert code == 0, err
    assert dict(zip(RANDOM, out.splitlines())) == {text: "refused" if refused else "fine" for text, refused in RANDOM.items()}
    assert set(python("tf.random.set_seed(1)\n" + first + TRY % (list(RANDOM), REFUSED), **variables)[1].split()) == {"fine"}


def test_determinism_is_off():
    for value in ("0", "false", ""):
        assert set(python(TRY % (list(RANDOM), REFUSED), TF_DETERMINISTIC_OPS=value)[1].split()) == {"fine"}


SHOW = "print(tf.keras.backend.floatx(), tf.keras.backend.epsilon(), tf.keras.backend.image_data_format(), tf.keras.layers.Dense(1)(tf.ones([1, 1])).dtype.name)"


@pytest.mark.parametrize("settings,shown", [
    ({"floatx": "float64", "epsilon": 1e-5, "backend": "tensorflow", "image_data_format": "channels_last"}, "float64 1e-05 channels_last float64\n"),
    ({"epsilon": 1}, "float32 1.0 channels_last float32\n"), ({}, "float32 1e-07 channels_last float32\n"),
    ("{not JSON", "float32 1e-07 channels_last float32\n"), ([1, 2], "float32 1e-07 channels_last float32\n"), (None, "float32 1e-07 channels_last float32\n"),
])
def test_keras_settings(settings, shown, tmp_path):
    if settings is not None:
        (tmp_path / "keras.json").write_text(settings if isinstance(settings, str) else json.dumps(settings))
    assert python(SHOW, KERAS_HOME=str(tmp_path)) == (0, shown, "")
    assert settings is not None or not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings,words", [({"image_data_format": "channels_first"}, "only channels_last is supported"), ({"floatx": "int8"}, "Unknown `floatx` value: int8")])
def test_keras_settings_that_are_refused(settings, words, tmp_path):
    (tmp_path / "keras.json").write_text(json.dumps(settings))
    code, _, err = python(SHOW, KERAS_HOME=str(tmp_path))
    assert code == 1 and "keras.json: " in err and words in err


def test_no_gpu_is_visible():
    for value in ("", "-1", "0"):
        assert python("print(tf.config.list_physical_devices('GPU'))", CUDA_VISIBLE_DEVICES=value) == (0, "[]\n", "")
