"""break, continue and return become flags: break_, continue_, do_return with retval_.

What follows a statement that may have set a flag is put under `if not flag:`; a loop's test also asks the flag. For a `for`
loop the extra test stays on the node as `extra_test`. The order of the three is that of TensorFlow: a break is a flag and a
continue; a return comes last, after statements that follow an `if` with a return have been moved into the branch that does not
return."""
import ast

from thalweg.autograph.syntax import (UnsupportedLanguageElementError, block_fields, constant, expression, is_scope, name,
                                      statements)


def _no_else(node):
    if node.orelse:
        kind = "while" if isinstance(node, ast.While) else "for"
        raise UnsupportedLanguageElementError("%s/else statement not yet supported" % kind)


class _Blocks:
    """Walks the blocks of one function, with inner functions left to `inner`."""

    def blocks(self, node):
        for field in block_fields(node):
            setattr(node, field, self.block(getattr(node, field)))
        for handler in getattr(node, "handlers", []):
            handler.body = self.block(handler.body)

    def block(self, body):
        result = []
        for node in body:
            made = self.statement(node)
            result.extend(made if isinstance(made, list) else [made])
        return result

    def statement(self, node):
        raise NotImplementedError


class Breaks(_Blocks):
    """break → break_ = True; continue."""

    def __init__(self, namer):
        self.namer = namer
        self.loops = []

    def statement(self, node):
        if isinstance(node, ast.Break):
            self.loops[-1][1] = True
            again = ast.copy_location(ast.Continue(), node)
            return statements("FLAG = True", node, FLAG=self.loops[-1][0]) + [again]
        if is_scope(node):
            return self.inner(node)
        if not isinstance(node, (ast.While, ast.For)):
            self.blocks(node)
            return node
        _no_else(node)
        self.loops.append([self.namer.new("break_"), False])
        self.blocks(node)
        flag, used = self.loops.pop()
        if not used:
            return node
        if isinstance(node, ast.While):
            node.test = expression("not FLAG and TEST", node, FLAG=flag, TEST=node.test)
        else:
            node.extra_test = expression("not FLAG", node, FLAG=flag)
            node.body[:0] = statements("(FLAG,)", node, FLAG=flag)
        return statements("FLAG = False", node, FLAG=flag) + [node]

    def inner(self, node):
        if isinstance(node, ast.FunctionDef):
            outer, self.loops = self.loops, []
            self.blocks(node)
            self.loops = outer
        return node


class Continues(_Blocks):
    """continue → continue_ = True, and the rest of the body under `if not continue_`."""

    def __init__(self, namer):
        self.namer = namer
        self.loops = []

    def block(self, body):
        result = []
        for i, node in enumerate(body):
            found, self.found = getattr(self, "found", False), False
            made = self.statement(node)
            here, self.found = self.found, found or self.found
            result.extend(made if isinstance(made, list) else [made])
            if here and i + 1 < len(body):
                rest = self.block(body[i + 1:])
                result.extend(statements("if not FLAG:\n    REST", body[i + 1], FLAG=self.loops[-1][0], REST=rest))
                break
        return result

    def statement(self, node):
        if isinstance(node, ast.Continue):
            self.loops[-1][1] = self.found = True
            return statements("FLAG = True", node, FLAG=self.loops[-1][0])
        if isinstance(node, ast.FunctionDef):
            state = self.loops, self.found
            self.loops, self.found = [], False
            self.blocks(node)
            self.loops, self.found = state
            return node
        if is_scope(node):
            return node
        if not isinstance(node, (ast.While, ast.For)):
            self.blocks(node)
            return node
        found = self.found
        self.loops.append([self.namer.new("continue_"), False])
        self.blocks(node)
        flag, used = self.loops.pop()
        self.found = found
        if used:
            node.body[:0] = statements("FLAG = False", node, FLAG=flag)
        return node


