"""Makes tests/golden/chapters/*.txt: what the programs of tests/python/chapters print under TensorFlow. Usage: chapters.py (needs tensorflow)"""
import glob
import os
import subprocess
import sys
import tempfile

import golden

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "chapters")
ENVIRONMENT = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
for program in sorted(glob.glob(os.path.join(HERE, "*.py"))):
    if program.endswith("said.py"):
        continue
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, os.path.abspath(program)], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    with open(golden.path(__file__, os.path.basename(program)[:-3] + ".txt"), "wb") as file:
        file.write(done.stdout)
    print(os.path.basename(program), len(done.stdout))
