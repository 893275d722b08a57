"""Makes tests/golden/lookup/tables.zip: a SavedModel (model/) and a checkpoint (checkpoint/) of the tables of tests/python/lookup_cases.py, as TensorFlow
writes them. Run it with TensorFlow's Python: python tests/golden/lookup.py"""
import os
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import lookup_cases  # noqa: E402

with tempfile.TemporaryDirectory() as assets, tempfile.TemporaryDirectory() as scratch:
    tables = lookup_cases.module(tf, assets).fill()
    tf.saved_model.save(tables, os.path.join(scratch, "model"))
    tf.train.Checkpoint(m=tables).save(os.path.join(scratch, "checkpoint", "c"))
    os.makedirs(os.path.join(HERE, "lookup"), exist_ok=True)
    with zipfile.ZipFile(os.path.join(HERE, "lookup", "tables.zip"), "w", zipfile.ZIP_LZMA) as archive:
        for folder, _, files in sorted(os.walk(scratch)):
            for file in sorted(files):
                path = os.path.join(folder, file)
                archive.write(path, os.path.relpath(path, scratch))
