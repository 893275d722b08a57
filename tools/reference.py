"""What is written about rows (see collect_rows.py): the text of a row taken apart, arguments that src/spec/arguments.txt describes for many
rows at once, and python/arguments for functions that are written in Python, and the docstrings that are made of both.

A row's text is its summary, then lines in any order:
    NAME: what the argument is         returns: what comes back         raises: ERROR: when
    example: code                      example: expression  # what it gives, as repr() writes it
docs/adding.md shows one. A line about an argument that the row does not have is an error.
"""
import inspect
import os
import re
import textwrap
import zlib

MAGIC = b"THALWEG reference 1\n"
WIDTH = 100
LINE = re.compile(r"(\*{0,2}\w+): (.+)$")
KINDS = {"TENSOR": "tensor", "TENSORS": "list of tensors", "INT": "int", "FLOAT": "float", "BOOL": "bool", "STR": "str", "DTYPE": "dtype",
         "SHAPE": "shape", "INTS": "int or ints", "NUMBER": "float or object", "VALUE": "", "PAIRS": "dict"}
OBJECTS = {"callable": "callable", "function": "function", "trackable": "trackable object", "object": "object", "tensor": "tensor"}


class BadText(Exception):
    pass


def plain(literal):
    """A text as it stands between the quotes of a C literal, read."""
    def read(m):
        if m.group(1) not in 'n?"\\':
            raise BadText("an escape that is not known: %r" % literal)
        return "\n" if m.group(1) == "n" else m.group(1)
    return re.sub(r"\\(.)", read, literal)


def sentence(text):
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) or not text else text + "."


class Text:
    """A row's text, taken apart."""
    def __init__(self, literal, names):
        self.arguments, self.returns, self.raises, self.examples = {}, None, [], []
        summary, *lines = plain(literal).split("\n")
        self.summary = summary
        for line in lines:
            m = LINE.match(line)
            word = m.group(1).lstrip("*") if m else None
            if word in names and word not in self.arguments:
                self.arguments[word] = m.group(2)
            elif word == "returns" and not self.returns:
                self.returns = m.group(2)
            elif word == "raises":
                error, _, when = m.group(2).partition(": ")
                if not when:
                    raise BadText("'raises: %s' does not say when" % error)
                self.raises.append((error, when))
            elif word == "example":
                code, _, gives = m.group(2).partition("  # ")
                self.examples.append((code.rstrip(), gives))
            elif word:
                raise BadText("the text describes %r, which is no argument, or twice" % word)
            elif self.arguments or self.returns or self.raises or self.examples:
                raise BadText("a line of the text is not 'name: what it is': %r" % line)
            else:
                self.summary += "\n" + line


class Glossary:
    """src/spec/arguments.txt: what arguments of a name are, wherever the row does not say it. Behind a line [keras.layers.* data.*] an entry
    counts only for rows with such a path; `axis (ints): …` only for that kind. What fits most narrowly is taken."""
    def __init__(self, *paths):
        self.entries, self.used, self.raised = {}, set(), []
        for path in paths:
            self.read(path)
        self.patterns = {}
        for name, kind, pattern in self.entries:
            self.patterns.setdefault(name, []).append((pattern, kind))
        for found in self.patterns.values():
            found.sort(key=lambda entry: (-len(entry[0]), entry[1] is None))

    def read(self, path):
        scope = ["*"]
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
        opened = None  # the lines of a scope that has not ended
        for number, line in enumerate(lines, 1):
            entry, place = re.match(r"(\w+)(?: \((\w+)\))?: (.+)$", line), "%s:%d" % (os.path.basename(path), number)
            if opened is not None or line.startswith("["):
                opened = (opened or "") + " " + line.lstrip("[").rstrip("]")
                if line.endswith("]"):
                    scope, opened = opened.split(), None
            elif line.startswith("raises: "):
                self.raised.append((line[8:].partition(": ")[::2], scope, place))
            elif entry:
                name, kind, text = entry.groups()
                for pattern in scope:
                    if (name, kind, pattern) in self.entries:
                        raise BadText("%s: a second entry for %s" % (place, name))
                    self.entries[name, kind, pattern] = place, text
            elif line and not line.startswith("#"):
                raise BadText("%s: the line is not 'name: what it is'" % place)

    def raises(self, paths):
        """(error, when) that the scopes of these paths have."""
        return [said for said, scope, _ in self.raised if any(path in scope for path in paths)]

    def find(self, name, kind, paths):
        """The narrowest entry for an argument of a row with these paths; a kind of None fits all."""
        for pattern, wanted in self.patterns.get(name, ()):
            if kind and wanted not in (None, kind.lower()):
                continue
            start = pattern.removesuffix("*")
            if any(path.startswith(start) if pattern.endswith("*") else path == pattern for path in paths):
                place, text = self.entries[name, wanted, pattern]
                self.used.add(place)
                return text
        return None


