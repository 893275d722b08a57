#!/usr/bin/env python3
"""Write type stubs of the Python package (the stub-only package thalweg-stubs) from the definition rows of src/.

One __init__.pyi per module. What no row describes (Tensor, DType, TensorShape, errors) stands in HEAD below.

usage: make_stubs.py SRC OUT
"""
import keyword
import os
import re
import sys

import collect_rows

HEAD = '''"""TensorFlow 2 as a small C library. Made from the definition rows by tools/make_stubs.py."""
from typing import Any, Callable, Iterator, Mapping, Sequence, Union

__version__: str
__thalweg_version__: str
newaxis: None

class DType:
    name: str
    size: int
    min: Any
    max: Any
    as_numpy_dtype: Any
    as_datatype_enum: int
    is_floating: bool
    is_integer: bool
    is_complex: bool
    is_bool: bool
    is_unsigned: bool
    is_quantized: bool
    base_dtype: "DType"
    real_dtype: "DType"

class TensorShape:
    rank: int | None
    ndims: int | None
    dims: list[int | None] | None
    def __init__(self, dims: Any) -> None: ...
    def as_list(self) -> list[int | None]: ...
    def num_elements(self) -> int | None: ...
    def is_compatible_with(self, other: Any) -> bool: ...
    def is_fully_defined(self) -> bool: ...
    def merge_with(self, other: Any) -> "TensorShape": ...
    def concatenate(self, other: Any) -> "TensorShape": ...
    def __getitem__(self, key: Any) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int | None]: ...

class _Operators:
    shape: TensorShape
    dtype: DType
    device: str
    def numpy(self) -> Any: ...
    def get_shape(self) -> TensorShape: ...
    def set_shape(self, shape: Any) -> None: ...
    def ref(self) -> Any: ...
    def __getitem__(self, key: Any) -> "Tensor": ...
    def __iter__(self) -> Iterator["Tensor"]: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __array__(self, dtype: Any = None) -> Any: ...
    def __eq__(self, other: Any) -> Any: ...
    def __ne__(self, other: Any) -> Any: ...
OPERATORS
class Tensor(_Operators):
    ndim: int
    def __len__(self) -> int: ...
    def __index__(self) -> int: ...

TensorLike = Any
DTypeLike = Union[DType, str, type, Any]
ShapeLike = Union[TensorShape, Sequence[int | None], int, None]

def is_tensor(x: Any) -> bool: ...
def as_dtype(type_value: DTypeLike) -> DType: ...
def executing_eagerly() -> bool: ...
'''
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor".split()
SPECIAL = {  # what the extension adds to a class beyond its rows
    "tape": ["    def __exit__(self, *exception: Any) -> None: ...", "    def stop_recording(self) -> Any: ..."],
    "variable": ["    def value(self) -> Tensor: ..."],
    "layer": ["    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any: ..."],
    "optimizer": ["    def apply_gradients(self, grads_and_vars: Any, name: str | None = None, **kwargs: Any) -> Any: ...",
                  "    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> None: ..."],
}
TYPES = {"TENSOR": "TensorLike", "TENSORS": "Sequence[TensorLike]", "INT": "int", "FLOAT": "float", "BOOL": "bool", "STR": "str",
         "DTYPE": "DTypeLike", "SHAPE": "ShapeLike", "INTS": "int | Sequence[int]", "NAMED": "Any", "NUMBER": "float | Any",
         "VALUE": "Any", "PAIRS": "Any"}
RESULTS = {**TYPES, "TENSOR": "Tensor", "TENSORS": "list[Tensor]", "DTYPE": "DType", "SHAPE": "TensorShape", "NONE": "None",
           "INTS": "list[int]"}


