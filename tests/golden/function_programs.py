"""Write tests/golden/function_programs/function_programs.json: what the programs of tests/python/function_programs.py and
function_state_programs.py print under TensorFlow 2.15.1."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "python")
sys.path.insert(0, FOLDER)
import function_programs
import function_state_programs
import golden

printed = {p.__name__: function_programs.run(p, tf) for p in function_programs.PROGRAMS + function_state_programs.PROGRAMS}
with open(golden.path(__file__, "function_programs.json"), "w") as f:
    json.dump(printed, f, indent=0, ensure_ascii=False)
    f.write("\n")
