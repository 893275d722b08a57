"""if, while and for become calls of ag__.if_stmt, ag__.while_stmt and ag__.for_stmt with their blocks as local functions.

The blocks share their variables with the function by nonlocal; get_state and set_state read and write the variables that come
into or out of the statement. Names are given from the inside out, as in TensorFlow."""
import ast

from thalweg.autograph import analysis
from thalweg.autograph.syntax import (UnsupportedLanguageElementError, constant, expression, is_composite, is_scope, name,
                                      names_in,
                                      statements, symbol_node)


class ControlFlow:
    """Rewrites the functions of a tree, each with its own analysis."""

    def __init__(self, namer):
        self.namer = namer
        self.declared = (set(), set())

    def function(self, node):
        outer = self.declared
        self.declared = analysis.declarations(node.body)
        analysis.analyze(node)
        node.body = self.block(node.body)
        self.declared = outer

    def block(self, body):
        result = []
        for node in body:
            if isinstance(node, ast.FunctionDef):
                self.function(node)
            elif isinstance(node, (ast.If, ast.While, ast.For)):
                self.drop_annotations(node)
            if not is_scope(node):
                for field in ("body", "orelse", "finalbody"):
                    if isinstance(getattr(node, field, None), list):
                        setattr(node, field, self.block(getattr(node, field)))
                for handler in getattr(node, "handlers", []):
                    handler.body = self.block(handler.body)
            if isinstance(node, ast.If):
                result.extend(self.if_statement(node))
            elif isinstance(node, ast.While):
                result.extend(self.while_statement(node))
            elif isinstance(node, ast.For):
                result.extend(self.for_statement(node))
            else:
                result.append(node)
        return result

    def drop_annotations(self, node):
        """A variable with an annotation can't be nonlocal, so inside blocks an annotated assignment is a plain one."""
        for field in ("body", "orelse"):
            made = []
            for child in getattr(node, field):
                if isinstance(child, ast.AnnAssign):
                    plain = ast.Assign([child.target], child.value) if child.value else ast.Pass()
                    child = ast.copy_location(plain, child)
                made.append(child)
            setattr(node, field, made)

    def state_functions(self, node, state):
        """The definitions of get_state and set_state, their names, and the declarations that each block starts with."""
        get_state, set_state = self.namer.new("get_state"), self.namer.new("set_state")
        values = []
        for symbol in state:
            if is_composite(symbol):
                values.append(expression("ag__.ldu(lambda: SYMBOL, TEXT)", node, SYMBOL=symbol_node(symbol, node),
                                         TEXT=constant(symbol, node)))
            else:
                values.append(name(symbol, node))
        getter = statements("def GET():\n    return VALUES", node, GET=get_state,
                            VALUES=ast.copy_location(ast.Tuple(values, ast.Load()), node))
        if not state:
            return getter + statements("def SET(block_vars):\n    pass", node, SET=set_state), get_state, set_state, lambda: []
        simple = [s for s in state if not is_composite(s)]
        local = [s for s in simple if s not in self.declared[0]]
        shared = [s for s in simple if s in self.declared[0]]

        def declare():
            made = [ast.copy_location(ast.Global(shared), node)] if shared else []
            return made + ([ast.copy_location(ast.Nonlocal(local), node)] if local else [])
        used = set().union(*[names_in(s) for s in state])
        argument = next(a for a in ("vars_", "vars__1", "vars__2") + tuple("vars__%d" % i for i in range(3, 99)) if a not in used)
        setter = statements("def SET(ARGUMENT):\n    DECLARE\n    TARGET = ARGUMENT", node, SET=set_state, ARGUMENT=argument,
                            DECLARE=declare())
        targets = [symbol_node(s, node, store=True) for s in state]
        setter[0].body[-1].targets = [ast.copy_location(ast.Tuple(targets, ast.Store()), node)]
        return getter + setter, get_state, set_state, declare

    def undefined(self, node, names):
        made = []
        for symbol in names:
            made += statements("NAME = ag__.Undefined(TEXT)", node, NAME=symbol, TEXT=constant(symbol, node))
        return made

    def if_statement(self, node):
        state, outputs, undefined = analysis.block_variables(node, self.declared)
        functions, get_state, set_state, declare = self.state_functions(node, state)
        body, orelse = self.namer.new("if_body"), self.namer.new("else_body")
        functions += statements("def NAME():\n    BODY", node, NAME=body, BODY=declare() + node.body)
        functions += statements("def NAME():\n    BODY", node, NAME=orelse,
                                BODY=declare() + (node.orelse or [ast.copy_location(ast.Pass(), node)]))
        return functions + self.undefined(node, undefined) + statements(
            "ag__.if_stmt(TEST, BODY, ORELSE, GET, SET, NAMES, OUTPUTS)", node, TEST=node.test, BODY=body, ORELSE=orelse,
            GET=get_state,
            SET=set_state, NAMES=constant(tuple(state), node), OUTPUTS=constant(outputs, node))

    def options_of(self, node):
        """The keys and values of set_loop_options in a loop's body, and the loop without the call."""
        keys, values = [], []
        for statement in list(node.body):
            call = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and getattr(call, "loop_options", None) is not None:
                for key, value in call.loop_options:
                    keys.append(constant(key, node))
                    values.append(value)
                node.body.remove(statement)
        if not node.body:
            node.body.append(ast.copy_location(ast.Pass(), node))
        return keys, values

    def while_statement(self, node):
        state, _, undefined = analysis.block_variables(node, self.declared)
        keys, values = self.options_of(node)
        functions, get_state, set_state, declare = self.state_functions(node, state)
        body, test = self.namer.new("loop_body"), self.namer.new("loop_test")
        functions += statements("def NAME():\n    BODY", node, NAME=body, BODY=declare() + node.body)
        functions += statements("def NAME():\n    return TEST", node, NAME=test, TEST=node.test)
        return functions + self.undefined(node, undefined) + statements(
            "ag__.while_stmt(TEST, BODY, GET, SET, NAMES, OPTIONS)", node, TEST=test, BODY=body, GET=get_state, SET=set_state,
            NAMES=constant(tuple(state), node), OPTIONS=ast.copy_location(ast.Dict(keys, values), node))

    def for_statement(self, node):
        state, _, undefined = analysis.block_variables(node, self.declared)
        keys, values = self.options_of(node)
        functions, get_state, set_state, declare = self.state_functions(node, state)
        body, item = self.namer.new("loop_body"), self.namer.new("itr")
        assign = statements("TARGET = ITEM", node, ITEM=item)
        assign[0].targets = [node.target]
        functions += statements("def NAME(ITEM):\n    BODY", node, NAME=body, ITEM=item, BODY=declare() + assign + node.body)
        extra = constant(None, node)
        if getattr(node, "extra_test", None) is not None:
            test = self.namer.new("extra_test")
            functions += statements("def NAME():\n    BODY\n    return TEST", node, NAME=test, BODY=declare(),
                                    TEST=node.extra_test)
            extra = name(test, node)
        keys.append(constant("iterate_names", node))
        values.append(constant(ast.unparse(node.target), node))
        return functions + self.undefined(node, undefined) + statements(
            "ag__.for_stmt(ITER, EXTRA, BODY, GET, SET, NAMES, OPTIONS)", node, ITER=node.iter, EXTRA=extra, BODY=body,
            GET=get_state,
            SET=set_state, NAMES=constant(tuple(state), node), OPTIONS=ast.copy_location(ast.Dict(keys, values), node))


LOOP_OPTIONS = ("parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants")


class Directives(ast.NodeVisitor):
    """Marks the calls of set_loop_options directly in a loop's body; `resolve` says what an expression names, if that is
    known."""

    def __init__(self, resolve):
        self.resolve = resolve

    def _loop(self, node):
        for statement in node.body:
            call = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr) and isinstance(call, ast.Call):
                if getattr(self.resolve(call.func), "_autograph_directive", False):
                    call.loop_options = self._arguments(call)
                    del call.user
        self.generic_visit(node)

    visit_While = visit_For = _loop

    def _arguments(self, call):
        given = list(zip(LOOP_OPTIONS, call.args)) + [(k.arg, k.value) for k in call.keywords]
        for key, _ in given:
            if key not in LOOP_OPTIONS:
                raise UnsupportedLanguageElementError("set_loop_options: unknown option %r" % key)
        return given
