"""The rows.h of each source file (see collect_rows.py): it declares the rows that the file names, so a new row compiles no file that does not use it.

The words of a file, and of the headers that it includes, say which rows it names: `Mul` in `TW_CALL(Mul, x, y)` is the op, `nn_softmax` in
`TW_API(nn_softmax, …)` and in `tw_nn_softmax_args` is the function. A word that is meant otherwise declares a row too many, which does no harm.
"""
import os
import re

WORD = re.compile(r"\w+")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([\w/.]+)[">]', re.M)
COMMENT = re.compile(r" */\*.*?\*/", re.S)
TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)  # comments and strings, which name nothing
FORMS = ("%s", "tw_%s", "tw_%s_", "tw_%s_args", "tw_%s_defaults", "tw__signature_%s", "tw__class_%s", "tw__impl_%s", "tw__result_%s", "TW__NAME_%s")


def named_by(ops, rows):
    """{word: the ids of ops and rows that it names}"""
    found = {}
    for op in ops:
        for word in [op.id, "tw__op_" + op.id] + [loop for loop, _ in op.loops]:
            found.setdefault(word, set()).add(("op", op.id))
    for row in rows:
        for form in FORMS:
            found.setdefault(form % row.id, set()).add(("row", row.id))
    return found


class Files:
    """What every file under the folders includes and names, read once."""
    def __init__(self, roots, names):
        self.roots, self.names, self.known, self.closed = roots, names, {}, {}

    def read(self, path):
        if path not in self.known:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            named = set()
            for word in set(WORD.findall(TEXT.sub(" ", text))):
                named |= self.names.get(word, set())
            self.known[path] = named, [p for p in (self.find(path, i) for i in INCLUDE.findall(text)) if p]
        return self.known[path]

    def find(self, path, name):
        for folder in [os.path.dirname(path)] + self.roots:
            at = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(at):
                return at
        return None

    def headers(self, path):
        """The headers that a file includes, and those that they include."""
        seen, todo = set(), list(self.read(path)[1])
        while todo:
            header = todo.pop()
            if header not in seen:
                seen.add(header)
                todo += self.read(header)[1]
        return seen

    def rows_of(self, path):
        named = set(self.read(path)[0])
        for header in self.headers(path):
            named |= self.read(header)[0]
        return named


def file_headers(root, folders, ops, rows, header):
    """(source file, text of its rows.h) for every C file of the folders under root. `header` writes one for some ops and rows."""
    files = Files([os.path.join(root, "src"), os.path.join(root, "include"), os.path.join(root, "tests")], named_by(ops, rows))
    for folder in folders:
        for at, names, members in os.walk(os.path.join(root, folder)):
            names.sort()
            for name in sorted(members):
                if name.endswith(".c"):
                    path = os.path.join(at, name)
                    named = files.rows_of(path)
                    text = header([o for o in ops if ("op", o.id) in named], [r for r in rows if ("row", r.id) in named])
                    yield os.path.relpath(path, root), COMMENT.sub("", text)
