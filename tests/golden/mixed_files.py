"""Models with mixed precision, trained with a scaled loss, in every format, as TensorFlow saves them; and what they predict and learn."""
import json
import os
import shutil
import sys

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import mixed_model

FOLDER = os.path.join(HERE, "mixed_files")
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
model = mixed_model.trained(tf)
for name in mixed_model.FILES:
    mixed_model.save(model, os.path.join(FOLDER, name))
result = {"predictions": np.asarray(model.predict(mixed_model.X, verbose=0), float).tolist(), "losses": mixed_model.fit(model)}
shutil.rmtree(os.path.join(FOLDER, "saved_model", "assets"), ignore_errors=True)
json.dump(result, open(os.path.join(FOLDER, "expected.json"), "w"))
