"""From a Python function to the converted one: parse, lower, convert, compile.

The converted code is compiled under the user's file name with the user's line numbers, so tracebacks show the user's source. It
is cached by code object; a function of the same code with other closure cells shares it. ag__ is a closure cell of every
converted function."""
import ast
import inspect
import textwrap
import types
import weakref

from thalweg.autograph import expressions, lowering, parsing
from thalweg.autograph.analysis import argument_names
from thalweg.autograph.control_flow import ControlFlow, Directives
from thalweg.autograph.parsing import ConversionError
from thalweg.autograph.syntax import Namer, at_line_of, expression, name

_cache = weakref.WeakKeyDictionary()  # code → {(file, options): code}
_converted = weakref.WeakKeyDictionary()  # every code object of a converted function → _Origin
_BLOCKS = ("get_state", "set_state", "if_body", "else_body", "loop_body", "loop_test", "extra_test")


class _Origin:
    """What a converted code object came from: the user's name of the function, whether it is the converted function itself, and
    whether it is a function of the user's at all (otherwise it is a block of one)."""

    def __init__(self, function_name, root, own):
        self.function_name = function_name
        self.root = root
        self.own = own


def origin_of(code):
    """The _Origin of a code object, or None."""
    return _converted.get(code)


def program_name(code):
    """The name of the program's function that a code object came from; None for one that was not converted."""
    origin = _converted.get(code)
    return None if origin is None else origin.function_name


def _resolver(function):
    """Finds what a dotted name means to a function, as far as that is known before it runs."""
    closure = {}
    for key, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            closure[key] = cell.cell_contents
        except ValueError:
            continue

    def resolve(node):
        if isinstance(node, ast.Name):
            if node.id in function.__code__.co_varnames:
                return None
            return closure.get(node.id, function.__globals__.get(node.id))
        if isinstance(node, ast.Attribute):
            whole = resolve(node.value)
            return getattr(whole, node.attr, None) if isinstance(whole, types.ModuleType) else None
        return None
    return resolve


def transform(function, options):
    """The syntax tree of the converted function: a FunctionDef, or a Lambda for a lambda."""
    node = parsing.parse(function)
    resolve = _resolver(function)
    expressions.check_language(node)
    taken = {"ag__"} | {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | set(function.__code__.co_freevars)
    for part in ast.walk(node):
        if isinstance(part, ast.arguments):
            taken |= argument_names(part)
        elif isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part is not node:
            taken.add(part.name)
    namer = Namer(taken)
    if isinstance(node, ast.Lambda):
        return _transform_lambda(node, namer, options)
    Directives(resolve).visit(node)
    node.decorator_list = []
    node.body = lowering.Breaks(namer).block(node.body)
    node = expressions.Features(options).visit(node)
    node.body = lowering.Continues(namer).block(node.body)
    lowering.Functions(namer, options).root(node)
    none = at_line_of(ast.Constant(None), node)
    node.args.defaults = [none for _ in node.args.defaults]
    node.args.kw_defaults = [d and none for d in node.args.kw_defaults]
    node = expressions.Calls(options, node.scope).visit(node)
    ControlFlow(namer).function(node)
    node = expressions.Conditionals().visit(node)
    node = expressions.Logic(options).visit(node)
    node = expressions.Loads().visit(node)
    node.name = "tf__" + node.name
    return node


def _transform_lambda(node, namer, options):
    scope = namer.new("lscope")
    none = ast.copy_location(ast.Constant(None), node)
    node.args.defaults = [none for _ in node.args.defaults]
    node.args.kw_defaults = [d and none for d in node.args.kw_defaults]
    body = expressions.Calls(options, scope).visit(expressions.Features(options).visit(node.body))
    body = expressions.Logic(options).visit(expressions.Conditionals().visit(body))
    node.body = expression("ag__.with_function_scope(lambda SCOPE: BODY, NAME, OPTIONS)", node, SCOPE=scope, BODY=body,
                           NAME=ast.copy_location(ast.Constant(scope), node), OPTIONS=options.as_expression(node))
    return node


def _as_statement(node):
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Assign([name("tf__lam", node, store=True)], node), node)
    return node


def source_of(function, options):
    """The converted function as text."""
    statement = _as_statement(transform(function, options))
    inside = ast.If(ast.Constant(True), [ast.If(ast.Constant(True), [statement], [])], [])
    text = ast.unparse(ast.fix_missing_locations(ast.Module([inside], [])))
    lines = text.split("\n")[2:]
    while lines and not lines[0].strip():
        lines.pop(0)
    return textwrap.dedent("\n".join(lines)) + "\n"


def _note_origins(code, function_name, root, own):
    _converted[code] = _Origin(function_name, root, own)
    for inner in code.co_consts:
        if inspect.iscode(inner):
            block = inner.co_name.startswith(_BLOCKS) or inner.co_name.startswith("<")
            _note_origins(inner, function_name if block else inner.co_name, False, not block)


def _compile(function, options):
    code = function.__code__
    node = transform(function, options)
    factory = ast.parse("def outer_factory(ag__):\n    def placeholder():\n        pass").body[0]
    at_line_of(factory, node)
    assigned = [ast.copy_location(ast.Assign([name(v, node, store=True)], ast.copy_location(ast.Constant(None), node)), node)
                for v in code.co_freevars]
    factory.body = assigned + [_as_statement(node)]
    tree = ast.fix_missing_locations(ast.Module([factory], []))
    module = compile(tree, code.co_filename, "exec", dont_inherit=True)
    wanted = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    outer = next(c for c in module.co_consts if inspect.iscode(c))
    converted = next(c for c in outer.co_consts if inspect.iscode(c) and c.co_name == wanted)
    _note_origins(converted, code.co_name, True, True)
    return converted


def converted_function(function, options):
    """A Python function as a converted one, of the same arguments, defaults and closure."""
    from thalweg.autograph import runtime
    if not hasattr(function, "__code__"):
        raise ValueError("Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a @tf.function, "
                         "try passing f.python_function instead.")
    known = _cache.setdefault(function.__code__, {})
    key = function.__code__.co_filename, options
    code = known.get(key)
    if code is None:
        code = known[key] = _compile(function, options)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["ag__"] = runtime.CELL
    made = types.FunctionType(code, function.__globals__, "tf__" + function.__name__.replace("<lambda>", "lam"),
                              function.__defaults__,
                              tuple(cells[v] for v in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__doc__ = function.__doc__
    made.__annotations__ = function.__annotations__
    made.__module__ = function.__module__
    made.autograph_original = function
    return made


def python_function_of(entity):
    """(the plain function behind a function or method, the object it is bound to or None)."""
    if inspect.ismethod(entity):
        return entity.__func__, entity.__self__
    if not callable(entity):
        raise ConversionError("converting %s: %s is not a function or method" % (entity, entity))
    return entity, None
