"""What `make demo` shows: train on Fashion-MNIST with a custom loop, save a checkpoint every 100 batches, restore the newest in
another process and report the accuracy there; then the same in C."""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
script = os.path.join(here, "mlp_checkpoint.py")
c_program = os.path.join(root, "build", "bin", "mlp_checkpoint")


def run(title, *command):
    print("\n== %s\n   $ %s" % (title, " ".join(os.path.relpath(c, root) if os.path.isabs(c) and c.startswith(root) else c for c in command)), flush=True)
    if subprocess.run(command, cwd=root).returncode:
        sys.exit("that failed")


python = [sys.executable, "-m", "thalweg", script]
run("Train (a TensorFlow script, run unchanged)", *python, "--mode=train", "--save-dir=build/demo")
run("Restore the newest checkpoint in a new process and test it", *python, "--mode=test", "--save-dir=build/demo")
if os.path.exists(c_program):
    run("The same model in C: train", c_program, "--mode=train", "--save-dir=build/demo-c")
    run("… and restore", c_program, "--mode=test", "--save-dir=build/demo-c")

print("""
Made: TensorFlow checkpoints in build/demo and build/demo-c. Try next:
   build/bin/thalweg checkpoint ls build/demo
   PYTHONPATH=build/python python3 -m thalweg your_tensorflow_script.py
   make test""")
