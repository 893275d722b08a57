"""Makes tests/python/chapters/*.txt: what the programs there print under TensorFlow. Usage: chapters.py (needs tensorflow)"""
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "chapters")
ENVIRONMENT = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
for program in sorted(glob.glob(os.path.join(HERE, "*.py"))):
    if program.endswith("said.py"):
        continue
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, os.path.abspath(program)], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    with open(program[:-3] + ".txt", "wb") as file:
        file.write(done.stdout)
    print(os.path.basename(program), len(done.stdout))
