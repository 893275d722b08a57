"""Make tests/golden/inner_paths/paths.json: what the names of tests/python/inner_path_cases.py are under TensorFlow 2.15.1; a name that TensorFlow has not is
an error.

    python tests/golden/inner_paths.py
"""
import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: F401

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import golden
import inner_path_cases

found, missing = {}, []
for module, name in inner_path_cases.pairs():
    try:
        place = importlib.import_module("tensorflow." + module)
        value = getattr(place, name) if hasattr(place, name) else importlib.import_module("tensorflow.%s.%s" % (module, name))
        found[module + "." + name] = inner_path_cases.kind(value)
    except (ImportError, AttributeError) as error:
        missing.append("%s.%s: %s" % (module, name, error))
if missing:
    sys.exit("\n".join(missing))
with open(golden.path(__file__, "paths.json"), "w") as file:
    json.dump(found, file, indent=1)
    file.write("\n")
