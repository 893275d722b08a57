"""Write tests/golden/programs/programs.json: what the programs of tests/programs give under TensorFlow 2.15.1. With names, only these are asked again."""
import json
import os
import subprocess
import sys

import golden

FOLDER = os.path.join(golden.HERE, "..", "programs")
PATH = golden.path(__file__, "programs.json")
names = sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py") and name != "run.py")
results = {}
if sys.argv[1:] and os.path.exists(PATH):
    with open(PATH) as f:
        results = {name: value for name, value in json.load(f).items() if name in names}
for name in sys.argv[1:] or names:
    done = subprocess.run([sys.executable, os.path.join(FOLDER, "run.py"), name], env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1"),
                          stdout=subprocess.PIPE, text=True, check=True)
    results[name] = json.loads(done.stdout.splitlines()[-1])
with open(PATH, "w") as f:
    json.dump(results, f, indent=0, sort_keys=True)
    f.write("\n")
