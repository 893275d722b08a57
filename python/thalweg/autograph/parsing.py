"""From a function object to the syntax tree of its source, with line numbers of its file.

A lambda has no position of its own: of the lambdas on its lines, the one with the same arguments and the same compiled code is
taken."""
import ast
import inspect
import linecache
import textwrap

from thalweg.autograph.syntax import UnsupportedLanguageElementError


class ConversionError(Exception):
    """A function that can't be converted."""


def _tree_of(lines, start):
    """The lines as a tree, or None; what stands around them is cut away as far as needed."""
    text = textwrap.dedent("".join(lines))
    for wrapped in (text, "(" + text.strip().rstrip(",") + "\n)", text.rstrip().rstrip("\\,)]}")):
        try:
            return ast.increment_lineno(ast.parse(wrapped), start)
        except SyntaxError:
            continue
    return None


def _parse_lines(function):
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as e:
        raise ConversionError("source code of %r is not visible: %s" % (function, e)) from None
    tree = _tree_of(lines, first - 1)
    if tree is None and lines:  # a lambda amid an expression of several lines
        everything = linecache.getlines(inspect.getsourcefile(function) or "")
        try:
            tree = ast.parse("".join(everything)) if everything else None
        except SyntaxError:
            tree = None
    if tree is None:
        raise ConversionError("could not parse the source code of %r: no matching AST found among candidates:\n" % (function,))
    return tree


def _arguments_of(node):
    a = node.args
    names = [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs]
    return tuple(names + [x.arg for x in (a.vararg, a.kwarg) if x])


def _shape_of(code):
    """What two compilations of one lambda share."""
    constants = tuple(_shape_of(c) if inspect.iscode(c) else (type(c).__name__, repr(c)) for c in code.co_consts)
    return code.co_names, code.co_varnames, len(code.co_freevars), constants


def _same_code(node, code):
    try:
        module = compile(ast.Expression(node), "<lambda>", "eval")
    except (SyntaxError, ValueError):
        return False
    made = next((c for c in module.co_consts if inspect.iscode(c)), None)
    if made is None:
        return False
    a, b = _shape_of(made), _shape_of(code)
    return a[3] == b[3] and set(a[0]) - set(code.co_freevars) <= set(b[0]) | set(code.co_freevars)


def _find_lambda(function, tree):
    code = function.__code__
    candidates = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and
                  (n.lineno == code.co_firstlineno or n.body.lineno == code.co_firstlineno) and
                  _arguments_of(n) == code.co_varnames[:len(_arguments_of(n))]]
    if len(candidates) > 1 and hasattr(code, "co_positions"):
        columns = [p[2] for p in code.co_positions() if p[0] == code.co_firstlineno and p[2] is not None]
        exact = [n for n in candidates if _same_code(n, code)]
        candidates = exact or candidates
        if len(candidates) > 1 and columns:
            inside = [n for n in candidates if n.body.col_offset <= max(columns) <= n.body.end_col_offset]
            if len(inside) == 1:
                candidates = inside
    if len(candidates) > 1 and len({ast.dump(n) for n in candidates}) > 1:
        raise UnsupportedLanguageElementError(
            "could not parse the source code of %r: found multiple definitions with identical signatures at the location. "
            "This error may be avoided by defining each lambda on a single line and with unique argument names." % (function,))
    if not candidates:
        raise ConversionError("could not parse the source code of %r: no matching AST found among candidates" % (function,))
    return candidates[0]


def _find_function(function, tree):
    code = function.__code__
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            if first == code.co_firstlineno:
                return node
    raise ConversionError("could not parse the source code of %r: no matching AST found" % (function,))


def parse(function):
    """The FunctionDef or Lambda of a function; every node is marked as the user's."""
    tree = _parse_lines(function)
    node = _find_lambda(function, tree) if function.__code__.co_name == "<lambda>" else _find_function(function, tree)
    for part in ast.walk(node):
        part.user = True
        if isinstance(part, (ast.Attribute, ast.Name)):
            text = part.attr if isinstance(part, ast.Attribute) else part.id
            if text.startswith("__") and not text.endswith("__"):
                raise UnsupportedLanguageElementError("mangled names are not yet supported")
    return node
