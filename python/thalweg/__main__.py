"""python3 -m thalweg script.py: see _run."""
import sys

from thalweg import _run

if __name__ == "__main__":
    sys.exit(_run.main(sys.argv[1:]))
