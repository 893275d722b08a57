#!/usr/bin/env python3
"""Collect the definition rows of src/ and write what follows from them.

Rows are TW_OP, TW_API, TW_METHOD, TW_PROPERTY and TW_CLASS at a line's start in the .c files under src/. Written to OUT:
  include/thalweg/*.h     argument structs and C calls of every function and class, for users: a header for each area, api.h with all of
                          them, python.h with what only the Python package needs
  files/FILE/rows.h       for a source FILE of src, python or tests: the structs, calls and prototypes of the rows that it names
  rows.h                  the same of all rows
  inside/thalweg/api.h    stands for the public header of that name inside the library: the file's rows.h
  rows.c                  the tables: ops, signatures with their fields, classes; the C calls, each of which is one jump
  functions.c             the functions that are columns of ops; C calls that are more than a jump
  reference.bin           what is written about the rows and ops (reference.py), which the library reads when it is asked
An op's row may hold the function that users call it by (`.function`, a signature): that is a row, too, whose body is made here.
Arguments that several signatures have may be a macro that is a text alone, of the file or of a header in its folder. The
loops that ops' rows name (`.unary`, `.binary`) are declared in rows.h. An indented row, a duplicate and a malformed signature are errors. Files are only rewritten when they change.

usage: collect_rows.py SRC OUT
"""
import glob
import os
import re
import sys
import zlib

import reference
from c_headers import KEYWORDS, api_headers, cpp_header, declaration
from file_rows import file_headers

ROW = re.compile(r"^([ \t]*)(TW_OP|TW_API|TW_METHOD|TW_PROPERTY|TW_CLASS)\(\s*(\w+)\s*[,)]", re.M)
ROLE = {"TW_API": "FUNCTION", "TW_METHOD": "METHOD", "TW_PROPERTY": "PROPERTY", "TW_CLASS": "CLASS"}
DTYPES = {"float16": 19, "bfloat16": 14, "float32": 1, "float64": 2, "int8": 6, "int16": 5, "int32": 3, "int64": 9, "uint8": 4,
          "uint16": 17, "uint32": 22, "uint64": 23, "bool": 10, "string": 7, "complex64": 8, "complex128": 18, "resource": 20,
          "variant": 21}
PLAIN = {"tensor": "TENSOR", "tensors": "TENSORS", "int": "INT", "float": "FLOAT", "bool": "BOOL", "str": "STR", "dtype": "DTYPE",
         "shape": "SHAPE", "ints": "INTS", "list": "HANDLES", "pairs": "PAIRS", "named": "NAMED", "number": "NUMBER",
         "value": "VALUE", "none": "NONE"}
C_TYPE = {"TENSOR": "tw_tensor *", "TENSORS": "tw_tensors ", "INT": "int64_t ", "FLOAT": "double ", "BOOL": "bool ",
          "STR": "const char *", "DTYPE": "tw_dtype ", "SHAPE": "tw_shape ", "INTS": "tw_ints ", "HANDLES": "tw_objects ",
          "PAIRS": "tw_pairs ", "NAMED": "tw_named ", "NUMBER": "double ", "VALUE": "tw_value ", "NONE": "tw_status "}
CALL = {"TENSOR": "pointer", "HANDLE": "pointer", "STR": "pointer", "NONE": "status", "HANDLES": "objects"}  # tw__row_…
FRAMED = ("VALUE", "SHAPE")  # results that a call gets through memory: it is no jump, and has unwind tables
C_RESULT = {**C_TYPE, "STR": "char *"}
C_MEMBER = {**C_TYPE, "BOOL": "tw_flag ", "DTYPE": "tw_dtype_option "}  # each begins at a multiple of 8 bytes

class Bad(Exception):
    pass


def strings_at(text, at, words=None):
    """The string literals (adjacent ones joined) that begin at text[at:], and words that stand for some; (content, position behind)."""
    out, any_seen = [], False
    while True:
        m = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([A-Z]\w+))').match(text, at)
        if not m or (m.group(2) and m.group(2) not in (words or ())):
            return ("".join(out) if any_seen else None), at
        out.append(words[m.group(2)] if m.group(2) else m.group(1))
        any_seen = True
        at = m.end()


