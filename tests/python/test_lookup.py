"""Tables: tf.lookup everywhere that programs use it, SavedModels and checkpoints with tables that TensorFlow wrote (tests/golden/lookup.py)."""
import json
import os
import zipfile

import lookup_cases
import pytest
import table
from golden_files import golden_file
import thalweg as tf

HERE = os.path.dirname(os.path.abspath(__file__))
with open(golden_file("tables", "lookup_cases.json")) as _file:
    EXPECTED = json.load(_file)
CASES = lookup_cases.cases(tf)


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    made = tmp_path_factory.mktemp("tables")
    with zipfile.ZipFile(os.path.join(HERE, "..", "golden", "lookup", "tables.zip")) as archive:
        archive.extractall(made)
    return str(made)


@pytest.mark.parametrize("name", list(CASES))
def test_tables(name):
    got = json.loads(json.dumps(table.run(CASES[name])))
    assert table.same(got, EXPECTED[name]), "%s\n%s" % (got, EXPECTED[name])


def test_every_case_has_an_answer():
    assert list(CASES) == list(EXPECTED)


def _same(got, name):
    assert table.same(json.loads(json.dumps(table.plain(got))), EXPECTED[name])


def test_saved_model_of_tensorflow(golden):
    _same(lookup_cases.asked(tf, tf.saved_model.load(os.path.join(golden, "model"))), "SavedModel")
    _same(lookup_cases.asked(tf, tf.keras.models.load_model(os.path.join(golden, "model"))), "SavedModel")


def test_saved_model_of_tensorflow_saved_again(golden, tmp_path):
    loaded = tf.saved_model.load(os.path.join(golden, "model"))
    tf.saved_model.save(loaded, str(tmp_path / "m"))
    _same(lookup_cases.asked(tf, tf.saved_model.load(str(tmp_path / "m"))), "SavedModel")


def test_checkpoint_of_tensorflow(golden, tmp_path):
    here = lookup_cases.module(tf, str(tmp_path))
    tf.train.Checkpoint(m=here).restore(tf.train.latest_checkpoint(os.path.join(golden, "checkpoint"))).assert_consumed()
    _same(lookup_cases.asked(tf, here), "SavedModel")


def test_assets_go_along(tmp_path):
    os.makedirs(str(tmp_path / "files"))
    tables = lookup_cases.module(tf, str(tmp_path / "files")).fill()
    tf.saved_model.save(tables, str(tmp_path / "m"))
    os.remove(str(tmp_path / "files" / "vocabulary.txt"))
    assert os.listdir(str(tmp_path / "m" / "assets")) == ["vocabulary.txt"]
    os.rename(str(tmp_path / "m"), str(tmp_path / "n"))
    assert tf.saved_model.load(str(tmp_path / "n")).look(tf.constant(["ten\t10"]))["lines"].numpy() == [1]


def test_signatures_in_sessions(tmp_path):
    tables = lookup_cases.module(tf, str(tmp_path)).fill()
    tf.saved_model.save(tables, str(tmp_path / "m"), signatures={"serving_default": tables.look})
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.loader.load(session, ["serve"], str(tmp_path / "m")).signature_def["serving_default"]
        found = session.run({k: v.name for k, v in signature.outputs.items()}, {signature.inputs["x"].name: lookup_cases.WORDS})
    assert {k: v.tolist() for k, v in found.items()} == EXPECTED["SavedModel"][0]


def test_a_checkpoint_of_other_dtypes_changes_nothing(tmp_path):
    make, ints = tf.lookup.experimental.MutableHashTable, tf.constant([1], tf.int64)
    there, here = make(tf.int64, tf.int64, 0), make(tf.int64, tf.float32, 0.)
    there.insert(ints, ints)
    here.insert(ints, [2.5])
    path = tf.train.Checkpoint(t=there).save(str(tmp_path / "c"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="t/.ATTRIBUTES/table-values"):
        tf.train.Checkpoint(t=here).restore(path)
    assert here.lookup(ints).numpy() == [2.5]