class Reference:
    """The texts of all rows."""
    def __init__(self, rows, glossary):
        self.rows = {row.id: row for row in rows}
        self.glossary = glossary
        self.texts = {}
        for row in rows:
            try:
                self.texts[row.id] = Text(row.doc, [f.name for f in row.fields if f.name != "self"])
            except BadText as e:
                raise BadText("%s: error: %s" % (row.where, e)) from None

    def paths(self, row):
        """The paths that users write; none of a row that is the package's own."""
        return [p for p in row.path.split("|") if not any(part.startswith("_") and not part.startswith("__") for part in p.split("."))]

    def argument(self, row, field):
        """What a field is, in words; None: nobody said."""
        text = self.texts[row.id].arguments.get(field.name)
        base = field.inherited and self.rows[field.inherited]
        if not text and base:
            text = self.argument(base, next(f for f in base.fields if f.name == field.name))
        return text or self.glossary.find(field.name, field.kind, row.path.split("|"))

    def returns(self, row):
        text = self.texts[row.id].returns
        if text or row.role in ("CLASS", "PROPERTY") or row.result == "NONE":
            return text
        text = self.glossary.find("returns", row.result, row.path.split("|"))
        return text or (self.handle(row.result, row.result_word) if row.result.startswith("HANDLE") else None)

    def raises(self, row):
        """(error, when) of a row: its own, else those that it shares with others."""
        return self.texts[row.id].raises or self.glossary.raises(row.path.split("|"))

    def handle(self, kind, word):
        """What an object, or a list of them, is in Python."""
        if kind == "HANDLES":
            return "list of %s" % self.handle("HANDLE", word)
        if word in OBJECTS or word not in self.rows:
            return OBJECTS.get(word, "object")
        paths = self.paths(self.rows[word])
        return "tf." + paths[0] if paths else "object"

    def type_of(self, field):
        if field.kind in ("HANDLE", "HANDLES"):
            text = self.handle(field.kind, field.word)
        elif field.kind == "NAMED":
            text = "str or %s" % field.word
        elif field.kind == "TENSOR" and field.word and field.word[-1].isdigit():
            text = field.word + " tensor"
        else:
            text = KINDS[field.kind]
        if field.ragged:
            text += " or ragged tensor" if not field.sparse else ", ragged or sparse tensor"
        return text + " or None" if field.none_allowed and text else text

    @staticmethod
    def limits(field):
        """What the signature says of values beyond their type."""
        if field.choices:
            words = [repr(c.strip()) for c in field.choices.split(",")]
            return "One of %s." % ", ".join(words)
        if field.minimum is not None:
            return ("Greater than %s." if field.exclusive else "At least %s.") % field.minimum
        return ""

    def described(self, row):
        """(field, its type, what it is or None) of the arguments that a caller gives."""
        for field in row.fields:
            if field.name != "self":
                yield field, self.type_of(field), self.argument(row, field)

    def unused(self):
        """The entries of the glossary that no row needs, as "line: name"."""
        for row in self.rows.values():
            self.docstring(row)
        known = {path for row in self.rows.values() for path in row.path.split("|")}
        gone = ["%s: %s" % (place, path) for _, scope, place in self.glossary.raised for path in scope if path not in known]
        return gone + ["%s: %s" % (place, key[0]) for key, (place, _) in self.glossary.entries.items() if place not in self.glossary.used]

    def undescribed(self):
        """(row, field) where nobody said what an argument of a public row is."""
        return [(row, field) for row in self.rows.values() if self.paths(row) for field, _, text in self.described(row) if not text]

    def python_arguments(self, path, function):
        """(argument, what it is or None) of a function that is written in Python: as its docstring says, or the glossary."""
        said = re.findall(r"(?m)^ *\*{0,2}(\w+)(?: \([^)]*\))?: (.+)$", function.__doc__ or "")
        for p in inspect.signature(function, follow_wrapped=False).parameters.values():
            if p.name not in ("self", "cls") and not p.name.startswith("_"):
                stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
                yield stars + p.name, dict(said).get(p.name) or self.glossary.find(p.name, None, [path])

    def python_docstring(self, path, function):
        """The docstring of a function that is written in Python; where it has no list of arguments, with what the glossary says of them."""
        doc = inspect.cleandoc(function.__doc__ or "")
        if re.search(r"(?m)^Args:", doc):
            return doc
        lines = ["  %s: %s" % (name, sentence(words)) if words else "  " + name for name, words in self.python_arguments(path, function)]
        return (doc + "\n\nArgs:\n" + "\n".join(lines) if lines else doc).strip()

    def docstring(self, row):
        text = self.texts[row.id]
        out = [text.summary]

        def section(title, lines):
            if lines:
                out.extend(["", title + ":"] + lines)

        def item(head, words):
            return textwrap.fill(("%s: %s" % (head, words)).strip(), WIDTH, initial_indent="  ", subsequent_indent="      ", break_long_words=False,
                                 break_on_hyphens=False)
        arguments = []
        for field, kind, words in self.described(row):
            stars = {True: "**" if field.kind == "PAIRS" else "*"}.get(field.rest, "")
            arguments.append(item(stars + field.name + (" (%s)" % kind if kind else ""), (sentence(words or "") + " " + self.limits(field)).strip()))
        section("Args", arguments)
        returns = self.returns(row)
        section("Returns", returns and [textwrap.fill(sentence(returns), WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)])
        section("Raises", [item(error, sentence(when)) for error, when in self.raises(row)])
        section("Example", [line for code, gives in text.examples for line in ["  >>> " + code] + (["  " + gives] if gives else [])])
        return "\n".join(out)


def written(texts):
    """The file of the texts by their keys: MAGIC, the size, then a zlib stream of keys and texts, each with a NUL behind it, in order."""
    full = b"".join(key.encode() + b"\0" + text.encode() + b"\0" for key, text in sorted(texts.items(), key=lambda pair: pair[0].encode()))
    return MAGIC + len(full).to_bytes(4, "little") + zlib.compress(full, 9)
