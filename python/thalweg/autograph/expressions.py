"""Expressions: calls through ag__.converted_call, conditional and logical expressions through functions of no arguments, names
through ag__.ld; and what the optional features change (lists, slices, assertions, ==).

Four transformers, run in this order around control_flow: Features, Calls, then Conditionals, Logic, Loads."""
import ast

from thalweg.autograph.syntax import UnsupportedLanguageElementError, constant, duplicate, expression, name, statements, symbol_of


class Features(ast.NodeTransformer):
    """assert, list displays, append, pop and item assignment, where these were asked for."""

    def __init__(self, options):
        self.asserts = options.uses("ASSERT_STATEMENTS")
        self.lists = options.uses("LISTS")

    def visit_Assert(self, node):
        self.generic_visit(node)
        if not self.asserts:
            return node
        message = node.msg or constant("Assertion error", node)
        return statements("ag__.assert_stmt(TEST, lambda: MESSAGE)", node, TEST=node.test, MESSAGE=message)

    def visit_List(self, node):
        self.generic_visit(node)
        return expression("ag__.new_list(LIST)", node, LIST=node) if self.lists and isinstance(node.ctx, ast.Load) else node

    def visit_Expr(self, node):
        self.generic_visit(node)
        call = node.value
        if self.lists and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append" \
                and len(call.args) == 1 and not call.keywords and symbol_of(call.func.value):
            target = duplicate(call.func.value)
            target.ctx = ast.Store()
            made = statements("TARGET = ag__.list_append(LIST, VALUE)", node, LIST=call.func.value, VALUE=call.args[0])
            made[0].targets = [target]
            return made
        return node

    def visit_Assign(self, node):
        node = self.generic_visit(node)
        if not self.lists:
            return node
        if len(node.targets) > 1:
            raise NotImplementedError("multiple assignment")
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice) and symbol_of(target.value):
            made = statements("X = ag__.set_item(LIST, KEY, VALUE)", node, LIST=target.value, KEY=target.slice, VALUE=value)
            whole = duplicate(target.value)
            whole.ctx = ast.Store()
            made[0].targets = [whole]
            return made
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not self.lists or not isinstance(node.ctx, ast.Load) or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return node
        return expression("ag__.get_item(LIST, KEY, opts=ag__.GetItemOpts(element_dtype=None))", node, LIST=node.value,
                          KEY=node.slice)


class Calls(ast.NodeTransformer):
    """f(a, k=b) → ag__.converted_call(f, (a,), dict(k=b), scope)."""

    def __init__(self, options, scope):
        self.options = options
        self.scope = scope

    def _left_alone(self, node):
        called = symbol_of(node.func)
        return (not hasattr(node, "user") or called in ("pdb.set_trace", "ipdb.set_trace", "breakpoint") or
                (called == "print" and not self.options.uses("BUILTIN_FUNCTIONS")))

    def visit_Call(self, node):
        self.generic_visit(node)
        if self._left_alone(node):
            return node
        groups, plain = [], []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                groups.extend([plain] if plain else [])
                groups.append(argument.value)
                plain = []
            else:
                plain.append(argument)
        if plain or not groups:
            groups.append(plain)
        arguments = None
        for group in groups:
            if isinstance(group, list):
                part = ast.copy_location(ast.Tuple(group, ast.Load()), node)
            else:
                part = expression("tuple(GROUP)", node, GROUP=group)
            arguments = part if arguments is None else expression("LEFT + RIGHT", node, LEFT=arguments, RIGHT=part)
        keywords = constant(None, node)
        if node.keywords:
            keywords = ast.copy_location(ast.Call(name("dict", node), [], node.keywords), node)
        return expression("ag__.converted_call(F, ARGUMENTS, KEYWORDS, SCOPE)", node, F=node.func, ARGUMENTS=arguments,
                          KEYWORDS=keywords, SCOPE=self.scope)

    def visit_With(self, node):
        node.body = [part for child in node.body for part in _as_list(self.visit(child))]
        return node

    def visit_Lambda(self, node):
        self.generic_visit(node)
        return expression("ag__.autograph_artifact(FUNCTION)", node, FUNCTION=node) if hasattr(node, "user") else node

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args = self.visit(node.args)
        outer, self.scope = self.scope, node.scope
        node.body = [part for child in node.body for part in _as_list(self.visit(child))]
        self.scope = outer
        return node

    def visit_ClassDef(self, node):
        return node


