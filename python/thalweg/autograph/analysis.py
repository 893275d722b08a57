"""Which variables a statement reads and writes, which are alive around it, and which may be defined before it.

Runs on trees without break, continue and inner returns, so plain walks over the blocks do: backwards for what is alive, to a
fixed point for loops, forwards for what may be defined. For every if, while and for the results stay on the node: live_in,
live_out, rough_out, defined_in, modified. rough_out is what TensorFlow takes for live_out: it lets a for loop end its target's
life even if the loop never runs; only the order of a loop's variables depends on it.

A local function may be called anywhere after it is defined, so what it reads is alive there; a lambda counts where it stands."""
import ast

from thalweg.autograph.syntax import is_composite, is_scope, names_in, symbol_of


class _Reads(ast.NodeVisitor):
    """Names read that are not bound in inner scopes."""

    def __init__(self):
        self.found = set()

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.found.add(node.id)

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.found.add(node.target.id)

    def visit_Lambda(self, node):
        for default in node.args.defaults + [d for d in node.args.kw_defaults if d]:
            self.visit(default)
        self.found |= reads(node.body) - argument_names(node.args)

    def visit_FunctionDef(self, node):
        for part in node.decorator_list + node.args.defaults + [d for d in node.args.kw_defaults if d]:
            self.visit(part)
        self.found |= free_reads(node)

    def _comprehension(self, node):
        bound, inner = set(), _Reads()
        for generator in node.generators:
            inner.visit(generator.iter)
            bound |= {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            for test in generator.ifs:
                inner.visit(test)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                inner.visit(getattr(node, field))
        self.found |= inner.found - bound

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def argument_names(arguments):
    """The names a function binds by being called."""
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]
    return {a.arg for a in every if a}


def reads(*nodes):
    """The names that expressions or statements read."""
    visitor = _Reads()
    for node in nodes:
        if node is not None:
            visitor.visit(node)
    return visitor.found


def free_reads(function):
    """The names a function reads from outside it."""
    declared = declarations(function.body)[1]
    bound = {s for s in writes(function.body) if not is_composite(s)} - declared
    return reads(*function.body) - bound - argument_names(function.args)


def declarations(body):
    """(names declared global, names declared nonlocal) in a function's body, inner functions excluded."""
    global_names, nonlocal_names = set(), set()
    for node in walk_statements(body):
        if isinstance(node, ast.Global):
            global_names |= set(node.names)
        elif isinstance(node, ast.Nonlocal):
            nonlocal_names |= set(node.names)
    return global_names, nonlocal_names


def walk_statements(body):
    """Every statement of a body and of the blocks in it, without those of inner scopes."""
    for node in body:
        yield node
        if not is_scope(node):
            for field in ("body", "orelse", "finalbody"):
                yield from walk_statements(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from walk_statements(handler.body)


def _target_symbols(target, found):
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            _target_symbols(part, found)
    elif isinstance(target, ast.Starred):
        _target_symbols(target.value, found)
    else:
        symbol = symbol_of(target)
        if symbol:
            found.add(symbol)


def own_writes(node):
    """The symbols one statement writes itself, not by the blocks in it."""
    found = set()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.For)) or (isinstance(node, ast.AnnAssign) and node.value):
        targets = [node.target]
    elif isinstance(node, ast.With):
        targets = [item.optional_vars for item in node.items if item.optional_vars]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    else:
        targets = []
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    for target in targets:
        _target_symbols(target, found)
    return found


def writes(body):
    """The symbols a block writes."""
    return {symbol for node in walk_statements(body) for symbol in own_writes(node)}


def _simple(symbols):
    return {s for s in symbols if not is_composite(s)}


class _Definitions:
    """Forwards: what may be defined, and which local functions may be, before each statement."""

    def block(self, body, defined, functions):
        for node in body:
            node.functions_in = functions
            defined, functions = self.statement(node, defined, functions)
        return defined, functions

    def statement(self, node, defined, functions):
        if isinstance(node, ast.FunctionDef):
            return defined | {node.name}, functions | {node}
        if is_scope(node):
            return defined | {node.name}, functions
        if isinstance(node, ast.Delete):
            return defined - own_writes(node), functions
        own = _simple(own_writes(node))
        if isinstance(node, ast.If):
            node.defined_in = defined
            first, second = self.block(node.body, defined, functions), self.block(node.orelse, defined, functions)
            return first[0] | second[0], first[1] | second[1]
        if isinstance(node, (ast.While, ast.For)):
            node.defined_in = defined
            inside = defined | own | _simple(writes(node.body))
            every = functions | {n for n in walk_statements(node.body) if isinstance(n, ast.FunctionDef)}
            node.functions_in = every
            return self.block(node.body, inside, every)
        if isinstance(node, ast.With):
            return self.block(node.body, defined | own, functions)
        if isinstance(node, ast.Try):
            after, known = self.block(node.body, defined, functions)
            result, known = self.block(node.orelse, after, known)
            for handler in node.handlers:
                caught = self.block(handler.body, defined | after | ({handler.name} if handler.name else set()), known)
                result, known = result | caught[0], known | caught[1]
            return self.block(node.finalbody, result, known)
        return defined | own, functions


