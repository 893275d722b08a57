"""What TensorFlow 2.15.1 says when ops are called that work on references, or that were removed: tests/golden/refused/refused.json, replayed by
tests/python/test_refused_ops.py. Each entry is a name, the class of the error and its text. Which ops: those of src/op/refused.c. Removed ops need
arguments that fit; what is said of them follows from their definitions."""
import inspect
import json
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from tensorflow.python.framework import op_def_registry, versions

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "..", "src", "op", "refused.c")) as f:
    NAMES = re.findall(r'^    \{ "(\w+)"', f.read(), re.M)
found = []
for name in NAMES:
    function, definition = getattr(tf.raw_ops, name), op_def_registry.get(name)
    if any(a.is_ref for a in [*definition.input_arg, *definition.output_arg]):
        try:
            function(**{n: None for n in inspect.signature(function).parameters if n != "name"})
        except Exception as e:
            found.append([name, type(e).__name__, str(e)])
    else:
        gone = definition.deprecation
        found.append([name, "UnimplementedError", "Op %s is not available in GraphDef version %d. It has been removed in version %d. %s." % (
            name, versions.GRAPH_DEF_VERSION, gone.version, gone.explanation)])
with open(golden.path(__file__, "refused.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(x) for x in found) + "\n]\n")
