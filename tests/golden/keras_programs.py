"""Write tests/golden/keras_programs/keras_programs.json: what the programs of tests/python/keras_*_programs.py print under TensorFlow 2.15.1. With names, only
these are asked again."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import golden
import keras_call_programs
import keras_optimizer_programs
import keras_own_programs

PATH = golden.path(__file__, "keras_programs.json")
PROGRAMS = keras_optimizer_programs.PROGRAMS + keras_call_programs.PROGRAMS + keras_own_programs.PROGRAMS
printed = {}
if sys.argv[1:] and os.path.exists(PATH):
    with open(PATH) as f:
        printed = json.load(f)
names = sys.argv[1:] or [p.__name__ for p in PROGRAMS]
printed.update({p.__name__: keras_optimizer_programs.run(p, tf) for p in PROGRAMS if p.__name__ in names})
with open(PATH, "w") as f:
    json.dump({p.__name__: printed[p.__name__] for p in PROGRAMS if p.__name__ in printed}, f, indent=0, ensure_ascii=False)
    f.write("\n")