class _Liveness:
    """Backwards: what is alive before each statement. `caught` is what handlers around may read after any statement."""

    def __init__(self, rough):
        self.rough = rough
        self.caught = set()

    def block(self, body, live):
        for node in reversed(body):
            live = self.statement(node, live) | self.caught
            for function in getattr(node, "functions_in", ()):
                live = live | free_reads(function)
        return live

    def note(self, node, live_in, live_out):
        if self.rough:
            node.rough_out = live_out
        else:
            node.live_in, node.live_out = live_in, live_out

    def statement(self, node, out):
        if isinstance(node, ast.If):
            live = reads(node.test) | self.block(node.body, out) | self.block(node.orelse, out)
            self.note(node, live, out)
            return live
        if isinstance(node, ast.While):
            head, again = None, out | reads(node.test)
            while again != head:
                head = again
                again = head | self.block(node.body, head)
            self.note(node, head, out)
            return head
        if isinstance(node, ast.For):
            return self.loop(node, out)
        if isinstance(node, ast.With):
            targets = [item.optional_vars for item in node.items if item.optional_vars]
            inside = self.block(node.body, out) - _simple(own_writes(node))
            return inside | reads(*targets, *[item.context_expr for item in node.items])
        if isinstance(node, ast.Try):
            return self.handled(node, out)
        if isinstance(node, ast.Return):
            return reads(node)
        if isinstance(node, ast.Raise):
            return reads(node)
        if isinstance(node, ast.FunctionDef):
            parts = node.decorator_list + node.args.defaults + [d for d in node.args.kw_defaults if d]
            return (out - {node.name}) | reads(*parts)
        if is_scope(node):
            return (out - {node.name}) | reads(node)
        return (out - _simple(own_writes(node))) | reads(node)

    def loop(self, node, out):
        targets = _simple(own_writes(node))
        test = reads(getattr(node, "extra_test", None), node.target)
        head, again = None, set()
        while again != head:
            head = again
            inside = self.block(node.body, head)
            again = head | test | ((out | inside) - targets if self.rough else out | (inside - targets))
        live = head | reads(node.iter)
        self.note(node, live, out)
        return live

    def handled(self, node, out):
        outer = self.caught
        if node.finalbody:
            self.caught = outer | self.block(node.finalbody, outer)
        inside, self.caught = self.caught, outer
        after = self.block(node.finalbody, out | outer)
        self.caught = inside
        handlers = set()
        for handler in node.handlers:
            handlers |= (self.block(handler.body, after) - {handler.name}) | reads(handler.type)
        end = self.block(node.orelse, after)
        inner, self.caught = self.caught, self.caught | handlers
        live = self.block(node.body, end)
        self.caught = inner
        live |= handlers
        self.caught = outer
        return live


def analyze(function):
    """Notes the results on the control statements of one function's body."""
    _Definitions().block(function.body, argument_names(function.args), frozenset())
    _Liveness(False).block(function.body, set())
    _Liveness(True).block(function.body, set())
    for node in walk_statements(function.body):
        if isinstance(node, (ast.If, ast.While, ast.For)):
            node.modified = writes([node])


def block_variables(node, declared):
    """(state of the statement in order, how many come out of an if, names that may be undefined before it)."""
    global_names, nonlocal_names = declared
    always = global_names | nonlocal_names
    simple = {s for s in node.modified if not is_composite(s) and (s in node.live_in or s in node.live_out or s in always)}
    composite = {s for s in node.modified if is_composite(s) and names_in(s) <= node.live_in}
    out = node.live_out if isinstance(node, ast.If) else node.rough_out
    inputs = {s for s in simple if s in node.live_in and s not in out and s not in always}
    state = sorted(simple | composite, key=lambda s: (s in inputs, s))
    undefined = sorted({s for s in node.modified if not is_composite(s)} - node.defined_in - always)
    return state, len(state) - len(inputs), undefined
