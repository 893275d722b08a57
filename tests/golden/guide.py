"""Makes tests/golden/guide/*.txt: what the Python programs of docs/guide print under TensorFlow. Usage: guide.py (needs tensorflow)"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import golden

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "guide")
ENVIRONMENT = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
for page in sorted(glob.glob(os.path.join(PAGES, "*.md"))):
    name = os.path.basename(page)[:-3]
    with open(page) as file:
        found = re.search(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)
    if not found:
        continue
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.py"), "w") as file:
            file.write(found[1].replace("thalweg", "tensorflow"))
        done = subprocess.run([sys.executable, "-u", "program.py"], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    with open(golden.path(__file__, name + ".txt"), "wb") as file:
        file.write(done.stdout)
    print(name, len(done.stdout))
