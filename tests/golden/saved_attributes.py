"""Makes tests/golden/saved_attributes/: SavedModels of the models of tests/python/saved_attribute_cases.py.
Run it with TensorFlow's Python: python tests/golden/saved_attributes.py [FOLDER]; with a folder it checks models that were written here."""
import os
import sys
import tempfile
import zipfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import golden  # noqa: E402
import saved_attribute_cases as cases  # noqa: E402

if len(sys.argv) > 1:
    for kind in cases.HUNG:
        model = tf.keras.models.load_model(os.path.join(sys.argv[1], kind), compile=False)
        assert np.array_equal(model.plus(cases.X), model(cases.X) + 1) and model.look(["b", "c"]).numpy().tolist() == [2, -1]
else:
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(golden.path(__file__, "models.zip"), "w", zipfile.ZIP_LZMA) as archive:
        for kind in cases.HUNG:
            cases.hung(tf, kind).save(os.path.join(scratch, kind), save_format="tf")
        for kind in cases.CALLS:
            cases.several(tf, kind).save(os.path.join(scratch, "several_" + kind), save_format="tf")
        for folder, _, files in sorted(os.walk(scratch)):
            for file in sorted(files):
                if file != "fingerprint.pb":
                    archive.write(os.path.join(folder, file), os.path.relpath(os.path.join(folder, file), scratch))
