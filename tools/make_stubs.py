#!/usr/bin/env python3
"""Write type stubs of the Python package (the stub-only package thalweg-stubs): what the built package has, with the types that the definition rows of
src/ say. A package that can't be imported here (no NumPy, a sanitizer, another machine) gives the rows alone, and its other names are Any.

usage: make_stubs.py SRC PACKAGE OUT     the folder that holds the package thalweg; OUT is the folder thalweg-stubs
"""
import inspect
import keyword
import os
import subprocess
import sys

import collect_rows
import public_names
from stub_types import DOC, HEAD, OPEN, SPECIAL, Types, indented, module_of, module_text, parameters_of


class Stubs:
    def __init__(self, src, tf):
        _, rows, self.texts = collect_rows.described(src)
        self.rows = {path: row for row in rows for path in row.path.split("|")}
        self.by_paths = {row.path: row for row in rows}
        self.found, self.places = public_names.modules(tf)
        self.homes = public_names.homes(self.found)
        self.types = Types(self.homes, self.rows, {row.id: row for row in rows}, {row[0]: row[5] for row in tf._core.rows()})
        self.written = {}

    # ---- functions ----

    def row_of(self, value):
        text = getattr(type(value), "_row", None) and value._row
        return self.by_paths.get(text.split("(")[0]) if text else None

    def signature(self, value, method):
        """The arguments and the result of a function, as they stand in a stub."""
        row = self.row_of(value)
        if row:
            fields = [f for f in row.fields if f.name != "self"]
            arguments, result = self.types.arguments(fields), self.types.result(row)
        else:
            arguments, result = parameters_of(value, method), getattr(value, "__annotations__", {}).get("return", "Any")
            result = "thalweg." + result[3:] if isinstance(result, str) and result.startswith("tf.") else "Any"
        return (["self"] if method else []) + arguments, result

    def doc(self, value, indent, path=""):
        row = self.row_of(value)
        if inspect.isfunction(value):
            text = self.texts.python_docstring(path, value)
        else:
            text = self.texts.docstring(row) if row else getattr(value, "__doc__", None)
        if not isinstance(text, str) or not text.strip():
            return [indent + "..."]
        return indented(text, indent)

    def function(self, name, value, indent="", method=False, path=""):
        if name == "__exit__":
            return [indent + "def __exit__(self, *exception: Any) -> Any: ..."]
        if method and name in OPEN:
            return [indent + "def %s(self, *args: Any, **kwargs: Any) -> Any:" % name] + self.doc(value, indent + "    ", path)
        arguments, result = self.signature(value, method)
        return ["%sdef %s(%s) -> %s:" % (indent, name, ", ".join(arguments), result)] + self.doc(value, indent + "    ", path)

    # ---- classes ----

    def bases(self, kind):
        """The nearest public classes above, and the private ones whose members this one takes over."""
        public, private = [], []
        for base in kind.__bases__:
            if base in self.homes and base is not object:
                public.append(base)
            elif base.__module__.startswith("thalweg") or base.__name__ == "Object":
                inner, more = self.bases(base)
                public += [b for b in inner if b not in public]
                private += [base] + more
        return public, private

    def member(self, name, value, kind):
        indent = "    "
        if isinstance(value, property):
            row = self.row_of(value.fget)
            result = self.types.result(row) if row else "Any"
            out = [indent + "@property", indent + "def %s(self) -> %s:" % (name, result)] + self.doc(value.fget, indent * 2)
            if value.fset:
                out += [indent + "@%s.setter" % name, indent + "def %s(self, value: Any) -> None: ..." % name]
            return out
        if isinstance(value, staticmethod):
            return [indent + "@staticmethod"] + self.function(name, value.__func__, indent)
        if isinstance(value, classmethod):
            if name in OPEN:
                return [indent + "@classmethod", indent + "def %s(cls, *args: Any, **kwargs: Any) -> Any: ..." % name]
            return [indent + "@classmethod"] + [line.replace("(self", "(cls", 1) for line in self.function(name, value.__func__, indent, True)]
        if isinstance(value, type):
            return [indent + "class %s:" % name, indent * 2 + "def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]
        if callable(value):
            return self.function(name, value, indent, True)
        return [indent + "%s: %s" % (name, self.types.constant(value))]

    def constructor(self, kind, path, levels):
        row = self.rows.get(path)
        own = any("__init__" in vars(level) or "__new__" in vars(level) for level in levels)
        if row and row.role == "CLASS" and not own:
            arguments = self.types.arguments([f for f in row.fields if f.name != "self"])
        elif own or not self.bases(kind)[0]:
            arguments = parameters_of(kind, False)
        else:
            return []
        return ["    def __init__(%s) -> None: ..." % ", ".join(["self"] + arguments)]

    def class_lines(self, name, kind, path):
        public, private = self.bases(kind)
        heads = [self.types.place(base) for base in public] or [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins" and issubclass(base, Exception)][:1]
        if any(base.__name__ == "EnumMeta" for base in type(kind).__mro__):
            heads = ["enum.Enum"]
        out = ["class %s%s:" % (name, "(%s)" % ", ".join(heads) if heads else "")]
        row = self.rows.get(path)
        out += indented(self.texts.docstring(row), "    ") if row else self.doc(kind, "    ")
        special = SPECIAL.get(path, {})
        lines = [] if "__init__" in special else self.constructor(kind, path, [kind] + private)
        seen = {"__init__", *special}
        for text in special.values():
            lines += ["    " + line for line in text.split("\n")]
        for level in [kind] + private:
            for member, value in vars(level).items():
                dunder = member.startswith("__") and member.endswith("__")
                if member in seen or (member.startswith("_") and not (dunder and member in self.types.DUNDERS)) or keyword.iskeyword(member):
                    continue
                seen.add(member)
                found = self.member(member, value, kind)
                if any(hasattr(base, member) for base in public):
                    found = [line + "  # type: ignore" if not line.startswith(DOC) and line.lstrip().startswith("def ") and line.endswith(":") else line for line in found]
                lines += found
        if any("__getattr__" in vars(level) for level in [kind] + private):
            lines.append("    def __getattr__(self, name: str) -> Any: ...")
        return out + lines

    # ---- modules ----

    def ordered(self, names):
        """Classes behind those above them."""
        return sorted(names.items(), key=lambda entry: (not isinstance(entry[1], type), len(entry[1].__mro__) if isinstance(entry[1], type) else 0, entry[0]))

    def line_of(self, module, name, value):
        path = module + "." + name if module else name
        if isinstance(value, type(sys)):
            return ["from %s import %s as %s" % (module_of(self.places[id(value)]), self.places[id(value)].rpartition(".")[2], name)] if self.places[id(value)] else []
        if isinstance(value, type) and value in self.homes:
            home = self.homes[value]
            return self.class_lines(name, value, path) if home == path else ["%s = thalweg.%s" % (name, home)]
        if path in SPECIAL:
            return SPECIAL[path].split("\n")
        if callable(value) and not isinstance(value, type):
            first = self.written.setdefault(id(value), path)
            if first != path and self.row_of(value):
                return ["%s = thalweg.%s" % (name, first)]
            return self.function(name, value, path=path)
        return ["%s: %s" % (name, self.types.constant(value))]

    def write(self, out):
        for module, names in self.found.items():
            below = sorted(m.rpartition(".")[2] for m in self.found if m and m.rpartition(".")[0] == module)
            text = ["from . import %s as %s" % (name, name) for name in below]
            for name, value in self.ordered(names):
                if not keyword.iskeyword(name) and not (not module and name in ("Tensor", "DType", "TensorShape")):
                    text += self.line_of(module, name, value)
            if module.startswith("raw_ops"):
                text.append("def __getattr__(name: str) -> Any: ...")
            folder = os.path.join(out, *module.split(".")) if module else out
            collect_rows.write(os.path.join(folder, "__init__.pyi"), module_text(text, names) if module else HEAD + "\n".join(text).replace(DOC, "") + "\n")


def rows_alone(src, out):
    """Without the package: its modules with any names."""
    _, rows, _ = collect_rows.described(src)
    paths = {path.rpartition(".")[0] for row in rows for path in row.path.split("|") if row.role in ("CLASS", "FUNCTION")}
    for path in paths | {p.rpartition(".")[0] for p in paths} | {""}:
        if not any(part.startswith("_") or part[:1].isupper() for part in path.split(".")):
            folder = os.path.join(out, *path.split(".")) if path else out
            collect_rows.write(os.path.join(folder, "__init__.pyi"), "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n")


def main():
    src, package, out = sys.argv[1:4]
    probe = subprocess.run([sys.executable, "-c", "import thalweg, numpy"], env=dict(os.environ, PYTHONPATH=package), capture_output=True)
    if probe.returncode:
        rows_alone(src, out)
    else:
        Stubs(src, public_names.package(package)).write(out)


if __name__ == "__main__":
    main()