def _as_list(made):
    return made if isinstance(made, list) else [made]


class Conditionals(ast.NodeTransformer):
    """a if t else b → ag__.if_exp(t, lambda: a, lambda: b, 't'). One inside another stays as it is, as in TensorFlow."""

    def visit_IfExp(self, node):
        return expression("ag__.if_exp(TEST, lambda: BODY, lambda: ORELSE, TEXT)", node, TEST=node.test, BODY=node.body,
                          ORELSE=node.orelse, TEXT=constant(ast.unparse(node.test), node))

    def visit_ClassDef(self, node):
        return node


class Logic(ast.NodeTransformer):
    """and, or, not, and chains of comparisons, whose right sides run only if needed."""

    def __init__(self, options):
        self.equality = options.uses("EQUALITY_OPERATORS")

    def _lazy(self, operator, left, right, origin):
        return expression("ag__.%s(lambda: LEFT, lambda: RIGHT)" % operator, origin, LEFT=left, RIGHT=right)

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = self._lazy(operator, value, result, node)
        return result

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return expression("ag__.not_(VALUE)", node, VALUE=node.operand) if isinstance(node.op, ast.Not) else node

    def _compare(self, left, operator, right, origin):
        if self.equality and isinstance(operator, (ast.Eq, ast.NotEq)):
            text = "ag__.eq(LEFT, RIGHT)" if isinstance(operator, ast.Eq) else "ag__.not_eq(LEFT, RIGHT)"
            return expression(text, origin, LEFT=left, RIGHT=right)
        return ast.copy_location(ast.Compare(left, [operator], [right]), origin)

    def visit_Compare(self, node):
        self.generic_visit(node)
        if len(node.ops) == 1 and not self.equality:
            return node
        left, result = node.left, None
        for operator, right in zip(node.ops, node.comparators):
            part = self._compare(duplicate(left), operator, right, node)
            result = part if result is None else self._lazy("and_", result, part, node)
            left = right
        return result

    def visit_ClassDef(self, node):
        return node


class Loads(ast.NodeTransformer):
    """The user's names are read through ag__.ld, which refuses undefined ones; del makes a name undefined."""

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and hasattr(node, "user"):
            return expression("ag__.ld(NAME)", node, NAME=node)
        return node

    def visit_AugAssign(self, node):
        if not isinstance(node.target, ast.Name) or not hasattr(node.target, "user"):
            return self.generic_visit(node)
        return statements("NAME = ag__.ld(NAME)", node, NAME=node.target.id) + [node]

    def visit_Delete(self, node):
        self.generic_visit(node)
        made = []
        rest = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                made += statements("NAME = ag__.Undefined(TEXT)", node, NAME=target.id, TEXT=constant(target.id, node))
            else:
                rest.append(target)
        if rest:
            node.targets = rest
            made.append(node)
        return made

    def visit_FunctionDef(self, node):
        arguments = node.args
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        arguments.kw_defaults = [d and self.visit(d) for d in arguments.kw_defaults]
        node.body = [part for child in node.body for part in _as_list(self.visit(child))]
        return node

    def visit_ExceptHandler(self, node):
        node.body = [part for child in node.body for part in _as_list(self.visit(child))]
        return node

    def visit_ClassDef(self, node):
        return node


def check_language(node):
    """Refuses what can't be converted anywhere in a function."""
    for part in ast.walk(node):
        if isinstance(part, (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)):
            raise UnsupportedLanguageElementError("async and await are not supported")
