"""Syntax trees: pieces made from text, names that nobody uses yet, symbols such as x, x.a and x[i].

A node that came from the user's source has the attribute `user`; nodes made here do not. Only the user's names are loaded
through ag__.ld, and only the user's calls are converted. Each made node takes the line of the statement it stands for, so that
the compiled code has the line numbers of the user's file."""
import ast
import copy


class UnsupportedLanguageElementError(NotImplementedError):
    """A part of the language that can't be converted."""


class Namer:
    """Gives names that are neither in the function nor given before: root, root_1, root_2, …"""

    def __init__(self, taken):
        self.taken = set(taken)

    def new(self, root):
        name, n = root, 0
        while name in self.taken:
            n += 1
            name = "%s_%d" % (root, n)
        self.taken.add(name)
        return name


class _Replace(ast.NodeTransformer):
    def __init__(self, values):
        self.values = values

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Name) and isinstance(self.values.get(node.value.id), list):
            return self.values[node.value.id]
        return self.generic_visit(node)

    def visit_Name(self, node):
        value = self.values.get(node.id)
        if value is None:
            return node
        if isinstance(value, str):
            node.id = value
            return node
        return value

    def visit_FunctionDef(self, node):
        if isinstance(self.values.get(node.name), str):
            node.name = self.values[node.name]
        return self.generic_visit(node)

    def visit_arg(self, node):
        if isinstance(self.values.get(node.arg), str):
            node.arg = self.values[node.arg]
        return node


def at_line_of(node, origin):
    """Gives a made tree the position of `origin`."""
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "user"):
            ast.copy_location(part, origin)
            # A call of ag__.f counts as being where the name f ends.
            part.end_lineno, part.end_col_offset = part.lineno, part.col_offset
    return node


def statements(text, origin, **values):
    """The statements of `text` at the line of `origin`; names in `values` become names (str),
    expressions, or statements (list)."""
    tree = ast.parse(text)
    for node in tree.body:
        at_line_of(node, origin)
    return _Replace(values).visit(tree).body


def expression(text, origin, **values):
    """As statements, for one expression."""
    return statements(text, origin, **values)[0].value


def name(text, origin, store=False):
    """A made name."""
    return ast.copy_location(ast.Name(text, ast.Store() if store else ast.Load()), origin)


def constant(value, origin):
    """A made constant; a tuple of constants is a tuple."""
    if isinstance(value, tuple):
        return ast.copy_location(ast.Tuple([constant(v, origin) for v in value], ast.Load()), origin)
    return ast.copy_location(ast.Constant(value), origin)


def symbol_of(node):
    """The text of a target that names a piece of state, x, x.a, x[0] or x[i]; None for anything else."""
    part = node
    while True:
        if isinstance(part, ast.Name):
            return ast.unparse(node)
        if isinstance(part, ast.Subscript):
            if not isinstance(part.slice, ast.Constant) and symbol_of(part.slice) is None:
                return None
        elif not isinstance(part, ast.Attribute):
            return None
        part = part.value


def is_composite(symbol):
    """Whether a symbol is more than a name."""
    return not symbol.isidentifier()


def names_in(symbol):
    """The variables a symbol stands on."""
    return {n.id for n in ast.walk(ast.parse(symbol)) if isinstance(n, ast.Name)}


def symbol_node(symbol, origin, store=False):
    """The symbol as an expression."""
    node = at_line_of(ast.parse(symbol, mode="eval").body, origin)
    if store:
        node.ctx = ast.Store()
    return node


def block_fields(node):
    """The fields of a statement that hold statements."""
    return [field for field in ("body", "orelse", "finalbody") if isinstance(getattr(node, field, None), list)]


def is_scope(node):
    """Whether a statement opens a scope of its own."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))


duplicate = copy.deepcopy
