"""Write tests/golden/keras_fit/keras_fit.txt: what the programs of tests/python/keras_fit_cases.py print under TensorFlow 2.15.1."""
import contextlib
import io
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import keras_fit_cases
import golden

out = io.StringIO()
with contextlib.redirect_stdout(out):
    keras_fit_cases.run(tf)
with open(golden.path(__file__, "keras_fit.txt"), "w") as f:
    f.write(out.getvalue())