def _move_rest(body):
    """Puts what follows a branch that returns into the other branch; (the block, whether it surely returns)."""
    result, returns = [], False
    for i, node in enumerate(body):
        result.append(node)
        if isinstance(node, ast.Return):
            returns = True
        elif isinstance(node, ast.If):
            node.body, first = _move_rest(node.body)
            node.orelse, second = _move_rest(node.orelse)
            rest = body[i + 1:]
            if rest and (first or second):
                rest, sure = _move_rest(rest)
                if first:
                    node.orelse, second = node.orelse + rest, second or sure
                else:
                    node.body, first = node.body + rest, sure
                return result, returns or (first and second)
            returns = returns or (first and second)
        elif not is_scope(node):
            for field in block_fields(node):
                block, sure = _move_rest(getattr(node, field))
                setattr(node, field, block)
                returns = returns or (sure and isinstance(node, ast.With))
            for handler in getattr(node, "handlers", []):
                handler.body, _ = _move_rest(handler.body)
    return result, returns


class Returns(_Blocks):
    """return → do_return = True; retval_ = value, and the rest of the function under `if not do_return`."""

    def __init__(self, namer):
        self.namer = namer

    def function(self, node, scope):
        """Lowers the returns of a function body; `scope` is the name of its FunctionScope."""
        outer = getattr(self, "flag", None), getattr(self, "value", None), getattr(self, "found", False)
        self.flag, self.value, self.found = self.namer.new("do_return"), self.namer.new("retval_"), False
        body, _ = _move_rest(node.body)
        body = self.block(body)
        if self.found:
            body[:0] = statements("FLAG = False\nVALUE = ag__.UndefinedReturnValue()", node, FLAG=self.flag, VALUE=self.value)
            body.extend(statements("return SCOPE.ret(VALUE, FLAG)", node, SCOPE=scope, VALUE=self.value, FLAG=self.flag))
        node.body = body
        self.flag, self.value, self.found = outer

    def block(self, body):
        result = []
        for i, node in enumerate(body):
            before, self.found = self.found, False
            made = self.statement(node)
            here, self.found = self.found, before or self.found
            result.extend(made if isinstance(made, list) else [made])
            if here and i + 1 < len(body):
                rest = self.block(body[i + 1:])
                result.extend(statements("if not FLAG:\n    REST", body[i + 1], FLAG=self.flag, REST=rest))
                break
        return result

    def statement(self, node):
        if isinstance(node, ast.Return):
            self.found = True
            value = node.value or ast.copy_location(ast.Constant(None), node)
            return statements("try:\n    FLAG = True\n    RETURNED = VALUE\nexcept:\n    FLAG = False\n    raise", node,
                              FLAG=self.flag, RETURNED=self.value, VALUE=value)
        if isinstance(node, ast.FunctionDef):
            self.function_inside(node)
            return node
        if is_scope(node):
            return node
        before, self.found = self.found, False
        self.blocks(node)
        if self.found and isinstance(node, ast.While):
            node.test = expression("not FLAG and TEST", node, FLAG=self.flag, TEST=node.test)
        elif self.found and isinstance(node, ast.For):
            extra = getattr(node, "extra_test", None)
            text = "not FLAG and EXTRA" if extra is not None else "not FLAG"
            node.extra_test = expression(text, node, FLAG=self.flag, **({} if extra is None else {"EXTRA": extra}))
        self.found = self.found or before
        return node

    def function_inside(self, node):
        raise NotImplementedError


class Functions(Returns):
    """Every function gets a FunctionScope around its body; inner ones are marked as converted."""

    def __init__(self, namer, options):
        super().__init__(namer)
        self.options = options

    def root(self, node):
        self.wrap(node, self.options)

    def function_inside(self, node):
        self.wrap(node, self.options.inner())
        node.decorator_list = node.decorator_list + [expression("ag__.autograph_artifact", node)]

    def wrap(self, node, options):
        scope = self.namer.new("fscope")
        node.scope = scope
        head = []
        if ast.get_docstring(node, clean=False) is not None:
            head = [node.body.pop(0)]
        self.function(node, scope)
        node.body = head + statements("with ag__.FunctionScope(NAME, SCOPE, OPTIONS) as TARGET:\n    BODY", node,
                                      NAME=constant(node.name, node), SCOPE=constant(scope, node),
                                      OPTIONS=options.as_expression(node),
                                      TARGET=name(scope, node, store=True), BODY=node.body or statements("pass", node))
