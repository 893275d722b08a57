"""Write what TensorFlow 2.15.1 says of the ops that thalweg has: tests/golden/op_definitions/definitions.txt, one line per op, tab separated:
name, inputs, outputs, attrs. An input or output is name:type (N*T for lists); an attr is name:kind:default:allowed.
Run by hand under TensorFlow whenever ops were added."""
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import dtypes, op_def_registry

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(HERE, "..", "..", "src")


def ours():
    names = set()
    for folder, _, files in os.walk(SRC):
        for f in files:
            if f.endswith(".c"):
                with open(os.path.join(folder, f)) as text:
                    names.update(re.findall(r"^TW_OP\(\s*(\w+)", text.read(), re.M))
    return sorted(names)


def type_name(number):
    return dtypes.as_dtype(number).name


def argument(a):
    kind = a.type_attr or a.type_list_attr or type_name(a.type)
    return "%s:%s" % (a.name, "%s*%s" % (a.number_attr, kind) if a.number_attr else kind)


def value(v, kind):
    which = v.WhichOneof("value")
    if which is None:
        return ""
    if which == "b":
        return "true" if v.b else "false"
    if which == "i":
        return str(v.i)
    if which == "f":
        return "%.6g" % v.f
    if which == "s":
        return "'%s'" % v.s.decode().replace("\n", "\\n").replace("\t", "\\t")  # a definition is one line
    if which == "type":
        return type_name(v.type)
    if which == "list":
        return "[%s]" % ",".join(["%d" % i for i in v.list.i] + ["%.6g" % f for f in v.list.f])
    return "given"


def attribute(a):
    allowed = ""
    if a.HasField("allowed_values"):
        l = a.allowed_values.list
        allowed = ",".join(sorted(type_name(t) for t in l.type) if l.type else sorted("'%s'" % s.decode() for s in l.s))
    default = value(a.default_value, a.type) if a.HasField("default_value") else "none"
    return "%s:%s:%s:%s" % (a.name, a.type.replace(":", ""), default, allowed)


lines = []
for name in ours():
    d = op_def_registry.get(name)
    if d is None:
        raise SystemExit("TensorFlow has no op " + name)
    lines.append("\t".join([name, " ".join(map(argument, d.input_arg)), " ".join(map(argument, d.output_arg)), " ".join(map(attribute, d.attr)),
                            "stateful" if d.is_stateful else "stateless"]))
path = golden.path(__file__, "definitions.txt")
with open(path, "w") as f:
    f.write("\n".join(lines) + "\n")
print("%s: %d ops" % (path, len(lines)))
