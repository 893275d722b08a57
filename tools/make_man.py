#!/usr/bin/env python3
"""Write manual pages of the C functions, one for each header that is made of rows: thalweg_math(3), thalweg_layers(3) and so on, with the call, what it does,
its arguments, its result and its errors.

usage: make_man.py SRC OUT
"""
import os
import sys

import collect_rows
import reference
from c_headers import AREAS, OWNERSHIP, area, c_error


def roff(text):
    """A text as roff takes it: no line begins a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def call(row):
    """The call in C: what must be given, then the options."""
    parts = [f.c_type() + f.member() for f in row.fields if f.required] + ["." + f.member() for f in row.fields if not f.required]
    return "%stw_%s(%s)" % (row.c_result(), row.id, ", ".join(parts))


def entry(row, texts):
    """A row's part of its page."""
    out = [".SS " + roff("tw_" + row.id), ".nf", ".B " + roff(call(row)), ".fi", ".PP", roff(texts.texts[row.id].summary)]
    for field, _, words in texts.described(row):
        more = " ".join(part for part in (reference.sentence(words or ""), texts.limits(field)) if part)
        default = field.shown or field.default
        out += [".TP", ".I " + roff(field.member()), roff(more + (" Default: %s." % default if default not in (None, "None", "''") else ""))]
    returns = texts.returns(row)
    if returns:
        owner = OWNERSHIP.get(row.result)
        out += [".TP", "Returns", roff(reference.sentence(returns) + (" It is the caller's, %s." % owner if owner else ""))]
    for error, when in texts.raises(row):
        out += [".TP", ".B " + roff(c_error(error)), roff(reference.sentence(when))]
    paths = texts.paths(row)
    return out + ([".PP", "In Python: " + roff(", ".join("tf." + path for path in paths))] if paths else [])


def page(name, title, rows, texts):
    """The page of a header."""
    out = ['.TH THALWEG_%s 3 "thalweg"' % name.upper(), ".SH NAME", "thalweg_%s \\- %s" % (name, roff(title)), ".SH SYNOPSIS", ".nf",
           ".B #include <thalweg/%s.h>" % name, ".fi", ".SH DESCRIPTION",
           "Required arguments come first, options by name; what is left out has its default. See", ".BR thalweg (3)", "for errors and ownership.", ".SH FUNCTIONS"]
    for row in sorted(rows, key=lambda row: row.id):
        out += entry(row, texts)
    return "\n".join(out + [".SH SEE ALSO", ".BR thalweg (1),", ".BR thalweg (3)"]) + "\n"


def main():
    src, out = sys.argv[1:3]
    _, rows, texts = collect_rows.described(src)
    os.makedirs(out, exist_ok=True)
    for name, title, _ in AREAS:
        found = [row for row in rows if area(row) == name]
        if found:
            with open(os.path.join(out, "thalweg_%s.3" % name), "w", encoding="utf-8") as f:
                f.write(page(name, title, found, texts))


if __name__ == "__main__":
    main()