def words_of(text, known):
    """What words stand for: macros that are texts alone, and the known ones; arguments that several rows have."""
    found = dict(known)
    for m in re.finditer(r'^#define ([A-Z]\w+) ((?:[^\n]*\\\n)*[^\n]*)$', text, re.M):
        value = m.group(2).replace("\\\n", " ").strip()
        content, at = strings_at(value, 0, found)
        if content is not None and at == len(value):
            found[m.group(1)] = content
    return found


def split_top(text, mark):
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        if text[:i].count("'") % 2:
            continue
        if c in "(<{[":
            depth += 1
        elif c in ")}]" or (c == ">" and depth and text[:i].count("<") > text[:i].count(">")):
            depth -= 1
        elif c == mark and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    parts.append(text[last:])
    return [p.strip() for p in parts if p.strip()]


INNER = ("tensor", "trackable", "callable")  # classes that are no rows
ANY = ("object", "function")  # functions are of several classes: who takes one asks for its graph, which says so
INNER_CLASS = "tw__%s_class"


def c_string(text):
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Field:
    def __init__(self, text, keyword_only):
        self.keyword_only = keyword_only
        self.rest = self.inherited = False  # inherited: the id of the class that has the argument
        self.owner = None  # of a method's self: the id of the class that has the method
        self.word = self.choices = None
        if text.startswith("*"):
            self.rest = True
            text = text.lstrip("*")
        since = re.search(r"\s+since\s+(\d+)\.(\d+)$", text)  # an option added later: it comes last in the C struct
        self.since = (int(since.group(1)), int(since.group(2))) if since else (0, 0)
        text = text[:since.start()] if since else text
        text, _, self.shown = text.partition(" shown ")  # the default in words, where C's is only "not given"
        m = re.match(r"(\w+)\s*:\s*(.+?)(?:\s*=\s*(.+))?$", text)
        if not m:
            raise Bad("argument %r is not 'name: type = default'" % text)
        self.name, kind, default = m.groups()
        kind, *others = [part.strip() for part in kind.split("|")]  # "tensor|ragged": a ragged one stands for its flat values
        self.ragged, self.sparse = "ragged" in others, "sparse" in others
        if set(others) - {"ragged", "sparse"} or (self.sparse and not self.ragged) or (others and not kind.startswith("tensor")):
            raise Bad("argument %r is not 'tensor|ragged' or 'tensor|ragged|sparse'" % text)
        self.none_allowed = default == "None" or kind.endswith("?")  # "int?": must be given, may be None
        self.none_allowed |= bool(default) and kind in ("named<initializer>", "named<activation>")  # as in Keras
        kind = kind.rstrip("?")
        self.minimum, self.exclusive = None, False
        if kind.endswith(">"):  # a word in brackets, not a bound
            bound = None
        else:
            bound = re.match(r"(int|float|number)\s*(>=|>)\s*(-?[\d.]+)$", kind)
        if bound:
            kind, self.minimum, self.exclusive = bound.group(1), bound.group(3), bound.group(2) == ">"
        m = re.match(r"str\s*\{(.*)\}$", kind)
        if m:
            kind, self.choices = "str", m.group(1)
        m = re.match(r"(\w+)<(\w+)>$", kind)
        if m:
            kind, self.word = m.groups()
        if kind in PLAIN:
            self.kind = PLAIN[kind]
        else:
            self.kind, self.word = "HANDLE", kind
        self.required = default is None and not self.rest
        self.default_none = default == "None"
        self.default = default
        if since and self.required:
            raise Bad("%s came later and has no default" % self.name)

    def member(self):
        return self.name + "_" if self.name in KEYWORDS else self.name

    def c_default(self):
        """The initialiser of a default that is not all zeros, and that the library cannot tell from zero; or None."""
        d = self.default
        if self.kind == "SHAPE" and not self.required:
            dims = [] if d == "None" else [x.strip() for x in d.strip("()[]").split(",") if x.strip()]
            text = "{ .rank = -1 }" if d == "None" else "{ %d, { %s } }" % (len(dims), ", ".join(dims)) if dims else None
        elif d is None:
            text = None
        elif self.kind == "INT":
            text = "TW_NO_INT" if d == "None" else d if int(d) else None
        elif self.kind in ("FLOAT", "NUMBER"):
            text = "TW_NO_FLOAT" if d == "None" else repr(float(d)) if float(d) else None
        else:
            text = "true" if self.kind == "BOOL" and d == "True" else None
        return text and ".%s = %s" % (self.member(), text)

    def attr(self):
        """The argument as an attr of an op, in C."""
        value = "args->" + self.member()
        if self.kind == "INTS":
            value = "{0}.items, {0}.count".format(value)
        elif self.kind == "STR":
            value = '{0} ? {0} : ""'.format(value)
        elif self.kind == "SHAPE":
            value = "&" + value
        word = {"INT": "INT", "INTS": "INTS", "FLOAT": "FLOAT", "BOOL": "BOOL", "STR": "STRING", "DTYPE": "TYPE", "SHAPE": "SHAPE"}
        if self.kind not in word:
            raise Bad("%s can't be an attr of an op" % self.name)
        return 'TW_A_%s("%s", %s)' % (word[self.kind], self.name, value)

    def c_type(self, types=C_TYPE):
        if self.kind == "HANDLE":  # a handle of any class is void *, as in TW_OBJECTS: callers cast nothing
            return "void *" if self.word == "object" else "tw_%s *" % self.word
        return types[self.kind]

    def c_member(self, described=None):
        out = "%s%s;" % (self.c_type(C_MEMBER), self.member())
        if self.kind == "NUMBER":
            out += " void *%s_object;" % self.name
        note = "; ".join(words for words in (described, self.note()) if words)
        return out + (" /* %s */" % note.replace("*/", "* /") if note else "")

    def note(self):
        """What a C programmer has to know of the member: choices, bounds, default."""
        words = []
        if self.choices:
            words.append(" or ".join('"%s"' % c.strip() for c in self.choices.split(",")))
        if self.minimum is not None:
            words.append("%s %s" % (">" if self.exclusive else ">=", self.minimum))
        if self.kind in ("HANDLES", "PAIRS", "NAMED") and self.word and self.word != "object":
            words.append("%s: %s" % ("a name or a handle" if self.kind == "NAMED" else "handles", self.word))
        d = self.shown or self.default
        if d is not None and not self.rest:
            shown = {"None": "none", "True": "true", "False": "false"}.get(d, '"%s"' % d.strip("'") if self.kind in ("STR", "NAMED") else d)
            words.append("default: " + shown)
        return "; ".join(words)

    def row(self, struct):
        number, real, text = "0", "0", None
        d = self.default
        if d not in (None, "None"):
            if self.kind == "INT":
                number = "INT64_C(%d)" % int(d)
            elif self.kind == "BOOL":
                if d not in ("True", "False"):
                    raise Bad("bool %s has the default %s" % (self.name, d))
                number = "1" if d == "True" else "0"
            elif self.kind == "DTYPE":
                number = str(DTYPES[d])
            elif self.kind in ("FLOAT", "NUMBER"):
                real = repr(float(d))
            elif self.kind in ("STR", "NAMED"):
                text = d.strip("'")
            elif self.kind in ("INTS", "SHAPE"):
                text = d.strip("()[]")
            else:
                raise Bad("%s can have no default but None" % self.name)
        flags = [f for f in ("required", "default_none", "keyword_only", "rest", "inherited", "ragged", "sparse")
                 if getattr(self, f)]
        if self.none_allowed:
            flags.append("none_allowed")
        out = '.name = "%s", .kind = TW_KIND_%s, .offset = offsetof(%s, %s)' % (self.name, self.kind, struct, self.member())
        out += "".join(", .%s = true" % f for f in flags)
        if self.word:
            out += ", .word = " + c_string(self.word)
        if self.kind in ("TENSOR", "TENSORS") and self.word in DTYPES:
            out += ", .word_dtype = %d" % DTYPES[self.word]
        if self.kind in ("TENSOR", "TENSORS") and self.word in ("dtype", "self"):
            out += ", .forces = true"
        word = self.owner or self.word
        if self.kind in ("HANDLE", "HANDLES", "PAIRS") and word and word not in ANY:
            out += ", .class_row = &" + (INNER_CLASS % word if word in INNER else "tw__class_" + word)
        if self.choices:
            out += ", .has_choices = true, .choices = " + c_string(self.choices)
        if self.minimum is not None:
            if int(self.minimum) != float(self.minimum):
                raise Bad("the bound of %s is no integer" % self.name)
            out += ", .has_minimum = true, .minimum = %s, .exclusive_minimum = %s" % (
                self.minimum, "true" if self.exclusive else "false")
        if number != "0":
            out += ", .default_int = " + number
        if real != "0":
            out += ", .default_float = " + real
        if text is not None:
            out += ", .default_text = " + c_string(text)
        return "{ " + out + " }"


