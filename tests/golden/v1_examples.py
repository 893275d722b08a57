"""Write tests/golden/v1_examples/v1_examples.json: what the programs of tests/python/v1_examples.py print under TensorFlow 2.15.1.
Each runs in a process of its own: `v1_examples.py NAME` prints one program's lines."""
import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, FOLDER)
import v1_examples
import golden

if len(sys.argv) > 1:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf
    json.dump(v1_examples.run(tf, sys.argv[1]), sys.stdout)
else:
    results = {p.__name__: json.loads(subprocess.run([sys.executable, __file__, p.__name__], stdout=subprocess.PIPE, check=True).stdout)
               for p in v1_examples.PROGRAMS}
    with open(golden.path(__file__, "v1_examples.json"), "w") as f:
        json.dump(results, f, indent=0)
        f.write("\n")
