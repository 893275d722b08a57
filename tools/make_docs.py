#!/usr/bin/env python3
"""Write the reference as HTML: a page for each public module with Python and C side by side, the guides of docs/, and a search. It needs the built
package and nothing else.

usage: make_docs.py ROOT PACKAGE OUT     the folder of the sources, the one that holds the package thalweg, and where the pages go
"""
import glob
import html
import inspect
import json
import os
import shutil
import sys

import collect_rows
import markdown_html
import public_names
import reference
from c_headers import OWNERSHIP, c_error

GUIDES = ("README", "c", "keras", "data", "graphs", "files", "runtime", "differences", "environment", "building", "versions", "architecture", "adding")
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>%(title)s – thalweg</title>
<link rel="stylesheet" href="style.css"></head><body>
<header><a href="index.html">thalweg</a><input id="search" type="search" placeholder="Search: softmax, tw_nn_, gather rows …" aria-label="Search" autocomplete="off"></header>
<div id="hits"></div><div class="page"><nav><details open><summary>Contents</summary>%(menu)s</details></nav><main>%(body)s</main></div>
<script src="entries.js"></script><script src="search.js"></script></body></html>
"""


def escape(text):
    return html.escape(text, quote=False)


def prose(text):
    return markdown_html.inline(text.replace("\n", " "))


class Pages:
    def __init__(self, root, tf):
        self.root = root
        _, rows, self.texts = collect_rows.described(os.path.join(root, "src"))
        self.by_paths = {row.path: row for row in rows}
        self.rows = {path: row for row in rows for path in row.path.split("|")}
        self.modules, self.places = public_names.modules(tf)
        self.homes = public_names.homes(self.modules)
        self.first, self.entries = {}, []
        for module, names in sorted(self.modules.items(), key=lambda m: (m[0].startswith("compat."), m[0].count("."), m[0])):
            for name, value in names.items():
                if callable(value) and not isinstance(value, type):
                    row = self.row_of(self.path(module, name), value)
                    named = [p for p in self.texts.paths(row) if p.rpartition(".")[2] in self.modules.get(p.rpartition(".")[0], ())] if row else []
                    self.first.setdefault(id(value), (named or [self.path(module, name)])[0])

    @staticmethod
    def path(module, name):
        return module + "." + name if module else name

    @staticmethod
    def file(module):
        return "tf.%s.html" % module if module else "tf.html"

    def address(self, path):
        module, _, name = path.rpartition(".")
        return "%s#%s" % (self.file(module), name)

    def home(self, path, value):
        return self.homes.get(value, path) if isinstance(value, type) else self.first.get(id(value), path)

    def row_of(self, path, value):
        text = None if isinstance(value, type) else getattr(type(value), "_row", None) and value._row
        if text:
            return self.by_paths.get(text.split("(")[0])
        row = self.rows.get(path)
        return row if isinstance(value, type) and row and row.role == "CLASS" else None

    # ---- one thing ----

    def c_call(self, row):
        """How C calls it: what must be given, then the options with their defaults."""
        required = ["%s%s" % (f.c_type(), f.member()) for f in row.fields if f.required]
        options = [".%s" % f.member() + (" = %s" % self.c_default(f) if f.default not in (None, "None") else "") for f in row.fields if not f.required]
        return "%stw_%s(%s)" % (row.c_result(), row.id, ", ".join(required + options))

    @staticmethod
    def c_default(field):
        if field.kind in ("STR", "NAMED"):
            return '"%s"' % field.default.strip("'")
        return {"BOOL": field.default.lower(), "DTYPE": "TW_" + field.default.upper()}.get(field.kind, field.default)

    def signature(self, name, value):
        try:
            text = str(inspect.signature(value))
        except (TypeError, ValueError):
            text = "(…)"
        return name + text

    def parts(self, row):
        """Arguments, result, errors and examples of a row."""
        text, out = self.texts.texts[row.id], []
        arguments = []
        for field, kind, words in self.texts.described(row):
            more = " ".join(part for part in (reference.sentence(words or ""), self.texts.limits(field)) if part)
            note = kind + ("; default %s" % field.default if field.default not in (None, "None") else "")
            arguments.append("<dt><code>%s</code> <small>%s</small></dt><dd>%s</dd>" % (field.name, escape(note), prose(more)))
        if arguments:
            out.append("<b class=part>Arguments</b><dl>%s</dl>" % "".join(arguments))
        returns = self.texts.returns(row)
        if returns:
            owner = OWNERSHIP.get(row.result)
            out.append("<b class=part>Returns</b><p>%s%s</p>" % (prose(reference.sentence(returns)), " <small>In C it is the caller's, %s.</small>" % owner if owner else ""))
        raised = self.texts.raises(row)
        if raised:
            out.append("<b class=part>Errors</b><dl>%s</dl>" % "".join("<dt><code>%s</code> <small>%s</small></dt><dd>%s</dd>" % (
                escape(error), c_error(error), prose(reference.sentence(when))) for error, when in raised))
        if text.examples:
            lines = [line for code, gives in text.examples for line in [">>> " + code] + ([gives] if gives else [])]
            out.append("<b class=part>Example</b><pre><code>%s</code></pre>" % escape("\n".join(lines)))
        return "".join(out)

    def thing(self, path, value, level=2, kind=""):
        """A function, class, method or property."""
        name = path.rpartition(".")[2]
        row = self.row_of(path, value)
        head = '<h%d id="%s"><a href="#%s">tf.%s</a><span class=kind>%s</span></h%d>' % (level, name if level == 2 else path, name if level == 2 else path, path, kind, level)
        python = "" if kind == "property" else "<div><b>Python</b><pre><code>%s</code></pre></div>" % escape(self.signature("tf." + path, value))
        in_c = "<div><b>C</b><pre><code>%s</code></pre></div>" % escape(self.c_call(row)) if row else ""
        if row:
            summary = self.texts.texts[row.id].summary
            body = "<p>%s</p><div class=sides>%s%s</div>%s" % (prose(summary), python, in_c, self.parts(row))
        else:
            if inspect.isfunction(value):
                doc = self.texts.python_docstring(path, value)
            else:
                doc = inspect.cleandoc(value.__doc__) if isinstance(getattr(value, "__doc__", None), str) else ""
            summary, _, rest = doc.partition("\n\n")
            body = "<p>%s</p><div class=sides>%s</div>%s" % (prose(summary), python, "<pre>%s</pre>" % escape(rest) if rest else "")
        self.entries.append(["tf." + path, "%s#%s" % (self.current, name if level == 2 else path), summary.split("\n")[0][:160]])
        if row:
            self.entries.append(["tw_" + row.id, self.entries[-1][1], self.entries[-1][2]])
        return head + body

    def members(self, path, kind):
        """The methods and properties that a class has of its own."""
        out = []
        for name, value in sorted(vars(kind).items()):
            if name.startswith("_") or isinstance(value, type):
                continue
            if isinstance(value, property):
                out.append(self.thing(path + "." + name, value.fget, 3, "property"))
            elif isinstance(value, (staticmethod, classmethod)) or callable(value):
                out.append(self.thing(path + "." + name, getattr(kind, name), 3, "method"))
        return "<div class=members>%s</div>" % "".join(out) if out else ""

    # ---- pages ----

    def menu(self, here):
        def line(address, text):
            return '<a href="%s"%s>%s</a>' % (address, " class=here" if address == here else "", escape(text))
        modules = sorted(self.modules, key=lambda m: (m.startswith("compat."), m))
        shown = [m for m in modules if m.count(".") < 1 + m.startswith("compat.v1") or here == self.file(m) or here.startswith("tf.%s." % m.rpartition(".")[0])]
        return "<h3>Guides</h3>%s<h3>Modules</h3>%s" % ("".join(line("guide-%s.html" % g, t) for g, t in self.guides), "".join(line(self.file(m), "tf." + m if m else "tf") for m in shown))

    def module_page(self, module):
        self.current = self.file(module)
        things, here, others, values = [], [], [], []
        for name, value in sorted(self.modules[module].items(), key=lambda entry: (isinstance(entry[1], type), entry[0])):
            path = self.path(module, name)
            if not callable(value):
                if not inspect.ismodule(value):
                    values.append("<li><code>tf.%s</code></li>" % path)
                continue
            home = self.home(path, value)
            if home != path:
                others.append('<li><a href="%s">tf.%s</a></li>' % (self.address(home), path))
                self.entries.append(["tf." + path, self.address(home), "tf." + home])
                continue
            kind = "class" if isinstance(value, type) else ""
            here.append('<li><a href="#%s">%s</a></li>' % (name, name))
            things.append("<article>%s%s</article>" % (self.thing(path, value, 2, kind), self.members(path, value) if kind else ""))
        body = "<h1>tf%s</h1>" % ("." + module if module else "")
        below = [m for m in self.modules if m and m.rpartition(".")[0] == module]
        for title, lines in (("Modules", ['<li><a href="%s">tf.%s</a></li>' % (self.file(m), m) for m in sorted(below)]), ("On this page", here), ("Names of things that stand elsewhere", others), ("Values", values)):
            if lines:
                body += "<b class=part>%s</b><ul class=names>%s</ul>" % (title, "".join(lines))
        return body + "".join(things)

    def write(self, out):
        os.makedirs(out, exist_ok=True)
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "docs_page")
        for name in os.listdir(here):
            shutil.copy(os.path.join(here, name), os.path.join(out, name))
        docs = os.path.join(self.root, "docs")
        sources = {os.path.relpath(p, docs)[:-3]: p for p in glob.glob(os.path.join(docs, "**", "*.md"), recursive=True)}
        sources["README"] = os.path.join(self.root, "README.md")
        self.guides = []
        for guide in [g for g in GUIDES if g in sources] + sorted(set(sources) - set(GUIDES)):
            with open(sources[guide], encoding="utf-8") as f:
                self.guides.append((guide.replace("/", "-"), f.readline().strip("# \n")))
        for guide in sources:
            with open(sources[guide], encoding="utf-8") as f:
                text = f.read()
            markdown_html.resolve = self.resolver(docs, sources, os.path.dirname(sources[guide]))
            name, title = guide.replace("/", "-"), text.split("\n")[0].strip("# ")
            self.page(out, "guide-%s.html" % name, title, markdown_html.page(text))
            self.entries.append([title, "guide-%s.html" % name, "Guide"])
        for module in sorted(self.modules):
            self.page(out, self.file(module), "tf." + module if module else "tf", self.module_page(module))
        self.page(out, "index.html", "Reference", self.start())
        with open(os.path.join(out, "entries.js"), "w", encoding="utf-8") as f:
            f.write("const ENTRIES = %s;\n" % json.dumps(self.entries, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"))

    @staticmethod
    def resolver(docs, sources, folder):
        """Where links of a guide lead: to other guides, to places on its page, to the web; files that are no pages are not linked."""
        pages = {os.path.normpath(path): name for name, path in sources.items()}

        def resolve(target):
            if "://" in target or target.startswith("#"):
                return target
            file, mark, anchor = target.partition("#")
            name = pages.get(os.path.normpath(os.path.join(folder, file)))
            return "guide-%s.html%s" % (name.replace("/", "-"), mark + anchor) if name else None
        return resolve

    def start(self):
        guides = "".join('<li><a href="guide-%s.html">%s</a></li>' % pair for pair in self.guides)
        modules = "".join('<li><a href="%s">tf%s</a></li>' % (self.file(m), "." + m if m else "") for m in sorted(self.modules, key=lambda m: (m.startswith("compat."), m)))
        return ("<h1>thalweg</h1><p>TensorFlow 2 as a small C library: everything that Python and C programs can call. Press <code>/</code> to search by a name of either "
                "language, or by words.</p><h2>Guides</h2><ul>%s</ul><h2>Modules</h2><ul class=names>%s</ul>" % (guides, modules))

    def page(self, out, name, title, body):
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write(PAGE % {"title": escape(title), "menu": self.menu(name), "body": body})


def main():
    root, package, out = sys.argv[1:4]
    Pages(root, public_names.package(package)).write(out)


if __name__ == "__main__":
    main()