class Row:
    def __init__(self, macro, ident, text, doc, where):
        self.id, self.role, self.text, self.doc, self.where = ident, ROLE[macro], text, doc, where
        m = re.match(r"([\w.|]+)\((.*)\)\s*(?:->\s*([\w<>]+))?$", text, re.S)
        if not m:
            raise Bad("the signature %r is not 'path(arguments) -> result'" % text)
        self.path, arguments, result = m.groups()
        self.op = None  # of an op's function: its name
        self.result, self.result_word = "NONE", None
        members = re.match(r"list<(\w+)>$", result or "")
        arrays = re.match(r"(tensors?|value)<(\w+)>$", result or "")  # numpy, or the op whose outputs' names the results have
        if arrays:
            self.result, self.result_word = PLAIN[arrays.group(1)], arrays.group(2)
        elif members:
            self.result, self.result_word = "HANDLES", members.group(1)
        elif result in PLAIN:
            self.result = PLAIN[result]
        elif result:
            self.result, self.result_word = "HANDLE", result
        if self.role == "CLASS" and self.result == "NONE":
            self.result, self.result_word = "HANDLE", ident
        self.fields, self.bases = [], []
        keyword_only = False
        for part in split_top(arguments, ","):
            if part == "*":
                keyword_only = True
            elif re.match(r"\*\*\w+$", part):
                self.bases.append(part[2:])
            else:
                self.fields.append(Field(part, keyword_only))
        self.text = re.sub(r"= (?:\([^()]*\)|[^=,()]+) shown ", "= ", re.sub(r"\s+since \d+\.\d+", "", text))
        if self.role in ("METHOD", "PROPERTY") and (not self.fields or self.fields[0].name != "self"):
            raise Bad("the first argument of a method is self")

    def inherit(self, rows, seen=()):
        for base in self.bases:
            if base not in rows or base in seen:
                raise Bad("**%s names no class" % base)
            rows[base].inherit(rows, seen + (self.id,))
            for field in rows[base].fields:
                if field.name not in [f.name for f in self.fields]:
                    copy = Field.__new__(Field)
                    copy.__dict__.update(field.__dict__)
                    copy.inherited, copy.keyword_only = copy.inherited or base, True
                    self.fields.append(copy)
        self.bases = []

    def body(self):
        """Of an op's function: tensors are the inputs in their order, the others attrs of the same names."""
        tensors = [f for f in self.fields if f.kind in ("TENSOR", "TENSORS")]
        attrs = [f.attr() for f in self.fields if f not in tensors and f.name != "name"]
        if self.result != "TENSOR" or not tensors or (len(tensors) > 1 and any(f.kind == "TENSORS" for f in tensors)):
            raise Bad("a function of an op takes tensors, or one list of them, and gives one")
        if tensors[0].kind == "TENSORS":
            inputs = "args->{0}.items, (int)args->{0}.count".format(tensors[0].member())
        else:
            inputs = "TW_IN(%s), %d" % (", ".join("args->" + f.member() for f in tensors), len(tensors))
        return "tw__call(&tw__op_%s, %s, %s, %d)" % (
            self.op, inputs, "TW_WITH(%s)" % ", ".join(attrs) if attrs else "NULL", len(attrs))

    def c_result(self):
        if self.result == "HANDLE":
            return "tw_%s *" % self.result_word
        return C_RESULT[self.result]

    def call(self):
        helper = "object" if self.role == "CLASS" else CALL.get(self.result) or self.result.lower()
        return ["%stw_%s_(const tw_%s_args *given)" % (self.c_result(), self.id, self.id), "{",
                "    return tw__row_%s(&tw__signature_%s, given);" % (helper, self.id), "}", ""]

    def struct(self, texts=None):
        members = sorted(self.fields, key=lambda f: f.since)  # options that came later stand last
        return "typedef struct tw_%s_args {\n    size_t tw_size;\n%s} tw_%s_args;" % (
            self.id, "".join("    %s\n" % f.c_member(texts and texts.argument(self, f)) for f in members), self.id)

    def made(self, call):
        """The call, whose result is given to the scope that is open."""
        if self.result in ("HANDLE", "TENSOR"):
            return "TW_MADE(%s, %s)" % (self.c_result().strip(), call)
        return {"TENSORS": "TW_MADE_TENSORS(%s)", "HANDLES": "TW_MADE_OBJECTS(%s)", "VALUE": "TW_MADE_VALUE(%s)"}.get(self.result, "%s") % call

    def defaults(self):
        """The initialisers that stand before the caller's; the last one brings the position back to the first argument."""
        given = [d for d in (f.c_default() for f in self.fields) if d]
        return "#define tw_%s_defaults %s" % (self.id, ", ".join(given + [".tw_size = sizeof(tw_%s_args)" % self.id]))


