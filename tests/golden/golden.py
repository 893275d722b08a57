"""Where the scripts of this folder write: NAME.py makes the files of NAME/ and no others."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def path(script, name):
    """The path of a file of the script's folder, which is made. script: its __file__, or its name."""
    folder = os.path.join(HERE, os.path.splitext(os.path.basename(script))[0])
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name)