class Stubs:
    def __init__(self, src):
        _, rows, problems = collect_rows.scan(src)
        if problems:
            sys.exit("\n".join(problems))
        self.rows = {r.id: r for r in rows}
        self.classes = {p: r for r in rows if r.role == "CLASS" for p in r.path.split("|")}
        self.parents = {}
        for row in rows:
            if row.role == "CLASS":
                with open(row.where.rsplit(":", 1)[0], encoding="utf-8") as f:
                    m = re.search(r"^TW_CLASS\(%s,.*?;$" % row.id, f.read(), re.M | re.S)
                parent = re.search(r"\.parent\s*=\s*&tw__class_(\w+)", m.group(0)) if m else None
                self.parents[row.id] = parent.group(1) if parent else None
        self.modules = {"": []}

    def name_of(self, ident):
        row = self.rows.get(ident)
        return "Any" if row is None or row.role != "CLASS" else "thalweg." + row.path.split("|")[0]

    def type_of(self, field):
        if field.kind == "HANDLE":
            out = self.name_of(field.word)
        elif field.kind == "HANDLES":
            out = "Sequence[%s]" % self.name_of(field.word)
        else:
            out = TYPES[field.kind]
        return out + " | None" if field.none_allowed and out != "Any" else out

    def result_of(self, row):
        if row.result in ("TENSOR", "TENSORS") and row.result_word == "numpy":
            return "Any"
        if row.result == "HANDLE":
            return self.name_of(row.result_word)
        if row.result == "HANDLES":
            return "list[%s]" % self.name_of(row.result_word)
        return RESULTS[row.result]

    def default_of(self, field):
        d = field.default
        if d in (None, "None", "True", "False") or field.kind in ("INT", "FLOAT", "NUMBER"):
            return d or "None"
        if field.kind in ("INTS", "SHAPE"):
            return "(%s)" % d.strip("()[]")
        return repr(d.strip("'"))

    def arguments(self, fields):
        out, star, defaulted = [], False, False
        for field in fields:
            if field.rest:
                out.append(("**" if field.kind == "PAIRS" else "*") + field.name + ": Any")
                star = star or field.kind != "PAIRS"
                continue
            if (field.keyword_only or (field.required and defaulted)) and not star:
                out.append("*")
                star = True
            text = "%s: %s" % (field.name, self.type_of(field))
            if not field.required:
                text += " = " + self.default_of(field)
                defaulted = True
            out.append(text)
        return ", ".join(sorted(out, key=lambda a: a.startswith("**")))

    def function(self, name, row, indent=""):
        method = bool(row.fields) and row.fields[0].name == "self"
        arguments = self.arguments(row.fields[1:] if method else row.fields)
        if method:
            arguments = "self" + (", " + arguments if arguments else "")
        return ["%sdef %s(%s) -> %s:" % (indent, name, arguments, self.result_of(row)), '%s    """%s"""' % (indent, self.doc(row))]

    @staticmethod
    def doc(row):
        return row.doc.replace("\\n", " ").replace('\\"', "'").replace('"', "'")

    def members(self, path):
        out, seen = [], set()
        for row in self.rows.values():
            for p in row.path.split("|"):
                owner, _, name = p.rpartition(".")
                if owner != path or name in seen or name.startswith("_set_"):
                    continue
                seen.add(name)
                if row.role in ("CLASS", "FUNCTION"):  # a class that a method makes, or a function without an object
                    if not row.fields or row.fields[0].name != "self":
                        out.append("    @staticmethod")
                    out += self.function(name, row, "    ")
                elif row.role == "PROPERTY":
                    out += ["    @property", "    def %s(self) -> %s: ..." % (name, self.result_of(row))]
                    setter = [r for r in self.rows.values() if "%s._set_%s" % (path, name) in r.path.split("|")]
                    if setter:
                        out += ["    @%s.setter" % name, "    def %s(self, value: Any) -> None: ..." % name]
                else:
                    out += self.function(name, row, "    ")
        return out

    def class_lines(self, name, row):
        parent = self.parents[row.id]
        base = self.name_of(parent) if parent in self.rows else "_Operators" if row.id == "variable" else ""
        init = self.arguments([f for f in row.fields if f.name != "self"])
        out = ["class %s%s:" % (name, "(%s)" % base if base else ""), '    """%s"""' % self.doc(row),
               "    def __init__(self%s) -> None: ..." % (", " + init if init else "")]
        return out + SPECIAL.get(row.id, []) + self.members(row.path.split("|")[0])

    def ordered(self):
        """Classes behind their parents, then functions."""
        done = []

        def visit(ident):
            if ident in self.rows and ident not in done:
                visit(self.parents.get(ident))
                done.append(ident)
        for ident in self.parents:
            visit(ident)
        return done + [i for i, r in self.rows.items() if r.role == "FUNCTION"]

    def write(self, out):
        for ident in self.ordered():
            row = self.rows[ident]
            first = row.path.split("|")[0]
            for path in row.path.split("|"):
                module, _, name = path.rpartition(".")
                if keyword.iskeyword(name) or module in self.classes:  # a member of a class
                    continue
                while module not in self.modules:
                    self.modules[module] = []
                    module = module.rpartition(".")[0]
                place = self.modules[path.rpartition(".")[0]]
                if path != first:
                    place.append("%s = thalweg.%s" % (name, first))
                elif row.role == "CLASS":
                    place += self.class_lines(name, row)
                else:
                    place += self.function(name, row)
        operators = "".join("    def __%s__(self, other: Any) -> \"Tensor\": ...\n    def __r%s__(self, other: Any) -> \"Tensor\": ...\n" % (b, b)
                            for b in BINARY)
        operators += "".join("    def __%s__(self, other: Any) -> \"Tensor\": ...\n" % c for c in ("lt", "le", "gt", "ge"))
        operators += "".join("    def __%s__(self) -> \"Tensor\": ...\n" % u for u in ("neg", "abs", "invert"))
        for module, lines in self.modules.items():
            below = sorted(m.rpartition(".")[2] for m in self.modules if m and m.rpartition(".")[0] == module)
            if module == "":
                text = HEAD.replace("OPERATORS\n", operators)
                text += "".join("%s: DType\n" % d for d in sorted(collect_rows.DTYPES) + ["half", "double"])
                text = text.replace("\n\n__version__", "\n\nimport thalweg\n\n__version__", 1)
                below += ["errors", "raw_ops"]
            else:
                text = ("from typing import Any, Callable, Sequence\n\nimport thalweg\n"
                        "from thalweg import DType, DTypeLike, ShapeLike, Tensor, TensorLike, TensorShape\n\n")
            text += "".join("from %s import %s as %s\n" % ("." , b, b) for b in below)
            folder = os.path.join(out, *module.split(".")) if module else out
            collect_rows.write(os.path.join(folder, "__init__.pyi"), text + "\n" + "\n".join(lines) + "\n")
        collect_rows.write(os.path.join(out, "raw_ops.pyi"), "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n")
        collect_rows.write(os.path.join(out, "errors.pyi"), "from typing import Any\n\n"
                           "class OpError(Exception):\n    message: str\n    error_code: int\n    op: Any\n    node_def: Any\n"
                           "def __getattr__(name: str) -> Any: ...\n")


def main():
    src, out = sys.argv[1:3]
    Stubs(src).write(out)


if __name__ == "__main__":
    main()