def packed(name, texts):
    """The table of texts (as C literals write them), compressed."""
    full = "".join(reference.plain(text) + "\0" for text in texts).encode()
    small = zlib.compress(full, 9)
    lines = [", ".join(map(str, small[i:i + 32])) for i in range(0, len(small), 32)]
    return ["static const uint8_t bytes_of_%s[] = {" % name] + ["    %s," % line for line in lines] + ["};",
            "const tw__packed_texts tw__packed_%s = { bytes_of_%s, %d, %d };" % (name, name, len(small), len(full)), ""]


class Op:
    def __init__(self, ident, text, where):
        self.id, self.where = ident, where
        self.loops = re.findall(r"&(tw__(unary|binary)_\w+)", text)
        self.function = self.column("function", text)
        self.doc = self.column("doc", text)

    @staticmethod
    def column(name, text):
        m = re.search(r"\.%s\s*=(?=\s*\")" % name, text)
        return strings_at(text, m.end())[0] if m else None

    def row(self):
        row = Row("TW_API", self.function.split("(")[0].split("|")[0].replace(".", "_"), self.function, self.doc, self.where)
        row.op = self.id
        row.body()
        return row


def row_text(text, at):
    """From text[at], behind an opening bracket, to the one that closes it."""
    depth = 1
    for m in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(text, at):
        depth += {"(": 1, ")": -1}.get(m.group(), 0)
        if not depth:
            return text[at:m.start()]
    raise Bad("the row does not end")


def scan(src):
    ops, rows, problems = {}, {}, []

    def add(row):
        if row.id in rows:
            raise Bad("a second row %s (the other: %s)" % (row.id, rows[row.id].where))
        rows[row.id] = row


    for folder, names, files in os.walk(src):
        names.sort()
        shared = {}  # the words of the folder's headers
        for name in sorted(files, key=lambda name: (name.endswith(".c"), name)):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            words = words_of(text, shared)
            if name.endswith(".h"):
                shared = words
                continue
            for m in ROW.finditer(text):
                where = "%s:%d" % (path, text.count("\n", 0, m.start()) + 1)
                indent, macro, ident = m.groups()
                if indent:
                    problems.append("%s: error: the row %s(%s) must begin at the line's start" % (where, macro, ident))
                elif macro == "TW_OP":
                    try:
                        if ident in ops:
                            raise Bad("a second row for the op %s" % ident)
                        ops[ident] = Op(ident, row_text(text, m.end()), where)
                        if ops[ident].function:
                            add(ops[ident].row())
                    except (Bad, KeyError, ValueError) as e:
                        problems.append("%s: error: %s" % (where, e))
                else:
                    signature, at = strings_at(text, m.end(), words)
                    doc = None
                    if macro == "TW_CLASS":
                        end = text.index(");\n", at)
                        d = re.compile(r"\.doc\s*=").search(text, at, end)
                        if d:
                            doc, _ = strings_at(text, d.end())
                    else:
                        doc, _ = strings_at(text, text.index(",", at) + 1 if "," in text[at:at + 3] else at)
                    try:
                        if signature is None or not doc:
                            raise Bad("a row needs a signature and a doc text")
                        add(Row(macro, ident, signature, doc, where))
                    except (Bad, KeyError, ValueError) as e:
                        problems.append("%s: error: %s" % (where, e))
    for row in rows.values():
        try:
            row.inherit(rows)
        except Bad as e:
            problems.append("%s: error: %s" % (row.where, e))
    paths = {}
    for row in rows.values():
        for path in row.path.split("|"):
            if path in paths:
                problems.append("%s: error: %s stands also at %s" % (row.where, path, paths[path]))
            paths[path] = row.where
    owners = {path: row.id for row in rows.values() if row.role == "CLASS" for path in row.path.split("|")}
    for row in rows.values():
        if row.role in ("METHOD", "PROPERTY") and row.fields and row.fields[0].kind == "HANDLE":
            row.fields[0].owner = owners.get(row.path.split("|")[0].rsplit(".", 1)[0])
    return [ops[k] for k in sorted(ops)], [rows[k] for k in sorted(rows)], problems


def rows_header(ops, rows):
    out = ["/* Prototypes of the definition rows; made by tools/collect_rows.py. */", "#ifndef TW_ROWS_H", "#define TW_ROWS_H", "",
           "#include <thalweg/handles.h>", '#include "op/op.h"', '#include "spec/spec.h"', ""]
    out += [line for row in rows for line in declaration(row)]
    out += ["extern const tw_op tw__op_%s;" % o.id for o in ops]
    out += ["extern const struct tw__%s %s;" % (kind, name) for name, kind in sorted({loop for o in ops for loop in o.loops})]
    for row in rows:
        out.append("extern const tw_signature tw__signature_%s;" % row.id)
        if row.role == "CLASS":
            out.append("extern const tw_class tw__class_%s;" % row.id)
            out.append('#define TW__NAME_%s "%s"' % (row.id, row.path.split("|")[0].split(".")[-1]))
        else:
            out.append("typedef %stw__result_%s;" % (row.c_result(), row.id))
            out.append("tw__result_%s tw__impl_%s(const tw_%s_args *args);" % (row.id, row.id, row.id))
    return "\n".join(out + ["", "#endif", ""])


def field_tables(rows):
    """The tables of fields, each once: lines of C, and the name of each row's table, which may be the beginning of a longer one."""
    out, names = [], {}
    for row in sorted((r for r in rows if r.fields), key=lambda r: -len(r.fields)):
        struct, kinds = "tw_%s_args" % row.id, [f.row("") for f in row.fields]
        owner = names.setdefault(tuple(kinds), row)
        if owner is row:
            out += ["static const tw_field fields_%s[] = {" % row.id] + ["    %s," % f.row(struct) for f in row.fields] + ["};"]
            for count in range(1, len(kinds)):
                names.setdefault(tuple(kinds[:count]), row)
        else:
            out += ['_Static_assert(offsetof(%s, %s) == offsetof(tw_%s_args, %s), "");' % (struct, f.member(), owner.id, f.member())
                    for f in row.fields]
        row.table = "fields_" + owner.id
    return out


def rows_source(ops, rows):
    out = ["/* The tables of all definition rows; made by tools/collect_rows.py. */", "#include <stddef.h>", "#include <string.h>", "",
           '#include "graph/graph.h"', '#include "rows.h"', "",
           "const tw_op *const tw__ops[] = {"] + ["    &tw__op_%s," % o.id for o in ops] + ["    NULL,", "};",
           "const int tw__ops_count = %d;" % len(ops), ""]
    out += ["extern const tw_class %s;" % ", ".join(INNER_CLASS % word for word in INNER), ""]
    out += field_tables(rows)
    for number, row in enumerate(rows):
        struct = "tw_%s_args" % row.id
        named = row.result == "TENSOR" and row.role != "CLASS" and any(
            f.name == "name" and f.kind == "STR" and not f.required for f in row.fields)  # of the node; one that must be given is of something else
        out += ["const tw_signature tw__signature_%s = {" % row.id,
                '    .id = "%s", .path = "%s", .role = TW_ROLE_%s, .row = %d,' % (row.id, row.path, row.role, number),
                "    .fields = %s, .field_count = %d, .args_size = sizeof(%s),%s" % (
                    row.table if row.fields else "NULL", len(row.fields), struct,
                    " .name_offset = offsetof(%s, name)," % struct if named else ""),
                "    .result = TW_KIND_%s, .result_word = %s, .body = %s," % (
                    row.result, c_string(row.result_word), "NULL" if row.role == "CLASS" else "(void (*)(void))tw__impl_" + row.id),
                "    .class_row = %s," % ("&tw__class_" + row.id if row.role == "CLASS" else "NULL"), "};"]
        out += [] if row.result in FRAMED else row.call()
    out += packed("signatures", [re.sub(r"\|(ragged|sparse)\b", "", r.text[r.text.index("("):]) for r in rows])
    out += ["const tw_signature *const tw__signatures[] = {"] + ["    &tw__signature_%s," % r.id for r in rows] + ["    NULL,", "};",
            "const int tw__signatures_count = %d;" % len(rows), ""]
    paths = sorted((path.encode(), i, at) for i, r in enumerate(rows) for path, at in starts(r.path))
    out += ["/* Every path in order: the row that has it, and where it begins there. */", "const tw__path tw__paths[] = {"]
    out += ["    { %d, %d }," % (i, at) for _, i, at in paths] + ["};", "const int tw__paths_count = %d;" % len(paths), ""]
    return "\n".join(out)


def functions_source(rows):
    out = ["/* Functions that pass their arguments to one op, and C calls that are no jumps; made by tools/collect_rows.py. */",
           '#include "graph/graph.h"', '#include "rows.h"', ""]
    for row in rows:
        out += row.call() if row.result in FRAMED else []
        if row.op:
            out += ["%stw__impl_%s(const tw_%s_args *args)" % (row.c_result(), row.id, row.id), "{", "    return %s;" % row.body(), "}", ""]
    return "\n".join(out)


def starts(paths):
    """Each of the paths between bars, with the position at which it begins."""
    at = 0
    for path in paths.split("|"):
        yield path, at
        at += len(path) + 1


def write(path, text):
    data = text.encode() if isinstance(text, str) else text
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, "rb") as f:
            if f.read() == data:
                return
    with open(path, "wb") as f:
        f.write(data)


def write_reference(path, ops, texts):
    known = {row: texts.docstring(texts.rows[row]) for row in texts.rows}
    known.update({"raw_ops." + op.id: reference.plain(op.doc).split("\n")[0] for op in ops if op.doc})
    write(path, reference.written(known))


def argument_files(src):
    """Where arguments of many rows, and of functions that are written in Python, are described."""
    return [p for p in (os.path.join(src, "spec", name + ".txt") for name in ("arguments", "results")) if os.path.exists(p)] + sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(src)), "python", "arguments", "*.txt")))


def described(src):
    """(ops, rows, their texts) of the rows under src; problems end the program."""
    ops, rows, problems = scan(src)
    if problems:
        sys.exit("\n".join(problems))
    try:
        return ops, rows, reference.Reference(rows, reference.Glossary(*argument_files(src)))
    except reference.BadText as e:
        sys.exit(str(e))


def main():
    src, out = sys.argv[1:3]
    ops, rows, texts = described(src)
    for name, text in api_headers(rows, texts):
        write(os.path.join(out, "include", "thalweg", name + ".h"), text)
    write(os.path.join(out, "include", "thalweg", "api.hpp"), cpp_header(rows))
    write(os.path.join(out, "rows.h"), rows_header(ops, rows))
    for name in ("api", "python"):
        write(os.path.join(out, "inside", "thalweg", name + ".h"), '#include "rows.h"\n')
    for name, text in file_headers(os.path.dirname(os.path.abspath(src)), ("src", "python", "tests"), ops, rows, rows_header):
        write(os.path.join(out, "files", name, "rows.h"), text)
    write(os.path.join(out, "rows.c"), rows_source(ops, rows))
    write(os.path.join(out, "functions.c"), functions_source(rows))
    write_reference(os.path.join(out, "reference.bin"), ops, texts)


if __name__ == "__main__":
    main()
